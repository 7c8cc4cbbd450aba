//! Host functions: functions that the host lets tools call, besides the tools of its store.
//!
//! Invariant: a function receives only parameters that match its schema, and a tool receives only
//! results that match the function's result schema.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;
use toolcell_host::{Effects, Params};
use toolcell_schema::{ParamsError, Schema, SchemaError};
use toolcell_tool::{NameError, ToolName};

/// The implementation of a function that replies when it returns.
type Handler = Arc<dyn Fn(&Value) -> Result<FunctionReply, FunctionFailure> + Send + Sync>;

/// The implementation of a function that replies later.
type AsyncHandler = Arc<dyn Fn(&Value, FunctionResponder) + Send + Sync>;

/// The implementation of a function, and the thread that it is called on.
#[derive(Clone)]
enum FunctionHandler {
    /// A thread of its own, where it may block.
    Blocking(Handler),
    /// The thread of the run.
    Inline(Handler),
    /// The thread of the run, to which it returns at once. It replies later, from any thread.
    Async(AsyncHandler),
}

/// Makes a reply.
pub(super) type MakeReply = Box<dyn FnOnce() -> Result<FunctionReply, FunctionFailure> + Send>;

/// Where a reply is made and checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyThread {
    /// On the thread of the run, whose deadline is not looked at meanwhile.
    OfRun,
    /// On a thread of its own.
    Own,
}

/// Replies to a call of an asynchronous function, from any thread. If it is dropped, the call fails.
///
/// A reply for a run that has ended meanwhile is dropped.
pub struct FunctionResponder(Option<Box<dyn FnOnce(MakeReply, ReplyThread) + Send>>);

impl FunctionResponder {
    pub(super) fn new(deliver: impl FnOnce(MakeReply, ReplyThread) + Send + 'static) -> Self {
        Self(Some(Box::new(deliver)))
    }

    /// Replies. `make` is called on the thread of the run, not on the one that replies, such as one of an event loop. It takes
    /// no longer than a millisecond: the deadline of the run is not looked at meanwhile.
    pub fn respond(self, make: impl FnOnce() -> Result<FunctionReply, FunctionFailure> + Send + 'static) {
        self.deliver(Box::new(make), ReplyThread::OfRun);
    }

    /// Replies with what may be large. `make` is called, and its result is checked, on a thread of its own.
    pub fn respond_large(self, make: impl FnOnce() -> Result<FunctionReply, FunctionFailure> + Send + 'static) {
        self.deliver(Box::new(make), ReplyThread::Own);
    }

    fn deliver(mut self, make: MakeReply, thread: ReplyThread) {
        if let Some(deliver) = self.0.take() {
            deliver(make, thread);
        }
    }
}

impl Drop for FunctionResponder {
    fn drop(&mut self) {
        if let Some(deliver) = self.0.take() {
            let message = "the host is gone".to_owned();
            deliver(Box::new(|| Err(FunctionFailure { message, effects: Effects::Started })), ReplyThread::OfRun);
        }
    }
}

/// The reply of a host function.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionReply {
    /// The result.
    Immediate(Value),
    /// The function has started, and its result is delivered later under this ticket. A run that
    /// may be suspended is suspended until then
    /// ([`ResumeRequest::answers`](crate::ResumeRequest::answers)); in other runs the call fails.
    Deferred(String),
}

/// A function that the host lets tools call. A tool needs a grant for it (`tools = ["its_name"]`).
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell::{HostFunction, HostFunctions};
///
/// let price = HostFunction::new(
///     "price",
///     &json!({ "sku": { "type": "string", "description": "which", "required": true } }),
///     &json!({ "type": "number", "minimum": 0 }),
///     |params| Ok(json!(params["sku"].as_str().map_or(0, str::len))),
/// )?;
/// let functions = HostFunctions::default().with(price.read_only())?;
/// assert_eq!(functions.names().collect::<Vec<_>>(), ["price"]);
/// # Ok::<(), toolcell::FunctionError>(())
/// ```
#[derive(Clone)]
pub struct HostFunction {
    name: ToolName,
    parameters: Arc<Schema>,
    result: Arc<Schema>,
    handler: FunctionHandler,
    is_read_only: bool,
}

/// The failure of a host function. The tool sees the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[error("{message}")]
pub struct FunctionFailure {
    /// What went wrong, and what to do next.
    pub message: String,
    /// The effects that the function had despite its failure.
    pub effects: Effects,
}

