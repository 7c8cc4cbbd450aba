//! Audit events: an action that was attempted, and its result.
//!
//! Invariant: parameters and output of a tool cannot get into a line by mistake. Codes are
//! constants of this program, parameters are recorded as a [`Digest`], and free text is dropped
//! unless the log was opened with [`AuditContents::Verbatim`](toolcell_tool::AuditContents::Verbatim).

use jiff::Timestamp;
use toolcell_error::ErrorCode;
use toolcell_tool::{Status, ToolId};

/// The kind of action that was attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Create a tool.
    CreateTool,
    /// Run a tool.
    RunDynamicTool,
    /// Resume a suspended run.
    Resume,
    /// List or search tools.
    ListDynamicTools,
    /// Delete a name.
    DeleteDynamicTool,
    /// Suggest whether to create a tool.
    ToolReflection,
    /// Restore a deleted name.
    Undelete,
    /// Let a name resolve to an earlier tool again.
    Rollback,
    /// Let a name resolve to another tool.
    Replace,
    /// Change the status of a tool.
    Status,
    /// Approve a tool with a set of grants.
    Approve,
    /// Approve one run of a tool with a set of grants.
    ApproveOnce,
    /// Refuse a tool.
    Refuse,
    /// Revoke approvals and refusals.
    Revoke,
    /// Export tools to a bundle.
    Export,
    /// Import tools from a bundle.
    Import,
    /// Collect garbage.
    Gc,
    /// Move the library of a principal between a store of its own and nodes.
    Migrate,
    /// Repair the store.
    Repair,
    /// Run a draft without storing it.
    Exec,
    /// Verify the store.
    Verify,
    /// Verify a tool.
    VerifyTool,
    /// Trust the definitions of an MCP server's tools.
    TrustServer,
    /// Sign in to an MCP server.
    LoginServer,
    /// Delete the credentials of an MCP server.
    LogoutServer,
    /// Clear the sources that a caller has received.
    ClearContext,
    /// Decide about a call of a tool that Toolcell does not run.
    Decide,
    /// A request to a server that was rejected before it became an operation.
    Request,
}

impl Action {
    /// All actions.
    pub const ALL: [Self; 28] = [
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
        Self::ApproveOnce,
        Self::Refuse,
        Self::Revoke,
        Self::Export,
        Self::Import,
        Self::Gc,
        Self::Migrate,
        Self::Repair,
        Self::Exec,
        Self::Verify,
        Self::VerifyTool,
        Self::TrustServer,
        Self::LoginServer,
        Self::LogoutServer,
        Self::ClearContext,
        Self::Decide,
        Self::Request,
    ];

    /// The name in the log and on the command line.
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
            Self::ApproveOnce => "approve-once",
            Self::Refuse => "refuse",
            Self::Revoke => "revoke",
            Self::Export => "export",
            Self::Import => "import",
            Self::Gc => "gc",
            Self::Migrate => "migrate",
            Self::Repair => "repair",
            Self::Exec => "exec",
            Self::Verify => "verify",
            Self::VerifyTool => "verify_tool",
            Self::TrustServer => "trust_server",
            Self::LoginServer => "login_server",
            Self::LogoutServer => "logout_server",
            Self::ClearContext => "clear_context",
            Self::Decide => "decide",
            Self::Request => "request",
        }
    }

    /// Looks an action up by name.
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::audit::Action;
    ///
    /// assert_eq!(Action::from_name("create_tool"), Some(Action::CreateTool));
    /// assert_eq!(Action::from_name("teleport"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// An audited event, whether it succeeded, failed or was refused.
#[derive(Debug, Clone)]
pub struct AuditEvent<'a> {
    /// The attempted action.
    pub action: Action,
    /// The affected tool, if known.
    pub tool: Option<ToolId>,
    /// The name as the caller gave it, which need not be a valid one. The first 64 characters are
    /// recorded.
    pub name: Option<String>,
    /// When the action ended.
    pub at: Timestamp,
    /// The result of the action.
    pub result: Result<(), EventFailure>,
    /// Further details.
    pub details: Details<'a>,
}

impl AuditEvent<'_> {
    /// A successful event without details.
    #[must_use]
    pub fn new(action: Action, at: Timestamp) -> Self {
        Self { action, tool: None, name: None, at, result: Ok(()), details: Details::default() }
    }
}

/// Why an action failed or was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFailure {
    /// The stable code, such as `timeout`.
    pub code: ErrorCode,
    /// The message, which may quote a tool's output: it is recorded only with
    /// [`AuditContents::Verbatim`](toolcell_tool::AuditContents::Verbatim).
    pub message: Option<String>,
}

/// The details of an event. Fields that are `None` are left out of the line.
#[derive(Debug, Clone, Default)]
pub struct Details<'a> {
    /// The parameters of the call.
    pub parameters: Option<Digest<'a>>,
    /// The fuel used.
    pub fuel: Option<u64>,
    /// The duration, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The outcome of a run, such as `returned`.
    pub outcome: Option<&'static str>,
    /// The person or component that permitted or denied the action. The first 64 characters are
    /// recorded.
    pub decided_by: Option<String>,
    /// The caller, with what it claims about itself. The first 128 characters are recorded.
    pub caller: Option<String>,
    /// The number of tools affected.
    pub count: Option<u64>,
    /// The status of the tool before and after.
    pub status: Option<StatusChange>,
    /// The tool to which the name resolved before.
    pub replaced: Option<ToolId>,
    /// The tool to use instead of this one.
    pub successor: Option<ToolId>,
    /// The identifier of the run of which this is the only line. The first 64 characters are
    /// recorded.
    pub run: Option<String>,
}

/// A status change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct StatusChange {
    /// The previous status.
    pub from: Status,
    /// The new status.
    pub to: Status,
}

/// Hash and size of the parameters of a call.
///
/// The bytes are borrowed. They are written only to a log that was opened with
/// [`AuditContents::Verbatim`](toolcell_tool::AuditContents::Verbatim).
#[derive(Clone, Copy)]
pub struct Digest<'a> {
    blake3: blake3::Hash,
    raw: &'a [u8],
}

impl<'a> Digest<'a> {
    /// The digest of some parameters.
    #[must_use]
    pub fn new(raw: &'a [u8]) -> Self {
        Self { blake3: blake3::hash(raw), raw }
    }

    /// The blake3 hash of the parameters.
    #[must_use]
    pub fn blake3(&self) -> blake3::Hash {
        self.blake3
    }

    /// The size of the parameters, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.raw.len()
    }

    /// The parameters themselves, for lines with [`AuditContents::Verbatim`](toolcell_tool::AuditContents::Verbatim) only.
    pub(super) fn raw(&self) -> &'a [u8] {
        self.raw
    }
}

impl std::fmt::Debug for Digest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({}, {} bytes)", self.blake3.to_hex(), self.raw.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_name() {
        for action in Action::ALL {
            assert_eq!(Action::from_name(action.name()), Some(action));
        }
        for operation in toolcell_tool::BUILTIN_TOOLS {
            assert!(Action::from_name(operation).is_some(), "{operation}");
        }
    }

    #[test]
    fn a_digest_does_not_show_what_it_is_of() {
        let shown = format!("{:?}", Details { parameters: Some(Digest::new(b"sesame")), ..Details::default() });
        assert!(shown.contains("6 bytes") && !shown.contains("sesame"), "{shown}");
    }
}
