//! A transactional outbox: every committed change gets its line in the audit log.
//!
//! ```text
//! one transaction: the change, and its line in the outbox
//!   → the line is appended to the log → the log is synced → the line is removed from the outbox
//! ```
//!
//! Invariant: a committed change ends up with exactly one audit line, whatever fails and even if
//! the process is killed, and a change that was not committed has none. A line that cannot be
//! appended now stays in the outbox, and the next process that opens the store appends it. Each
//! line carries the identifier of its change, so it is never appended twice.
//!
//! A line stays in the outbox until the log is synced. So a change costs one disk sync, and its
//! line survives a power failure just as the change does. The audit lines of runs do not; but the
//! index records how far the log went, so verification detects the loss.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_i18n::Localize as _;

use crate::audit::{Action, Audit, AuditEvent, Head};
use crate::directory::StoreAccess;
use crate::durability::Durability;
use crate::error::Fault;
use crate::file_lock::BRIEF_TIMEOUT;
use crate::notice::{self, Notice};
use crate::replication::entry::EntryAudit;

use super::Db;
use super::index::ExclusiveWriter;

/// The maximum number of appended lines in the outbox, and the maximum age of the oldest, before
/// the log is synced because of them.
const MAX_UNSYNCED_LINES: usize = 64;
const MAX_UNSYNCED_TIME: Duration = Duration::from_secs(5);

/// The state of the outbox in this process.
#[derive(Default)]
pub(crate) struct Outbox {
    /// A random number that makes the change identifiers of this process unique; `None` until the
    /// first change.
    id: Option<u64>,
    /// The number of changes so far.
    count: u64,
    /// Lines that were appended to the log since its last sync.
    appended: Vec<String>,
    /// When the oldest of them was appended.
    unsynced_since: Option<Instant>,
    /// Lines that could not be appended.
    delayed: Vec<String>,
}

/// A line of the outbox.
pub(super) struct OutboxRow {
    change: String,
    after_seq: u64,
    line: String,
}

impl OutboxRow {
    /// The line, as the entry of a shared history has it.
    pub(super) fn to_entry(&self) -> EntryAudit {
        EntryAudit { id: self.change.clone(), after: self.after_seq, line: self.line.clone() }
    }
}

/// An event, and whether there is one: without one, a change is committed without an audit line.
pub(super) fn with_default(attempt: Option<AuditEvent<'_>>) -> (bool, AuditEvent<'_>) {
    let is_recorded = attempt.is_some();
    (is_recorded, attempt.unwrap_or_else(|| AuditEvent::new(Action::Status, Timestamp::UNIX_EPOCH)))
}

impl Db {
    /// Appends the audit line of an event that changed nothing. If the log cannot be written, the
    /// line is stored in the index and appended later. If the index cannot be written either, the
    /// line is lost, which is reported as a [`Notice`].
    pub(crate) fn log(&self, attempt: &AuditEvent<'_>) -> Result<(), Fault> {
        let Err(fault) = self.audit.record(attempt) else { return Ok(()) };
        if self.access() == StoreAccess::ReadOnly {
            return Err(fault);
        }
        let kept = self.index.write_soon(self.settings.durability, |transaction| {
            let row = self.insert_outbox_row(transaction, attempt)?;
            Ok::<_, Fault>(row.change)
        });
        let (action, why) = (attempt.action.name(), fault.localize());
        let Ok(change) = kept else {
            notice::emit_notice(&Notice::Lost { action, why: &why });
            return Err(fault);
        };
        self.lock_outbox().delayed.push(change);
        notice::emit_notice(&Notice::Delayed { action, why: &why });
        Ok(())
    }

    /// The number of lines that still have to be appended to the log.
    pub(crate) fn delayed_lines(&self) -> Result<u64, Fault> {
        let rows = self.index.read(|transaction| Ok::<_, Fault>(read_rows(transaction, None)?))?;
        let appended = self.find_appended(&rows)?;
        Ok(rows.iter().filter(|row| !appended.contains(&row.change)).count() as u64)
    }

