//! Commit of a version to the history of a name.
//!
//! Invariant: a commit is one transaction. The source is written before it. The file of the version
//! is written only after the transaction is committed, or removed if it fails: every version among
//! the objects was committed. If another process committed a version in between, the operation is
//! decided again on top of it.
//!
//! The bytes of the objects are also part of the transaction, until their files are synced. So a
//! durable commit costs one sync instead of five, and a commit survives a kill before the file of
//! its version is written: the next read of the version creates the file. Without syncs, the bytes
//! are in the files alone, and the version is written within the transaction. In the copy of a shared
//! library, other nodes have the bytes, too.

use std::cell::RefCell;
use std::collections::HashSet;

use blake3::Hash;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_i18n::message;
use toolcell_tool::{ToolId, ToolName};

use crate::approvals::end_approvals;
use crate::audit::AuditEvent;
use crate::db::generation;
use crate::db::index::ExclusiveWriter;
use crate::db::sql::decode_column;
use crate::db::transaction::{CommitState, WriteError};
use crate::durability::Durability;
use crate::entry::{by_id, join_tags, score_to_stored};
use crate::error::Fault;
use crate::replication::change::{Change, NewVersion, SharedHash};
use crate::version::{Version, VersionEvent};

use super::error::HistoryError;
use super::{Catalog, search};

/// A version that was committed to the history of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionCommit {
    /// The tool of the version.
    pub id: ToolId,
    /// The name of the tool.
    pub name: ToolName,
    /// The number of the version in the history of the name, from 1.
    pub number: u64,
}

/// Files of versions whose transaction is not committed yet.
#[derive(Default)]
pub(crate) struct VersionFiles {
    /// Files to be written after the commit.
    to_write: Vec<(Hash, Vec<u8>)>,
    /// Files already written, to be removed if the commit fails.
    written_early: Vec<Hash>,
}

/// The latest version in the history of a name.
pub(crate) struct LatestVersion {
    pub(crate) hash: Hash,
    pub(crate) number: u64,
    pub(crate) id: ToolId,
    pub(crate) name: String,
    /// Whether the name resolves to the tool, that is, is not deleted.
    pub(crate) current: bool,
}

