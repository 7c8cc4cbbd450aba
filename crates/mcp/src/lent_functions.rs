//! Functions of the host that its tools can call: `toolcell/functions` and `toolcell/call`.
//!
//! ```text
//! host → server   toolcell/functions   { functions: [{ name, parameters?, result?, readOnly?, timeoutMs? }] }
//! server → host   toolcell/call        { name, parameters, caller }   → { value }
//! ```
//!
//! A tool calls them like tools (`tools.call`), and needs a grant for each. The server cancels a call
//! (`notifications/cancelled`) whose run has ended, or that is not answered in time.
//!
//! The requests of a server that this takes exist in sessions alone (revision 2025-11-25).
//!
//! Invariant: what a host answers is checked against the declared result before a tool reads it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientResult, CustomRequest, ProtocolVersion, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use toolcell::hook::CallerClaims;
use toolcell::{
    Effects, FunctionError, FunctionFailure, FunctionReply, FunctionResponder, HostFunction, HostFunctions,
};

/// The method of a call.
const CALL_METHOD: &str = "toolcell/call";
/// The maximum number of functions.
const MAX_FUNCTIONS: usize = 128;
/// The time in which a call has to be answered, unless the function declares another one.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;
/// The longest time that a function can declare, in milliseconds: the longest run.
const MAX_TIMEOUT_MS: u64 = 600_000;
/// The maximum length of a host's message in an error, in characters.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// The functions that a host lends at the moment.
#[derive(Default)]
pub(crate) struct LentFunctions(Mutex<Arc<[LentFunction]>>);

/// A lent function, whose declaration was checked.
struct LentFunction {
    name: String,
    timeout: Duration,
    declared: HostFunction,
}

/// The declaration of a lent function.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LentDeclaration {
    name: String,
    /// As a tool declares its parameters; without them, any object.
    #[serde(default)]
    parameters: Value,
    /// A JSON Schema; without it, any value.
    #[serde(default)]
    result: Option<Value>,
    /// Whether it has no side effects.
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// The parameters of `toolcell/functions`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LendParams {
    functions: Vec<LentDeclaration>,
}

/// An error of lending functions.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[coded(no_hint)]
pub(crate) enum LendError {
    /// A declaration is invalid.
    #[error(transparent)]
    #[coded(transparent)]
    Function(#[from] FunctionError),
    /// The revision of the protocol has no requests of a server.
    #[error(
        "functions are lent in a session (revision 2025-11-25 of the protocol): later revisions have no requests of a server"
    )]
    #[code(RequestInvalid)]
    Revision,
    /// There are too many functions.
    #[error("{count} functions are too many, the limit is {limit}")]
    #[code(FunctionInvalid)]
    TooMany { count: usize, limit: usize },
    /// The time limit of a function is out of range.
    #[error("the time limit of `{name}` is {ms} ms, it must be from 1 to {limit}")]
    #[code(FunctionInvalid)]
    Timeout { name: String, ms: u64, limit: u64 },
}

/// The run that calls lent functions.
#[derive(Clone)]
pub(crate) struct CallingRun {
    pub(crate) host: Peer<RoleServer>,
    pub(crate) claims: CallerClaims,
    /// Is cancelled when the run has ended.
    pub(crate) ended: CancellationToken,
}

impl LentFunctions {
    /// Replaces the functions that are lent; calls that are in flight go on. Returns their names.
    pub(crate) fn replace(
        &self,
        LendParams { functions }: LendParams,
        revision: Option<ProtocolVersion>,
    ) -> Result<Vec<String>, LendError> {
        if revision.is_some_and(|revision| revision >= ProtocolVersion::V_2026_07_28) {
            return Err(LendError::Revision);
        }
        if functions.len() > MAX_FUNCTIONS {
            return Err(LendError::TooMany { count: functions.len(), limit: MAX_FUNCTIONS });
        }
        let lent = functions.into_iter().map(LentDeclaration::check).collect::<Result<Vec<_>, _>>()?;
        let all = lent.iter().try_fold(HostFunctions::default(), |all, one| all.with(one.declared.clone()))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = lent.into();
        Ok(all.names().map(str::to_owned).collect())
    }

