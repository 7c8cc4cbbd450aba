//! `run_dynamic_tool`: runs a stored tool.
//!
//! Invariant: each attempt leaves one record and one audit line, also where a line returns early.

mod enter;
mod error;
mod given;
mod within;

use std::sync::Arc;

use toolcell_host::{CancelToken, Effects, Json, Outcome, PartialSink, ProfileSlot, Report, WhenFull};
use toolcell_store::Entry;
use toolcell_store::audit::Action;
use toolcell_tool::{Status, ToolId, ToolName};

use crate::gate::{Context, Person};
use crate::operations::{Done, Nesting, PlanChain, Planner};
use crate::permit::{NotAdmitted, Permit, Purpose, Step, Subject};
use crate::policy::Wanted;
use crate::receipt::{Receipt, Recording, Signer};
use crate::record::{Attempted, Ended};
use crate::request::RunTool;
use crate::review::Seen;
use crate::toolbox::Toolbox;

pub(crate) use enter::Admitted;
pub use error::{Failed, RunError};
use given::drawn;
pub(crate) use given::{inward, key, since_1970, waiting};
pub(crate) use within::{Called, Within};

/// What one run is given besides its request.
#[derive(Clone)]
pub struct RunOptions {
    /// Who runs it, for the record.
    pub caller: String,
    /// Limits, where they are not those of the policy.
    pub limits: Wanted,
    /// The seed of `Math.random()`, for tools that are not granted real random numbers.
    pub seed: u64,
    /// Ends the run from another thread.
    pub cancel: Option<CancelToken>,
    /// Gets partial results, as JSON text, while the tool runs.
    pub partial: Option<PartialSink>,
    /// Who is asked where a gate or the policy wants somebody to be asked.
    pub person: Option<Arc<dyn Person>>,
    /// What to do where as many calls run as may.
    pub when_full: WhenFull,
    /// Decides what happens of what would change the world; the rest of the run waits for it. All of it happens unless said.
    pub plan: Option<Arc<dyn Planner>>,
    /// How many tokens the run saves if it goes well, for the ledger.
    pub tokens_saved: Option<u64>,
    /// Whether it gets a [`Receipt`].
    pub receipt: bool,
    /// Gets where the fuel of the run goes, unless it may be put to sleep.
    pub profile: Option<Arc<ProfileSlot>>,
}

impl Default for RunOptions {
    /// A host that nobody can be asked at, with the limits of the policy.
    fn default() -> Self {
        Self {
            caller: "host".to_owned(),
            limits: Wanted::default(),
            seed: 0,
            cancel: None,
            partial: None,
            person: None,
            when_full: WhenFull::Wait,
            plan: None,
            tokens_saved: None,
            receipt: false,
            profile: None,
        }
    }
}

/// A run that took place, however it ended.
#[derive(Debug, Clone)]
#[must_use = "a tool that failed is in here as well"]
pub struct Ran {
    /// The tool.
    pub tool: ToolId,
    /// Its name.
    pub name: ToolName,
    /// How it ended, as the gates let it through.
    pub report: Report,
    /// What gates add for the model.
    pub context: Vec<Context>,
    /// Whether a gate wants the output kept from the model. It is in the report all the same.
    pub suppressed: bool,
    /// The gate that changed how it ended.
    pub revised_by: Option<String>,
    /// That it is deprecated, if it is.
    pub deprecated: Option<Deprecation>,
    /// What was done for it outside of its cell.
    pub done: Option<Done>,
    /// How far that changed the world, with all that tools did which it called: `none` where it only looked.
    pub effects: Effects,
    /// The hash of its record in the store.
    pub record: Option<blake3::Hash>,
    /// Why it is not recorded, or not completely yet: its policy lets it run all the same.
    pub unrecorded: Option<String>,
    /// Its receipt, where one was asked for: of the run as the tool left it, whatever gates made of that.
    pub receipt: Option<Box<Receipt>>,
}

/// That a tool works, and something else is to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deprecation {
    /// What, where there is something.
    pub successor: Option<ToolName>,
}

