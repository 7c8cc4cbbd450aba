//! The event that hooks receive, and the approver that they can prompt.
//!
//! Invariant: a hook prompts the approver through the thread that waits for the hook. Therefore the
//! hook's timeout is paused during the prompt, and an abandoned hook cannot prompt.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_analysis::{Capabilities, Finding};
use toolcell_host::CancelToken;
use toolcell_i18n::{Message, message};
use toolcell_policy::{Grants, Policy, SuggestedArgument};
use toolcell_tool::ToolId;

use super::question::{FlowAnswer, FlowQuestion, QuestionAnswer, ServerQuestion};
use crate::admission::grant_hints;
use crate::vet::VettedTool;

/// The maximum length of a claim in a record, in characters.
const MAX_CLAIM_CHARS: usize = 64;

/// The event that hooks receive: a tool call that is about to run, or has run. Cloning is cheap,
/// because the arguments are shared.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell::hook::HookEvent;
///
/// let call = HookEvent::new("average", None, json!({"xs": [1, 2]}), jiff::Timestamp::UNIX_EPOCH, "/srv");
/// assert_eq!(call.args["xs"][1], 2);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookEvent {
    /// The name of the tool.
    pub tool_name: String,
    /// The identifier of the tool. `None` for code that is not stored, and for a tool that Toolcell
    /// does not run.
    pub tool: Option<ToolId>,
    /// Whether the call is of a tool that Toolcell does not run, such as the shell tool of an agent.
    pub is_external: bool,
    /// The arguments, as modified by the hooks before this one.
    pub args: Arc<Value>,
    /// The time of the call.
    pub at: Timestamp,
    /// The working directory of the caller.
    pub cwd: String,
    /// The caller, as named in the record of the run. `None` if unknown.
    pub caller: Option<String>,
    /// What the caller claims about itself.
    pub claims: CallerClaims,
    /// How the caller gives up.
    cancel: Option<CancelToken>,
    prompt_handle: PromptHandle,
}

impl HookEvent {
    /// Creates an event without an approver.
    #[must_use]
    pub fn new(
        tool_name: impl Into<String>,
        tool: Option<ToolId>,
        args: impl Into<Arc<Value>>,
        at: Timestamp,
        cwd: impl Into<String>,
    ) -> Self {
        let (tool_name, args, cwd) = (tool_name.into(), args.into(), cwd.into());
        Self {
            tool_name,
            tool,
            is_external: false,
            args,
            at,
            cwd,
            caller: None,
            claims: CallerClaims::default(),
            cancel: None,
            prompt_handle: PromptHandle::default(),
        }
    }

    /// Returns the event as one of a tool that Toolcell does not run.
    #[must_use]
    pub fn external(self) -> Self {
        Self { is_external: true, ..self }
    }

    /// Returns the event with what the caller claims about itself.
    #[must_use]
    pub fn with_claims(self, claims: CallerClaims) -> Self {
        Self { claims, ..self }
    }

    /// Returns the event with the token that its caller gives up by.
    pub(crate) fn with_cancel(self, cancel: Option<CancelToken>) -> Self {
        Self { cancel, ..self }
    }

    /// Returns whether the caller has given up: the answer of the hook does not matter any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Returns the event with this caller.
    #[must_use]
    pub fn with_caller(self, caller: impl Into<String>) -> Self {
        Self { caller: Some(caller.into()), ..self }
    }

    /// Returns the handle for prompting the approver. The hook's timeout is paused while it waits
    /// for the answer.
    #[must_use]
    pub const fn approver(&self) -> &PromptHandle {
        &self.prompt_handle
    }

    pub(super) fn with_prompt_handle(&self, person: PromptHandle) -> Self {
        Self { prompt_handle: person, ..self.clone() }
    }
}

/// What a caller claims about itself. Nothing of it is verified.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallerClaims {
    /// The program that the agent runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The session of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent within the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The call, as the agent numbers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

