//! The recording of attempts: one record and one audit line for each, whatever its outcome.
//!
//! ```text
//! start: the attempt is on disk before anything runs → finish: record, usage, audit line
//!     → the journal entry is removed
//! ```
//!
//! Invariant: a started attempt is finished exactly once: on return, on an early return, on a panic
//! of its thread, and, if the process was killed, as `interrupted` when the store is opened next.

mod summary;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_error::ErrorCode;
use toolcell_flows::Label;
use toolcell_host::{Effects, Outcome, Params, Report, Stop};
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_store::audit::{Action, AuditEvent, Details, Digest, EventFailure};
use toolcell_store::{
    ActiveRun, Fault, FinishedRun, RECEIPT_KIND, RUN_KIND, ReceiptLimits, Record, RecordError, RunId, UsageEvent,
};
use toolcell_tool::{ToolId, ToolName};

use summary::{outcome, resource_use};

use super::Recorder;
use crate::admission::Permit;
use crate::admission::hook::CallerClaims;
use crate::host_calls::{EffectLog, RunEnvironment};

/// The outcomes of runs, as records name them.
pub(super) const OUTCOMES: [&str; 9] =
    ["returned", "threw", "stopped", "refused", "suspended", "interrupted", "passed", "failed", "unproven"];
/// The maximum length of a tool name in a record, in characters.
const MAX_NAME_CHARS: usize = 64;
/// The maximum length of a caller in a record, in characters. Name and caller together fit into the
/// journal entry of a run.
const MAX_CALLER_CHARS: usize = 32;
/// The maximum size of a receipt that is kept, in bytes.
const MAX_KEPT_RECEIPT_BYTES: usize = 1 << 20;
/// How many receipts a store keeps.
const RECEIPT_LIMITS: ReceiptLimits = ReceiptLimits { count: 1_000, bytes: 64 << 20 };

/// The record of an attempt to run a tool. Its JSON is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The identifier of the run.
    pub run: String,
    /// The action: `run_dynamic_tool`, `resume` for a suspended run, `exec` for a draft.
    pub action: String,
    /// The run that was to be resumed, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<String>,
    /// The caller.
    pub caller: String,
    /// What the caller claims about itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<CallerClaims>,
    /// The identifier of the tool, if it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The name or identifier that the caller used.
    pub name: String,
    /// The start time.
    pub at: Timestamp,
    /// The digest of the parameters.
    pub parameters: ContentDigest,
    /// The outcome: `returned`, `threw`, `stopped`, `refused`, `suspended`, `interrupted`.
    pub outcome: String,
    /// The error code, if the run did not return.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The digest of the parameters after the hooks, if they changed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<ContentDigest>,
    /// The digest of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ContentDigest>,
    /// Who admitted or refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The grants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<Value>,
    /// The seed of its random numbers in hexadecimal, if it was drawn from the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The host calls that were performed for the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<EffectLog>,
    /// The resources that the run used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<ResourceUse>,
    /// The hash of the receipt that the store keeps of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// The digest of a text: its hash and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentDigest {
    /// The blake3 hash in hexadecimal.
    pub blake3: String,
    /// The size in bytes.
    pub bytes: u64,
}

/// The resources that a run used, and the versions that metered them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceUse {
    /// Fuel of the call.
    pub fuel: u64,
    /// Fuel of loading the script.
    pub load_fuel: u64,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Wall-clock time in microseconds.
    pub micros: u64,
    /// The digest of the guest.
    pub guest: String,
    /// The version of the engine.
    pub engine: String,
}

impl ContentDigest {
    pub(crate) fn new(text: &str) -> Self {
        Self { blake3: blake3::hash(text.as_bytes()).to_hex().to_string(), bytes: text.len() as u64 }
    }
}

/// The journal entry of a started attempt.
#[derive(Serialize, Deserialize)]
pub(super) struct RunStart<'a> {
    pub(super) run: &'a str,
    pub(super) action: &'a str,
    pub(super) caller: &'a str,
    pub(super) name: &'a str,
    pub(super) at: Timestamp,
    pub(super) blake3: &'a str,
    pub(super) bytes: u64,
}

