//! Errors and outputs of host calls, as tools see them.

use serde::Serialize;
use toolcell_host::{Effects, Json, OperationError, OperationOutput, Payload};

/// The result of a host call.
pub(super) type Result<T = OperationOutput> = std::result::Result<T, OperationError>;

/// Returns an error of a host call that did not happen.
pub(super) fn error_without_effects(name: &str, code: &'static str, message: impl Into<String>) -> OperationError {
    OperationError::without_effects(name, code, message)
}

/// Returns the arguments of a host call of this kind, or the error for the tool.
pub(super) fn check_payload<T>(kind: &str, payload: Payload<T>) -> Result<T> {
    payload.map_err(|error| {
        error_without_effects("TypeError", "operation-invalid", format!("`{kind}` has an invalid payload: {error}"))
    })
}

/// Returns the error for a kind of host call that does not exist.
pub(super) fn unknown_operation(kind: &str) -> OperationError {
    error_without_effects("TypeError", "operation-invalid", format!("unknown operation `{kind}`"))
}

/// Returns an output with this value.
pub(super) fn to_output(value: &impl Serialize) -> Result {
    to_output_with_bytes(value, None)
}

/// Returns an output with this value and these bytes.
pub(super) fn to_output_with_bytes(value: &impl Serialize, bytes: Option<Vec<u8>>) -> Result {
    let text = serde_json::to_string(value).map_err(|error| error.to_string());
    let json = text.and_then(|text| Json::parse(text).map_err(|error| error.to_string()));
    let json = json.map_err(|error| {
        let message = format!("the result cannot be passed to the tool: {error}");
        OperationError { effects: Effects::Committed, ..error_without_effects("Error", "operation-result", message) }
    })?;
    Ok(OperationOutput { json, bytes })
}
