//! One call, as the host goes through it with a worker.
//!
//! Invariant: what a worker asks for is done as [`Run`] says, in this process, and only while a call runs; what it says of the call
//! is within the call's budget, or the worker is ended.

use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use toolcell_host::{
    Asleep, Budget, Json, Left, OperationsOfCall, Outcome, Params, Report, Rest, Run, Stop, Until, Usage,
};

use crate::pipe::{Broken, Patient, Pipe};
use crate::wire::{Asked, Begun, Form, Patience, Rested, Said, Source, Terms};
use crate::worker::Worker;

/// How much later than its deadline, or than its cancellation, a call may end by itself. Then its worker is ended.
const GRACE: Duration = Duration::from_secs(1);
/// Bytes that a worker may say beyond what the budget of its call bounds: messages, stacks, numbers.
const BEYOND: usize = 1 << 20;
/// The most operations that one frame may cancel. A tool cancels what it started, and lets go of what it did not read to its end.
const MAX_CANCELLED: usize = 1 << 16;
/// Warnings about parameters and about the result, and what they are long where the result takes all of the output.
const WARNINGS_LIMIT: usize = 200;
const WARNINGS_BEYOND: usize = 1 << 10;

/// What came of asking a worker.
pub(crate) enum Came {
    Ready { load_fuel: u64, manifest: Json, form: Form },
    Ended(Box<Report>),
    Asleep(Box<Asleep>),
    OtherScript,
}

/// Nothing came.
pub(crate) enum Lost {
    /// The worker cannot be asked again.
    Worker(Stop),
    /// It has no instance for the call.
    NoInstance(String),
}

/// A worker that has a call, and what the call is given.
pub(crate) struct Exchange<'a, 'r> {
    worker: Worker,
    budget: &'a Budget,
    run: &'a Run<'r>,
    watch: Watch,
    started: Instant,
    /// How long the call was awake before.
    before: Duration,
    /// Whether it may sleep; nothing while a script is loaded, which waits for nothing.
    patience: Option<Patience>,
    operations: Option<Box<dyn OperationsOfCall + 'r>>,
    pending: BTreeSet<u32>,
    /// The number of the operation that was started last. A guest counts them, so each number comes once.
    last_started: u32,
    /// Fuel that the call has left at most: it only becomes less.
    fuel_left: u64,
    /// Fuel that it has burned at least, that of loading its script included.
    fuel_burned: u64,
}

/// Looks, whenever the worker says nothing, whether its call has to end.
struct Watch {
    until: Until,
    cancelled: Option<Instant>,
    told: bool,
}

impl Watch {
    fn look(&mut self, socket: Option<&UnixStream>) -> Patient {
        let now = Instant::now();
        if self.cancelled.is_none() && self.until.is_cancelled() {
            self.cancelled = Some(now);
        }
        if self.cancelled.is_some() && !self.told {
            self.told = socket.is_some_and(|socket| Pipe::push(socket, &Asked::Cancel));
        }
        let end = self.cancelled.unwrap_or_else(|| self.until.deadline());
        if now > end + GRACE { Patient::No } else { Patient::Yes }
    }
}

impl<'a, 'r> Exchange<'a, 'r> {
    pub(crate) fn new(worker: Worker, budget: &'a Budget, run: &'a Run<'r>, until: Until, started: Instant) -> Self {
        let watch = Watch { until, cancelled: None, told: false };
        let (before, pending) = (Duration::ZERO, BTreeSet::new());
        let (last_started, fuel_left, fuel_burned) = (0, budget.fuel, 0);
        Self {
            worker,
            budget,
            run,
            watch,
            started,
            before,
            patience: None,
            operations: None,
            pending,
            last_started,
            fuel_left,
            fuel_burned,
        }
    }

    /// The worker, for its next call or its end.
    pub(crate) fn into_worker(self) -> Worker {
        self.worker
    }

    /// Has a script evaluated.
    pub(crate) fn prepare(&mut self, id: u64, script: Source<'_>, budget: &Budget) -> Result<Came, Lost> {
        let terms = Terms { budget: *budget, ..self.terms() };
        self.patience = None;
        self.ask(&Asked::Prepare { id, script, terms })?;
        match self.answer()? {
            Said::Ready { load_fuel, .. } if load_fuel > budget.fuel => Err(misfit()),
            Said::Ready { load_fuel, manifest, form } => Ok(Came::Ready { load_fuel, manifest, form }),
            Said::Ended(report) => self.ended(report),
            Said::NoInstance(reason) => Err(Lost::NoInstance(reason)),
            _ => Err(misfit()),
        }
    }

