//! The server's entry in the configuration file of an MCP client.
//!
//! Reading order: a [`Client`] defines the file and the shape of the entry; a [`ClientEntry`] is a
//! name and a [`ServerTarget`]; [`upsert`] and [`remove`] map the text of a file to the edited
//! text.
//!
//! Invariant: an edit is a few splices at positions that a parser reports. Every other byte is
//! kept: comments, the order of keys, tabs, CRLF, a byte order mark. The edited text is parsed
//! again and contains the requested entry. Removing an inserted entry restores the original text,
//! except that an empty file and a missing one are the same.

mod entry;
mod error;
mod json;
mod json_writer;
mod text_edit;
mod toml;

use std::path::{Path, PathBuf};

use toolcell_i18n::msgid;

pub(crate) use entry::{ClientEntry, DEFAULT_NAME, ServerTarget};
pub(crate) use error::ClientError;

use entry::Field;

/// The largest file that is edited, in bytes: 4 MiB. Clients that keep their history in the file
/// have a few hundred thousand bytes.
pub(crate) const FILE_LIMIT: u64 = 4 << 20;

/// The byte order mark (Unicode, section 23.8).
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A supported MCP client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Visual Studio Code.
    VsCode,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// pi 1.0 or newer; earlier versions have no MCP support.
    Pi,
}

/// What to do with an existing entry of the same name that belongs to another server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnForeignEntry {
    /// Refuse the edit.
    Refuse,
    /// Replace or remove it.
    Replace,
}

impl Client {
    /// All supported clients.
    pub(crate) const ALL: [Self; 7] =
        [Self::ClaudeCode, Self::VsCode, Self::Cursor, Self::Copilot, Self::Codex, Self::Gemini, Self::Pi];

    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::VsCode => "vscode",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Pi => "pi",
        }
    }

    /// Looks a client up by its name on the command line.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// The file for one project, relative to the project's directory.
    pub(crate) fn project_file(self) -> &'static Path {
        Path::new(match self {
            Self::ClaudeCode => ".mcp.json",
            Self::VsCode => ".vscode/mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            // Copilot reads `.mcp.json` as well, but that is Claude Code's file.
            Self::Copilot => ".github/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Pi => ".pi/mcp.json",
        })
    }

    /// The file for all projects of a user with this home directory. `folder` resolves an
    /// environment variable to a directory.
    pub(crate) fn user_file(self, home: &Path, folder: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        let moved = |variable: &str, usual: &str| folder(variable).unwrap_or_else(|| home.join(usual));
        match self {
            Self::ClaudeCode => moved("CLAUDE_CONFIG_DIR", "").join(".claude.json"),
            Self::VsCode if cfg!(target_os = "macos") => home.join("Library/Application Support/Code/User/mcp.json"),
            Self::VsCode => moved("XDG_CONFIG_HOME", ".config").join("Code/User/mcp.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Copilot => moved("COPILOT_HOME", ".copilot").join("mcp-config.json"),
            Self::Codex => moved("CODEX_HOME", ".codex").join("config.toml"),
            Self::Gemini => home.join(".gemini/settings.json"),
            Self::Pi => moved("PI_CODING_AGENT_DIR", ".pi/agent").join("mcp.json"),
        }
    }

    /// What the user has to know besides the file, if anything.
    pub(crate) const fn note(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode | Self::VsCode => Some(msgid!("it asks once for permission to start the server")),
            Self::Codex => Some(msgid!("it reads a project's file only if the project is trusted")),
            Self::Copilot | Self::Gemini => Some(msgid!("it reads a project's file only if the folder is trusted")),
            Self::Pi => {
                Some(msgid!("it requires pi 1.0 or newer, which reads a project's file only if the project is trusted"))
            }
            Self::Cursor => None,
        }
    }

    /// A complete file that contains only the entry.
    pub(crate) fn snippet(self, entry: &ClientEntry) -> String {
        match self {
            Self::Codex => toml::snippet(self.key(), entry.name(), &entry.fields(self)),
            _ => json::snippet(self.key(), entry.name(), &entry.fields(self)),
        }
    }

    /// The key that holds the servers in the file.
    const fn key(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }
}

/// Returns the text of a client's file with the entry in it. An existing entry of ours is updated
/// in place; fields that the user added are kept.
///
/// # Errors
/// `client-file-invalid`, `client-file-shape`, `client-entry-taken`
pub(crate) fn upsert(
    client: Client,
    entry: &ClientEntry,
    text: &str,
    foreign: OnForeignEntry,
) -> Result<String, ClientError> {
    let (mark, rest) = split_byte_order_mark(text);
    let fields = entry.fields(client);
    let with = match client {
        Client::Codex => toml::upsert(rest, client.key(), entry, &fields, foreign)?,
        _ => json::upsert(rest, client.key(), entry, &fields, foreign)?,
    };
    if !contains_entry(client, entry, &fields, &with) {
        return Err(ClientError::not_editable(client.key()));
    }
    Ok(format!("{mark}{with}"))
}

/// Returns the text of a client's file without the entry, or the same text if it has none. Objects
/// that were created for the entry are removed as well; an empty result means that the file can be
/// deleted.
///
/// # Errors
/// `client-file-invalid`, `client-file-shape`, `client-entry-taken`
pub(crate) fn remove(
    client: Client,
    entry: &ClientEntry,
    text: &str,
    foreign: OnForeignEntry,
) -> Result<String, ClientError> {
    let (mark, rest) = split_byte_order_mark(text);
    let without = match client {
        Client::Codex => toml::remove(rest, client.key(), entry, foreign)?,
        _ => json::remove(rest, client.key(), entry, foreign)?,
    };
    if without.is_empty() && !rest.is_empty() {
        return Ok(without);
    }
    Ok(format!("{mark}{without}"))
}

/// Whether a text contains the entry.
fn contains_entry(client: Client, entry: &ClientEntry, fields: &[Field], text: &str) -> bool {
    let found = match client {
        Client::Codex => toml::find(text, client.key(), entry.name()),
        _ => json::find(text, client.key(), entry.name()),
    };
    found.is_ok_and(|found| found.is_some_and(|found| found.matches(fields)))
}

/// Splits a text into its byte order mark, which may be empty, and the rest.
fn split_byte_order_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 })
}

#[cfg(test)]
mod tests;
