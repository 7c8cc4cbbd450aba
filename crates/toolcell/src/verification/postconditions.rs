//! Postconditions: claims of a tool about its results that can be tested.
//!
//! Invariant: a postcondition that contradicts itself, or names an unknown parameter, is refused
//! when the tool is created.

use serde_json::Value;
use toolcell_i18n::{Message, message};
use toolcell_schema::{ParamsError, Schema};
use toolcell_tool::Postconditions;

/// The name of the result in error messages.
const RESULT_FIELD: &str = "result";

/// Validates the declared postconditions.
pub(crate) fn validate(claims: &Postconditions, parameters: &Schema) -> Result<(), Message> {
    if let Some(returns) = &claims.returns {
        Schema::for_value(RESULT_FIELD, returns).map_err(|error| message!("`returns`: {error}", error))?;
    }
    let Some(name) = &claims.idempotent else { return Ok(()) };
    let known = parameters.parameters();
    if known.is_empty() || known.iter().any(|parameter| parameter.name == *name) {
        return Ok(());
    }
    let known = known.iter().map(|parameter| Message::verbatim(parameter.name.clone()));
    Err(message!(
        "`idempotent` names `{name}`, but the parameters are {known}",
        name = name.escape_debug(),
        known = Message::list(known),
    ))
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
