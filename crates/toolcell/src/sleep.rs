//! Runs that are put to sleep while they wait, and woken in this process or another one.
//!
//! ```text
//! nobody decides yet, a function answers later → memory and what it waits for → smaller → sealed → the store
//! asked for again → bound to the same tool, grants and caller? → taken out of the store → woken
//! ```
//!
//! Invariant: a run that sleeps is woken at most once: it is taken out of the store before anything of it runs, in one transaction.
//! What speaks against waking it is found before, and then it sleeps on.

mod answers;
mod error;
mod seal;
mod state;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_host::{self as host, ENGINE_VERSION, GUEST_DIGEST, Params};
use toolcell_store::audit::Action;
use toolcell_store::{Access, Entry, Fault, RunId, Sleeping};
use toolcell_tool::Grants;

pub use error::SleepError;
pub use state::{Asleep, ResumeRun, RunState, Sleeper, Ticket};

use crate::operations::{Given, Held, Links, Nesting, Nobody, Pending, Place, PlanChain, Planner};
use crate::permit::{Permit, Purpose, Subject};
use crate::record::{Attempted, Ended};
use crate::request::RunTool;
use crate::run::{Admitted, RunError, RunOptions};
use crate::toolbox::Toolbox;
use crate::ungranted;

/// What a run is bound to, as the store says it.
#[derive(Serialize, Deserialize)]
struct Bound {
    name: String,
    grants: Value,
    guest: String,
    engine: String,
    /// The plan until then; a run that an earlier version put to sleep has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<BoundPlan>,
}

/// The plan of a run that is asleep.
#[derive(Serialize, Deserialize)]
struct BoundPlan {
    links: Links,
    /// The places of what is held, in the same order.
    places: Vec<Place>,
}

/// A run that is asleep, opened.
struct Opened {
    row: Sleeping,
    bound: Bound,
    kept: Kept,
    params: Params,
}

/// What is sealed of a run.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The tool's own state.
    call: Bytes,
    pending: Pending,
    params: String,
    call_id: String,
    /// The seed that was drawn for it.
    random: Option<u64>,
    /// Whether what it does is held.
    planned: bool,
}

/// Bytes, written as such.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Bytes(#[serde(with = "serde_bytes")] Vec<u8>);

/// What stays the same of a run, however often it sleeps.
struct SleepsAs<'a> {
    run: RunId,
    entry: &'a Entry,
    grants: &'a Grants,
    params: &'a str,
    random: Option<u64>,
    given: &'a Given<'a>,
}