    /// Has a script kept.
    pub(crate) fn keep(&mut self, id: u64, script: Source<'_>) -> Result<(), Lost> {
        self.ask(&Asked::Keep { id, script })
    }

    /// Calls what is kept; nothing where it is not.
    pub(crate) fn call(&mut self, id: u64, params: &Params, patience: Patience) -> Result<Option<Came>, Lost> {
        self.patience = Some(patience);
        let terms = self.terms();
        self.ask(&Asked::Call { id, params: params.as_str(), patience, terms })?;
        match self.answer()? {
            Said::Unknown => Ok(None),
            Said::Ended(report) => self.ended(report).map(Some),
            Said::Asleep(bytes) if patience == Patience::MaySleep => self.asleep(&bytes).map(Some),
            Said::NoInstance(reason) => Err(Lost::NoInstance(reason)),
            _ => Err(misfit()),
        }
    }

    /// Goes on with a call that slept, and that was awake for some time before.
    pub(crate) fn wake(&mut self, asleep: &Asleep, script: Source<'_>) -> Result<Came, Lost> {
        self.patience = Some(Patience::MaySleep);
        self.before = asleep.took();
        (self.fuel_left, self.fuel_burned) = (asleep.fuel_left(), asleep.fuel());
        let terms = self.terms();
        self.ask(&Asked::Wake { asleep: &asleep.to_bytes(), script, terms })?;
        match self.answer()? {
            Said::OtherScript => Ok(Came::OtherScript),
            Said::Ended(report) => self.ended(report),
            Said::Asleep(bytes) => self.asleep(&bytes),
            Said::NoInstance(reason) => Err(Lost::NoInstance(reason)),
            _ => Err(misfit()),
        }
    }

