//! The files that make Toolcell a part of an agent: an extension, or an entry and hooks in its configuration.
//!
//! Reading order: an [`Agent`] names its files; [`AdapterFile`] is one of them, with how its text is edited. An
//! [`own_file`] belongs to Toolcell as a whole, [`claude_hooks`] is an entry among others.
//!
//! Invariant: nothing of the user's is lost. A file of ours that was edited, and a file of another origin, is refused
//! unless the user forces it; every other byte of a shared file is kept.

mod claude_hooks;
mod own_file;

use std::path::PathBuf;

use serde_json::json;
use toolcell_i18n::msgid;

use crate::client_config::{self, Client, ClientEntry, ClientError, OnForeignEntry};

/// The extension for pi and oh-my-pi, without the values of this machine.
const PI_EXTENSION: &str = include_str!("adapter/pi.ts");
/// The custom tools of oh-my-pi.
const OMP_TOOLS: &str = include_str!("adapter/omp_tools.ts");
/// The extension of Copilot's command line.
const COPILOT_EXTENSION: &str = include_str!("adapter/copilot_extension.mjs");
/// The connection to the server, which is part of each of them.
const CONNECTION: &str = include_str!("adapter/connection.js");
/// The time after which an agent gives up on the hook, in seconds. It is above the time limit of `toolcell decide`,
/// because agents let a call pass whose hook is late.
const HOOK_TIMEOUT_SECONDS: u64 = 30;

/// An agent that Toolcell can become a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Agent {
    Pi,
    Omp,
    OmpTools,
    Copilot,
    CopilotExtension,
    Claude,
}

/// What the files of an agent say.
#[derive(Debug)]
pub(crate) struct AdapterSettings {
    /// The program that runs Toolcell.
    pub(crate) program: String,
    /// The options before the command, such as `--dir DIR`.
    pub(crate) options: Vec<String>,
    /// The entry of the MCP server, for agents that have one.
    pub(crate) entry: ClientEntry,
    /// Whether Toolcell decides about the agent's own tools.
    pub(crate) gate: bool,
}

/// Returns the arguments that start the server, after these options. It offers approved tools as
/// tools of their own.
pub(crate) fn server_arguments(options: &[String]) -> Vec<String> {
    [options, &["mcp", "--publish", "32"].map(str::to_owned)].concat()
}

/// Where the files of an agent are.
#[derive(Debug)]
pub(crate) enum Place {
    /// In a project, at this folder; empty for the current one.
    Project(PathBuf),
    /// In the home directory of the user.
    User(PathBuf),
}

/// A file of an agent.
#[derive(Debug)]
pub(crate) struct AdapterFile {
    /// The path of the file.
    pub(crate) path: PathBuf,
    kind: FileKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// The extension of pi or oh-my-pi.
    Extension(&'static str),
    /// The custom tools of oh-my-pi.
    OmpTools,
    /// The configuration of MCP servers.
    McpEntry(Client),
    /// The extension of Copilot's command line.
    CopilotExtension,
    /// The file of a hook of Copilot.
    CopilotHook,
    /// The settings of Claude Code, which have its hooks.
    ClaudeHooks,
}

/// Why a file is not edited.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
pub(crate) enum AdapterError {
    /// The file of an entry cannot be edited.
    #[error(transparent)]
    #[coded(transparent)]
    Entry(#[from] ClientError),
    /// The file is not ours, or was edited.
    #[error("the file was not written by `toolcell adapter`, or was edited since")]
    #[code(ClientEntryTaken)]
    #[hint("move it away, or pass --force to replace it; nothing was changed")]
    Foreign,
}

impl Agent {
    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Omp => "omp",
            Self::OmpTools => "omp-tools",
            Self::Copilot => "copilot",
            Self::CopilotExtension => "copilot-extension",
            Self::Claude => "claude",
        }
    }

