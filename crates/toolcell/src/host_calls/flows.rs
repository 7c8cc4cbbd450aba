//! Follows where the data came from that a run was handed, and decides about what leaves it.
//!
//! ```text
//! an operation begins  → the rules decide about the label of the run and the operation's sinks
//! results are handed over → their sources, and those of what is still under way, join the label
//! ```
//!
//! What a space, a folder or a caller may learn from a run has the run's label as soon as the run does, whether or not
//! it writes: that something was *not* written may tell as much as what was.
//!
//! Invariant: there is one place where results are handed over, and a run whose label cannot be kept gets no results.

#[cfg(feature = "net")]
mod observer;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolcell_flows::{BoundedSchema, FlowAction, FlowDecision, Label, Sink, Source, Target};
use toolcell_host::{
    Completion, Effects, FileAction, FileRequest, HostCall, HostRequest, Json, OperationError, ParsedHostCall,
};
use toolcell_i18n::Lang;
use toolcell_policy::{ApprovalMode, FlowPolicy, Origin, Policy};
use toolcell_store::{Fault, LabelHolder, Store};
use toolcell_tool::{Access, FilesGrant, FolderName, Grants, ServerName, ServerToolName, SpaceName, ToolId, ToolName};
use url::Url;

use super::error::error_without_effects;
use super::functions::HostFunction;
use super::held::HeldEffect;
use super::pending::PlanPosition;
use super::{RunEnvironment, tools};
use crate::admission::hook::{FlowAnswer, FlowQuestion};

#[cfg(feature = "net")]
pub(super) use observer::FlowObserver;

/// What a caller knows when it starts a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FlowContext {
    /// All that the caller was told by earlier runs, as the store remembers it, until a person clears it.
    #[default]
    Remembered,
    /// What the caller says: data with this label.
    Given(Box<Label>),
}

impl FlowContext {
    /// Reads the sources that a caller says. A text that is no source counts as all of them.
    ///
    /// # Examples
    /// ```
    /// use toolcell::FlowContext;
    ///
    /// let FlowContext::Given(label) = FlowContext::parse(["server:mail.read"]) else { unreachable!() };
    /// assert_eq!(label.to_texts(), ["server:mail.read"]);
    /// ```
    #[must_use]
    pub fn parse<'a>(sources: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Given(Box::new(Label::parse(sources)))
    }
}

/// What the flows of a run start with.
pub(crate) struct FlowStart<'a> {
    /// The name of the tool, if it is a stored one.
    pub(crate) tool: Option<&'a str>,
    /// The name of the caller.
    pub(crate) caller: &'a str,
    /// What the caller knows.
    pub(crate) context: &'a FlowContext,
    /// The label that a suspended run had; `None` for a run that begins.
    pub(crate) resumed: Option<Label>,
    /// Where the operations of the calling run come from that are under way, and whether nothing is under way there or
    /// above it.
    pub(crate) under_way: Option<(&'a Label, bool)>,
}

/// The flows of one run.
pub(crate) struct FlowTracker {
    policy: FlowPolicy,
    store: Option<Arc<Store>>,
    state: Mutex<FlowState>,
    folders: BTreeMap<FolderName, Folder>,
    /// The tool, as a source of what its caller is told.
    own: Option<Source>,
    /// Whether nothing was under way in the calling runs when this one began.
    is_alone: bool,
    /// Whether servers are trusted when they are seen first, which no person does.
    trusts_on_sight: bool,
    /// The bits that tools have declassified in this chain of calls, by rule.
    declassified: Arc<Mutex<BTreeMap<usize, u32>>>,
}

/// A granted folder.
struct Folder {
    /// Its real path.
    path: PathBuf,
    /// All names under which the policy grants it, or a folder in it or around it.
    names: Vec<FolderName>,
}

struct FlowState {
    /// The sources of all that was handed to the run.
    label: Label,
    /// The sources of what the run has kept and cannot read: how it goes may tell its caller of them.
    kept: Label,
    /// The sources of all that was handed to the run as text, in the order in which they came.
    arrived: Vec<String>,
    /// What learns from the run.
    holders: Vec<Holder>,
}

