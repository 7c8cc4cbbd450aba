//! The admission of calls: the policy, the hooks and the approval, of which the strictest wins.
//!
//! ```text
//! policy: grants and limits → hooks: allow, deny, ask → approval: of this tool with these grants
//! ```
//!
//! Invariant: a [`Permit`] is created only here, and whatever cannot decide refuses. The model
//! decides nothing.

use std::cell::RefCell;

use serde_json::Value;
use toolcell_analysis::Capabilities;
use toolcell_host::{Budget, CallContext, CancelToken, HostCalls, NoHostCalls};
use toolcell_i18n::{Localize as _, Message, message, msgid};
use toolcell_policy::{ApprovalMode, GrantVerdict, Grants, Policy};
use toolcell_schema::{Args, ParamsError, Schema};
use toolcell_store::{Decision as Said, DecisionOutcome, Entry, Fault, Store, StoreAccess};
use toolcell_tool::{Status, ToolId};

use super::AdmissionControl;
use super::decision_step::DecisionStep;
use super::denial::Denial;
use super::grant_hints;
use super::hook::{
    Admission, ApprovalAnswer, ApprovalDuration, ApprovalPrompt, Approver, CallerClaims, HookContext, HookEnvironment,
    HookEvent, HookStep, HookTools,
};
use crate::vet::VettedTool;

/// The proof that a call may run with these arguments, this budget and these grants.
pub struct Permit {
    args: Args,
    budget: Budget,
    grants: Grants,
    decided_by: String,
    context: Vec<HookContext>,
    output_suppressed: bool,
    caller: Option<HookCaller>,
}

/// The caller of a run, as hooks see it.
#[derive(Debug, Clone)]
pub(crate) struct HookCaller {
    /// The caller, as named in the record.
    pub(crate) name: String,
    /// What it claims about itself.
    pub(crate) claims: CallerClaims,
    /// How it gives up.
    pub(crate) cancel: Option<CancelToken>,
}

impl HookCaller {
    /// Returns the event of a call by this caller.
    pub(crate) fn sign(&self, event: HookEvent) -> HookEvent {
        event.with_caller(self.name.as_str()).with_claims(self.claims.clone()).with_cancel(self.cancel.clone())
    }
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

    pub(crate) fn is_output_suppressed(&self) -> bool {
        self.output_suppressed
    }

    /// Returns the caller; a trial has none.
    pub(crate) fn caller(&self) -> Option<&HookCaller> {
        self.caller.as_ref()
    }

    pub(crate) fn into_context(self) -> Vec<HookContext> {
        self.context
    }

    /// Restricts the grants to those of the calling tool.
    pub(crate) fn restricted_to(self, caller: &Grants) -> Self {
        Self { grants: self.grants.intersect(caller), ..self }
    }

    /// Creates a permit without grants.
    #[cfg(test)]
    pub(crate) fn for_test(args: Args, budget: Budget) -> Self {
        let (grants, decided_by) = (Grants::default(), "test".to_owned());
        Self { args, budget, grants, decided_by, context: Vec::new(), output_suppressed: false, caller: None }
    }

    /// Creates a permit with the same grants for another call of the tool during verification.
    pub(crate) fn for_trial(&self, args: Args, budget: Budget) -> Self {
        let (grants, decided_by) = (self.grants.clone(), self.decided_by.clone());
        Self { args, budget, grants, decided_by, context: Vec::new(), output_suppressed: false, caller: None }
    }
}

/// A call that needs no admission, because it gets no capability: a factory that declares its
/// parameters, a predicate of an example, the comparison of two tools, a replay.
pub(crate) struct UngrantedCall {
    args: Args,
    budget: Budget,
}

impl UngrantedCall {
    pub(crate) fn new(args: Args, budget: Budget) -> Self {
        Self { args, budget }
    }

    /// Creates a call during analysis, with 2 billion units of fuel and 2 seconds.
    pub(crate) fn for_analysis(args: Args) -> Self {
        let budget = Budget { fuel: 2_000_000_000, deadline: std::time::Duration::from_secs(2), ..Budget::default() };
        Self { args, budget }
    }
}

/// Host calls that have no effect: they are refused, or answered from a record.
pub(crate) trait EffectFreeHostCalls: HostCalls {}

impl EffectFreeHostCalls for NoHostCalls {}

/// What entitles a call to enter the sandbox.
#[derive(Clone, Copy)]
pub(crate) enum CallAuthorization<'a> {
    /// The call was admitted. Its host calls are those of its context.
    Admitted(&'a Permit),
    /// The call was not admitted. Its host calls are these, whatever its context says.
    Ungranted(&'a UngrantedCall, &'a dyn EffectFreeHostCalls),
}