    /// Returns the functions as a run calls them. Must be called in an asynchronous context.
    pub(crate) fn bind(&self, run: &CallingRun) -> HostFunctions {
        let functions = Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut bound = HostFunctions::default();
        for index in 0..functions.len() {
            let (lent, run, runtime) = (Arc::clone(&functions), run.clone(), Handle::current());
            let call = move |params: &Value, responder: FunctionResponder| {
                let (lent, run, params) = (Arc::clone(&lent), run.clone(), params.clone());
                drop(runtime.spawn(async move {
                    let answered = call_host(&lent[index], &params, &run).await;
                    responder.respond_large(move || answered.map(FunctionReply::Immediate));
                }));
            };
            // The names were checked when the functions were lent.
            match bound.with(functions[index].declared.clone().with_async_implementation(call)) {
                Ok(with) => bound = with,
                Err(error) => {
                    tracing::error!(%error, "lent functions cannot be bound");
                    return HostFunctions::default();
                }
            }
        }
        bound
    }
}

impl LentDeclaration {
    fn check(self) -> Result<LentFunction, LendError> {
        let ms = self.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
        if !(1..=MAX_TIMEOUT_MS).contains(&ms) {
            return Err(LendError::Timeout { name: self.name, ms, limit: MAX_TIMEOUT_MS });
        }
        let result = self.result.unwrap_or_else(|| json!({}));
        let declared = HostFunction::new(&self.name, &self.parameters, &result, |_| Ok(Value::Null))?;
        let declared = if self.read_only { declared.read_only() } else { declared };
        Ok(LentFunction { name: self.name, timeout: Duration::from_millis(ms), declared })
    }
}

/// Calls the host and waits for its answer, until the run has ended or the time is over.
async fn call_host(function: &LentFunction, params: &Value, run: &CallingRun) -> Result<Value, FunctionFailure> {
    let gone = |_| failure("the host is gone".to_owned(), Effects::Started);
    let params = json!({"name": function.name, "parameters": params, "caller": run.claims});
    let request = ServerRequest::CustomRequest(CustomRequest::new(CALL_METHOD, Some(params)));
    let sent = run.host.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let mut sent = sent.map_err(gone)?;
    let limit = function.timeout;
    let why = tokio::select! {
        answer = &mut sent.rx => return match answer {
            Ok(Ok(ClientResult::CustomResult(answer))) => {
                let mut answer = answer.0;
                Ok(answer.get_mut("value").map(Value::take).unwrap_or_default())
            }
            Ok(Ok(ClientResult::EmptyResult(_))) => Ok(Value::Null),
            Ok(Ok(_)) => Err(failure("the host's answer is malformed".to_owned(), Effects::Started)),
            Ok(Err(ServiceError::McpError(error))) => {
                let effects = error.data.as_ref().and_then(|data| data.get("effects")).and_then(Value::as_str);
                let effects = if effects == Some("none") { Effects::None } else { Effects::Started };
                Err(failure(error.message.chars().take(MAX_MESSAGE_CHARS).collect(), effects))
            }
            Ok(Err(_)) | Err(_) => Err(failure("the host is gone".to_owned(), Effects::Started)),
        },
        () = run.ended.cancelled() => "the run has ended".to_owned(),
        () = tokio::time::sleep(limit) => format!("there was no answer within {} ms", limit.as_millis()),
    };
    // A host that is gone needs no notice.
    let _ = sent.cancel(Some(why.clone())).await;
    Err(failure(why, Effects::Started))
}

fn failure(message: String, effects: Effects) -> FunctionFailure {
    FunctionFailure { message, effects }
}
