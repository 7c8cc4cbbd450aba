//! How far a tool is trusted: its status, what people approved, and what they were asked.
//!
//! Invariant: an approval is of one tool with one set of grants. A tool that changed is another tool, and another set of grants is
//! another question. Deleting a name ends the approvals of all tools that it led to. A refusal is of the tool, whatever it is
//! granted, and lasts until a person takes it back: no import, deletion or collection does. A question that nobody answered permits
//! nothing.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;
use toolcell_tool::{Status, ToolId, canonical};

use crate::audit::{Attempt, Change};
use crate::error::Fault;
use crate::find::FindError;
use crate::index::Durability;
use crate::store::{Entry, Store, by_id, parsed, time};
use crate::{deprecate, generation, ledger};

/// What somebody said to a tool with a set of grants.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    /// The tool.
    pub tool: ToolId,
    /// The grants, in canonical form; of a refusal those that were asked for, which do not limit it.
    pub grants: Value,
    /// Yes or no.
    pub decision: Decision,
    /// Who said it, and why, where that was said.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// What somebody is asked about a tool with a set of grants, and nobody answered yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The tool.
    pub tool: ToolId,
    /// The grants, in canonical form.
    pub grants: Value,
    /// Who wanted to run it.
    pub by: String,
    /// When that was, the first time.
    pub at: Timestamp,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may run with these grants.
    Approved,
    /// It may not run, with whatever grants.
    Refused,
}

/// Whether a decision was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It is in the store.
    Kept,
    /// It is an approval, and no name leads to the tool any more: nothing was kept.
    Gone,
}

/// Why a status does not change.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatusError {
    /// There is no such way.
    #[error("a tool that is {from} does not become {to}")]
    Illegal {
        /// What it is.
        from: Status,
        /// What it was to be.
        to: Status,
    },
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The disk or the index fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl StatusError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Illegal { .. } => "status-illegal",
            Self::Find(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }
}

impl Store {
    /// Gives a tool another status, and says which it had.
    ///
    /// # Errors
    /// `status-illegal`, `tool-not-found`, and those of the disk.
    pub fn set_status(&self, id: ToolId, to: Status) -> Result<Status, StatusError> {
        self.set_status_noted(id, to, None)
    }

    pub(crate) fn set_status_noted(
        &self,
        id: ToolId,
        to: Status,
        attempt: Option<Attempt<'_>>,
    ) -> Result<Status, StatusError> {
        // What failed before a tool passed does not count against it after.
        self.settle_first();
        let made = self.make(
            attempt,
            |transaction, attempt| {
                let entry = by_id(transaction, id).map_err(Fault::from)?;
                let Entry { status: from, num, .. } = entry.ok_or_else(|| FindError::Unknown(id.to_string()))?;
                if !from.may_become(to) {
                    return Err(StatusError::Illegal { from, to });
                }
                becomes(transaction, num, to).map_err(Fault::from)?;
                attempt.details.status = Some(Change { from, to });
                Ok(Some(from))
            },
            |_, _| (),
        )?;
        Ok(made.unwrap_or(to))
    }

