//! What a tool is known by: a hash over what decides its behaviour.
//!
//! Invariant: a [`ToolId`] is made by hashing a [`ToolSpec`](crate::ToolSpec), or by parsing all of its digits. Text that
//! people type is an [`IdPrefix`], which only a store can make an identifier of.

use std::fmt;

/// What identifiers begin with.
const MARK: &str = "dt_";
/// How many digits are shown where that is unique.
const SHOWN: usize = 12;
/// The fewest digits that are taken for an identifier.
const FEWEST: usize = 8;
/// All digits of a hash of 32 bytes.
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
    /// The identifier with this hash.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// So much of it as people are shown: `dt_` and 12 digits.
    #[must_use]
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(MARK.len() + SHOWN);
        text
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}{}", blake3::Hash::from_bytes(self.0).to_hex())
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

/// The beginning of an identifier: `dt_` and 8 to 64 lower-case hexadecimal digits.
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
    /// Takes text as it was typed.
    ///
    /// # Errors
    /// `id-invalid`
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let digits = text.strip_prefix(MARK).ok_or(IdError)?;
        let hex = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if hex && (FEWEST..=DIGITS).contains(&digits.len()) { Ok(Self(digits.to_owned())) } else { Err(IdError) }
    }

    /// The digits, without `dt_`.
    #[must_use]
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// The least and the greatest identifier that begin so.
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
        write!(f, "{MARK}{}", self.0)
    }
}

/// Some text is no identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an identifier is `{MARK}` and {FEWEST} to {DIGITS} lower-case hexadecimal digits")]
pub struct IdError;

impl IdError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(self) -> &'static str {
        "id-invalid"
    }
}

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
