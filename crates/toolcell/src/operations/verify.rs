//! `verify`: verifies a tool by examples, determinism and property testing.
//!
//! Invariant: a tool becomes `passed` only by stored evidence from runs in the cell, under a permit
//! as any run needs one. Each attempt leaves one record and one audit line; a tool whose
//! verification was interrupted is `unverified`.

mod error;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;
use toolcell_host::{CancelToken, ENGINE_VERSION, Effects, GUEST_DIGEST, Params};
use toolcell_i18n::message;
use toolcell_store::audit::Action;
use toolcell_store::{Entry, Fault, Filter, ListError, Order, PAGE_LIMIT, Record, RecordError, Store};
use toolcell_tool::{Example, Status};

pub use error::VerifyError;

use super::example_check::permit_to_verify;
use super::lookup::find;
use super::run::RunError;
use super::types::check_types;
use crate::admission::StoredTool;
use crate::admission::hook::Approver;
use crate::execution::unix_time;
use crate::parts::Parts;
use crate::records::{AttemptEnd, RunRecorder};
use crate::verification::proof::{
    self, Check, CheckKind, CheckStatus, Counterexample, InputGenerator, InputStyle, PROOF, Proof, ProofStatus, Trial,
    TypeErrorNote,
};

/// The options of a verification.
#[derive(Clone)]
pub struct VerifyOptions {
    /// The caller, for the record.
    pub caller: String,
    /// The number of generated inputs.
    pub cases: u32,
    /// The seed of the generated inputs: the same seed generates the same inputs.
    pub seed: u64,
    /// Cancels the verification from another thread.
    pub cancel: Option<CancelToken>,
    /// The approver that is prompted when a hook or the policy requires approval.
    pub approver: Option<Arc<dyn Approver>>,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self { caller: "host".to_owned(), cases: 256, seed: 0, cancel: None, approver: None }
    }
}

/// Verifies a tool: its examples, its determinism, its headroom in the limits, the enforcement
/// of its parameters, and generated inputs. The result is stored and sets the tool's status.
///
/// The hooks run once, with the parameters of the first example, as for a run; generated inputs
/// are not approved one by one.
pub(crate) fn verify(parts: &Parts, tool: &str, options: &VerifyOptions) -> Result<Proof, VerifyError> {
    let nothing = Params::default();
    let attempted = RunRecorder::start(&parts.recorder, Action::VerifyTool, &options.caller, tool, &nothing);
    let mut attempted = attempted?;
    let done = verify_inner(parts, tool, options, &mut attempted);
    let ended = match &done {
        Ok(_) => AttemptEnd::Completed,
        Err(error) => AttemptEnd::Refused { code: error.code(), message: error.to_string() },
    };
    let unrecorded =
        |error: RecordError| VerifyError::Run(RunError::RecordFailed { source: error, effects: Effects::None });
    attempted.finish(ended).map_err(unrecorded)?;
    done
}

