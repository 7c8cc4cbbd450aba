//! Runs that started and have not finished: journaled before they start, finished with one run
//! record and one audit line, and recovered if their process died.
//!
//! Invariant: a started run ends up with exactly one run record and one audit line, even if the
//! process is killed in between. The steps, in order: the start is journaled; the outcome is
//! journaled; the audit line is appended; the run record and the usage are written to the index,
//! together with those of other runs; the journal slot is freed. After a kill, recovery looks the
//! run's identifier up and so knows which of these steps were done.

use std::sync::atomic;
use std::sync::{Arc, PoisonError};

use blake3::Hash;
use toolcell_i18n::Localize as _;

use crate::audit::{self, AuditEvent};
use crate::directory::StoreAccess;
use crate::durability::Durability;
use crate::error::Fault;
use crate::notice::{self, Notice};

use super::Runs;
use super::costs::report_demotions;
use super::flush::{self, DeferredLine};
use super::journal::{self, Journal, OpenSlot, Slot};
use super::pending::{PendingWrite, RecordError, commit_grouped, write_all};
use super::records::{HashedRecord, Record};
use super::run_id::RunId;
use super::usage_event::UsageEvent;

/// A started run. If it is dropped without [`Runs::finish`], as after a panic, it counts as
/// interrupted.
#[must_use = "a run that is not ended counts as interrupted"]
pub struct ActiveRun {
    run: RunId,
    slot: Slot,
    line: LineState,
    origin: Origin,
}

/// Where a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Started by this process.
    Own,
    /// Recovered from the journal of a process that died, or dropped in this one.
    Recovered,
}

/// Whether the audit line of a run is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    Missing,
    Appended,
}

/// The result of a finished run.
pub struct FinishedRun<'a> {
    /// What the run adds to the usage of its tool; `None` if the tool never ran.
    pub usage: Option<UsageEvent>,
    /// The run record. Its body must contain the identifier of the run; otherwise two runs could
    /// share one record.
    pub record: Record,
    /// The audit line; [`Runs::finish`] adds the identifier of the run.
    pub audit_event: AuditEvent<'a>,
}

/// A run that started and never finished.
pub struct InterruptedRun {
    /// The identifier of the run.
    pub run: RunId,
    /// The payload given to [`Runs::start`].
    pub payload: Vec<u8>,
    /// The run record, if it was written. Then the audit line is missing and must say the same.
    pub record: Option<Record>,
    /// The audit line, if it was appended. Then the run record is missing and must say the same.
    pub audit_line: Option<audit::AuditLine>,
    /// The handle to pass to [`Runs::finish`].
    pub active: ActiveRun,
}

impl ActiveRun {
    /// The identifier of the run.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }
}