    /// Writes a line into the outbox.
    pub(super) fn insert_outbox_row(
        &self,
        transaction: &Connection,
        attempt: &AuditEvent<'_>,
    ) -> Result<OutboxRow, Fault> {
        let change = self.next_change_id();
        let (line, after) =
            (self.audit.render(attempt, Some(&change))?, self.audit.last_known().map_or(0, |head| head.seq()));
        let sql = "INSERT INTO outbox (change, after, line) VALUES (?, ?, ?)";
        transaction.prepare_cached(sql)?.execute((&change, after, &line))?;
        Ok(OutboxRow { change, after_seq: after, line })
    }

    /// Appends lines that were restored.
    pub(super) fn append_restored(&self, changes: impl Iterator<Item = String>) -> Result<(), Fault> {
        self.lock_outbox().delayed.extend(changes);
        self.append_delayed()
    }

    fn next_change_id(&self) -> String {
        let mut outbox = self.lock_outbox();
        // The standard library seeds its hash maps with random numbers of the system.
        let chance = || std::collections::hash_map::RandomState::new().build_hasher().finish();
        let id = *outbox.id.get_or_insert_with(chance);
        outbox.count += 1;
        format!("c_{id:016x}-{:x}", outbox.count)
    }

    /// Saves the last known line of the log in the index.
    pub(crate) fn save_head(&self, transaction: &Connection) -> rusqlite::Result<()> {
        let Some(head) = self.audit.last_known() else { return Ok(()) };
        let sql = "INSERT INTO log_head (one, seq, hash) VALUES (1, ?1, ?2) \
                   ON CONFLICT DO UPDATE SET seq = ?1, hash = ?2 WHERE seq < ?1";
        transaction.prepare_cached(sql)?.execute((head.seq(), head.hash().as_bytes())).map(|_| ())
    }

    /// Appends the line of a change that was just committed, after the delayed ones.
    pub(super) fn append_committed(&self, turn: &mut ExclusiveWriter<'_>, own: OutboxRow, action: &str) {
        if !self.lock_outbox().delayed.is_empty()
            && let Err(fault) = self.append_delayed()
        {
            self.lock_outbox().delayed.push(own.change);
            return notice::emit_notice(&Notice::Delayed { action, why: &fault.localize() });
        }
        match self.audit.append_rendered(&own.line) {
            Ok(_) => self.mark_appended(own.change),
            Err(fault) => {
                self.lock_outbox().delayed.push(own.change);
                notice::emit_notice(&Notice::Delayed { action, why: &fault.localize() });
            }
        }
        if self.lock_outbox().appended.len() >= MAX_UNSYNCED_LINES
            && let Err(fault) = self.sync_log(turn)
        {
            // The lines stay in the outbox, and the next change tries again.
            tracing::warn!(%fault, "the audit log could not be synced");
        }
    }

    fn mark_appended(&self, change: String) {
        let mut outbox = self.lock_outbox();
        outbox.appended.push(change);
        outbox.unsynced_since.get_or_insert_with(Instant::now);
    }

    /// Appends delayed lines, unless another process already did.
    fn append_delayed(&self) -> Result<(), Fault> {
        let waiting: HashSet<String> = self.lock_outbox().delayed.iter().cloned().collect();
        let rows = self.index.read(|transaction| Ok::<_, Fault>(read_rows(transaction, Some(&waiting))?))?;
        self.append_missing(rows)?;
        self.lock_outbox().delayed.clear();
        Ok(())
    }

    /// Appends those lines that are not in the log yet.
    fn append_missing(&self, rows: Vec<OutboxRow>) -> Result<(), Fault> {
        let appended = self.find_appended(&rows)?;
        for row in rows {
            if !appended.contains(&row.change) {
                if !Audit::is_rendered(&row.line) {
                    // The index is damaged, or another program wrote to it: this is not an audit
                    // line.
                    tracing::error!(change = row.change, "a queued line of the audit log is lost");
                    continue;
                }
                self.audit.append_rendered(&row.line)?;
            }
            self.mark_appended(row.change);
        }
        Ok(())
    }

    /// The identifiers of those changes whose lines are in the log.
    fn find_appended(&self, rows: &[OutboxRow]) -> Result<HashSet<String>, Fault> {
        let Some(after) = rows.iter().map(|row| row.after_seq).min() else { return Ok(HashSet::new()) };
        let changes = rows.iter().map(|row| row.change.clone()).collect();
        let found = self.audit.lines_after(after, "change", changes)?;
        Ok(found.into_keys().collect())
    }