impl Toolbox {
    /// Runs a stored tool as [`Toolbox::run`] does, and puts the run to sleep where all that it waits for takes time: a
    /// [`Choice::Later`](crate::Choice::Later) of the plan, a function of the host that answers later. [`Toolbox::resume`] wakes it.
    ///
    /// Tools that it calls do not sleep: for them, later is no. It gets no receipt.
    ///
    /// # Errors
    /// Those of [`Toolbox::run`], and `too-large-to-sleep`: the run has ended then.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use toolcell::policy::Layer;
    /// use toolcell::{
    ///     Choice, CreateTool, Held, Params, Planner, Policy, PolicyFile, ResumeRun, RunOptions, RunState, RunTool, Toolbox,
    ///     ToolboxConfig,
    /// };
    ///
    /// struct Say(Choice);
    /// impl Planner for Say {
    ///     fn choose(&self, held: &[Held]) -> Vec<Choice> {
    ///         vec![self.0; held.len()]
    ///     }
    /// }
    /// let saying = |choice| RunOptions { plan: Some(Arc::new(Say(choice))), ..RunOptions::default() };
    ///
    /// let rules = "[approval]\nmode = \"auto\"\n[grants.default.kv]\nspace = \"notes\"";
    /// let rules = PolicyFile::parse(Layer::User, rules, "toolcell.toml".as_ref())?;
    /// let config = ToolboxConfig { policy: Policy::layered([rules])?, ..ToolboxConfig::default() };
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), config)?;
    /// toolbox.create(&CreateTool {
    ///     name: "note".to_owned(),
    ///     description: "Keeps a note".to_owned(),
    ///     code: "const execute = async ({ text }) => { await kv.set('note', text); return kv.get('note') }".to_owned(),
    ///     capabilities: serde_json::json!(["kv"]),
    ///     ..CreateTool::default()
    /// })?;
    /// let request = RunTool::of("note", Params::parse(r#"{"text": "milk"}"#)?);
    /// let RunState::Asleep(asleep) = toolbox.run_or_sleep(&request, &saying(Choice::Later))? else { panic!("it waits") };
    /// assert_eq!(asleep.held[0].kind, "kv.commit");
    /// // Perhaps in another process, perhaps tomorrow:
    /// let woken = toolbox.resume(&ResumeRun::of(asleep.run), &saying(Choice::Do))?;
    /// let RunState::Ended(ran) = woken else { panic!("somebody decided") };
    /// assert_eq!(ran.value()?.unwrap().as_str(), "\"milk\"");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_or_sleep(&self, request: &RunTool, options: &RunOptions) -> Result<RunState, RunError> {
        let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
        let params = &request.parameters;
        let mut attempted = Attempted::begin(self, Action::RunDynamicTool, &options.caller, called, params)?;
        attempted.tokens_saved = options.tokens_saved;
        let done = self.run_or_sleep_attempted(request, options, &mut attempted);
        end(attempted, done)
    }

    fn run_or_sleep_attempted(
        &self,
        request: &RunTool,
        options: &RunOptions,
        attempted: &mut Attempted<'_>,
    ) -> Result<RunState, RunError> {
        let admitted = self.admitted(request, options, attempted, None)?;
        let may_sleep = self.store.as_ref().is_some_and(|store| store.access() == Access::Full);
        let Some(run) = attempted.run_id().filter(|_| may_sleep) else {
            return self.go_through(admitted, None, attempted).map(|ran| RunState::Ended(Box::new(ran)));
        };
        let called = self.call_or_sleep(&admitted);
        attempted.has_done(&admitted.given.ledger);
        self.rested(called?, run, admitted, attempted)
    }

    /// Wakes a run, and goes on with it, until it has ended or sleeps again. The options' plan decides what happens of what is held;
    /// without one, nobody has decided, and it sleeps on. The limits are those that it was run with.
    ///
    /// Gates are asked again, and a tool whose approval was taken back is not woken.
    ///
    /// # Errors
    /// `run-not-asleep`, `asleep-principal`, `asleep-grants-changed`, `asleep-guest`, `asleep-tool`, `ticket-unknown`, `integrity`,
    /// `tool-not-found`, `permission-denied`: it sleeps on, where it does. `too-large-to-sleep`, and those of the disk.
    pub fn resume(&self, request: &ResumeRun, options: &RunOptions) -> Result<RunState, RunError> {
        let opened = self.opened(&request.run);
        let (name, params) = match &opened {
            Ok(opened) => (&*opened.bound.name, opened.params.clone()),
            Err(_) => (&*request.run, Params::default()),
        };
        let mut attempted = Attempted::begin(self, Action::Resume, &options.caller, name, &params)?;
        attempted.tokens_saved = options.tokens_saved;
        attempted.resumes(&request.run);
        let done = opened.and_then(|opened| self.resume_attempted(opened, request, options, &mut attempted));
        end(attempted, done)
    }

    /// A run that is asleep, if nobody touched it.
    fn opened(&self, run: &str) -> Result<Opened, RunError> {
        let store = self.shelf()?;
        let not_asleep = || SleepError::NotAsleep { run: run.chars().take(64).collect() };
        let id: RunId = run.parse().map_err(|_| not_asleep())?;
        let row = store.sleeping(id)?.ok_or_else(not_asleep)?;
        let damaged = || SleepError::Damaged { run: row.run };
        let opened = seal::open(&store.secret(seal::PURPOSE)?, &row).ok_or_else(damaged)?;
        let bound: Bound = serde_json::from_str(&row.bound).map_err(|_| damaged())?;
        if (&*bound.guest, &*bound.engine) != (GUEST_DIGEST, ENGINE_VERSION) {
            return Err(SleepError::Wake(host::WakeError::Guest { guest: bound.guest, engine: bound.engine }).into());
        }
        let kept: Kept = postcard::from_bytes(&opened).map_err(|_| damaged())?;
        let params = Params::parse(kept.params.as_str()).map_err(|_| damaged())?;
        Ok(Opened { row, bound, kept, params })
    }

    fn resume_attempted(
        &self,
        opened: Opened,
        request: &ResumeRun,
        options: &RunOptions,
        attempted: &mut Attempted<'_>,
    ) -> Result<RunState, RunError> {
        let Opened { row, bound, mut kept, params } = opened;
        if row.caller != options.caller {
            return Err(SleepError::Principal { run: row.run }.into());
        }
        let entry = self.find_tool(Some(&row.tool.to_string()), None)?;
        attempted.is_about(entry.id, &entry.name);
        let ready = self.ready(&entry)?;
        let asleep = host::Asleep::from_bytes(&kept.call.0).map_err(SleepError::Wake)?;
        let schema = ready.schema()?;
        let args = schema.check(params)?;
        let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
        let subject = Subject { name: entry.name.as_str(), schema, asked: tool.asked(), tool: Some((&entry, tool)) };
        if self.granted(&subject).to_value() != bound.grants {
            return Err(SleepError::GrantsChanged { run: row.run, name: entry.name.clone() }.into());
        }
        let purpose = Purpose::Run { person: options.person.as_deref(), caller: &options.caller };
        let permit = self.admit(&subject, args, *asleep.budget(), purpose, &mut Vec::new())?;
        if permit.args().params().as_str() != kept.params {
            return Err(SleepError::changed_by_gate(row.run).into());
        }
        attempted.is_permitted(&permit);
        attempted.has_drawn(kept.random);
        self.take_answers(&mut kept.pending, request)?;
        let planned = kept.planned || !kept.pending.held.is_empty();
        let nobody = || planned.then(|| Arc::new(Nobody) as Arc<dyn Planner>);
        let options = RunOptions { plan: options.plan.clone().or_else(nobody), ..options.clone() };
        let plan = match bound.plan {
            Some(plan) => {
                kept.pending.places = plan.places;
                PlanChain::at(plan.links)
            }
            None => PlanChain::begin(entry.id, &kept.params),
        };
        let nesting = Nesting { within: None, plan: options.plan.as_ref().map(|_| Arc::new(plan)) };
        let given = self.give(permit.grants(), &entry, &kept.call_id, &options, nesting)?;
        *given.pending() = kept.pending;
        if !self.shelf()?.take_sleeping(&row)? {
            return Err(SleepError::NotAsleep { run: row.run.to_string() }.into());
        }
        let admitted = Admitted { entry, ready: Arc::clone(&ready), permit, random: kept.random, given };
        let called = self.wake_run(&admitted, &asleep);
        if let Err(host::WakeError::Script | host::WakeError::Call(host::CallError::Busy { .. })) = &called {
            // Nothing of it ran, so nothing of it is lost.
            self.shelf()?.put_to_sleep(&row).map_err(SleepError::Bed)?;
        }
        attempted.has_done(&admitted.given.ledger);
        self.rested(called.map_err(SleepError::Wake)?, row.run, admitted, attempted)
    }

    /// The rest of a run that ended, or the bed of one that sleeps.
    fn rested(
        &self,
        called: host::Called,
        run: RunId,
        admitted: Admitted<'_>,
        attempted: &mut Attempted<'_>,
    ) -> Result<RunState, RunError> {
        let asleep = match called {
            host::Called::Ended(mut report) => {
                let Admitted { entry, ready, permit, .. } = admitted;
                if let Ok(tool) = &ready.vetted {
                    ungranted::tell(&mut report, &entry, tool, permit.grants(), &self.policy);
                }
                return self.seen(entry, permit, report, attempted).map(|ran| RunState::Ended(Box::new(ran)));
            }
            host::Called::Asleep(asleep) => asleep,
        };
        let Admitted { entry, permit, random, given, .. } = &admitted;
        let sleeps_as =
            SleepsAs { run, entry, grants: permit.grants(), params: params(permit), random: *random, given };
        let laid = self.put_to_sleep(&sleeps_as, &asleep);
        attempted.has_left(if laid.is_ok() { "asleep" } else { "stopped" }, asleep.fuel());
        let (.., effects) = attempted.spent();
        laid.map(RunState::Asleep).map_err(|source| RunError::Unlaid { source, effects })
    }

    /// Puts a run to sleep.
    fn put_to_sleep(&self, of: &SleepsAs<'_>, asleep: &host::Asleep) -> Result<Asleep, SleepError> {
        let SleepsAs { run, entry, given, .. } = *of;
        let store = self.shelf()?;
        let pending = std::mem::take(&mut *given.pending());
        let tool = (entry.id, entry.name.as_str());
        let placed = pending.places.iter().zip(&pending.held);
        let held: Vec<Held> = placed.map(|(place, operation)| Held::at(*place, tool, operation)).collect();
        let plan = given.plan.as_ref().map(|plan| BoundPlan { links: plan.links(), places: pending.places.clone() });
        let tickets =
            pending.tickets.iter().map(|one| Ticket { function: one.function.clone(), ticket: one.ticket.clone() });
        let tickets = tickets.collect();
        let kept = Kept {
            call: Bytes(asleep.to_bytes()),
            pending,
            params: of.params.to_owned(),
            call_id: given.call_id.clone(),
            random: of.random,
            planned: given.options.plan.is_some(),
        };
        let bound = Bound {
            name: entry.name.to_string(),
            grants: of.grants.to_value(),
            guest: GUEST_DIGEST.to_owned(),
            engine: ENGINE_VERSION.to_owned(),
            plan,
        };
        let unwritten = |error: &dyn std::fmt::Display| SleepError::Seal(format!("it cannot be written: {error}"));
        let content = postcard::to_allocvec(&kept).map_err(|error| unwritten(&error))?;
        let bound = serde_json::to_string(&bound).map_err(|error| unwritten(&error))?;
        let (caller, at) = (given.options.caller.clone(), self.now());
        let mut row = Sleeping { run, tool: entry.id, caller, at, bound, blob: Vec::new() };
        row.blob = seal::seal(&store.secret(seal::PURPOSE)?, &row, &content)?;
        store.put_to_sleep(&row)?;
        let (name, bytes) = (entry.name.clone(), row.blob.len() as u64);
        Ok(Asleep { run, tool: entry.id, name, held, tickets, bytes, record: None })
    }

    /// All runs that are asleep, those that sleep longest first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn sleepers(&self) -> Result<Vec<Sleeper>, Fault> {
        let sleeper = |row: Sleeping| {
            let bound: Option<Bound> = serde_json::from_str(&row.bound).ok();
            let (name, bytes) = (bound.map(|bound| bound.name).unwrap_or_default(), row.blob.len() as u64);
            Sleeper { run: row.run, tool: row.tool, name, caller: row.caller, since: row.at, bytes }
        };
        Ok(self.shelf()?.all_sleeping()?.into_iter().map(sleeper).collect())
    }
}

/// What a run was permitted to run with.
fn params(permit: &Permit) -> &str {
    permit.args().params().as_str()
}

/// Keeps how an attempt ended.
fn end(attempted: Attempted<'_>, done: Result<RunState, RunError>) -> Result<RunState, RunError> {
    let ended = match &done {
        Ok(_) => Ended::AsItRan,
        Err(error) => Ended::Refused { code: error.code(), message: error.to_string() },
    };
    let (.., effects) = attempted.spent();
    let record = attempted.end(ended).map_err(|source| RunError::Unrecorded { source, effects });
    let mut state = done?;
    let recorded = record?;
    match &mut state {
        RunState::Ended(ran) => (ran.record, ran.unrecorded) = (recorded.record, recorded.unrecorded),
        RunState::Asleep(asleep) => asleep.record = recorded.record,
    }
    Ok(state)
}
