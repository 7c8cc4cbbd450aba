//! What is recorded: somebody tried to do something, and how it went.
//!
//! Invariant: what a tool was given and what it said cannot get into a line by mistake. Codes are constants of this
//! program, parameters are there as a [`Digest`], and what is recorded in words is dropped unless the log was opened
//! with [`Contents::Verbatim`].

use jiff::Timestamp;
use toolcell_tool::{Status, ToolId};

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// A tool was to be made.
    CreateTool,
    /// A tool was to be run.
    RunDynamicTool,
    /// A run that was asleep was to be woken.
    Resume,
    /// Tools were looked for.
    ListDynamicTools,
    /// A name was to be taken away.
    DeleteDynamicTool,
    /// Somebody asked whether a tool should be made.
    ToolReflection,
    /// A name was to be given back.
    Undelete,
    /// A name was to lead to an earlier tool again.
    Rollback,
    /// A name was to lead to another tool.
    Replace,
    /// The status of a tool was to change.
    Status,
    /// A tool was to be permitted something.
    Approve,
    /// A tool was to be denied something.
    Refuse,
    /// A permission was to be taken back.
    Revoke,
    /// Tools were to be written to a bundle.
    Export,
    /// Tools were to be read from a bundle.
    Import,
    /// Content that no name leads to was to be removed.
    Gc,
    /// The store was to be repaired.
    Repair,
    /// A draft was to be run without being stored.
    Exec,
    /// The store was to be verified.
    Verify,
    /// A tool was to be proven.
    VerifyTool,
    /// Something was asked of a server, and it did not get as far as an operation.
    Request,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::CreateTool,
        Self::RunDynamicTool,
        Self::Resume,
        Self::ListDynamicTools,
        Self::DeleteDynamicTool,
        Self::ToolReflection,
        Self::Undelete,
        Self::Rollback,
        Self::Replace,
        Self::Status,
        Self::Approve,
        Self::Refuse,
        Self::Revoke,
        Self::Export,
        Self::Import,
        Self::Gc,
        Self::Repair,
        Self::Exec,
        Self::Verify,
        Self::VerifyTool,
        Self::Request,
    ];

    /// Its name in the log and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CreateTool => "create_tool",
            Self::RunDynamicTool => "run_dynamic_tool",
            Self::Resume => "resume",
            Self::ListDynamicTools => "list_dynamic_tools",
            Self::DeleteDynamicTool => "delete_dynamic_tool",
            Self::ToolReflection => "tool_reflection",
            Self::Undelete => "undelete",
            Self::Rollback => "rollback",
            Self::Replace => "replace",
            Self::Status => "status",
            Self::Approve => "approve",
            Self::Refuse => "refuse",
            Self::Revoke => "revoke",
            Self::Export => "export",
            Self::Import => "import",
            Self::Gc => "gc",
            Self::Repair => "repair",
            Self::Exec => "exec",
            Self::Verify => "verify",
            Self::VerifyTool => "verify_tool",
            Self::Request => "request",
        }
    }

    /// The action of that name.
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::audit::Action;
    ///
    /// assert_eq!(Action::named("create_tool"), Some(Action::CreateTool));
    /// assert_eq!(Action::named("teleport"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// One attempt, whether it succeeded, failed or was refused.
#[derive(Debug, Clone)]
pub struct Attempt<'a> {
    /// What was tried.
    pub action: Action,
    /// The tool that it was about, where that is known.
    pub tool: Option<ToolId>,
    /// The tool's name as the caller gave it, which need not be a name: 64 characters of it are recorded.
    pub name: Option<String>,
    /// When it ended.
    pub at: Timestamp,
    /// How it ended.
    pub result: Result<(), Failure>,
    /// What else is known.
    pub details: Details<'a>,
}

impl Attempt<'_> {
    /// An attempt that succeeded and of which nothing else is known yet.
    #[must_use]
    pub fn new(action: Action, at: Timestamp) -> Self {
        Self { action, tool: None, name: None, at, result: Ok(()), details: Details::default() }
    }
}

/// Why an attempt did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The stable code, such as `timeout`.
    pub code: &'static str,
    /// The message, which may repeat what a tool said: recorded only in a log with [`Contents::Verbatim`].
    pub message: Option<String>,
}

/// What else is known of an attempt. What is `None` is left out.
#[derive(Debug, Clone, Default)]
pub struct Details<'a> {
    /// What the tool was given.
    pub parameters: Option<Digest<'a>>,
    /// How much fuel it used.
    pub fuel: Option<u64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// How a run ended, such as `returned`.
    pub outcome: Option<&'static str>,
    /// Who or what permitted or denied it: 64 characters are recorded.
    pub decided_by: Option<String>,
    /// How many tools it was about.
    pub count: Option<u64>,
    /// The status of the tool before and after.
    pub status: Option<Change>,
    /// The tool that the name led to before.
    pub replaced: Option<ToolId>,
    /// The tool that is to be used in place of this one.
    pub successor: Option<ToolId>,
    /// The run that it is the one line of: 64 characters are recorded.
    pub run: Option<String>,
}

/// A change of status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// What it was.
    pub from: Status,
    /// What it is now.
    pub to: Status,
}

/// Hash and size of what a tool was given.
///
/// The bytes are borrowed, and get into the log only where it was opened with [`Contents::Verbatim`].
#[derive(Clone, Copy)]
pub struct Digest<'a> {
    blake3: blake3::Hash,
    raw: &'a [u8],
}

impl<'a> Digest<'a> {
    /// The digest of some parameters.
    #[must_use]
    pub fn of(raw: &'a [u8]) -> Self {
        Self { blake3: blake3::hash(raw), raw }
    }

    /// The blake3 hash of the parameters.
    #[must_use]
    pub fn blake3(&self) -> blake3::Hash {
        self.blake3
    }

    /// How many bytes they are.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.raw.len()
    }

    /// The parameters: for lines with [`Contents::Verbatim`] only.
    pub(super) fn raw(&self) -> &'a [u8] {
        self.raw
    }
}

impl std::fmt::Debug for Digest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({}, {} bytes)", self.blake3.to_hex(), self.raw.len())
    }
}

/// What is recorded of parameters and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Contents {
    /// Hash and size of parameters, and the code of a failure.
    #[default]
    Digests,
    /// The parameters and the message of a failure as well, up to a limit. They may hold secrets.
    Verbatim,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_name() {
        for action in Action::ALL {
            assert_eq!(Action::named(action.name()), Some(action));
        }
        for operation in toolcell_tool::OPERATIONS {
            assert!(Action::named(operation).is_some(), "{operation}");
        }
    }

    #[test]
    fn a_digest_does_not_show_what_it_is_of() {
        let shown = format!("{:?}", Details { parameters: Some(Digest::of(b"sesame")), ..Details::default() });
        assert!(shown.contains("6 bytes") && !shown.contains("sesame"), "{shown}");
    }
}
