//! Spaces of keys and values, which tools keep from one run to the next.
//!
//! Invariant: a commit is one transaction: all that it checks holds and all of it is written, or nothing is. No version is given
//! twice, so who commits what he checked overwrites nothing that he did not see. From its time on an expired pair is seen by
//! nobody and counts for nothing, whether it was removed by then or not.
//!
//! Spaces are of this store alone: no bundle has them.

mod care;
mod commit;
mod error;

use jiff::Timestamp;
use rusqlite::OptionalExtension as _;
use toolcell_tool::{KvGrant, SpaceName};

use crate::error::Fault;
use crate::index::{Reached, Unwritten};
use crate::store::{Store, parsed};

pub(crate) use care::{agree, expired, forget_expired, recount};
pub use error::SpaceError;

/// The longest key, in bytes.
pub const KEY_LIMIT: usize = 512;
/// The longest value, in bytes, whatever a grant says.
pub const VALUE_LIMIT: u64 = 64 << 20;
/// The most writes of one commit, and the most checks.
pub const COMMIT_LIMIT: usize = 1_000;
/// The most keys that are listed at once.
pub const KEYS_PAGE: u32 = 1_000;

/// What a key leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The value, a JSON text.
    pub value: String,
    /// When it was written, before or after any other: of two versions in one store the later is the greater.
    pub version: u64,
}

/// How much may be in a space once something was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceLimits {
    /// The most bytes of all keys and values.
    pub bytes: u64,
    /// The most keys.
    pub keys: u64,
    /// The longest value, in bytes.
    pub value_bytes: u64,
}

impl From<&KvGrant> for SpaceLimits {
    fn from(grant: &KvGrant) -> Self {
        Self { bytes: grant.bytes, keys: grant.keys.into(), value_bytes: grant.value_bytes }
    }
}

/// What must hold of a key for a commit to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The key.
    pub key: String,
    /// Its version; none where it must not be there.
    pub version: Option<u64>,
}

/// What a commit does to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// It leads to this value from then on.
    Put {
        /// The key.
        key: String,
        /// The value, a JSON text of at most 512 levels.
        value: String,
        /// From when on nobody sees it any more; never where nothing is said.
        expires_at: Option<Timestamp>,
    },
    /// It is not there any more.
    Delete {
        /// The key.
        key: String,
    },
}

/// How much is in a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Which.
    pub space: SpaceName,
    /// How many keys.
    pub keys: u64,
    /// Bytes of keys and values.
    pub bytes: u64,
}

impl Store {
    /// What a key leads to; nothing where it is not there, or has expired.
    ///
    /// # Errors
    /// Those of the disk.
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::{Check, Settings, SpaceLimits, Store, Write};
    /// use toolcell_tool::{KvGrant, SpaceName};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let (space, now) = (SpaceName::parse("notes")?, Timestamp::UNIX_EPOCH);
    /// let limits = SpaceLimits::from(&KvGrant::to(space.clone()));
    /// let put = |value: &str| Write::Put { key: "n".to_owned(), value: value.to_owned(), expires_at: None };
    ///
    /// let is_new = Check { key: "n".to_owned(), version: None };
    /// assert!(store.space_commit(&space, &[is_new.clone()], &[put("1")], &limits, now)?);
    /// assert!(!store.space_commit(&space, &[is_new], &[put("2")], &limits, now)?);
    /// let seen = store.space_get(&space, "n", now)?.ok_or("it is there")?;
    /// assert_eq!(seen.value, "1");
    ///
    /// let as_seen = Check { key: "n".to_owned(), version: Some(seen.version) };
    /// assert!(store.space_commit(&space, &[as_seen], &[put("2")], &limits, now)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn space_get(&self, space: &SpaceName, key: &str, now: Timestamp) -> Result<Option<Pair>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT value, version FROM pair WHERE space = ? AND key = ? AND (until IS NULL OR until > ?)";
            let mut statement = transaction.prepare_cached(sql)?;
            let row = (space.as_str(), key, now.as_millisecond());
            let pair = |row: &rusqlite::Row<'_>| Ok(Pair { value: row.get(0)?, version: row.get(1)? });
            Ok(statement.query_row(row, pair).optional()?)
        })
    }

    /// Keys that begin with a prefix and come after a key, in the order of their bytes, at most so many and at most
    /// [`KEYS_PAGE`]; and whether there are more.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn space_keys(
        &self,
        space: &SpaceName,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Result<(Vec<String>, bool), Fault> {
        let limit = limit.min(KEYS_PAGE) as usize;
        self.index.read(|transaction| {
            // Keys with a prefix follow one another, and nothing with it comes before the prefix itself.
            let sql = "SELECT key FROM pair WHERE space = ? AND key >= ? AND key > ? AND (until IS NULL OR until > ?) \
                       ORDER BY key";
            let mut statement = transaction.prepare_cached(sql)?;
            let row = (space.as_str(), prefix, after.unwrap_or_default(), now.as_millisecond());
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

    /// Writes all of this, unless one of the checks does not hold: then nothing is written, and it is false. Of two writes of
    /// one key the later counts.
    ///
    /// A space that has more in it than the limits say, because they were higher once, may shrink and must not grow.
    ///
    /// # Errors
    /// `kv-key`, `kv-value-too-large`, `kv-quota`, `kv-too-many`, `store-read-only`, and those of the disk: nothing is written
    /// then, but for [`SpaceError::Unsure`] and [`SpaceError::Written`].
    pub fn space_commit(
        &self,
        space: &SpaceName,
        checks: &[Check],
        writes: &[Write],
        limits: &SpaceLimits,
        now: Timestamp,
    ) -> Result<bool, SpaceError> {
        commit::must_be_sound(checks, writes, limits)?;
        if writes.is_empty() {
            return Ok(self.index.read(|transaction| commit::holds(transaction, space, checks, now))?);
        }
        let committed = self.index.write_or_say(self.settings.durability, |transaction| {
            let holds = commit::holds(transaction, space, checks, now)?;
            if holds {
                commit::write(transaction, space, writes, limits, now)?;
            }
            Ok(holds)
        });
        committed.map_err(|Unwritten { error, reached }| match (error, reached) {
            (SpaceError::Fault(fault), Reached::Commit) => SpaceError::Unsure(fault),
            (SpaceError::Fault(fault), Reached::All) => SpaceError::Written(fault),
            (error, _) => error,
        })
    }

    /// Removes all that is in a space, and says how many keys that were, expired ones included.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk.
    pub fn space_clear(&self, space: &SpaceName) -> Result<u64, Fault> {
        self.index.write(self.settings.durability, |transaction| {
            let removed = transaction.prepare_cached("DELETE FROM pair WHERE space = ?")?.execute([space.as_str()])?;
            transaction.prepare_cached("DELETE FROM space WHERE name = ?")?.execute([space.as_str()])?;
            Ok(removed as u64)
        })
    }

    /// The spaces that something is in, by their names.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn spaces(&self, now: Timestamp) -> Result<Vec<Space>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT name, keys - coalesce(gone, 0), bytes - coalesce(room, 0) FROM space LEFT JOIN \
                       (SELECT space AS held, count(*) AS gone, sum(octet_length(key) + octet_length(value)) AS room \
                       FROM pair WHERE until <= ? GROUP BY space) ON held = name \
                       WHERE keys > coalesce(gone, 0) ORDER BY name";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map([now.as_millisecond()], |row| {
                let space = parsed(0, SpaceName::parse(row.get_ref(0)?.as_str()?))?;
                Ok(Space { space, keys: row.get(1)?, bytes: row.get(2)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

#[cfg(test)]
mod tests;
