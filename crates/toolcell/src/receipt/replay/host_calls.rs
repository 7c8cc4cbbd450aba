//! Host calls that get their recorded answers.
//!
//! Invariant: no host call is performed. From the first call that differs from the receipt, the
//! tool gets no answers, and that difference is reported.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcell_host::{Grant, HostCall, HostCallDriver, HostCalls, Remaining, WaitResult};
use toolcell_i18n::{Message, message};

use super::super::format::{TracedCall, TracedWait};
use crate::admission::EffectFreeHostCalls;

/// The maximum length of a payload in a message, in characters.
const MAX_SHOWN_CHARS: usize = 160;

pub(super) struct ReplayHostCalls<'a> {
    visible: &'a [Grant],
    waits: &'a [TracedWait],
    progress: Mutex<ReplayProgress>,
}

#[derive(Default)]
struct ReplayProgress {
    /// The number of waits that were equal.
    matched: usize,
    difference: Option<Message>,
}

impl<'a> ReplayHostCalls<'a> {
    pub(super) fn new(visible: &'a [Grant], waits: &'a [TracedWait]) -> Self {
        Self { visible, waits, progress: Mutex::default() }
    }

    /// Returns the first difference.
    pub(super) fn difference(&self) -> Option<Message> {
        let seen = self.lock();
        seen.difference.clone().or_else(|| {
            let (waits, all) = (seen.matched, self.waits.len());
            (waits < all)
                .then(|| message!("the tool waits {waits} times, in the receipt it waits {all} times", waits, all))
        })
    }

    fn lock(&self) -> MutexGuard<'_, ReplayProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EffectFreeHostCalls for ReplayHostCalls<'_> {}

impl HostCalls for ReplayHostCalls<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.visible.to_vec()
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(ReplayDriver { replay: self, started: Vec::new(), cancelled: Vec::new() })
    }
}

struct ReplayDriver<'a> {
    replay: &'a ReplayHostCalls<'a>,
    /// The host calls since the last wait.
    started: Vec<HostCall>,
    cancelled: Vec<u32>,
}

impl ReplayDriver<'_> {
    /// Returns the recorded answer to the wait with this index, if its host calls are equal.
    fn recorded_wait(&self, index: usize) -> Result<WaitResult, Message> {
        let number = index + 1;
        let Some(wait) = self.replay.waits.get(index) else {
            return Err(message!(
                "wait {number}: the receipt has {waits} waits, but the tool waits again",
                number,
                waits = index
            ));
        };
        let most = self.started.len().max(wait.started.len());
        let differs = (0..most).find_map(|at| call_difference(self.started.get(at), wait.started.get(at)));
        if let Some(differs) = differs {
            return Err(message!("wait {number}: {difference}", number, difference = differs));
        }
        if self.cancelled != wait.cancelled {
            let (now, then) = (format!("{:?}", self.cancelled), format!("{:?}", wait.cancelled));
            return Err(message!(
                "wait {number}: the tool cancels the operations {now}, in the receipt {then}",
                number,
                now,
                then
            ));
        }
        let invalid = || message!("wait {number}: an answer in the receipt is not valid JSON", number);
        wait.to_wait_result().ok_or_else(invalid)
    }
}

impl HostCallDriver for ReplayDriver<'_> {
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]) {
        self.started.extend(started);
        self.cancelled.extend(cancelled);
    }

    fn wait(&mut self, _: &Remaining<'_>) -> WaitResult {
        let mut seen = self.replay.lock();
        if seen.difference.is_some() {
            return WaitResult::nothing_pending();
        }
        let answered = self.recorded_wait(seen.matched);
        self.started.clear();
        self.cancelled.clear();
        match answered {
            Ok(waited) => {
                seen.matched += 1;
                waited
            }
            Err(difference) => {
                seen.difference = Some(difference);
                WaitResult::nothing_pending()
            }
        }
    }
}

/// Describes how a host call differs from the recorded one.
fn call_difference(now: Option<&HostCall>, then: Option<&TracedCall>) -> Option<Message> {
    let (now, then) = match (now, then) {
        (Some(now), Some(then)) => (now, then),
        (Some(HostCall { id, kind, .. }), None) => {
            return Some(message!("the tool starts operation {id}, a `{kind}`, which is not in the receipt", id, kind));
        }
        (None, then) => {
            let TracedCall { id, kind, .. } = then?;
            return Some(message!(
                "the tool does not start operation {id}, a `{kind}`, which is in the receipt",
                id,
                kind
            ));
        }
    };
    let (same, id, kind) = (TracedCall::from(now), now.id, &now.kind);
    if same == *then {
        return None;
    }
    let details: String = now.payload.chars().take(MAX_SHOWN_CHARS).collect();
    Some(if (now.id, &now.kind) != (then.id, &then.kind) {
        message!(
            "operation {id} is a `{kind}` of `{details}`, the receipt has operation {recorded_id}, a `{recorded_kind}`",
            id,
            kind,
            details,
            recorded_id = then.id,
            recorded_kind = then.kind
        )
    } else if same.payload == then.payload {
        message!("operation {id}, a `{kind}`, sends other data than in the receipt", id, kind)
    } else {
        message!(
            "operation {id}, a `{kind}`, has the payload `{details}`, in the receipt it has another",
            id,
            kind,
            details
        )
    })
}
