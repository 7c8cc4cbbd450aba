//! Questions that MCP servers ask the user of a run during the calls of their tools.
//!
//! Invariant: a question is put on the thread of the run, one at a time, and only while its call is in flight. It goes to the
//! approver of the run, which the tools that the run calls share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use toolcell_i18n::message;

use crate::admission::hook::{Approver, QuestionAnswer, QuestionOutcome, ServerQuestion};

/// Who is asked during a run, and during the runs of the tools that it calls.
pub(crate) struct QuestionRoute {
    /// The number of the run, for this process.
    pub(super) run: u64,
    approver: Option<Arc<dyn Approver>>,
    /// The time that all answers took so far, in nanoseconds.
    waited: AtomicU64,
}

impl QuestionRoute {
    /// Creates the route of a run that no tool called. Without an approver, each question is declined.
    pub(super) fn new(approver: Option<Arc<dyn Approver>>) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self { run: NEXT.fetch_add(1, Ordering::Relaxed), approver, waited: AtomicU64::new(0) })
    }

    /// Returns the time that the answers took which the user gave so far.
    pub(super) fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }
}

/// A question that was not put yet.
pub(super) struct PendingQuestion {
    /// The host call that it belongs to.
    pub(super) id: u32,
    pub(super) question: ServerQuestion,
    /// Closed if the server withdrew it.
    pub(super) reply: oneshot::Sender<QuestionAnswer>,
}

impl PendingQuestion {
    /// Puts the question, delivers the answer, and returns what came of it; `None` if the question was withdrawn before.
    pub(super) fn put(self, route: &QuestionRoute) -> Option<QuestionOutcome> {
        if self.reply.is_closed() {
            return None;
        }
        let asked = Instant::now();
        let answer = match &route.approver {
            Some(approver) => approver.answer(&self.question),
            None => QuestionAnswer::NotAsked { reason: message!("the caller of this run cannot pass questions on") },
        };
        let waited = u64::try_from(asked.elapsed().as_nanos()).unwrap_or(u64::MAX);
        route.waited.fetch_add(waited, Ordering::Relaxed);
        let outcome = answer.outcome();
        // The call may have ended meanwhile.
        let _ = self.reply.send(answer);
        Some(outcome)
    }
}