    /// Returns the files of the agent: those with Toolcell's tools first, then the one of the gate. `folder` resolves an
    /// environment variable to a directory.
    pub(crate) fn files(self, place: &Place, folder: impl Fn(&str) -> Option<PathBuf>) -> Vec<AdapterFile> {
        let file = |path: PathBuf, kind| AdapterFile { path, kind };
        match (self, place) {
            (Self::Pi, Place::Project(project)) => {
                vec![file(project.join(".pi/extensions/toolcell.ts"), FileKind::Extension("pi"))]
            }
            (Self::Pi, Place::User(home)) => {
                let agent = folder("PI_CODING_AGENT_DIR").unwrap_or_else(|| home.join(".pi/agent"));
                vec![file(agent.join("extensions/toolcell.ts"), FileKind::Extension("pi"))]
            }
            (Self::Omp, Place::Project(project)) => {
                vec![file(project.join(".omp/extensions/toolcell.ts"), FileKind::Extension("omp"))]
            }
            (Self::Omp, Place::User(home)) => {
                let agent = folder("PI_CODING_AGENT_DIR").unwrap_or_else(|| home.join(".omp/agent"));
                vec![file(agent.join("extensions/toolcell.ts"), FileKind::Extension("omp"))]
            }
            (Self::OmpTools, Place::Project(project)) => {
                vec![file(project.join(".omp/tools/toolcell/index.ts"), FileKind::OmpTools)]
            }
            (Self::OmpTools, Place::User(home)) => {
                let agent = folder("PI_CODING_AGENT_DIR").unwrap_or_else(|| home.join(".omp/agent"));
                vec![file(agent.join("tools/toolcell/index.ts"), FileKind::OmpTools)]
            }
            (Self::Copilot, Place::Project(project)) => vec![
                file(project.join(Client::Copilot.project_file()), FileKind::McpEntry(Client::Copilot)),
                file(project.join(".github/hooks/toolcell.json"), FileKind::CopilotHook),
            ],
            // Copilot reads hooks of a project only.
            (Self::Copilot, Place::User(home)) => {
                vec![file(Client::Copilot.user_file(home, folder), FileKind::McpEntry(Client::Copilot))]
            }
            (Self::CopilotExtension, Place::Project(project)) => vec![
                file(project.join(".github/extensions/toolcell/extension.mjs"), FileKind::CopilotExtension),
                file(project.join(".github/hooks/toolcell.json"), FileKind::CopilotHook),
            ],
            (Self::CopilotExtension, Place::User(home)) => {
                let copilot = folder("COPILOT_HOME").unwrap_or_else(|| home.join(".copilot"));
                vec![file(copilot.join("extensions/toolcell/extension.mjs"), FileKind::CopilotExtension)]
            }
            (Self::Claude, Place::Project(project)) => vec![
                file(project.join(Client::ClaudeCode.project_file()), FileKind::McpEntry(Client::ClaudeCode)),
                file(project.join(".claude/settings.json"), FileKind::ClaudeHooks),
            ],
            (Self::Claude, Place::User(home)) => {
                let settings = folder("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude"));
                vec![
                    file(Client::ClaudeCode.user_file(home, folder), FileKind::McpEntry(Client::ClaudeCode)),
                    file(settings.join("settings.json"), FileKind::ClaudeHooks),
                ]
            }
        }
    }

    /// What the user has to know besides the files.
    pub(crate) const fn note(self) -> &'static str {
        match self {
            Self::Pi => msgid!(
                "it loads the extension when it starts or on `/reload`; pi 1.0 and newer load a project's only if the project is trusted"
            ),
            Self::Omp => msgid!("it loads the extension when it starts"),
            Self::OmpTools => {
                msgid!(
                    "it loads custom tools when it starts; the extension of `toolcell adapter omp` can do more, take one of the two"
                )
            }
            Self::Copilot | Self::CopilotExtension => msgid!("it reads a project's file only if the folder is trusted"),
            Self::Claude => msgid!("it asks once for permission to start the server"),
        }
    }
}

impl AdapterFile {
    /// Whether the file is there for the gate alone.
    pub(crate) const fn is_gate(&self) -> bool {
        matches!(self.kind, FileKind::CopilotHook | FileKind::ClaudeHooks)
    }

