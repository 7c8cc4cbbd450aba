//! The amount of content that the audit log records.

/// What is recorded of parameters and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AuditContents {
    /// Hash and size of parameters, and the code of a failure.
    #[default]
    Digests,
    /// Also the parameters and the failure message, up to a limit. They may contain secrets.
    Verbatim,
}
