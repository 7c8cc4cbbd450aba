//! Predicates: expressions that decide whether a result is correct.
//!
//! Invariant: a predicate is untrusted source: it is analysed like a draft, and runs in the cell
//! without grants.

use serde_json::{Value, json};
use toolcell_analysis::quick_check;
use toolcell_host::{CallContext, CallError, Outcome};
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_tool::Language;

use super::trial::returned_value;
use crate::admission::{CallAuthorization, UngrantedCall};
use crate::execution::{Runtime, ToolCode};
use crate::vet::describe_findings;

/// The name of a predicate in messages.
const PREDICATE_NAME: &str = "holds";

/// Evaluates a predicate over `result` and `parameters`; the inner error says why it cannot be
/// evaluated.
pub(super) fn evaluate_predicate(
    runtime: &Runtime,
    expression: &str,
    result: &Value,
    parameters: &Value,
) -> Result<Result<bool, Message>, CallError> {
    let source = format!("const execute = ({{ result, parameters }}) => Boolean(\n{expression}\n)");
    let script = match quick_check(&source, Language::TypeScript) {
        Ok((script, findings)) if findings.is_empty() => script,
        Ok((_, findings)) => return Ok(Err(describe_findings(&findings))),
        Err(rejection) => return Ok(Err(rejection.localize())),
    };
    let args = match runtime.any_schema().check_value(json!({ "result": result, "parameters": parameters })) {
        Ok(args) => args,
        Err(error) => return Ok(Err(error.localize())),
    };
    let call = UngrantedCall::for_analysis(args);
    let authorization = CallAuthorization::without_host_calls(&call);
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared predicate");
    hasher.update(source.as_bytes());
    let key = hasher.finalize();
    let code = runtime.cached_script(&key).map_or(ToolCode::Script(&script), ToolCode::Prepared);
    let report = runtime.execute(key, PREDICATE_NAME, code, authorization, &CallContext::default())?;
    Ok(match &report.outcome {
        Outcome::Returned(_) => Ok(returned_value(&report) == Some(Value::Bool(true))),
        Outcome::Threw(thrown) => {
            Err(message!("it throws {name}: {error}", name = thrown.name, error = thrown.message))
        }
        Outcome::Stopped(stop) => Err(message!("{stop}", stop)),
    })
}