impl<'a> CallAuthorization<'a> {
    /// Authorizes a call whose host calls are all refused.
    pub(crate) fn without_host_calls(call: &'a UngrantedCall) -> Self {
        Self::Ungranted(call, &NoHostCalls)
    }

    pub(crate) fn args(&self) -> &'a Args {
        match self {
            Self::Admitted(permit) => &permit.args,
            Self::Ungranted(call, _) => &call.args,
        }
    }

    pub(crate) fn budget(&self) -> &'a Budget {
        match self {
            Self::Admitted(permit) => &permit.budget,
            Self::Ungranted(call, _) => &call.budget,
        }
    }

    /// Returns the context with the host calls that this authorization allows.
    pub(crate) fn context(&self, context: &CallContext<'a>) -> CallContext<'a> {
        match *self {
            Self::Admitted(_) => *context,
            Self::Ungranted(_, host_calls) => CallContext { host_calls, ..*context },
        }
    }
}

/// The error of a refused call.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
pub(crate) enum AdmissionError {
    #[error(transparent)]
    Denied(#[from] Denial),
    /// A hook changed the arguments to values that the tool's schema rejects.
    #[error(transparent)]
    Params(#[from] ParamsError),
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// The call to be admitted.
pub(crate) struct AdmissionRequest<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Schema,
    /// The requested capabilities.
    pub(crate) requested: &'a Capabilities,
    /// What is called.
    pub(crate) called: Called<'a>,
    /// Runs the hooks that are stored tools.
    pub(crate) hook_tools: &'a dyn HookTools,
}

/// What is called.
#[derive(Clone, Copy)]
pub(crate) enum Called<'a> {
    /// A stored tool, whose grants the policy decides.
    Tool(StoredTool<'a>),
    /// A draft, which its caller approved by submitting it, with these grants.
    Draft(&'a Grants),
}

/// A stored tool that is to be called.
#[derive(Clone, Copy)]
pub(crate) struct StoredTool<'a> {
    pub(crate) store: &'a Store,
    pub(crate) entry: &'a Entry,
    pub(crate) tool: &'a VettedTool,
}

impl AdmissionRequest<'_> {
    fn id(&self) -> Option<ToolId> {
        self.stored_tool().map(|stored| stored.entry.id)
    }

    const fn stored_tool(&self) -> Option<StoredTool<'_>> {
        match self.called {
            Called::Tool(stored) => Some(stored),
            Called::Draft(_) => None,
        }
    }
}

/// The mode of an admission: for a run, or for an explanation.
#[derive(Clone, Copy)]
pub(crate) enum AdmissionMode<'a> {
    /// The call runs if it is admitted.
    Run {
        /// The approver that may be prompted.
        approver: Option<&'a dyn Approver>,
        /// The caller.
        caller: &'a str,
        /// What the caller claims about itself.
        claims: &'a CallerClaims,
        /// How the caller gives up.
        cancel: Option<&'a CancelToken>,
    },
    /// Nothing runs, and nothing is recorded. The approver is not prompted: the prompts are collected.
    Explain {
        /// The prompts that the approver of a run would get.
        prompts: &'a RefCell<Vec<ApprovalPrompt>>,
        /// The caller.
        caller: &'a str,
        /// What the caller claims about itself.
        claims: &'a CallerClaims,
    },
}

impl AdmissionMode<'_> {
    /// Returns the caller.
    pub(crate) fn caller(self) -> HookCaller {
        let (caller, claims, cancel) = match self {
            Self::Run { caller, claims, cancel, .. } => (caller, claims, cancel),
            Self::Explain { caller, claims, .. } => (caller, claims, None),
        };
        HookCaller { name: caller.to_owned(), claims: claims.clone(), cancel: cancel.cloned() }
    }
}

/// An approved call: who approved it, and the grants that it runs with.
struct ApprovedCall {
    decided_by: String,
    grants: Grants,
}

impl AdmissionControl {
    /// Decides whether a call may run.
    pub(crate) fn admit(
        &self,
        subject: &AdmissionRequest<'_>,
        args: Args,
        budget: Budget,
        purpose: AdmissionMode<'_>,
        steps: &mut Vec<DecisionStep>,
    ) -> Result<Permit, AdmissionError> {
        let grants = self.resolve_grants(subject, steps);
        check_quarantine(subject, steps)?;
        let (args, admission) = self.run_pre_hooks(subject, args, purpose, steps)?;
        let ApprovedCall { decided_by, grants } = match subject.called {
            Called::Tool(stored) => self.check_approval(stored, grants, &args, purpose, steps)?,
            Called::Draft(_) => ApprovedCall { decided_by: "caller".to_owned(), grants },
        };
        let decided_by = admission.decided_by.as_ref().map_or(decided_by, |hook| format!("hook {hook}"));
        let context = admission.context;
        let output_suppressed = admission.suppress_output;
        Ok(Permit { args, budget, grants, decided_by, context, output_suppressed, caller: Some(purpose.caller()) })
    }

