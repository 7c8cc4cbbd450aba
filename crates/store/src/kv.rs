//! A transactional key-value store: named spaces in which tools keep data between runs.
//!
//! Invariant: a commit is one transaction: either all checks hold and all writes are made, or
//! nothing is. No version number is ever reused, so a commit that checks the versions it read
//! cannot overwrite a concurrent change. An expired entry is invisible and does not count towards
//! limits, even before it is removed.
//!
//! Spaces are not part of tools: bundles do not contain them. The nodes of a shared library share them.

mod commit;
mod error;
mod maintenance;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_i18n::Message;
use toolcell_tool::{KvGrant, SpaceName};

use crate::db::Db;
use crate::db::sql::decode_column;
use crate::db::transaction::{CommitState, WriteError};
use crate::error::Fault;
use crate::replication::change::{Change, SharedWrite};

pub use error::{KvError, KvPart, KvQuantity};
pub(crate) use maintenance::{check_consistency, count_expired, delete_expired, recount};

/// The maximum length of a key, in bytes.
pub const KEY_LIMIT: usize = 512;
/// The maximum length of a value, in bytes, whatever the grant says.
pub const VALUE_LIMIT: u64 = 64 << 20;
/// The maximum number of writes in one commit, and of checks.
pub const COMMIT_LIMIT: usize = 1_000;
/// The maximum number of keys that one call lists.
pub const MAX_KEYS_PER_PAGE: u32 = 1_000;

/// The entry of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvEntry {
    /// The value, as JSON text.
    pub value: String,
    /// The version of the entry. Versions grow monotonically across the whole store.
    pub version: u64,
}

/// The limits of a space, checked after each commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KvLimits {
    /// The maximum size of all keys and values, in bytes.
    pub bytes: u64,
    /// The maximum number of keys.
    pub keys: u64,
    /// The maximum length of a value, in bytes.
    pub value_bytes: u64,
}

impl From<&KvGrant> for KvLimits {
    fn from(grant: &KvGrant) -> Self {
        Self { bytes: grant.bytes, keys: grant.keys.into(), value_bytes: grant.value_bytes }
    }
}

/// A precondition of a commit (compare-and-set).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvCheck {
    /// The key.
    pub key: String,
    /// The version that the key must have; `None` means that the key must not exist.
    pub version: Option<u64>,
}

/// A write to one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KvWrite {
    /// Sets the value of a key.
    Put {
        /// The key.
        key: String,
        /// The value: JSON text, nested at most 512 levels deep.
        value: String,
        /// When the entry expires; `None` means never.
        expires_at: Option<Timestamp>,
    },
    /// Removes a key.
    Delete {
        /// The key.
        key: String,
    },
}

/// The size of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvSpace {
    /// The name of the space.
    pub space: SpaceName,
    /// The number of keys.
    pub keys: u64,
    /// The size of all keys and values, in bytes.
    pub bytes: u64,
}

/// A key-value space of a store.
pub struct Kv<'a> {
    db: &'a Db,
    space: &'a SpaceName,
}

impl<'a> Kv<'a> {
    pub(crate) fn new(db: &'a Db, space: &'a SpaceName) -> Self {
        Self { db, space }
    }

