//! The errors of calls, as a tool sees them.

use std::borrow::Cow;

use toolcell_protocol::{Effects, OperationError};

/// The maximum length of a server's text in a message, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

pub(crate) fn error(code: &'static str, effects: Effects, message: impl Into<String>) -> OperationError {
    OperationError { name: "Error".to_owned(), message: message.into(), code: Cow::Borrowed(code), effects }
}

/// Returns the error for a server that the policy does not define.
#[must_use]
pub fn unknown_server(name: &str) -> OperationError {
    let message = format!("there is no server `{name}`: the user's policy defines servers in `[servers.NAME]`");
    error("server-unknown", Effects::None, message)
}

/// Cuts a text of a server for a message.
pub(crate) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_TEXT_CHARS).collect();
    if text.chars().nth(MAX_TEXT_CHARS).is_some() {
        short.push('…');
    }
    short
}

/// Returns an error with its causes as one line.
pub(crate) fn cause_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    // The library names its own types in front of what went wrong.
    if let Some((_, cause)) = text.split_once("] error: ").filter(|(types, _)| types.contains("::")) {
        text = cause.to_owned();
    }
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}