impl Runs<'_> {
    /// Starts a run. `payload` returns the data from which recovery builds a run record, at most
    /// [`PAYLOAD_LIMIT`](crate::PAYLOAD_LIMIT) bytes. Once this returns, the run survives a crash
    /// of the process, though not necessarily a power failure.
    ///
    /// # Errors
    /// `store-read-only`; `disk-full`; `disk-failed`, also if the payload is too long.
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::audit::{Action, AuditEvent};
    /// use toolcell_store::{FinishedRun, RUN_KIND, Record, Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let active = store.runs().start(|run| format!("what {run} is about").into_bytes())?;
    /// let (run, at) = (active.run(), Timestamp::UNIX_EPOCH);
    /// let body = format!(r#"{{"run":"{run}","outcome":"returned"}}"#).into_bytes();
    /// let record = Record { kind: RUN_KIND.to_owned(), tool: None, at, body };
    /// let audit_event = AuditEvent::new(Action::RunDynamicTool, at);
    /// let hash = store.runs().finish(active, FinishedRun { usage: None, record, audit_event })?;
    /// assert_eq!(store.runs().record_of_run(run)?, store.runs().record(hash)?);
    /// assert!(store.runs().interrupted()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(&self, payload: impl FnOnce(&RunId) -> Vec<u8>) -> Result<ActiveRun, Fault> {
        let journal = self.own_journal()?;
        let (slot, run) = journal.start_run(self.db.audit.known_seq(), payload)?;
        Ok(ActiveRun { run, slot, line: LineState::Missing, origin: Origin::Own })
    }

    /// Finishes a run: stores its record, counts its usage, appends its audit line, and returns the
    /// hash of the record. All of it survives a crash of the process at once. Readers of
    /// the same open store see record and usage immediately, other processes after the next
    /// [`Runs::flush`].
    ///
    /// # Errors
    /// Any [`Fault`]. What was not written is added when the run is recovered as interrupted.
    pub fn finish(&self, begun: ActiveRun, end: FinishedRun<'_>) -> Result<Hash, RecordError> {
        let FinishedRun { usage, record, audit_event: mut attempt } = end;
        let hash = blake3::hash(&record.body);
        let note = flush::encode_end_note(&record, usage.as_ref()).filter(|_| begun.origin == Origin::Own);
        let kept = PendingWrite { record: Some(HashedRecord { hash, run: Some(begun.run), record }), usage };
        if let Some(note) = note
            && begun.slot.write_end(begun.run, &note).is_ok()
        {
            attempt.details.run = Some(begun.run.to_string());
            let late = match self.db.audit.record(&attempt) {
                Ok(_) => None,
                // The outcome is journaled, so neither the audit line nor the run record is lost.
                Err(fault) => Some(self.defer_line(begun.run, &attempt, &fault)?),
            };
            self.set_log_behind(late.is_some());
            self.queue_for_flush(begun.slot, kept, late);
            return Ok(hash);
        }
        let kept = commit_grouped(self.db, self.state, kept);
        // If the index fails, the audit log still records the run.
        let appended = match begun.line {
            LineState::Appended => Ok(()),
            LineState::Missing => {
                attempt.details.run = Some(begun.run.to_string());
                self.db.audit.record(&attempt).map(|_| ())
            }
        };
        kept?;
        appended?;
        if let Err(error) = begun.slot.clear() {
            // Recovery will see that nothing is missing.
            tracing::warn!(%error, "a finished run could not be removed from its journal");
        }
        Ok(hash)
    }

    /// Renders the audit line of a run, to be appended later.
    fn defer_line(&self, run: RunId, attempt: &AuditEvent<'_>, fault: &Fault) -> Result<DeferredLine, Fault> {
        let after = self.db.audit.last_known().map_or(0, |head| head.seq());
        let late = DeferredLine { run: run.to_string(), after_seq: after, line: self.db.audit.render(attempt, None)? };
        notice::emit_notice(&Notice::Delayed { action: attempt.action.name(), why: &fault.localize() });
        Ok(late)
    }

    /// Whether the audit line of the last run is missing because the log could not be written.
    #[must_use]
    pub fn is_log_behind(&self) -> bool {
        self.state.is_log_behind.load(atomic::Ordering::Relaxed)
    }

    fn set_log_behind(&self, is_behind: bool) {
        if self.state.is_log_behind.load(atomic::Ordering::Relaxed) != is_behind {
            self.state.is_log_behind.store(is_behind, atomic::Ordering::Relaxed);
        }
    }

    /// Takes the runs of processes that died, and those of this process that were dropped
    /// unfinished. Pass each to [`Runs::finish`], which does not repeat what was already
    /// written. Until then no other caller gets them. The list is empty if the store is read-only.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn interrupted(&self) -> Result<Vec<InterruptedRun>, Fault> {
        if self.db.access() == StoreAccess::ReadOnly {
            return Ok(Vec::new());
        }
        let own = self.state.journal.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut open = own.map_or_else(|| Ok(Vec::new()), |journal| journal.take_abandoned())?;
        for journal in Journal::orphans(&self.db.directory)? {
            open.extend(journal.take_abandoned()?);
        }
        let Some(after) = open.iter().map(|open| open.after_seq).min() else { return Ok(Vec::new()) };
        let runs = open.iter().map(|open| open.run.to_string()).collect();
        let mut appended = self.db.audit.runs_after(after, runs)?;
        let mut interrupted = Vec::new();
        for OpenSlot { slot, run, payload, end, .. } in open {
            if let Some(ended) = end.and_then(|end| flush::decode_end_note(run, &end)) {
                let fallen =
                    self.db.index.write_soon(Durability::Unsynced, |connection| write_all(connection, [&ended]))?;
                report_demotions(self.db, &fallen);
            }
            let kept = match self.record_of_run(run) {
                // The record exists but is damaged, which is for `fsck` to report.
                Err(Fault::Object { .. }) => None,
                other => other?,
            };
            let appended = appended.remove(&run.to_string());
            if kept.is_some() && appended.is_some() {
                slot.clear().map_err(Fault::disk(journal::FOLDER))?;
            } else {
                let line = if appended.is_some() { LineState::Appended } else { LineState::Missing };
                let begun = ActiveRun { run, slot, line, origin: Origin::Recovered };
                interrupted.push(InterruptedRun { run, payload, record: kept, audit_line: appended, active: begun });
            }
        }
        Ok(interrupted)
    }

    /// The journal of this process, created on first use.
    fn own_journal(&self) -> Result<Arc<Journal>, Fault> {
        let mut own = self.state.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = &*own {
            return Ok(Arc::clone(journal));
        }
        self.db.directory.check_writable()?;
        self.db.audit.refresh_known_seq()?;
        let journal = Arc::new(Journal::create(&self.db.directory)?);
        *own = Some(Arc::clone(&journal));
        Ok(journal)
    }
}
