//! Whether a call may run: the policy, the gates, the person, and the strictest of them wins.
//!
//! ```text
//! policy: what is granted, within which limits → gates: allow, deny, ask → approval: of this tool with these grants
//! ```
//!
//! Invariant: a [`Permit`] is made here only, and who cannot decide refuses. The model decides nothing.

mod denial;

use serde_json::Value;
use toolcell_analysis::{Capabilities, Severity};
use toolcell_host::Budget;
use toolcell_store::audit::{Action, Attempt};
use toolcell_store::{Approval, Decision as Said, Entry, Fault, Settled, Store};
use toolcell_tool::{Status, ToolId};

pub use denial::Denial;

use crate::gate::{Admission, Answer, Context, GateCall, Person, Question};
use crate::params::{Args, ParamsError, Schema};
use crate::policy::{ApprovalMode, Grants, Policy, Verdict};
use crate::toolbox::Toolbox;
use crate::ungranted;
use crate::vet::VettedTool;

/// The proof that a call may run: with these arguments, this budget, these grants.
pub struct Permit {
    args: Args,
    budget: Budget,
    grants: Grants,
    decided_by: String,
    context: Vec<Context>,
    suppressed: bool,
}

impl Permit {
    pub(crate) fn args(&self) -> &Args {
        &self.args
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(crate) fn grants(&self) -> &Grants {
        &self.grants
    }

    pub(crate) fn decided_by(&self) -> &str {
        &self.decided_by
    }

    pub(crate) fn is_suppressed(&self) -> bool {
        self.suppressed
    }

    pub(crate) fn into_context(self) -> Vec<Context> {
        self.context
    }

    /// The same with no more than another tool is granted, which calls this one.
    pub(crate) fn within(self, caller: &Grants) -> Self {
        Self { grants: self.grants.meet(caller), ..self }
    }

    /// The same for another call of the tool, while it is tried.
    pub(crate) fn for_trial(&self, args: Args, budget: Budget) -> Self {
        let (grants, decided_by) = (self.grants.clone(), self.decided_by.clone());
        Self { args, budget, grants, decided_by, context: Vec::new(), suppressed: false }
    }

    /// To compare what a tool answers with what another does: with nothing granted, and nobody is told.
    pub(crate) fn to_compare(args: Args, budget: Budget) -> Self {
        let (grants, decided_by) = (Grants::default(), "comparison".to_owned());
        Self { args, budget, grants, decided_by, context: Vec::new(), suppressed: false }
    }

    /// To do again what was permitted before: nothing outside is reached.
    pub(crate) fn to_replay(args: Args, budget: Budget) -> Self {
        let (grants, decided_by) = (Grants::default(), "receipt".to_owned());
        Self { args, budget, grants, decided_by, context: Vec::new(), suppressed: false }
    }

    /// To evaluate a factory while it is analysed: with nothing granted, and little of everything.
    pub(crate) fn to_describe(args: Args) -> Self {
        let budget = Budget { fuel: 2_000_000_000, deadline: std::time::Duration::from_secs(2), ..Budget::default() };
        let (grants, decided_by) = (Grants::default(), "analysis".to_owned());
        Self { args, budget, grants, decided_by, context: Vec::new(), suppressed: false }
    }
}

/// Why a call is not admitted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAdmitted {
    #[error(transparent)]
    Denied(#[from] Denial),
    /// A gate changed the arguments to what the tool does not take.
    #[error(transparent)]
    Params(#[from] ParamsError),
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// What is about to run.
pub(crate) struct Subject<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Schema,
    /// Its capabilities, as it asks for them.
    pub(crate) asked: &'a Capabilities,
    /// The stored tool; a draft has none, and whoever hands it in has approved it.
    pub(crate) tool: Option<(&'a Entry, &'a VettedTool)>,
}

impl Subject<'_> {
    fn id(&self) -> Option<ToolId> {
        self.tool.map(|(entry, _)| entry.id)
    }
}

/// One step of a decision.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Step {
    /// What decides: `limits`, `grants`, `quarantine`, `gate`, `approval`.
    pub stage: &'static str,
    /// Which one: a key of a policy, the name of a gate.
    pub rule: String,
    /// What it said: `allow`, `deny`, `ask`, `grant`, `withhold`, `no objection`.
    pub verdict: String,
    /// Why.
    pub reason: String,
}

/// Whether a decision is made for a run, or only to be shown.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'a> {
    /// The call runs if it is admitted.
    Run {
        /// The person who may be asked.
        person: Option<&'a dyn Person>,
        /// Who calls.
        caller: &'a str,
    },
    /// Nothing runs, nobody is asked, and nothing is kept.
    Explain,
}

