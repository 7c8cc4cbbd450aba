//! What a tool that nobody approved may do.
//!
//! Invariant: the modes are in order, the narrowest first.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

/// What a tool that nobody approved may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// It does not run, and nobody is asked.
    Never,
    /// Somebody is asked.
    Ask,
    /// It runs if it asks for no capability and has no finding of medium severity or worse; else somebody is asked.
    #[default]
    AutoSafe,
    /// It runs.
    Auto,
}

impl ApprovalMode {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 4] = [Self::Never, Self::Ask, Self::AutoSafe, Self::Auto];

    /// Its name in a file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Ask => "ask",
            Self::AutoSafe => "auto-safe",
            Self::Auto => "auto",
        }
    }

    /// The mode of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl fmt::Display for ApprovalMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
