//! Functions that a host lends to tools, beside the tools of its store.
//!
//! Invariant: a function gets what its schema allows, and a tool gets what the function's own schema of results allows. What the
//! function does in between is the host's.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;
use toolcell_host::{Effects, Params};
use toolcell_tool::{NameError, ToolName};

use crate::params::{ParamsError, Schema, SchemaError};

/// What a function is to do.
type Does = Arc<dyn Fn(&Value) -> Result<FunctionReply, FunctionFailed> + Send + Sync>;

/// What a function answers.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionReply {
    /// What came of it.
    Now(Value),
    /// It is begun, and what comes of it is known later, under this word. A run that may sleep sleeps until then
    /// ([`ResumeRun::answers`](crate::ResumeRun::answers)); for others the call has failed.
    Later(String),
}

/// A function that a host lends to tools that are granted to call it (`tools = ["its_name"]`).
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell::{Function, Functions};
///
/// let price = Function::new(
///     "price",
///     &json!({ "sku": { "type": "string", "description": "which", "required": true } }),
///     &json!({ "type": "number", "minimum": 0 }),
///     |params| Ok(json!(params["sku"].as_str().map_or(0, str::len))),
/// )?;
/// let functions = Functions::default().with(price.reading())?;
/// assert_eq!(functions.names().collect::<Vec<_>>(), ["price"]);
/// # Ok::<(), toolcell::FunctionError>(())
/// ```
#[derive(Clone)]
pub struct Function {
    name: ToolName,
    parameters: Arc<Schema>,
    result: Arc<Schema>,
    does: Does,
    quick: bool,
    reads: bool,
}

/// Why a function did not do what it was asked for. The tool sees the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FunctionFailed {
    /// What went wrong, and what to do next.
    pub message: String,
    /// Whether it happened all the same.
    pub effects: Effects,
}

/// A function cannot be lent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// It is called what no tool can be called.
    #[error(transparent)]
    Name(#[from] NameError),
    /// What it takes or gives is declared in a way that contradicts itself.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Two are called the same.
    #[error("two functions are called `{name}`")]
    Twice {
        /// What they are called.
        name: ToolName,
    },
}

impl FunctionError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Name(error) => error.code(),
            Self::Schema(error) => error.code(),
            Self::Twice { .. } => "function-invalid",
        }
    }
}

/// How a call of a function ended badly.
pub(crate) enum Unfit {
    /// The tool asked for what it does not take.
    Params(ParamsError),
    /// It failed.
    Failed(FunctionFailed),
    /// It gave what it does not give.
    Result(ParamsError),
    /// It panicked.
    Panicked,
}

/// The only field of what a result is checked as.
const RESULT: &str = "result";

impl Function {
    /// A function with a name, the schema of its parameters (as a tool declares them) and the JSON Schema of its result.
    ///
    /// It is done aside, on a thread that may wait, and counts as something that changes the world.
    ///
    /// # Errors
    /// The codes of a name and of a schema that cannot be.
    pub fn new(
        name: &str,
        parameters: &Value,
        result: &Value,
        does: impl Fn(&Value) -> Result<Value, FunctionFailed> + Send + Sync + 'static,
    ) -> Result<Self, FunctionError> {
        Self::slow(name, parameters, result, move |params| does(params).map(FunctionReply::Now))
    }

    /// The same, which may answer later.
    ///
    /// # Errors
    /// The codes of a name and of a schema that cannot be.
    pub fn slow(
        name: &str,
        parameters: &Value,
        result: &Value,
        does: impl Fn(&Value) -> Result<FunctionReply, FunctionFailed> + Send + Sync + 'static,
    ) -> Result<Self, FunctionError> {
        let name = ToolName::parse(name)?;
        let parameters = Arc::new(Schema::compile(parameters)?);
        let result = Arc::new(Schema::of_value(RESULT, result)?);
        Ok(Self { name, parameters, result, does: Arc::new(does), quick: false, reads: false })
    }

    /// The same, which neither waits nor takes long: it is done on the thread of the run, which saves changing threads.
    #[must_use]
    pub fn quick(self) -> Self {
        Self { quick: true, ..self }
    }

    /// The same, which changes nothing: a plan need not hold it.
    #[must_use]
    pub fn reading(self) -> Self {
        Self { reads: true, ..self }
    }

    pub(crate) fn is_quick(&self) -> bool {
        self.quick
    }

    pub(crate) fn only_reads(&self) -> bool {
        self.reads
    }

    /// Calls it.
    pub(crate) fn call(&self, params: Params) -> Result<FunctionReply, Unfit> {
        let args = self.parameters.check(params).map_err(Unfit::Params)?;
        let read;
        let value = if let Some(value) = args.value() {
            value
        } else {
            read = serde_json::from_str(args.params().as_str()).unwrap_or_default();
            &read
        };
        let done = catch_unwind(AssertUnwindSafe(|| (self.does)(value))).map_err(|_| Unfit::Panicked)?;
        match done.map_err(Unfit::Failed)? {
            FunctionReply::Now(result) => self.gives(result).map(FunctionReply::Now),
            later @ FunctionReply::Later(_) => Ok(later),
        }
    }

    /// What came of it, if it is what the function gives.
    pub(crate) fn gives(&self, result: Value) -> Result<Value, Unfit> {
        let mut whole = Value::from_iter([(RESULT, result)]);
        self.result.passes(&whole).map_err(Unfit::Result)?;
        Ok(whole[RESULT].take())
    }
}

/// The functions that a host lends.
#[derive(Clone, Default)]
pub struct Functions(BTreeMap<String, Function>);

impl Functions {
    /// These and one more.
    ///
    /// # Errors
    /// `function-invalid` where one is called so already.
    pub fn with(mut self, function: Function) -> Result<Self, FunctionError> {
        if self.get(&function.name).is_some() {
            return Err(FunctionError::Twice { name: function.name });
        }
        self.0.insert(function.name.folded().clone(), function);
        Ok(self)
    }

    /// What they are called.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(|function| function.name.as_str())
    }

    pub(crate) fn get(&self, name: &ToolName) -> Option<&Function> {
        self.0.get(name.folded().as_str())
    }
}
