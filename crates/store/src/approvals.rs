//! Decisions of people about tools: approvals and refusals, and pending approval requests.
//!
//! Invariant: an approval holds for one tool with one set of grants. A changed tool has another
//! identifier, and another set of grants needs its own approval. An approval for one run is taken by
//! the run that uses it, at most once, and lapses after a day. Deleting a name ends the approvals
//! of all tools that it ever resolved to. A refusal holds for a tool with any grants and lasts
//! until a person revokes it; import, deletion and garbage collection keep it. A pending request
//! permits nothing.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;
use toolcell_i18n::message;
use toolcell_tool::{ToolId, canonical_json};

use crate::audit::AuditEvent;
use crate::db::sql::{decode_column, read_time};
use crate::db::transaction::WriteError;
use crate::db::{Db, generation};
use crate::durability::Durability;
use crate::error::Fault;
use crate::replication::change::{ApprovalChange, Change};

/// How long an approval for one run waits for the run.
pub const SINGLE_APPROVAL_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// The decisions about tools, as they are listed. The number stands for [`Decision::ApprovedOnce`].
pub(crate) const DECIDED: &str = "(SELECT tool, grants, form, granted, by, at FROM approval WHERE granted IS NOT NULL \
    UNION ALL SELECT tool, grants, form, 2, by, at FROM single_approval)";

/// The decisions about tools, and the requests for one.
pub struct Approvals<'a> {
    db: &'a Db,
}

/// A person's decision about a tool with a set of grants.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    /// The tool.
    pub tool: ToolId,
    /// The grants, in canonical form. For a refusal these are the grants that were requested; the
    /// refusal holds for all others as well.
    pub grants: Value,
    /// The decision.
    pub decision: Decision,
    /// Who decided, and why if a reason was given.
    pub by: String,
    /// When it was decided.
    pub at: Timestamp,
}

/// A pending approval request.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingApproval {
    /// The tool.
    pub tool: ToolId,
    /// The requested grants, in canonical form.
    pub grants: Value,
    /// Who wanted to run the tool.
    pub by: String,
    /// When it was first requested.
    pub at: Timestamp,
}

/// An approval or a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The tool may run with these grants.
    Approved,
    /// The tool may run once with these grants, within [`SINGLE_APPROVAL_LIFETIME`].
    ApprovedOnce,
    /// The tool may not run, with any grants.
    Refused,
}

/// The result of storing a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionOutcome {
    /// The decision was stored.
    Stored,
    /// Nothing was stored: the decision is an approval, and no name resolves to the tool any more.
    ToolGone,
}

