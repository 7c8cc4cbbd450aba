//! Records the effects of host calls as they happen.
//!
//! Invariant: a host call is open from its request until it completes or is abandoned. A call that
//! is not listed is counted once. A call that only reads has no effects on the world, however far
//! it got.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcell_host::{Effects, FileAction, HostRequest, OperationError, ParsedHostCall};

use super::{BodyEnd, Effect, EffectLog, ReceivedBody, describe_for_record};
use crate::admission::hook::QuestionOutcome;

/// The maximum number of listed host calls per run.
const MAX_LISTED_EFFECTS: usize = 256;
/// The maximum number of listed timers, which leaves room for other calls if a tool waits often.
const MAX_LISTED_TIMERS: usize = 64;
/// The maximum length of a recorded kind, in characters.
const MAX_KIND_CHARS: usize = 32;
/// The maximum number of kinds with a count of their own, which is more than there are.
const MAX_COUNTED_KINDS: usize = 32;

/// A recorder of the effects of one run.
#[derive(Default)]
pub(crate) struct EffectRecorder(Mutex<EffectState>);

#[derive(Default)]
struct EffectState {
    log: EffectLog,
    /// The number of listed timers.
    listed_timers: usize,
    /// The host calls that have not completed.
    open: BTreeMap<u32, OpenCall>,
    /// The greatest effects of the completed host calls.
    max_effects: Option<Effects>,
}

/// A host call that has not completed.
struct OpenCall {
    location: EntryLocation,
    class: EffectClass,
    effects: Effects,
}

/// Where a host call is recorded.
enum EntryLocation {
    /// As the entry with this index.
    Listed(usize),
    /// In the count of this kind.
    Counted(String),
}

/// How a host call relates to the world outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EffectClass {
    /// It waits.
    Timer,
    /// It only reads.
    Read,
    /// It may change something. This includes every request, because the host cannot know what the
    /// server does with it.
    Write,
}

/// A chunk of a response body.
pub(in crate::host_calls) struct BodyChunk {
    /// The number of the request.
    pub(in crate::host_calls) fetch: u32,
    /// The size in bytes.
    pub(in crate::host_calls) bytes: u64,
    /// Whether this is the last chunk.
    pub(in crate::host_calls) is_last: bool,
}

impl EffectClass {
    fn from_request(request: &HostRequest) -> Self {
        match request {
            HostRequest::Timer(_) => Self::Timer,
            HostRequest::KvGet(_)
            | HostRequest::KvList(_)
            | HostRequest::File(FileAction::Read | FileAction::List | FileAction::Stat, _)
            | HostRequest::ServerSearch(_)
            | HostRequest::ServerDescribe(_) => Self::Read,
            HostRequest::Fetch(_)
            | HostRequest::FetchRead(_)
            | HostRequest::KvCommit(_)
            | HostRequest::File(FileAction::Write | FileAction::Remove | FileAction::MakeFolder, _)
            | HostRequest::ToolCall(_)
            | HostRequest::ServerCall(_)
            | HostRequest::Unknown(_) => Self::Write,
        }
    }

    /// Returns the effects on the world of a call with these effects.
    fn world_effects(self, effects: Effects) -> Effects {
        if self == Self::Write { effects } else { Effects::None }
    }
}

impl EffectRecorder {
    /// Records that a host call was requested.
    pub(in crate::host_calls) fn record_requested(&self, operation: &ParsedHostCall) {
        let mut notes = self.lock();
        let (id, class) = (operation.id(), EffectClass::from_request(operation.request()));
        let kind: String = operation.kind().chars().take(MAX_KIND_CHARS).collect();
        let is_timer = class == EffectClass::Timer;
        let place =
            if notes.log.effects.len() < MAX_LISTED_EFFECTS && (!is_timer || notes.listed_timers < MAX_LISTED_TIMERS) {
                notes.listed_timers += usize::from(is_timer);
                let (effects, code, received) = (Effects::None, None, None);
                let about = describe_for_record(operation.as_sent());
                let asked = Vec::new();
                notes.log.effects.push(Effect { id, kind, about, effects, from: None, code, asked, received });
                EntryLocation::Listed(notes.log.effects.len() - 1)
            } else {
                notes.log.more += 1;
                EntryLocation::Counted(kind)
            };
        notes.open.insert(id, OpenCall { location: place, class, effects: Effects::None });
    }

    /// Records that a host call began after the run had been handed data from this many sources.
    pub(in crate::host_calls) fn record_sources(&self, id: u32, sources: usize) {
        if let Some(effect) = self.lock().listed_effect(id) {
            effect.from = u32::try_from(sources).ok();
        }
    }

    /// Records where all data came from that the run was handed.
    pub(crate) fn record_all_sources(&self, sources: Vec<String>) {
        self.lock().log.sources = sources;
    }

