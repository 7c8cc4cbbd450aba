//! Merging of the answers of all hooks.
//!
//! Invariant: deny beats ask beats allow in any order of the hooks, and a call that no hook decides
//! stays undecided. A decision is only ever replaced by a stricter one, until an approver resolves
//! it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message};

use super::error::{FailureCause, HookFailure};
use super::event::{ApprovalAnswer, ApprovalPrompt, Approver, AwaitedAnswer, HookEvent};
use super::post_run::{EndKind, PostRunEvent};
use super::verdict::{HookDecision, HookVerdict, ResultChange, Revision};
use crate::admission::decision_step::DecisionStep;

/// A text that a hook adds for the model. It must be shown once, attributed to the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookContext {
    /// The name of the hook.
    pub hook: String,
    /// The text.
    pub text: String,
}

/// The outcome of one pre-run hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookStep {
    /// The name of the hook.
    pub hook: String,
    /// The decision; `Deny` if the hook failed.
    pub decision: HookDecision,
    /// The failure, if the hook failed.
    pub failure: Option<HookFailure>,
    /// Whether the hook modified the arguments.
    pub args: Modification,
    /// The time the hook took, including the time a person took to answer its prompts.
    pub elapsed: Duration,
}

impl HookStep {
    /// Returns the step for an explanation.
    pub(crate) fn to_decision_step(&self) -> DecisionStep {
        DecisionStep {
            stage: "hook",
            rule: Message::verbatim(self.hook.clone()),
            verdict: self.decision.name().into(),
            reason: self.decision.reason().cloned().unwrap_or_else(|| Message::verbatim(String::new())),
        }
    }
}

/// Whether a hook modified the value it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Modification {
    /// The value is unmodified.
    #[default]
    Unchanged,
    /// The hook replaced the value.
    Changed,
}

/// The merged answer of the pre-run hooks.
#[derive(Debug, Clone, Default)]
#[must_use]
#[non_exhaustive]
pub struct Admission {
    /// The merged decision. An `Ask` must be [resolved](Self::resolve_ask).
    pub decision: HookDecision,
    /// The hook that decided, or the first of several with the same decision.
    pub decided_by: Option<String>,
    /// The modified arguments, if a hook modified them. They have not been validated yet.
    pub args: Option<Arc<Value>>,
    /// Texts that the model should read.
    pub context: Vec<HookContext>,
    /// Whether the output is kept from the model. The record contains it either way.
    pub suppress_output: bool,
    /// What a denied call waits for, if an answer can still admit it.
    pub awaits: Option<AwaitedAnswer>,
    /// The outcome of each hook, in order.
    pub steps: Vec<HookStep>,
}

impl Admission {
    /// Merges the answer of a hook, and updates the arguments of the event for the next hook.
    pub(super) fn merge_verdict(
        &mut self,
        hook: &str,
        said: Result<HookVerdict, HookFailure>,
        took: Duration,
        call: &mut HookEvent,
    ) {
        let (verdict, failure) = match said.and_then(|verdict| check_modified_args(hook, verdict)) {
            Ok(verdict) => (verdict, None),
            Err(failure) => (HookVerdict::deny_with(failure.localize()), Some(failure)),
        };
        let args = if verdict.modified_args.is_some() { Modification::Changed } else { Modification::Unchanged };
        if let Some(args) = verdict.modified_args {
            call.args = Arc::new(args);
            self.args = Some(Arc::clone(&call.args));
        }
        self.context.extend(verdict.additional_context.map(|text| HookContext { hook: hook.to_owned(), text }));
        self.suppress_output |= verdict.suppress_output;
        self.steps.push(HookStep {
            hook: hook.to_owned(),
            decision: verdict.decision.clone(),
            failure,
            args,
            elapsed: took,
        });
        self.combine(hook, verdict.decision);
    }

    /// Combines the decision with one that is not of a hook. Returns whether that one decides now.
    pub(crate) fn tighten(&mut self, decision: HookDecision) -> bool {
        let is_stricter = decision.strictness() > self.decision.strictness();
        if is_stricter {
            (self.decision, self.decided_by) = (decision, None);
        }
        is_stricter
    }

    /// Records that the approver deferred the prompt of the last hook. This has an effect only if
    /// that hook denied the call without failing, that is, if its decision depends on the answer.
    pub(super) fn merge_deferral(&mut self) {
        let has_failed = self.steps.last().is_some_and(|step| step.failure.is_some());
        if matches!(self.decision, HookDecision::Deny { .. }) && !has_failed {
            self.awaits = Some(AwaitedAnswer::HookPrompt);
        }
    }

    fn combine(&mut self, hook: &str, decision: HookDecision) {
        match (&mut self.decision, decision) {
            // The approver should see every reason.
            (HookDecision::Ask { reason }, HookDecision::Ask { reason: other }) => {
                *reason = message!("{reason}; {other}", reason, other);
            }
            (current, decision) if decision.strictness() > current.strictness() => {
                *current = decision;
                self.decided_by = Some(hook.to_owned());
            }
            _ => {}
        }
    }

    /// Returns the prompt for the approver, if the decision is `Ask`. It shows `call`, the event that was
    /// admitted, with the arguments as the hooks modified them.
    #[must_use]
    pub fn prompt(&self, call: &HookEvent) -> Option<ApprovalPrompt> {
        let HookDecision::Ask { reason } = &self.decision else { return None };
        let asked_by = self.decided_by.clone().unwrap_or_else(|| "policy".to_owned());
        let mut call = call.clone();
        if let Some(args) = &self.args {
            call.args = Arc::clone(args);
        }
        Some(ApprovalPrompt { asked_by, text: reason.clone(), call, tool_approval: None })
    }

