//! One step in the history of a name.
//!
//! Invariant: a step is one transaction. Its source is written before it. Its version becomes a file only once the transaction
//! is committed, or is taken away where it is not: what is found among the objects was a step. Where somebody else took a step in
//! between, the step is thought over again.
//!
//! The bytes of the objects go into the transaction as well, until their files were synced. So a step that outlasts a
//! loss of power costs one sync and not five, and a process that is killed before the file of its version is there has
//! taken its step: whoever reads the version makes the file. Where nothing is synced the bytes are in the files alone, and the
//! version is written within the transaction.

use std::cell::RefCell;

use blake3::Hash;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_tool::{ToolId, ToolName};

use crate::audit::Attempt;
use crate::error::Fault;
use crate::index::{Durability, Reached, Turn, Unwritten};
use crate::names::{NameStepError, Step};
use crate::objects::Found;
use crate::store::{Store, by_id, joined, parsed, stored};
use crate::version::{Event, Version};
use crate::{generation, outbox, search, trust};

/// How many objects wait to be synced before they are, all at once.
const UNSYNCED: i64 = 512;

/// Files of versions, until it is known whether their steps are taken.
#[derive(Default)]
pub(crate) struct Files {
    /// What is to be written once they are.
    to_write: Vec<(Hash, Vec<u8>)>,
    /// What was written, and goes where they are not.
    written: Vec<Hash>,
}

/// The last step in the history of a name.
pub(crate) struct Head {
    pub(crate) hash: Hash,
    pub(crate) number: u64,
    pub(crate) id: ToolId,
    pub(crate) name: String,
    /// Whether the name leads to the tool, and not nowhere.
    pub(crate) current: bool,
}