impl Ran {
    /// What the tool returned: JSON text, or nothing for `undefined`.
    ///
    /// # Errors
    /// `tool-failed`, and the codes of the limits: it did not return.
    pub fn value(&self) -> Result<Option<&Json>, Failed> {
        match &self.report.outcome {
            Outcome::Returned(value) => Ok(value.as_ref()),
            Outcome::Threw(thrown) => Err(Failed::Threw(thrown.clone())),
            Outcome::Stopped(stop) => Err(Failed::Stopped(stop.clone())),
        }
    }
}

/// What would happen if a tool was run: every step of the decision, and what comes of it.
#[derive(Debug)]
pub struct Explanation {
    /// What was decided, in order.
    pub steps: Vec<Step>,
    /// Whether it would run; an error says why not.
    pub admitted: Result<(), RunError>,
}

impl Toolbox {
    /// Runs a stored tool.
    ///
    /// What the tool does is in the answer, also where it fails; an error is a run that did not take place.
    ///
    /// # Errors
    /// `tool-not-found`, `tool-mismatch`, `id-ambiguous`, `parameters-missing`, `parameters-invalid`,
    /// `safety-check-failed`, `permission-denied`, `limit-invalid`, `receipt-no-key`, `integrity`, `busy`, and those of the disk.
    pub fn run(&self, request: &RunTool, options: &RunOptions) -> Result<Ran, RunError> {
        let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
        let mut attempted =
            Attempted::begin(self, Action::RunDynamicTool, &options.caller, called, &request.parameters)?;
        attempted.tokens_saved = options.tokens_saved;
        let done = self.run_attempted(request, options, &mut attempted, None);
        let ended = match &done {
            Ok(_) => Ended::AsItRan,
            Err(error) => Ended::Refused { code: error.code(), message: error.to_string() },
        };
        let (.., effects) = attempted.spent();
        let record = attempted.end(ended).map_err(|source| RunError::Unrecorded { source, effects });
        let mut ran = done?;
        let recorded = record?;
        (ran.record, ran.unrecorded) = (recorded.record, recorded.unrecorded);
        Ok(ran)
    }

    /// The run itself.
    fn run_attempted(
        &self,
        request: &RunTool,
        options: &RunOptions,
        attempted: &mut Attempted<'_>,
        within: Option<&Within<'_>>,
    ) -> Result<Ran, RunError> {
        let signer = if options.receipt { Some(self.receipt_signer()?.ok_or(RunError::NoReceiptKey)?) } else { None };
        let admitted = self.admitted(request, options, attempted, within)?;
        self.go_through(admitted, signer, attempted)
    }

