//! Runs that have ended and are not in the index yet. A transaction costs ten times what it costs to note an end in the
//! journal, and a hundred runs in one little more than one.
//!
//! Invariant: what is not in the index yet is in the journal, from where it gets there whatever becomes of the process.
//! Whoever asks this store about runs is told of all that have ended before.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use toolcell_tool::ToolId;

use crate::error::Fault;
use crate::index::Durability;
use crate::journal::{END_LIMIT, Slot};
use crate::notice::{self, Notice};
use crate::records::{RUN, Record, RunRecord};
use crate::run_id::RunId;
use crate::store::Store;
use crate::together::{self, Kept};
use crate::usage::UsageEvent;

/// So many runs wait at most until one of those who end them puts them into the index.
const WAITING: usize = 1024;

/// Runs that have ended and are not in the index yet.
#[derive(Default)]
pub(crate) struct Unsettled {
    waiting: Mutex<Vec<Ended>>,
    /// Held while some of them get there, so that nobody who waits for them reads past them.
    settling: Mutex<()>,
    count: AtomicUsize,
}

/// How long others are waited for.
#[derive(Clone, Copy)]
enum Patience {
    Short,
    Long,
}

/// A run that has ended: what is to be kept of it, and where it is until then.
struct Ended {
    slot: Slot,
    kept: Kept,
    /// Its line, where that could not be appended yet.
    late: Option<Late>,
}

/// A line of a run that could not be appended.
pub(crate) struct Late {
    pub(crate) run: String,
    /// The number of a line that is before it.
    pub(crate) after: u64,
    /// Rendered for the start of the chain.
    pub(crate) line: String,
}

/// What is noted in the journal of a run that has ended.
#[derive(Serialize, Deserialize)]
struct Note<'a> {
    tool: Option<Cow<'a, str>>,
    at: i64,
    body: Cow<'a, str>,
    usage: Option<Use<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Use<'a> {
    tool: Cow<'a, str>,
    at: i64,
    failure: Option<Cow<'a, str>>,
    fuel: u64,
    nanos: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saved: Option<u64>,
}

/// What is noted of the end of a run; nothing where it does not fit, and has to get into the index at once.
pub(crate) fn note(record: &Record, usage: Option<&UsageEvent>) -> Option<Vec<u8>> {
    let body = std::str::from_utf8(&record.body).ok().filter(|_| record.kind == RUN)?;
    let usage = usage.map(|usage| Use {
        tool: usage.tool.to_string().into(),
        at: usage.at.as_millisecond(),
        failure: usage.failure.as_deref().map(Cow::Borrowed),
        fuel: usage.fuel,
        nanos: u64::try_from(usage.duration.as_nanos()).unwrap_or(u64::MAX),
        saved: usage.tokens_saved,
    });
    let tool = record.tool.map(|tool| tool.to_string().into());
    let note = Note { tool, at: record.at.as_millisecond(), body: body.into(), usage };
    serde_json::to_vec(&note).ok().filter(|note| note.len() <= END_LIMIT)
}

/// What was noted. Its checksum fitted, so that what cannot be read was written by another version.
pub(crate) fn noted(run: RunId, note: &[u8]) -> Option<Kept> {
    let note: Note<'_> = serde_json::from_slice(note).ok()?;
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
        }),
    };
    let body = note.body.into_owned().into_bytes();
    let hash = blake3::hash(&body);
    let record = Record { kind: RUN.to_owned(), tool: note.tool.as_deref().and_then(tool), at: at(note.at)?, body };
    Some(Kept { record: Some(RunRecord { hash, run: Some(run), record }), usage })
}