    /// Returns what the policy grants.
    pub(crate) fn granted_to(&self, subject: &AdmissionRequest<'_>) -> Grants {
        self.resolve_grants(subject, &mut Vec::new())
    }

    /// Returns what the policy grants of the requested capabilities, and records the steps.
    fn resolve_grants(&self, subject: &AdmissionRequest<'_>, steps: &mut Vec<DecisionStep>) -> Grants {
        let entry = match subject.called {
            Called::Tool(StoredTool { entry, .. }) => entry,
            Called::Draft(grants) => return grants.clone(),
        };
        let rulings = self.policy.grant_decisions(entry.id, &entry.name, &entry.tags, subject.requested);
        let grants = Policy::combine(&rulings);
        for ruling in rulings {
            let is_granted = ruling.verdict == GrantVerdict::Granted;
            let verdict = if is_granted { message!("grant") } else { message!("withhold") };
            let reason = ruling.localize();
            let rule = Message::verbatim(ruling.rule.unwrap_or_else(|| "grants".to_owned()));
            steps.push(DecisionStep { stage: "grants", rule, verdict, reason });
        }
        grants
    }

    /// Runs the pre-run hooks. Arguments that a hook changed are checked against the schema again.
    fn run_pre_hooks(
        &self,
        subject: &AdmissionRequest<'_>,
        args: Args,
        purpose: AdmissionMode<'_>,
        steps: &mut Vec<DecisionStep>,
    ) -> Result<(Args, Admission), AdmissionError> {
        if self.hooks.has_no_pre_hooks() {
            return Ok((args, Admission::default()));
        }
        let value = args_to_show(&args, "hooks")?;
        let call = purpose.caller().sign(self.hook_event(subject.name, subject.id(), value));
        let person = match purpose {
            AdmissionMode::Run { approver, .. } => approver,
            AdmissionMode::Explain { .. } => None,
        };
        let admission = self.hooks.admit_with(
            Admission::default(),
            call.clone(),
            &HookEnvironment { approver: person, tools: subject.hook_tools, deadline: None },
        );
        steps.extend(admission.steps.iter().map(HookStep::to_decision_step));
        check_denied(&admission)?;
        // The schema check comes before the prompt: the approver is not asked about arguments that
        // the tool rejects.
        let args = match &admission.args {
            Some(changed) => subject.schema.check_value(Value::clone(changed))?,
            None => args,
        };
        if let AdmissionMode::Explain { prompts, .. } = purpose {
            prompts.borrow_mut().extend(admission.prompt(&call));
            return Ok((args, admission));
        }
        let admission = admission.resolve_ask(&call, person);
        check_denied(&admission)?;
        Ok((args, admission))
    }

    /// Whether one run of a tool is approved with these grants. A run takes the approval; an explanation leaves it.
    fn takes_single_approval(
        &self,
        store: &Store,
        tool: ToolId,
        grants: &Grants,
        purpose: AdmissionMode<'_>,
    ) -> Result<bool, Fault> {
        let (grants, now) = (grants.to_value(), (self.clock)());
        let found = store.approvals().single(tool, &grants, now)?.is_some();
        match purpose {
            // A store that is read-only could not tell that the approval was used.
            _ if !found || store.access() != StoreAccess::Full => Ok(false),
            AdmissionMode::Run { .. } => Ok(store.approvals().take_single(tool, &grants, now)?.is_some()),
            AdmissionMode::Explain { .. } => Ok(true),
        }
    }