impl CallerClaims {
    /// Whether the caller claims nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the claims with the first 64 characters of each.
    pub(crate) fn truncated(&self) -> Self {
        let cut = |claim: &Option<String>| claim.as_ref().map(|text| text.chars().take(MAX_CLAIM_CHARS).collect());
        Self { client: cut(&self.client), session: cut(&self.session), agent: cut(&self.agent), call: cut(&self.call) }
    }

    /// Describes a caller with its claims, for the audit log.
    pub(crate) fn describe(&self, caller: &str) -> String {
        let Self { client, session, agent, call } = self;
        let claims = [("client", client), ("session", session), ("agent", agent), ("call", call)];
        let claims = claims.into_iter().filter_map(|(name, claim)| Some(format!(" {name}={}", claim.as_ref()?)));
        format!("{caller}{}", claims.collect::<String>())
    }
}

/// A handle with which a hook prompts the approver of a call.
#[derive(Clone, Default)]
pub struct PromptHandle(Option<Sender<ThreadMessage>>);

impl PromptHandle {
    pub(super) const fn from_sender(events: Sender<ThreadMessage>) -> Self {
        Self(Some(events))
    }

    /// Prompts and waits for the answer. Returns `None` without an approver. This blocks the
    /// thread; an async hook has a thread of its own, so it may block too.
    #[must_use]
    pub fn ask(&self, text: impl Into<String>) -> Option<ApprovalAnswer> {
        let (reply, answer) = channel();
        self.0.as_ref()?.send(ThreadMessage::Prompt { text: text.into(), reply }).ok()?;
        answer.recv().ok()?
    }
}

impl fmt::Debug for PromptHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Asking(through the waiting thread)" } else { "Asking(nobody)" })
    }
}

/// A message from the hook's thread to the thread that waits for it.
pub(super) enum ThreadMessage {
    /// The hook prompts the approver.
    Prompt { text: String, reply: Sender<Option<ApprovalAnswer>> },
    /// The hook's answer is available.
    Done,
}

/// A person, or a program on a person's behalf, who decides about calls.
pub trait Approver: Send + Sync {
    /// Prompts and waits for the answer, without a time limit.
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer;

    /// Returns whether the approver can grant what a tool lacks, with
    /// [`ApprovalAnswer::ApproveUnder`]. An approver who cannot is not asked about a tool that is
    /// granted nothing of what it requests: it would fail, whatever the answer is.
    fn can_grant(&self, _missing: &[SuggestedArgument]) -> bool {
        false
    }

    /// Passes a question of an MCP server on to the user of the run, and waits for the answer, without a time limit. It is
    /// called on the thread of the run, whose deadline is extended by the time that it takes.
    fn answer(&self, _question: &ServerQuestion) -> QuestionAnswer {
        QuestionAnswer::NotAsked { reason: message!("the caller of this run cannot pass questions on") }
    }

    /// Decides about an operation of a run, or the run itself, about which a rule about flows has a person decide, and waits for
    /// the answer, without a time limit. It is called on the thread of the run, whose deadline is extended by the time that it
    /// takes.
    fn decide_flow(&self, _question: &FlowQuestion) -> FlowAnswer {
        FlowAnswer::NotAsked { reason: message!("the caller of this run cannot pass questions on") }
    }
}

/// A prompt for an approver.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApprovalPrompt {
    /// The name of the hook that prompts; `approval` for the approval of a tool.
    pub asked_by: String,
    /// The question.
    pub text: Message,
    /// The call in question, with the arguments that it would run with.
    pub call: HookEvent,
    /// The tool in question. Set if the approval is for the tool itself rather than for this call
    /// alone.
    pub tool_approval: Option<Arc<ToolApproval>>,
}

