//! Drives the host calls of one run.
//!
//! Invariant: a call that is cancelled, or abandoned at the end of the run, is never reported. A
//! request is aborted; a disk operation is awaited, so that nothing happens after the run that
//! asked for it. A host function belongs to the host: it continues, and its result is dropped.

mod dispatch;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use toolcell_flows::Label;
use toolcell_host::{
    CallDeadline, Completion, Effects, HostCall, HostCallDriver, HostRequest, Json, ParsedHostCall, Remaining,
    WaitOutcome as Rested, WaitResult,
};

use super::completions::{CompletionEvent, CompletionQueue, QueuedEvent};
use super::flows::{AnswerSource, Flow, PendingFlow};
use super::nested::NestedResult;
use super::pending::{PendingCallback, PendingHostCalls, PlanPosition, remaining_timer, to_instant, to_timestamp};
use super::questions::PendingQuestion;
use super::tools::{self, NestedCall};
use super::{BodyReader, EffectRecorder, RunEnvironment, RunningServerCall};
use crate::admission::hook::FlowAnswer;

pub(super) struct HostCallRunner<'a> {
    environment: &'a RunEnvironment<'a>,
    completions: Arc<CompletionQueue>,
    /// The calls that have not completed.
    in_flight: BTreeMap<u32, PendingCall>,
    /// Running requests, and responses whose bodies are not read to their end.
    open_bodies: BTreeMap<u32, BodyReader>,
    /// Calls of servers that have not ended.
    server_calls: BTreeMap<u32, RunningServerCall>,
    /// Questions of servers that were not put yet.
    questions: VecDeque<Box<PendingQuestion>>,
    /// Operations whose questions have not been put to the person yet.
    asked_flows: VecDeque<PendingFlow>,
    /// Calls of servers that the plan did not hold, because their tools only read.
    unheld_reads: BTreeSet<u32>,
    /// Where the answers to operations that have begun come from, if flows are followed.
    answers: BTreeMap<u32, AnswerSource>,
    /// Calls whose results stay here.
    kept: BTreeSet<u32>,
    /// Calls of tools, and of functions on the thread of the run, that have not begun yet, in order.
    queued_calls: VecDeque<(u32, NestedCall)>,
    /// Effects that await a decision, each with its position in the plan, if it has one already.
    held: Vec<(Option<PlanPosition>, ParsedHostCall)>,
    /// Effects whose decision is deferred: they suspend the run.
    deferred: Vec<(PlanPosition, ParsedHostCall)>,
    /// Host functions that answer later.
    callbacks: Vec<PendingCallback>,
    /// Whether the current wait may suspend the run.
    can_suspend: CanSuspend,
    /// A channel that closes when the last blocking task has finished.
    blocking_tasks: (Sender<()>, Receiver<()>),
}

/// Whether a wait may suspend the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CanSuspend {
    Yes,
    No,
}

enum PendingCall {
    /// A timer that is due at this instant.
    Timer(Instant),
    /// A call that runs elsewhere, and reports to the completion queue.
    InBackground,
}

impl<'a> HostCallRunner<'a> {
    pub(super) fn new(given: &'a RunEnvironment<'a>) -> Self {
        let (flying, rests) = (BTreeMap::new(), BTreeMap::new());
        let (calls, held, later, tickets) = (VecDeque::new(), Vec::new(), Vec::new(), Vec::new());
        let (inbox, nap) = (Arc::default(), CanSuspend::No);
        let mut new = Self {
            environment: given,
            completions: inbox,
            in_flight: flying,
            open_bodies: rests,
            server_calls: BTreeMap::new(),
            questions: VecDeque::new(),
            asked_flows: VecDeque::new(),
            unheld_reads: BTreeSet::new(),
            answers: BTreeMap::new(),
            kept: BTreeSet::new(),
            queued_calls: calls,
            held,
            deferred: later,
            callbacks: tickets,
            can_suspend: nap,
            blocking_tasks: channel(),
        };
        new.restore_pending();
        new
    }