    /// What is before a run: each line hands the next one something stronger.
    pub(crate) fn admitted<'a>(
        &'a self,
        request: &RunTool,
        options: &'a RunOptions,
        attempted: &mut Attempted<'_>,
        within: Option<&Within<'_>>,
    ) -> Result<Admitted<'a>, RunError> {
        let entry = self.find_tool(request.tool_id.as_deref(), request.tool_name.as_deref())?;
        attempted.is_about(entry.id, &entry.name);
        let ready = self.ready(&entry)?;
        let budget = self.policy.budget(&timed(request, options))?;
        let budget = within.map_or(budget, |within| within.narrow(budget));
        let schema = ready.schema()?;
        let args = schema.check(request.parameters.clone())?;
        let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
        let subject = Subject { name: entry.name.as_str(), schema, asked: tool.asked(), tool: Some((&entry, tool)) };
        let purpose = Purpose::Run { person: options.person.as_deref(), caller: &options.caller };
        let permit = match self.admit(&subject, args, budget, purpose, &mut Vec::new()) {
            Ok(permit) => permit,
            Err(error) => {
                if let NotAdmitted::Denied(denial) = &error {
                    attempted.was_decided_by(&denial.by);
                    let args = serde_json::from_str(request.parameters.as_str()).unwrap_or_default();
                    let (name, why) = (entry.name.as_str(), denial.to_string());
                    self.tell_refused(name, Some(entry.id), args, "permission-denied", why);
                }
                return Err(error.into());
            }
        };
        let permit = match within {
            Some(within) => permit.within(within.grants),
            None => permit,
        };
        attempted.is_permitted(&permit);
        let random = drawn(permit.grants())?;
        attempted.has_drawn(random);
        let call_id = attempted.call_id();
        let begin = || options.plan.as_ref().map(|_| PlanChain::begin(entry.id, permit.args().params().as_str()));
        let plan = within.map_or_else(|| begin().map(Arc::new), |within| within.plan.clone());
        let given = self.give(permit.grants(), &entry, &call_id, options, Nesting { within, plan })?;
        Ok(Admitted { entry, ready: Arc::clone(&ready), permit, random, given })
    }

    /// Runs what was admitted, without sleep, and signs a receipt if it is to get one.
    pub(crate) fn go_through(
        &self,
        admitted: Admitted<'_>,
        signer: Option<Signer>,
        attempted: &mut Attempted<'_>,
    ) -> Result<Ran, RunError> {
        let recording = signer.map(|signer| Recording::of(&admitted.given, signer));
        let report = self.call(&admitted, recording.as_ref());
        let receipt = recording.and_then(Recording::into_receipt);
        attempted.has_done(&admitted.given.ledger);
        let Admitted { entry, permit, .. } = admitted;
        self.seen(entry, permit, report?, attempted).map(|ran| Ran { receipt, ..ran })
    }

    /// What the caller sees of a run that took place.
    pub(crate) fn seen(
        &self,
        entry: Entry,
        permit: Permit,
        report: Report,
        attempted: &mut Attempted<'_>,
    ) -> Result<Ran, RunError> {
        attempted.has_run(&report);
        let (.., effects) = attempted.spent();
        let seen = self.review(entry.name.as_str(), Some(entry.id), permit, report);
        let Seen { report, context, suppressed, revised_by } =
            seen.map_err(|denial| RunError::Withheld { denial, effects })?;
        let deprecated = self.deprecation(&entry);
        let (tool, name, done) = (entry.id, entry.name, attempted.done());
        Ok(Ran {
            tool,
            name,
            report,
            context,
            suppressed,
            revised_by,
            deprecated,
            done,
            effects,
            record: None,
            unrecorded: None,
            receipt: None,
        })
    }

    /// What is to be said of a tool that is deprecated. Where the store does not tell it has no successor: it ran.
    fn deprecation(&self, entry: &Entry) -> Option<Deprecation> {
        let successor = || self.in_place_of(entry).ok().flatten().map(|successor| successor.name);
        (entry.status == Status::Deprecated).then(|| Deprecation { successor: successor() })
    }

    /// Says what would be decided about a run, step by step, and runs nothing. Gates are asked, and say so; the person is
    /// not.
    ///
    /// # Errors
    /// None; why a tool would not run is part of the answer.
    pub fn explain(&self, request: &RunTool, options: &RunOptions) -> Explanation {
        let mut steps = Vec::new();
        let admitted = self.explained(request, options, &mut steps);
        Explanation { steps, admitted }
    }

    fn explained(&self, request: &RunTool, options: &RunOptions, steps: &mut Vec<Step>) -> Result<(), RunError> {
        let mut say = |stage, rule: String, verdict: &str, reason: String| {
            steps.push(Step { stage, rule, verdict: verdict.to_owned(), reason });
        };
        let entry = self.find_tool(request.tool_id.as_deref(), request.tool_name.as_deref())?;
        say("tool", entry.name.to_string(), "found", format!("{} ({})", entry.id, entry.status));
        let ready = self.ready(&entry)?;
        let budget = self.policy.budget(&timed(request, options))?;
        for (limit, value, origin) in self.policy.limits_of(&timed(request, options)) {
            say("limits", limit.name().to_owned(), &value.to_string(), origin);
        }
        let schema = ready.schema()?;
        let args = schema.check(request.parameters.clone())?;
        say("parameters", "declared".to_owned(), "pass", args.params().as_str().chars().take(200).collect());
        let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
        let worst = tool.worst().map_or_else(
            || "nothing was found".to_owned(),
            |worst| format!("the worst finding is {}: {}", worst.severity.name(), worst.message),
        );
        say("analysis", format!("safety {:.2}", tool.safety().score), "pass", worst);
        let subject = Subject { name: entry.name.as_str(), schema, asked: tool.asked(), tool: Some((&entry, tool)) };
        self.admit(&subject, args, budget, Purpose::Explain, steps)?;
        Ok(())
    }
}

/// The limits that a request asks for.
fn timed(request: &RunTool, options: &RunOptions) -> Wanted {
    Wanted { timeout_ms: request.timeout_ms.or(options.limits.timeout_ms), ..options.limits }
}
