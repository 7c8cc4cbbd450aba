//! Calls of other tools, and of functions of the host.
//!
//! Tools that a tool calls run one after the other, in the order in which they were called, on the thread of their caller and with
//! what it has left: so what fuel is left, and who runs out of it, is the same each time.
//!
//! Invariant: a tool that is called has no grant that its caller lacks, passes the same gates, and leaves a record of its own.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolcell_host::{Effects, Ended, Json, Left, NESTED, Operation, OperationFailure, Params};
use toolcell_tool::ToolName;

use super::Given;
use super::failure::{Result, answer, nothing_done, payload};
use super::inbox::Came;
use super::pending::Ticketed;
use crate::function::{Function, FunctionReply, Unfit};
use crate::request::RunTool;
use crate::run::{Called, Within};

/// A call of another tool.
pub(super) struct Call {
    pub(super) name: ToolName,
    params: Params,
}

#[derive(Deserialize)]
struct Form {
    name: String,
    params: Box<RawValue>,
}

/// What a tool asks for.
pub(super) fn read(operation: &Operation) -> Result<Call> {
    let Form { name, params } = payload(operation)?;
    let wrong = |why: String| nothing_done("TypeError", "operation-invalid", why);
    let name = ToolName::parse(&name).map_err(|error| wrong(error.to_string()))?;
    let params = Params::parse(params.get()).map_err(|error| wrong(format!("the parameters of `{name}`: {error}")))?;
    Ok(Call { name, params })
}

impl Given<'_> {
    /// Refuses a call that is not granted.
    pub(super) fn may_call(&self, call: &Call) -> Result<()> {
        if self.full.tools.allows(&call.name) {
            return Ok(());
        }
        let name = &call.name;
        let message = format!(
            "calling `{name}` is not granted to `{}`; `[grants.tools.{}] tools = [\"{name}\"]` in the policy would give it, if it asks for it",
            self.name, self.name,
        );
        Err(nothing_done("NotAllowedError", "tools-not-granted", message))
    }

    /// Runs another tool within what the caller has left.
    pub(super) fn call(&self, call: Call, left: &Left<'_>) -> Called {
        let Call { name, params } = call;
        if self.depth >= NESTED {
            let message =
                format!("`{name}` would be the {}th tool in a chain of calls, the limit is {NESTED}", NESTED + 1);
            return Called::in_vain(nothing_done("RangeError", "tools-too-deep", message));
        }
        let request = RunTool::of(name.as_str(), params);
        let (grants, depth, caller, options) = (&self.full, self.depth + 1, &*self.name, self.options);
        let within = Within { grants, left, depth, plan: self.plan.clone(), caller, options, given: self };
        self.toolbox.run_within(&request, &within)
    }
}

/// Calls a function of the host.
pub(super) fn called(id: u32, function: &Function, call: Call) -> Came {
    let name = call.name;
    match function.call(call.params) {
        Ok(FunctionReply::Later(ticket)) => Came::Later(Ticketed { id, function: name.to_string(), ticket }),
        Ok(FunctionReply::Now(value)) => {
            let (effects, ended) = (Effects::Committed, Ended { id, result: answer(&value) });
            let changed = if function.only_reads() { Effects::None } else { effects };
            Came::Reached { ended, effects, changed }
        }
        Err(unfit) => {
            let failed = came_of(name.as_str(), Err(unfit));
            // What only reads has changed nothing, however far it came.
            let nothing = |failure| OperationFailure { effects: Effects::None, ..failure };
            let result = if function.only_reads() { failed.map_err(nothing) } else { failed };
            Came::Ended(Ended { id, result })
        }
    }
}

/// What a function answered, for the tool that called it.
pub(crate) fn came_of(name: &str, result: std::result::Result<Value, Unfit>) -> Result {
    let failed = |effects, code: &'static str, message: String| OperationFailure {
        effects,
        ..nothing_done("Error", code, message)
    };
    match result {
        Ok(value) => answer(&value),
        Err(Unfit::Params(error)) => {
            Err(nothing_done("TypeError", error.code(), format!("`{name}` does not take that: {}", error.detail())))
        }
        Err(Unfit::Failed(error)) => {
            Err(failed(error.effects, "function-failed", format!("`{name}`: {}", error.message)))
        }
        Err(Unfit::Result(error)) => {
            let message = format!("`{name}` gave what it does not declare: {}", error.detail());
            Err(failed(Effects::Committed, "function-result", message))
        }
        Err(Unfit::Panicked) => {
            tracing::error!(function = name, "a function of the host panicked");
            Err(failed(Effects::Started, "bug", format!("`{name}` broke off, which is a fault of the host")))
        }
    }
}

/// What the tool is told of a function that answers later than it can wait.
pub(super) fn too_late(name: &str) -> OperationFailure {
    let message = format!("`{name}` is begun and answers later, and this run cannot sleep until then");
    OperationFailure { effects: Effects::Started, ..nothing_done("Error", "function-later", message) }
}

/// What a tool gave, for the one that called it.
pub(crate) fn given(value: Option<Json>) -> toolcell_host::OperationAnswer {
    value.unwrap_or(Json::NULL).into()
}
