//! Who calls.
//!
//! Invariant: a principal is known by the transport that a request came over, never by what the request says.

use std::fmt;
use std::sync::Arc;

/// The longest name, in bytes.
const NAME_LIMIT: usize = 64;
/// The name of whoever started the server, or reaches it where nobody has to say who they are.
const LOCAL: &str = "local";

/// Who calls: a name that is a folder as well. Each has a store and a share of its own.
///
/// # Examples
/// ```
/// use toolcell_mcp::Principal;
///
/// assert_eq!(Principal::parse("ci-runner")?.as_str(), "ci-runner");
/// assert_eq!(Principal::parse("../etc").unwrap_err().code(), "principal-invalid");
/// # Ok::<(), toolcell_mcp::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal(Arc<str>);

/// A name is none of a principal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no name of a principal: a lower-case letter, then lower-case letters, digits, `-` and `_`, at most {NAME_LIMIT}", .0.escape_debug())]
pub struct NameError(String);

impl NameError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "principal-invalid"
    }
}

impl Principal {
    /// Reads a name.
    ///
    /// # Errors
    /// `principal-invalid`
    pub fn parse(name: &str) -> Result<Self, NameError> {
        let fits = |rest: &str| rest.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        if name.len() <= NAME_LIMIT && name.starts_with(|first: char| first.is_ascii_lowercase()) && fits(name) {
            return Ok(Self(name.into()));
        }
        Err(NameError(name.chars().take(NAME_LIMIT).collect()))
    }

    /// Whoever started the server, or reaches it where nobody has to say who they are.
    #[must_use]
    pub fn local() -> Self {
        Self(LOCAL.into())
    }

    /// Whether it is [`Principal::local`].
    #[must_use]
    pub fn is_local(&self) -> bool {
        &*self.0 == LOCAL
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
