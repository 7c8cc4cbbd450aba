//! Errors of commits to a space.

use toolcell_i18n::{Message, message};

use crate::error::{Fault, impl_maybe_fault};

/// The maximum number of characters of a key in a message.
const MAX_SHOWN_CHARS: usize = 64;

/// A commit that was rejected or that failed.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum KvError {
    /// A key is invalid.
    #[error("`{key}` is not a valid key: {why}")]
    #[code(KvKey)]
    #[hint("use a short key, and put the rest into the value")]
    Key {
        /// The key, escaped and truncated.
        key: String,
        /// Why the key is invalid.
        why: Message,
    },
    /// A value is too long.
    #[error("the value of `{key}` has {bytes} bytes, the limit is {limit}")]
    #[code(KvValueTooLarge)]
    #[hint("split it over several keys, or raise `value_bytes` in the grant")]
    ValueTooLarge {
        /// The key, escaped and truncated.
        key: String,
        /// The length of the value, in bytes.
        bytes: u64,
        /// The maximum length, in bytes.
        limit: u64,
    },
    /// The space would exceed its limits.
    #[error("{}", quota_message(space, *what, *count, *limit))]
    #[code(KvQuota)]
    #[hint("delete unused keys, set an expiry, or raise `bytes` and `keys` in the grant")]
    Quota {
        /// The name of the space.
        space: String,
        /// The limited quantity.
        what: KvQuantity,
        /// The total after the commit.
        count: u64,
        /// The maximum total.
        limit: u64,
    },
    /// The commit has too many writes or checks.
    #[error("{}", commit_message(*what, *count, *limit))]
    #[code(KvTooMany)]
    #[hint("split it into several commits")]
    TooMany {
        /// The limited part.
        what: KvPart,
        /// Their number.
        count: usize,
        /// The maximum number.
        limit: usize,
    },
    /// The disk or the index failed, and nothing was written.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
    /// The disk or the index failed during the commit; whether it took effect is unknown.
    #[error("{0}; it is unknown whether the commit was written")]
    #[coded(transparent)]
    CommitUnknown(#[source] Fault),
    /// The disk or the index failed after the commit took effect.
    #[error("{0}; the commit was already written")]
    #[coded(transparent)]
    FailedAfterCommit(#[source] Fault),
}

impl_maybe_fault!(KvError);

/// A quantity of a space that a grant limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KvQuantity {
    /// The size of all keys and values, in bytes.
    Bytes,
    /// The number of keys.
    Keys,
}

fn quota_message(space: &str, what: KvQuantity, count: u64, limit: u64) -> Message {
    match what {
        KvQuantity::Bytes => {
            message!("the space `{space}` would hold {count} bytes, the limit is {limit}", space, count, limit)
        }
        KvQuantity::Keys => {
            message!("the space `{space}` would hold {count} keys, the limit is {limit}", space, count, limit)
        }
    }
}

/// A part of a commit whose number is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KvPart {
    /// The writes.
    Writes,
    /// The checks.
    Checks,
}

fn commit_message(what: KvPart, count: usize, limit: usize) -> Message {
    match what {
        KvPart::Writes => message!("the commit has {count} writes, the limit is {limit}", count, limit),
        KvPart::Checks => message!("the commit has {count} checks, the limit is {limit}", count, limit),
    }
}

/// Escapes control characters of a key and truncates it.
pub(super) fn escape_for_display(key: &str) -> String {
    let mut shown: String = key.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if key.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
