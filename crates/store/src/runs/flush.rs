//! Write-behind of finished runs into the index. A transaction costs ten times as much as an end
//! note in the journal, and one for a hundred runs little more than one for a single run.
//!
//! Invariant: a run that is not in the index yet is in the journal, from where it gets there even
//! after a crash. Reads of this store that concern runs flush first, so they see all runs that
//! finished before.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use toolcell_i18n::Localize as _;
use toolcell_tool::ToolId;

use crate::durability::Durability;
use crate::error::Fault;
use crate::notice::{self, Notice};

use super::Runs;
use super::costs::report_demotions;
use super::daily_usage;
use super::journal::{END_LIMIT, Slot};
use super::pending::{PendingWrite, write_all};
use super::records::{HashedRecord, RUN_KIND, Record};
use super::run_id::RunId;
use super::usage_event::UsageEvent;

/// The number of queued runs at which finishing a run flushes the queue.
const MAX_QUEUED_RUNS: usize = 1024;

/// The queue of finished runs that are not in the index yet.
#[derive(Default)]
pub(crate) struct FlushQueue {
    runs: Mutex<Vec<UnflushedRun>>,
    /// Held during a flush, so that a reader that waits for it sees its runs.
    flushing: Mutex<()>,
    count: AtomicUsize,
}

/// How long a flush waits for the writer lock.
#[derive(Clone, Copy)]
enum FlushTimeout {
    Short,
    Long,
}

/// A finished run: its pending write, and its journal slot until then.
struct UnflushedRun {
    slot: Slot,
    write: PendingWrite,
    /// The audit line, if it could not be appended yet.
    deferred_line: Option<DeferredLine>,
}

/// The audit line of a run that could not be appended.
pub(crate) struct DeferredLine {
    pub(crate) run: String,
    /// The sequence number of an audit line before it.
    pub(crate) after_seq: u64,
    /// The line, rendered for the start of the chain.
    pub(crate) line: String,
}

/// The end note of a finished run, as stored in the journal.
#[derive(Serialize, Deserialize)]
struct EndNote<'a> {
    tool: Option<Cow<'a, str>>,
    at: i64,
    body: Cow<'a, str>,
    usage: Option<UsageNote<'a>>,
}

#[derive(Serialize, Deserialize)]
struct UsageNote<'a> {
    tool: Cow<'a, str>,
    at: i64,
    failure: Option<Cow<'a, str>>,
    fuel: u64,
    nanos: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saved: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saved_micros: Option<u64>,
}

/// Encodes the end note of a run. `None` if it does not fit; then the run has to be written to the
/// index at once.
pub(crate) fn encode_end_note(record: &Record, usage: Option<&UsageEvent>) -> Option<Vec<u8>> {
    let body = std::str::from_utf8(&record.body).ok().filter(|_| record.kind == RUN_KIND)?;
    let usage = usage.map(|usage| UsageNote {
        tool: usage.tool.to_string().into(),
        at: usage.at.as_millisecond(),
        failure: usage.failure.as_deref().map(Cow::Borrowed),
        fuel: usage.fuel,
        nanos: u64::try_from(usage.duration.as_nanos()).unwrap_or(u64::MAX),
        saved: usage.tokens_saved,
        saved_micros: usage.time_saved.map(daily_usage::micros),
    });
    let tool = record.tool.map(|tool| tool.to_string().into());
    let note = EndNote { tool, at: record.at.as_millisecond(), body: body.into(), usage };
    serde_json::to_vec(&note).ok().filter(|note| note.len() <= END_LIMIT)
}

/// Decodes an end note. Its checksum matched, so a note that does not parse was written by another
/// version.
pub(crate) fn decode_end_note(run: RunId, note: &[u8]) -> Option<PendingWrite> {
    let note: EndNote<'_> = serde_json::from_slice(note).ok()?;
    let tool = |text: &str| text.parse::<ToolId>().ok();
    let at = |milliseconds| Timestamp::from_millisecond(milliseconds).ok();
    let usage = match &note.usage {
        None => None,
        Some(usage) => Some(UsageEvent {
            tool: tool(&usage.tool)?,
            at: at(usage.at)?,
            failure: usage.failure.as_deref().map(str::to_owned),
            fuel: usage.fuel,
            duration: Duration::from_nanos(usage.nanos),
            tokens_saved: usage.saved,
            time_saved: usage.saved_micros.map(Duration::from_micros),
        }),
    };
    let body = note.body.into_owned().into_bytes();
    let hash = blake3::hash(&body);
    let record =
        Record { kind: RUN_KIND.to_owned(), tool: note.tool.as_deref().and_then(tool), at: at(note.at)?, body };
    Some(PendingWrite { record: Some(HashedRecord { hash, run: Some(run), record }), usage })
}

