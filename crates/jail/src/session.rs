//! The host's side of one call in a worker.
//!
//! Invariant: host calls of a worker are served in this process, as the [`CallContext`] says, and
//! only during a call. Whatever the worker reports about the call must be within the call's budget,
//! or the worker is killed.

use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use toolcell_host::{
    Budget, CallContext, CallDeadline, HostCallDriver, Json, Outcome, Params, Remaining, Report, Stop, SuspendedCall,
    Usage, WaitOutcome,
};
use toolcell_i18n::{Message, message};

use crate::channel::{Channel, ChannelError, WaitMode};
use crate::messages::{
    CallMode, HostMessage, LoadMode, ScriptFrame, StartedCalls, WaitDone, WireContext, WorkerMessage,
};
use crate::worker::Worker;

/// Time after its deadline or its cancellation in which a call may end by itself. Then its worker
/// is killed.
const GRACE_PERIOD: Duration = Duration::from_secs(1);
/// Bytes of a message beyond what the budget of its call bounds: error messages, stacks, numbers.
const MESSAGE_OVERHEAD_BYTES: usize = 1 << 20;
/// The maximum number of host calls that one message may cancel. A tool cancels calls that it
/// started, and results that it did not read to the end.
const MAX_CANCELLED: usize = 1 << 16;
/// The maximum number of warnings about parameters and the result, and the size of their texts in
/// bytes if the result takes all of the output.
const MAX_WARNINGS: usize = 200;
const WARNINGS_OVERHEAD_BYTES: usize = 1 << 10;
/// The maximum length of a reason that a worker gives, in bytes.
const MAX_REASON_BYTES: usize = 1 << 10;

/// A worker's reply to a request.
pub(crate) enum CallReply {
    Ready { load_fuel: u64, manifest: Json, load_mode: LoadMode },
    Finished(Box<Report>),
    Suspended(Box<SuspendedCall>),
    ScriptMismatch,
}

/// The reason why there is no reply.
pub(crate) enum WorkerLost {
    /// The worker is unusable.
    Worker(Stop),
    /// The worker could not create an instance for the call. It remains usable.
    NoInstance(String),
    /// The worker reports a bug of Toolcell, before the call started.
    Bug(String),
}

/// A worker during a call, with the inputs of the call.
pub(crate) struct WorkerSession<'a, 'r> {
    worker: Worker,
    budget: &'a Budget,
    run: &'a CallContext<'r>,
    watch: DeadlineWatch,
    started: Instant,
    /// Time that the call ran before it was suspended.
    elapsed_before: Duration,
    /// `None` while a script is loaded, which may not wait at all.
    mode: Option<CallMode>,
    host_calls: Option<Box<dyn HostCallDriver + 'r>>,
    pending: BTreeSet<u32>,
    /// The identifier of the host call that was started last. The guest counts them, so identifiers
    /// only increase.
    last_started: u32,
    /// An upper bound on the fuel that the call has left. It never increases.
    fuel_left: u64,
    /// A lower bound on the fuel that the call has burned, including that of loading its script.
    fuel_burned: u64,
}

/// Checks the deadline and the cancellation of a call.
struct DeadlineWatch {
    deadline: CallDeadline,
    cancelled_at: Option<Instant>,
    cancel_sent: bool,
}

impl DeadlineWatch {
    fn check(&mut self, socket: Option<&UnixStream>) -> WaitMode {
        let now = Instant::now();
        if self.cancelled_at.is_none() && self.deadline.is_cancelled() {
            self.cancelled_at = Some(now);
        }
        if self.cancelled_at.is_some() && !self.cancel_sent {
            self.cancel_sent = socket.is_some_and(|socket| Channel::try_send(socket, &HostMessage::Cancel));
        }
        let end = self.cancelled_at.unwrap_or_else(|| self.deadline.instant());
        if now > end + GRACE_PERIOD { WaitMode::GiveUp } else { WaitMode::KeepWaiting }
    }
}

