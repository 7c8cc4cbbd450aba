//! Notices: warnings of a process that are not the result of a call, such as a long wait for a
//! lock.
//!
//! Invariant: a notice changes nothing. The same information is in an error, or what it reports is
//! made up for later.

use std::fmt;
use std::sync::OnceLock;

use toolcell_i18n::{Localize, Message, message};

/// A warning for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// This process waits for a lock that another one holds.
    Waiting {
        /// The locked resource.
        what: &'a Message,
    },
    /// An audit line cannot be appended now. It is stored, and appended as soon as possible.
    Delayed {
        /// The recorded action.
        action: &'a str,
        /// Why the line cannot be appended.
        why: &'a Message,
    },
    /// Audit lines of earlier changes cannot be appended now. They are stored, and appended as soon as
    /// possible.
    StillDelayed {
        /// Why the lines cannot be appended.
        why: &'a Message,
    },
    /// The copy of a shared library may be behind it.
    Behind {
        /// Why the changes of other nodes cannot be applied.
        why: &'a Message,
    },
    /// An audit line is lost: it could neither be appended nor stored.
    Lost {
        /// The action that should have been recorded.
        action: &'a str,
        /// Why the line is lost.
        why: &'a Message,
    },
    /// A run is not recorded, which the policy permits.
    Unrecorded {
        /// Why the run is not recorded.
        why: &'a Message,
    },
    /// Finished runs are not in the index yet, only in the journal.
    Unflushed {
        /// Why they cannot be flushed.
        why: &'a Message,
    },
    /// Interrupted runs of a dead process cannot be recorded now.
    Unclosed {
        /// Why they cannot be recorded.
        why: &'a Message,
    },
}

impl Localize for Notice<'_> {
    fn localize(&self) -> Message {
        match *self {
            Self::Waiting { what } => message!("waiting for another process to unlock {what}", what),
            Self::Delayed { action, why } => {
                message!("the line of `{action}` is queued and not in the audit log yet: {why}", action, why)
            }
            Self::StillDelayed { why } => {
                message!("lines of earlier changes are queued and not in the audit log yet: {why}", why)
            }
            Self::Behind { why } => message!("the changes of other nodes cannot be applied yet: {why}", why),
            Self::Lost { action, why } => message!("`{action}` is not recorded in the audit log: {why}", action, why),
            Self::Unrecorded { why } => message!("this run is not recorded: {why}", why),
            Self::Unflushed { why } => {
                message!("finished runs are in the journal and not in the index yet: {why}", why)
            }
            Self::Unclosed { why } => message!("interrupted runs are not recorded as such yet: {why}", why),
        }
    }
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
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

#[cfg(test)]
mod tests {
    use toolcell_i18n::Lang;

    use super::*;

    #[test]
    fn a_notice_and_its_reason_are_shown_in_each_language() {
        let notice = Notice::Lost { action: "import", why: &message!("it is empty") };
        assert_eq!(
            Lang::ALL.map(|lang| notice.localize().to_text(lang)),
            [
                "`import` is not recorded in the audit log: it is empty",
                "`import` は監査ログに記録されていません: 空です",
                "`import` 未记录到审计日志：为空",
            ]
        );
    }
}