impl Unsettled {
    /// Forgets all of it, as a process does that is killed.
    #[cfg(test)]
    pub(crate) fn forget(&self) {
        self.waiting().clear();
        self.count.store(0, Ordering::SeqCst);
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Ended>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// How many runs have ended and are not in the index yet, where other processes find them. They get there with
    /// [`Store::settle`], with the next question about runs, and at the latest when the store is closed.
    #[must_use]
    pub fn unsettled(&self) -> usize {
        self.unsettled.count.load(Ordering::SeqCst)
    }

    /// Puts what has ended into the index, in one transaction.
    ///
    /// # Errors
    /// `store-busy`, and those of the disk. What is not there then stays in the journal, and is tried again.
    pub fn settle(&self) -> Result<(), Fault> {
        self.settle_within(Patience::Long)
    }

    /// The same, which gives up soon where another process keeps this one from it.
    ///
    /// # Errors
    /// As [`Store::settle`]
    pub fn settle_soon(&self) -> Result<(), Fault> {
        self.settle_within(Patience::Short)
    }

    fn settle_within(&self, patience: Patience) -> Result<(), Fault> {
        self.close_outbox_in_time()?;
        if self.unsettled() == 0 {
            return Ok(());
        }
        let _settling = self.unsettled.settling.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended = std::mem::take(&mut *self.unsettled.waiting());
        let appended = self.append_late(&mut ended);
        let work = |connection: &Connection| {
            self.note_head(connection).map_err(Fault::from)?;
            together::keep(connection, ended.iter().map(|ended| &ended.kept))
        };
        let written = match patience {
            Patience::Long => self.index.write(Durability::Unsynced, work),
            Patience::Short => self.index.write_soon(Durability::Unsynced, work),
        };
        let fallen = match written {
            Ok(fallen) => fallen,
            Err(fault) => {
                let mut waiting = self.unsettled.waiting();
                waiting.splice(0..0, ended);
                return Err(fault);
            }
        };
        self.say_who_fell_back(&fallen);
        // What is in the index, and not in the log, stays in the journal. That it is in the index already is seen by its hash.
        let (late, done): (Vec<Ended>, Vec<Ended>) = ended.into_iter().partition(|ended| ended.late.is_some());
        self.unsettled.count.fetch_sub(done.len(), Ordering::SeqCst);
        self.unsettled.waiting().splice(0..0, late);
        for ended in done {
            if let Err(error) = ended.slot.clear() {
                // Whoever finds it sees that nothing is missing.
                tracing::warn!(%error, "a run that has ended could not be taken out of its journal");
            }
        }
        appended
    }

    /// Appends lines that could not be appended before, as far as that is possible.
    fn append_late(&self, ended: &mut [Ended]) -> Result<(), Fault> {
        let all = || ended.iter().filter_map(|ended| ended.late.as_ref());
        let Some(after) = all().map(|late| late.after).min() else { return Ok(()) };
        // What failed may be there all the same.
        let appended = self.audit.runs_after(after, all().map(|late| late.run.clone()).collect())?;
        for late in ended.iter_mut().map(|ended| &mut ended.late) {
            if let Some(missing) = late.as_ref().filter(|late| !appended.contains_key(&late.run)) {
                self.audit.append_rendered(&missing.line)?;
            }
            *late = None;
        }
        Ok(())
    }

    /// Puts what has ended into the index before something is read there. Where that fails, what is there is read.
    pub(crate) fn settle_first(&self) {
        if let Err(fault) = self.settle_soon() {
            tracing::warn!(%fault, "runs that have ended are not in the index yet");
        }
    }

    /// The same for the last time, which is told where it fails.
    pub(crate) fn settle_at_the_end(&self) {
        if let Err(fault) = self.settle_soon() {
            notice::tell(&Notice::Unsettled { why: &fault.to_string() });
        }
    }

    /// Leaves a run that has ended to be put into the index later.
    pub(crate) fn settle_later(&self, slot: Slot, kept: Kept, late: Option<Late>) {
        // Counted before it waits: whoever settles it meanwhile takes it off the count.
        let before = self.unsettled.count.fetch_add(1, Ordering::SeqCst);
        self.unsettled.waiting().push(Ended { slot, kept, late });
        if before + 1 >= WAITING {
            self.settle_first();
        }
    }
}