impl<'a, 'r> WorkerSession<'a, 'r> {
    pub(crate) fn new(
        worker: Worker,
        budget: &'a Budget,
        run: &'a CallContext<'r>,
        until: CallDeadline,
        started: Instant,
    ) -> Self {
        let watch = DeadlineWatch { deadline: until, cancelled_at: None, cancel_sent: false };
        let (before, pending) = (Duration::ZERO, BTreeSet::new());
        let (last_started, fuel_left, fuel_burned) = (0, budget.fuel, 0);
        Self {
            worker,
            budget,
            run,
            watch,
            started,
            elapsed_before: before,
            mode: None,
            host_calls: None,
            pending,
            last_started,
            fuel_left,
            fuel_burned,
        }
    }

    /// Returns the worker, to be reused or dropped.
    pub(crate) fn into_worker(self) -> Worker {
        self.worker
    }

    /// Lets the worker evaluate a script.
    pub(crate) fn prepare(
        &mut self,
        id: u64,
        script: ScriptFrame<'_>,
        budget: &Budget,
    ) -> Result<CallReply, WorkerLost> {
        let terms = WireContext { budget: *budget, ..self.wire_context() };
        self.mode = None;
        self.send(&HostMessage::Prepare { id, script, context: terms })?;
        match self.recv_reply()? {
            WorkerMessage::Ready { load_fuel, .. } if load_fuel > budget.fuel => Err(protocol_violation()),
            WorkerMessage::Ready { load_fuel, manifest, load_mode: form } => {
                Ok(CallReply::Ready { load_fuel, manifest, load_mode: form })
            }
            WorkerMessage::Finished(report) => self.check_report(report),
            other => Err(self.no_reply(other)),
        }
    }

    /// Lets the worker cache a script without evaluating it.
    pub(crate) fn cache_script(&mut self, id: u64, script: ScriptFrame<'_>) -> Result<(), WorkerLost> {
        self.send(&HostMessage::CacheScript { id, script })
    }

    /// Calls a cached script. Returns `None` if the worker does not have it.
    pub(crate) fn call(&mut self, id: u64, params: &Params, mode: CallMode) -> Result<Option<CallReply>, WorkerLost> {
        self.mode = Some(mode);
        let terms = self.wire_context();
        self.send(&HostMessage::Call { id, params: params.as_str(), mode, context: terms })?;
        let mut reply = self.recv_reply()?;
        if let WorkerMessage::Profile(profile) = reply {
            reply = self.recv_reply()?;
            match (&reply, self.run.profile) {
                (WorkerMessage::Finished(report), Some(slot))
                    if mode == CallMode::Profiled && profile.is_plausible(report.usage.fuel) =>
                {
                    slot.put(*profile);
                }
                _ => return Err(protocol_violation()),
            }
        }
        match reply {
            WorkerMessage::UnknownScript => Ok(None),
            WorkerMessage::Finished(report) => self.check_report(report).map(Some),
            WorkerMessage::Suspended(bytes) if mode == CallMode::Suspendable => self.check_suspended(&bytes).map(Some),
            other => Err(self.no_reply(other)),
        }
    }

    /// Resumes a suspended call.
    pub(crate) fn resume(
        &mut self,
        suspended: &SuspendedCall,
        script: ScriptFrame<'_>,
    ) -> Result<CallReply, WorkerLost> {
        self.mode = Some(CallMode::Suspendable);
        self.elapsed_before = suspended.elapsed();
        (self.fuel_left, self.fuel_burned) = (suspended.fuel_left(), suspended.fuel_used());
        let terms = self.wire_context();
        self.send(&HostMessage::Resume { suspended: &suspended.to_bytes(), script, context: terms })?;
        match self.recv_reply()? {
            WorkerMessage::ScriptMismatch => Ok(CallReply::ScriptMismatch),
            WorkerMessage::Finished(report) => self.check_report(report),
            WorkerMessage::Suspended(bytes) => self.check_suspended(&bytes),
            other => Err(self.no_reply(other)),
        }
    }