impl Catalog<'_> {
    /// Commits one version to the history of a name. `decide` returns it, given the latest version.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers hand over what they made for this; it is cloned for each try"
    )]
    pub(crate) fn commit_version(
        &self,
        name: &ToolName,
        source: Option<(Hash, &[u8])>,
        attempt: Option<AuditEvent<'_>>,
        decide: impl Fn(Option<&LatestVersion>) -> Result<Version, HistoryError>,
    ) -> Result<VersionCommit, HistoryError> {
        self.db.directory.check_writable()?;
        let folded = name.case_folded();
        loop {
            let before = self.db.index.read(|transaction| latest_version(transaction, &folded).map_err(Fault::from))?;
            let version = decide(before.as_ref())?;
            if let Some((hash, bytes)) = source {
                self.db.ensure_object(hash, bytes)?;
            }
            let (hash, bytes) = encode(&version)?;
            self.db.share_objects(source.into_iter().chain([(hash, &*bytes)]))?;
            let files = RefCell::new(VersionFiles::default());
            let taken = self.db.commit_change(
                attempt.clone(),
                |transaction, attempt| {
                    *files.borrow_mut() = VersionFiles::default();
                    let now = latest_version(transaction, &folded).map_err(Fault::from)?;
                    if now.map(|head| head.hash) != before.as_ref().map(|head| head.hash) {
                        return Ok::<_, HistoryError>(None);
                    }
                    let replaced = before.as_ref().filter(|head| head.current).map(|head| head.id);
                    let step = self.write_version(
                        transaction,
                        name,
                        before.as_ref(),
                        &version,
                        source,
                        &mut files.borrow_mut(),
                    )?;
                    (attempt.tool, attempt.name) = (Some(step.id), Some(step.name.to_string()));
                    if matches!(version.event, VersionEvent::Created | VersionEvent::Replaced) {
                        attempt.details.replaced = replaced.filter(|replaced| *replaced != step.id);
                    }
                    let shared = shared_version(&step, &version, hash, false)?;
                    Ok(Some((step, shared)))
                },
                |(_, shared)| Change::Versions { versions: vec![shared.clone()] },
                |turn, taken| self.finish_version_files(turn, &files.borrow(), taken),
            )?;
            if let Some((step, _)) = taken {
                self.db.sync_objects_if_many();
                return Ok(step);
            }
        }
    }

    /// Writes a version after `before` into the index and collects the files that it needs.
    pub(crate) fn write_version(
        &self,
        transaction: &Connection,
        name: &ToolName,
        before: Option<&LatestVersion>,
        version: &Version,
        source: Option<(Hash, &[u8])>,
        files: &mut VersionFiles,
    ) -> Result<VersionCommit, HistoryError> {
        let (hash, bytes) = encode(version)?;
        let adds_one = before.is_none_or(|head| !head.current);
        if adds_one && version.event != VersionEvent::Deleted {
            self.check_tool_limit(transaction)?;
        }
        if let Some((hash, bytes)) = source {
            // `gc` may have removed a source that nothing referenced.
            if !self.db.objects.exists(hash) {
                self.db.objects.write(hash, bytes)?;
            }
            self.db.buffer_object_bytes(transaction, hash, bytes).map_err(Fault::from)?;
        }
        self.db.buffer_object_bytes(transaction, hash, &bytes).map_err(Fault::from)?;
        if !self.db.objects.exists(hash) {
            match self.db.settings.durability {
                Durability::Unsynced if !self.db.is_node() => {
                    files.written_early.push(hash);
                    self.db.objects.write(hash, &bytes)?;
                }
                // The index or the shared library has the bytes meanwhile.
                _ => files.to_write.push((hash, bytes)),
            }
        }
        let number = before.map_or(1, |head| head.number + 1);
        apply_version(transaction, &name.case_folded(), number, hash, version).map_err(Fault::from)?;
        let name = ToolName::parse(&version.name).unwrap_or_else(|_| name.clone());
        Ok(VersionCommit { id: version.tool, name, number })
    }

    /// Writes the files of versions that were committed, or removes those of versions that were
    /// not.
    pub(crate) fn finish_version_files<T, E>(
        &self,
        turn: &mut ExclusiveWriter<'_>,
        files: &VersionFiles,
        taken: &Result<Option<T>, WriteError<E>>,
    ) {
        match taken {
            Ok(_) => {
                for (hash, bytes) in &files.to_write {
                    // A concurrent read may already have created the file.
                    if !self.db.objects.exists(*hash)
                        && let Err(fault) = self.db.objects.write(*hash, bytes)
                    {
                        // The index has the bytes. The next read of the version creates the file.
                        tracing::warn!(%fault, "the file of a version could not be written");
                    }
                }
            }
            Err(unwritten) => {
                if unwritten.state == CommitState::Unknown {
                    // The failed commit may still be in the write-ahead log. Another commit
                    // overwrites it, so that recovery does not find it.
                    let _ =
                        turn.write(Durability::Unsynced, |transaction| Ok::<_, Fault>(generation::bump(transaction)?));
                }
                for hash in &files.written_early {
                    if let Err(fault) = self.db.objects.remove(*hash) {
                        tracing::warn!(%fault, "the file of an uncommitted version could not be removed");
                    }
                }
            }
        }
    }

    /// Stores the objects of an imported version where other nodes find them, but for those that were `sent`, and returns what they are
    /// told of it; `None` in a store of its own.
    pub(crate) fn share_imported(
        &self,
        commit: &VersionCommit,
        version: &Version,
        source: Option<(Hash, &[u8])>,
        sent: &mut HashSet<Hash>,
    ) -> Result<Option<NewVersion>, Fault> {
        if !self.db.is_node() {
            return Ok(None);
        }
        let (hash, bytes) = encode(version)?;
        for (hash, bytes) in source.into_iter().chain([(hash, &*bytes)]) {
            if !sent.contains(&hash) {
                self.db.share_objects([(hash, bytes)].into_iter())?;
                sent.insert(hash);
            }
        }
        Ok(Some(shared_version(commit, version, hash, true)?))
    }

    fn check_tool_limit(&self, transaction: &Connection) -> Result<(), HistoryError> {
        let Some(limit) = self.db.settings.tool_limit else { return Ok(()) };
        let sql = "SELECT count(*) FROM (SELECT 1 FROM tool WHERE current = 1 LIMIT ?)";
        let mut statement = transaction.prepare_cached(sql).map_err(Fault::from)?;
        let count: u64 = statement.query_row([limit], |row| row.get(0)).map_err(Fault::from)?;
        if count >= limit { Err(HistoryError::Limit { limit }) } else { Ok(()) }
    }
}

