//! The approval mode: what happens when an unapproved tool is called.
//!
//! Invariant: the modes are ordered from the narrowest to the widest.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

/// The handling of calls to unapproved tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// Refuse it without a prompt.
    Never,
    /// Prompt the approver.
    Ask,
    /// Run it if it requests no capability and has no finding of medium severity or worse;
    /// otherwise prompt the approver.
    #[default]
    AutoSafe,
    /// Run it.
    Auto,
}

impl ApprovalMode {
    /// All modes, the narrowest first.
    pub const ALL: [Self; 4] = [Self::Never, Self::Ask, Self::AutoSafe, Self::Auto];

    /// Returns the name of the mode in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Ask => "ask",
            Self::AutoSafe => "auto-safe",
            Self::Auto => "auto",
        }
    }

    /// Returns the mode with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl fmt::Display for ApprovalMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
