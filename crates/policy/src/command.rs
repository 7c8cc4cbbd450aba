//! The hooks of a policy file, and the calls that they apply to.
//!
//! Invariant: a command is an argument list that no shell interprets. A hook records the file that
//! defines it, so that a project's hook runs only after the user trusted exactly that file.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcell_i18n::msgid;
use toolcell_tool::ToolName;

use crate::provenance::{Layer, Origin};

/// The prefix of Toolcell's own variables, and the words that mark one of them as a secret.
const OWN_PREFIX: &str = "TOOLCELL_";
const SECRET_WORDS: [&str; 3] = ["TOKEN", "PASSWORD", "SECRET"];

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

/// The protocol of a hook command: the JSON that it reads and prints, and the meaning of its exit
/// status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookProtocol {
    /// The protocol of Toolcell. Only an answer that is understood completely counts.
    #[default]
    Toolcell,
    /// The protocol of the hooks of GitHub Copilot. A command that prints nothing has no objection;
    /// with exit status 2 it denies the call, for the reason on standard error.
    Copilot,
    /// The protocol of the hooks of Claude Code. A command that prints no JSON has no objection;
    /// with exit status 2 it denies the call, for the reason on standard error.
    Claude,
}

impl HookProtocol {
    /// Returns the name of the protocol in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Toolcell => "toolcell",
            Self::Copilot => "copilot",
            Self::Claude => "claude",
        }
    }
}

/// What a hook does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAction {
    /// It starts a program.
    Command(HookCommand),
    /// It runs a stored tool, given by its name or its identifier.
    Tool(String),
}

/// The command of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// The protocol.
    pub protocol: HookProtocol,
    /// The folder of the file that defines the hook.
    pub folder: PathBuf,
    /// Additional environment variables for the program, by name.
    pub env: Vec<String>,
}

/// A hook of a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookDefinition {
    /// The name of the hook in messages.
    pub name: String,
    /// What the hook does.
    pub action: HookAction,
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
    /// The position of the definition.
    pub origin: Origin,
}

impl HookDefinition {
    /// Returns the command of the hook, if it is one.
    #[must_use]
    pub const fn command(&self) -> Option<&HookCommand> {
        match &self.action {
            HookAction::Command(command) => Some(command),
            HookAction::Tool(_) => None,
        }
    }

    /// Returns what the hook runs: the words of its command, or the tool.
    #[must_use]
    pub fn words(&self) -> &[String] {
        match &self.action {
            HookAction::Command(command) => &command.command,
            HookAction::Tool(tool) => std::slice::from_ref(tool),
        }
    }
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

/// Returns why a program must not get a variable of this name, or `None` if it may.
#[must_use]
pub fn variable_refusal(name: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains('=') || name.chars().any(char::is_control) {
        return Some(msgid!("it is not a valid environment variable name"));
    }
    let is_secret = name.starts_with(OWN_PREFIX) && SECRET_WORDS.iter().any(|word| name.contains(word));
    is_secret.then_some(msgid!(
        "it holds a tool secret or a token, which hooks never receive; use a separate variable for the hook"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_ours_can_be_named() {
        for name in
            ["TOOLCELL_SECRET_API", "TOOLCELL_MCP_TOKEN", "TOOLCELL_TOKEN", "TOOLCELL_KEY_PASSWORD", "", "A=B", "A\nB"]
                .into_iter()
                .chain([
                    "TOOLCELL_METRICS_TOKEN",
                    "TOOLCELL_NEW_PASSWORD",
                    "TOOLCELL_MY_SECRETS",
                    "TOOLCELL_TOKENS_FILE",
                ])
        {
            assert!(variable_refusal(name).is_some(), "{name:?}");
        }
        for name in ["AWS_PROFILE", "TOOLCELL_DIR", "MY_TOOLCELL_SECRET_X"] {
            assert_eq!(variable_refusal(name), None, "{name}");
        }
    }
}