    /// Records what came of the question whether the tool may run.
    pub(in crate::host_calls) fn record_run_question(&self, outcome: QuestionOutcome) {
        self.lock().log.asked = Some(outcome);
    }

    /// Records what came of a question about a call: of a rule about flows, or of a server. The bridge limits how many there are
    /// of a server.
    pub(in crate::host_calls) fn record_question(&self, id: u32, outcome: QuestionOutcome) {
        if let Some(effect) = self.lock().listed_effect(id) {
            effect.asked.push(outcome);
        }
    }

    /// Records that a host call was started: from here on it may have happened.
    pub(in crate::host_calls) fn record_started(&self, id: u32) {
        if let Some(open) = self.lock().open.get_mut(&id) {
            open.effects = Effects::Started;
        }
    }

    /// Records that a host call succeeded.
    pub(in crate::host_calls) fn record_succeeded(&self, id: u32) {
        self.lock().finish(id, Effects::Committed, None, Effects::Committed);
    }

    /// Records that a host call succeeded with these effects, where its effects on the world may be
    /// smaller.
    pub(in crate::host_calls) fn record_finished(&self, id: u32, effects: Effects, changed: Effects) {
        self.lock().finish(id, effects, None, changed);
    }

    /// Records that a host call failed.
    pub(in crate::host_calls) fn record_failed(&self, id: u32, failure: &OperationError) {
        self.lock().finish(id, failure.effects, Some(failure.code.to_string()), failure.effects);
    }

    /// Records that a host call was abandoned. Its further effects are unknown.
    pub(in crate::host_calls) fn record_abandoned(&self, id: u32) {
        self.lock().abandon(id);
    }

    /// Records a chunk of a response body.
    pub(in crate::host_calls) fn record_body_chunk(&self, piece: &BodyChunk) {
        let mut notes = self.lock();
        let Some(effect) = notes.listed_effect(piece.fetch) else { return };
        let nothing = ReceivedBody { pieces: 0, bytes: 0, end: BodyEnd::Cancelled, code: None };
        let received = effect.received.get_or_insert(nothing);
        received.pieces += u64::from(piece.bytes > 0);
        received.bytes = received.bytes.saturating_add(piece.bytes);
        if piece.is_last {
            received.end = BodyEnd::Whole;
        }
    }

    /// Records that reading a response body failed.
    pub(in crate::host_calls) fn record_body_failure(&self, fetch: u32, failure: &OperationError) {
        if let Some(received) = self.lock().listed_effect(fetch).and_then(|effect| effect.received.as_mut()) {
            (received.end, received.code) = (BodyEnd::Failed, Some(failure.code.to_string()));
        }
    }

    /// Returns the greatest effects on the world of all host calls so far.
    pub(crate) fn max_effects(&self) -> Effects {
        let notes = self.lock();
        let open = notes.open.values().map(|open| open.class.world_effects(open.effects));
        open.chain(notes.max_effects).max().unwrap_or(Effects::None)
    }

    /// Takes the log. Returns `None` if the tool made no host calls.
    pub(crate) fn take_log(&self) -> Option<EffectLog> {
        let mut notes = std::mem::take(&mut *self.lock());
        while let Some(id) = notes.open.keys().next().copied() {
            notes.abandon(id);
        }
        Some(notes.log).filter(|done| !done.effects.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, EffectState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EffectState {
    /// Returns the entry of a listed host call.
    fn listed_effect(&mut self, id: u32) -> Option<&mut Effect> {
        // The numbers increase, so a binary search finds the entry.
        let at = self.log.effects.binary_search_by_key(&id, |effect| effect.id).ok()?;
        self.log.effects.get_mut(at)
    }

    fn finish(&mut self, id: u32, effects: Effects, code: Option<String>, changed: Effects) {
        let Some(open) = self.open.remove(&id) else { return };
        self.max_effects = self.max_effects.max(Some(open.class.world_effects(changed)));
        match open.location {
            EntryLocation::Listed(at) => {
                let effect = &mut self.log.effects[at];
                (effect.effects, effect.code) = (effects, code);
            }
            EntryLocation::Counted(kind) => *self.counters_for(kind).entry(effects).or_default() += 1,
        }
    }

    fn abandon(&mut self, id: u32) {
        let Some(open) = self.open.get(&id) else { return };
        // The timer is the host's own, so it is known that it did not fire.
        let effects = if open.class == EffectClass::Timer { Effects::None } else { open.effects };
        self.finish(id, effects, None, effects);
    }

    /// Returns the counters of a kind, by effects.
    fn counters_for(&mut self, kind: String) -> &mut BTreeMap<Effects, u64> {
        let rest = &mut self.log.rest;
        let kind = if rest.len() < MAX_COUNTED_KINDS || rest.contains_key(&kind) { kind } else { "other".to_owned() };
        rest.entry(kind).or_default()
    }
}

#[cfg(test)]
mod tests;