/// The recorder of a started attempt. It writes the record when it is [finished](Self::finish) or
/// dropped.
pub(crate) struct RunRecorder<'a> {
    recorder: &'a Recorder,
    active: Option<ActiveRun>,
    params: &'a str,
    action: Action,
    record: RunRecord,
    tool: Option<ToolId>,
    started: Instant,
    /// The number of tokens that the run saves, if the host reports it.
    pub(crate) tokens_saved: Option<u64>,
    /// The time that the run saves, if the host reports it.
    pub(crate) time_saved: Option<Duration>,
    summary: Option<CallSummary>,
    fuel: u64,
    waited: Duration,
    effects: Effects,
    flow_label: Option<Label>,
    /// Why the attempt is not recorded, if the policy permits that.
    unrecorded: Option<Message>,
}

/// The result of recording an attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordStatus {
    /// The hash of the record.
    pub(crate) record: Option<blake3::Hash>,
    /// Why the attempt is not recorded, or not completely yet.
    pub(crate) unrecorded: Option<Message>,
}

/// The summary of a finished call.
struct CallSummary {
    outcome: &'static str,
    failure: Option<EventFailure>,
    fuel: u64,
    duration: Duration,
    /// Whether the call counts in the tool's statistics: a call that its caller cancelled does not.
    counts_as_use: bool,
}

/// The end of an attempt.
pub(crate) enum AttemptEnd {
    /// The call finished.
    Completed,
    /// The attempt was refused, or its result was withheld.
    Refused {
        /// The stable code of the refusal.
        code: ErrorCode,
        /// The message, for logs that record messages.
        message: String,
    },
    /// The thread or the process died.
    Lost(ErrorCode),
}

impl<'a> RunRecorder<'a> {
    /// Starts an attempt. If recording fails and the policy does not require it, the attempt starts
    /// unrecorded.
    pub(crate) fn start(
        recorder: &'a Recorder,
        action: Action,
        caller: &str,
        name: &str,
        params: &'a Params,
    ) -> Result<Self, Fault> {
        let cut = |text: &str, most| text.chars().take(most).collect::<String>();
        let (at, params) = (recorder.now(), params.as_str());
        let mut record = RunRecord {
            run: String::new(),
            action: action.name().to_owned(),
            resumes: None,
            caller: cut(caller, MAX_CALLER_CHARS),
            claims: None,
            tool: None,
            name: cut(name, MAX_NAME_CHARS),
            at,
            parameters: ContentDigest { blake3: String::new(), bytes: params.len() as u64 },
            outcome: String::new(),
            code: None,
            changed: None,
            result: None,
            decided_by: None,
            grants: None,
            seed: None,
            done: None,
            used: None,
            receipt: None,
        };
        let begun = recorder.store.as_deref().map(|store| {
            record.parameters = ContentDigest::new(params);
            store.runs().start(|run| {
                record.run = run.to_string();
                let beginning = RunStart {
                    run: &record.run,
                    action: &record.action,
                    caller: &record.caller,
                    name: &record.name,
                    at,
                    blake3: &record.parameters.blake3,
                    bytes: record.parameters.bytes,
                };
                // Strings, a number and a time always serialize.
                serde_json::to_vec(&beginning).unwrap_or_default()
            })
        });
        let (begun, unrecorded) = match begun {
            None => (None, None),
            Some(Ok(begun)) => (Some(begun), None),
            Some(Err(fault)) if recorder.is_required => return Err(fault),
            Some(Err(fault)) => (None, Some(fault.localize())),
        };
        Ok(Self {
            recorder,
            active: begun,
            params,
            action,
            record,
            tool: None,
            started: Instant::now(),
            tokens_saved: None,
            time_saved: None,
            summary: None,
            fuel: 0,
            waited: Duration::ZERO,
            effects: Effects::None,
            flow_label: None,
            unrecorded,
        })
    }

    /// Returns the identifier of the run; empty if it is not recorded.
    pub(crate) fn run(&self) -> &str {
        &self.record.run
    }

    /// Returns the identifier of the run; `None` if it is not recorded.
    pub(crate) fn run_id(&self) -> Option<RunId> {
        self.active.as_ref().map(ActiveRun::run)
    }

    /// Sets the run that is to be resumed.
    pub(crate) fn set_resumed_run(&mut self, run: &str) {
        self.record.resumes = Some(run.chars().take(MAX_NAME_CHARS).collect());
    }

    /// Returns the call identifier that the tool sees. Its length is constant, so that fuel does
    /// not depend on the number of runs.
    pub(crate) fn call_id(&self) -> String {
        format!("call_{}", &blake3::hash(self.record.run.as_bytes()).to_hex()[..24])
    }