    /// Returns the content of the file if nothing else is in it.
    pub(crate) fn snippet(&self, settings: &AdapterSettings) -> String {
        match self.kind {
            FileKind::Extension(host) => own_file::script(&with_settings(PI_EXTENSION, host, settings)),
            FileKind::OmpTools => own_file::script(&with_settings(OMP_TOOLS, "omp-tools", settings)),
            FileKind::CopilotExtension => {
                own_file::script(&fill_in(&format!("{CONNECTION}\n{COPILOT_EXTENSION}"), "copilot-extension", settings))
            }
            FileKind::McpEntry(client) => client.snippet(&settings.entry),
            FileKind::CopilotHook => copilot_hook(settings),
            FileKind::ClaudeHooks => claude_hooks::snippet(&decide_command(settings, "claude")),
        }
    }

    /// Returns the text of the file with Toolcell in it.
    pub(crate) fn upsert(
        &self,
        settings: &AdapterSettings,
        text: &str,
        foreign: OnForeignEntry,
    ) -> Result<String, AdapterError> {
        match self.kind {
            FileKind::McpEntry(client) => Ok(client_config::upsert(client, &settings.entry, text, foreign)?),
            FileKind::ClaudeHooks => claude_hooks::upsert(text, &decide_command(settings, "claude")),
            FileKind::Extension(_) | FileKind::OmpTools | FileKind::CopilotExtension | FileKind::CopilotHook => {
                self.check_ours(text, foreign)?;
                Ok(self.snippet(settings))
            }
        }
    }

    /// Returns the text of the file without Toolcell; empty if nothing else is in it.
    pub(crate) fn remove(
        &self,
        settings: &AdapterSettings,
        text: &str,
        foreign: OnForeignEntry,
    ) -> Result<String, AdapterError> {
        match self.kind {
            FileKind::McpEntry(client) => Ok(client_config::remove(client, &settings.entry, text, foreign)?),
            FileKind::ClaudeHooks => claude_hooks::remove(text),
            FileKind::Extension(_) | FileKind::OmpTools | FileKind::CopilotExtension | FileKind::CopilotHook => {
                self.check_ours(text, foreign)?;
                Ok(String::new())
            }
        }
    }

    /// Refuses a file that is not ours as we wrote it.
    fn check_ours(&self, text: &str, foreign: OnForeignEntry) -> Result<(), AdapterError> {
        let is_ours = match self.kind {
            FileKind::CopilotHook => own_file::is_our_hook(text),
            _ => own_file::is_our_script(text),
        };
        if text.is_empty() || is_ours || foreign == OnForeignEntry::Replace {
            Ok(())
        } else {
            Err(AdapterError::Foreign)
        }
    }
}

/// Returns a script, and the connection that it uses, with the values of this machine.
fn with_settings(script: &str, host: &str, settings: &AdapterSettings) -> String {
    fill_in(&format!("{script}\n{CONNECTION}"), host, settings)
}

/// Replaces what stands for the values of this machine.
fn fill_in(text: &str, host: &str, settings: &AdapterSettings) -> String {
    let arguments = server_arguments(&settings.options);
    let gate = if settings.gate { "on" } else { "off" };
    text.replace("\"@HOST@\"", &json!(host).to_string())
        .replace("\"@PROGRAM@\"", &json!(settings.program).to_string())
        .replace("[\"@ARGUMENTS@\"]", &json!(arguments).to_string())
        .replace("\"@GATE@\"", &json!(gate).to_string())
}

/// Returns the file of Copilot's hook.
fn copilot_hook(settings: &AdapterSettings) -> String {
    let command = decide_command(settings, "copilot");
    let hook = json!({ "type": "command", "bash": command, "timeoutSec": HOOK_TIMEOUT_SECONDS });
    let file = json!({ "version": 1, "hooks": { "preToolUse": [hook] } });
    // Strings and numbers always serialize.
    format!("{}\n", serde_json::to_string_pretty(&file).unwrap_or_default())
}

/// Returns the shell command of a hook. If it cannot be started, or is killed, it ends with status 2,
/// which denies: agents let a call pass whose hook ends with most other statuses.
fn decide_command(settings: &AdapterSettings, dialect: &str) -> String {
    let options = settings.options.iter().map(|word| shell_quote(word));
    let words = ["decide", "--dialect", dialect, "--caller", dialect].map(str::to_owned);
    let words = [shell_quote(&settings.program)].into_iter().chain(options).chain(words).collect::<Vec<_>>();
    format!("{} || exit 2", words.join(" "))
}

/// Quotes a word for a POSIX shell, if that is needed.
fn shell_quote(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests;