    /// Runs when the store is opened: reads the last known line of the log, and appends lines that
    /// other processes left in the outbox.
    pub(crate) fn recover_outbox(&self) -> Result<(), Fault> {
        let (head, is_empty) = self.index.read(|transaction| {
            let head = read_head(transaction)?;
            let sql = "SELECT NOT EXISTS (SELECT 1 FROM outbox)";
            Ok::<_, Fault>((head, transaction.prepare_cached(sql)?.query_row([], |row| row.get::<_, bool>(0))?))
        })?;
        self.audit.set_witness(head);
        if is_empty || self.access() == StoreAccess::ReadOnly {
            return Ok(());
        }
        // A process between its commit and its append holds the writer lock, so this waits for it.
        self.index.with_exclusive_writer(BRIEF_TIMEOUT, |_| {
            let rows = self.index.read(|transaction| Ok::<_, Fault>(read_rows(transaction, None)?))?;
            self.append_missing(rows)
        })?
    }

    /// Appends delayed lines, syncs the log, and removes appended lines from the outbox.
    pub(crate) fn drain_outbox(&self) -> Result<(), Fault> {
        let (is_waiting, is_unsynced) = {
            let outbox = self.lock_outbox();
            (!outbox.delayed.is_empty(), !outbox.appended.is_empty())
        };
        if !is_waiting && !is_unsynced {
            return Ok(());
        }
        self.index.with_exclusive_writer(BRIEF_TIMEOUT, |turn| {
            if is_waiting {
                self.append_delayed()?;
            }
            self.sync_log(turn)
        })?
    }

    /// Same as [`Self::drain_outbox`], if the oldest unsynced line is old enough.
    pub(crate) fn drain_outbox_if_due(&self) -> Result<(), Fault> {
        let is_due = self.lock_outbox().unsynced_since.is_some_and(|since| since.elapsed() > MAX_UNSYNCED_TIME);
        if is_due { self.drain_outbox() } else { Ok(()) }
    }

    /// Syncs the log and removes the lines in it from the outbox.
    fn sync_log(&self, turn: &mut ExclusiveWriter<'_>) -> Result<(), Fault> {
        let appended = self.lock_outbox().appended.clone();
        self.audit.sync()?;
        let forgotten = turn.write(Durability::Unsynced, |transaction| {
            let mut forget = transaction.prepare_cached("DELETE FROM outbox WHERE change = ?")?;
            for change in &appended {
                forget.execute([change])?;
            }
            self.save_head(transaction)?;
            Ok::<_, Fault>(())
        });
        forgotten.map_err(|unwritten| unwritten.error)?;
        let mut outbox = self.lock_outbox();
        outbox.appended.drain(..appended.len());
        outbox.unsynced_since = (!outbox.appended.is_empty()).then(Instant::now);
        Ok(())
    }

    /// A poisoned lock is fine: a thread that panicked leaves the outbox consistent.
    fn lock_outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the line of a change into the outbox that this store appended to a shared history and could not commit.
pub(super) fn restore_row(transaction: &Connection, audit: &EntryAudit) -> rusqlite::Result<()> {
    let sql = "INSERT INTO outbox (change, after, line) VALUES (?, ?, ?)";
    transaction.prepare_cached(sql)?.execute((&audit.id, audit.after, &audit.line)).map(|_| ())
}

/// The last line of the log that the index knows.
pub(crate) fn read_head(transaction: &Connection) -> rusqlite::Result<Option<Head>> {
    let mut statement = transaction.prepare_cached("SELECT seq, hash FROM log_head")?;
    let row = statement.query_row([], |row| Ok(Head::new(row.get(0)?, blake3::Hash::from_bytes(row.get(1)?))));
    row.optional()
}

/// The lines of the outbox, optionally only those of some changes.
fn read_rows(transaction: &Connection, which: Option<&HashSet<String>>) -> rusqlite::Result<Vec<OutboxRow>> {
    let mut statement = transaction.prepare_cached("SELECT change, after, line FROM outbox ORDER BY num")?;
    let rows = statement
        .query_map([], |row| Ok(OutboxRow { change: row.get(0)?, after_seq: row.get(1)?, line: row.get(2)? }))?;
    let wanted = |row: &OutboxRow| which.is_none_or(|which| which.contains(&row.change));
    rows.filter(|row| row.as_ref().map_or(true, wanted)).collect()
}

#[cfg(test)]
mod tests;