    /// Resolves an `Ask` by prompting the approver. An approval allows the call; a refusal, a
    /// deferral and the absence of an approver deny it. A deferral also sets
    /// [`awaits`](Self::awaits). Other decisions are left as they are.
    ///
    /// `call` is the event that was admitted; the prompt shows it with the arguments as the hooks
    /// modified them. Validate these arguments first, so that no person is prompted about a call
    /// that cannot run.
    pub fn resolve_ask(mut self, call: &HookEvent, person: Option<&dyn Approver>) -> Self {
        let Some(prompt) = self.prompt(call) else { return self };
        let answer = person.map(|person| person.ask(&prompt));
        let ApprovalPrompt { asked_by: hook, text: reason, .. } = prompt;
        self.decision = match answer {
            Some(ApprovalAnswer::Approve | ApprovalAnswer::ApproveUnder { .. }) => HookDecision::Allow,
            Some(ApprovalAnswer::Refuse { feedback: None }) => {
                HookDecision::Deny { reason: message!("a person refused the call: {why}", why = reason) }
            }
            Some(ApprovalAnswer::Refuse { feedback: Some(feedback) }) => HookDecision::Deny {
                reason: message!("a person refused the call: {reason}; {feedback}", reason, feedback),
            },
            Some(ApprovalAnswer::NotShown { reason: why }) => HookDecision::Deny {
                reason: message!(
                    "the hook `{hook}` asks a person, but the prompt was not shown: {why}: shorten the arguments, or run \
                     the tool in a terminal",
                    hook,
                    why
                ),
            },
            Some(ApprovalAnswer::Defer) => {
                self.awaits = Some(AwaitedAnswer::HookPrompt);
                HookDecision::Deny { reason: message!("a person is being asked: {why}", why = reason) }
            }
            None => HookDecision::Deny {
                reason: message!(
                    "the hook `{hook}` asks a person, but no approver is available: {reason}",
                    hook,
                    reason
                ),
            },
        };
        self
    }
}

/// Checks that modified arguments are an object.
fn check_modified_args(hook: &str, verdict: HookVerdict) -> Result<HookVerdict, HookFailure> {
    match &verdict.modified_args {
        None | Some(Value::Object(_)) => Ok(verdict),
        Some(other) => {
            let reason = match other {
                Value::Null => message!("the modified arguments are null, they must be an object"),
                Value::Bool(_) => message!("the modified arguments are a boolean, they must be an object"),
                Value::Number(_) => message!("the modified arguments are a number, they must be an object"),
                Value::String(_) => message!("the modified arguments are a string, they must be an object"),
                Value::Array(_) | Value::Object(_) => {
                    message!("the modified arguments are an array, they must be an object")
                }
            };
            let cause = FailureCause::InvalidAnswer(reason);
            Err(HookFailure::new(hook, cause.into()))
        }
    }
}

/// The outcome of one post-run hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReviewStep {
    /// The name of the hook.
    pub hook: String,
    /// The failure, if the hook failed.
    pub failure: Option<HookFailure>,
    /// Whether the hook modified the outcome. Changes made after another hook failed are discarded,
    /// and do not count.
    pub end: Modification,
    /// The time the hook took.
    pub elapsed: Duration,
}

/// The merged answer of the post-run hooks.
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct HookReview {
    /// The outcome that the caller sees.
    pub end: PostRunEvent,
    /// The hook that last modified the outcome, if any did.
    pub decided_by: Option<String>,
    /// Texts that the model should read.
    pub context: Vec<HookContext>,
    /// Whether the output is kept from the model. The record contains it either way.
    pub suppress_output: bool,
    /// The outcome of each hook, in order.
    pub steps: Vec<ReviewStep>,
}

impl HookReview {
    pub(super) const fn new(end: PostRunEvent) -> Self {
        Self { end, decided_by: None, context: Vec::new(), suppress_output: false, steps: Vec::new() }
    }

    /// Merges the answer of a hook. After a failure the outcome is final: later hooks see it, but
    /// cannot modify it.
    pub(super) fn merge_revision(&mut self, hook: &str, said: Result<Revision, HookFailure>, took: Duration) {
        let is_final = self.steps.iter().any(|step| step.failure.is_some());
        let (revision, failure) = match said {
            Ok(revision) => (revision, None),
            Err(failure) => (Revision::unchanged(), Some(failure)),
        };
        let duration = self.end.duration;
        let end = match (revision.change, &failure) {
            _ if is_final => None,
            (_, Some(failure)) => {
                Some(PostRunEvent::failed(EndKind::Refused, ErrorCode::ResultWithheld, failure.to_string(), duration))
            }
            (ResultChange::Unchanged, None) => None,
            (ResultChange::Succeed(result), None) => Some(PostRunEvent::returned(Some(result), duration)),
            (ResultChange::Fail(message), None) => {
                Some(PostRunEvent::failed(EndKind::Threw, ErrorCode::ToolFailed, message, duration))
            }
        };
        let touched = if end.is_some() { Modification::Changed } else { Modification::Unchanged };
        if let Some(end) = end {
            self.end = end;
            self.decided_by = Some(hook.to_owned());
        }
        self.context.extend(revision.additional_context.map(|text| HookContext { hook: hook.to_owned(), text }));
        self.suppress_output |= revision.suppress_output;
        self.steps.push(ReviewStep { hook: hook.to_owned(), failure, end: touched, elapsed: took });
    }
}
