//! Replication: several nodes keep one library, each in a store of its own.
//!
//! A library has one history: a log of changes in a total order. A node that changes the library appends the change as entry
//! `n + 1` of the history, and only if its own store holds exactly the first `n` entries. Of all nodes that append entry `n + 1`, one
//! does; the others apply that entry and decide again. So every node makes the same changes in the same order: a replicated state
//! machine (F. B. Schneider, *Implementing Fault-Tolerant Services Using the State Machine Approach*, ACM Computing Surveys 22 (4), 1990).
//!
//! The engine that holds the histories and the objects is behind two traits, [`Histories`] and [`Blobs`]. It cannot forge, alter or
//! reorder entries: each is authenticated with a key that the engine does not have, and names the entry before it; and objects are
//! checked against their hash. It can read them, and it can lie about the end of a history: to withhold entries, or to accept two
//! entries at one place.
//!
//! Invariant: this module knows no database. [`Db`](crate::db) appends and follows, [`apply`](crate::apply) applies entries.

pub(crate) mod change;
pub(crate) mod entry;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use blake3::Hash;
use jiff::Timestamp;
use toolcell_i18n::{Message, message};

/// The maximum length of a key, in bytes.
const KEY_LIMIT: usize = 200;
/// The key of the history that has the fingerprint of the secret.
const SECRET_KEY: &str = "secret";
/// The context string of key derivation from the secret of a library, for domain separation.
const STORE_KEYS: &str = "toolcell 2026-12 keys of a library";
/// The size of the secret of a library, in bytes.
pub const LIBRARY_SECRET_BYTES: usize = 32;

/// The key of a history: 1 to 200 bytes of `a` to `z`, `A` to `Z`, `0` to `9`, `-`, `_`, `.` and `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HistoryKey(String);

impl HistoryKey {
    /// Checks a key.
    ///
    /// # Errors
    /// [`SharedError::Invalid`] with the text and the reason.
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::HistoryKey;
    ///
    /// assert_eq!(HistoryKey::parse("library/alice").unwrap().as_str(), "library/alice");
    /// assert!(HistoryKey::parse("library/ alice").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, SharedError> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        if text.is_empty() || text.len() > KEY_LIMIT || !text.bytes().all(is_allowed) {
            let shown: String = text.chars().take(64).flat_map(char::escape_default).collect();
            let limit = KEY_LIMIT;
            return Err(SharedError::Invalid {
                reason: message!(
                    "`{shown}` is no key: a key has 1 to {limit} letters, digits, `-`, `_`, `.` and `/`",
                    shown,
                    limit
                ),
            });
        }
        Ok(Self(text.to_owned()))
    }

    /// The text of the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HistoryKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What became of an entry that was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The entry is in the history, and durable.
    Done,
    /// The history has more entries than the caller said: nothing was appended.
    Taken,
}

/// Histories that several nodes append to. Entries are numbered from 1, without gaps, and never change.
///
/// Each method returns within a time that the implementation bounds, also if the engine does not answer.
pub trait Histories: Send + Sync {
    /// Appends an entry to a history that has exactly `after` entries. Of all callers that append an entry at one place, one gets
    /// [`Appended::Done`].
    ///
    /// # Errors
    /// [`SharedError::Unreachable`]: nothing was appended. [`SharedError::Unknown`]: the entry may have been appended, or may still be.
    /// [`SharedError::Invalid`]: the engine refuses it.
    fn append(&self, key: &HistoryKey, after: u64, entry: &[u8]) -> Result<Appended, SharedError>;

    /// Reads the entries of a history that come after the first `after`, in order, at most `limit`; fewer if they are large, but at least
    /// two if there are two. The read is linearizable: it counts every entry that was appended before it began.
    ///
    /// # Errors
    /// [`SharedError::Unreachable`] and [`SharedError::Invalid`].
    fn read(&self, key: &HistoryKey, after: u64, limit: usize) -> Result<Vec<Vec<u8>>, SharedError>;

    /// Returns the numbers of entries of several histories, in the order of their keys, with one question to the engine. It counts every
    /// entry that was appended before it began.
    ///
    /// # Errors
    /// [`SharedError::Unreachable`] and [`SharedError::Invalid`].
    fn lengths(&self, keys: &[HistoryKey]) -> Result<Vec<u64>, SharedError>;
}

/// Immutable bytes that several nodes share, by their blake3 hash.
pub trait Blobs: Send + Sync {
    /// Stores bytes durably, unless they are there.
    ///
    /// # Errors
    /// [`SharedError::Unreachable`], [`SharedError::Unknown`] and [`SharedError::Invalid`]. Storing again is always right.
    fn put(&self, hash: Hash, bytes: &[u8]) -> Result<(), SharedError>;

    /// Returns the bytes of a hash, if they are there. The caller checks them.
    ///
    /// # Errors
    /// [`SharedError::Unreachable`] and [`SharedError::Invalid`].
    fn get(&self, hash: Hash) -> Result<Option<Vec<u8>>, SharedError>;
}

