//! What was begun by processes that are gone.

use jiff::Timestamp;
use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Fault, FindError, Interrupted, RUN, Record, RunEnd, StatusError, Store, ToolRef};
use toolcell_tool::Status;

use super::{Beginning, OUTCOMES, RunRecord, Size, body};
use crate::toolbox::{Toolbox, ToolboxError};

/// How an attempt ends that came to its end, whatever that says of the tool.
const WENT_WELL: [&str; 5] = ["returned", "asleep", "passed", "failed", "unproven"];

/// Ends what processes began that are gone, as `interrupted`. Where the record was kept already, the line says what it
/// does.
pub(crate) fn close_interrupted(toolbox: &Toolbox) -> Result<(), ToolboxError> {
    let Some(store) = toolbox.store.as_ref() else { return Ok(()) };
    for interrupted in store.interrupted_runs()? {
        let at = toolbox.now();
        let kept = interrupted.kept.as_ref().and_then(|kept| serde_json::from_slice(&kept.body).ok());
        let run = kept.unwrap_or_else(|| begun(&interrupted, at));
        let action = Action::named(&run.action).unwrap_or(Action::RunDynamicTool);
        let mut attempt = Attempt::new(action, at);
        attempt.name = Some(run.name.clone()).filter(|name| !name.is_empty());
        attempt.tool = interrupted.kept.as_ref().and_then(|kept| kept.tool);
        attempt.details.outcome = OUTCOMES.into_iter().find(|known| *known == run.outcome);
        if !WENT_WELL.contains(&run.outcome.as_str()) {
            attempt.result = Err(Failure { code: "interrupted", message: run.code.clone() });
        }
        let new = || Record { kind: RUN.to_owned(), tool: None, at, body: body(&run) };
        let record = interrupted.kept.unwrap_or_else(new);
        store.end_run(interrupted.begun, RunEnd { usage: None, record, attempt })?;
        if action == Action::VerifyTool {
            // Nobody tries it any more.
            give_up(store, &run.name)?;
        }
    }
    Ok(())
}

/// Makes a tool unverified that was being tried when its process died.
fn give_up(store: &Store, called: &str) -> Result<(), Fault> {
    let Ok(reference) = ToolRef::parse(called) else { return Ok(()) };
    match store.find(&reference) {
        Ok(entry) if entry.status == Status::Pending => match store.set_status(entry.id, Status::Unverified) {
            Err(StatusError::Fault(fault)) => Err(fault),
            // Somebody else was faster.
            _ => Ok(()),
        },
        Err(FindError::Fault(fault)) => Err(fault),
        _ => Ok(()),
    }
}

/// The record of a run that nobody ended. What cannot be read was begun by another version; that it was begun is known
/// all the same.
fn begun(interrupted: &Interrupted, at: Timestamp) -> RunRecord {
    let beginning: Option<Beginning<'_>> = serde_json::from_slice(&interrupted.payload).ok();
    let text = |of: for<'a> fn(&Beginning<'a>) -> &'a str| {
        beginning.as_ref().map(|one| of(one).to_owned()).unwrap_or_default()
    };
    RunRecord {
        run: interrupted.run.to_string(),
        action: text(|one| one.action),
        resumes: None,
        caller: text(|one| one.caller),
        tool: None,
        name: text(|one| one.name),
        at: beginning.as_ref().map_or(at, |one| one.at),
        parameters: Size { blake3: text(|one| one.blake3), bytes: beginning.as_ref().map_or(0, |one| one.bytes) },
        outcome: "interrupted".to_owned(),
        code: Some("interrupted".to_owned()),
        changed: None,
        result: None,
        decided_by: None,
        grants: None,
        seed: None,
        done: None,
        used: None,
    }
}
