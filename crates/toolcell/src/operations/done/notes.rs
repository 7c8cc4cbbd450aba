//! Notes what is done while it is done.
//!
//! Invariant: an operation is open from when it is asked for until it ends or is given up, and counted where it is not kept by
//! itself, once. What only looks at the world has changed nothing of it, however far it got.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcell_host::{Effects, Operation, OperationFailure};

use super::{BodyEnd, Done, Effect, Received, about};

/// How many operations of a run are kept, each by itself.
const KEPT: usize = 256;
/// How many of these may be timers, so that a tool that waits often leaves room for what it does.
const TIMERS: usize = 64;
/// How much of what an operation calls itself is kept, in characters.
const KIND: usize = 32;
/// How many kinds are told apart where operations are counted: more than there are.
const KINDS: usize = 32;

/// What was done so far in one run.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Notes>);

#[derive(Default)]
struct Notes {
    done: Done,
    /// How many of those that are kept are timers.
    timers: usize,
    /// What has not ended.
    open: BTreeMap<u32, Open>,
    /// How far what has ended changed the world.
    changed: Option<Effects>,
}

/// An operation that has not ended.
struct Open {
    place: Place,
    class: Class,
    effects: Effects,
}

/// Where an operation is noted.
enum Place {
    /// By itself, as the one with this index.
    Kept(usize),
    /// With the others of this kind.
    Counted(String),
}

/// What an operation is to the world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It waits.
    Timer,
    /// It looks.
    Look,
    /// It changes something. Of a request nobody knows what it does where it arrives.
    Change,
}

/// What came of the body of an answer at once.
pub(in crate::operations) struct Piece {
    /// The number of its request.
    pub(in crate::operations) fetch: u32,
    /// How many bytes.
    pub(in crate::operations) bytes: u64,
    /// Whether that was the last of it.
    pub(in crate::operations) last: bool,
}

impl Class {
    fn of(kind: &str) -> Self {
        match kind {
            "timer" => Self::Timer,
            "kv.get" | "kv.list" | "files.read" | "files.list" | "files.stat" => Self::Look,
            _ => Self::Change,
        }
    }

    /// How far it changed the world that got so far.
    fn changed(self, effects: Effects) -> Effects {
        if self == Self::Change { effects } else { Effects::None }
    }
}

impl Ledger {
    /// Notes that something was asked for.
    pub(in crate::operations) fn asked(&self, operation: &Operation) {
        let mut notes = self.lock();
        let (id, class) = (operation.id, Class::of(&operation.kind));
        let kind: String = operation.kind.chars().take(KIND).collect();
        let is_timer = class == Class::Timer;
        let place = if notes.done.effects.len() < KEPT && (!is_timer || notes.timers < TIMERS) {
            notes.timers += usize::from(is_timer);
            let (effects, code, received) = (Effects::None, None, None);
            notes.done.effects.push(Effect { id, kind, about: about(operation), effects, code, received });
            Place::Kept(notes.done.effects.len() - 1)
        } else {
            notes.done.more += 1;
            Place::Counted(kind)
        };
        notes.open.insert(id, Open { place, class, effects: Effects::None });
    }

    /// Notes that it was begun: it may have happened from here on.
    pub(in crate::operations) fn begun(&self, id: u32) {
        if let Some(open) = self.lock().open.get_mut(&id) {
            open.effects = Effects::Started;
        }
    }

    /// Notes that it ended well.
    pub(in crate::operations) fn succeeded(&self, id: u32) {
        self.lock().end(id, Effects::Committed, None, Effects::Committed);
    }

    /// Notes that it ended well, and that what it changed by that is less.
    pub(in crate::operations) fn came_to(&self, id: u32, effects: Effects, changed: Effects) {
        self.lock().end(id, effects, None, changed);
    }

    /// Notes that it failed.
    pub(in crate::operations) fn failed(&self, id: u32, failure: &OperationFailure) {
        self.lock().end(id, failure.effects, Some(failure.code.to_string()), failure.effects);
    }

    /// Notes that nobody waits for it any more. How far it gets from here on is not known.
    pub(in crate::operations) fn given_up(&self, id: u32) {
        self.lock().give_up(id);
    }

    /// Notes what came of the body of an answer.
    pub(in crate::operations) fn received(&self, piece: &Piece) {
        let mut notes = self.lock();
        let Some(effect) = notes.kept(piece.fetch) else { return };
        let nothing = Received { pieces: 0, bytes: 0, end: BodyEnd::Cancelled, code: None };
        let received = effect.received.get_or_insert(nothing);
        received.pieces += u64::from(piece.bytes > 0);
        received.bytes = received.bytes.saturating_add(piece.bytes);
        if piece.last {
            received.end = BodyEnd::Whole;
        }
    }

    /// Notes that the body of an answer broke off.
    pub(in crate::operations) fn broke_off(&self, fetch: u32, failure: &OperationFailure) {
        if let Some(received) = self.lock().kept(fetch).and_then(|effect| effect.received.as_mut()) {
            (received.end, received.code) = (BodyEnd::Failed, Some(failure.code.to_string()));
        }
    }

    /// How far the operation changed the world that changed it farthest.
    pub(crate) fn farthest(&self) -> Effects {
        let notes = self.lock();
        let open = notes.open.values().map(|open| open.class.changed(open.effects));
        open.chain(notes.changed).max().unwrap_or(Effects::None)
    }

    /// What was done; nothing where the tool asked for nothing.
    pub(crate) fn taken(&self) -> Option<Done> {
        let mut notes = std::mem::take(&mut *self.lock());
        while let Some(id) = notes.open.keys().next().copied() {
            notes.give_up(id);
        }
        Some(notes.done).filter(|done| !done.effects.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes {
    /// The entry of an operation that is kept by itself.
    fn kept(&mut self, id: u32) -> Option<&mut Effect> {
        // Numbers grow, so it is found by halves.
        let at = self.done.effects.binary_search_by_key(&id, |effect| effect.id).ok()?;
        self.done.effects.get_mut(at)
    }

    fn end(&mut self, id: u32, effects: Effects, code: Option<String>, changed: Effects) {
        let Some(open) = self.open.remove(&id) else { return };
        self.changed = self.changed.max(Some(open.class.changed(changed)));
        match open.place {
            Place::Kept(at) => {
                let effect = &mut self.done.effects[at];
                (effect.effects, effect.code) = (effects, code);
            }
            Place::Counted(kind) => *self.count_of(kind).entry(effects).or_default() += 1,
        }
    }

    fn give_up(&mut self, id: u32) {
        let Some(open) = self.open.get(&id) else { return };
        // A timer is the host's own: that it was not due is known.
        let effects = if open.class == Class::Timer { Effects::None } else { open.effects };
        self.end(id, effects, None, effects);
    }

    /// How many of a kind are counted, by how far they got.
    fn count_of(&mut self, kind: String) -> &mut BTreeMap<Effects, u64> {
        let rest = &mut self.done.rest;
        let kind = if rest.len() < KINDS || rest.contains_key(&kind) { kind } else { "other".to_owned() };
        rest.entry(kind).or_default()
    }
}

#[cfg(test)]
mod tests;