/// What learns from a run: its caller, or a space or a folder that it may write to.
struct Holder {
    place: LabelHolder,
    /// Where a write to it leads. One that the rules do not let the run write to freely learns nothing from what it does
    /// not write.
    sink: Option<Sink>,
    /// What the store knows of it.
    has: Label,
}

/// Where the answer to an operation comes from.
#[derive(Clone)]
pub(super) struct AnswerSource {
    label: Label,
    /// What the answer reads from, which has a label of its own.
    holder: Option<LabelHolder>,
    /// What is observed while a request is under way.
    observed: Option<Arc<Mutex<Label>>>,
    /// Where a failure comes from, besides.
    failure: Label,
}

impl From<Label> for AnswerSource {
    fn from(label: Label) -> Self {
        Self { label, holder: None, observed: None, failure: Label::default() }
    }
}

impl AnswerSource {
    /// Returns where the answer comes from, as far as the operation itself says it.
    pub(super) fn label(&self) -> &Label {
        &self.label
    }

    /// Adds sources.
    pub(super) fn join(&mut self, label: &Label) {
        self.label.join(label);
    }
}

impl FlowTracker {
    /// Starts to follow a run.
    pub(super) fn start(
        policy: &Policy,
        store: Option<&Arc<Store>>,
        (tool, grants): (ToolId, &Grants),
        caller: Option<&Self>,
        start: &FlowStart<'_>,
    ) -> Result<Self, Fault> {
        let folders = folders(policy, grants);
        let written = grants.files.iter().filter(|grant| grant.access != Access::Read);
        let mut holders: Vec<(LabelHolder, Option<Sink>)> = written
            .filter_map(|grant| {
                Some((LabelHolder::Folder(folders.get(&grant.name)?.path.clone()), Some(sink_of_folder(grant))))
            })
            .collect();
        holders.extend(grants.kv.iter().filter(|grant| grant.access != Access::Read).map(|grant| {
            let sink = Sink { target: Target::Kv(grant.space.clone()), writes: true };
            (LabelHolder::Space(grant.space.clone()), Some(sink))
        }));
        let mut known_from = vec![LabelHolder::Tool(tool)];
        let mut label = start.resumed.clone().unwrap_or_default();
        match (caller, start.context) {
            (Some(caller), _) => drop(label.join(&caller.label())),
            (None, FlowContext::Given(given)) => {
                label.insert(Source::Caller);
                label.join(given);
            }
            (None, FlowContext::Remembered) => {
                label.insert(Source::Caller);
                let caller = LabelHolder::Caller(start.caller.to_owned());
                known_from.push(caller.clone());
                holders.push((caller, None));
            }
        }
        if let Some((under_way, _)) = start.under_way {
            label.join(under_way);
        }
        let mut known = Vec::new();
        if let Some(store) = store {
            label.join(&read_label(store, &known_from)?);
            for (holder, sink) in holders {
                let has = read_label(store, std::slice::from_ref(&holder))?;
                known.push(Holder { place: holder, sink, has });
            }
        }
        let tracker = Self {
            policy: policy.flows().clone(),
            store: store.cloned(),
            state: Mutex::new(FlowState {
                label: Label::default(),
                kept: Label::default(),
                arrived: Vec::new(),
                holders: known,
            }),
            folders,
            own: start.tool.and_then(|name| ToolName::parse(name).ok()).map(Source::Tool),
            is_alone: start.under_way.is_none_or(|(_, is_alone)| is_alone),
            trusts_on_sight: policy.approval().0 == ApprovalMode::Auto,
            declassified: caller.map(|caller| Arc::clone(&caller.declassified)).unwrap_or_default(),
        };
        tracker.join(&label)?;
        Ok(tracker)
    }

    /// Returns what the rules say about a caller that runs the tool, which is a sink: its parameters go there.
    pub(crate) fn decide_run(&self) -> Option<RunFlow> {
        let Some(Source::Tool(name)) = &self.own else { return None };
        let sink = Sink { target: Target::Tool(name.clone()), writes: true };
        let label = self.label();
        let decision = self.policy.rules().decide(&label, self.own.as_ref(), &sink)?;
        let asking = self.asking(&label, self.own.as_ref(), std::slice::from_ref(&sink));
        let FlowDecision { action, rule, from } = decision;
        Some(RunFlow { name: name.clone(), from, action, rule, origin: self.policy.origin(rule).clone(), asking })
    }