impl Toolbox {
    /// Decides whether a call may run.
    pub(crate) fn admit(
        &self,
        subject: &Subject<'_>,
        args: Args,
        budget: Budget,
        purpose: Purpose<'_>,
        steps: &mut Vec<Step>,
    ) -> Result<Permit, NotAdmitted> {
        let grants = self.grants(subject, steps);
        pass_quarantine(subject, steps)?;
        let (args, admission) = self.pass_gates(subject, args, purpose, steps)?;
        let decided_by = match subject.tool {
            Some((entry, tool)) => self.approved(entry, tool, &grants, &args, purpose, steps)?,
            None => "caller".to_owned(),
        };
        let decided_by = admission.decided_by.as_ref().map_or(decided_by, |gate| format!("gate {gate}"));
        let context = admission.context;
        Ok(Permit { args, budget, grants, decided_by, context, suppressed: admission.suppress_output })
    }

    /// What the policy grants.
    pub(crate) fn granted(&self, subject: &Subject<'_>) -> Grants {
        self.grants(subject, &mut Vec::new())
    }

    /// What the policy grants of what is asked for.
    fn grants(&self, subject: &Subject<'_>, steps: &mut Vec<Step>) -> Grants {
        // What a draft is granted is what its caller does for it.
        let Some((entry, _)) = subject.tool else { return Grants::default() };
        let rulings = self.policy.granted_by(entry.id, &entry.name, &entry.tags, subject.asked);
        let grants = Policy::together(&rulings);
        for ruling in rulings {
            let verdict = if ruling.verdict == Verdict::Granted { "grant" } else { "withhold" };
            let reason = ruling.to_string();
            let rule = ruling.rule.unwrap_or_else(|| "grants".to_owned());
            steps.push(Step { stage: "grants", rule, verdict: verdict.to_owned(), reason });
        }
        grants
    }

    /// Asks the gates. Arguments that one of them changed are checked again.
    fn pass_gates(
        &self,
        subject: &Subject<'_>,
        args: Args,
        purpose: Purpose<'_>,
        steps: &mut Vec<Step>,
    ) -> Result<(Args, Admission), NotAdmitted> {
        if self.gates.admits_all() {
            return Ok((args, Admission::default()));
        }
        let value = to_be_shown(&args, "gates")?;
        let mut call = self.gate_call(subject.name, subject.id(), value);
        let mut asked = None;
        if let Purpose::Run { person, caller } = purpose {
            asked = person;
            call = call.with_caller(caller);
        }
        let person = asked;
        let admission = self.gates.admit(call.clone(), person);
        steps.extend(admission.steps.iter().map(|step| Step {
            stage: "gate",
            rule: step.gate.clone(),
            verdict: step.decision.name().to_owned(),
            reason: step.decision.reason().unwrap_or_default().to_owned(),
        }));
        denied(&admission)?;
        // Nobody is asked about arguments that the tool does not take.
        let args = match &admission.args {
            Some(changed) => subject.schema.check_value(Value::clone(changed))?,
            None => args,
        };
        if let Purpose::Explain = purpose {
            return Ok((args, admission));
        }
        let admission = admission.settle(&call, person);
        denied(&admission)?;
        Ok((args, admission))
    }

    /// A call as gates see it.
    pub(crate) fn gate_call(&self, name: &str, tool: Option<ToolId>, args: Value) -> GateCall {
        GateCall::new(name, tool, args, self.now(), self.cwd.as_str())
    }

    /// Whether a tool with these grants is approved, and by whom.
    fn approved(
        &self,
        entry: &Entry,
        tool: &VettedTool,
        grants: &Grants,
        args: &Args,
        purpose: Purpose<'_>,
        steps: &mut Vec<Step>,
    ) -> Result<String, NotAdmitted> {
        let (mode, origin) = self.policy.approval();
        let rule = format!("approval.mode = \"{}\" ({origin})", mode.name());
        let mut say = |verdict: &str, reason: String| {
            steps.push(Step { stage: "approval", rule: rule.clone(), verdict: verdict.to_owned(), reason });
        };
        let store = self.shelf()?;
        let said = if entry.judged { store.decision(entry.id, &grants.to_value())? } else { None };
        if said == Some(Said::Refused) {
            say("deny", "somebody refused it".to_owned());
            return Err(Denial::refused(entry).into());
        }
        if said == Some(Said::Approved) {
            say("allow", "somebody approved it with these grants".to_owned());
            return Ok("approval".to_owned());
        }
        let Some(why) = needs_approval(mode, tool) else {
            say("allow", "it needs no approval".to_owned());
            return Ok(format!("policy {}", mode.name()));
        };
        let missing = || ungranted::lines(entry, tool, grants);
        if mode == ApprovalMode::Never {
            say("deny", why.clone());
            return Err(Denial::unapproved(entry, &why).with_lines(missing()).into());
        }
        let Purpose::Run { person, caller } = purpose else {
            say("ask", why);
            return Ok("nobody".to_owned());
        };
        let ask_later = || self.ask_later(store, entry.id, grants, caller);
        let Some(person) = person else {
            ask_later()?;
            return Err(Denial::pending(entry, &why).with_lines(missing()).into());
        };
        let shown = to_be_shown(args, "approval")?;
        let call = self.gate_call(entry.name.as_str(), Some(entry.id), shown).with_caller(caller);
        let question = Question::about_tool(tool, grants, call, &why);
        match person.ask(&question) {
            Answer::Yes => {
                if self.settle(store, entry, grants, Said::Approved, "person")? == Settled::Gone {
                    return Err(Denial::gone(entry).into());
                }
                Ok("person".to_owned())
            }
            Answer::No { feedback } => {
                ask_later()?;
                Err(Denial::declined(entry, feedback).into())
            }
            Answer::Later => {
                ask_later()?;
                Err(Denial::asked(entry, &why).with_lines(missing()).into())
            }
            Answer::NotShown { reason } => {
                ask_later()?;
                Err(Denial::not_shown(entry, &reason).into())
            }
        }
    }