    /// Restores the calls that the run waited for when it was suspended.
    fn restore_pending(&mut self) {
        let PendingHostCalls { held, places, tickets, timers, answered } =
            std::mem::take(&mut *self.environment.pending());
        let held: Vec<ParsedHostCall> = held.into_iter().map(ParsedHostCall::from).collect();
        let mut known: Vec<(ParsedHostCall, Option<PendingCall>)> =
            held.iter().map(|operation| (operation.clone(), None)).collect();
        let begun = tickets.iter().chain(answered.iter().map(|(ticketed, _)| ticketed));
        known.extend(begun.map(|ticketed| (ticketed.to_host_call().into(), Some(PendingCall::InBackground))));
        let now = self.environment.resources.now();
        for (id, due) in timers {
            let due = to_instant(due, now);
            known.push((remaining_timer(id, due).into(), Some(PendingCall::Timer(due))));
        }
        known.sort_unstable_by_key(|(operation, _)| operation.id());
        for (operation, begun) in known {
            self.environment.effects.record_requested(&operation);
            if begun.is_some() {
                self.environment.effects.record_started(operation.id());
                self.follow(&operation);
            }
            self.in_flight.insert(operation.id(), begun.unwrap_or(PendingCall::InBackground));
        }
        let mut places = places.into_iter();
        self.held = held.into_iter().map(|operation| (places.next(), operation)).collect();
        self.callbacks = tickets;
        for (_, ended) in answered {
            self.completions.push_completion(ended);
        }
    }

    /// Saves the calls that the run waits for while it is suspended.
    fn save_pending(&mut self) {
        let now = self.environment.resources.now();
        let timers = self.in_flight.iter().filter_map(|(id, flight)| match flight {
            PendingCall::Timer(due) => Some((*id, to_timestamp(*due, now))),
            PendingCall::InBackground => None,
        });
        let timers = timers.collect();
        let (mut held, mut tickets) = (std::mem::take(&mut self.deferred), std::mem::take(&mut self.callbacks));
        held.sort_unstable_by_key(|(_, operation)| operation.id());
        tickets.sort_unstable_by_key(|ticketed| ticketed.id);
        let (places, held) = held.into_iter().map(|(place, operation)| (place, operation.into_sent())).unzip();
        *self.environment.pending() = PendingHostCalls { held, places, tickets, timers, answered: Vec::new() };
    }

    /// Takes the completions of calls that the run still waits for. Replies are made here until the deadline; a run that is over
    /// has none, and makes none.
    fn take_completions(&mut self, until: Option<&CallDeadline>) -> Vec<Completion> {
        let mut all = Vec::new();
        for event in self.completions.drain() {
            let came = match event {
                QueuedEvent::Completion(came) => came,
                QueuedEvent::Reply(id, complete)
                    if self.in_flight.contains_key(&id) && until.is_some_and(|until| !until.is_expired()) =>
                {
                    complete()
                }
                QueuedEvent::Reply(..) => continue,
                QueuedEvent::Question(question) => {
                    if self.in_flight.contains_key(&question.id) {
                        self.questions.push_back(question);
                    }
                    continue;
                }
            };
            let ended = match came {
                CompletionEvent::Deferred(ticketed) => {
                    all.extend(self.handle_deferred(ticketed));
                    continue;
                }
                CompletionEvent::Finished(ended)
                | CompletionEvent::BodyChunk(ended, _)
                | CompletionEvent::WithEffects { completion: ended, .. }
                    if self.in_flight.remove(&ended.id).is_none() =>
                {
                    continue;
                }
                CompletionEvent::Finished(ended) => self.record_completion(ended, EffectRecorder::record_succeeded),
                CompletionEvent::BodyChunk(ended, piece) => {
                    if let Err(failure) = &ended.result {
                        self.environment.effects.record_body_failure(piece.fetch, failure);
                    } else {
                        self.environment.effects.record_body_chunk(&piece);
                    }
                    self.record_completion(ended, EffectRecorder::record_succeeded)
                }
                CompletionEvent::WithEffects { completion: ended, effects, world_effects: changed } => {
                    self.record_completion(ended, |ledger, id| ledger.record_finished(id, effects, changed))
                }
            };
            all.push(ended);
        }
        all
    }

    /// Records the result of a call.
    fn record_completion(&mut self, ended: Completion, well: impl FnOnce(&EffectRecorder, u32)) -> Completion {
        let Completion { id, result } = &ended;
        // A function of the host may have replied twice.
        self.callbacks.retain(|ticketed| ticketed.id != *id);
        self.server_calls.remove(id);
        self.questions.retain(|question| question.id != *id);
        match result {
            Ok(_) => well(&self.environment.effects, *id),
            Err(failure) => {
                self.open_bodies.remove(id);
                self.environment.effects.record_failed(*id, failure);
            }
        }
        ended
    }

