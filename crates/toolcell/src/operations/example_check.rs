//! The comparison of a tool with its examples when it is created.
//!
//! Invariant: a tool runs here under a permit, as in a verification, and within a small budget.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::Value;
use toolcell_error::ErrorCode;
use toolcell_host::{Budget, OnOverload, Params};
use toolcell_i18n::Localize as _;
use toolcell_policy::LimitOverrides;
use toolcell_schema::{Args, Schema};
use toolcell_tool::{Example, ToolMetadata};

use super::hook_tools::StoredHookTools;
use super::run::RunError;
use crate::admission::hook::{Approver, CallerClaims};
use crate::admission::{AdmissionError, AdmissionMode, AdmissionRequest, Called, Permit, StoredTool};
use crate::execution::unix_time;
use crate::parts::Parts;
use crate::verification::proof::{ExampleComparison, Trial, compare_examples};

/// The fuel and the time that the examples of a new tool may take together.
const MAX_COMPARISON: (u64, Duration) = (500_000_000, Duration::from_secs(2));

/// Compares a tool that was just stored with its examples, within a small budget.
///
/// Nothing is recorded, and the status of the tool stays as it is. Hooks decide about it as about a
/// verification.
pub(super) fn compare_with_examples(
    parts: &Parts,
    subject: StoredTool<'_>,
    schema: &Schema,
    notes: &ToolMetadata,
) -> ExampleComparison {
    let examples: Vec<Example> = notes.examples().iter().filter_map(|it| Example::from_value(it).ok()).collect();
    if examples.is_empty() {
        return ExampleComparison::NoExamples;
    }
    let compared = permit_to_verify(parts, subject, schema, &examples, None, "create").and_then(|permit| {
        let trial = Trial {
            runtime: &parts.runtime,
            entry: subject.entry,
            tool: subject.tool,
            schema,
            permit: &permit,
            started_at: unix_time(parts.now()),
            cancel: None,
            receipts: RefCell::default(),
        };
        let budget = trial.budget();
        let fuel = budget.fuel.min(MAX_COMPARISON.0);
        let budget = Budget { fuel, deadline: budget.deadline.min(MAX_COMPARISON.1), ..budget };
        Ok(compare_examples(&trial, &examples, notes.postconditions(), budget)?)
    });
    compared.unwrap_or_else(|error| ExampleComparison::NotRun(error.localize()))
}

/// Admits the verification of a tool in the same way as a run.
pub(super) fn permit_to_verify(
    parts: &Parts,
    subject: StoredTool<'_>,
    schema: &Schema,
    examples: &[Example],
    approver: Option<&dyn Approver>,
    caller: &str,
) -> Result<Permit, RunError> {
    let StoredTool { entry, tool, .. } = subject;
    let budget = parts.admission.policy().budget(&LimitOverrides::default())?;
    let shown = examples.iter().find_map(|example| schema.check_value(example.parameters.clone()).ok());
    let args: Result<Args, _> = shown.map_or_else(|| parts.runtime.any_schema().check(Params::default()), Ok);
    let hook_tools = StoredHookTools::new(parts, OnOverload::Wait);
    let request = AdmissionRequest {
        name: entry.name.as_str(),
        schema,
        requested: tool.requested_capabilities(),
        called: Called::Tool(subject),
        hook_tools: &hook_tools,
    };
    let purpose = AdmissionMode::Run { approver, caller, claims: &CallerClaims::default(), cancel: None };
    parts.admission.admit(&request, args?, budget, purpose, &mut Vec::new()).map_err(|error| {
        if let AdmissionError::Denied(denial) = &error {
            let (called, why) = ((entry.name.as_str(), Some(entry.id)), denial.to_string());
            let caller = purpose.caller();
            let why = (ErrorCode::PermissionDenied, why);
            parts.admission.notify_refused(called, Value::Null, &caller, why, &hook_tools);
        }
        RunError::from(error)
    })
}
