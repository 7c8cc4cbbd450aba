//! The entry in a client's configuration that leads to a server.
//!
//! Reading order: a [`Client`] says which file the entry belongs to and what it looks like there; an [`Entry`] is a name and
//! the [`Server`] that it leads to; [`put`] and [`take`] make of the text of a file the text with it, and without it.
//!
//! Invariant: an edit is a few splices at places that a parser named. Every other byte stays: comments, the order of keys,
//! tabs, CRLF, a byte order mark. What comes out was read again, and holds what was asked for. Taking out what was put in
//! gives the first text again, except that a file with nothing in it is as good as none.

mod entry;
mod error;
mod json;
mod render;
mod splice;
mod toml;

use std::path::{Path, PathBuf};

pub use entry::{Entry, NAME, Server};
pub use error::ClientError;

use entry::Field;

/// The longest file that is edited, in bytes. Those of a client that keeps its history there have a few hundred thousand.
pub const FILE_LIMIT: u64 = 4 << 20;

/// The mark that a file may begin with (Unicode, section 23.8).
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A program that uses servers.
///
/// # Examples
/// ```
/// use std::path::{Path, PathBuf};
/// use toolcell_mcp::client::Client;
///
/// let client = Client::named("cursor").unwrap();
/// assert_eq!(client.project_file(), Path::new(".cursor/mcp.json"));
/// assert_eq!(client.user_file(Path::new("/home/u"), |_| None), PathBuf::from("/home/u/.cursor/mcp.json"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Visual Studio Code.
    VsCode,
    /// Cursor.
    Cursor,
    /// The command line of GitHub Copilot.
    Copilot,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// pi, from 1.0 on: earlier ones know no servers.
    Pi,
}

/// What to do with an entry of that name that leads elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenForeign {
    /// Leave it, and refuse.
    Refuse,
    /// Treat it as ours.
    Replace,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::ClaudeCode, Self::VsCode, Self::Cursor, Self::Copilot, Self::Codex, Self::Gemini, Self::Pi];

    /// What it is called on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
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

    /// The one that is called so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Its file for a project, from the project's folder.
    #[must_use]
    pub fn project_file(self) -> &'static Path {
        Path::new(match self {
            Self::ClaudeCode => ".mcp.json",
            Self::VsCode => ".vscode/mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            // It reads `.mcp.json` as well, but that is where Claude Code looks.
            Self::Copilot => ".github/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Pi => ".pi/mcp.json",
        })
    }

    /// Its file for all projects of whoever has this home. `folder` says which folder an environment variable names.
    #[must_use]
    pub fn user_file(self, home: &Path, folder: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
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

    /// What it wants besides the file, if it wants something.
    #[must_use]
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode | Self::VsCode => Some("it asks once whether the server may be started"),
            Self::Codex => Some("it reads a project's file only where the project is trusted"),
            Self::Copilot | Self::Gemini => Some("it reads a project's file only where the folder is trusted"),
            Self::Pi => {
                Some("it takes pi 1.0 or newer, which reads a project's file only where the project is trusted")
            }
            Self::Cursor => None,
        }
    }

    /// What its file has to contain for the entry to be in force, and nothing else.
    #[must_use]
    pub fn snippet(self, entry: &Entry) -> String {
        match self {
            Self::Codex => toml::snippet(self.key(), entry.name(), &entry.fields(self)),
            _ => json::snippet(self.key(), entry.name(), &entry.fields(self)),
        }
    }

    /// The key below which its file has the servers.
    const fn key(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }
}

/// The text of a client's file with the entry in it. Where there is one of ours already, what it leads to is brought up to
/// date, and whatever else somebody wrote into it stays.
///
/// # Errors
/// `client-file-invalid`, `client-file-shape`, `client-entry-taken`
///
/// # Examples
/// ```
/// use toolcell_mcp::client::{self, Client, Entry, NAME, Server, WhenForeign};
///
/// let server = Server::command("toolcell", ["mcp"])?;
/// let entry = Entry::new(NAME, server)?;
/// let before = "{\n  // mine\n  \"mcpServers\": {}\n}\n";
/// let with = client::put(Client::Cursor, &entry, before, WhenForeign::Refuse)?;
/// assert!(with.contains(r#""command": "toolcell""#) && with.contains("// mine"));
/// assert_eq!(client::take(Client::Cursor, &entry, &with, WhenForeign::Refuse)?, before);
/// # Ok::<(), client::ClientError>(())
/// ```
pub fn put(client: Client, entry: &Entry, text: &str, foreign: WhenForeign) -> Result<String, ClientError> {
    let (mark, rest) = unmarked(text);
    let fields = entry.fields(client);
    let with = match client {
        Client::Codex => toml::put(rest, client.key(), entry, &fields, foreign)?,
        _ => json::put(rest, client.key(), entry, &fields, foreign)?,
    };
    if !holds(client, entry, &fields, &with) {
        return Err(ClientError::closed(client.key()));
    }
    Ok(format!("{mark}{with}"))
}

/// The text of a client's file without the entry: the same text, where it is not in there. Whatever was made for it alone
/// goes as well; a text that is empty then is that of a file that need not be.
///
/// # Errors
/// `client-file-invalid`, `client-file-shape`, `client-entry-taken`
pub fn take(client: Client, entry: &Entry, text: &str, foreign: WhenForeign) -> Result<String, ClientError> {
    let (mark, rest) = unmarked(text);
    let without = match client {
        Client::Codex => toml::take(rest, client.key(), entry, foreign)?,
        _ => json::take(rest, client.key(), entry, foreign)?,
    };
    if without.is_empty() && !rest.is_empty() {
        return Ok(without);
    }
    Ok(format!("{mark}{without}"))
}

/// Whether a text has the entry in it.
fn holds(client: Client, entry: &Entry, fields: &[Field], text: &str) -> bool {
    let found = match client {
        Client::Codex => toml::found(text, client.key(), entry.name()),
        _ => json::found(text, client.key(), entry.name()),
    };
    found.is_ok_and(|found| found.is_some_and(|found| found.leads_to(fields)))
}

/// The mark that a text begins with, and the rest.
fn unmarked(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 })
}

#[cfg(test)]
mod tests;