    /// Keeps a decision. An approval ends a refusal of the tool, and stands beside approvals of it with other grants. A refusal ends
    /// all that was said and asked about the tool.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn decide(&self, approval: &Approval) -> Result<Settled, Fault> {
        self.decide_noted(approval, None)
    }

    pub(crate) fn decide_noted(&self, approval: &Approval, attempt: Option<Attempt<'_>>) -> Result<Settled, Fault> {
        let form = form(&approval.grants)?;
        let made = self.make(
            attempt,
            |transaction, _| {
                let settled = settle(transaction, approval, &form)?;
                Ok::<_, Fault>((settled == Settled::Kept).then_some(()))
            },
            |_, _| (),
        )?;
        Ok(made.map_or(Settled::Gone, |()| Settled::Kept))
    }

    /// Keeps the question whether a tool may have these grants, unless it was asked or answered before, or the tool is refused. A loss of power
    /// may take it: it is asked again with the next run.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk.
    pub fn ask(&self, tool: ToolId, grants: &Value, by: &str, at: Timestamp) -> Result<(), Fault> {
        let form = form(grants)?;
        let grants = blake3::hash(form.as_bytes());
        let known = self.index.read(|transaction| {
            let sql = "SELECT EXISTS (SELECT 1 FROM approval WHERE tool = ? AND (grants = ? OR granted = 0))";
            let mut statement = transaction.prepare_cached(sql)?;
            Ok::<bool, Fault>(statement.query_row((tool.as_bytes(), grants.as_bytes()), |row| row.get(0))?)
        })?;
        if known {
            return Ok(());
        }
        self.index.write(Durability::Unsynced, |transaction| {
            let sql = "INSERT OR IGNORE INTO approval (tool, grants, form, by, at) VALUES (?, ?, ?, ?, ?)";
            let row = (tool.as_bytes(), grants.as_bytes(), &form, by, at.as_millisecond());
            transaction.prepare_cached(sql)?.execute(row)?;
            Ok(())
        })
    }

    /// What nobody answered yet about tools that names lead to, the newest first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn pending(&self, limit: usize) -> Result<Vec<Question>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT tool, form, by, at FROM approval WHERE granted IS NULL \
                       AND EXISTS (SELECT 1 FROM tool AS known WHERE known.id = approval.tool AND current = 1) \
                       ORDER BY at DESC, tool, grants LIMIT ?";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(Question {
                    tool: ToolId::from_bytes(row.get(0)?),
                    grants: parsed(1, serde_json::from_str(row.get_ref(1)?.as_str()?))?,
                    by: row.get(2)?,
                    at: time(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The decision that counts for a tool with exactly these grants: a refusal of the tool, or an approval with these grants; none
    /// where nobody answered yet.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn decision(&self, tool: ToolId, grants: &Value) -> Result<Option<Decision>, Fault> {
        let grants = blake3::hash(form(grants)?.as_bytes());
        self.index.read(|transaction| {
            let sql = "SELECT granted FROM approval WHERE tool = ? AND (granted = 0 OR granted = 1 AND grants = ?) \
                       ORDER BY granted LIMIT 1";
            let mut statement = transaction.prepare_cached(sql)?;
            let granted = statement.query_row((tool.as_bytes(), grants.as_bytes()), |row| row.get(0)).optional()?;
            Ok(granted.map(decision))
        })
    }

    /// All that was said to a tool. What it is asked is not among it: see [`Store::pending`].
    ///
    /// # Errors
    /// Those of the disk.
    pub fn approvals(&self, tool: ToolId) -> Result<Vec<Approval>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT form, granted, by, at FROM approval WHERE tool = ? AND granted IS NOT NULL \
                       ORDER BY at, grants";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map([tool.as_bytes()], |row| {
                Ok(Approval {
                    tool,
                    grants: parsed(0, serde_json::from_str(row.get_ref(0)?.as_str()?))?,
                    decision: decision(row.get(1)?),
                    by: row.get(2)?,
                    at: time(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// What was said to tools that names lead to, the newest first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn decisions(&self, limit: usize) -> Result<Vec<Approval>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT tool, form, granted, by, at FROM approval WHERE granted IS NOT NULL \
                       AND EXISTS (SELECT 1 FROM tool AS known WHERE known.id = approval.tool AND current = 1) \
                       ORDER BY at DESC, tool, grants LIMIT ?";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(Approval {
                    tool: ToolId::from_bytes(row.get(0)?),
                    grants: parsed(1, serde_json::from_str(row.get_ref(1)?.as_str()?))?,
                    decision: decision(row.get(2)?),
                    by: row.get(3)?,
                    at: time(row, 4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Makes a tool as good as new, if it is known: unverified, approved by nobody, and not asked about. What was refused stays so.
    pub(crate) fn distrust_within(transaction: &Connection, id: ToolId) -> Result<(), Fault> {
        let sql = "UPDATE tool SET status = 'unverified' WHERE id = ? AND status <> 'quarantined'";
        transaction.prepare_cached(sql)?.execute([id.as_bytes()])?;
        let sql = "DELETE FROM successor WHERE tool IN (SELECT num FROM tool WHERE id = ?)";
        transaction.prepare_cached(sql)?.execute([id.as_bytes()])?;
        let sql = "DELETE FROM approval WHERE tool = ? AND granted IS NOT 0";
        transaction.prepare_cached(sql)?.execute([id.as_bytes()])?;
        Ok(generation::changed(transaction)?)
    }

    #[cfg(test)]
    pub(crate) fn distrust(&self, id: ToolId) -> Result<(), Fault> {
        self.index.write(self.settings.durability, |transaction| Self::distrust_within(transaction, id))
    }

    /// Takes back what was said to a tool, whatever it was, and says how much that was. What nobody answered stays.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn revoke(&self, tool: ToolId) -> Result<usize, Fault> {
        self.revoke_noted(tool, None)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers hand over what they made for this; it is cloned for each try"
    )]
    pub(crate) fn revoke_noted(&self, tool: ToolId, attempt: Option<Attempt<'_>>) -> Result<usize, Fault> {
        self.with_reserve(|| {
            self.changed(attempt.clone(), |transaction, attempt| {
                let sql = "DELETE FROM approval WHERE tool = ? AND granted IS NOT NULL";
                let revoked = transaction.prepare_cached(sql)?.execute([tool.as_bytes()])?;
                generation::changed(transaction)?;
                attempt.details.count = Some(revoked as u64);
                Ok(revoked)
            })
        })
    }

    /// A change that needs nothing but a transaction.
    fn changed<T>(
        &self,
        attempt: Option<Attempt<'_>>,
        work: impl FnOnce(&Connection, &mut Attempt<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let made = self.make(attempt, |transaction, attempt| work(transaction, attempt).map(Some), |_, _| ())?;
        // Whatever is to be changed here is changed.
        made.ok_or_else(|| Fault::Index { source: "a change was not made".into() })
    }
}

/// Writes a decision, and ends what it goes before.
fn settle(transaction: &Connection, approval: &Approval, form: &str) -> rusqlite::Result<Settled> {
    let tool = approval.tool.as_bytes();
    let granted = approval.decision == Decision::Approved;
    if granted {
        let sql = "SELECT EXISTS (SELECT 1 FROM tool WHERE id = ? AND current = 1)";
        if !transaction.prepare_cached(sql)?.query_row([tool], |row| row.get::<_, bool>(0))? {
            return Ok(Settled::Gone);
        }
    }
    let ended = if granted {
        "DELETE FROM approval WHERE tool = ? AND granted = 0"
    } else {
        "DELETE FROM approval WHERE tool = ?"
    };
    transaction.prepare_cached(ended)?.execute([tool])?;
    let sql = "INSERT OR REPLACE INTO approval (tool, grants, form, granted, by, at) VALUES (?, ?, ?, ?, ?, ?)";
    let grants = blake3::hash(form.as_bytes());
    let row = (tool, grants.as_bytes(), form, granted, &approval.by, approval.at.as_millisecond());
    transaction.prepare_cached(sql)?.execute(row)?;
    generation::changed(transaction)?;
    Ok(Settled::Kept)
}

/// Ends the approvals of all tools of a name that is taken away, or given anew: whoever approved them decides again.
pub(crate) fn end_approvals(transaction: &Connection, folded: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM approval WHERE granted = 1 AND tool IN (SELECT id FROM tool WHERE folded = ?)";
    transaction.prepare_cached(sql)?.execute([folded]).map(|_| ())
}

/// Writes the status of a tool, and forgets what went with the one before.
fn becomes(transaction: &Connection, num: i64, to: Status) -> rusqlite::Result<()> {
    transaction.prepare_cached("UPDATE tool SET status = ? WHERE num = ?")?.execute((to.name(), num))?;
    if to == Status::Passed {
        ledger::passed(transaction, num)?;
    }
    generation::changed(transaction)?;
    deprecate::forget(transaction, num)
}

fn decision(granted: bool) -> Decision {
    if granted { Decision::Approved } else { Decision::Refused }
}

fn form(grants: &Value) -> Result<String, Fault> {
    let bytes = canonical(grants).map_err(std::io::Error::other).map_err(Fault::disk("the grants"))?;
    String::from_utf8(bytes).map_err(std::io::Error::other).map_err(Fault::disk("the grants"))
}