    /// Returns where the result of the run comes from, for its caller: from the tool, too.
    pub(crate) fn told(&self) -> Label {
        let mut label = self.label();
        label.join(&self.lock().kept);
        if let Some(own) = &self.own {
            label.insert(own.clone());
        }
        label
    }

    /// Remembers what the caller is told now. What it was told before may have been cleared meanwhile.
    fn tell_caller(&self) -> Result<(), Fault> {
        let state = self.lock();
        let callers = state.holders.iter().filter(|holder| matches!(holder.place, LabelHolder::Caller(_)));
        let callers: Vec<LabelHolder> = callers.map(|holder| holder.place.clone()).collect();
        drop(state);
        let Some(store) = &self.store else { return Ok(()) };
        let told = self.told();
        // Mostly there is nothing new.
        if callers.is_empty() || read_label(store, &callers)?.includes(&told) {
            return Ok(());
        }
        store.labels().join(&callers, &told.to_texts())
    }

    fn lock(&self) -> MutexGuard<'_, FlowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the label of the run so far.
    pub(crate) fn label(&self) -> Label {
        self.lock().label.clone()
    }

    /// Adds sources to the label of the run, and to those of all that learns from it.
    fn join(&self, sources: &Label) -> Result<(), Fault> {
        let mut state = self.lock();
        if !state.label.join(sources) {
            return Ok(());
        }
        // The run is held to its label, even if that cannot be written down.
        let label = state.label.clone();
        let new = label.to_texts().into_iter().filter(|source| !state.arrived.contains(source)).collect::<Vec<_>>();
        state.arrived.extend(new);
        let Some(store) = &self.store else { return Ok(()) };
        let is_free = |sink: &Sink| self.policy.rules().decide(&label, None, sink).is_none();
        let learns = |holder: &Holder| !holder.has.includes(&label) && holder.sink.as_ref().is_none_or(is_free);
        let lacking: Vec<LabelHolder> =
            state.holders.iter().filter(|holder| learns(holder)).map(|holder| holder.place.clone()).collect();
        store.labels().join(&lacking, &label.to_texts())?;
        for holder in &mut state.holders {
            if lacking.contains(&holder.place) {
                holder.has.join(&label);
            }
        }
        Ok(())
    }

    /// Returns the sources of all that was handed to the run so far, in the order in which they came.
    pub(super) fn sources(&self) -> Vec<String> {
        self.lock().arrived.clone()
    }

    /// Returns the number of sources so far.
    fn source_count(&self) -> usize {
        self.lock().arrived.len()
    }

    /// Decides about an operation that leads to these sinks and sends data with this label, besides that of the run, and
    /// whose answer will come from there.
    fn decide(&self, sinks: &[Sink], sent: &Label, answer: &AnswerSource) -> Option<(FlowDecision, Sink)> {
        let mut label = self.label();
        label.join(sent);
        let own = answer.label.sources().next();
        let decisions = sinks.iter().filter_map(|sink| Some((self.policy.rules().decide(&label, own, sink)?, sink)));
        let strictest = decisions.max_by_key(|(decision, _)| decision.action);
        strictest.map(|(decision, sink)| (decision, sink.clone()))
    }

    /// Returns the rules that have a person decide about an operation that leads to these sinks, and the sources of which they
    /// speak.
    fn asking(&self, label: &Label, own: Option<&Source>, sinks: &[Sink]) -> Asking {
        let mut from = Label::default();
        let mut rules = BTreeSet::new();
        let decisions = sinks.iter().flat_map(|sink| self.policy.rules().matching(label, own, sink));
        for decision in decisions.filter(|decision| decision.action == FlowAction::Ask) {
            from.join(&decision.from);
            rules.insert(decision.rule);
        }
        let rules = rules.into_iter().map(|rule| (rule, self.policy.origin(rule).clone())).collect();
        Asking { from: from.to_texts(), known: label.to_texts(), rules }
    }

