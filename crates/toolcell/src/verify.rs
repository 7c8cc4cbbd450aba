//! `verify`: proves a tool, or finds what speaks against it.
//!
//! Invariant: a tool is `passed` by evidence alone, which is kept, and was found in the cell under a permit as any run needs
//! one. Each attempt leaves one record and one audit line; a tool whose trial was broken off is `unverified`.

mod error;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;
use toolcell_host::{CancelToken, ENGINE_VERSION, Effects, GUEST_DIGEST, Params};
use toolcell_store::audit::Action;
use toolcell_store::{Entry, Fault, Filter, ListError, Order, PAGE_LIMIT, Record, RecordError};
use toolcell_tool::{Example, Status};

pub use error::VerifyError;

use crate::find::FindToolError;
use crate::gate::Person;
use crate::params::{Args, SchemaError};
use crate::permit::{NotAdmitted, Permit, Purpose, Subject};
use crate::policy::Wanted;
use crate::proof::{self, Check, Counterexample, Ended, Inputs, Manner, PROOF, Proof, Trial, Trying, Verdict};
use crate::record::{self, Attempted};
use crate::run::{RunError, since_1970};
use crate::toolbox::{Ready, Toolbox};

/// How a tool is tried.
#[derive(Clone)]
pub struct VerifyOptions {
    /// Who asks for it, for the record.
    pub caller: String,
    /// How many inputs the challenger makes.
    pub cases: u32,
    /// What they are made from: the same seed makes the same inputs.
    pub seed: u64,
    /// Ends it from another thread.
    pub cancel: Option<CancelToken>,
    /// Who is asked where a gate or the policy wants somebody to be asked.
    pub person: Option<Arc<dyn Person>>,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self { caller: "host".to_owned(), cases: 256, seed: 0, cancel: None, person: None }
    }
}

