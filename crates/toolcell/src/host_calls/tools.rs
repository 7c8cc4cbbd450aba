//! Calls of other tools and of host functions.
//!
//! Called tools run one after the other, in the order of the calls, on the thread of the caller and
//! within its remaining limits. Therefore the remaining fuel, and which tool runs out of it, is
//! deterministic.
//!
//! Invariant: a called tool has no grant that its caller lacks, passes the same hooks, and leaves a
//! record of its own.

use std::sync::Arc;

use serde_json::Value;
use toolcell_flows::Label;
use toolcell_host::{Completion, Effects, Json, MAX_NESTED_CALLS, OperationError, Params, Remaining, ToolCallRequest};
use toolcell_tool::ToolName;

use super::RunEnvironment;
use super::completions::{CompletionEvent, CompletionQueue};
use super::error::{Result, error_without_effects, to_output};
use super::functions::{FunctionCallError, FunctionReply, FunctionResponder, HostFunction, MakeReply, ReplyThread};
use super::nested::{CallerContext, NestedResult};
use super::pending::PendingCallback;
use super::runtime::WeakRuntime;

/// A call of another tool.
pub(super) struct NestedCall {
    pub(super) name: ToolName,
    params: Params,
}

/// Checks the name and the parameters of a call.
pub(super) fn check(request: &ToolCallRequest) -> Result<NestedCall> {
    let ToolCallRequest { name, params, .. } = request;
    let wrong = |why: String| error_without_effects("TypeError", "operation-invalid", why);
    let name = ToolName::parse(name).map_err(|error| wrong(error.to_string()))?;
    let params = Params::parse(params.get()).map_err(|error| wrong(format!("the parameters of `{name}`: {error}")))?;
    Ok(NestedCall { name, params })
}

impl RunEnvironment<'_> {
    /// Checks that the call is granted.
    pub(super) fn check_callable(&self, call: &NestedCall) -> Result<()> {
        if self.all_grants.tools.allows(&call.name) {
            return Ok(());
        }
        let name = &call.name;
        let message = format!(
            "`{}` is not allowed to call `{name}`; `[grants.tools.{}] tools = [\"{name}\"]` in the policy would grant \
             it if the tool requests it",
            self.name, self.name,
        );
        Err(error_without_effects("NotAllowedError", "tools-not-granted", message))
    }

    /// Runs another tool within the remaining limits of the caller.
    pub(super) fn call_tool(
        &self,
        call: NestedCall,
        left: &Remaining<'_>,
        (under_way, is_alone): (&Label, bool),
    ) -> NestedResult {
        let NestedCall { name, params } = call;
        if self.depth >= MAX_NESTED_CALLS {
            let message = format!(
                "`{name}` would be the {}th tool in a chain of calls, the limit is {MAX_NESTED_CALLS}",
                MAX_NESTED_CALLS + 1
            );
            return NestedResult::not_called(error_without_effects("RangeError", "tools-too-deep", message));
        }
        let (grants, depth, caller) = (&self.all_grants, self.depth + 1, &*self.name);
        let is_alone = is_alone && self.began_alone();
        let within = CallerContext {
            grants,
            remaining: left,
            depth,
            plan: self.plan.clone(),
            caller,
            under_way,
            is_alone,
            environment: self,
        };
        self.nested.call(&name, params, &within)
    }
}

/// Calls a host function, unless the run is over; its reply goes to the queue.
pub(super) fn call_function(
    id: u32,
    function: &HostFunction,
    call: NestedCall,
    queue: &Arc<CompletionQueue>,
    background: &WeakRuntime,
) {
    if queue.is_closed() {
        return;
    }
    let NestedCall { name, params } = call;
    let responder = || {
        let (name, function, queue, background) =
            (name.clone(), function.clone(), Arc::clone(queue), background.clone());
        FunctionResponder::new(move |make: MakeReply, thread| {
            let complete = move || to_event(id, &function, &name, function.check_reply(make));
            let handle = if thread == ReplyThread::Own { background.handle() } else { None };
            let Some(handle) = handle else { return queue.push_reply(id, Box::new(complete)) };
            drop(handle.spawn_blocking(move || {
                if !queue.is_closed() {
                    queue.push(complete());
                }
            }));
        })
    };
    if let Some(reply) = function.call(params, responder).transpose() {
        queue.push(to_event(id, function, &name, reply));
    }
}

fn to_event(
    id: u32,
    function: &HostFunction,
    name: &ToolName,
    reply: std::result::Result<FunctionReply, FunctionCallError>,
) -> CompletionEvent {
    match reply {
        Ok(FunctionReply::Deferred(ticket)) => {
            CompletionEvent::Deferred(PendingCallback { id, function: name.to_string(), ticket })
        }
        Ok(FunctionReply::Immediate(value)) => {
            let (effects, ended) = (Effects::Committed, Completion { id, result: to_output(&value) });
            let changed = if function.is_read_only() { Effects::None } else { effects };
            CompletionEvent::WithEffects { completion: ended, effects, world_effects: changed }
        }
        Err(unfit) => {
            let failed = function_output(name.as_str(), Err(unfit));
            // A function that only reads has no effects, even if it fails.
            let nothing = |failure| OperationError { effects: Effects::None, ..failure };
            let result = if function.is_read_only() { failed.map_err(nothing) } else { failed };
            CompletionEvent::Finished(Completion { id, result })
        }
    }
}

/// Converts the result of a function into the output for the calling tool.
pub(crate) fn function_output(name: &str, result: std::result::Result<Value, FunctionCallError>) -> Result {
    let failed = |effects, code: &'static str, message: String| OperationError {
        effects,
        ..error_without_effects("Error", code, message)
    };
    match result {
        Ok(value) => to_output(&value),
        Err(FunctionCallError::Params(error)) => Err(error_without_effects(
            "TypeError",
            error.code().as_str(),
            format!("invalid parameters for `{name}`: {}", error.detail()),
        )),
        Err(FunctionCallError::Failed(error)) => {
            Err(failed(error.effects, "function-failed", format!("`{name}`: {}", error.message)))
        }
        Err(FunctionCallError::Result(error)) => {
            let message = format!("`{name}` returned a result that does not match its declaration: {}", error.detail());
            Err(failed(Effects::Committed, "function-result", message))
        }
        Err(FunctionCallError::Panicked) => {
            tracing::error!(function = name, "a host function panicked");
            Err(failed(Effects::Started, "bug", format!("`{name}` panicked; this is a bug in the host")))
        }
    }
}

/// Returns the error for a function that answers later than the run can wait.
pub(super) fn deferred_error(name: &str) -> OperationError {
    let message = format!("`{name}` answers later, but this run cannot be suspended to wait for it");
    OperationError { effects: Effects::Started, ..error_without_effects("Error", "function-later", message) }
}

/// Converts the value returned by a tool into the output for the calling tool.
pub(crate) fn tool_output(value: Option<Json>) -> toolcell_host::OperationOutput {
    value.unwrap_or(Json::NULL).into()
}
