//! Operations on names: insert, replace, roll back, delete, undelete.
//!
//! Invariant: the history of a name only grows; each operation is one [commit](super::commit).

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::OptionalExtension as _;
use toolcell_tool::{ToolId, ToolMetadata, ToolName, ToolSpec};

use crate::audit::AuditEvent;
use crate::db::generation;
use crate::db::sql::{decode_column, read_time};
use crate::entry::{Entry, by_id};
use crate::error::Fault;
use crate::version::{Scores, Version, VersionEvent, read_version};

use super::Catalog;
use super::commit::{LatestVersion, VersionCommit};
use super::error::{FindError, HistoryError};
use super::lookup::ToolRef;

/// A tool to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewTool<'a> {
    /// The specification of the tool.
    pub spec: &'a ToolSpec,
    /// The metadata of the tool.
    pub metadata: &'a ToolMetadata,
    /// The scores from the analysis.
    pub scores: Scores,
    /// The current time.
    pub at: Timestamp,
}

/// What to do if the name already resolves to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Fail.
    Refuse,
    /// Let the name resolve to the new tool; the old one stays in the history.
    Replace,
}

/// Whether the objects of a tool are missing or damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IsLost {
    Yes,
    No,
}

/// An entry in the history of a name.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEntry {
    /// The number of the version, from 1.
    pub number: u64,
    /// The kind of change.
    pub event: VersionEvent,
    /// The tool of the version.
    pub id: ToolId,
    /// When the version was committed.
    pub at: Timestamp,
}