impl Toolbox {
    /// Proves a tool: its examples, that it is deterministic and modest, that its parameters are enforced, and that it bears
    /// whatever it declares that it takes. What comes of it is kept, and is the tool's status.
    ///
    /// A gate is asked once, with the parameters of the first example, as for a run; nobody approves each input.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `parameters-invalid` (of the declaration), `safety-check-failed`,
    /// `permission-denied`, `status-illegal`, `cancelled`, `integrity`, `busy`, and those of the disk.
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell::proof::Verdict;
    /// use toolcell::{CreateTool, Toolbox, ToolboxConfig, VerifyOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.create(&CreateTool {
    ///     name: "first".to_owned(),
    ///     description: "The first item".to_owned(),
    ///     code: "const execute = ({ items }) => items[0].toFixed(1)".to_owned(),
    ///     parameters: json!({ "items": { "type": "array", "items": { "type": "number" }, "required": true } }),
    ///     examples: vec![json!({ "parameters": { "items": [1, 2] }, "result": "1.0" })],
    ///     ..CreateTool::default()
    /// })?;
    /// let proof = toolbox.verify("first", &VerifyOptions::default())?;
    /// assert_eq!(proof.verdict, Verdict::Failed);
    /// assert_eq!(proof.counterexample.unwrap().parameters, json!({ "items": [] }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self, tool: &str, options: &VerifyOptions) -> Result<Proof, VerifyError> {
        let nothing = Params::default();
        let attempted = Attempted::begin(self, Action::VerifyTool, &options.caller, tool, &nothing);
        let mut attempted = attempted?;
        let done = self.verified(tool, options, &mut attempted);
        let ended = match &done {
            Ok(_) => record::Ended::AsItRan,
            Err(error) => record::Ended::Refused { code: error.code(), message: error.to_string() },
        };
        let unrecorded =
            |error: RecordError| VerifyError::Run(RunError::Unrecorded { source: error, effects: Effects::None });
        attempted.end(ended).map_err(unrecorded)?;
        done
    }

    /// Proves all tools that names lead to, as many at once as this machine has cores, and tells of each one. Those that are
    /// deprecated or in quarantine are left out.
    ///
    /// # Errors
    /// Those of the disk; why one tool was not tried is in the answer.
    pub fn verify_all(&self, options: &VerifyOptions, tell: &(dyn Fn(Proved<'_>) + Sync)) -> Result<Vec<Tried>, Fault> {
        let entries = self.to_be_verified()?;
        let next = AtomicUsize::new(0);
        let done = std::sync::Mutex::new(Vec::new());
        let work = || {
            while let Some((at, entry)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                entries.get(at).map(|entry| (at, entry))
            } {
                let proof = self.verify(&entry.id.to_string(), options);
                let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                tell(Proved { done: done.len() + 1, all: entries.len(), entry, proof: &proof });
                done.push((at, proof));
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(self.slots()).min(entries.len());
        std::thread::scope(|scope| {
            for _ in 1..threads {
                let thread = std::thread::Builder::new().name("toolcell-verify".to_owned());
                // A machine that gives no more threads tries the rest on those that there are, this one at least.
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

    /// The last proof of a tool.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn proof(&self, entry: &Entry) -> Result<Option<Proof>, Fault> {
        let newest = self.shelf()?.records_of_kind(entry.id, PROOF, 1)?.into_iter().next();
        Ok(newest.and_then(|(_, record)| serde_json::from_slice(&record.body).ok()))
    }

    fn to_be_verified(&self) -> Result<Vec<Entry>, Fault> {
        let store = self.shelf()?;
        let mut filter = Filter { order: Order::Name, limit: PAGE_LIMIT, ..Filter::default() };
        let mut all = Vec::new();
        loop {
            let page = store.list(&filter).map_err(|error| match error {
                ListError::Fault(fault) => fault,
                other => Fault::Index { source: other.to_string().into() },
            })?;
            all.extend(page.entries.into_iter().filter(|entry| is_tried(entry.status)));
            match page.next {
                Some(next) => filter.after = Some(next),
                None => return Ok(all),
            }
        }
    }

    fn verified(
        &self,
        tool: &str,
        options: &VerifyOptions,
        attempted: &mut Attempted<'_>,
    ) -> Result<Proof, VerifyError> {
        let find = |error: FindToolError| VerifyError::Run(RunError::Find(error));
        let is_id = toolcell_tool::IdPrefix::parse(tool).is_ok();
        let (id, name) = if is_id { (Some(tool), None) } else { (None, Some(tool)) };
        let entry = self.find_tool(id, name).map_err(find)?;
        attempted.is_about(entry.id, &entry.name);
        if entry.status == Status::Deprecated {
            return Err(VerifyError::Deprecated(entry.name));
        }
        let ready = self.ready(&entry)?;
        let notes = self.shelf()?.notes(&entry)?;
        // What cannot be read was stored before examples had a form; it is none.
        let examples: Vec<Example> = notes.examples().iter().filter_map(|it| Example::read(it).ok()).collect();
        let permit = self.permit_to_verify(&entry, &ready, &examples, options, attempted)?;
        let pending = Pending::begin(self, &entry)?;
        let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
        let schema = ready.schema().map_err(RunError::Schema)?;
        let (at, started) = (self.now(), Instant::now());
        let trial = Trial {
            toolbox: self,
            entry: &entry,
            tool,
            schema,
            permit: &permit,
            at: since_1970(at),
            cancel: options.cancel.as_ref(),
            receipts: RefCell::default(),
        };
        let (checks, counterexample) = tried(&trial, &examples, notes.claims(), options)?;
        // Whatever was found after that was not found.
        if options.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Err(VerifyError::Cancelled);
        }
        let proof = Proof {
            run: attempted.run().to_owned(),
            tool: entry.id.to_string(),
            name: entry.name.to_string(),
            at,
            verdict: verdict(&checks),
            checks,
            counterexample,
            seed: options.seed,
            image: self.image().name().to_owned(),
            guest: GUEST_DIGEST[..16].to_owned(),
            engine: ENGINE_VERSION.to_owned(),
            receipts: trial.receipts.into_inner(),
        };
        let fuel = proof.checks.iter().map(|check| check.fuel).max().unwrap_or(0);
        attempted.has_proved(proof.verdict.name(), fuel, started.elapsed());
        // Strings, numbers and JSON: there is nothing in it that cannot be written.
        let body = serde_json::to_vec(&proof).unwrap_or_default();
        self.shelf()?.keep_record(&Record { kind: PROOF.to_owned(), tool: Some(entry.id), at, body })?;
        pending.end(match proof.verdict {
            Verdict::Passed => Status::Passed,
            Verdict::Failed => Status::Failed,
            Verdict::Unproven => Status::Unverified,
        })?;
        Ok(proof)
    }

    /// Whether the tool may be tried: as any run is admitted.
    fn permit_to_verify(
        &self,
        entry: &Entry,
        ready: &Ready,
        examples: &[Example],
        options: &VerifyOptions,
        attempted: &mut Attempted<'_>,
    ) -> Result<Permit, VerifyError> {
        let budget = self.policy.budget(&Wanted::default()).map_err(RunError::Limit)?;
        let schema = ready.schema().map_err(|error: SchemaError| RunError::Schema(error))?;
        let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
        let shown = examples.iter().find_map(|example| schema.check_value(example.parameters.clone()).ok());
        let args: Result<Args, _> = shown.map_or_else(|| self.anything.check(Params::default()), Ok);
        let args = args.map_err(RunError::Params)?;
        let subject = Subject { name: entry.name.as_str(), schema, asked: tool.asked(), tool: Some((entry, tool)) };
        let purpose = Purpose::Run { person: options.person.as_deref(), caller: &options.caller };
        let permit = self.admit(&subject, args, budget, purpose, &mut Vec::new()).map_err(|error| {
            if let NotAdmitted::Denied(denial) = &error {
                attempted.was_decided_by(&denial.by);
                let why = denial.to_string();
                self.tell_refused(entry.name.as_str(), Some(entry.id), Value::Null, "permission-denied", why);
            }
            RunError::from(error)
        })?;
        attempted.is_permitted(&permit);
        Ok(permit)
    }
}

/// A tool, and what came of trying it.
pub type Tried = (Entry, Result<Proof, VerifyError>);

/// A tool that was tried, while others still are.
#[derive(Clone, Copy)]
pub struct Proved<'a> {
    /// How many were tried, this one included.
    pub done: usize,
    /// How many there are.
    pub all: usize,
    /// The tool.
    pub entry: &'a Entry,
    /// What came of it.
    pub proof: &'a Result<Proof, VerifyError>,
}

/// Whether tools of this status are tried when all are.
fn is_tried(status: Status) -> bool {
    !matches!(status, Status::Deprecated | Status::Quarantined)
}

/// Tries everything, up to the first thing that is wrong.
fn tried(
    trial: &Trial<'_>,
    examples: &[Example],
    claims: &toolcell_tool::Claims,
    options: &VerifyOptions,
) -> Result<(Vec<Check>, Option<Counterexample>), VerifyError> {
    let mut checks = Vec::new();
    let (check, found, shown) = proof::examples(trial, examples, claims)?;
    checks.push(check);
    if found.is_some() {
        return Ok((checks, found));
    }
    let (check, found) = proof::determinism(trial, &shown)?;
    checks.push(check);
    if found.is_some() {
        return Ok((checks, found));
    }
    checks.push(proof::headroom(trial, &shown));
    let parameters: Vec<Value> = examples.iter().map(|example| example.parameters.clone()).collect();
    let right = shown.first().and_then(|shown| serde_json::from_str(shown.args.params().as_str()).ok());
    checks.push(proof::enforced(trial.schema, right.as_ref()));
    let dictionary = proof::Dictionary::of(trial.tool.spec().source());
    let nothing = Value::Null;
    let schema = trial.schema.json_schema().unwrap_or(&nothing);
    let (check, found) = if trial.schema.json_schema().is_none() && parameters.is_empty() {
        (Check::skipped(Trying::Challenger, "nothing is declared, and there is no example to start from"), None)
    } else {
        let inputs = Inputs::new(schema, &parameters, &dictionary, Manner::Hostile);
        proof::challenge(trial, &inputs, claims, options.cases, options.seed)?
    };
    checks.push(check);
    Ok((checks, found))
}

/// What comes of all that was tried. Without an example nothing says what is right.
fn verdict(checks: &[Check]) -> Verdict {
    let of = |what: Trying| checks.iter().find(|check| check.check == what).map(|check| check.verdict);
    if checks.iter().any(|check| check.verdict == Ended::Failed) {
        Verdict::Failed
    } else if of(Trying::Examples) == Some(Ended::Passed) {
        Verdict::Passed
    } else {
        Verdict::Unproven
    }
}

/// A tool that is being tried. Where that is broken off, it is unverified.
struct Pending<'a> {
    toolbox: &'a Toolbox,
    entry: &'a Entry,
    is_over: bool,
}

impl<'a> Pending<'a> {
    fn begin(toolbox: &'a Toolbox, entry: &'a Entry) -> Result<Self, VerifyError> {
        // Where it is pending already, somebody else tries it as well, or was killed while trying.
        if entry.status != Status::Pending {
            toolbox.shelf()?.set_status(entry.id, Status::Pending)?;
        }
        Ok(Self { toolbox, entry, is_over: false })
    }

    fn end(mut self, status: Status) -> Result<(), VerifyError> {
        self.is_over = true;
        self.toolbox.shelf()?.set_status(self.entry.id, status)?;
        Ok(())
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let back = self.toolbox.shelf().map(|store| store.set_status(self.entry.id, Status::Unverified));
        if let Ok(Err(error)) = back {
            tracing::error!(tool = %self.entry.id, %error, "a tool whose trial was broken off stays pending");
        }
    }
}
