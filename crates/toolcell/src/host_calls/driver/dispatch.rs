//! Dispatches host calls once they may start.
//!
//! Invariant: a host call is dispatched once. One that cannot be dispatched fails like one that
//! was.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use toolcell_flows::Label;
use toolcell_host::{
    CallDeadline, Completion, HostCall, HostRequest, OperationError, ParsedHostCall, Payload, TimerRequest, UnknownKind,
};

use super::{CanSuspend, HostCallRunner, PendingCall};
use crate::host_calls::completions::CompletionEvent;
use crate::host_calls::error::{Result, check_payload, error_without_effects, unknown_operation};
use crate::host_calls::flows::{Flow, PendingFlow};
use crate::host_calls::held::{self, EffectDecision, HeldEffect};
use crate::host_calls::kept::Filled;
use crate::host_calls::kv::KvCall;
use crate::host_calls::pending::PlanPosition;
use crate::host_calls::{MayWrite, RunEnvironment, ServerOperation, files, start_request, tools};

impl HostCallRunner<'_> {
    /// Starts a host call, or holds it for a decision.
    pub(super) fn start_or_hold(&mut self, operation: ParsedHostCall) {
        let id = operation.id();
        if RunEnvironment::is_kept(operation.request()) {
            self.kept.insert(id);
        }
        let (operation, sent) = match self.environment.fill_kept(operation) {
            Ok(Filled { operation, label }) => (operation, label),
            Err((failure, label)) => {
                self.answers.insert(id, label.into());
                return self.complete_with_error(id, failure);
            }
        };
        if !sent.is_empty() {
            self.answers.insert(id, sent.clone().into());
        }
        let is_planned = self.environment.plan.is_some();
        let asks = match self.environment.decide_flow(&operation, &sent) {
            Flow::Refused(failure) => return self.complete_with_error(id, failure),
            Flow::Ask(ask) if !is_planned && !self.environment.questions.has_approver() => {
                return self.complete_with_error(id, ask.unasked_error());
            }
            Flow::Ask(_) => true,
            Flow::Free => false,
        };
        let is_held = is_planned && (asks || self.must_be_held(&operation));
        // What was decided about a call of a tool that reads holds for no other.
        let is_decided = !is_held && (is_planned || self.environment.flows.is_some());
        if is_decided && matches!(operation.request(), HostRequest::ServerCall(_)) && !self.must_be_held(&operation) {
            self.unheld_reads.insert(id);
        }
        if is_held || asks {
            // The run may be suspended until then, and the person is told.
            if let Err(failure) = self.environment.join_flow(&sent) {
                return self.complete_with_error(id, failure);
            }
            self.in_flight.insert(id, PendingCall::InBackground);
            if is_held {
                self.held.push((None, operation));
            } else {
                self.asked_flows.push_back(PendingFlow { operation, sent });
            }
            return;
        }
        if !sent.is_empty()
            && let Err(failure) = self.environment.label_target(operation.request(), Some(&sent))
        {
            return self.complete_with_error(id, failure);
        }
        self.start(operation);
    }

    /// Whether a host call needs a decision first.
    fn must_be_held(&self, operation: &ParsedHostCall) -> bool {
        let request = match operation.request() {
            HostRequest::ToolCall(request) => request,
            HostRequest::ServerCall(request) => {
                let access = self.environment.servers.as_ref();
                return access.zip(request.as_ref().ok()).is_some_and(|(access, request)| access.must_be_held(request));
            }
            other => return held::has_side_effects(other),
        };
        let call = request.as_ref().ok().and_then(|request| tools::check(request).ok());
        let function = call.and_then(|call| self.environment.function(&call.name));
        function.is_some_and(|function| !function.is_read_only())
    }

    fn start(&mut self, operation: ParsedHostCall) {
        let id = operation.id();
        if !matches!(operation.request(), HostRequest::ToolCall(_)) {
            self.environment.effects.record_started(id);
        }
        self.follow(&operation);
        match self.dispatch(operation) {
            Ok(flight) => drop(self.in_flight.insert(id, flight)),
            Err(failure) => self.complete_with_error(id, failure),
        }
    }

    pub(super) fn complete_with_error(&mut self, id: u32, failure: OperationError) {
        // What failed before it began depends on nothing that the run was not handed.
        self.kept.remove(&id);
        self.in_flight.insert(id, PendingCall::InBackground);
        self.completions.push_completion(Completion { id, result: Err(failure) });
    }

    /// Asks the approver about the held effects. The time this takes extends the deadline of the
    /// run.
    pub(super) fn decide_held(&mut self, until: &CallDeadline) {
        let (Some(planner), Some(chain)) = (self.environment.effect_approver, &self.environment.plan) else {
            return;
        };
        let mut placed = std::mem::take(&mut self.held);
        let new: Vec<&HostCall> =
            placed.iter().filter(|(place, _)| place.is_none()).map(|(_, operation)| operation.as_sent()).collect();
        let mut new = chain.extend(self.environment.id, &new).into_iter();
        for (place, _) in placed.iter_mut().filter(|(place, _)| place.is_none()) {
            *place = new.next();
        }
        // Each effect has a position now.
        let placed: Vec<(PlanPosition, ParsedHostCall)> =
            placed.into_iter().filter_map(|(place, operation)| Some((place?, operation))).collect();
        let tool = (self.environment.id, &*self.environment.name);
        let held: Vec<HeldEffect> =
            placed.iter().map(|(place, operation)| HeldEffect::new(*place, tool, operation.as_sent())).collect();
        let held: Vec<HeldEffect> = self.environment.with_sources(held);
        let asked = Instant::now();
        let chosen = planner.decide(&held);
        self.environment.questions.add_waited(asked);
        self.extend(until, asked.elapsed());
        // What is decided about a run that was cancelled meanwhile does not count.
        let is_cancelled = until.is_cancelled();
        for (at, (held, (place, operation))) in held.iter().zip(placed).enumerate() {
            match chosen.get(at).copied().unwrap_or(EffectDecision::Refuse) {
                EffectDecision::Perform if !is_cancelled => self.perform_held(operation),
                EffectDecision::Defer if self.can_suspend == CanSuspend::Yes => self.deferred.push((place, operation)),
                EffectDecision::Perform | EffectDecision::Defer | EffectDecision::Refuse => {
                    self.complete_with_error(operation.id(), held::not_approved_error(held));
                }
            }
        }
    }

    /// Starts what a person decided to perform, unless a rule refuses it that was added meanwhile. What it writes to holds
    /// from now on what the run was handed.
    pub(super) fn perform_held(&mut self, operation: ParsedHostCall) {
        let id = operation.id();
        let refused = match self.environment.decide_flow(&operation, &Label::default()) {
            Flow::Refused(failure) => Err(failure),
            Flow::Ask(_) | Flow::Free => self.environment.label_target(operation.request(), None),
        };
        match refused {
            Ok(()) => self.start(operation),
            Err(failure) => self.complete_with_error(id, failure),
        }
    }

    /// Dispatches a host call.
    fn dispatch(&mut self, operation: ParsedHostCall) -> Result<PendingCall> {
        let id = operation.id();
        let (kind, request, bytes) = operation.into_parts();
        let not_granted = || not_granted_error(&kind);
        match request {
            HostRequest::Timer(request) if self.environment.can_wait() => {
                timer_due(check_payload(&kind, request)?).map(PendingCall::Timer)
            }
            HostRequest::Fetch(request) => {
                let net = self.environment.net.clone().ok_or_else(not_granted)?;
                let (request, inbox) = (check_payload(&kind, request)?, Arc::clone(&self.completions));
                let observer = self.environment.flow_observer(self.answers.get(&id));
                let rest = start_request(&self.runtime_handle()?, (net, observer), (id, request, bytes), inbox);
                self.open_bodies.insert(id, rest);
                Ok(PendingCall::InBackground)
            }
            HostRequest::FetchRead(request) => {
                let of = check_payload(&kind, request)?;
                let rest = self.open_bodies.get(&of.fetch).filter(|rest| rest.request_chunk(id));
                rest.map(|_| PendingCall::InBackground).ok_or_else(|| {
                    error_without_effects(
                        "TypeError",
                        "operation-invalid",
                        "the response does not exist, was read to its end, or was dropped when the run was suspended",
                    )
                })
            }
            HostRequest::ToolCall(request) => {
                let call = tools::check(&check_payload(&kind, request)?)?;
                self.environment.check_callable(&call)?;
                let function = self.environment.function(&call.name).filter(|function| !function.is_inline()).cloned();
                let Some(function) = function else {
                    self.queued_calls.push_back((id, call));
                    return Ok(PendingCall::InBackground);
                };
                self.environment.effects.record_started(id);
                let background = self.environment.resources.background.downgrade();
                if function.may_block() {
                    let queue = Arc::clone(&self.completions);
                    let call = move || tools::call_function(id, &function, call, &queue, &background);
                    self.runtime_handle()?.spawn_blocking(call);
                } else {
                    tools::call_function(id, &function, call, &self.completions, &background);
                }
                Ok(PendingCall::InBackground)
            }
            HostRequest::ServerCall(request) => {
                let request = check_payload(&kind, request)?;
                let may_write = if self.unheld_reads.remove(&id) { MayWrite::No } else { MayWrite::Yes };
                self.start_server_operation(id, &kind, ServerOperation::Call(request, may_write))
            }
            HostRequest::ServerSearch(request) => {
                let request = check_payload(&kind, request)?;
                self.start_server_operation(id, &kind, ServerOperation::Search(request))
            }
            HostRequest::ServerDescribe(request) => {
                let request = check_payload(&kind, request)?;
                self.start_server_operation(id, &kind, ServerOperation::Describe(request))
            }
            HostRequest::KvGet(request) => self.start_kv(id, &kind, request, KvCall::Get),
            HostRequest::KvList(request) => self.start_kv(id, &kind, request, KvCall::List),
            HostRequest::KvCommit(request) => self.start_kv(id, &kind, request, KvCall::Commit),
            HostRequest::File(action, request) => {
                let folders = self.environment.files.clone().ok_or_else(not_granted)?;
                let work = files::check(action, check_payload(&kind, request)?, bytes)?;
                self.run_blocking(move || CompletionEvent::Finished(Completion { id, result: work.perform(&folders) }))
            }
            HostRequest::Unknown(UnknownKind::Kv) if self.environment.kv.is_some() => Err(unknown_operation(&kind)),
            HostRequest::Unknown(UnknownKind::Files) if self.environment.files.is_some() => {
                Err(unknown_operation(&kind))
            }
            HostRequest::Timer(_) | HostRequest::Unknown(_) => Err(not_granted()),
        }
    }

    /// Starts a host call on the granted servers.
    fn start_server_operation(&mut self, id: u32, kind: &str, operation: ServerOperation) -> Result<PendingCall> {
        let access = self.environment.servers.clone().ok_or_else(|| not_granted_error(kind))?;
        let running = access.start(&self.runtime_handle()?, id, operation, Arc::clone(&self.completions));
        self.server_calls.insert(id, running);
        Ok(PendingCall::InBackground)
    }

    /// Starts a host call on the granted key-value space.
    fn start_kv<T>(
        &self,
        id: u32,
        kind: &str,
        request: Payload<T>,
        to_call: impl FnOnce(T) -> KvCall,
    ) -> Result<PendingCall> {
        let space = self.environment.kv.clone().ok_or_else(|| not_granted_error(kind))?;
        let work = to_call(check_payload(kind, request)?);
        self.run_blocking(move || work.perform(id, &space))
    }

    fn runtime_handle(&self) -> Result<Handle> {
        self.environment.resources.background.handle().map_err(|error| {
            error_without_effects("Error", "operation-failed", format!("background work cannot be started: {error}"))
        })
    }

    /// Runs disk work on a blocking thread.
    fn run_blocking(&self, work: impl FnOnce() -> CompletionEvent + Send + 'static) -> Result<PendingCall> {
        let (inbox, here) = (Arc::clone(&self.completions), self.blocking_tasks.0.clone());
        self.runtime_handle()?.spawn_blocking(move || {
            inbox.push(work());
            drop(here);
        });
        Ok(PendingCall::InBackground)
    }
}

/// Returns the instant at which a timer is due.
fn timer_due(TimerRequest { ms }: TimerRequest) -> Result<Instant> {
    let wait = Duration::try_from_secs_f64(ms / 1000.0).ok().and_then(|wait| Instant::now().checked_add(wait));
    wait.ok_or_else(|| {
        error_without_effects("RangeError", "operation-invalid", format!("{ms} ms is not a valid delay"))
    })
}

fn not_granted_error(kind: &str) -> OperationError {
    error_without_effects("NotAllowedError", "operation-not-granted", format!("`{kind}` is not granted to this call"))
}