    /// Returns the label of an answer as far as it is known now.
    fn answer_label(&self, answer: &AnswerSource) -> Result<Label, Fault> {
        let mut label = answer.label.clone();
        if let Some(observed) = &answer.observed {
            label.join(&observed.lock().unwrap_or_else(PoisonError::into_inner));
        }
        if let (Some(holder), Some(store)) = (&answer.holder, &self.store) {
            label.join(&read_label(store, std::slice::from_ref(holder))?);
        }
        Ok(label)
    }

    /// Hands results over: their sources, and those of all operations that are still under way, join the label. If that
    /// cannot be kept, the results are withheld.
    pub(super) fn hand_over<'a>(
        &self,
        answers: impl Iterator<Item = (&'a AnswerSource, bool)>,
        results: &mut [Completion],
    ) {
        let joined = answers
            .map(|(answer, has_failed)| {
                let mut label = self.answer_label(answer)?;
                if has_failed {
                    label.join(&answer.failure);
                }
                Ok(label)
            })
            .try_fold(Label::default(), |mut all, label: Result<Label, Fault>| {
                all.join(&label?);
                Ok(all)
            })
            .and_then(|all| {
                #[cfg(test)]
                let all = Self::delay(all);
                self.join(&all)
            });
        if let Err(fault) = joined {
            tracing::error!(%fault, "the flow of data cannot be recorded, so results are withheld");
            for completion in results {
                let effects = match &completion.result {
                    Ok(_) => Effects::Committed,
                    Err(failure) => failure.effects,
                };
                let message = "where the result came from cannot be recorded, so it is withheld";
                completion.result =
                    Err(OperationError { effects, ..error_without_effects("Error", "flow-unrecorded", message) });
            }
        }
    }

    /// Whether a rule of the policy speaks of a tool that declassifies.
    pub(crate) fn may_declassify(&self, id: ToolId, name: &str) -> bool {
        self.policy.declassifications().iter().any(|rule| rule.covers(id, name))
    }

    /// Returns the result of a tool that declassifies, in its only form, with the label that is left; `None` if no rule
    /// lowers the label.
    pub(crate) fn declassify(&self, tool: &DeclassifiedTool<'_>, value: &Json, label: &Label) -> Option<(Json, Label)> {
        let schema = BoundedSchema::from_schema(tool.result?)?;
        let canonical = schema.canonical(&serde_json::from_str(value.as_str()).ok()?)?;
        let canonical = Json::parse(&canonical).ok()?;
        let mut left = label.clone();
        for (index, rule) in
            self.policy.declassifications().iter().enumerate().filter(|(_, rule)| rule.covers(tool.id, tool.name))
        {
            let mut spent = self.declassified.lock().unwrap_or_else(PoisonError::into_inner);
            let spent = spent.entry(index).or_default();
            let total = spent.saturating_add(schema.bits());
            if total <= rule.bits {
                *spent = total;
                left = left.without(|source| rule.from.iter().any(|pattern| pattern.matches(source)));
            }
        }
        (left != *label).then_some((canonical, left))
    }
}

/// A tool whose result may be declassified.
pub(crate) struct DeclassifiedTool<'a> {
    pub(crate) id: ToolId,
    pub(crate) name: &'a str,
    /// The schema of its result, if it declares one.
    pub(crate) result: Option<&'a serde_json::Value>,
}

fn read_label(store: &Store, holders: &[LabelHolder]) -> Result<Label, Fault> {
    let sources = store.labels().sources(holders)?;
    Ok(Label::parse(sources.iter().map(String::as_str)))
}

/// What a rule says about a run that is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunFlow {
    /// The tool.
    pub(crate) name: ToolName,
    /// What the caller was told of.
    pub(crate) from: Label,
    /// Whether a person may let it begin.
    pub(crate) action: FlowAction,
    /// The number of the rule, from 0.
    pub(crate) rule: usize,
    /// The position of the rule.
    pub(crate) origin: Origin,
    asking: Asking,
}

/// What has a person decide.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asking {
    /// The sources of which the rules speak.
    from: Vec<String>,
    /// All sources.
    known: Vec<String>,
    /// The rules, with their positions.
    rules: Vec<(usize, Origin)>,
}

impl RunFlow {
    /// Returns what the caller was told of, as text.
    pub(crate) fn sources(&self) -> String {
        describe(&self.from)
    }

