//! What a process is told beside the results of its calls: that it waits, and that something is not in the log yet.
//!
//! Invariant: a notice changes nothing. What it tells of is in an error as well, or is made up for later.

use std::fmt;
use std::sync::OnceLock;

/// Something to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// This process waits for a lock that another one holds.
    Waiting {
        /// What the lock is of.
        what: &'a str,
    },
    /// A line of the audit log cannot be appended now. It is kept, and appended when that is possible.
    Delayed {
        /// What was recorded.
        action: &'a str,
        /// Why it cannot be appended.
        why: &'a str,
    },
    /// A line of the audit log is lost: it could neither be appended nor kept.
    Lost {
        /// What was to be recorded.
        action: &'a str,
        /// Why that is not possible.
        why: &'a str,
    },
    /// What runs is not recorded, and the policy lets it run all the same.
    Unrecorded {
        /// Why.
        why: &'a str,
    },
    /// Runs that ended are not in the index yet; they are in their journal.
    Unsettled {
        /// Why.
        why: &'a str,
    },
    /// What a process that is gone left behind cannot be closed now.
    Unclosed {
        /// Why.
        why: &'a str,
    },
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { what } => write!(f, "waiting for another process that has locked {what}"),
            Self::Delayed { action, why } => {
                write!(f, "the line of `{action}` is kept, and not in the audit log yet: {why}")
            }
            Self::Lost { action, why } => write!(f, "`{action}` is not recorded in the audit log: {why}"),
            Self::Unrecorded { why } => write!(f, "this run is not recorded: {why}"),
            Self::Unsettled { why } => write!(f, "runs are in their journal, and not in the index yet: {why}"),
            Self::Unclosed { why } => {
                write!(f, "runs that were interrupted are not recorded as such yet: {why}")
            }
        }
    }
}

/// Who hears notices in this process.
static HEARER: OnceLock<fn(&Notice<'_>)> = OnceLock::new();

/// Hands every notice of this process to a function, from now on. The first who asks hears them; it is false for others.
///
/// # Examples
/// ```
/// assert!(toolcell_store::hear_notices(|notice| eprintln!("warning: {notice}")));
/// assert!(!toolcell_store::hear_notices(|_| ()));
/// ```
pub fn hear_notices(hearer: fn(&Notice<'_>)) -> bool {
    HEARER.set(hearer).is_ok()
}

/// Tells whoever hears notices in this process.
pub fn tell(notice: &Notice<'_>) {
    tracing::warn!("{notice}");
    if let Some(hearer) = HEARER.get() {
        hearer(notice);
    }
}
