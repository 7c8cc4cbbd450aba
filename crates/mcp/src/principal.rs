//! Callers.
//!
//! Invariant: a principal is determined by the transport of a request, never by the request's
//! content.

use std::fmt;
use std::sync::Arc;

/// The longest name, in bytes.
const NAME_LIMIT: usize = 64;
/// The name of the principal that needs no authentication.
const LOCAL: &str = "local";

/// A caller: a name that is also used as a directory name. Each principal has its own store and
/// limits.
///
/// # Examples
/// ```
/// use toolcell_mcp::Principal;
///
/// assert_eq!(Principal::parse("ci-runner")?.as_str(), "ci-runner");
/// assert_eq!(Principal::parse("../etc").unwrap_err().code(), "principal-invalid");
/// # Ok::<(), toolcell_mcp::PrincipalNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal(Arc<str>);

/// The name of a principal is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[error("`{}` is not a valid principal name: a lower-case letter, then lower-case letters, digits, `-` or `_`, at most {NAME_LIMIT}", .0.escape_debug())]
#[coded(no_hint)]
#[code(PrincipalInvalid)]
pub struct PrincipalNameError(String);

impl Principal {
    /// Parses a name.
    ///
    /// # Errors
    /// `principal-invalid`
    pub fn parse(name: &str) -> Result<Self, PrincipalNameError> {
        let fits = |rest: &str| rest.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        if name.len() <= NAME_LIMIT && name.starts_with(|first: char| first.is_ascii_lowercase()) && fits(name) {
            return Ok(Self(name.into()));
        }
        Err(PrincipalNameError(name.chars().take(NAME_LIMIT).collect()))
    }

    /// The principal that needs no authentication: it started the server, or reaches one without
    /// tokens.
    #[must_use]
    pub fn local() -> Self {
        Self(LOCAL.into())
    }

    /// Whether this is [`Principal::local`].
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
