//! Runs: begun before anything happens, ended with one record and one line of the log, and found where they never ended.
//!
//! Invariant: a run that was begun has exactly one record and one line in the end, whatever kills the process in
//! between. It is begun in the journal; how it ended is noted there; its line is appended; its record and what it adds to
//! the usage of its tool get into the index, with those of other runs; and then only its slot in the journal is free
//! again. Whoever closes it after a kill sees by its identifier which of these were done.

use std::sync::atomic;
use std::sync::{Arc, PoisonError};

use blake3::Hash;

use crate::audit::{self, Attempt};
use crate::directory::Access;
use crate::error::Fault;
use crate::index::Durability;
use crate::journal::{Journal, Open, Slot};
use crate::notice::{self, Notice};
use crate::records::{Record, RunRecord};
use crate::run_id::RunId;
use crate::settle::Late;
use crate::store::Store;
use crate::together::{Kept, RecordError, keep};
use crate::usage::UsageEvent;

pub use crate::journal::PAYLOAD_LIMIT;

/// A run that was begun. Where it is dropped without [`Store::end_run`], as after a panic, it is among the interrupted
/// ones from then on.
#[must_use = "a run that is not ended was interrupted"]
pub struct Begun {
    run: RunId,
    slot: Slot,
    line: Line,
    origin: Origin,
}

/// Whose run it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// That of this process.
    Own,
    /// It was found, and is closed.
    Found,
}

/// Whether a run has its line in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Missing,
    Appended,
}

/// How a run ended.
pub struct RunEnd<'a> {
    /// What it adds to the usage of its tool; nothing where it never came to run.
    pub usage: Option<UsageEvent>,
    /// What happened. The identifier of the run is in its body, or two runs could have the same record.
    pub record: Record,
    /// Its line in the log, which gets the identifier of the run.
    pub attempt: Attempt<'a>,
}

/// A run that was begun and never ended.
pub struct Interrupted {
    /// Its identifier.
    pub run: RunId,
    /// What it began with.
    pub payload: Vec<u8>,
    /// Its record, where that was kept: the line is missing then, and is to say the same.
    pub kept: Option<Record>,
    /// Its line, where that was appended: the record is missing then, and is to say the same.
    pub appended: Option<audit::Line>,
    /// To be given to [`Store::end_run`].
    pub begun: Begun,
}

impl Begun {
    /// The identifier of the run.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }
}