    /// Returns the question whether a caller may run a tool with these parameters.
    pub(crate) fn to_question(&self, tool: ToolId, params: &str) -> FlowQuestion {
        FlowQuestion {
            tool: self.name.to_string(),
            id: tool,
            kind: FlowQuestion::RUN.to_owned(),
            about: self.name.to_string(),
            details: params.to_owned(),
            bytes: 0,
            body: None,
            from: self.asking.from.clone(),
            known: self.asking.known.clone(),
            to: Sink { target: Target::Tool(self.name.clone()), writes: true }.to_string(),
            rules: self.asking.rules.clone(),
        }
    }
}

/// What the rules say about an operation that is about to begin.
pub(super) enum Flow {
    /// It begins.
    Free,
    /// A person decides.
    Ask(FlowAsk),
    /// It is refused.
    Refused(OperationError),
}

/// A rule that has a person decide about an operation.
pub(super) struct FlowAsk {
    from: Label,
    sink: Sink,
    rule: usize,
    asking: Asking,
}

/// An operation whose question has not been put to the person yet. The rules decide again then: the run may have been handed more.
pub(super) struct PendingFlow {
    pub(super) operation: ParsedHostCall,
    /// The sources of what the host has put into it.
    pub(super) sent: Label,
}

impl FlowAsk {
    /// Returns the question about an operation of a tool.
    pub(super) fn to_question(&self, (id, name): (ToolId, &str), operation: &HostCall) -> FlowQuestion {
        let place = PlanPosition { position: 0, digest: [0; 32] };
        let HeldEffect { tool, id, kind, about, details, bytes, body, .. } =
            HeldEffect::new(place, (id, name), operation);
        let Asking { from, known, rules } = self.asking.clone();
        FlowQuestion { tool, id, kind, about, details, bytes, body, from, known, to: self.sink.to_string(), rules }
    }

    /// Returns the error of the operation where no person can be asked.
    pub(super) fn unasked_error(&self) -> OperationError {
        self.error(&format!("needs a person's approval; {}", self.next_step()))
    }

    /// Returns the error of the operation that was not approved.
    pub(super) fn answered_error(&self, answer: &FlowAnswer) -> OperationError {
        self.error(&match answer {
            FlowAnswer::NotAsked { reason } => {
                let (reason, next) = (reason.to_text(Lang::En), self.next_step());
                format!("needs a person's approval, and no person was asked: {reason}; {next}")
            }
            FlowAnswer::Unanswered { reason } => {
                format!("needs a person's approval, and there is no answer: {}", reason.to_text(Lang::En))
            }
            FlowAnswer::Refuse { feedback: Some(feedback) } => {
                format!("needs a person's approval, which was refused: {}", feedback.to_text(Lang::En))
            }
            FlowAnswer::Approve | FlowAnswer::Refuse { feedback: None } => {
                "needs a person's approval, which was refused".to_owned()
            }
        })
    }

    /// Returns what to do where no person is asked.
    fn next_step(&self) -> &'static str {
        if !self.from.is_any() && self.from.sources().all(|source| *source == Source::Caller) {
            "have the user run the tool with `--plan`"
        } else {
            "do it before the run reads that data, or have the user run the tool with `--plan`"
        }
    }

    /// The tool reads this, so it has no path.
    fn error(&self, ending: &str) -> OperationError {
        let message = format!("{} {ending}", what(&self.from, &self.sink, self.rule));
        error_without_effects("NotAllowedError", "flow-not-approved", message)
    }
}

