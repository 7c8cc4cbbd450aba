//! What names lead to: put, replace, roll back, delete, undelete.
//!
//! Invariant: the history of a name only grows; each verb is one [step](crate::step).

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::OptionalExtension as _;
use toolcell_tool::{Notes, ToolId, ToolName, ToolSpec};

use crate::audit::Attempt;
use crate::error::Fault;
use crate::find::{FindError, ToolRef};
use crate::generation;
use crate::step::Head;
use crate::store::{Entry, Store, by_id, parsed, time};
use crate::version::{Event, Scores, Version};

/// A tool that is to be stored.
#[derive(Debug, Clone, Copy)]
pub struct Registration<'a> {
    /// What decides how it behaves.
    pub spec: &'a ToolSpec,
    /// What is said about it.
    pub notes: &'a Notes,
    /// What the analysis says of it.
    pub scores: Scores,
    /// Now.
    pub at: Timestamp,
}

/// What to do where a name leads to a tool already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenTaken {
    /// Refuse.
    Refuse,
    /// Let the name lead to the new tool; the old one stays in its history.
    Replace,
}

/// Whether the objects of a tool are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IsLost {
    Yes,
    No,
}

/// A step that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The tool that it is about.
    pub id: ToolId,
    /// Its name.
    pub name: ToolName,
    /// The step's number in the history of the name, from 1.
    pub number: u64,
}

/// A step in the history of a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// Its number, from 1.
    pub number: u64,
    /// What happened.
    pub event: Event,
    /// The tool that it happened with.
    pub id: ToolId,
    /// When.
    pub at: Timestamp,
}

/// Why a name does not lead where it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NameStepError {
    /// The name, or one that people would take for it, leads to a tool.
    #[error("`{name}` is taken: `{existing_name}` leads to {existing}")]
    Taken {
        /// The name that was asked for.
        name: ToolName,
        /// The name that is there.
        existing_name: String,
        /// The tool it leads to.
        existing: ToolId,
    },
    /// There are as many tools as may be.
    #[error("there are {limit} tools, which is the limit")]
    Limit {
        /// The limit.
        limit: u64,
    },
    /// Nothing was deleted.
    #[error("`{0}` is not deleted")]
    NotDeleted(String),
    /// A history has no such step, or it leads nowhere.
    #[error("`{name}` has no version {number} to go back to")]
    NoVersion {
        /// The name.
        name: ToolName,
        /// The number that was asked for.
        number: u64,
    },
    /// There is no such tool.
    #[error(transparent)]
    Find(FindError),
    /// The disk or the index fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<FindError> for NameStepError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Fault(fault) => Self::Fault(fault),
            other => Self::Find(other),
        }
    }
}