impl Store {
    /// Begins a run. `payload` gives what its record is made of where it is interrupted, at most [`PAYLOAD_LIMIT`] bytes.
    /// Once this returns the run is found after the end of the process, but perhaps not after a loss of power.
    ///
    /// # Errors
    /// `store-read-only`; `disk-failed`, also where the payload is too long; `disk-full`.
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::audit::{Action, Attempt};
    /// use toolcell_store::{RUN, Record, RunEnd, Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let begun = store.begin_run(|run| format!("what {run} is about").into_bytes())?;
    /// let (run, at) = (begun.run(), Timestamp::UNIX_EPOCH);
    /// let body = format!(r#"{{"run":"{run}","outcome":"returned"}}"#).into_bytes();
    /// let record = Record { kind: RUN.to_owned(), tool: None, at, body };
    /// let hash = store.end_run(begun, RunEnd { usage: None, record, attempt: Attempt::new(Action::RunDynamicTool, at) })?;
    /// assert_eq!(store.record_of(run)?, store.record(hash)?);
    /// assert!(store.interrupted_runs()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin_run(&self, payload: impl FnOnce(&RunId) -> Vec<u8>) -> Result<Begun, Fault> {
        let journal = self.own_journal()?;
        let (slot, run) = journal.begin(self.audit.known(), payload)?;
        Ok(Begun { run, slot, line: Line::Missing, origin: Origin::Own })
    }

    /// Ends a run: keeps its record and counts its usage, appends its line, and gives the hash of the record. All of it
    /// outlasts the process at once. Record and usage are found by whoever asks this store; other processes find them
    /// after the next [`Store::settle`].
    ///
    /// # Errors
    /// Those of the disk. What was not written then is missing until the run is closed with those that were interrupted.
    pub fn end_run(&self, begun: Begun, end: RunEnd<'_>) -> Result<Hash, RecordError> {
        let RunEnd { usage, record, mut attempt } = end;
        let hash = blake3::hash(&record.body);
        let note = crate::settle::note(&record, usage.as_ref()).filter(|_| begun.origin == Origin::Own);
        let kept = Kept { record: Some(RunRecord { hash, run: Some(begun.run), record }), usage };
        if let Some(note) = note
            && begun.slot.end(begun.run, &note).is_ok()
        {
            attempt.details.run = Some(begun.run.to_string());
            let late = match self.audit.record(&attempt) {
                Ok(_) => None,
                // How it ended is in its journal, so its line is not lost, and its record is not either.
                Err(fault) => Some(self.late(begun.run, &attempt, &fault)?),
            };
            self.say_trouble(late.is_some());
            self.settle_later(begun.slot, kept, late);
            return Ok(hash);
        }
        let kept = self.keep_together(kept);
        // Where the index fails the log still tells of the run.
        let appended = match begun.line {
            Line::Appended => Ok(()),
            Line::Missing => {
                attempt.details.run = Some(begun.run.to_string());
                self.audit.record(&attempt).map(|_| ())
            }
        };
        kept?;
        appended?;
        if let Err(error) = begun.slot.clear() {
            // Whoever finds it sees that nothing is missing.
            tracing::warn!(%error, "a run that has ended could not be taken out of its journal");
        }
        Ok(hash)
    }

    /// The line of a run, to be appended later.
    fn late(&self, run: RunId, attempt: &Attempt<'_>, fault: &Fault) -> Result<Late, Fault> {
        let after = self.audit.last_known().map_or(0, |head| head.seq());
        let late = Late { run: run.to_string(), after, line: self.audit.render(attempt, None)? };
        notice::tell(&Notice::Delayed { action: attempt.action.name(), why: &fault.to_string() });
        Ok(late)
    }

    /// Whether the line of the last run is not in the log yet, because that could not be written.
    #[must_use]
    pub fn is_log_behind(&self) -> bool {
        self.is_behind.load(atomic::Ordering::Relaxed)
    }

    fn say_trouble(&self, is_behind: bool) {
        if self.is_behind.load(atomic::Ordering::Relaxed) != is_behind {
            self.is_behind.store(is_behind, atomic::Ordering::Relaxed);
        }
    }

    /// The runs that were begun by processes that are gone, and those of this one that nobody is going to end. Each is
    /// to be given to [`Store::end_run`]; what of it was written already is not written again. Until then they are kept
    /// from others who look. Where the store cannot be written there are none.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn interrupted_runs(&self) -> Result<Vec<Interrupted>, Fault> {
        if self.access() == Access::ReadOnly {
            return Ok(Vec::new());
        }
        let own = self.journal.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut open = own.map_or_else(|| Ok(Vec::new()), |journal| journal.take_left())?;
        for journal in Journal::orphans(&self.directory)? {
            open.extend(journal.take_left()?);
        }
        let Some(after) = open.iter().map(|open| open.after).min() else { return Ok(Vec::new()) };
        let runs = open.iter().map(|open| open.run.to_string()).collect();
        let mut appended = self.audit.runs_after(after, runs)?;
        let mut interrupted = Vec::new();
        for Open { slot, run, payload, end, .. } in open {
            if let Some(ended) = end.and_then(|end| crate::settle::noted(run, &end)) {
                let fallen = self.index.write_soon(Durability::Unsynced, |connection| keep(connection, [&ended]))?;
                self.say_who_fell_back(&fallen);
            }
            let kept = match self.record_of(run) {
                // It is there, and `fsck` is not asked here.
                Err(Fault::Object { .. }) => None,
                other => other?,
            };
            let appended = appended.remove(&run.to_string());
            if kept.is_some() && appended.is_some() {
                slot.clear().map_err(Fault::disk(crate::journal::FOLDER))?;
            } else {
                let line = if appended.is_some() { Line::Appended } else { Line::Missing };
                let begun = Begun { run, slot, line, origin: Origin::Found };
                interrupted.push(Interrupted { run, payload, kept, appended, begun });
            }
        }
        Ok(interrupted)
    }

    /// The journal of this process.
    fn own_journal(&self) -> Result<Arc<Journal>, Fault> {
        let mut own = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = &*own {
            return Ok(Arc::clone(journal));
        }
        self.directory.must_be_writable()?;
        self.audit.look()?;
        let journal = Arc::new(Journal::make(&self.directory)?);
        *own = Some(Arc::clone(&journal));
        Ok(journal)
    }
}

#[cfg(test)]
mod tests;