    /// Handles a host function that answers later: the run waits for it if it may be suspended, and
    /// gets an error otherwise.
    fn handle_deferred(&mut self, ticketed: PendingCallback) -> Option<Completion> {
        if !self.in_flight.contains_key(&ticketed.id) {
            return None;
        }
        if self.can_suspend == CanSuspend::Yes {
            self.callbacks.push(ticketed);
            return None;
        }
        self.in_flight.remove(&ticketed.id);
        let ended = Completion { id: ticketed.id, result: Err(tools::deferred_error(&ticketed.function)) };
        Some(self.record_completion(ended, EffectRecorder::record_succeeded))
    }

    /// Whether only timers, decisions and answers of host functions are pending, so that the tool
    /// cannot progress without them.
    fn is_blocked_on_outside(&self) -> bool {
        let timers = self.in_flight.values().filter(|flight| matches!(flight, PendingCall::Timer(_))).count();
        self.in_flight.len() - timers == self.held.len() + self.deferred.len() + self.callbacks.len()
    }

    /// Returns the timer that is due first.
    fn next_timer(&self) -> Option<(Instant, u32)> {
        let timers = self.in_flight.iter().filter_map(|(id, flight)| match flight {
            PendingCall::Timer(due) => Some((*due, *id)),
            PendingCall::InBackground => None,
        });
        timers.min()
    }
}

impl HostCallDriver for HostCallRunner<'_> {
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]) {
        for operation in started {
            let operation = ParsedHostCall::from(operation);
            // Reads of a response body are recorded with their request.
            if !matches!(operation.request(), HostRequest::FetchRead(_)) {
                self.environment.effects.record_requested(&operation);
            }
            self.start_or_hold(operation);
        }
        for id in cancelled {
            self.open_bodies.remove(id);
            self.server_calls.remove(id);
            self.questions.retain(|question| question.id != *id);
            self.asked_flows.retain(|flow| flow.operation.id() != *id);
            self.queued_calls.retain(|(call, _)| call != id);
            self.answers.remove(id);
            self.kept.remove(id);
            self.held.retain(|(_, operation)| operation.id() != *id);
            self.deferred.retain(|(_, operation)| operation.id() != *id);
            self.callbacks.retain(|ticketed| ticketed.id != *id);
            self.in_flight.remove(id);
            self.environment.effects.record_abandoned(*id);
        }
    }

    fn wait(&mut self, left: &Remaining<'_>) -> WaitResult {
        self.can_suspend = CanSuspend::No;
        match self.drive_to_hand_over(left) {
            Rested::Completed(waited) => waited,
            // Unreachable: suspension is off.
            Rested::Suspend { .. } => WaitResult::nothing_pending(),
        }
    }

    fn wait_or_suspend(&mut self, left: &Remaining<'_>) -> Rested {
        // What is kept would be lost.
        let is_keeping = !(self.kept.is_empty() && self.environment.kept.is_empty());
        self.can_suspend = if is_keeping { CanSuspend::No } else { CanSuspend::Yes };
        self.drive_to_hand_over(left)
    }
}