impl<'a> Approvals<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        Self { db }
    }

    /// Stores a decision. An approval, also for one run, ends a refusal of the tool and coexists with approvals of
    /// other grants. A refusal replaces all decisions and pending requests of the tool.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn set_decision(&self, approval: &Approval) -> Result<DecisionOutcome, Fault> {
        self.set_decision_audited(approval, None)
    }

    pub(crate) fn set_decision_audited(
        &self,
        approval: &Approval,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<DecisionOutcome, Fault> {
        let form = canonical_grants(&approval.grants)?;
        let made = self.db.commit_change(
            attempt,
            |transaction, _| {
                let settled = write_decision(transaction, approval, &form)?;
                Ok::<_, Fault>((settled == DecisionOutcome::Stored).then_some(()))
            },
            |()| approval.to_change(),
            |_, _| (),
        )?;
        Ok(made.map_or(DecisionOutcome::ToolGone, |()| DecisionOutcome::Stored))
    }

    /// Stores a request to approve these grants, unless it is already pending or decided, or the
    /// tool is refused. A power failure may lose it; the next run then requests it again.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn request(&self, tool: ToolId, grants: &Value, by: &str, at: Timestamp) -> Result<(), Fault> {
        let form = canonical_grants(grants)?;
        let hash = blake3::hash(form.as_bytes());
        let known = self.db.index.read(|transaction| {
            let sql = "SELECT EXISTS (SELECT 1 FROM approval WHERE tool = ? AND (grants = ? OR granted = 0))";
            let mut statement = transaction.prepare_cached(sql)?;
            Ok::<bool, Fault>(statement.query_row((tool.as_bytes(), hash.as_bytes()), |row| row.get(0))?)
        })?;
        if known {
            return Ok(());
        }
        let written = self.db.replicate(
            Durability::Unsynced,
            |transaction| Ok(write_request(transaction, tool, &form, by, at)?),
            |is_new| {
                let grants = grants.clone();
                let (decision, by) = (ApprovalChange::Requested, by.to_owned());
                is_new.then_some(Change::Decide { tool, grants, decision, by, at })
            },
        );
        written.map(drop).map_err(|unwritten: WriteError<Fault>| unwritten.error)
    }

    /// The pending requests for tools that names resolve to, newest first, at most `limit`.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn pending(&self, limit: usize) -> Result<Vec<PendingApproval>, Fault> {
        self.db.index.read(|transaction| {
            let sql = "SELECT tool, form, by, at FROM approval WHERE granted IS NULL \
                       AND EXISTS (SELECT 1 FROM tool AS known WHERE known.id = approval.tool AND current = 1) \
                       ORDER BY at DESC, tool, grants LIMIT ?";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(PendingApproval {
                    tool: ToolId::from_bytes(row.get(0)?),
                    grants: decode_column(1, serde_json::from_str(row.get_ref(1)?.as_str()?))?,
                    by: row.get(2)?,
                    at: read_time(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The effective decision for a tool with exactly these grants: a refusal of the tool, or an
    /// approval of these grants; `None` if neither exists.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn decision(&self, tool: ToolId, grants: &Value) -> Result<Option<Decision>, Fault> {
        let grants = blake3::hash(canonical_grants(grants)?.as_bytes());
        self.db.index.read(|transaction| {
            let sql = "SELECT granted FROM approval WHERE tool = ? AND (granted = 0 OR granted = 1 AND grants = ?) \
                       ORDER BY granted LIMIT 1";
            let mut statement = transaction.prepare_cached(sql)?;
            let granted = statement.query_row((tool.as_bytes(), grants.as_bytes()), |row| row.get(0)).optional()?;
            Ok(granted.map(decision_from_granted))
        })
    }

    /// The approval for one run of a tool with exactly these grants, unless it lapsed.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn single(&self, tool: ToolId, grants: &Value, now: Timestamp) -> Result<Option<Approval>, Fault> {
        let grants = blake3::hash(canonical_grants(grants)?.as_bytes());
        self.db.index.read(|transaction| Ok(read_single(transaction, tool, &grants, now)?))
    }

    /// Takes the approval for one run of a tool with exactly these grants: of several runs, one gets it.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn take_single(&self, tool: ToolId, grants: &Value, now: Timestamp) -> Result<Option<Approval>, Fault> {
        let form = blake3::hash(canonical_grants(grants)?.as_bytes());
        let taken = self.db.replicate(
            Durability::Synced,
            |transaction| {
                let Some(taken) = read_single(transaction, tool, &form, now)? else { return Ok(None) };
                delete_single(transaction, tool, &form)?;
                Ok(Some(taken))
            },
            |taken| taken.as_ref().map(|_| Change::TakeApproval { tool, grants: grants.clone() }),
        );
        taken.map_err(|unwritten: WriteError<Fault>| unwritten.error)
    }

    /// All decisions about a tool. For pending requests see [`Approvals::pending`].
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn for_tool(&self, tool: ToolId) -> Result<Vec<Approval>, Fault> {
        self.db.index.read(|transaction| {
            let sql = format!("SELECT form, granted, by, at FROM {DECIDED} WHERE tool = ? ORDER BY at, grants");
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map([tool.as_bytes()], |row| {
                Ok(Approval {
                    tool,
                    grants: decode_column(0, serde_json::from_str(row.get_ref(0)?.as_str()?))?,
                    decision: decision_from_granted(row.get(1)?),
                    by: row.get(2)?,
                    at: read_time(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The decisions about tools that names resolve to, newest first, at most `limit`.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn decisions(&self, limit: usize) -> Result<Vec<Approval>, Fault> {
        self.db.index.read(|transaction| {
            let sql = format!(
                "SELECT tool, form, granted, by, at FROM {DECIDED} AS decided \
                 WHERE EXISTS (SELECT 1 FROM tool AS known WHERE known.id = decided.tool AND current = 1) \
                 ORDER BY at DESC, tool, grants LIMIT ?"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(Approval {
                    tool: ToolId::from_bytes(row.get(0)?),
                    grants: decode_column(1, serde_json::from_str(row.get_ref(1)?.as_str()?))?,
                    decision: decision_from_granted(row.get(2)?),
                    by: row.get(3)?,
                    at: read_time(row, 4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Revokes all approvals and refusals of a tool and returns how many there were. Pending
    /// requests stay.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn revoke(&self, tool: ToolId) -> Result<usize, Fault> {
        self.revoke_audited(tool, None)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers hand over what they made for this; it is cloned for each try"
    )]
    pub(crate) fn revoke_audited(&self, tool: ToolId, attempt: Option<AuditEvent<'_>>) -> Result<usize, Fault> {
        self.db.with_reserve(|| {
            let made = self.db.commit_change(
                attempt.clone(),
                |transaction, attempt| {
                    let revoked = delete_decisions(transaction, tool)?;
                    attempt.details.count = Some(revoked as u64);
                    Ok::<_, Fault>(Some(revoked))
                },
                |_| Change::Revoke { tool },
                |_, _| (),
            )?;
            // The closure returned a value, so the change was made.
            made.ok_or_else(|| Fault::index(message!("the change was not made")))
        })
    }
}

impl Approval {
    pub(crate) fn to_change(&self) -> Change {
        let decision = match self.decision {
            Decision::Approved => ApprovalChange::Approved,
            Decision::ApprovedOnce => ApprovalChange::ApprovedOnce,
            Decision::Refused => ApprovalChange::Refused,
        };
        Change::Decide { tool: self.tool, grants: self.grants.clone(), decision, by: self.by.clone(), at: self.at }
    }
}

/// Applies a decision, or a request for one, that another node made.
pub(crate) fn apply_decision(
    transaction: &Connection,
    tool: ToolId,
    grants: &Value,
    change: ApprovalChange,
    by: &str,
    at: Timestamp,
) -> Result<(), Fault> {
    let form = canonical_grants(grants)?;
    let decision = match change {
        ApprovalChange::Approved => Decision::Approved,
        ApprovalChange::ApprovedOnce => Decision::ApprovedOnce,
        ApprovalChange::Refused => Decision::Refused,
        ApprovalChange::Requested => {
            write_request(transaction, tool, &form, by, at)?;
            return Ok(());
        }
    };
    let approval = Approval { tool, grants: grants.clone(), decision, by: by.to_owned(), at };
    write_decision(transaction, &approval, &form)?;
    Ok(())
}

/// Takes the approval for one run that another node took.
pub(crate) fn apply_taken(transaction: &Connection, tool: ToolId, grants: &Value) -> Result<(), Fault> {
    Ok(delete_single(transaction, tool, &blake3::hash(canonical_grants(grants)?.as_bytes()))?)
}

/// Deletes all decisions about a tool, and returns their number.
pub(crate) fn delete_decisions(transaction: &Connection, tool: ToolId) -> rusqlite::Result<usize> {
    let mut deleted = 0;
    for sql in
        ["DELETE FROM approval WHERE tool = ? AND granted IS NOT NULL", "DELETE FROM single_approval WHERE tool = ?"]
    {
        deleted += transaction.prepare_cached(sql)?.execute([tool.as_bytes()])?;
    }
    generation::bump(transaction)?;
    Ok(deleted)
}

/// Writes the request for a decision, and returns whether there was none, and the tool is not refused.
fn write_request(
    transaction: &Connection,
    tool: ToolId,
    form: &str,
    by: &str,
    at: Timestamp,
) -> rusqlite::Result<bool> {
    let sql = "INSERT OR IGNORE INTO approval (tool, grants, form, by, at) SELECT ?1, ?2, ?3, ?4, ?5 \
               WHERE NOT EXISTS (SELECT 1 FROM approval WHERE tool = ?1 AND granted = 0)";
    let grants = blake3::hash(form.as_bytes());
    let row = (tool.as_bytes(), grants.as_bytes(), form, by, at.as_millisecond());
    Ok(transaction.prepare_cached(sql)?.execute(row)? > 0)
}

/// Deletes the approval for one run.
fn delete_single(transaction: &Connection, tool: ToolId, grants: &blake3::Hash) -> rusqlite::Result<()> {
    let sql = "DELETE FROM single_approval WHERE tool = ? AND grants = ?";
    transaction.prepare_cached(sql)?.execute((tool.as_bytes(), grants.as_bytes()))?;
    generation::bump(transaction)
}

/// Writes a decision and removes those that it overrides.
fn write_decision(transaction: &Connection, approval: &Approval, form: &str) -> rusqlite::Result<DecisionOutcome> {
    let (tool, grants) = (approval.tool.as_bytes(), blake3::hash(form.as_bytes()));
    let at = approval.at.as_millisecond();
    if approval.decision != Decision::Refused {
        let sql = "SELECT EXISTS (SELECT 1 FROM tool WHERE id = ? AND current = 1)";
        if !transaction.prepare_cached(sql)?.query_row([tool], |row| row.get::<_, bool>(0))? {
            return Ok(DecisionOutcome::ToolGone);
        }
    }
    let lapsed = approval.at.checked_sub(SINGLE_APPROVAL_LIFETIME).unwrap_or(Timestamp::MIN).as_millisecond();
    transaction.prepare_cached("DELETE FROM single_approval WHERE at <= ?")?.execute([lapsed])?;
    if approval.decision == Decision::Refused {
        for sql in ["DELETE FROM approval WHERE tool = ?", "DELETE FROM single_approval WHERE tool = ?"] {
            transaction.prepare_cached(sql)?.execute([tool])?;
        }
    } else {
        transaction.prepare_cached("DELETE FROM approval WHERE tool = ? AND granted = 0")?.execute([tool])?;
        for sql in [
            "DELETE FROM approval WHERE tool = ? AND grants = ? AND granted IS NULL",
            "DELETE FROM single_approval WHERE tool = ? AND grants = ?",
        ] {
            transaction.prepare_cached(sql)?.execute((tool, grants.as_bytes()))?;
        }
    }
    if approval.decision == Decision::ApprovedOnce {
        let sql = "INSERT INTO single_approval (tool, grants, form, by, at) VALUES (?, ?, ?, ?, ?)";
        transaction.prepare_cached(sql)?.execute((tool, grants.as_bytes(), form, &approval.by, at))?;
    } else {
        let granted = approval.decision == Decision::Approved;
        let sql = "INSERT OR REPLACE INTO approval (tool, grants, form, granted, by, at) VALUES (?, ?, ?, ?, ?, ?)";
        transaction.prepare_cached(sql)?.execute((tool, grants.as_bytes(), form, granted, &approval.by, at))?;
    }
    generation::bump(transaction)?;
    Ok(DecisionOutcome::Stored)
}

/// Reads the approval for one run, unless it lapsed.
fn read_single(
    transaction: &Connection,
    tool: ToolId,
    grants: &blake3::Hash,
    now: Timestamp,
) -> rusqlite::Result<Option<Approval>> {
    let sql = "SELECT form, by, at FROM single_approval WHERE tool = ? AND grants = ? AND at > ?";
    let since = (now - SINGLE_APPROVAL_LIFETIME).as_millisecond();
    let mut statement = transaction.prepare_cached(sql)?;
    let row = statement.query_row((tool.as_bytes(), grants.as_bytes(), since), |row| {
        Ok(Approval {
            tool,
            grants: decode_column(0, serde_json::from_str(row.get_ref(0)?.as_str()?))?,
            decision: Decision::ApprovedOnce,
            by: row.get(1)?,
            at: read_time(row, 2)?,
        })
    });
    row.optional()
}

/// Ends the approvals of all tools of a name that is deleted or reassigned: they have to be
/// approved again.
pub(crate) fn end_approvals(transaction: &Connection, folded: &str) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM approval WHERE granted = 1 AND tool IN (SELECT id FROM tool WHERE folded = ?)",
        "DELETE FROM single_approval WHERE tool IN (SELECT id FROM tool WHERE folded = ?)",
    ] {
        transaction.prepare_cached(sql)?.execute([folded])?;
    }
    Ok(())
}

pub(crate) fn decision_from_granted(granted: i64) -> Decision {
    match granted {
        0 => Decision::Refused,
        1 => Decision::Approved,
        _ => Decision::ApprovedOnce,
    }
}

fn canonical_grants(grants: &Value) -> Result<String, Fault> {
    let bytes =
        canonical_json(grants).map_err(std::io::Error::other).map_err(Fault::disk_of(message!("the grants")))?;
    String::from_utf8(bytes).map_err(std::io::Error::other).map_err(Fault::disk_of(message!("the grants")))
}