/// Verifies all named tools in parallel, up to the number of cores and the call limit, and
/// reports each one to `tell`. Deprecated and quarantined tools are skipped.
pub(crate) fn verify_all(
    parts: &Parts,
    options: &VerifyOptions,
    tell: &(dyn Fn(VerifyProgress<'_>) + Sync),
) -> Result<Vec<VerifyResult>, Fault> {
    let entries = tools_to_verify(parts)?;
    let next = AtomicUsize::new(0);
    let done = std::sync::Mutex::new(Vec::new());
    let work = || {
        while let Some((at, entry)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            entries.get(at).map(|entry| (at, entry))
        } {
            let proof = verify(parts, &entry.id.to_string(), options);
            let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            tell(VerifyProgress { done: done.len() + 1, all: entries.len(), entry, proof: &proof });
            done.push((at, proof));
        }
    };
    let threads =
        std::thread::available_parallelism().map_or(1, usize::from).min(parts.runtime.slots()).min(entries.len());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let thread = std::thread::Builder::new().name("toolcell-verify".to_owned());
            // If no more threads can be started, the existing ones do the rest; this thread
            // always does.
            if thread.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().zip(entries).map(|((_, proof), entry)| (entry, proof)).collect())
}

fn tools_to_verify(parts: &Parts) -> Result<Vec<Entry>, Fault> {
    let store = parts.require_store()?;
    let mut filter = Filter { order: Order::Name, limit: PAGE_LIMIT, ..Filter::default() };
    let mut all = Vec::new();
    loop {
        let page = store.catalog().list(&filter).map_err(|error| match error {
            ListError::Fault(fault) => fault,
            other => Fault::Index { source: other.to_string().into() },
        })?;
        all.extend(page.entries.into_iter().filter(|entry| is_verifiable(entry.status)));
        match page.next {
            Some(next) => filter.after = Some(next),
            None => return Ok(all),
        }
    }
}

fn verify_inner(
    parts: &Parts,
    tool: &str,
    options: &VerifyOptions,
    attempted: &mut RunRecorder<'_>,
) -> Result<Proof, VerifyError> {
    let entry = find(parts, tool).map_err(RunError::Find).map_err(VerifyError::Run)?;
    attempted.set_tool(entry.id, &entry.name);
    if entry.status == Status::Deprecated {
        return Err(VerifyError::Deprecated(entry.name));
    }
    let ready = parts.load_tool(&entry)?;
    let store = parts.require_store()?;
    let notes = store.catalog().metadata(&entry)?;
    // An example that cannot be parsed was stored before examples had a format; it is ignored.
    let examples: Vec<Example> = notes.examples().iter().filter_map(|it| Example::from_value(it).ok()).collect();
    let schema = ready.schema().map_err(RunError::Schema)?;
    let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
    let subject = StoredTool { store, entry: &entry, tool };
    let permit = permit_to_verify(parts, subject, schema, &examples, options.approver.as_deref(), &options.caller)
        .inspect_err(|error| {
            if let RunError::Denied(denial) = error {
                attempted.set_decider(&denial.denied_by);
            }
        })?;
    attempted.set_permit(&permit);
    let pending = PendingStatus::start(store, &entry)?;
    let (at, started) = (parts.now(), Instant::now());
    let trial = Trial {
        runtime: &parts.runtime,
        entry: &entry,
        tool,
        schema,
        permit: &permit,
        started_at: unix_time(at),
        cancel: options.cancel.as_ref(),
        receipts: RefCell::default(),
    };
    let (checks, counterexample) = run_checks(&trial, &examples, notes.postconditions(), options)?;
    // Results after a cancellation are discarded.
    if options.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
        return Err(VerifyError::Cancelled);
    }
    let took = started.elapsed();
    let type_errors = check_types(parts, tool, schema.json_schema(), notes.postconditions().returns.as_ref());
    let proof = Proof {
        run: attempted.run().to_owned(),
        tool: entry.id.to_string(),
        name: entry.name.to_string(),
        at,
        verdict: overall_status(&checks),
        checks,
        counterexample,
        type_errors: type_errors.iter().map(TypeErrorNote::from).collect(),
        seed: options.seed,
        image: parts.runtime.image().name().to_owned(),
        guest: GUEST_DIGEST[..16].to_owned(),
        engine: ENGINE_VERSION.to_owned(),
        receipts: trial.receipts.into_inner(),
    };
    let fuel = proof.checks.iter().map(|check| check.fuel).max().unwrap_or(0);
    attempted.set_proof(proof.verdict.name(), fuel, took);
    // Strings, numbers and JSON always serialize.
    let body = serde_json::to_vec(&proof).unwrap_or_default();
    store.runs().insert_record(&Record { kind: PROOF.to_owned(), tool: Some(entry.id), at, body })?;
    pending.finish(match proof.verdict {
        ProofStatus::Passed => Status::Passed,
        ProofStatus::Failed => Status::Failed,
        ProofStatus::Unproven => Status::Unverified,
    })?;
    Ok(proof)
}