impl HostCallRunner<'_> {
    /// Drives the calls until there are results. This is the one place where results are handed over, so their sources
    /// join the label of the run here, and so do those of all calls that have begun: what has not come yet tells
    /// something, too.
    fn drive_to_hand_over(&mut self, left: &Remaining<'_>) -> Rested {
        let mut rested = self.drive(left);
        let Rested::Completed(waited) = &mut rested else {
            // What is under way is not known when the run goes on.
            let (under_way, _) = self.under_way(0);
            if let Err(failure) = self.environment.join_flow(&under_way) {
                tracing::error!(
                    code = &*failure.code,
                    "where the answers to a suspended run come from cannot be recorded"
                );
            }
            return rested;
        };
        if waited.completions.is_empty() {
            return rested;
        }
        // A result that is kept tells nothing if it is all that the run waits for, but that it comes before or after others
        // does.
        let is_alone = waited.completions.len() == 1
            && self.in_flight.is_empty()
            && self.environment.began_alone()
            && !self.environment.all_grants.clock;
        if is_alone && waited.completions.iter().all(|completion| self.kept.contains(&completion.id)) {
            // The clock of the cell does not tell how long it took.
            waited.elapsed = Duration::ZERO;
        }
        let told = waited.completions.iter().filter(|completion| !is_alone || !self.kept.contains(&completion.id));
        let told = told.map(|completion| (completion.id, completion.result.is_err()));
        let told: Vec<(u32, bool)> = told.chain(self.in_flight.keys().map(|id| (*id, false))).collect();
        let answers = told.iter().filter_map(|(id, has_failed)| Some((self.answers.get(id)?, *has_failed)));
        if let Some(flows) = &self.environment.flows {
            flows.hand_over(answers, &mut waited.completions);
        }
        for completion in &mut waited.completions {
            if self.kept.remove(&completion.id) {
                self.environment.keep_result(completion, self.answers.get(&completion.id));
            }
            // The rest of a response body is of the same source.
            if !self.open_bodies.contains_key(&completion.id) {
                self.answers.remove(&completion.id);
            }
        }
        rested
    }

    /// Returns the label of all other operations in flight, and whether nothing else is in flight, timers included.
    fn under_way(&self, id: u32) -> (Label, bool) {
        let is_queued = |other: u32| self.queued_calls.iter().any(|(queued, _)| *queued == other);
        let is_held = |other: u32| {
            self.held.iter().any(|(_, held)| held.id() == other)
                || self.asked_flows.iter().any(|flow| flow.operation.id() == other)
        };
        let mut label = Label::default();
        let mut is_alone = true;
        for other in
            self.in_flight.keys().copied().filter(|other| *other != id && !is_queued(*other) && !is_held(*other))
        {
            is_alone = false;
            if let Some(answer) = self.answers.get(&other) {
                label.join(answer.label());
            }
        }
        (label, is_alone)
    }

    /// Notes where the answer to an operation comes from that is about to begin.
    fn follow(&mut self, operation: &ParsedHostCall) {
        if self.environment.flows.is_none() {
            return;
        }
        let source = match operation.request() {
            HostRequest::FetchRead(Ok(of)) => self.answers.get(&of.fetch).cloned(),
            request => Some(self.environment.answer_source(request)),
        };
        if let Some(mut source) = source {
            // An answer may tell what was put into the operation.
            if let Some(before) = self.answers.remove(&operation.id()) {
                source.join(before.label());
            }
            self.answers.insert(operation.id(), source);
        }
    }

    fn drive(&mut self, left: &Remaining<'_>) -> Rested {
        let until = left.deadline;
        let mut took = Duration::ZERO;
        loop {
            let ended = self.take_completions(Some(until));
            if !ended.is_empty() {
                return Rested::Completed(WaitResult { completions: ended, elapsed: took, fuel: 0 });
            }
            if !until.is_expired() && (self.put_question(until) || self.ask_about_flow(until)) {
                continue;
            }
            let timer = self.next_timer();
            if let Some((due, id)) = timer
                && due <= Instant::now()
            {
                // Fire one timer at a time, so that the next callback sees what this one does, as
                // in a browser.
                self.in_flight.remove(&id);
                self.environment.effects.record_succeeded(id);
                let ended = vec![Completion { id, result: Ok(Json::NULL.into()) }];
                return Rested::Completed(WaitResult { completions: ended, elapsed: took, fuel: 0 });
            }
            if self.in_flight.is_empty() || until.is_expired() {
                return Rested::Completed(WaitResult::nothing_pending());
            }
            if self.call_inline_functions(until) {
                continue;
            }
            if let Some((id, call)) = self.queued_calls.pop_front() {
                self.environment.effects.record_started(id);
                let (under_way, is_alone) = self.under_way(id);
                let answering = self.environment.questions.waited();
                let NestedResult { result, fuel, waited, effects: changed, label, is_declassified } =
                    self.environment.call_tool(call, left, (&under_way, is_alone));
                self.extend(until, self.environment.questions.waited().saturating_sub(answering));
                // How much fuel a tool burned shows in what its caller has left.
                let is_kept = self.kept.contains(&id);
                if is_kept && let Some(label) = &label {
                    drop(self.environment.join_flow(label));
                }
                if let (Some(label), Some(answer)) = (label, self.answers.get_mut(&id)) {
                    answer.join(&label);
                }
                let ended = Completion { id, result };
                self.completions.push(CompletionEvent::WithEffects {
                    completion: ended,
                    effects: Effects::Committed,
                    world_effects: changed,
                });
                // How long a result took that tells little is not to be told either.
                let elapsed = if is_declassified { Duration::ZERO } else { took + waited };
                return Rested::Completed(WaitResult {
                    completions: self.take_completions(Some(until)),
                    elapsed,
                    fuel,
                });
            }
            if self.is_blocked_on_outside() && !self.held.is_empty() {
                self.decide_held(until);
                continue;
            }
            if self.is_blocked_on_outside() && !(self.deferred.is_empty() && self.callbacks.is_empty()) {
                self.save_pending();
                return Rested::Suspend { elapsed: took };
            }
            let before = Instant::now();
            until.wait_for(self.completions.notifier(), timer.map(|(due, _)| due));
            took += before.elapsed();
        }
    }
}

