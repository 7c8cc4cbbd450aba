//! What is kept of each attempt to run something: one record and one audit line, whatever becomes of it.
//!
//! ```text
//! begin: the attempt is on disk before anything runs → end: record, usage, audit line → the beginning is forgotten
//! ```
//!
//! Invariant: an attempt that was begun is ended exactly once: when it returns, when a line returns early, when a thread
//! panics, and, where the process was killed, when the store is opened next, as `interrupted`.

mod interrupted;
mod words;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_host::{Effects, Outcome, Params, Report, Stop};
use toolcell_store::audit::{Action, Attempt, Details, Digest, Failure};
use toolcell_store::{Begun, Fault, RUN, Record, RecordError, RunEnd, RunId, UsageEvent};
use toolcell_tool::{ToolId, ToolName};

pub(crate) use interrupted::close_interrupted;
use words::{outcome, used};

use crate::operations::{Done, Ledger};
use crate::permit::Permit;
use crate::toolbox::Toolbox;

/// How runs end, in the words of records.
const OUTCOMES: [&str; 9] =
    ["returned", "threw", "stopped", "refused", "asleep", "interrupted", "passed", "failed", "unproven"];
/// How much of what a caller said the name of a tool is gets into a record, in characters.
const SHOWN: usize = 64;
/// The same of a caller: both fit into the beginning of a run, whatever they are.
const SHOWN_OF_CALLER: usize = 32;

/// What happened when something was to run. Its JSON is a record in the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// Its identifier.
    pub run: String,
    /// What was tried: `run_dynamic_tool`, `resume` for a run that slept, `exec` for a draft.
    pub action: String,
    /// The run that was to be woken, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<String>,
    /// Who tried it.
    pub caller: String,
    /// The tool, where one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it was called by.
    pub name: String,
    /// When it began.
    pub at: Timestamp,
    /// What it was given.
    pub parameters: Size,
    /// How it ended: `returned`, `threw`, `stopped`, `refused`, `asleep`, `interrupted`.
    pub outcome: String,
    /// Why it did not return.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What it ran with, where gates changed that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Size>,
    /// What it returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Size>,
    /// Who let it run, or did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// What it was granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<Value>,
    /// The seed of its random numbers, in hex, where it was drawn from the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// What was done for it outside of its cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Done>,
    /// What it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
}

/// What something was, without what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Its blake3 hash, in hex.
    pub blake3: String,
    /// How long it was.
    pub bytes: u64,
}

/// What a run used, and by which measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Used {
    /// Fuel of the call.
    pub fuel: u64,
    /// Fuel of loading the script.
    pub load_fuel: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Time, in microseconds.
    pub micros: u64,
    /// The digest of the guest.
    pub guest: String,
    /// The version of the engine.
    pub engine: String,
}

impl Size {
    pub(crate) fn of(text: &str) -> Self {
        Self { blake3: blake3::hash(text.as_bytes()).to_hex().to_string(), bytes: text.len() as u64 }
    }
}

/// What is on disk of an attempt that has begun.
#[derive(Serialize, Deserialize)]
struct Beginning<'a> {
    run: &'a str,
    action: &'a str,
    caller: &'a str,
    name: &'a str,
    at: Timestamp,
    blake3: &'a str,
    bytes: u64,
}

/// An attempt that has begun. What becomes of it is kept when it is [ended](Self::end), or dropped.
pub(crate) struct Attempted<'a> {
    toolbox: &'a Toolbox,
    begun: Option<Begun>,
    params: &'a str,
    action: Action,
    record: RunRecord,
    tool: Option<ToolId>,
    started: Instant,
    /// How many tokens it saves, where its host says so.
    pub(crate) tokens_saved: Option<u64>,
    ran: Option<Left>,
    fuel: u64,
    waited: Duration,
    effects: Effects,
    /// Why it is not recorded, where the policy lets it run all the same.
    unrecorded: Option<String>,
}

/// What is kept of an attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorded {
    /// The hash of its record.
    pub(crate) record: Option<blake3::Hash>,
    /// Why it is not recorded, or not completely yet.
    pub(crate) unrecorded: Option<String>,
}

/// What a tool left when it ran.
struct Left {
    outcome: &'static str,
    failure: Option<Failure>,
    fuel: u64,
    duration: Duration,
    /// Whether it says something about the tool: a call that its caller broke off does not.
    counts: bool,
}