impl FlushQueue {
    /// Empties the queue, as a killed process does.
    #[cfg(test)]
    pub(crate) fn clear(&self) {
        self.queued().clear();
        self.count.store(0, Ordering::SeqCst);
    }

    fn queued(&self) -> MutexGuard<'_, Vec<UnflushedRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runs<'_> {
    /// The number of finished runs that are not in the index yet, where other processes would see
    /// them. They are flushed by [`Runs::flush`], by the next read that concerns runs, and at
    /// the latest when the store is closed.
    #[must_use]
    pub fn unflushed(&self) -> usize {
        self.state.flush_queue.count.load(Ordering::SeqCst)
    }

    /// Flushes finished runs into the index, in one transaction.
    ///
    /// # Errors
    /// `store-busy`, or another [`Fault`]. Runs that were not flushed stay in the journal and are
    /// tried again.
    pub fn flush(&self) -> Result<(), Fault> {
        self.flush_within(FlushTimeout::Long)
    }

    /// Same as [`Runs::flush`], with a short timeout for the writer lock.
    ///
    /// # Errors
    /// Same as [`Runs::flush`].
    pub fn flush_soon(&self) -> Result<(), Fault> {
        self.flush_within(FlushTimeout::Short)
    }

    fn flush_within(&self, patience: FlushTimeout) -> Result<(), Fault> {
        self.db.drain_outbox_if_due()?;
        if self.unflushed() == 0 {
            return Ok(());
        }
        let _settling = self.state.flush_queue.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended = std::mem::take(&mut *self.state.flush_queue.queued());
        let appended = self.append_deferred(&mut ended);
        let work = |connection: &Connection| {
            self.db.save_head(connection).map_err(Fault::from)?;
            write_all(connection, ended.iter().map(|ended| &ended.write))
        };
        let written = match patience {
            FlushTimeout::Long => self.db.index.write(Durability::Unsynced, work),
            FlushTimeout::Short => self.db.index.write_soon(Durability::Unsynced, work),
        };
        let fallen = match written {
            Ok(fallen) => fallen,
            Err(fault) => {
                let mut waiting = self.state.flush_queue.queued();
                waiting.splice(0..0, ended);
                return Err(fault);
            }
        };
        report_demotions(self.db, &fallen);
        // A run whose audit line is still missing stays in the journal. Its hash shows that its
        // record is already in the index.
        let (late, done): (Vec<UnflushedRun>, Vec<UnflushedRun>) =
            ended.into_iter().partition(|ended| ended.deferred_line.is_some());
        self.state.flush_queue.count.fetch_sub(done.len(), Ordering::SeqCst);
        self.state.flush_queue.queued().splice(0..0, late);
        for ended in done {
            if let Err(error) = ended.slot.clear() {
                // Recovery will see that nothing is missing.
                tracing::warn!(%error, "a finished run could not be removed from its journal");
            }
        }
        appended
    }

    /// Appends deferred audit lines, up to the first failure.
    fn append_deferred(&self, ended: &mut [UnflushedRun]) -> Result<(), Fault> {
        let all = || ended.iter().filter_map(|ended| ended.deferred_line.as_ref());
        let Some(after) = all().map(|late| late.after_seq).min() else { return Ok(()) };
        // An append that failed may have written its line nevertheless.
        let appended = self.db.audit.runs_after(after, all().map(|late| late.run.clone()).collect())?;
        for late in ended.iter_mut().map(|ended| &mut ended.deferred_line) {
            if let Some(missing) = late.as_ref().filter(|late| !appended.contains_key(&late.run)) {
                self.db.audit.append_rendered(&missing.line)?;
            }
            *late = None;
        }
        Ok(())
    }

    /// Flushes before a read of the index. If that fails, the read sees the index as it is.
    pub(crate) fn flush_before_read(&self) {
        if let Err(fault) = self.flush_soon() {
            tracing::warn!(%fault, "finished runs are not in the index yet");
        }
    }

    /// Flushes for the last time, and emits a notice if that fails.
    pub(crate) fn flush_on_close(&self) {
        if let Err(fault) = self.flush_soon() {
            notice::emit_notice(&Notice::Unflushed { why: &fault.localize() });
        }
    }

    /// Queues a finished run for the next flush.
    pub(crate) fn queue_for_flush(&self, slot: Slot, kept: PendingWrite, late: Option<DeferredLine>) {
        // Counted before it is queued: a concurrent flush decrements the count.
        let before = self.state.flush_queue.count.fetch_add(1, Ordering::SeqCst);
        self.state.flush_queue.queued().push(UnflushedRun { slot, write: kept, deferred_line: late });
        if before + 1 >= MAX_QUEUED_RUNS {
            self.flush_before_read();
        }
    }
}