impl Catalog<'_> {
    /// Stores a tool under its name.
    ///
    /// # Errors
    /// `name-taken`, `tool-limit-reached`, or another [`Fault`].
    pub fn insert(&self, registration: &NewTool<'_>, when_taken: OnConflict) -> Result<VersionCommit, HistoryError> {
        self.insert_audited(registration, when_taken, None)
    }

    pub(crate) fn insert_audited(
        &self,
        registration: &NewTool<'_>,
        when_taken: OnConflict,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<VersionCommit, HistoryError> {
        // What another node did to the name decides, too.
        self.db.follow()?;
        let spec = registration.spec;
        let source = spec.source().as_bytes();
        let lost = self.release_lost_tool(spec.id())?;
        self.commit_version(spec.name(), Some((blake3::hash(source), source)), attempt, |head| {
            new_tool_version(registration, head, when_taken, lost)
        })
    }

    /// Prepares the index for a tool that is stored again after its objects were lost, and returns
    /// whether they were.
    pub(crate) fn release_lost_tool(&self, id: ToolId) -> Result<IsLost, Fault> {
        match self.find_lost(id)? {
            // The history of a copy is what its entries say.
            Some(_) if self.db.is_copy() => Ok(IsLost::Yes),
            Some(lost) => self.release_lost_entry(&lost).map(|()| IsLost::Yes),
            None => Ok(IsLost::No),
        }
    }

    /// The entry of a tool that the index knows but whose objects are missing or damaged.
    pub(crate) fn find_lost(&self, id: ToolId) -> Result<Option<Entry>, Fault> {
        let known = self.db.index.read(|transaction| by_id(transaction, id).map_err(Fault::from))?;
        Ok(known.filter(|entry| matches!(self.spec(entry), Err(Fault::Object { .. }))))
    }

    /// Lifts the quarantine of a lost tool, and removes its version from the index if its object is
    /// lost. Until the objects are written again, reading the tool fails.
    fn release_lost_entry(&self, lost: &Entry) -> Result<(), Fault> {
        let version_is_lost = read_version(self.db, lost.version).is_err();
        self.db.write(|transaction| {
            let sql = "UPDATE tool SET status = 'unverified' WHERE num = ? AND status = 'quarantined'";
            transaction.prepare_cached(sql)?.execute([lost.num])?;
            generation::bump(transaction)?;
            if version_is_lost {
                let sql = "DELETE FROM version WHERE folded = ? AND hash = ?";
                transaction.prepare_cached(sql)?.execute((lost.name.case_folded(), lost.version.as_bytes()))?;
            }
            Ok(())
        })
    }

    /// Deletes the name of a tool. The tool itself stays until garbage collection.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `integrity`, or another [`Fault`].
    pub fn delete(&self, reference: &ToolRef, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.delete_audited(reference, at, None)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers hand over what they made for this; it is cloned for each try"
    )]
    pub(crate) fn delete_audited(
        &self,
        reference: &ToolRef,
        at: Timestamp,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<VersionCommit, HistoryError> {
        self.db.follow()?;
        let entry = self.find(reference)?;
        self.db.with_reserve(|| {
            self.commit_version(&entry.name, None, attempt.clone(), |head| match head {
                Some(head) if head.current && head.id == entry.id => {
                    Ok(read_version(self.db, head.hash)?.followed_by(VersionEvent::Deleted, at, head.hash))
                }
                // A concurrent commit changed the name.
                _ => Err(FindError::Unknown(reference.to_string()).into()),
            })
        })
    }

    /// Restores a deleted name.
    ///
    /// # Errors
    /// `tool-not-found`, `not-deleted`, `id-ambiguous`, `integrity`, or another [`Fault`].
    pub fn undelete(&self, reference: &ToolRef, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.undelete_audited(reference, at, None)
    }

    pub(crate) fn undelete_audited(
        &self,
        reference: &ToolRef,
        at: Timestamp,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<VersionCommit, HistoryError> {
        self.db.follow()?;
        let (name, id) = match reference {
            ToolRef::Name(name) => (name.clone(), None),
            ToolRef::Id(prefix) => {
                let entry = self.find_any(prefix)?;
                (entry.name, Some(entry.id))
            }
        };
        self.commit_version(&name, None, attempt, |head| {
            let head = head.ok_or_else(|| FindError::Unknown(reference.to_string()))?;
            if head.current || id.is_some_and(|id| id != head.id) {
                return Err(HistoryError::NotDeleted(reference.to_string()));
            }
            Ok(read_version(self.db, head.hash)?.followed_by(VersionEvent::Undeleted, at, head.hash))
        })
    }

    /// Lets a name resolve to the tool of an earlier version again.
    ///
    /// # Errors
    /// `tool-not-found`, `version-not-found`, `integrity`, or another [`Fault`].
    pub fn roll_back(&self, name: &ToolName, number: u64, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.roll_back_audited(name, number, at, None)
    }

    pub(crate) fn roll_back_audited(
        &self,
        name: &ToolName,
        number: u64,
        at: Timestamp,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<VersionCommit, HistoryError> {
        self.db.follow()?;
        let past = self.db.index.read(|transaction| {
            let sql = "SELECT hash FROM version WHERE folded = ? AND number = ? AND event <> 'deleted'";
            let mut statement = transaction.prepare_cached(sql)?;
            let row = statement.query_row((name.case_folded(), number), |row| row.get(0).map(Hash::from_bytes));
            Ok::<_, Fault>(row.optional()?)
        })?;
        self.commit_version(name, None, attempt, |head| {
            let head = head.ok_or_else(|| FindError::Unknown(name.to_string()))?;
            let past = past.ok_or_else(|| HistoryError::NoVersion { name: name.clone(), number })?;
            Ok(read_version(self.db, past)?.followed_by(VersionEvent::RolledBack, at, head.hash))
        })
    }

    /// The history of a name, oldest version first; empty if the name is unknown.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn history(&self, name: &ToolName) -> Result<Vec<HistoryEntry>, Fault> {
        self.db.index.read(|transaction| {
            let sql = "SELECT number, event, id, at FROM version JOIN tool ON num = version.tool \
                       WHERE version.folded = ? ORDER BY number";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map([name.case_folded()], |row| {
                Ok(HistoryEntry {
                    number: row.get(0)?,
                    event: decode_column(1, VersionEvent::from_name(row.get_ref(1)?.as_str()?).ok_or("unknown event"))?,
                    id: ToolId::from_bytes(row.get(2)?),
                    at: read_time(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// The version that stores a tool after the latest version of its name.
pub(crate) fn new_tool_version(
    registration: &NewTool<'_>,
    head: Option<&LatestVersion>,
    when_taken: OnConflict,
    lost: IsLost,
) -> Result<Version, HistoryError> {
    let &NewTool { spec, metadata: notes, scores, at } = registration;
    let current = head.filter(|head| head.current);
    let event = match (current, when_taken) {
        // Storing a lost tool again is not a conflict.
        (Some(current), OnConflict::Refuse) if lost == IsLost::No || current.id != spec.id() => {
            return Err(HistoryError::Taken {
                name: spec.name().clone(),
                existing_name: current.name.clone(),
                existing: current.id,
            });
        }
        (Some(_), _) => VersionEvent::Replaced,
        (None, _) => VersionEvent::Created,
    };
    Ok(Version::new(event, at, head.map(|head| head.hash), spec, notes, scores))
}