/// The facts that an approver needs to approve a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolApproval {
    /// The identifier of the tool.
    pub tool: ToolId,
    /// The capabilities that the tool requests.
    pub requested: Capabilities,
    /// The grants that the tool would get.
    pub grants: Grants,
    /// The findings of the analysis, in source order.
    pub findings: Vec<Finding>,
    /// The grants that the tool requests and lacks.
    pub missing: Vec<SuggestedArgument>,
    /// The lines on which the source uses a capability, counted from 1.
    pub capability_lines: BTreeSet<u32>,
    /// The source code.
    pub source: String,
}

impl ApprovalPrompt {
    /// Creates the prompt that asks whether a tool may run from now on.
    pub(crate) fn for_tool(tool: &VettedTool, grants: &Grants, call: HookEvent, why: Message) -> Self {
        let approving = ToolApproval {
            tool: tool.spec().id(),
            requested: tool.requested_capabilities().clone(),
            grants: grants.clone(),
            findings: tool.findings().to_vec(),
            capability_lines: tool.capability_lines().clone(),
            missing: grant_hints::missing_grants(tool, grants),
            source: tool.spec().source().to_owned(),
        };
        Self { asked_by: "approval".to_owned(), text: why, call, tool_approval: Some(Arc::new(approving)) }
    }
}

impl ToolApproval {
    /// Returns the hash of what an approval is bound to, the tool and its grants: 64 hexadecimal
    /// digits.
    #[must_use]
    pub fn digest(&self) -> String {
        let grants = self.grants.to_value().to_string();
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 approval");
        hasher.update(self.tool.as_bytes()).update(grants.as_bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// Returns the grants that the tool lacks as arguments of `toolcell grant`, separated by blanks;
    /// empty if it lacks none.
    #[must_use]
    pub fn missing_words(&self) -> String {
        grant_hints::to_words(&self.missing)
    }
}

/// How long an approval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalDuration {
    /// For the call in question. Nothing is stored.
    ThisCall,
    /// Until the tool, its grants or the decision change.
    Always,
}

/// The answer of an approver.
#[derive(Debug, Clone)]
pub enum ApprovalAnswer {
    /// The call or tool is approved.
    Approve,
    /// The tool is approved with the grants of another policy, which the approver has changed. An
    /// approver who approves for good has saved it before: otherwise the next call asks again.
    ApproveUnder {
        /// The policy that decides the grants of this tool.
        policy: Arc<Policy>,
        /// How long the approval holds.
        duration: ApprovalDuration,
    },
    /// The call or tool is refused.
    Refuse {
        /// Advice for the caller on what to do instead, or why the answer is no.
        feedback: Option<Message>,
    },
    /// The approver answers later. This call is denied; the caller repeats it once the answer is
    /// there.
    Defer,
    /// The prompt was not shown, because it cannot be shown in full. The call is denied.
    NotShown {
        /// Why it cannot be shown.
        reason: Message,
    },
}

/// The answer that a denied call waits for. After an approval the same call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AwaitedAnswer {
    /// The approval of the tool, which is among the pending approvals.
    ToolApproval(ToolId),
    /// The answer to a hook's prompt, which is about this call alone.
    HookPrompt,
}

/// An approver that remembers whether it deferred a prompt.
pub(super) struct DeferringApprover<'a> {
    approver: &'a dyn Approver,
    has_deferred: AtomicBool,
}

impl<'a> DeferringApprover<'a> {
    pub(super) const fn new(person: &'a dyn Approver) -> Self {
        Self { approver: person, has_deferred: AtomicBool::new(false) }
    }

    /// Whether the approver deferred a prompt.
    pub(super) fn has_deferred(&self) -> bool {
        self.has_deferred.load(Ordering::Relaxed)
    }
}

impl Approver for DeferringApprover<'_> {
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
        let answer = self.approver.ask(question);
        if matches!(answer, ApprovalAnswer::Defer) {
            self.has_deferred.store(true, Ordering::Relaxed);
        }
        answer
    }
}