impl HostCallRunner<'_> {
    /// Puts the next question of a server to the user, and returns whether there was one. The time that this takes extends
    /// the deadline of the run.
    fn put_question(&mut self, until: &CallDeadline) -> bool {
        let Some(question) = self.questions.pop_front() else { return false };
        let (id, route) = (question.id, &self.environment.questions);
        let waited = route.waited();
        if let Some(outcome) = question.put(route) {
            self.environment.effects.record_question(id, outcome);
        }
        self.extend(until, route.waited().saturating_sub(waited));
        true
    }

    /// Adds the time that a person took to the deadline of the run, and to the timers of the tool.
    pub(super) fn extend(&mut self, until: &CallDeadline, waited: Duration) {
        until.extend(waited);
        for flight in self.in_flight.values_mut() {
            if let PendingCall::Timer(due) = flight {
                *due = due.checked_add(waited).unwrap_or(*due);
            }
        }
    }

    /// Has the user decide about the next operation that a rule about flows asks about, and returns whether there was one. The
    /// time that this takes extends the deadline of the run.
    fn ask_about_flow(&mut self, until: &CallDeadline) -> bool {
        let Some(PendingFlow { operation, sent }) = self.asked_flows.pop_front() else { return false };
        let (id, route) = (operation.id(), &self.environment.questions);
        let ask = match self.environment.decide_flow(&operation, &sent) {
            Flow::Ask(ask) => ask,
            Flow::Refused(failure) => {
                self.complete_with_error(id, failure);
                return true;
            }
            Flow::Free => {
                self.perform_held(operation);
                return true;
            }
        };
        let waited = route.waited();
        let tool = (self.environment.id, &*self.environment.name);
        let answer = route.decide(&ask.to_question(tool, operation.as_sent()));
        self.extend(until, route.waited().saturating_sub(waited));
        self.environment.effects.record_question(id, answer.outcome());
        // What is decided about a run that was cancelled meanwhile does not count.
        if answer == FlowAnswer::Approve && !until.is_cancelled() {
            self.perform_held(operation);
        } else {
            self.complete_with_error(id, ask.answered_error(&answer));
        }
        true
    }

    /// Calls the functions at the head of the queue that run on this thread, until the deadline; returns whether there were any.
    fn call_inline_functions(&mut self, until: &CallDeadline) -> bool {
        let mut has_called = false;
        while !until.is_expired()
            && let Some(function) =
                self.queued_calls.front().and_then(|(_, call)| self.environment.function(&call.name)).cloned()
            && let Some((id, call)) = self.queued_calls.pop_front()
        {
            self.environment.effects.record_started(id);
            let background = self.environment.resources.background.downgrade();
            tools::call_function(id, &function, call, &self.completions, &background);
            has_called = true;
        }
        has_called
    }
}

impl Drop for HostCallRunner<'_> {
    fn drop(&mut self) {
        self.completions.close();
        self.open_bodies.clear();
        self.server_calls.clear();
        self.questions.clear();
        self.asked_flows.clear();
        // Each blocking task holds a sender; the channel closes when all of them have finished.
        let (here, all) = std::mem::replace(&mut self.blocking_tasks, channel());
        drop(here);
        let _ = all.recv();
        self.take_completions(None);
    }
}