impl NameStepError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "name-taken",
            Self::Limit { .. } => "tool-limit-reached",
            Self::NotDeleted(_) => "not-deleted",
            Self::NoVersion { .. } => "version-not-found",
            Self::Find(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "take another name, or replace the tool: its old version stays in its history",
            Self::Limit { .. } => "delete tools that are not used, or raise the limit",
            Self::NotDeleted(_) => "only what was deleted, and not yet collected, comes back",
            Self::NoVersion { .. } => "the history of the name shows its versions",
            Self::Find(error) => error.hint(),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Store {
    /// Stores a tool under its name.
    ///
    /// # Errors
    /// `name-taken`, `tool-limit-reached`, and those of the disk.
    pub fn put(&self, registration: &Registration<'_>, when_taken: WhenTaken) -> Result<Step, NameStepError> {
        self.put_noted(registration, when_taken, None)
    }

    pub(crate) fn put_noted(
        &self,
        registration: &Registration<'_>,
        when_taken: WhenTaken,
        attempt: Option<Attempt<'_>>,
    ) -> Result<Step, NameStepError> {
        let spec = registration.spec;
        let source = spec.source().as_bytes();
        let lost = self.make_way(spec.id())?;
        self.step(spec.name(), Some((blake3::hash(source), source)), attempt, |head| {
            registered(registration, head, when_taken, lost)
        })
    }

    /// Lets the index forget what it cannot find of a tool that is about to be made, and says whether it is lost.
    pub(crate) fn make_way(&self, id: ToolId) -> Result<IsLost, Fault> {
        match self.lost(id)? {
            Some(lost) => self.give_up(&lost).map(|()| IsLost::Yes),
            None => Ok(IsLost::No),
        }
    }

    /// A tool that the index knows, and whose objects are not what they should be.
    pub(crate) fn lost(&self, id: ToolId) -> Result<Option<Entry>, Fault> {
        let known = self.index.read(|transaction| by_id(transaction, id).map_err(Fault::from))?;
        Ok(known.filter(|entry| matches!(self.spec(entry), Err(Fault::Object { .. }))))
    }

    /// Lets the index forget what it cannot find of a tool, which is about to be made again. It was quarantined because
    /// of that; until it is whole, reading it fails.
    fn give_up(&self, lost: &Entry) -> Result<(), Fault> {
        let version_is_lost = self.version(lost.version).is_err();
        self.index.write(self.settings.durability, |transaction| {
            let sql = "UPDATE tool SET status = 'unverified' WHERE num = ? AND status = 'quarantined'";
            transaction.prepare_cached(sql)?.execute([lost.num])?;
            generation::changed(transaction)?;
            if version_is_lost {
                let sql = "DELETE FROM version WHERE folded = ? AND hash = ?";
                transaction.prepare_cached(sql)?.execute((lost.name.folded(), lost.version.as_bytes()))?;
            }
            Ok(())
        })
    }

    /// Takes the name of a tool away. The tool stays until it is collected.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `integrity`, and those of the disk.
    pub fn delete(&self, reference: &ToolRef, at: Timestamp) -> Result<Step, NameStepError> {
        self.delete_noted(reference, at, None)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers hand over what they made for this; it is cloned for each try"
    )]
    pub(crate) fn delete_noted(
        &self,
        reference: &ToolRef,
        at: Timestamp,
        attempt: Option<Attempt<'_>>,
    ) -> Result<Step, NameStepError> {
        let entry = self.find(reference)?;
        self.with_reserve(|| {
            self.step(&entry.name, None, attempt.clone(), |head| match head {
                Some(head) if head.current && head.id == entry.id => {
                    Ok(self.version(head.hash)?.then(Event::Deleted, at, head.hash))
                }
                // Somebody was faster.
                _ => Err(FindError::Unknown(reference.to_string()).into()),
            })
        })
    }

    /// Gives a name back that was deleted.
    ///
    /// # Errors
    /// `tool-not-found`, `not-deleted`, `id-ambiguous`, `integrity`, and those of the disk.
    pub fn undelete(&self, reference: &ToolRef, at: Timestamp) -> Result<Step, NameStepError> {
        self.undelete_noted(reference, at, None)
    }

    pub(crate) fn undelete_noted(
        &self,
        reference: &ToolRef,
        at: Timestamp,
        attempt: Option<Attempt<'_>>,
    ) -> Result<Step, NameStepError> {
        let (name, id) = match reference {
            ToolRef::Name(name) => (name.clone(), None),
            ToolRef::Id(prefix) => {
                let entry = self.find_any(prefix)?;
                (entry.name, Some(entry.id))
            }
        };
        self.step(&name, None, attempt, |head| {
            let head = head.ok_or_else(|| FindError::Unknown(reference.to_string()))?;
            if head.current || id.is_some_and(|id| id != head.id) {
                return Err(NameStepError::NotDeleted(reference.to_string()));
            }
            Ok(self.version(head.hash)?.then(Event::Undeleted, at, head.hash))
        })
    }

    /// Lets a name lead to where it led at an earlier step.
    ///
    /// # Errors
    /// `tool-not-found`, `version-not-found`, `integrity`, and those of the disk.
    pub fn roll_back(&self, name: &ToolName, number: u64, at: Timestamp) -> Result<Step, NameStepError> {
        self.roll_back_noted(name, number, at, None)
    }

    pub(crate) fn roll_back_noted(
        &self,
        name: &ToolName,
        number: u64,
        at: Timestamp,
        attempt: Option<Attempt<'_>>,
    ) -> Result<Step, NameStepError> {
        let past = self.index.read(|transaction| {
            let sql = "SELECT hash FROM version WHERE folded = ? AND number = ? AND event <> 'deleted'";
            let mut statement = transaction.prepare_cached(sql)?;
            let row = statement.query_row((name.folded(), number), |row| row.get(0).map(Hash::from_bytes));
            Ok::<_, Fault>(row.optional()?)
        })?;
        self.step(name, None, attempt, |head| {
            let head = head.ok_or_else(|| FindError::Unknown(name.to_string()))?;
            let past = past.ok_or_else(|| NameStepError::NoVersion { name: name.clone(), number })?;
            Ok(self.version(past)?.then(Event::RolledBack, at, head.hash))
        })
    }

    /// The history of a name, the first step first; empty where there is none.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn history(&self, name: &ToolName) -> Result<Vec<Past>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT number, event, id, at FROM version JOIN tool ON num = version.tool \
                       WHERE version.folded = ? ORDER BY number";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map([name.folded()], |row| {
                Ok(Past {
                    number: row.get(0)?,
                    event: parsed(1, Event::named(row.get_ref(1)?.as_str()?).ok_or("no event"))?,
                    id: ToolId::from_bytes(row.get(2)?),
                    at: time(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// The step that stores a tool after another one of its name.
pub(crate) fn registered(
    registration: &Registration<'_>,
    head: Option<&Head>,
    when_taken: WhenTaken,
    lost: IsLost,
) -> Result<Version, NameStepError> {
    let &Registration { spec, notes, scores, at } = registration;
    let current = head.filter(|head| head.current);
    let event = match (current, when_taken) {
        // What was lost is made again by whoever has it still.
        (Some(current), WhenTaken::Refuse) if lost == IsLost::No || current.id != spec.id() => {
            return Err(NameStepError::Taken {
                name: spec.name().clone(),
                existing_name: current.name.clone(),
                existing: current.id,
            });
        }
        (Some(_), _) => Event::Replaced,
        (None, _) => Event::Created,
    };
    Ok(Version::new(event, at, head.map(|head| head.hash), spec, notes, scores))
}
