//! Why a part of a grant is none.
//!
//! Invariant: a message names the value and what may stand there, in one line.

use std::borrow::Cow;

/// How much of a wrong value is shown, in characters.
const SHOWN: usize = 64;

/// A part of a grant cannot be what it is said to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is no {what}: {why}")]
pub struct GrantError {
    what: &'static str,
    value: String,
    why: Cow<'static, str>,
}

impl GrantError {
    pub(crate) fn new(what: &'static str, value: &str, why: impl Into<Cow<'static, str>>) -> Self {
        let mut shown: String = value.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        if value.chars().nth(SHOWN).is_some() {
            shown.push('…');
        }
        Self { what, value: shown, why: why.into() }
    }

    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "grant-invalid"
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "grants are written as in a policy file: `toolcell config schema` prints what may stand in one"
    }
}