/// The object of a version, with its hash.
fn encode(version: &Version) -> Result<(Hash, Vec<u8>), Fault> {
    let bytes = version
        .to_bytes()
        .map_err(|reason| Fault::Disk { path: message!("a version"), source: std::io::Error::other(reason) })?;
    Ok((blake3::hash(&bytes), bytes))
}

/// The version as other nodes are told of it.
fn shared_version(commit: &VersionCommit, version: &Version, hash: Hash, demotes: bool) -> Result<NewVersion, Fault> {
    let source = version.code_hash().map_err(|reason| Fault::object(hash, reason))?;
    Ok(NewVersion {
        folded: commit.name.case_folded(),
        number: commit.number,
        version: SharedHash(hash),
        source: SharedHash(source),
        demotes,
    })
}

/// The latest version in the history of a name.
pub(crate) fn latest_version(transaction: &Connection, folded: &str) -> rusqlite::Result<Option<LatestVersion>> {
    let sql = "SELECT hash, number, id, name, current FROM version JOIN tool ON num = version.tool \
               WHERE version.folded = ? ORDER BY number DESC LIMIT 1";
    let mut statement = transaction.prepare_cached(sql)?;
    let row = statement.query_row([folded], |row| {
        Ok(LatestVersion {
            hash: Hash::from_bytes(row.get(0)?),
            number: row.get(1)?,
            id: ToolId::from_bytes(row.get(2)?),
            name: row.get(3)?,
            current: row.get(4)?,
        })
    });
    row.optional()
}

/// Applies a version to the index.
pub(crate) fn apply_version(
    transaction: &Connection,
    folded: &str,
    number: u64,
    hash: Hash,
    version: &Version,
) -> rusqlite::Result<()> {
    let current = version.event != VersionEvent::Deleted;
    generation::bump(transaction)?;
    search::remove_terms(transaction, folded)?;
    if matches!(version.event, VersionEvent::Deleted | VersionEvent::Undeleted | VersionEvent::Created) {
        end_approvals(transaction, folded)?;
    }
    let leave = "UPDATE tool SET current = 0 WHERE folded = ? AND current = 1";
    transaction.prepare_cached(leave)?.execute([folded])?;
    let at = version.at.as_millisecond();
    let (safety, quality) = (score_to_stored(version.safety), score_to_stored(version.quality));
    let tags = join_tags(&version.tags);
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
    let source = decode_column(0, version.code_hash().map_err(|reason| reason.to_string()))?;
    let row = (num, hash.as_bytes(), source.as_bytes(), &version.description);
    transaction.prepare_cached(sql)?.execute(row)?;
    transaction.prepare_cached("DELETE FROM damaged WHERE tool = ?")?.execute([num])?;
    let sql = "INSERT INTO version (folded, number, hash, tool, event, at) VALUES (?, ?, ?, ?, ?, ?)";
    let row = (folded, number, hash.as_bytes(), num, version.event.name(), at);
    transaction.prepare_cached(sql)?.execute(row)?;
    if current { search::mark_unindexed(transaction, num) } else { Ok(()) }
}