impl Store {
    /// Takes one step in the history of a name: `decide` says which, from where the name leads.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers hand over what they made for this; it is cloned for each try"
    )]
    pub(crate) fn step(
        &self,
        name: &ToolName,
        source: Option<(Hash, &[u8])>,
        attempt: Option<Attempt<'_>>,
        decide: impl Fn(Option<&Head>) -> Result<Version, NameStepError>,
    ) -> Result<Step, NameStepError> {
        self.directory.must_be_writable()?;
        let folded = name.folded();
        loop {
            let before = self.index.read(|transaction| head(transaction, &folded).map_err(Fault::from))?;
            let version = decide(before.as_ref())?;
            if let Some((hash, bytes)) = source {
                self.keep_object(hash, bytes)?;
            }
            let files = RefCell::new(Files::default());
            let taken = self.make(
                attempt.clone(),
                |transaction, attempt| {
                    let now = head(transaction, &folded).map_err(Fault::from)?;
                    if now.map(|head| head.hash) != before.as_ref().map(|head| head.hash) {
                        return Ok::<_, NameStepError>(None);
                    }
                    let replaced = before.as_ref().filter(|head| head.current).map(|head| head.id);
                    let step =
                        self.take(transaction, name, before.as_ref(), &version, source, &mut files.borrow_mut())?;
                    outbox::is_about(attempt, step.id, &step.name);
                    if matches!(version.event, Event::Created | Event::Replaced) {
                        attempt.details.replaced = replaced.filter(|replaced| *replaced != step.id);
                    }
                    Ok(Some(step))
                },
                |turn, taken| self.settle_files(turn, &files.borrow(), taken),
            )?;
            if let Some(step) = taken {
                self.sync_objects_if_many();
                return Ok(step);
            }
        }
    }

    /// Writes a step after `before` into the index, and notes which files it needs.
    pub(crate) fn take(
        &self,
        transaction: &Connection,
        name: &ToolName,
        before: Option<&Head>,
        version: &Version,
        source: Option<(Hash, &[u8])>,
        files: &mut Files,
    ) -> Result<Step, NameStepError> {
        let bytes = version
            .to_bytes()
            .map_err(|reason| Fault::Disk { path: "a version".to_owned(), source: std::io::Error::other(reason) })?;
        let hash = blake3::hash(&bytes);
        let adds_one = before.is_none_or(|head| !head.current);
        if adds_one && version.event != Event::Deleted {
            self.must_have_room(transaction)?;
        }
        if let Some((hash, bytes)) = source {
            // `gc` may have taken a source that nothing referred to.
            if !self.objects.has(hash) {
                self.objects.write(hash, bytes)?;
            }
            self.keep_bytes(transaction, hash, bytes).map_err(Fault::from)?;
        }
        self.keep_bytes(transaction, hash, &bytes).map_err(Fault::from)?;
        if !self.objects.has(hash) {
            match self.settings.durability {
                Durability::Synced => files.to_write.push((hash, bytes)),
                Durability::Unsynced => {
                    files.written.push(hash);
                    self.objects.write(hash, &bytes)?;
                }
            }
        }
        let number = before.map_or(1, |head| head.number + 1);
        apply(transaction, &name.folded(), number, hash, version).map_err(Fault::from)?;
        let name = ToolName::parse(&version.name).unwrap_or_else(|_| name.clone());
        Ok(Step { id: version.tool, name, number })
    }

    /// Keeps the bytes of an object in the index until its file outlasts a loss of power.
    fn keep_bytes(&self, transaction: &Connection, hash: Hash, bytes: &[u8]) -> rusqlite::Result<()> {
        if self.settings.durability == Durability::Synced {
            let sql = "INSERT OR IGNORE INTO unsynced (hash, bytes) VALUES (?, ?)";
            transaction.prepare_cached(sql)?.execute((hash.as_bytes(), bytes))?;
        }
        Ok(())
    }

    /// Writes the files of versions whose steps were taken, and takes those away whose steps were not.
    pub(crate) fn settle_files<T, E>(
        &self,
        turn: &mut Turn<'_>,
        files: &Files,
        taken: &Result<Option<T>, Unwritten<E>>,
    ) {
        match taken {
            Ok(_) => {
                for (hash, bytes) in &files.to_write {
                    // Somebody may have read it meanwhile, and made it so.
                    if !self.objects.has(*hash)
                        && let Err(fault) = self.objects.write(*hash, bytes)
                    {
                        // The index has its bytes. Whoever reads the version makes the file.
                        tracing::warn!(%fault, "the file of a version could not be written");
                    }
                }
            }
            Err(unwritten) => {
                if unwritten.reached == Reached::Commit {
                    // What is in the log of the index in spite of the failure is written over, so that it is not found there.
                    let _ = turn
                        .write(Durability::Unsynced, |transaction| Ok::<_, Fault>(generation::changed(transaction)?));
                }
                for hash in &files.written {
                    if let Err(fault) = self.objects.remove(*hash) {
                        tracing::warn!(%fault, "the file of a step that was not taken could not be removed");
                    }
                }
            }
        }
    }

    /// Writes an object where it is not there as it should be.
    pub(crate) fn keep_object(&self, hash: Hash, bytes: &[u8]) -> Result<(), Fault> {
        let there = self.objects.has(hash) && matches!(self.objects.look(hash)?, Found::Whole(_));
        if there { Ok(()) } else { self.objects.write(hash, bytes) }
    }

    fn must_have_room(&self, transaction: &Connection) -> Result<(), NameStepError> {
        let Some(limit) = self.settings.tool_limit else { return Ok(()) };
        let sql = "SELECT count(*) FROM (SELECT 1 FROM tool WHERE current = 1 LIMIT ?)";
        let mut statement = transaction.prepare_cached(sql).map_err(Fault::from)?;
        let count: u64 = statement.query_row([limit], |row| row.get(0)).map_err(Fault::from)?;
        if count >= limit { Err(NameStepError::Limit { limit }) } else { Ok(()) }
    }

    /// Syncs the files of objects that only the index keeps safe, where they have become many.
    pub(crate) fn sync_objects_if_many(&self) {
        if self.settings.durability == Durability::Unsynced {
            return;
        }
        let count = self.index.read(|transaction| {
            let mut statement = transaction.prepare_cached("SELECT count(*) FROM unsynced")?;
            Ok::<i64, Fault>(statement.query_row([], |row| row.get(0))?)
        });
        let synced = count.and_then(|count| if count < UNSYNCED { Ok(()) } else { self.sync_objects() });
        // The step was taken. What could not be synced stays in the index, and the next step tries again.
        if let Err(error) = synced {
            tracing::warn!(%error, "objects could not be synced");
        }
    }

    /// Syncs the files of all objects, and lets the index forget their bytes.
    pub(crate) fn sync_objects(&self) -> Result<(), Fault> {
        let hashes: Vec<Hash> = self.index.read(|transaction| {
            let mut statement = transaction.prepare_cached("SELECT hash FROM unsynced")?;
            let rows = statement.query_map([], |row| row.get(0).map(Hash::from_bytes))?;
            Ok::<_, Fault>(rows.collect::<Result<_, _>>()?)
        })?;
        for hash in &hashes {
            // Reading one makes it again, where a loss of power took its file. What was collected meanwhile is gone.
            match self.object(*hash) {
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

/// The last step in the history of a name.
pub(crate) fn head(transaction: &Connection, folded: &str) -> rusqlite::Result<Option<Head>> {
    let sql = "SELECT hash, number, id, name, current FROM version JOIN tool ON num = version.tool \
               WHERE version.folded = ? ORDER BY number DESC LIMIT 1";
    let mut statement = transaction.prepare_cached(sql)?;
    let row = statement.query_row([folded], |row| {
        Ok(Head {
            hash: Hash::from_bytes(row.get(0)?),
            number: row.get(1)?,
            id: ToolId::from_bytes(row.get(2)?),
            name: row.get(3)?,
            current: row.get(4)?,
        })
    });
    row.optional()
}

/// Writes into the index what a version says.
pub(crate) fn apply(
    transaction: &Connection,
    folded: &str,
    number: u64,
    hash: Hash,
    version: &Version,
) -> rusqlite::Result<()> {
    let current = version.event != Event::Deleted;
    generation::changed(transaction)?;
    search::forget(transaction, folded)?;
    if matches!(version.event, Event::Deleted | Event::Undeleted | Event::Created) {
        trust::end_approvals(transaction, folded)?;
    }
    let leave = "UPDATE tool SET current = 0 WHERE folded = ? AND current = 1";
    transaction.prepare_cached(leave)?.execute([folded])?;
    let at = version.at.as_millisecond();
    let (safety, quality) = (stored(version.safety), stored(version.quality));
    let tags = joined(&version.tags);
    let num = if let Some(entry) = by_id(transaction, version.tool)? {
        let sql = "UPDATE tool SET current = ?, updated_at = ?, safety = ?, quality = ?, tags = ? WHERE num = ?";
        transaction.prepare_cached(sql)?.execute((current, at, safety, quality, tags, entry.num))?;
        entry.num
    } else {
        let sql = "INSERT INTO tool (id, name, folded, current, created_at, updated_at, safety, quality, tags, \
                   confidence, status) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, max(1000, min(?6, ?7)), 'unverified')";
        let row = (version.tool.as_bytes(), &version.name, folded, current, at, safety, quality, tags);
        transaction.prepare_cached(sql)?.execute(row)?;
        transaction.last_insert_rowid()
    };
    let sql = "INSERT OR REPLACE INTO about (tool, version, source, description) VALUES (?, ?, ?, ?)";
    let source = parsed(0, version.code_hash())?;
    let row = (num, hash.as_bytes(), source.as_bytes(), &version.description);
    transaction.prepare_cached(sql)?.execute(row)?;
    transaction.prepare_cached("DELETE FROM damaged WHERE tool = ?")?.execute([num])?;
    let sql = "INSERT INTO version (folded, number, hash, tool, event, at) VALUES (?, ?, ?, ?, ?, ?)";
    let row = (folded, number, hash.as_bytes(), num, version.event.name(), at);
    transaction.prepare_cached(sql)?.execute(row)?;
    if current { search::expect(transaction, num) } else { Ok(()) }
}
