//! The handling of new tools that are equivalent to existing ones.
//!
//! Invariant: the variants are ordered from the narrowest to the widest.

use schemars::JsonSchema;
use serde::Deserialize;

/// The handling of new tools that are equivalent to existing ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// Refuse it, and report the existing tool.
    Refuse,
    /// Create it, and report the existing tool.
    #[default]
    Warn,
    /// Create it without a comparison.
    Allow,
}

impl Duplicates {
    /// Returns the name of the variant in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Warn => "warn",
            Self::Allow => "allow",
        }
    }
}