    fn terms(&self) -> Terms<'r> {
        let run = self.run;
        Terms {
            budget: *self.budget,
            time: self.time_left(),
            cancelled: self.watch.until.is_cancelled(),
            grants: run.operations.grants(),
            tool: run.tool,
            call_id: run.call_id,
            seed: run.seed,
            started_at: run.started_at,
            real_clock: run.clock.is_some(),
            partial: run.partial.is_some(),
            fuel_covers: run.fuel_covers,
        }
    }

    /// How much time the call has until its deadline.
    fn time_left(&self) -> Duration {
        self.watch.until.deadline().saturating_duration_since(Instant::now())
    }

    fn ask(&mut self, asked: &Asked<'_>) -> Result<(), Lost> {
        let Self { worker, watch, .. } = self;
        let done = worker.pipe.say(asked, || watch.look(None));
        done.map_err(|broken| self.lost(&broken))
    }

    /// What the worker says in the end. What it wants until then is done.
    fn answer(&mut self) -> Result<Said, Lost> {
        let budget = self.budget;
        let limit = budget.memory + budget.output + 8 * budget.console + BEYOND;
        loop {
            let Self { worker, watch, .. } = self;
            let said = worker.pipe.hear::<Said>(limit, |socket| watch.look(Some(socket)));
            match said.map_err(|broken| self.lost(&broken))? {
                Said::Waits { begun, fuel, memory } => {
                    let rested = self.rest(begun, fuel, memory)?;
                    self.ask(&Asked::Rested(rested))?;
                }
                Said::Looks => {
                    let now = self.run.clock.map(|clock| clock()).ok_or_else(misfit)?;
                    self.ask(&Asked::Now(now))?;
                }
                Said::Partial(json) if json.len() <= budget.output => {
                    let json = Json::parse(json).map_err(|_| misfit())?;
                    if let Some(sink) = self.run.partial {
                        sink(json.as_str());
                    }
                }
                Said::Partial(_) => return Err(misfit()),
                other => return Ok(other),
            }
        }
    }

    /// Does what the tool began, and waits for it.
    fn rest(&mut self, begun: Option<Begun>, fuel: u64, memory: usize) -> Result<Rested, Lost> {
        let Some(patience) = self.patience else { return Err(misfit()) };
        let Begun { started, cancelled } = begun.unwrap_or_default();
        if fuel > self.fuel_left || memory > self.budget.memory || cancelled.len() > MAX_CANCELLED {
            return Err(misfit());
        }
        self.spend(fuel);
        for operation in &started {
            if operation.id <= self.last_started {
                return Err(misfit());
            }
            self.last_started = operation.id;
            self.pending.insert(operation.id);
        }
        // The guest watches that limit, also of what is cancelled in the same frame; whoever is beyond twice of it is no guest.
        if self.pending.len() > 2 * self.budget.operations as usize {
            return Err(misfit());
        }
        for id in &cancelled {
            self.pending.remove(id);
        }
        let operations = self.operations.get_or_insert_with(|| self.run.operations.start());
        if !(started.is_empty() && cancelled.is_empty()) {
            operations.begin(started, &cancelled);
        }
        let until = &self.watch.until;
        let left = Left { until, fuel, memory };
        let rest = match patience {
            Patience::Awake => Rest::Waited(operations.wait(&left)),
            Patience::MaySleep => operations.wait_or_sleep(&left),
        };
        let cancelled = until.is_cancelled();
        if let Rest::Waited(waited) = &rest {
            for ended in &waited.ended {
                self.pending.remove(&ended.id);
            }
            let left = self.fuel_left.saturating_sub(waited.fuel);
            self.spend(left);
        }
        Ok(Rested { rest, left: self.time_left(), cancelled })
    }

    /// Notes that so much fuel is left, which is not more than before.
    fn spend(&mut self, left: u64) {
        self.fuel_burned += self.fuel_left.saturating_sub(left);
        self.fuel_left = left;
    }

    /// The report of a worker, where it can be one.
    fn ended(&self, report: Box<Report>) -> Result<Came, Lost> {
        let mut report = report;
        let budget = self.budget;
        let output = match &report.outcome {
            Outcome::Returned(Some(value)) => value.as_str().len(),
            _ => 0,
        };
        // Bytes that are no text become longer when they are made text.
        let console: usize = report.logs.iter().map(|line| line.text.len()).sum();
        let warnings: usize = report.warnings.iter().map(|it| it.path.len() + it.message.len()).sum();
        let Usage { fuel, load_fuel, .. } = report.usage;
        let fuel_fits = fuel <= budget.fuel && fuel.saturating_add(load_fuel) >= self.fuel_burned;
        let fits = fuel_fits
            && output <= budget.output
            && console <= 3 * (budget.console + 1)
            && warnings <= budget.output + WARNINGS_BEYOND
            && report.warnings.len() <= WARNINGS_LIMIT;
        if !fits {
            return Err(misfit());
        }
        report.usage.duration = self.before + self.started.elapsed();
        Ok(Came::Ended(report))
    }

    fn asleep(&self, bytes: &[u8]) -> Result<Came, Lost> {
        match Asleep::from_bytes(bytes) {
            Ok(asleep) if asleep.budget() == self.budget && asleep.fuel_left() <= self.fuel_left => {
                Ok(Came::Asleep(Box::new(asleep)))
            }
            _ => Err(misfit()),
        }
    }

    fn lost(&mut self, broken: &Broken) -> Lost {
        match broken {
            Broken::Closed => died(self.worker.end()),
            Broken::GivenUp if self.watch.cancelled.is_some() => Lost::Worker(Stop::Cancelled),
            Broken::GivenUp => Lost::Worker(Stop::Deadline { limit: self.budget.deadline }),
            other => died(format!("{other}, and was ended")),
        }
    }
}

/// Of a worker that says what does not fit.
pub(crate) fn misfit() -> Lost {
    died("it said what no worker says, and was ended".to_owned())
}

fn died(detail: String) -> Lost {
    tracing::warn!(detail, "a worker of the jail died");
    Lost::Worker(Stop::WorkerDied { detail })
}

/// The report of a call of which nothing is known but how it ended.
pub(crate) fn never_began(stop: Stop, started: Instant) -> Report {
    let usage = Usage { duration: started.elapsed(), ..Usage::default() };
    let outcome = Outcome::Stopped(stop);
    Report { outcome, logs: Vec::new(), warnings: Vec::new(), readings: Vec::new(), usage }
}

#[cfg(test)]
mod tests;
