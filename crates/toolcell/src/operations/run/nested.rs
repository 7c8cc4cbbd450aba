//! Nested runs: a tool that calls another tool.
//!
//! Invariant: a nested run is limited to what its caller has left, and leaves a record of its own.

use toolcell_error::ErrorCode;
use toolcell_flows::Label;
use toolcell_host::{Effects, OnOverload, OperationError, OperationOutput, Outcome, Params};
use toolcell_policy::LimitOverrides;
use toolcell_store::audit::Action;
use toolcell_store::{Decision, LabelHolder};
use toolcell_tool::ToolName;

use super::super::lookup::find_exact;
use super::{RunError, RunResult, run_inner};
use crate::execution::RunOptions;
use crate::host_calls::{CallerContext, DeclassifiedTool, NestedCalls, NestedResult, tool_output};
use crate::parts::Parts;
use crate::records::{AttemptEnd, RunRecorder};
use crate::request::RunTool;

/// Runs the tools that a run calls.
pub(in crate::operations) struct NestedRuns<'a> {
    parts: &'a Parts,
    /// The options of the calling run.
    options: &'a RunOptions,
}

impl<'a> NestedRuns<'a> {
    /// Creates the nested runs of a run with these options.
    pub(in crate::operations) fn new(parts: &'a Parts, options: &'a RunOptions) -> Self {
        Self { parts, options }
    }
}

impl NestedRuns<'_> {
    /// Returns where an error came from before a run: from what its caller was handed, and from the source of the tool.
    fn label_of_error(&self, attempted: &RunRecorder<'_>, within: &CallerContext<'_>) -> Option<Label> {
        let mut label = within.environment.flow_label()?;
        let holder = attempted.tool().map(LabelHolder::Tool);
        let store = self.parts.store.as_ref();
        let known = store.zip(holder).map(|(store, holder)| store.labels().sources(&[holder]));
        match known {
            Some(Ok(sources)) => drop(label.join(&Label::parse(sources.iter().map(String::as_str)))),
            Some(Err(_)) => label = Label::any(),
            None => {}
        }
        Some(label)
    }
}

impl NestedCalls for NestedRuns<'_> {
    fn call(&self, name: &ToolName, params: Params, within: &CallerContext<'_>) -> NestedResult {
        let request = RunTool::new(name.as_str(), params);
        let options = RunOptions {
            caller: format!("tool {}", within.caller),
            limits: LimitOverrides::default(),
            cancel: within.remaining.deadline.cancel_token().cloned(),
            partial: None,
            on_overload: OnOverload::Nested,
            tokens_saved: None,
            time_saved: None,
            // The receipt of the calling run contains the result.
            receipt: false,
            // So does its profile for the fuel.
            profile: None,
            ..self.options.clone()
        };
        let name = request.tool_name.as_deref().unwrap_or_default();
        let recorder = &self.parts.recorder;
        let begun = RunRecorder::start(recorder, Action::RunDynamicTool, &options.caller, name, &request.parameters);
        let mut attempted = match begun {
            Ok(attempted) => attempted,
            Err(fault) => return NestedResult::not_called(refusal_error(name, &fault.into(), Effects::None)),
        };
        attempted.set_claims(&options.claims);
        let done = run_inner(self.parts, &request, &options, &mut attempted, Some(within));
        let (fuel, waited, effects) = attempted.consumed();
        let label = attempted.flow_label().cloned().or_else(|| self.label_of_error(&attempted, within));
        let ended = match &done {
            Ok(_) => AttemptEnd::Completed,
            Err(error) => AttemptEnd::Refused { code: error.code(), message: error.to_string() },
        };
        let recorded = attempted.finish(ended).map_err(|source| RunError::RecordFailed { source, effects });
        let before = label.clone();
        let (result, label) = match (done, recorded) {
            (Ok(mut ran), Ok(_)) => {
                let label = declassify(self.parts, &mut ran, label, within);
                (to_output(name, ran, effects), label)
            }
            (Err(error), _) | (_, Err(error)) => (Err(refusal_error(name, &error, effects)), label),
        };
        let is_declassified = label != before;
        NestedResult { result, fuel, waited, effects, label, is_declassified }
    }
}

/// Lowers the label of a result that the policy declares to tell little: that of an approved tool whose declared result
/// has few values. The result then has the only form of its value.
fn declassify(parts: &Parts, ran: &mut RunResult, label: Option<Label>, within: &CallerContext<'_>) -> Option<Label> {
    let label = label?;
    let lowered = || {
        let flows = within.environment.flows()?;
        let Outcome::Returned(Some(value)) = &ran.report.outcome else { return None };
        // How long it took shows beside what else is under way.
        if ran.output_suppressed
            || !within.is_alone
            || within.grants.clock
            || !flows.may_declassify(ran.tool, ran.name.as_str())
        {
            return None;
        }
        let store = parts.require_store().ok()?;
        let approvals = store.approvals().for_tool(ran.tool).ok()?;
        if !approvals.iter().any(|approval| approval.decision == Decision::Approved) {
            return None;
        }
        let entry = find_exact(store, ran.tool).ok()??;
        let metadata = store.catalog().metadata(&entry).ok()?;
        let result = metadata.postconditions().returns.as_ref();
        flows.declassify(&DeclassifiedTool { id: ran.tool, name: ran.name.as_str(), result }, value, &label)
    };
    match lowered() {
        Some((value, left)) => {
            ran.report.outcome = Outcome::Returned(Some(value));
            Some(left)
        }
        None => Some(label),
    }
}

/// Converts the result of a tool that ran into the output for its caller.
fn to_output(called: &str, ran: RunResult, effects: Effects) -> Result<OperationOutput, OperationError> {
    let failure = |name: &str, code: ErrorCode, message: String| {
        Err(OperationError { name: name.to_owned(), message, code: code.into(), effects })
    };
    match ran.report.outcome {
        Outcome::Returned(_) if ran.output_suppressed => {
            failure("NotAllowedError", ErrorCode::ResultWithheld, format!("a hook withheld the result of `{called}`"))
        }
        Outcome::Returned(value) => Ok(tool_output(value)),
        Outcome::Threw(thrown) => {
            failure(&thrown.name, ErrorCode::ToolFailed, format!("`{called}` failed: {}", thrown.message))
        }
        Outcome::Stopped(stop) => failure("Error", stop.code(), format!("`{called}` was stopped: {stop}")),
    }
}

/// Returns the error for the caller of a tool that did not run, or whose result is withheld.
fn refusal_error(called: &str, error: &RunError, effects: Effects) -> OperationError {
    let message = match error {
        RunError::GrantOpen(error) => format!("`{called}` was not run: {}; tell the user", error.message_for_tool()),
        // Which other tools there are is not for the code of a tool to know.
        RunError::Find(_) => format!("`{called}` was not run: there is no such tool"),
        error => format!("`{called}` was not run: {error}; {}", error.hint()),
    };
    OperationError { name: "NotAllowedError".to_owned(), message, code: error.code().into(), effects }
}