    /// Sets the tool.
    pub(crate) fn set_tool(&mut self, id: ToolId, name: &ToolName) {
        self.tool = Some(id);
        self.record.tool = Some(id.to_string());
        name.as_str().clone_into(&mut self.record.name);
    }

    /// Returns the tool, if it was found.
    pub(crate) fn tool(&self) -> Option<ToolId> {
        self.tool
    }

    /// Sets what the caller claims about itself.
    pub(crate) fn set_claims(&mut self, claims: &CallerClaims) {
        self.record.claims = Some(claims.truncated()).filter(|claims| !claims.is_empty());
    }

    /// Sets who decided.
    pub(crate) fn set_decider(&mut self, by: &str) {
        self.record.decided_by = Some(by.chars().take(MAX_NAME_CHARS).collect());
    }

    /// Sets the permit: the decider, the grants and the changed parameters.
    pub(crate) fn set_permit(&mut self, permit: &Permit) {
        if self.active.is_none() {
            return;
        }
        self.set_decider(permit.decided_by());
        self.record.grants = Some(permit.grants().to_value()).filter(|_| !permit.grants().is_empty());
        let ran = permit.args().params().as_str();
        self.record.changed = (ran != self.params).then(|| ContentDigest::new(ran));
    }

    /// Keeps the receipt of the run in the store. If that fails, the run is recorded without it.
    pub(crate) fn keep_receipt(&mut self, receipt: String) {
        let (Some(store), Some(_)) = (self.recorder.store.as_ref(), &self.active) else { return };
        let body = receipt.into_bytes();
        if body.len() > MAX_KEPT_RECEIPT_BYTES {
            tracing::warn!(run = self.run(), bytes = body.len(), "the receipt of the run is too large to be kept");
            return;
        }
        let record = Record { kind: RECEIPT_KIND.to_owned(), tool: self.tool, at: self.record.at, body };
        match store.runs().keep_receipt(&record, RECEIPT_LIMITS) {
            Ok(hash) => self.record.receipt = Some(hash.to_hex().to_string()),
            Err(fault) => tracing::warn!(run = self.run(), %fault, "the receipt of the run could not be kept"),
        }
    }

    /// Sets the seed of the random numbers, unless the caller chose it.
    pub(crate) fn set_seed(&mut self, seed: Option<u64>) {
        self.record.seed = seed.map(|seed| format!("{seed:016x}"));
    }

    /// Sets what the run did through its environment: the effects of the performed host calls, and where the data came
    /// from that it was handed.
    pub(crate) fn set_environment(&mut self, environment: &RunEnvironment<'_>) {
        environment.record_flows();
        self.effects = environment.effects.max_effects();
        self.record.done = environment.effects.take_log();
        self.flow_label = environment.flow_label();
    }

    /// Returns where the data came from that the run was handed, if its policy has rules about flows.
    pub(crate) fn flow_label(&self) -> Option<&Label> {
        self.flow_label.as_ref()
    }

    /// Whether hooks changed the parameters.
    pub(crate) fn are_parameters_changed(&self) -> bool {
        self.record.changed.is_some()
    }

    /// Returns the performed host calls.
    pub(crate) fn effect_log(&self) -> Option<EffectLog> {
        self.record.done.clone()
    }

    /// Returns the fuel including loading, the time spent waiting, and the effects so far.
    pub(crate) fn consumed(&self) -> (u64, Duration, Effects) {
        (self.fuel, self.waited, self.effects)
    }

    /// Sets the report of the call, before the post-run hooks see it.
    pub(crate) fn set_report(&mut self, report: &Report) {
        self.fuel = report.usage.fuel.saturating_add(report.usage.load_fuel);
        self.waited = report.usage.waited;
        if self.active.is_none() {
            return;
        }
        self.record.used = Some(resource_use(report));
        if let Outcome::Returned(Some(value)) = &report.outcome {
            self.record.result = Some(ContentDigest::new(value.as_str()));
        }
        let (outcome, failure) = outcome(report);
        let counts = !matches!(report.outcome, Outcome::Stopped(Stop::Cancelled));
        let (fuel, duration) = (report.usage.fuel, report.usage.duration);
        self.summary = Some(CallSummary { outcome, failure, fuel, duration, counts_as_use: counts });
    }

    /// Sets the result of a verification. It does not count in the tool's statistics.
    pub(crate) fn set_proof(&mut self, outcome: &'static str, fuel: u64, duration: Duration) {
        self.summary = Some(CallSummary { outcome, failure: None, fuel, duration, counts_as_use: false });
    }

