//! The hook commands of a policy file, and the calls that they apply to.
//!
//! Invariant: a command is an argument list that no shell interprets. It records the file that
//! defines it, so that a project's command runs only after the user trusted exactly that file.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcell_tool::ToolName;

use crate::policy::provenance::{Layer, Origin};

/// The default timeout of a hook in milliseconds.
pub(super) const DEFAULT_HOOK_TIMEOUT_MS: u64 = 5_000;
/// The maximum timeout of a hook in milliseconds.
pub(super) const MAX_HOOK_TIMEOUT_MS: u64 = 600_000;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookTiming {
    /// Before the call: the hook may refuse the call, or change its arguments.
    Before,
    /// After the call: the hook may change what the caller sees.
    After,
}

/// A hook that is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The name of the hook in messages.
    pub name: String,
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// When the hook runs.
    pub when: BTreeSet<HookTiming>,
    /// The timeout. A hook that exceeds it refuses the call.
    pub timeout: Duration,
    /// The tools that the hook applies to; empty for all tools.
    pub tools: Vec<NamePattern>,
    /// The layer of the policy file that defines the hook.
    pub layer: Layer,
    /// The blake3 hash of that file's text.
    pub file_hash: blake3::Hash,
    /// The folder of that file.
    pub folder: PathBuf,
    /// Additional environment variables for the hook, by name.
    pub env: Vec<String>,
    /// The position of the definition.
    pub origin: Origin,
}

/// A tool name, or a name prefix followed by `*`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamePattern(String);

impl NamePattern {
    /// Parses a pattern as the user typed it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let beginning = text.strip_suffix('*').unwrap_or(text);
        let sound = match beginning {
            "" => text == "*",
            name if beginning == text => ToolName::parse(name).is_ok(),
            beginning => {
                beginning.starts_with(|first: char| first.is_ascii_alphabetic())
                    && beginning.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
                    && beginning.len() <= toolcell_tool::NAME_LIMIT
            }
        };
        sound.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
