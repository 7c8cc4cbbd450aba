//! Expressions that say whether a result is right.
//!
//! Invariant: an expression is source that somebody wrote; it is looked at as a draft is, and runs in the cell with nothing
//! granted.

use serde_json::{Value, json};
use toolcell_analysis::quick_check;
use toolcell_host::{CallError, NoOperations, Outcome, Run};
use toolcell_tool::Language;

use super::trial::returned;
use crate::cell::Code;
use crate::permit::Permit;
use crate::toolbox::Toolbox;
use crate::vet::said;

/// What it is called in messages.
const NAME: &str = "holds";

impl Toolbox {
    /// Whether an expression of `result` and `parameters` is true, or why that cannot be said.
    pub(crate) fn holds(
        &self,
        expression: &str,
        result: &Value,
        parameters: &Value,
    ) -> Result<Result<bool, String>, CallError> {
        let source = format!("const execute = ({{ result, parameters }}) => Boolean(\n{expression}\n)");
        let script = match quick_check(&source, Language::TypeScript) {
            Ok((script, findings)) if findings.is_empty() => script,
            Ok((_, findings)) => return Ok(Err(said(&findings))),
            Err(rejection) => return Ok(Err(rejection.to_string())),
        };
        let args = match self.anything.check_value(json!({ "result": result, "parameters": parameters })) {
            Ok(args) => args,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let permit = Permit::to_describe(args);
        let run = Run { operations: &NoOperations, ..Run::default() };
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared predicate");
        hasher.update(source.as_bytes());
        let key = hasher.finalize();
        let code = self.kept(&key).map_or(Code::Script(&script), Code::Evaluated);
        let report = self.enter(key, NAME, code, &permit, &run)?;
        Ok(match &report.outcome {
            Outcome::Returned(_) => Ok(returned(&report) == Some(Value::Bool(true))),
            Outcome::Threw(thrown) => Err(format!("it throws {}: {}", thrown.name, thrown.message)),
            Outcome::Stopped(stop) => Err(stop.to_string()),
        })
    }
}
