//! Why something is not written into a space.

use crate::error::Fault;

/// How much of a key is shown, in characters.
const SHOWN: usize = 64;

/// Why something is not written into a space.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// That is no key.
    #[error("`{key}` is no key: {why}")]
    Key {
        /// What there is in its place, or the beginning of it.
        key: String,
        /// What is wrong with it.
        why: String,
    },
    /// A value is too long.
    #[error("the value of `{key}` has {bytes} bytes, the limit is {limit}")]
    ValueTooLarge {
        /// Its key, or the beginning of it.
        key: String,
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        limit: u64,
    },
    /// There would be too much in the space.
    #[error("the space `{space}` would have {count} {what} in it, the limit is {limit}")]
    Quota {
        /// Which.
        space: String,
        /// Of what: bytes or keys.
        what: &'static str,
        /// How much there would be.
        count: u64,
        /// How much there may be.
        limit: u64,
    },
    /// Too much is to be done at once.
    #[error("the commit has {count} {what}, the limit is {limit}")]
    TooMany {
        /// Of what: writes or checks.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The disk or the index fails, and nothing is written.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The disk or the index fails while the commit is made.
    #[error("{0}; whether it was written is not known")]
    Unsure(#[source] Fault),
    /// The disk or the index fails once the commit was made.
    #[error("{0}; it was written before that")]
    Written(#[source] Fault),
}

impl SpaceError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Key { .. } => "kv-key",
            Self::ValueTooLarge { .. } => "kv-value-too-large",
            Self::Quota { .. } => "kv-quota",
            Self::TooMany { .. } => "kv-too-many",
            Self::Fault(fault) | Self::Unsure(fault) | Self::Written(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Key { .. } => "take a short text as a key, and put the rest into the value",
            Self::ValueTooLarge { .. } => "take several keys, or raise `value_bytes` in the grant",
            Self::Quota { .. } => "delete what is not needed, let it expire, or raise `bytes` and `keys` in the grant",
            Self::TooMany { .. } => "make several commits",
            Self::Fault(fault) | Self::Unsure(fault) | Self::Written(fault) => fault.hint(),
        }
    }
}

/// A key in one line, and not too much of it.
pub(super) fn shown(key: &str) -> String {
    let mut shown: String = key.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if key.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
