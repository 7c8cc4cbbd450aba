//! What functions answered while the run that called them slept.

use toolcell_host::{Effects, Ended, OperationFailure};
use toolcell_tool::ToolName;

use super::{ResumeRun, SleepError};
use crate::function::Unfit;
use crate::operations::tools::came_of;
use crate::operations::{Pending, Ticketed};
use crate::toolbox::Toolbox;

impl Toolbox {
    /// Hands the answers to the calls that wait for them.
    pub(super) fn take_answers(&self, pending: &mut Pending, request: &ResumeRun) -> Result<(), SleepError> {
        let is_known = |ticket: &&String| pending.tickets.iter().any(|ticketed| ticketed.ticket == **ticket);
        if let Some(unknown) = request.answers.keys().find(|ticket| !is_known(ticket)) {
            return Err(SleepError::UnknownTicket { ticket: unknown.clone() });
        }
        for ticketed in std::mem::take(&mut pending.tickets) {
            if request.answers.contains_key(&ticketed.ticket) {
                let ended = self.answered(&ticketed, request);
                pending.answered.push((ticketed, ended));
            } else {
                pending.tickets.push(ticketed);
            }
        }
        Ok(())
    }

    /// What a function answered, if that is what it gives.
    fn answered(&self, ticketed: &Ticketed, request: &ResumeRun) -> Ended {
        let name = &ticketed.function;
        let function = ToolName::parse(name).ok().and_then(|name| self.functions.get(&name));
        let result = match (function, request.answers.get(&ticketed.ticket)) {
            (Some(function), Some(Ok(value))) => came_of(name, function.gives(value.clone())),
            (_, Some(Err(failed))) => came_of(name, Err(Unfit::Failed(failed.clone()))),
            (None, _) | (_, None) => Err(OperationFailure {
                name: "Error".to_owned(),
                message: format!("`{name}` answered, and the host does not lend it any more"),
                code: "tool-not-found".into(),
                effects: Effects::Committed,
            }),
        };
        Ended { id: ticketed.id, result }
    }
}