    fn wire_context(&self) -> WireContext<'r> {
        let run = self.run;
        WireContext {
            budget: *self.budget,
            time_limit: self.time_left(),
            is_cancelled: self.watch.deadline.is_cancelled(),
            grants: run.host_calls.grants(),
            tool: run.tool,
            call_id: run.call_id,
            seed: run.seed,
            started_at: run.started_at,
            has_wall_clock: run.wall_clock.is_some(),
            wants_partial_results: run.partial_sink.is_some(),
            fuel_scope: run.fuel_scope,
        }
    }

    /// Returns the time until the deadline of the call.
    fn time_left(&self) -> Duration {
        self.watch.deadline.instant().saturating_duration_since(Instant::now())
    }

    fn send(&mut self, asked: &HostMessage<'_>) -> Result<(), WorkerLost> {
        let Self { worker, watch, .. } = self;
        let done = worker.channel.send(asked, || watch.check(None));
        done.map_err(|broken| self.worker_lost(&broken))
    }

    /// Waits for the final reply, and serves the worker's requests until then.
    fn recv_reply(&mut self) -> Result<WorkerMessage, WorkerLost> {
        let budget = self.budget;
        let limit = budget.memory + budget.output + 8 * budget.console + MESSAGE_OVERHEAD_BYTES;
        loop {
            let Self { worker, watch, .. } = self;
            let said = worker.channel.recv::<WorkerMessage>(limit, |socket| watch.check(Some(socket)));
            match said.map_err(|broken| self.worker_lost(&broken))? {
                WorkerMessage::Waiting { calls: begun, fuel, memory } => {
                    let rested = self.run_host_calls(begun, fuel, memory)?;
                    self.send(&HostMessage::WaitDone(rested))?;
                }
                WorkerMessage::ReadClock => {
                    self.check_watch()?;
                    let now = self.run.wall_clock.map(|clock| clock()).ok_or_else(protocol_violation)?;
                    self.send(&HostMessage::Now(now))?;
                }
                WorkerMessage::Partial(json) if json.len() <= budget.output => {
                    self.check_watch()?;
                    let json = Json::parse(json).map_err(|_| protocol_violation())?;
                    if let Some(sink) = self.run.partial_sink {
                        sink(json.as_str());
                    }
                }
                WorkerMessage::Partial(_) => return Err(protocol_violation()),
                other => return Ok(other),
            }
        }
    }

    /// Checks the deadline and the cancellation while the worker is not silent: one that reports
    /// without end is cancelled, and lost if it does not end.
    fn check_watch(&mut self) -> Result<(), WorkerLost> {
        let Self { worker, watch, .. } = self;
        match watch.check(Some(worker.channel.socket())) {
            WaitMode::KeepWaiting => Ok(()),
            WaitMode::GiveUp => Err(self.worker_lost(&ChannelError::TimedOut)),
        }
    }

    /// Submits the host calls that the tool started, and waits for completions.
    fn run_host_calls(
        &mut self,
        begun: Option<StartedCalls>,
        fuel: u64,
        memory: usize,
    ) -> Result<WaitDone, WorkerLost> {
        let Some(mode) = self.mode else { return Err(protocol_violation()) };
        let StartedCalls { started, cancelled } = begun.unwrap_or_default();
        if fuel > self.fuel_left || memory > self.budget.memory || cancelled.len() > MAX_CANCELLED {
            return Err(protocol_violation());
        }
        self.record_fuel_left(fuel);
        for operation in &started {
            if operation.id <= self.last_started {
                return Err(protocol_violation());
            }
            self.last_started = operation.id;
            self.pending.insert(operation.id);
        }
        // The guest enforces this limit, also for calls that the same message cancels. Only a
        // compromised worker exceeds twice the limit.
        if self.pending.len() > 2 * self.budget.operations as usize {
            return Err(protocol_violation());
        }
        for id in &cancelled {
            self.pending.remove(id);
        }
        let operations = self.host_calls.get_or_insert_with(|| self.run.host_calls.start());
        if !(started.is_empty() && cancelled.is_empty()) {
            operations.submit(started, &cancelled);
        }
        let until = &self.watch.deadline;
        let left = Remaining { deadline: until, fuel, memory };
        let rest = match mode {
            CallMode::Plain | CallMode::Profiled => WaitOutcome::Completed(operations.wait(&left)),
            CallMode::Suspendable => operations.wait_or_suspend(&left),
        };
        let cancelled = until.is_cancelled();
        if let WaitOutcome::Completed(waited) = &rest {
            for ended in &waited.completions {
                self.pending.remove(&ended.id);
            }
            let left = self.fuel_left.saturating_sub(waited.fuel);
            self.record_fuel_left(left);
        }
        Ok(WaitDone { outcome: rest, time_left: self.time_left(), is_cancelled: cancelled })
    }

    /// Records that `left` units of fuel are left, which must not be more than before.
    fn record_fuel_left(&mut self, left: u64) {
        self.fuel_burned += self.fuel_left.saturating_sub(left);
        self.fuel_left = left;
    }

    /// Checks a worker's report against the budget.
    fn check_report(&self, report: Box<Report>) -> Result<CallReply, WorkerLost> {
        let mut report = report;
        let budget = self.budget;
        let output = match &report.outcome {
            Outcome::Returned(Some(value)) => value.as_str().len(),
            _ => 0,
        };
        // Replacing invalid UTF-8 makes a text up to three times as long.
        let console: usize = report.logs.iter().map(|line| line.text.len()).sum();
        let warnings: usize = report.warnings.iter().map(|it| it.path.len() + it.message.len()).sum();
        let Usage { fuel, load_fuel, .. } = report.usage;
        let fuel_fits = fuel <= budget.fuel && fuel.saturating_add(load_fuel) >= self.fuel_burned;
        let fits = fuel_fits
            && output <= budget.output
            && console <= 3 * (budget.console + 1)
            && warnings <= budget.output + WARNINGS_OVERHEAD_BYTES
            && report.warnings.len() <= MAX_WARNINGS;
        if !fits {
            return Err(protocol_violation());
        }
        report.usage.duration = self.elapsed_before + self.started.elapsed();
        Ok(CallReply::Finished(report))
    }

    fn check_suspended(&self, bytes: &[u8]) -> Result<CallReply, WorkerLost> {
        match SuspendedCall::from_bytes(bytes) {
            Ok(suspended) if suspended.budget() == self.budget && suspended.fuel_left() <= self.fuel_left => {
                Ok(CallReply::Suspended(Box::new(suspended)))
            }
            _ => Err(protocol_violation()),
        }
    }

    /// Returns the error for a message that is not a reply to the request. A call that has started
    /// host calls has an instance, and its end is a report.
    fn no_reply(&self, message: WorkerMessage) -> WorkerLost {
        match message {
            _ if self.host_calls.is_some() => protocol_violation(),
            WorkerMessage::NoInstance(reason) => WorkerLost::NoInstance(truncated(reason)),
            WorkerMessage::Bug(detail) => WorkerLost::Bug(truncated(detail)),
            _ => protocol_violation(),
        }
    }

    fn worker_lost(&mut self, broken: &ChannelError) -> WorkerLost {
        match broken {
            ChannelError::Closed => worker_died(self.worker.wait_for_exit()),
            ChannelError::TimedOut if self.watch.cancelled_at.is_some() => WorkerLost::Worker(Stop::Cancelled),
            ChannelError::TimedOut => WorkerLost::Worker(Stop::Deadline { limit: self.budget.deadline }),
            other => worker_died(message!("{fault}; it was killed", fault = other)),
        }
    }
}

/// Returns at most [`MAX_REASON_BYTES`] of a text that a worker sent.
fn truncated(mut reason: String) -> String {
    reason.truncate(reason.floor_char_boundary(MAX_REASON_BYTES));
    reason
}

/// Returns the error for a message that violates the protocol.
pub(crate) fn protocol_violation() -> WorkerLost {
    worker_died(message!("it violated the protocol and was killed"))
}

fn worker_died(detail: Message) -> WorkerLost {
    tracing::warn!(detail = detail.to_string(), "a worker of the jail died");
    WorkerLost::Worker(Stop::WorkerDied { detail })
}

#[cfg(test)]
mod tests;