    /// Reads an entry; `None` if the key does not exist or has expired.
    ///
    /// # Errors
    /// Any [`Fault`].
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::{KvCheck, KvLimits, KvWrite, Settings, Store};
    /// use toolcell_tool::{KvGrant, SpaceName};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let (space, now) = (SpaceName::parse("notes")?, Timestamp::UNIX_EPOCH);
    /// let limits = KvLimits::from(&KvGrant::new(space.clone()));
    /// let put = |value: &str| KvWrite::Put { key: "n".to_owned(), value: value.to_owned(), expires_at: None };
    ///
    /// let is_new = KvCheck { key: "n".to_owned(), version: None };
    /// assert!(store.kv(&space).commit(&[is_new.clone()], &[put("1")], &limits, now)?);
    /// assert!(!store.kv(&space).commit(&[is_new], &[put("2")], &limits, now)?);
    /// let seen = store.kv(&space).get("n", now)?.ok_or("it is there")?;
    /// assert_eq!(seen.value, "1");
    ///
    /// let as_seen = KvCheck { key: "n".to_owned(), version: Some(seen.version) };
    /// assert!(store.kv(&space).commit(&[as_seen], &[put("2")], &limits, now)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(&self, key: &str, now: Timestamp) -> Result<Option<KvEntry>, Fault> {
        self.db.index.read(|transaction| {
            let sql = "SELECT value, version FROM pair WHERE space = ? AND key = ? AND (until IS NULL OR until > ?)";
            let mut statement = transaction.prepare_cached(sql)?;
            let row = (self.space.as_str(), key, now.as_millisecond());
            let pair = |row: &rusqlite::Row<'_>| Ok(KvEntry { value: row.get(0)?, version: row.get(1)? });
            Ok(statement.query_row(row, pair).optional()?)
        })
    }

    /// Lists the keys that start with `prefix` and come after `after`, in byte order, at most
    /// `limit` and at most [`MAX_KEYS_PER_PAGE`]. The flag says whether there are more.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn keys(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Result<(Vec<String>, bool), Fault> {
        let limit = limit.min(MAX_KEYS_PER_PAGE) as usize;
        self.db.index.read(|transaction| {
            // Keys with a common prefix are adjacent, and none of them sorts before the prefix
            // itself.
            let sql = "SELECT key FROM pair WHERE space = ? AND key >= ? AND key > ? AND (until IS NULL OR until > ?) \
                       ORDER BY key";
            let mut statement = transaction.prepare_cached(sql)?;
            let row = (self.space.as_str(), prefix, after.unwrap_or_default(), now.as_millisecond());
            let mut rows = statement.query(row)?;
            let mut keys = Vec::new();
            while let Some(row) = rows.next()? {
                let key: String = row.get(0)?;
                if !key.starts_with(prefix) {
                    break;
                }
                if keys.len() == limit {
                    return Ok((keys, true));
                }
                keys.push(key);
            }
            Ok((keys, false))
        })
    }

    /// Commits writes if all checks hold. Returns false, and writes nothing, if a check fails. If a
    /// key is written twice, the later write wins.
    ///
    /// A space that exceeds its limits because they were lowered may shrink but not grow.
    ///
    /// # Errors
    /// `kv-key`, `kv-value-too-large`, `kv-quota`, `kv-too-many`, `store-read-only`, or another
    /// [`Fault`]. Nothing is written then, except with [`KvError::CommitUnknown`] and
    /// [`KvError::FailedAfterCommit`].
    pub fn commit(
        &self,
        checks: &[KvCheck],
        writes: &[KvWrite],
        limits: &KvLimits,
        now: Timestamp,
    ) -> Result<bool, KvError> {
        commit::validate(checks, writes, limits)?;
        if writes.is_empty() {
            return Ok(self.db.index.read(|transaction| commit::checks_hold(transaction, self.space, checks, now))?);
        }
        let committed = self.db.replicate(
            self.db.settings.durability,
            |transaction| {
                let holds = commit::checks_hold(transaction, self.space, checks, now)?;
                if holds {
                    commit::write(transaction, self.space, writes, limits, now)?;
                }
                Ok(holds)
            },
            |holds| {
                let (space, writes) = (self.space.to_string(), writes.iter().map(SharedWrite::from).collect());
                holds.then_some(Change::Write { space, writes, now })
            },
        );
        committed.map_err(|WriteError { error, state: reached }| match (error, reached) {
            (KvError::Fault(fault), CommitState::Unknown) => KvError::CommitUnknown(fault),
            (KvError::Fault(fault), CommitState::Committed) => KvError::FailedAfterCommit(fault),
            (error, _) => error,
        })
    }

    /// Removes all entries of a space and returns how many there were, expired ones included.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn clear(&self) -> Result<u64, Fault> {
        let cleared = self.db.replicate(
            self.db.settings.durability,
            |transaction| Ok(clear(transaction, self.space.as_str())?),
            |_| Some(Change::ClearSpace { space: self.space.to_string() }),
        );
        cleared.map_err(|unwritten: WriteError<Fault>| unwritten.error)
    }
}

/// Removes all entries of a space and returns how many there were.
pub(crate) fn clear(transaction: &Connection, space: &str) -> rusqlite::Result<u64> {
    let removed = transaction.prepare_cached("DELETE FROM pair WHERE space = ?")?.execute([space])?;
    transaction.prepare_cached("DELETE FROM space WHERE name = ?")?.execute([space])?;
    Ok(removed as u64)
}

/// Makes the writes of a commit of another node, which checked them.
pub(crate) fn apply_writes(
    transaction: &Connection,
    space: &SpaceName,
    writes: Vec<SharedWrite>,
    now: Timestamp,
) -> Result<(), Fault> {
    let unlimited = KvLimits { bytes: u64::MAX, keys: u64::MAX, value_bytes: u64::MAX };
    let writes: Vec<KvWrite> = writes.into_iter().map(KvWrite::from).collect();
    commit::write(transaction, space, &writes, &unlimited, now).map_err(|error| match error {
        KvError::Fault(fault) => fault,
        // Without limits, nothing else can fail.
        other => Fault::index(Message::verbatim(other.to_string())),
    })
}

impl From<&KvWrite> for SharedWrite {
    fn from(write: &KvWrite) -> Self {
        match write.clone() {
            KvWrite::Put { key, value, expires_at } => Self { key, value: Some(value), expires_at },
            KvWrite::Delete { key } => Self { key, value: None, expires_at: None },
        }
    }
}

impl From<SharedWrite> for KvWrite {
    fn from(SharedWrite { key, value, expires_at }: SharedWrite) -> Self {
        match value {
            Some(value) => Self::Put { key, value, expires_at },
            None => Self::Delete { key },
        }
    }
}

/// The non-empty spaces, sorted by name.
///
/// # Errors
/// Any [`Fault`].
pub(crate) fn spaces(db: &Db, now: Timestamp) -> Result<Vec<KvSpace>, Fault> {
    db.index.read(|transaction| {
        let sql = "SELECT name, keys - coalesce(gone, 0), bytes - coalesce(room, 0) FROM space LEFT JOIN \
                   (SELECT space AS held, count(*) AS gone, sum(octet_length(key) + octet_length(value)) AS room \
                   FROM pair WHERE until <= ? GROUP BY space) ON held = name \
                   WHERE keys > coalesce(gone, 0) ORDER BY name";
        let mut statement = transaction.prepare_cached(sql)?;
        let rows = statement.query_map([now.as_millisecond()], |row| {
            let space = decode_column(0, SpaceName::parse(row.get_ref(0)?.as_str()?))?;
            Ok(KvSpace { space, keys: row.get(1)?, bytes: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    })
}

#[cfg(test)]
mod tests;
