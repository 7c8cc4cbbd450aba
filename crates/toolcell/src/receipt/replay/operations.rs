//! Operations that are answered as they were.
//!
//! Invariant: nothing is done. Where a tool asks for something else than it asked for then, it gets no answer at all, and the
//! first such thing is kept.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcell_host::{Grant, Left, Operation, Operations, OperationsOfCall, Waited};

use super::super::form::{Begun, Wait};

/// How much of the details of an operation a difference shows, in characters.
const SHOWN: usize = 160;

pub(super) struct Replay<'a> {
    visible: &'a [Grant],
    waits: &'a [Wait],
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// How many waits were the same.
    same: usize,
    difference: Option<String>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(visible: &'a [Grant], waits: &'a [Wait]) -> Self {
        Self { visible, waits, seen: Mutex::default() }
    }

    /// The first thing that was not as it was.
    pub(super) fn difference(&self) -> Option<String> {
        let seen = self.seen();
        seen.difference.clone().or_else(|| {
            let (waits, all) = (seen.same, self.waits.len());
            (waits < all).then(|| format!("the tool waits {waits} times, in the receipt it waits {all} times"))
        })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Operations for Replay<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.visible.to_vec()
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(Replaying { replay: self, started: Vec::new(), cancelled: Vec::new() })
    }
}

struct Replaying<'a> {
    replay: &'a Replay<'a>,
    /// What is asked for since the last wait.
    started: Vec<Operation>,
    cancelled: Vec<u32>,
}

impl Replaying<'_> {
    /// What the wait of this index came to, if it is the same that is waited for.
    fn answered(&self, index: usize) -> Result<Waited, String> {
        let number = index + 1;
        let Some(wait) = self.replay.waits.get(index) else {
            return Err(format!("wait {number}: the receipt has {index} waits, and the tool waits once more"));
        };
        let most = self.started.len().max(wait.started.len());
        let differs = (0..most).find_map(|at| differs(self.started.get(at), wait.started.get(at)));
        if let Some(differs) = differs {
            return Err(format!("wait {number}: {differs}"));
        }
        if self.cancelled != wait.cancelled {
            let (now, then) = (&self.cancelled, &wait.cancelled);
            return Err(format!("wait {number}: the tool gives up the operations {now:?}, in the receipt {then:?}"));
        }
        wait.waited().ok_or_else(|| format!("wait {number}: an answer in the receipt is no JSON"))
    }
}

impl OperationsOfCall for Replaying<'_> {
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]) {
        self.started.extend(started);
        self.cancelled.extend(cancelled);
    }

    fn wait(&mut self, _: &Left<'_>) -> Waited {
        let mut seen = self.replay.seen();
        if seen.difference.is_some() {
            return Waited::in_vain();
        }
        let answered = self.answered(seen.same);
        self.started.clear();
        self.cancelled.clear();
        match answered {
            Ok(waited) => {
                seen.same += 1;
                waited
            }
            Err(difference) => {
                seen.difference = Some(difference);
                Waited::in_vain()
            }
        }
    }
}

/// How what a tool asks for differs from what it asked for then.
fn differs(now: Option<&Operation>, then: Option<&Begun>) -> Option<String> {
    let (now, then) = match (now, then) {
        (Some(now), Some(then)) => (now, then),
        (Some(Operation { id, kind, .. }), None) => {
            return Some(format!("the tool asks for operation {id}, a `{kind}`, which the receipt does not have"));
        }
        (None, then) => {
            let Begun { id, kind, .. } = then?;
            return Some(format!("the tool does not ask for operation {id}, a `{kind}`, which the receipt has"));
        }
    };
    let (same, id, kind) = (Begun::from(now), now.id, &now.kind);
    if same == *then {
        return None;
    }
    let details: String = now.payload.chars().take(SHOWN).collect();
    Some(if (now.id, &now.kind) != (then.id, &then.kind) {
        format!("operation {id} is a `{kind}` of `{details}`, the receipt has operation {}, a `{}`", then.id, then.kind)
    } else if same.payload == then.payload {
        format!("what operation {id}, a `{kind}`, sends along is not what it sent")
    } else {
        format!("operation {id}, a `{kind}`, is of `{details}`, and was of something else")
    })
}