/// How an attempt ended, as far as it is kept.
pub(crate) enum Ended {
    /// As the tool left it.
    AsItRan,
    /// It was refused, or what the tool left was kept back.
    Refused {
        /// The stable code of the refusal.
        code: &'static str,
        /// What was said, for logs that keep what is said.
        message: String,
    },
    /// Its thread, or its process, did not come back from it.
    Lost(&'static str),
}

impl<'a> Attempted<'a> {
    /// Begins an attempt. What is not recorded because the policy does not ask for it begins as well.
    pub(crate) fn begin(
        toolbox: &'a Toolbox,
        action: Action,
        caller: &str,
        name: &str,
        params: &'a Params,
    ) -> Result<Self, Fault> {
        let cut = |text: &str, most| text.chars().take(most).collect::<String>();
        let (at, params) = (toolbox.now(), params.as_str());
        let mut record = RunRecord {
            run: String::new(),
            action: action.name().to_owned(),
            resumes: None,
            caller: cut(caller, SHOWN_OF_CALLER),
            tool: None,
            name: cut(name, SHOWN),
            at,
            parameters: Size { blake3: String::new(), bytes: params.len() as u64 },
            outcome: String::new(),
            code: None,
            changed: None,
            result: None,
            decided_by: None,
            grants: None,
            seed: None,
            done: None,
            used: None,
        };
        let begun = toolbox.store.as_deref().map(|store| {
            record.parameters = Size::of(params);
            store.begin_run(|run| {
                record.run = run.to_string();
                let beginning = Beginning {
                    run: &record.run,
                    action: &record.action,
                    caller: &record.caller,
                    name: &record.name,
                    at,
                    blake3: &record.parameters.blake3,
                    bytes: record.parameters.bytes,
                };
                // Strings, a number and a time: there is nothing in it that cannot be written.
                serde_json::to_vec(&beginning).unwrap_or_default()
            })
        });
        let (begun, unrecorded) = match begun {
            None => (None, None),
            Some(Ok(begun)) => (Some(begun), None),
            Some(Err(fault)) if toolbox.policy.records_are_required() => return Err(fault),
            Some(Err(fault)) => (None, Some(fault.to_string())),
        };
        Ok(Self {
            toolbox,
            begun,
            params,
            action,
            record,
            tool: None,
            started: Instant::now(),
            tokens_saved: None,
            ran: None,
            fuel: 0,
            waited: Duration::ZERO,
            effects: Effects::None,
            unrecorded,
        })
    }

    /// The identifier of the run; empty where none is kept.
    pub(crate) fn run(&self) -> &str {
        &self.record.run
    }

    /// The same; nothing where none is kept.
    pub(crate) fn run_id(&self) -> Option<RunId> {
        self.begun.as_ref().map(Begun::run)
    }

    /// Notes which run is to be woken.
    pub(crate) fn resumes(&mut self, run: &str) {
        self.record.resumes = Some(run.chars().take(SHOWN).collect());
    }

    /// What the tool is told that its call is called. It is as long for each run, or fuel would depend on how many there were.
    pub(crate) fn call_id(&self) -> String {
        format!("call_{}", &blake3::hash(self.record.run.as_bytes()).to_hex()[..24])
    }

    /// Notes which tool it is about.
    pub(crate) fn is_about(&mut self, id: ToolId, name: &ToolName) {
        self.tool = Some(id);
        self.record.tool = Some(id.to_string());
        name.as_str().clone_into(&mut self.record.name);
    }

    /// Notes who decided.
    pub(crate) fn was_decided_by(&mut self, by: &str) {
        self.record.decided_by = Some(by.chars().take(SHOWN).collect());
    }

    /// Notes with what it was let through.
    pub(crate) fn is_permitted(&mut self, permit: &Permit) {
        if self.begun.is_none() {
            return;
        }
        self.was_decided_by(permit.decided_by());
        self.record.grants = Some(permit.grants().to_value()).filter(|_| !permit.grants().is_empty());
        let ran = permit.args().params().as_str();
        self.record.changed = (ran != self.params).then(|| Size::of(ran));
    }

    /// Notes from which seed its random numbers come, where it is not one that the caller chose.
    pub(crate) fn has_drawn(&mut self, seed: Option<u64>) {
        self.record.seed = seed.map(|seed| format!("{seed:016x}"));
    }

    /// Notes what was done for the tool.
    pub(crate) fn has_done(&mut self, ledger: &Ledger) {
        self.effects = ledger.farthest();
        self.record.done = ledger.taken();
    }

    /// What was done for the tool.
    pub(crate) fn done(&self) -> Option<Done> {
        self.record.done.clone()
    }

    /// What it took so far: fuel, also of loading, how long it waited, and how far what was done for it got.
    pub(crate) fn spent(&self) -> (u64, Duration, Effects) {
        (self.fuel, self.waited, self.effects)
    }

