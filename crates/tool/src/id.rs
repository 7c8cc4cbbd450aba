//! Tool identifiers: content hashes over everything that determines a tool's behaviour.
//!
//! Invariant: a [`ToolId`] comes from hashing a [`ToolSpec`](crate::ToolSpec) or from parsing all
//! of its digits. Users type an [`IdPrefix`], which only a store can resolve to an identifier.

use std::fmt;

/// The prefix of every identifier.
const PREFIX: &str = "dt_";
/// The number of digits in the short form.
const SHORT_DIGITS: usize = 12;
/// The minimum number of digits that are accepted as an identifier.
const MIN_DIGITS: usize = 8;
/// The number of digits of a complete identifier, a 32-byte hash.
const DIGITS: usize = 64;

/// The identifier of a tool: `dt_` and 64 hexadecimal digits.
///
/// # Examples
/// ```
/// use toolcell_tool::ToolId;
///
/// let id: ToolId = format!("dt_{}", "0a".repeat(32)).parse()?;
/// assert_eq!(id.short(), "dt_0a0a0a0a0a0a");
/// assert!("dt_0a".parse::<ToolId>().is_err());
/// # Ok::<(), toolcell_tool::IdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolId([u8; 32]);

impl ToolId {
    /// Creates the identifier with this hash.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the short form for display: `dt_` and 12 digits.
    #[must_use]
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(PREFIX.len() + SHORT_DIGITS);
        text
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

impl std::str::FromStr for ToolId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let prefix = IdPrefix::parse(text)?;
        let hash = blake3::Hash::from_hex(prefix.digits()).map_err(|_| IdError)?;
        Ok(Self(*hash.as_bytes()))
    }
}

impl serde::Serialize for ToolId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for ToolId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A prefix of an identifier: `dt_` and 8 to 64 lower-case hexadecimal digits.
///
/// # Examples
/// ```
/// use toolcell_tool::IdPrefix;
///
/// assert_eq!(IdPrefix::parse("dt_abc123def456")?.digits(), "abc123def456");
/// assert!(IdPrefix::parse("dt_abc").is_err());
/// assert!(IdPrefix::parse("average").is_err());
/// # Ok::<(), toolcell_tool::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdPrefix(String);

impl IdPrefix {
    /// Parses a prefix as a user types it.
    ///
    /// # Errors
    /// `id-invalid`
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let digits = text.strip_prefix(PREFIX).ok_or(IdError)?;
        let hex = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if hex && (MIN_DIGITS..=DIGITS).contains(&digits.len()) { Ok(Self(digits.to_owned())) } else { Err(IdError) }
    }

    /// Returns the digits, without `dt_`.
    #[must_use]
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// Returns the smallest and the largest identifier with this prefix.
    #[must_use]
    pub fn range(&self) -> (ToolId, ToolId) {
        let filled = |digit: &str| {
            let text = format!("{}{}", self.0, digit.repeat(DIGITS - self.0.len()));
            blake3::Hash::from_hex(text).map_or([0; 32], |hash| *hash.as_bytes())
        };
        (ToolId(filled("0")), ToolId(filled("f")))
    }
}

impl fmt::Display for IdPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

/// The error for text that is not an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[coded(no_hint)]
#[code(IdInvalid)]
#[error("an identifier is `{PREFIX}` and {MIN_DIGITS} to {DIGITS} lower-case hexadecimal digits")]
pub struct IdError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_stands_for_all_that_begin_so() {
        let (least, greatest) = IdPrefix::parse("dt_abc123de").unwrap().range();
        assert_eq!(least.to_string(), format!("dt_abc123de{}", "0".repeat(56)));
        assert_eq!(greatest.to_string(), format!("dt_abc123de{}", "f".repeat(56)));
    }

    #[test]
    fn nothing_else_is_an_identifier() {
        for text in ["", "dt_", "dt_1234567", "dt_ABCDEF12", "dt_../../x", "dt_１２３４５６７８", "tool"] {
            assert_eq!(IdPrefix::parse(text), Err(IdError), "{text}");
        }
        assert!(IdPrefix::parse(&format!("dt_{}", "0".repeat(65))).is_err());
    }
}
