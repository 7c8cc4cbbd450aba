//! Notices: warnings of a process that are not the result of a call, such as a long wait for a
//! lock.
//!
//! Invariant: a notice changes nothing. The same information is in an error, or what it reports is
//! made up for later.

use std::fmt;
use std::sync::OnceLock;

/// A warning for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// This process waits for a lock that another one holds.
    Waiting {
        /// The locked resource.
        what: &'a str,
    },
    /// An audit line cannot be appended now. It is stored, and appended as soon as possible.
    Delayed {
        /// The recorded action.
        action: &'a str,
        /// Why the line cannot be appended.
        why: &'a str,
    },
    /// An audit line is lost: it could neither be appended nor stored.
    Lost {
        /// The action that should have been recorded.
        action: &'a str,
        /// Why the line is lost.
        why: &'a str,
    },
    /// A run is not recorded, which the policy permits.
    Unrecorded {
        /// Why the run is not recorded.
        why: &'a str,
    },
    /// Finished runs are not in the index yet, only in the journal.
    Unflushed {
        /// Why they cannot be flushed.
        why: &'a str,
    },
    /// Interrupted runs of a dead process cannot be recorded now.
    Unclosed {
        /// Why they cannot be recorded.
        why: &'a str,
    },
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { what } => write!(f, "waiting for another process to unlock {what}"),
            Self::Delayed { action, why } => {
                write!(f, "the line of `{action}` is queued and not in the audit log yet: {why}")
            }
            Self::Lost { action, why } => write!(f, "`{action}` is not recorded in the audit log: {why}"),
            Self::Unrecorded { why } => write!(f, "this run is not recorded: {why}"),
            Self::Unflushed { why } => write!(f, "finished runs are in the journal and not in the index yet: {why}"),
            Self::Unclosed { why } => {
                write!(f, "interrupted runs are not recorded as such yet: {why}")
            }
        }
    }
}

/// The notice handler of this process.
static HANDLER: OnceLock<fn(&Notice<'_>)> = OnceLock::new();

/// Sets the function that receives all notices of this process from now on. Only the first call
/// takes effect; later calls return false.
///
/// # Examples
/// ```
/// assert!(toolcell_store::set_notice_handler(|notice| eprintln!("warning: {notice}")));
/// assert!(!toolcell_store::set_notice_handler(|_| ()));
/// ```
pub fn set_notice_handler(hearer: fn(&Notice<'_>)) -> bool {
    HANDLER.set(hearer).is_ok()
}

/// Logs a notice and passes it to the handler of this process.
pub fn emit_notice(notice: &Notice<'_>) {
    tracing::warn!("{notice}");
    if let Some(hearer) = HANDLER.get() {
        hearer(notice);
    }
}