    /// Sets the outcome of a run that was suspended or stopped early. It does not count in the
    /// tool's statistics.
    pub(crate) fn set_early_end(&mut self, outcome: &'static str, fuel: u64) {
        let duration = self.started.elapsed();
        self.summary = Some(CallSummary { outcome, failure: None, fuel, duration, counts_as_use: false });
    }

    /// Finishes the attempt and writes its record.
    ///
    /// # Errors
    /// The record cannot be written, and the policy requires records.
    pub(crate) fn finish(mut self, ended: AttemptEnd) -> Result<RecordStatus, RecordError> {
        let begun = self.active.is_some();
        match self.write_record(ended) {
            Ok(record) => {
                let store = self.recorder.store.as_ref().filter(|_| begun);
                let is_late = store.is_some_and(|store| store.runs().is_log_behind());
                let late = is_late.then(|| message!("its line is not in the audit log yet, and will follow"));
                Ok(RecordStatus { record, unrecorded: self.unrecorded.take().or(late) })
            }
            Err(error) if self.recorder.is_required => Err(error),
            Err(error) => Ok(RecordStatus { record: None, unrecorded: Some(error.localize()) }),
        }
    }

    fn write_record(&mut self, ended: AttemptEnd) -> Result<Option<blake3::Hash>, RecordError> {
        let (Some(begun), Some(store)) = (self.active.take(), self.recorder.store.as_ref()) else { return Ok(None) };
        let at = self.recorder.now();
        let ran = self.summary.take();
        let outcome = match (&ended, &ran) {
            (AttemptEnd::Lost(_), _) | (AttemptEnd::Completed, None) => "interrupted",
            (_, Some(left)) => left.outcome,
            (AttemptEnd::Refused { .. }, None) => "refused",
        };
        let failed = ran.as_ref().and_then(|left| left.failure.clone());
        let failure = match ended {
            AttemptEnd::Refused { code, message } => Some(EventFailure { code, message: Some(message) }),
            AttemptEnd::Lost(code) => Some(EventFailure { code, message: None }),
            AttemptEnd::Completed => failed.clone(),
        };
        outcome.clone_into(&mut self.record.outcome);
        self.record.code = failure.as_ref().map(|failure| failure.code.to_string());
        let mut details = Details {
            parameters: Some(Digest::new(self.params.as_bytes())),
            outcome: Some(outcome),
            decided_by: self.record.decided_by.clone(),
            caller: self.record.claims.as_ref().map(|claims| claims.describe(&self.record.caller)),
            ..Details::default()
        };
        let mut usage = None;
        if let Some(left) = ran {
            details.fuel = Some(left.fuel);
            details.duration_ms = Some(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX));
            let failure = failed.map(|failure| failure.code.to_string());
            let (fuel, duration) = (left.fuel, left.duration);
            let (tokens_saved, time_saved) = (self.tokens_saved, self.time_saved);
            let event = |tool| UsageEvent { tool, at, failure, fuel, duration, tokens_saved, time_saved };
            usage = self.tool.filter(|_| left.counts_as_use).map(event);
        }
        let name = Some(self.record.name.clone()).filter(|name| !name.is_empty());
        let attempt = AuditEvent {
            tool: self.tool,
            name,
            result: failure.map_or(Ok(()), Err),
            details,
            ..AuditEvent::new(self.action, at)
        };
        let record = Record { kind: RUN_KIND.to_owned(), tool: self.tool, at, body: to_json(&self.record) };
        let kept = store.runs().finish(begun, FinishedRun { usage, record, audit_event: attempt })?;
        self.recorder.flusher.notify(store);
        Ok(Some(kept))
    }
}

impl Drop for RunRecorder<'_> {
    /// Finishes an attempt whose thread panicked.
    fn drop(&mut self) {
        if self.active.is_some()
            && let Err(fault) = self.write_record(AttemptEnd::Lost(ErrorCode::Bug))
        {
            tracing::error!(run = self.record.run, %fault, "cannot record an attempt");
        }
    }
}

#[expect(clippy::expect_used, reason = "an empty record would lose the run")]
pub(super) fn to_json(record: &RunRecord) -> Vec<u8> {
    // Strings, numbers and times always serialize.
    serde_json::to_vec(record).expect("a run record has a JSON form")
}