/// An invalid host function.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum FunctionError {
    /// The name is invalid.
    #[error(transparent)]
    #[coded(transparent)]
    Name(#[from] NameError),
    /// The parameter schema or the result schema is invalid.
    #[error(transparent)]
    #[coded(transparent)]
    Schema(#[from] SchemaError),
    /// Two functions have the same name.
    #[error("two functions are named `{name}`")]
    #[code(FunctionInvalid)]
    Duplicate {
        /// The name.
        name: ToolName,
    },
}

/// The failure of a call of a host function.
pub(crate) enum FunctionCallError {
    /// The parameters do not match the schema.
    Params(ParamsError),
    /// The function failed.
    Failed(FunctionFailure),
    /// The result does not match the schema.
    Result(ParamsError),
    /// The function panicked.
    Panicked,
}

/// The only field of the object as which a result is checked.
const RESULT_FIELD: &str = "result";

impl HostFunction {
    /// Creates a function from its name, its parameters (in the form that tools declare them) and
    /// the JSON Schema of its result.
    ///
    /// By default it runs on a thread of its own, where it may block, and counts as having side
    /// effects.
    ///
    /// # Errors
    /// The codes of an invalid name and of an invalid schema.
    pub fn new(
        name: &str,
        parameters: &Value,
        result: &Value,
        does: impl Fn(&Value) -> Result<Value, FunctionFailure> + Send + Sync + 'static,
    ) -> Result<Self, FunctionError> {
        Self::new_deferrable(name, parameters, result, move |params| does(params).map(FunctionReply::Immediate))
    }

    /// Creates a function that may defer its result.
    ///
    /// # Errors
    /// The codes of an invalid name and of an invalid schema.
    pub fn new_deferrable(
        name: &str,
        parameters: &Value,
        result: &Value,
        does: impl Fn(&Value) -> Result<FunctionReply, FunctionFailure> + Send + Sync + 'static,
    ) -> Result<Self, FunctionError> {
        let name = ToolName::parse(name)?;
        let parameters = Arc::new(Schema::compile(parameters)?);
        let result = Arc::new(Schema::for_value(RESULT_FIELD, result)?);
        Ok(Self { name, parameters, result, handler: FunctionHandler::Blocking(Arc::new(does)), is_read_only: false })
    }

    /// Returns the function with another implementation, under the same declaration.
    #[must_use]
    pub fn with_implementation(
        self,
        does: impl Fn(&Value) -> Result<FunctionReply, FunctionFailure> + Send + Sync + 'static,
    ) -> Self {
        let does = Arc::new(does);
        let handler = match self.handler {
            FunctionHandler::Inline(_) => FunctionHandler::Inline(does),
            FunctionHandler::Blocking(_) | FunctionHandler::Async(_) => FunctionHandler::Blocking(does),
        };
        Self { handler, ..self }
    }

    /// Returns the function with an implementation that replies later, under the same declaration. It is called on the
    /// thread of the run, and must return at once: no thread waits for the reply.
    #[must_use]
    pub fn with_async_implementation(self, starts: impl Fn(&Value, FunctionResponder) + Send + Sync + 'static) -> Self {
        Self { handler: FunctionHandler::Async(Arc::new(starts)), ..self }
    }

    /// Declares that the function neither blocks nor takes long. It then runs on the thread of the
    /// run, which saves a change of threads.
    #[must_use]
    pub fn inline(self) -> Self {
        let handler = match self.handler {
            FunctionHandler::Blocking(does) => FunctionHandler::Inline(does),
            handler => handler,
        };
        Self { handler, ..self }
    }

    /// Declares that the function has no side effects, so that a plan does not hold it.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Whether it is called on the thread of the run, which waits for it.
    pub(crate) fn is_inline(&self) -> bool {
        matches!(self.handler, FunctionHandler::Inline(_))
    }

    /// Whether calling it may block.
    pub(crate) fn may_block(&self) -> bool {
        matches!(self.handler, FunctionHandler::Blocking(_))
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Calls the function. `responder` is for one that replies later, which returns `None` here.
    pub(crate) fn call(
        &self,
        params: Params,
        responder: impl FnOnce() -> FunctionResponder,
    ) -> Result<Option<FunctionReply>, FunctionCallError> {
        let args = self.parameters.check(params).map_err(FunctionCallError::Params)?;
        let read;
        let value = if let Some(value) = args.value() {
            value
        } else {
            read = serde_json::from_str(args.params().as_str()).unwrap_or_default();
            &read
        };
        match &self.handler {
            FunctionHandler::Blocking(does) | FunctionHandler::Inline(does) => {
                self.check_reply(|| does(value)).map(Some)
            }
            FunctionHandler::Async(starts) => catch_unwind(AssertUnwindSafe(|| starts(value, responder())))
                .map(|()| None)
                .map_err(|_| FunctionCallError::Panicked),
        }
    }

    /// Checks what the function replies.
    pub(super) fn check_reply(
        &self,
        make: impl FnOnce() -> Result<FunctionReply, FunctionFailure>,
    ) -> Result<FunctionReply, FunctionCallError> {
        let made = catch_unwind(AssertUnwindSafe(make)).map_err(|_| FunctionCallError::Panicked)?;
        match made.map_err(FunctionCallError::Failed)? {
            FunctionReply::Immediate(result) => self.check_result(result).map(FunctionReply::Immediate),
            later @ FunctionReply::Deferred(_) => Ok(later),
        }
    }

    /// Checks that a result matches the result schema, and returns it.
    pub(crate) fn check_result(&self, result: Value) -> Result<Value, FunctionCallError> {
        let mut whole = Value::from_iter([(RESULT_FIELD, result)]);
        self.result.validate(&whole).map_err(FunctionCallError::Result)?;
        Ok(whole[RESULT_FIELD].take())
    }
}

/// The host functions that tools may call.
#[derive(Clone, Default)]
pub struct HostFunctions(BTreeMap<String, HostFunction>);

impl HostFunctions {
    /// Adds a function.
    ///
    /// # Errors
    /// `function-invalid` if a function of this name exists already.
    pub fn with(mut self, function: HostFunction) -> Result<Self, FunctionError> {
        if self.get(&function.name).is_some() {
            return Err(FunctionError::Duplicate { name: function.name });
        }
        self.0.insert(function.name.case_folded().clone(), function);
        Ok(self)
    }

    /// Returns the names of the functions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(|function| function.name.as_str())
    }

    pub(crate) fn get(&self, name: &ToolName) -> Option<&HostFunction> {
        self.0.get(name.case_folded().as_str())
    }
}