    /// Notes what the tool left, before gates look at it.
    pub(crate) fn has_run(&mut self, report: &Report) {
        self.fuel = report.usage.fuel.saturating_add(report.usage.load_fuel);
        self.waited = report.usage.waited;
        if self.begun.is_none() {
            return;
        }
        self.record.used = Some(used(report));
        if let Outcome::Returned(Some(value)) = &report.outcome {
            self.record.result = Some(Size::of(value.as_str()));
        }
        let (outcome, failure) = outcome(report);
        let counts = !matches!(report.outcome, Outcome::Stopped(Stop::Cancelled));
        let (fuel, duration) = (report.usage.fuel, report.usage.duration);
        self.ran = Some(Left { outcome, failure, fuel, duration, counts });
    }

    /// Notes what came of a proof. It says nothing about how the tool does in use.
    pub(crate) fn has_proved(&mut self, outcome: &'static str, fuel: u64, duration: Duration) {
        self.ran = Some(Left { outcome, failure: None, fuel, duration, counts: false });
    }

    /// Notes how a run ended that is not over, or got nowhere. It says nothing about how the tool does in use.
    pub(crate) fn has_left(&mut self, outcome: &'static str, fuel: u64) {
        let duration = self.started.elapsed();
        self.ran = Some(Left { outcome, failure: None, fuel, duration, counts: false });
    }

    /// Keeps how it ended.
    ///
    /// # Errors
    /// It is not recorded, and the policy demands that it is.
    pub(crate) fn end(mut self, ended: Ended) -> Result<Recorded, RecordError> {
        let begun = self.begun.is_some();
        match self.keep(ended) {
            Ok(record) => {
                let store = self.toolbox.store.as_ref().filter(|_| begun);
                let is_late = store.is_some_and(|store| store.is_log_behind());
                let late = is_late.then(|| "its line is not in the audit log yet, and follows".to_owned());
                Ok(Recorded { record, unrecorded: self.unrecorded.take().or(late) })
            }
            Err(error) if self.toolbox.policy.records_are_required() => Err(error),
            Err(error) => Ok(Recorded { record: None, unrecorded: Some(error.to_string()) }),
        }
    }

    fn keep(&mut self, ended: Ended) -> Result<Option<blake3::Hash>, RecordError> {
        let (Some(begun), Some(store)) = (self.begun.take(), self.toolbox.store.as_ref()) else { return Ok(None) };
        let at = self.toolbox.now();
        let ran = self.ran.take();
        let outcome = match (&ended, &ran) {
            (Ended::Lost(_), _) | (Ended::AsItRan, None) => "interrupted",
            (_, Some(left)) => left.outcome,
            (Ended::Refused { .. }, None) => "refused",
        };
        let failed = ran.as_ref().and_then(|left| left.failure.clone());
        let failure = match ended {
            Ended::Refused { code, message } => Some(Failure { code, message: Some(message) }),
            Ended::Lost(code) => Some(Failure { code, message: None }),
            Ended::AsItRan => failed.clone(),
        };
        outcome.clone_into(&mut self.record.outcome);
        self.record.code = failure.as_ref().map(|failure| failure.code.to_owned());
        let mut details = Details {
            parameters: Some(Digest::of(self.params.as_bytes())),
            outcome: Some(outcome),
            decided_by: self.record.decided_by.clone(),
            ..Details::default()
        };
        let mut usage = None;
        if let Some(left) = ran {
            details.fuel = Some(left.fuel);
            details.duration_ms = Some(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX));
            let failure = failed.map(|failure| failure.code.to_owned());
            let (fuel, duration) = (left.fuel, left.duration);
            let tokens_saved = self.tokens_saved;
            let event = |tool| UsageEvent { tool, at, failure, fuel, duration, tokens_saved };
            usage = self.tool.filter(|_| left.counts).map(event);
        }
        let name = Some(self.record.name.clone()).filter(|name| !name.is_empty());
        let attempt = Attempt {
            tool: self.tool,
            name,
            result: failure.map_or(Ok(()), Err),
            details,
            ..Attempt::new(self.action, at)
        };
        let record = Record { kind: RUN.to_owned(), tool: self.tool, at, body: body(&self.record) };
        let kept = store.end_run(begun, RunEnd { usage, record, attempt })?;
        self.toolbox.keeper.tell(store);
        Ok(Some(kept))
    }
}

impl Drop for Attempted<'_> {
    /// Ends what nobody ended: a thread panicked.
    fn drop(&mut self) {
        if self.begun.is_some()
            && let Err(fault) = self.keep(Ended::Lost("bug"))
        {
            tracing::error!(run = self.record.run, %fault, "an attempt cannot be recorded");
        }
    }
}

fn body(record: &RunRecord) -> Vec<u8> {
    // Strings, numbers and times: there is nothing in it that cannot be written.
    serde_json::to_vec(record).unwrap_or_default()
}
