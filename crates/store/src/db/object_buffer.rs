//! Objects whose only durable copy is in the index, until their files are synced.
//!
//! Invariant: an object that was committed can be read, even if a power failure took its file.

use blake3::Hash;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_i18n::message;

use crate::directory::StoreAccess;
use crate::durability::Durability;
use crate::error::Fault;
use crate::objects::ObjectState;

use super::Db;

/// The number of unsynced objects at which all of them are synced at once.
const MAX_UNSYNCED_OBJECTS: i64 = 512;

impl Db {
    /// Reads an object, which must exist and match its hash. An object whose file a power failure
    /// took is restored from the index, and in the copy of a shared library from the library.
    pub(crate) fn read_object(&self, hash: Hash) -> Result<Vec<u8>, Fault> {
        let wrong = match self.objects.read_verified(hash)? {
            ObjectState::Intact(bytes) => return Ok(bytes),
            ObjectState::Missing => message!("is missing"),
            ObjectState::Damaged(what) => what,
        };
        let kept = self.index.read(|transaction| unsynced_bytes(transaction, hash).map_err(Fault::from))?;
        let kept = kept.filter(|bytes| blake3::hash(bytes) == hash);
        let Some(bytes) = kept.map_or_else(|| self.shared_object(hash), |bytes| Ok(Some(bytes)))? else {
            return Err(Fault::object(hash, wrong));
        };
        if self.access() == StoreAccess::Full
            && let Err(fault) = self.objects.write(hash, &bytes)
        {
            // The disk may be full. The next read tries again.
            tracing::warn!(%hash, %fault, "the file of an object could not be restored");
        }
        Ok(bytes)
    }

    /// Whether an object is lost: its file is missing, and neither the index nor the shared library has its bytes.
    pub(crate) fn is_missing(&self, hash: Hash) -> Result<bool, Fault> {
        if self.objects.exists(hash) {
            return Ok(false);
        }
        let kept = self.index.read(|transaction| unsynced_bytes(transaction, hash).map_err(Fault::from))?;
        if kept.is_some() {
            return Ok(false);
        }
        match self.read_object(hash) {
            // The other nodes have it, or may have it.
            Ok(_) | Err(Fault::Shared(_)) => Ok(false),
            Err(Fault::Object { .. }) => Ok(true),
            Err(fault) => Err(fault),
        }
    }

    /// Writes an object unless it exists intact.
    pub(crate) fn ensure_object(&self, hash: Hash, bytes: &[u8]) -> Result<(), Fault> {
        let there = self.objects.exists(hash) && matches!(self.objects.read_verified(hash)?, ObjectState::Intact(_));
        if there { Ok(()) } else { self.objects.write(hash, bytes) }
    }

    /// Buffers the bytes of an object in the index until its file is durable.
    pub(crate) fn buffer_object_bytes(
        &self,
        transaction: &Connection,
        hash: Hash,
        bytes: &[u8],
    ) -> rusqlite::Result<()> {
        if self.settings.durability == Durability::Synced {
            let sql = "INSERT OR IGNORE INTO unsynced (hash, bytes) VALUES (?, ?)";
            transaction.prepare_cached(sql)?.execute((hash.as_bytes(), bytes))?;
        }
        Ok(())
    }

    /// Syncs the files of objects once many of them have their only durable copy in the index.
    pub(crate) fn sync_objects_if_many(&self) {
        if self.settings.durability == Durability::Unsynced {
            return;
        }
        let count = self.index.read(|transaction| {
            let mut statement = transaction.prepare_cached("SELECT count(*) FROM unsynced")?;
            Ok::<i64, Fault>(statement.query_row([], |row| row.get(0))?)
        });
        let synced = count.and_then(|count| if count < MAX_UNSYNCED_OBJECTS { Ok(()) } else { self.sync_objects() });
        // The version is committed. Objects that were not synced stay in the index, and the next
        // commit tries again.
        if let Err(error) = synced {
            tracing::warn!(%error, "objects could not be synced");
        }
    }

    /// Syncs the files of all objects that versions need: a copy of a shared library does not, because it can get them again.
    pub(crate) fn sync_all_objects(&self) -> Result<(), Fault> {
        let hashes: Vec<Hash> = self.index.read(|transaction| {
            let mut statement = transaction.prepare("SELECT hash FROM version UNION SELECT source FROM about")?;
            let rows = statement.query_map([], |row| row.get(0).map(Hash::from_bytes))?;
            Ok::<_, Fault>(rows.collect::<Result<_, _>>()?)
        })?;
        for hash in &hashes {
            self.read_object(*hash)?;
        }
        self.objects.sync(&hashes)
    }

    /// Syncs the files of all unsynced objects and removes their bytes from the index.
    pub(crate) fn sync_objects(&self) -> Result<(), Fault> {
        let hashes: Vec<Hash> = self.index.read(|transaction| {
            let mut statement = transaction.prepare_cached("SELECT hash FROM unsynced")?;
            let rows = statement.query_map([], |row| row.get(0).map(Hash::from_bytes))?;
            Ok::<_, Fault>(rows.collect::<Result<_, _>>()?)
        })?;
        for hash in &hashes {
            // The read recreates a file that a power failure took. A collected object is gone.
            match self.read_object(*hash) {
                Ok(_) | Err(Fault::Object { .. }) => {}
                Err(fault) => return Err(fault),
            }
        }
        self.objects.sync(&hashes)?;
        self.index.write(Durability::Unsynced, |transaction| {
            let mut statement = transaction.prepare_cached("DELETE FROM unsynced WHERE hash = ?")?;
            for hash in &hashes {
                statement.execute([hash.as_bytes()])?;
            }
            Ok(())
        })
    }
}

/// The bytes of an object whose file is not synced yet.
pub(crate) fn unsynced_bytes(transaction: &Connection, hash: Hash) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = transaction.prepare_cached("SELECT bytes FROM unsynced WHERE hash = ?")?;
    statement.query_row([hash.as_bytes()], |row| row.get(0)).optional()
}
