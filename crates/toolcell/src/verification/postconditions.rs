//! Postconditions: claims of a tool about its results that can be tested.
//!
//! Invariant: a postcondition that contradicts itself, or names an unknown parameter, is refused
//! when the tool is created.

use serde_json::Value;
use toolcell_schema::{ParamsError, Schema};
use toolcell_tool::Postconditions;

/// The name of the result in error messages.
const RESULT_FIELD: &str = "result";

/// Validates the declared postconditions.
pub(crate) fn validate(claims: &Postconditions, parameters: &Schema) -> Result<(), String> {
    if let Some(returns) = &claims.returns {
        Schema::for_value(RESULT_FIELD, returns).map_err(|error| format!("`returns`: {error}"))?;
    }
    let Some(name) = &claims.idempotent else { return Ok(()) };
    let known = parameters.parameters();
    if known.is_empty() || known.iter().any(|parameter| parameter.name == *name) {
        return Ok(());
    }
    let known: Vec<&str> = known.iter().map(|parameter| parameter.name.as_str()).collect();
    Err(format!("`idempotent` names `{}`, but the parameters are {}", name.escape_debug(), known.join(", ")))
}

/// The check of results against the declared `returns` schema.
#[derive(Debug)]
pub(crate) struct ReturnsCheck(Option<Schema>);

impl ReturnsCheck {
    /// Compiles the schema. An invalid schema was refused at creation; here it accepts every
    /// result.
    pub(crate) fn new(claims: &Postconditions) -> Self {
        Self(claims.returns.as_ref().and_then(|returns| Schema::for_value(RESULT_FIELD, returns).ok()))
    }

    /// Checks a result against the schema.
    pub(crate) fn check(&self, result: &Value) -> Result<(), ParamsError> {
        self.0.as_ref().map_or(Ok(()), |schema| schema.validate(&serde_json::json!({ RESULT_FIELD: result })))
    }
}