    /// Checks that a tool with these grants is approved. An approver may grant more.
    fn check_approval(
        &self,
        StoredTool { store, entry, tool }: StoredTool<'_>,
        grants: Grants,
        args: &Args,
        purpose: AdmissionMode<'_>,
        steps: &mut Vec<DecisionStep>,
    ) -> Result<ApprovedCall, AdmissionError> {
        let (mode, origin) = self.policy.approval();
        let rule = message!("approval.mode = \"{mode}\" ({origin})", mode = mode.name(), origin);
        let mut say = |verdict: Message, reason: Message| {
            steps.push(DecisionStep { stage: "approval", rule: rule.clone(), verdict, reason });
        };
        let said = if entry.has_decision { store.approvals().decision(entry.id, &grants.to_value())? } else { None };
        if said == Some(Said::Refused) {
            say(message!("deny"), message!("its approval was refused"));
            return Err(Denial::refused(entry).into());
        }
        if said == Some(Said::Approved) {
            say(message!("allow"), message!("it was approved with these grants"));
            return Ok(ApprovedCall { decided_by: "approval".to_owned(), grants });
        }
        let Some(why) = self.approval_reason(tool) else {
            say(message!("allow"), message!("it needs no approval"));
            return Ok(ApprovedCall { decided_by: format!("policy {}", mode.name()), grants });
        };
        if self.takes_single_approval(store, entry.id, &grants, purpose)? {
            say(message!("allow"), message!("one run was approved with these grants"));
            return Ok(ApprovedCall { decided_by: "approval-once".to_owned(), grants });
        }
        let missing = grant_hints::missing_grants(tool, &grants);
        if mode == ApprovalMode::Never {
            say(message!("deny"), why.clone());
            return Err(Denial::unapproved(entry, &why).with_missing_grants(entry, &missing).into());
        }
        let prompt = |why: &Message| -> Result<ApprovalPrompt, Denial> {
            let shown = args_to_show(args, "approval")?;
            let call = purpose.caller().sign(self.hook_event(entry.name.as_str(), Some(entry.id), shown));
            Ok(ApprovalPrompt::for_tool(tool, &grants, call, why.clone()))
        };
        let is_granted_nothing = !missing.is_empty() && grants.is_empty();
        let (person, caller) = match purpose {
            AdmissionMode::Run { approver, caller, .. } => (approver, caller),
            AdmissionMode::Explain { prompts, .. } => {
                if !is_granted_nothing {
                    prompts.borrow_mut().push(prompt(&why)?);
                }
                say(message!("ask"), why);
                return Ok(ApprovedCall { decided_by: "nobody".to_owned(), grants });
            }
        };
        let ask_later = || self.request_approval(store, entry.id, &grants, caller);
        // A tool that is granted nothing of what it requests fails, whatever the answer is.
        let is_answerable = |person: &&dyn Approver| !is_granted_nothing || person.can_grant(&missing);
        let Some(person) = person.filter(is_answerable) else {
            ask_later()?;
            let denial = if is_granted_nothing { Denial::nothing_granted } else { Denial::approval_pending };
            return Err(denial(entry, &why).with_missing_grants(entry, &missing).into());
        };
        let question = prompt(&why)?;
        let approve_for_good =
            |grants: Grants| match self.record_decision(store, entry, &grants, Said::Approved, "person")? {
                DecisionOutcome::Stored => Ok(ApprovedCall { decided_by: "person".to_owned(), grants }),
                DecisionOutcome::ToolGone => Err(Denial::tool_gone(entry).into()),
            };
        match person.ask(&question) {
            ApprovalAnswer::Approve => approve_for_good(grants),
            ApprovalAnswer::ApproveUnder { policy, duration } => {
                let asked = tool.requested_capabilities();
                let grants = policy.grants_for(entry.id, &entry.name, &entry.tags, asked);
                match duration {
                    ApprovalDuration::ThisCall => Ok(ApprovedCall { decided_by: "person".to_owned(), grants }),
                    ApprovalDuration::Always => approve_for_good(grants),
                }
            }
            ApprovalAnswer::Refuse { feedback } => {
                ask_later()?;
                Err(Denial::declined(entry, feedback).into())
            }
            ApprovalAnswer::Defer => {
                ask_later()?;
                Err(Denial::answer_deferred(entry, &why).with_missing_grants(entry, &missing).into())
            }
            ApprovalAnswer::NotShown { reason } => {
                ask_later()?;
                Err(Denial::not_shown(entry, &reason).into())
            }
        }
    }
}

/// Returns the complete arguments for an approver or a hook; the call is denied if they cannot be
/// represented.
pub(super) fn args_to_show(args: &Args, by: &str) -> Result<Value, Denial> {
    match args.value() {
        Some(value) => Ok(value.clone()),
        None => serde_json::from_str(args.params().as_str()).map_err(|error| {
            let reason = message!("the parameters cannot be shown to the approver or hook: {error}", error);
            Denial::new(by, reason, msgid!("pass parameters that every JSON parser accepts"))
        }),
    }
}

/// Refuses a quarantined tool, whether or not it was approved.
fn check_quarantine(subject: &AdmissionRequest<'_>, steps: &mut Vec<DecisionStep>) -> Result<(), Denial> {
    let stored = subject.stored_tool().filter(|stored| stored.entry.status == Status::Quarantined);
    let Some(StoredTool { entry, .. }) = stored else { return Ok(()) };
    let (name, id) = (&entry.name, entry.id.short());
    let reason = message!("`{name}` ({id}) is quarantined", name, id);
    let (stage, rule) = ("quarantine", Message::verbatim(format!("status = \"{}\"", entry.status.name())));
    steps.push(DecisionStep { stage, rule, verdict: message!("deny"), reason: reason.clone() });
    let hint = message!("review it with `toolcell show {id}`, check the store with `toolcell fsck`", id);
    Err(Denial::new(stage, reason, hint))
}

/// Returns the denial of the hooks, if there is one.
fn check_denied(admission: &Admission) -> Result<(), Denial> {
    Denial::from_hooks(admission).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests;
