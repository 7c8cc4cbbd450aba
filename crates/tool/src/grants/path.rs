//! Path prefixes of network grants.
//!
//! Invariant: a prefix other than `/` never covers a path that a server could normalize to another
//! one: a path with dot segments, backslashes or encoded slashes, however often they are
//! percent-encoded.

use std::fmt;

use serde::{Deserialize, Serialize};
use toolcell_i18n::message;

use crate::grants::error::GrantError;

/// The maximum length of a prefix, in bytes.
const MAX_PREFIX_BYTES: usize = 1_024;

/// A prefix of URL paths that ends at a segment boundary: `/v1` covers `/v1` and `/v1/x`, but not
/// `/v10`; `/v1/` covers only what is below it.
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
    /// Returns the prefix that covers all paths.
    fn default() -> Self {
        Self("/".to_owned())
    }
}

impl PathPrefix {
    /// Parses a prefix as a user writes it, percent-encoded as in a URL.
    ///
    /// # Errors
    /// `grant-invalid`: a relative path, dot segments, or characters that a URL path cannot
    /// contain.
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        let wrong = |why| Err(GrantError::new(message!("URL path"), text, why));
        if !text.starts_with('/') {
            return wrong(message!("it must begin with `/`"));
        }
        if text.contains(['?', '#']) {
            return wrong(message!("it must not contain a query or a fragment"));
        }
        if text.contains('*') {
            return wrong(message!("it is a prefix; leave out the `*`"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'`' | b'{' | b'}'))
        {
            return wrong(message!("percent-encode characters that a URL cannot contain"));
        }
        if is_ambiguous(text) {
            return wrong(message!(
                "it contains `.`, `..`, a backslash or an encoded slash; write the normalized path"
            ));
        }
        if text.len() > MAX_PREFIX_BYTES {
            return wrong(message!("it is longer than 1024 bytes"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the prefix as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the prefix covers a path, which is written as a URL parser returns it.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        if self.0 == "/" {
            return path.starts_with('/');
        }
        self.is_prefix_of(path) && !is_ambiguous(path)
    }

    /// Returns whether the prefix covers every path that `other` covers.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        self.is_prefix_of(&other.0)
    }

    /// Returns the intersection: the paths that both prefixes cover.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        if self.includes(other) { Some(other.clone()) } else { other.includes(self).then(|| self.clone()) }
    }

    fn is_prefix_of(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&self.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || self.0.ends_with('/'))
    }
}

/// Returns whether a server could normalize the path to another one.
fn is_ambiguous(path: &str) -> bool {
    let mut decoded = path.to_ascii_lowercase();
    // A server may decode more than once.
    while decoded.contains("%25") {
        decoded = decoded.replace("%25", "%");
    }
    let decoded = decoded.replace("%2e", ".");
    // Some servers treat the text after a `;` as parameters of the segment.
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