impl RunEnvironment<'_> {
    /// Whether nothing was under way in the calling runs when this one began.
    pub(super) fn began_alone(&self) -> bool {
        self.flows.as_ref().is_none_or(|flows| flows.is_alone)
    }

    /// Returns the flows of the run, if its policy has rules about them.
    pub(crate) fn flows(&self) -> Option<&FlowTracker> {
        self.flows.as_ref()
    }

    /// Returns where the result of the run comes from, if its policy has rules about flows.
    pub(crate) fn flow_label(&self) -> Option<Label> {
        self.flows.as_ref().map(FlowTracker::told)
    }

    /// Keeps a result, and puts the text that stands for it in its place.
    pub(super) fn keep_result(&self, completion: &mut Completion, answer: Option<&AnswerSource>) {
        let label = match (&self.flows, answer) {
            (Some(flows), Some(answer)) => flows.answer_label(answer).map_err(|_| unrecorded()),
            _ => Ok(Label::default()),
        };
        let result = std::mem::replace(&mut completion.result, Ok(Json::NULL.into()));
        if let (Some(flows), Ok(label)) = (&self.flows, &label) {
            flows.lock().kept.join(label);
        }
        completion.result = label.and_then(|label| self.kept.keep(result, label));
    }

    /// Adds sources to the label of the run.
    pub(super) fn join_flow(&self, sources: &Label) -> Result<(), OperationError> {
        self.flows.as_ref().map_or(Ok(()), |flows| flows.join(sources)).map_err(|_| unrecorded())
    }

    /// Has what an operation writes to hold the sources of what is put into it; without those, all of the run.
    pub(super) fn label_target(&self, request: &HostRequest, sent: Option<&Label>) -> Result<(), OperationError> {
        let Some(flows) = &self.flows else { return Ok(()) };
        // What is read from holds nothing new.
        if !self.sinks(request).iter().any(|sink| sink.writes) {
            return Ok(());
        }
        let holder = self.answer_source(request).holder;
        let (Some(store), Some(holder)) = (&flows.store, holder) else { return Ok(()) };
        let sources = sent.map_or_else(|| flows.label().to_texts(), Label::to_texts);
        store.labels().join(&[holder], &sources).map_err(|_| unrecorded())
    }

    /// Adds to held effects where the data came from that they may depend on.
    pub(crate) fn with_sources(&self, mut held: Vec<HeldEffect>) -> Vec<HeldEffect> {
        if let Some(flows) = &self.flows {
            let sources = flows.sources();
            for effect in &mut held {
                effect.from.clone_from(&sources);
            }
        }
        held
    }

    /// Notes in the log of effects where the data came from that the run was handed.
    pub(crate) fn record_flows(&self) {
        let Some(flows) = &self.flows else { return };
        self.effects.record_all_sources(flows.sources());
        if let Err(fault) = flows.tell_caller() {
            tracing::error!(%fault, "what a caller is told cannot be remembered");
        }
    }

    /// Decides whether an operation may begin that sends data with this label, besides that of the run.
    pub(super) fn decide_flow(&self, operation: &ParsedHostCall, sent: &Label) -> Flow {
        let Some(flows) = &self.flows else { return Flow::Free };
        self.effects.record_sources(operation.id(), flows.source_count());
        let Some((decision, sink)) =
            flows.decide(&self.sinks(operation.request()), sent, &self.answer_source(operation.request()))
        else {
            return Flow::Free;
        };
        let FlowDecision { action, rule, from } = decision;
        match action {
            FlowAction::Ask => {
                let mut label = flows.label();
                label.join(sent);
                let answer = self.answer_source(operation.request());
                let asking = flows.asking(&label, answer.label().sources().next(), &self.sinks(operation.request()));
                Flow::Ask(FlowAsk { from, sink, rule, asking })
            }
            FlowAction::Deny => {
                let message = format!(
                    "{} refuses that; do it before the run reads that data, or in a run of its own",
                    what(&from, &sink, rule)
                );
                Flow::Refused(error_without_effects("NotAllowedError", "flow-refused", message))
            }
        }
    }

    /// Returns where an operation leads.
    fn sinks(&self, request: &HostRequest) -> Vec<Sink> {
        let one = |target, writes| vec![Sink { target, writes }];
        match request {
            HostRequest::Fetch(Ok(request)) => one(web_target(&request.url), !is_safe(&request.method)),
            HostRequest::KvGet(_) | HostRequest::KvList(_) => self.kv_sinks(false),
            HostRequest::KvCommit(Ok(request)) => self.kv_sinks(!request.writes.is_empty()),
            HostRequest::File(action, Ok(request)) => {
                let writes = matches!(action, FileAction::Write | FileAction::Remove | FileAction::MakeFolder);
                let Some(folder) = folder(request) else { return one(Target::Unknown, writes) };
                let known = self.flows.as_ref().and_then(|flows| flows.folders.get(&folder));
                let names = known.into_iter().flat_map(|known| known.names.iter().cloned()).chain([folder]);
                names.map(|name| Sink { target: Target::Files(name), writes }).collect()
            }
            HostRequest::ToolCall(Ok(request)) => {
                let Ok(call) = tools::check(request) else { return Vec::new() };
                let writes = !self.function(&call.name).is_some_and(HostFunction::is_read_only);
                one(Target::Tool(call.name), writes)
            }
            HostRequest::ServerCall(Ok(request)) => {
                let writes = self.servers.as_ref().is_some_and(|access| access.must_be_held(request));
                one(server_target(&request.server, Some(&request.tool)), writes)
            }
            HostRequest::ServerDescribe(Ok(request)) => {
                one(server_target(request.tool.split('.').next().unwrap_or_default(), None), false)
            }
            // A server may be started, or asked for its tools.
            HostRequest::ServerSearch(_) => {
                let names = self.all_grants.servers.names().cloned();
                names.map(|name| Sink { target: Target::Server(name, None), writes: false }).collect()
            }
            // The rest of a response that began: see the threat model on what its server sees of how it is read.
            HostRequest::FetchRead(_)
            | HostRequest::Timer(_)
            // What is malformed or unknown fails before it leaves.
            | HostRequest::Fetch(Err(_))
            | HostRequest::KvCommit(Err(_))
            | HostRequest::File(_, Err(_))
            | HostRequest::ToolCall(Err(_))
            | HostRequest::ServerCall(Err(_))
            | HostRequest::ServerDescribe(Err(_))
            | HostRequest::Unknown(_) => Vec::new(),
        }
    }

    fn kv_sinks(&self, writes: bool) -> Vec<Sink> {
        self.kv.iter().map(|access| Sink { target: Target::Kv(access.grant.space.clone()), writes }).collect()
    }

    /// Returns where the tools of servers come from that a search or a description shows. What is shown was trusted by a
    /// person, unless the policy trusts on first sight; what a failure says comes from the servers.
    fn catalogue_source(&self, servers: impl Iterator<Item = ServerName>) -> AnswerSource {
        let mut label = Label::default();
        for server in servers {
            if let Ok(tool) = ServerToolName::parse("tools_list") {
                label.insert(Source::Server(server, tool));
            }
        }
        let is_trusted = self.flows.as_ref().is_some_and(|flows| !flows.trusts_on_sight);
        if is_trusted { AnswerSource { failure: label, ..Label::default().into() } } else { label.into() }
    }

    /// Returns where the answer to an operation comes from that is about to begin.
    pub(super) fn answer_source(&self, request: &HostRequest) -> AnswerSource {
        let plain = |source: Source| AnswerSource::from(Label::from(source));
        match request {
            HostRequest::Fetch(Ok(request)) => {
                let label = match web_target(&request.url) {
                    Target::Web(host) => Label::from(Source::Web(host)),
                    _ => Label::default(),
                };
                AnswerSource { observed: Some(Arc::default()), ..label.into() }
            }
            HostRequest::KvGet(_) | HostRequest::KvList(_) | HostRequest::KvCommit(_) => match &self.kv {
                Some(access) => {
                    let space: &SpaceName = &access.grant.space;
                    let holder = Some(LabelHolder::Space(space.clone()));
                    AnswerSource { holder, ..plain(Source::Kv(space.clone())) }
                }
                None => Label::default().into(),
            },
            HostRequest::File(_, Ok(request)) => {
                let Some(folder) = folder(request) else { return Label::default().into() };
                let known = self.flows.as_ref().and_then(|flows| flows.folders.get(&folder));
                let mut source = plain(Source::Files(folder));
                if let Some(Folder { path, names }) = known {
                    source.holder = Some(LabelHolder::Folder(path.clone()));
                    for name in names {
                        source.label.insert(Source::Files(name.clone()));
                    }
                }
                source
            }
            HostRequest::ToolCall(Ok(request)) => {
                tools::check(request).map_or_else(|_| Label::default().into(), |call| plain(Source::Tool(call.name)))
            }
            HostRequest::ServerCall(Ok(request)) => match server_target(&request.server, Some(&request.tool)) {
                Target::Server(server, Some(tool)) => plain(Source::Server(server, tool)),
                _ => Label::default().into(),
            },
            HostRequest::ServerSearch(_) => self.catalogue_source(self.all_grants.servers.names().cloned()),
            HostRequest::ServerDescribe(Ok(request)) => {
                let name = request.tool.split('.').next().unwrap_or_default();
                self.catalogue_source(ServerName::parse(name).ok().into_iter())
            }
            _ => Label::default().into(),
        }
    }
}

