//! The answers of host functions to a suspended run.

use toolcell_host::{Completion, Effects, OperationError};
use toolcell_tool::ToolName;

use super::error::RunSuspendError;
use super::types::ResumeRequest;
use crate::host_calls::{
    FunctionCallError, HostFunction, HostFunctions, PendingCallback, PendingHostCalls, function_output,
};

/// Delivers the answers to the calls that wait for them. `functions` are those of the toolbox, then those of the
/// run.
pub(crate) fn deliver_answers(
    functions: [&HostFunctions; 2],
    pending: &mut PendingHostCalls,
    request: &ResumeRequest,
) -> Result<(), RunSuspendError> {
    let is_known = |ticket: &&String| pending.tickets.iter().any(|ticketed| ticketed.ticket == **ticket);
    if let Some(unknown) = request.answers.keys().find(|ticket| !is_known(ticket)) {
        return Err(RunSuspendError::UnknownTicket { ticket: unknown.clone() });
    }
    for ticketed in &pending.tickets {
        if let Some(Ok(_)) = request.answers.get(&ticketed.ticket)
            && find(functions, &ticketed.function).is_none()
        {
            let (function, ticket) = (ticketed.function.clone(), ticketed.ticket.clone());
            return Err(RunSuspendError::MissingFunction { function, ticket });
        }
    }
    for ticketed in std::mem::take(&mut pending.tickets) {
        if request.answers.contains_key(&ticketed.ticket) {
            let ended = to_completion(functions, &ticketed, request);
            pending.answered.push((ticketed, ended));
        } else {
            pending.tickets.push(ticketed);
        }
    }
    Ok(())
}

fn find<'a>(functions: [&'a HostFunctions; 2], name: &str) -> Option<&'a HostFunction> {
    let name = ToolName::parse(name).ok()?;
    functions.into_iter().find_map(|of| of.get(&name))
}

/// Converts an answer into a completion, and checks it against the function's declared result.
fn to_completion(functions: [&HostFunctions; 2], ticketed: &PendingCallback, request: &ResumeRequest) -> Completion {
    let name = &ticketed.function;
    let function = find(functions, name);
    let result = match (function, request.answers.get(&ticketed.ticket)) {
        (Some(function), Some(Ok(value))) => function_output(name, function.check_result(value.clone())),
        (_, Some(Err(failed))) => function_output(name, Err(FunctionCallError::Failed(failed.clone()))),
        (None, _) | (_, None) => Err(OperationError {
            name: "Error".to_owned(),
            message: format!("`{name}` answered, but the host no longer provides it"),
            code: "tool-not-found".into(),
            effects: Effects::Committed,
        }),
    };
    Completion { id: ticketed.id, result }
}
