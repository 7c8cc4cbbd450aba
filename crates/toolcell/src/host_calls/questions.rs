//! Questions that are put to the user during a run: what MCP servers ask in the calls of their tools, and what rules about flows
//! have a person decide.
//!
//! Invariant: a question is put on the thread of the run, one at a time, and only while its call is in flight. It goes to the
//! approver of the run, which the tools that the run calls share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use toolcell_i18n::message;

use crate::admission::hook::{Approver, FlowAnswer, FlowQuestion, QuestionAnswer, QuestionOutcome, ServerQuestion};

/// The maximum number of operations that a person decides about during a run and the runs of the tools that it calls: who is asked
/// without end says yes in the end.
const MAX_FLOW_QUESTIONS: u32 = 16;

/// Who is asked during a run, and during the runs of the tools that it calls.
pub(crate) struct QuestionRoute {
    /// The number of the run, for this process.
    pub(super) run: u64,
    approver: Option<Arc<dyn Approver>>,
    /// The time that all answers took so far, in nanoseconds.
    waited: AtomicU64,
    /// The number of operations that the user was asked about.
    asked_flows: AtomicU32,
}

impl QuestionRoute {
    /// Creates the route of a run that no tool called. Without an approver, each question is declined.
    pub(super) fn new(approver: Option<Arc<dyn Approver>>) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            run: NEXT.fetch_add(1, Ordering::Relaxed),
            approver,
            waited: AtomicU64::new(0),
            asked_flows: AtomicU32::new(0),
        })
    }

    /// Whether there is an approver.
    pub(super) fn has_approver(&self) -> bool {
        self.approver.is_some()
    }

    /// Has the user decide about an operation.
    pub(super) fn decide(&self, question: &FlowQuestion) -> FlowAnswer {
        let Some(approver) = &self.approver else {
            return FlowAnswer::NotAsked { reason: message!("the caller of this run cannot pass questions on") };
        };
        if let Err(reason) = question.check_shown() {
            return FlowAnswer::NotAsked { reason };
        }
        let limit = MAX_FLOW_QUESTIONS;
        if self.asked_flows.load(Ordering::Relaxed) >= limit {
            return FlowAnswer::NotAsked {
                reason: message!("the run has asked {limit} times, which is the limit", limit),
            };
        }
        let asked = Instant::now();
        let answer = approver.decide_flow(question);
        self.add_waited(asked);
        // What was not shown bothers no one.
        if !matches!(answer, FlowAnswer::NotAsked { .. }) {
            self.asked_flows.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    /// Adds the time since a person was asked.
    pub(super) fn add_waited(&self, asked: Instant) {
        let waited = u64::try_from(asked.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(waited, Ordering::Relaxed);
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
        route.add_waited(asked);
        let outcome = answer.outcome();
        // The call may have ended meanwhile.
        let _ = self.reply.send(answer);
        Some(outcome)
    }
}
