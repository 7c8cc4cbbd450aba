//! What becomes of a tool that does what another one does already.
//!
//! Invariant: the ways are in order, the narrowest first.

use schemars::JsonSchema;
use serde::Deserialize;

/// What becomes of a tool that does what another one does already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// It is not made, and whoever wants to make it is told of the other one.
    Refuse,
    /// It is made, and whoever makes it is told of the other one.
    #[default]
    Warn,
    /// It is made, and nothing is compared.
    Allow,
}

impl Duplicates {
    /// Its name in a file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Warn => "warn",
            Self::Allow => "allow",
        }
    }
}
