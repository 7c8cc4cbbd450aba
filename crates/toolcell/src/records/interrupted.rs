//! Recovery of runs that were started by processes that are gone.

use jiff::Timestamp;
use toolcell_error::ErrorCode;
use toolcell_store::audit::{Action, AuditEvent, EventFailure};
use toolcell_store::{
    Fault, FindError, FinishedRun, InterruptedRun, RUN_KIND, Record, RecordError, StatusError, Store, ToolRef,
};
use toolcell_tool::Status;

use super::Recorder;
use super::run_record::{ContentDigest, OUTCOMES, RunRecord, RunStart, to_json};

/// The outcomes of attempts that completed, whatever they say about the tool.
const COMPLETED_OUTCOMES: [&str; 5] = ["returned", "suspended", "passed", "failed", "unproven"];

impl Recorder {
    /// Finishes the runs of processes that are gone as `interrupted`. If the record was written
    /// already, the audit event follows it.
    pub(crate) fn close_interrupted(&self) -> Result<(), RecordError> {
        let Some(store) = &self.store else { return Ok(()) };
        for interrupted in store.runs().interrupted()? {
            let at = self.now();
            let kept = interrupted.record.as_ref().and_then(|kept| serde_json::from_slice(&kept.body).ok());
            let mut run: RunRecord = kept.unwrap_or_else(|| record_from_start(&interrupted, at));
            if run.outcome == "asleep" {
                // Former versions wrote this word into the record.
                "suspended".clone_into(&mut run.outcome);
            }
            let action = Action::from_name(&run.action).unwrap_or(Action::RunDynamicTool);
            let mut attempt = AuditEvent::new(action, at);
            attempt.name = Some(run.name.clone()).filter(|name| !name.is_empty());
            attempt.tool = interrupted.record.as_ref().and_then(|kept| kept.tool);
            attempt.details.outcome = OUTCOMES.into_iter().find(|known| *known == run.outcome);
            if !COMPLETED_OUTCOMES.contains(&run.outcome.as_str()) {
                attempt.result = Err(EventFailure { code: ErrorCode::Interrupted, message: run.code.clone() });
            }
            let new = || Record { kind: RUN_KIND.to_owned(), tool: None, at, body: to_json(&run) };
            let record = interrupted.record.unwrap_or_else(new);
            store.runs().finish(interrupted.active, FinishedRun { usage: None, record, audit_event: attempt })?;
            if action == Action::VerifyTool {
                // The verification is no longer running.
                reset_pending_status(store, &run.name)?;
            }
        }
        Ok(())
    }
}

/// Resets a tool to unverified if its process died while verifying it.
fn reset_pending_status(store: &Store, called: &str) -> Result<(), Fault> {
    let Ok(reference) = ToolRef::parse(called) else { return Ok(()) };
    match store.catalog().find(&reference) {
        Ok(entry) if entry.status == Status::Pending => {
            match store.catalog().set_status(entry.id, Status::Unverified) {
                Err(StatusError::Fault(fault)) => Err(fault),
                // Another process has changed the status first.
                _ => Ok(()),
            }
        }
        Err(FindError::Fault(fault)) => Err(fault),
        _ => Ok(()),
    }
}

/// Creates the record of a run that never finished. An unreadable entry comes from another version;
/// that the run was started is recorded all the same.
fn record_from_start(interrupted: &InterruptedRun, at: Timestamp) -> RunRecord {
    let beginning: Option<RunStart<'_>> = serde_json::from_slice(&interrupted.payload).ok();
    let text =
        |of: for<'a> fn(&RunStart<'a>) -> &'a str| beginning.as_ref().map(|one| of(one).to_owned()).unwrap_or_default();
    RunRecord {
        run: interrupted.run.to_string(),
        action: text(|one| one.action),
        resumes: None,
        caller: text(|one| one.caller),
        claims: None,
        tool: None,
        name: text(|one| one.name),
        at: beginning.as_ref().map_or(at, |one| one.at),
        parameters: ContentDigest {
            blake3: text(|one| one.blake3),
            bytes: beginning.as_ref().map_or(0, |one| one.bytes),
        },
        outcome: "interrupted".to_owned(),
        code: Some(ErrorCode::Interrupted.to_string()),
        changed: None,
        result: None,
        decided_by: None,
        grants: None,
        seed: None,
        done: None,
        used: None,
        receipt: None,
    }
}
