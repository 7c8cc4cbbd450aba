//! What a tool claims of its results, such that it can be tried.
//!
//! Invariant: a claim that contradicts itself, or is about a parameter that there is not, is refused when it is made.

use serde_json::Value;
use toolcell_tool::Claims;

use crate::params::{ParamsError, Schema};

/// What a result is called where something is wrong with it.
const RESULT: &str = "result";

/// Says why claims are none.
pub(crate) fn check(claims: &Claims, parameters: &Schema) -> Result<(), String> {
    if let Some(returns) = &claims.returns {
        Schema::of_value(RESULT, returns).map_err(|error| format!("`returns`: {error}"))?;
    }
    let Some(name) = &claims.idempotent else { return Ok(()) };
    let known = parameters.parameters();
    if known.is_empty() || known.iter().any(|parameter| parameter.name == *name) {
        return Ok(());
    }
    let known: Vec<&str> = known.iter().map(|parameter| parameter.name.as_str()).collect();
    Err(format!("`idempotent` names `{}`, and the tool takes {}", name.escape_debug(), known.join(", ")))
}

/// What every result passes.
#[derive(Debug)]
pub(crate) struct Returns(Option<Schema>);

impl Returns {
    /// The claim, compiled. What cannot be was refused when it was made; it claims nothing.
    pub(crate) fn of(claims: &Claims) -> Self {
        Self(claims.returns.as_ref().and_then(|returns| Schema::of_value(RESULT, returns).ok()))
    }

    /// Says why a result is none of those.
    pub(crate) fn passes(&self, result: &Value) -> Result<(), ParamsError> {
        self.0.as_ref().map_or(Ok(()), |schema| schema.passes(&serde_json::json!({ RESULT: result })))
    }
}
