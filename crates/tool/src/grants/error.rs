//! The error of an invalid grant.
//!
//! Invariant: a message is one line that names the value and what is allowed in its place.

use toolcell_i18n::Message;

/// The maximum length of a quoted value in a message, in characters.
const MAX_SHOWN_CHARS: usize = 64;

/// An invalid part of a grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[error("`{value}` is not a valid {what}: {why}")]
#[code(GrantInvalid)]
#[hint("write grants as in a policy file; `toolcell config schema` prints its schema")]
pub struct GrantError {
    what: Message,
    value: String,
    why: Message,
}

impl GrantError {
    pub(crate) fn new(what: Message, value: &str, why: Message) -> Self {
        let mut shown: String = value.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
        if value.chars().nth(MAX_SHOWN_CHARS).is_some() {
            shown.push('…');
        }
        Self { what, value: shown, why }
    }
}
