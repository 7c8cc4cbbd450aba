//! Which paths of a host a grant is about.
//!
//! Invariant: a prefix other than `/` covers no path of which a server could make another one: with dot segments, backslashes
//! or encoded slashes in it, however often they are encoded.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::grants::error::GrantError;

/// The longest prefix, in bytes.
const PREFIX_BYTES: usize = 1_024;

/// The beginning of paths, of whole segments: `/v1` covers `/v1` and `/v1/x`, and not `/v10`; `/v1/` covers what is below alone.
///
/// # Examples
/// ```
/// use toolcell_tool::PathPrefix;
///
/// let prefix = PathPrefix::parse("/v1")?;
/// assert!(prefix.covers("/v1/users") && !prefix.covers("/v10") && !prefix.covers("/v1/%2e%2e/admin"));
/// assert!(PathPrefix::parse("v1").unwrap_err().to_string().ends_with("it must begin with `/`"));
/// # Ok::<(), toolcell_tool::GrantError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPrefix(String);

impl Default for PathPrefix {
    /// All paths.
    fn default() -> Self {
        Self("/".to_owned())
    }
}

impl PathPrefix {
    /// Takes a prefix as it was typed, percent-encoded as in a URL.
    ///
    /// # Errors
    /// `grant-invalid`: relative, with dot segments, or with characters that no path of a URL has.
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        let wrong = |why: &'static str| Err(GrantError::new("path of a URL", text, why));
        if !text.starts_with('/') {
            return wrong("it must begin with `/`");
        }
        if text.contains(['?', '#']) {
            return wrong("a query and a fragment are not part of it");
        }
        if text.contains('*') {
            return wrong("it covers what is below it without a `*`");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'`' | b'{' | b'}'))
        {
            return wrong("percent-encode what is no character of a URL");
        }
        if is_ambiguous(text) {
            return wrong("it has `.`, `..`, a backslash or an encoded slash in it; write where that leads to");
        }
        if text.len() > PREFIX_BYTES {
            return wrong("it is longer than 1024 bytes");
        }
        Ok(Self(text.to_owned()))
    }

    /// The prefix.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a path, as a URL parser gives it, is covered.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        if self.0 == "/" {
            return path.starts_with('/');
        }
        self.is_above(path) && !is_ambiguous(path)
    }

    /// Whether all paths of another prefix are covered.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        self.is_above(&other.0)
    }

    /// The paths that are covered by both.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        if self.includes(other) { Some(other.clone()) } else { other.includes(self).then(|| self.clone()) }
    }

    fn is_above(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&self.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || self.0.ends_with('/'))
    }
}

/// Whether a server could make another path of this one.
fn is_ambiguous(path: &str) -> bool {
    let mut decoded = path.to_ascii_lowercase();
    // A server may decode more than once.
    while decoded.contains("%25") {
        decoded = decoded.replace("%25", "%");
    }
    let decoded = decoded.replace("%2e", ".");
    // Some servers take what follows a `;` for parameters of the segment.
    let dots = |segment: &str| matches!(segment.split(';').next(), Some("." | ".."));
    decoded.contains('\\') || decoded.contains("%2f") || decoded.contains("%5c") || decoded.split('/').any(dots)
}

impl fmt::Display for PathPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for PathPrefix {
    type Error = GrantError;

    fn try_from(text: String) -> Result<Self, GrantError> {
        Self::parse(&text)
    }
}

impl From<PathPrefix> for String {
    fn from(prefix: PathPrefix) -> Self {
        prefix.0
    }
}