    /// Notes that a person should look at a tool. Where nothing can be noted, the next run asks again.
    pub(crate) fn ask_later(&self, store: &Store, tool: ToolId, grants: &Grants, caller: &str) -> Result<(), Fault> {
        if store.access() == toolcell_store::Access::Full {
            store.ask(tool, &grants.to_value(), caller, self.now())?;
        }
        Ok(())
    }

    /// Keeps the decision about a tool with these grants, unless its name was taken away meanwhile.
    pub(crate) fn settle(
        &self,
        store: &Store,
        entry: &Entry,
        grants: &Grants,
        decision: Said,
        by: &str,
    ) -> Result<Settled, Fault> {
        let at = self.now();
        let approval = Approval { tool: entry.id, grants: grants.to_value(), decision, by: by.to_owned(), at };
        let action = if decision == Said::Approved { Action::Approve } else { Action::Refuse };
        let name = Some(entry.name.to_string());
        let mut attempt = Attempt { tool: Some(entry.id), name, ..Attempt::new(action, at) };
        attempt.details.decided_by = Some(by.to_owned());
        store.change(attempt).decide(&approval)
    }
}

/// The arguments of a call as a person or a gate is shown them: all of them, or the call is denied.
pub(crate) fn to_be_shown(args: &Args, by: &str) -> Result<Value, Denial> {
    match args.value() {
        Some(value) => Ok(value.clone()),
        None => serde_json::from_str(args.params().as_str()).map_err(|error| {
            let reason = format!("the parameters cannot be shown to whoever decides: {error}");
            Denial::new(by, reason, "hand in parameters that every parser of JSON reads")
        }),
    }
}

/// Refuses a tool that must not run, whoever approved it before.
fn pass_quarantine(subject: &Subject<'_>, steps: &mut Vec<Step>) -> Result<(), Denial> {
    let Some((entry, _)) = subject.tool.filter(|(entry, _)| entry.status == Status::Quarantined) else { return Ok(()) };
    let reason = format!("`{}` ({}) is in quarantine", entry.name, entry.id.short());
    let (stage, rule) = ("quarantine", format!("status = \"{}\"", entry.status));
    steps.push(Step { stage, rule, verdict: "deny".to_owned(), reason: reason.clone() });
    let hint = format!("look at it with `toolcell show {}`, and at the store with `toolcell fsck`", entry.id.short());
    Err(Denial::new(stage, reason, hint))
}

/// What gates denied.
fn denied(admission: &Admission) -> Result<(), Denial> {
    Denial::by_gates(admission).map_or(Ok(()), Err)
}

/// Why somebody has to approve a tool; nothing where nobody has to.
pub(crate) fn needs_approval(mode: ApprovalMode, tool: &VettedTool) -> Option<String> {
    match mode {
        ApprovalMode::Auto => return None,
        ApprovalMode::Never | ApprovalMode::Ask => return Some("every tool has to be approved".to_owned()),
        ApprovalMode::AutoSafe => {}
    }
    let asked: Vec<String> = tool.asked().iter().map(|(asked, _)| format!("`{}`", asked.name())).collect();
    let asks = (!asked.is_empty()).then(|| format!("it asks for {}", asked.join(", ")));
    let worst = tool.worst().filter(|finding| finding.severity >= Severity::Medium);
    let found = worst.map(|worst| format!("it has a finding that is {}: {}", worst.severity.name(), worst.message));
    let why: Vec<String> = asks.into_iter().chain(found).collect();
    (!why.is_empty()).then(|| why.join(", and "))
}

#[cfg(test)]
mod tests;
