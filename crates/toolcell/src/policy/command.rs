//! The gates that a policy file names: commands, and what they are asked about.
//!
//! Invariant: a command is a list of words; no shell ever sees it. It knows the file it came with, so that a project's
//! runs only after the user trusted exactly that file.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcell_tool::ToolName;

use crate::policy::origin::{Layer, Origin};

/// How long a gate may take where nothing is said, in milliseconds.
pub(super) const GATE_TIMEOUT: u64 = 5_000;
/// How long a gate may take at most, in milliseconds.
pub(super) const GATE_TIMEOUT_MOST: u64 = 600_000;

/// When a gate is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Before a run: it may refuse the run, or change its arguments.
    Before,
    /// After a run: it may change what the caller sees.
    After,
}

/// A gate that is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateCommand {
    /// What messages call it.
    pub name: String,
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// When it is asked.
    pub when: BTreeSet<When>,
    /// How long it may take. One that takes longer refuses.
    pub timeout: Duration,
    /// The tools it is asked about; all where there is nothing.
    pub tools: Vec<NamePattern>,
    /// Whose file names it.
    pub layer: Layer,
    /// The blake3 hash of that file's text.
    pub file_hash: blake3::Hash,
    /// The folder of that file.
    pub folder: PathBuf,
    /// Further environment variables that it gets, by name.
    pub env: Vec<String>,
    /// Where in that file it stands.
    pub origin: Origin,
}

/// A name, or the beginning of names with a `*` behind it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamePattern(String);

impl NamePattern {
    /// Takes a pattern as it was typed.
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