/// A tool and the result of its verification.
pub type VerifyResult = (Entry, Result<Proof, VerifyError>);

/// The progress of a verification of several tools: one finished tool.
#[derive(Clone, Copy)]
pub struct VerifyProgress<'a> {
    /// The number of finished tools, including this one.
    pub done: usize,
    /// The total number of tools.
    pub all: usize,
    /// The tool.
    pub entry: &'a Entry,
    /// The result.
    pub proof: &'a Result<Proof, VerifyError>,
}

/// Returns whether tools with this status are verified with all others.
fn is_verifiable(status: Status) -> bool {
    !matches!(status, Status::Deprecated | Status::Quarantined)
}

/// Runs all checks, and stops at the first counterexample.
fn run_checks(
    trial: &Trial<'_>,
    examples: &[Example],
    claims: &toolcell_tool::Postconditions,
    options: &VerifyOptions,
) -> Result<(Vec<Check>, Option<Counterexample>), VerifyError> {
    let mut checks = Vec::new();
    let (check, found, shown) = proof::check_examples(trial, examples, claims)?;
    checks.push(check);
    if found.is_some() {
        return Ok((checks, found));
    }
    let (check, found) = proof::check_determinism(trial, &shown)?;
    checks.push(check);
    if found.is_some() {
        return Ok((checks, found));
    }
    checks.push(proof::check_headroom(trial, &shown));
    let parameters: Vec<Value> = examples.iter().map(|example| example.parameters.clone()).collect();
    let right = shown.first().and_then(|shown| serde_json::from_str(shown.args.params().as_str()).ok());
    checks.push(proof::check_enforcement(trial.schema, right.as_ref()));
    let dictionary = proof::Dictionary::from_source(trial.tool.spec().source());
    let nothing = Value::Null;
    let schema = trial.schema.json_schema().unwrap_or(&nothing);
    let (check, found) = if trial.schema.json_schema().is_none() && parameters.is_empty() {
        (Check::skipped(CheckKind::Challenger, message!("no parameters are declared, and there are no examples")), None)
    } else {
        let inputs = InputGenerator::new(schema, &parameters, &dictionary, InputStyle::Hostile);
        proof::fuzz(trial, &inputs, claims, options.cases, options.seed)?
    };
    checks.push(check);
    Ok((checks, found))
}

/// Returns the status that follows from the checks. Without a passed example, the tool is unproven.
fn overall_status(checks: &[Check]) -> ProofStatus {
    let of = |what: CheckKind| checks.iter().find(|check| check.check == what).map(|check| check.verdict);
    if checks.iter().any(|check| check.verdict == CheckStatus::Failed) {
        ProofStatus::Failed
    } else if of(CheckKind::Examples) == Some(CheckStatus::Passed) {
        ProofStatus::Passed
    } else {
        ProofStatus::Unproven
    }
}

/// Keeps a tool's status `pending`; sets it to `unverified` if the verification is interrupted.
struct PendingStatus<'a> {
    store: &'a Store,
    entry: &'a Entry,
    is_finished: bool,
}

impl<'a> PendingStatus<'a> {
    fn start(store: &'a Store, entry: &'a Entry) -> Result<Self, VerifyError> {
        // If the status is already pending, another process verifies the tool too, or was killed
        // while doing so.
        if entry.status != Status::Pending {
            store.catalog().set_status(entry.id, Status::Pending)?;
        }
        Ok(Self { store, entry, is_finished: false })
    }

    fn finish(mut self, status: Status) -> Result<(), VerifyError> {
        self.is_finished = true;
        self.store.catalog().set_status(self.entry.id, status)?;
        Ok(())
    }
}

impl Drop for PendingStatus<'_> {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        if let Err(error) = self.store.catalog().set_status(self.entry.id, Status::Unverified) {
            tracing::error!(tool = %self.entry.id, %error, "the status of an interrupted verification stays pending");
        }
    }
}