/// A failure of what nodes share.
#[derive(Debug, Clone, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum SharedError {
    /// The engine cannot be reached, or does not answer in time. Nothing was changed.
    #[error("the shared library cannot be reached: {reason}")]
    #[code(SharedUnreachable)]
    #[hint(
        "nothing was changed; tools that this node knows can still run, and changes work again once the database does"
    )]
    Unreachable {
        /// What the engine's client says.
        reason: Message,
    },
    /// The connection was lost while a change was on its way.
    #[error("it is not known whether the change was made: {reason}")]
    #[code(SharedUnknown)]
    #[hint("look at the tool once the shared library can be reached again, before you repeat the change")]
    Unknown {
        /// What the engine's client says.
        reason: Message,
    },
    /// What is shared is not what this node can work with.
    #[error("the shared library cannot be used: {reason}")]
    #[code(SharedInvalid)]
    #[hint(
        "compare the database, the secret and the version of this node with those of the others; nothing was changed"
    )]
    Invalid {
        /// What is wrong.
        reason: Message,
    },
    /// The library has ended: it was taken to a store of its own.
    #[error("the shared library was taken to a store of its own at {at}")]
    #[code(SharedInvalid)]
    #[hint("use that store; to stop asking for the library here, remove the principal from the tokens of the nodes")]
    Ended {
        /// When.
        at: Timestamp,
    },
    /// The store is the copy of a shared library, and was opened without it.
    #[error("this store is a copy of the shared library `{library}`, and changes are made through its nodes")]
    #[code(SharedCopy)]
    #[hint(
        "send the change to a node of the library, or use `toolcell-cluster` with TOOLCELL_SHARED and TOOLCELL_SHARED_SECRET; \
         reading works here"
    )]
    Copy {
        /// The key of the library's history.
        library: String,
    },
}

/// The library that a store is a copy of.
#[derive(Clone)]
pub struct Replication {
    /// The engine of the history.
    pub histories: Arc<dyn Histories>,
    /// The engine of the objects.
    pub blobs: Arc<dyn Blobs>,
    /// The key of the library's history.
    pub library: HistoryKey,
    /// The secret of the library. All nodes have the same, and the engines do not have it.
    pub secret: [u8; LIBRARY_SECRET_BYTES],
    /// How long runs go on while the library cannot be reached; `None` means for ever. With zero, each run asks the library first.
    pub offline_limit: Option<Duration>,
}

impl fmt::Debug for Replication {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Replication").field("library", &self.library).finish_non_exhaustive()
    }
}

impl Replication {
    /// The key that [`Store::derive_key`](crate::Store::derive_key) returns for a copy of the library.
    pub(crate) fn store_key(&self, purpose: &str) -> [u8; 32] {
        self.derive_key(STORE_KEYS, purpose)
    }

    /// Derives a key for a purpose. It is the same on all nodes.
    pub(crate) fn derive_key(&self, context: &str, purpose: &str) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher.update(&self.secret).update(&(self.library.0.len() as u64).to_le_bytes());
        hasher.update(self.library.0.as_bytes()).update(purpose.as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// Stores bytes. Whether they were stored does not matter if this fails: no entry refers to them yet.
    pub(crate) fn put_blob(&self, hash: Hash, bytes: &[u8]) -> Result<(), SharedError> {
        self.blobs.put(hash, bytes).map_err(|error| match error {
            SharedError::Unknown { reason } => SharedError::Unreachable { reason },
            other => other,
        })
    }

    /// A fingerprint of the secret, which does not tell it.
    pub(crate) fn fingerprint(&self) -> Hash {
        Hash::from_bytes(self.derive_key("toolcell 2026-12 fingerprint of the secret of a library", ""))
    }

    /// Checks that the secret is that of the other nodes: the first node leaves a fingerprint of it, in a history of its own. The entries
    /// of a library say the same, but only if it has some.
    pub(crate) fn check_secret(&self) -> Result<(), SharedError> {
        let key = HistoryKey(SECRET_KEY.to_owned());
        let fingerprint =
            blake3::derive_key("toolcell 2026-12 fingerprint of the secret of all libraries", &self.secret);
        let mut entries = self.histories.read(&key, 0, 1)?;
        if entries.is_empty() {
            // Another node may be faster. Whether it was this one is read back.
            match self.histories.append(&key, 0, &fingerprint) {
                Ok(_) | Err(SharedError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
            entries = self.histories.read(&key, 0, 1)?;
        }
        if entries.first().is_some_and(|known| blake3::hash(known) == blake3::hash(&fingerprint)) {
            return Ok(());
        }
        Err(SharedError::Invalid { reason: message!("the secret is not that of the other nodes") })
    }

    /// Returns the bytes of a hash.
    pub(crate) fn blob(&self, hash: Hash) -> Result<Vec<u8>, SharedError> {
        let invalid = |reason| Err(SharedError::Invalid { reason });
        match self.blobs.get(hash)? {
            Some(bytes) if blake3::hash(&bytes) == hash => Ok(bytes),
            Some(_) => invalid(message!("the object {hash} was altered", hash = hash.to_hex())),
            None => invalid(message!("the object {hash} is lost", hash = hash.to_hex())),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