/// Returns the error of an operation whose sources cannot be written down.
fn unrecorded() -> OperationError {
    error_without_effects("Error", "flow-unrecorded", "where the data came from cannot be recorded")
}

/// Describes an operation that the rules do not let begin, up to the name of the rule.
fn what(from: &Label, sink: &Sink, rule: usize) -> String {
    let from = describe(from);
    format!("this leads to `{sink}`, and the run has read data from {from}: the policy's `flows[{rule}]`")
}

/// Describes the sources of a label, at most a few of them.
fn describe(label: &Label) -> String {
    if label.is_any() {
        return "many places".to_owned();
    }
    let mut texts: Vec<String> = label.sources().take(4).map(|source| format!("`{source}`")).collect();
    if label.sources().count() > texts.len() {
        texts.push("…".to_owned());
    }
    texts.join(", ")
}

/// Returns the granted folders, each with all names under which the policy grants any part of it.
fn folders(policy: &Policy, grants: &Grants) -> BTreeMap<FolderName, Folder> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let all: Vec<(&FolderName, PathBuf)> =
        policy.granted_folders().map(|grant| (&grant.name, real(&grant.path))).collect();
    let folder = |grant: &FilesGrant| {
        let path = real(&grant.path);
        let overlaps = |other: &PathBuf| other.starts_with(&path) || path.starts_with(other);
        let names = all.iter().filter(|(name, other)| **name != grant.name && overlaps(other));
        let mut names: Vec<FolderName> = names.map(|(name, _)| (*name).clone()).collect();
        names.sort_unstable();
        names.dedup();
        (grant.name.clone(), Folder { path, names })
    };
    grants.files.iter().map(folder).collect()
}

