//! Failures of operations, as the tool sees them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolcell_capabilities as capabilities;
use toolcell_host::{Effects, Json, Operation, OperationAnswer, OperationFailure};

/// What an operation came to.
pub(super) type Result<T = OperationAnswer> = std::result::Result<T, OperationFailure>;

/// A failure of something that did not happen.
pub(super) fn nothing_done(name: &str, code: &'static str, message: impl Into<String>) -> OperationFailure {
    OperationFailure { name: name.to_owned(), message: message.into(), code: code.into(), effects: Effects::None }
}

pub(super) fn of(failure: capabilities::Failure) -> OperationFailure {
    let effects = match failure.effects {
        capabilities::Effects::None => Effects::None,
        capabilities::Effects::Started => Effects::Started,
        capabilities::Effects::Committed => Effects::Committed,
    };
    OperationFailure { name: failure.name.to_owned(), message: failure.message, code: failure.code.into(), effects }
}

/// What an operation is to be done with.
pub(super) fn payload<T: DeserializeOwned>(operation: &Operation) -> Result<T> {
    serde_json::from_str(&operation.payload).map_err(|error| {
        nothing_done("TypeError", "operation-invalid", format!("`{}` cannot be meant so: {error}", operation.kind))
    })
}

/// An answer with this value.
pub(super) fn answer(value: &impl Serialize) -> Result {
    with_bytes(value, None)
}

/// An answer with this value and bytes.
pub(super) fn with_bytes(value: &impl Serialize, bytes: Option<Vec<u8>>) -> Result {
    let text = serde_json::to_string(value).map_err(|error| error.to_string());
    let json = text.and_then(|text| Json::parse(text).map_err(|error| error.to_string()));
    let json = json.map_err(|error| {
        let message = format!("what came of it cannot be handed to the tool: {error}");
        OperationFailure { effects: Effects::Committed, ..nothing_done("Error", "operation-result", message) }
    })?;
    Ok(OperationAnswer { json, bytes })
}