fn sink_of_folder(grant: &FilesGrant) -> Sink {
    Sink { target: Target::Files(grant.name.clone()), writes: true }
}

fn web_target(url: &str) -> Target {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.map_or(Target::Unknown, |host| Target::Web(host.trim_end_matches('.').to_ascii_lowercase()))
}

fn server_target(server: &str, tool: Option<&str>) -> Target {
    let server = ServerName::parse(server).ok();
    let tool = tool.map(|tool| ServerToolName::parse(tool).ok());
    match (server, tool) {
        (Some(server), None) => Target::Server(server, None),
        (Some(server), Some(Some(tool))) => Target::Server(server, Some(tool)),
        _ => Target::Unknown,
    }
}

/// Returns the folder of a path: its first component.
fn folder(request: &FileRequest) -> Option<FolderName> {
    FolderName::parse(request.path.split('/').next()?).ok()
}

/// Whether a method is safe (RFC 9110, section 9.2.1).
fn is_safe(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS"].iter().any(|safe| method.eq_ignore_ascii_case(safe))
}

#[cfg(test)]
mod planted {
    //! A bug for the test of the tests: labels that are set one turn late.

    use std::cell::{Cell, RefCell};

    use toolcell_flows::Label;

    use super::FlowTracker;

    thread_local! {
        static IS_LATE: Cell<bool> = const { Cell::new(false) };
        static LATER: RefCell<Label> = RefCell::default();
    }

    /// Ends the bug when it is dropped.
    pub(super) struct Planted;

    impl Drop for Planted {
        fn drop(&mut self) {
            IS_LATE.set(false);
        }
    }

    impl FlowTracker {
        /// Has the runs of this thread set their labels one turn late.
        pub(super) fn plant_late_labels() -> Planted {
            IS_LATE.set(true);
            Planted
        }

        /// Returns the label that the bug sets now: that of the turn before.
        pub(super) fn delay(now: Label) -> Label {
            if IS_LATE.get() { LATER.replace(now) } else { now }
        }
    }
}

#[cfg(test)]
mod tests;
