//! The way back into the host's language.
//!
//! Invariant: each call back is one JSON text and gets one JSON text, or the message of the
//! exception that it raised.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use toolcell::hook::{HookPhase, JsonHook};
use toolcell::{
    ApprovalAnswer, ApprovalDuration, ApprovalPrompt, Approver, Effects, Finding, FlowAnswer, FlowQuestion,
    FunctionFailure, FunctionReply, Hooks, HostFunction, HostFunctions, Lang, Message, Policy, escape_for_display,
};
use toolcell_i18n::message;

use crate::failure::Failure;

/// What a host is called back for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callback {
    /// A function that a tool calls: its parameters → `{"value": its result}`, or `{"ticket": …}` if it answers later.
    Function,
    /// A hook before a run: the event → the verdict.
    Before,
    /// A hook after a run: the event with `toolResult` → the revision.
    After,
    /// The approver: a question → `{"answer": "approve" | "refuse" | "defer", "feedback"?}`.
    Approve,
    /// The effect approver of a run: what is held → `"perform" | "refuse" | "defer"` for each.
    Effects,
    /// The value of a secret: null → a string, or null.
    Secret,
}

impl Callback {
    /// Returns the name that native modules pass on.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Before => "before",
            Self::After => "after",
            Self::Approve => "approve",
            Self::Effects => "effects",
            Self::Secret => "secret",
        }
    }
}

/// The host's side of a session or of a run.
pub trait Host: Send + Sync {
    /// Calls the host and waits for its answer. `name` is the function, the hook or the secret.
    ///
    /// # Errors
    /// The message of what the host raised, or why it cannot be reached.
    fn call(&self, callback: Callback, name: &str, payload: &str, timeout: Option<Duration>) -> Result<String, String>;

    /// Returns the event loop on which the functions of the host run, if they do: no thread waits for them.
    fn event_loop(&self) -> Option<&dyn EventLoop> {
        None
    }
}

/// What an event loop calls with the answer of a function: as [`Host::call`] returns it.
pub type OnAnswer = Box<dyn FnOnce(Result<String, String>) + Send>;

/// The event loop of a host.
pub trait EventLoop: Send + Sync {
    /// Starts a function of the host, and returns at once. `on_answer` is called on any thread, or dropped if there will
    /// be no answer. The event loop sees to the timeout.
    fn start_function(&self, name: &str, payload: &str, timeout: Option<Duration>, on_answer: OnAnswer);
}

/// Initializes what runs share in a process, and takes some milliseconds.
///
/// A process that is forked while another thread does this waits for ever where it needs the same: a host whose process may
/// fork does it while no fork can happen.
pub fn initialize() {
    // The validator of schemas; what is declared is valid.
    drop(HostFunction::new("f", &json!({}), &json!({}), |_| Ok(Value::Null)));
}

/// The declaration of a function of the host.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct FunctionDeclaration {
    name: String,
    /// As a tool declares its parameters; without them, any object.
    #[serde(default)]
    parameters: Value,
    /// A JSON Schema of the result; without it, any value.
    #[serde(default)]
    result: Option<Value>,
    /// Whether it has no side effects.
    #[serde(default)]
    read_only: bool,
    /// Whether it is called on the thread of the run.
    #[serde(default)]
    inline: bool,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// A checked function of the host.
#[derive(Clone)]
pub(crate) struct DeclaredFunction {
    name: Arc<str>,
    timeout: Option<Duration>,
    function: HostFunction,
}

impl FunctionDeclaration {
    /// Checks a declaration.
    pub(crate) fn check(self, lang: Lang) -> Result<DeclaredFunction, Failure> {
        let result = self.result.unwrap_or_else(|| json!({}));
        let function =
            HostFunction::new(&self.name, &self.parameters, &result, |_| Ok(Value::Null)).map_err(|error| {
                let failure = Failure::from_error(&error, error.code(), "", lang);
                Failure { message: format!("the function `{}`: {}", self.name, failure.message), ..failure }
            })?;
        let function = if self.read_only { function.read_only() } else { function };
        let function = if self.inline { function.inline() } else { function };
        let timeout = self.timeout_ms.map(Duration::from_millis);
        Ok(DeclaredFunction { name: self.name.into(), timeout, function })
    }
}

/// Returns the functions as a run of this host calls them.
pub(crate) fn bind_functions<'a>(
    declared: impl IntoIterator<Item = &'a DeclaredFunction>,
    host: &Arc<dyn Host>,
    lang: Lang,
) -> Result<HostFunctions, Failure> {
    declared.into_iter().try_fold(HostFunctions::default(), |bound, one| {
        let (host, name, timeout) = (Arc::clone(host), Arc::clone(&one.name), one.timeout);
        let function = one.function.clone();
        let function = if host.event_loop().is_some() {
            function.with_async_implementation(move |params, responder| {
                let on_answer: OnAnswer = Box::new(move |answer| {
                    if answer.as_ref().is_ok_and(|text| text.len() > MAX_QUICK_ANSWER_BYTES) {
                        responder.respond_large(move || to_reply(answer));
                    } else {
                        responder.respond(move || to_reply(answer));
                    }
                });
                if let Some(event_loop) = host.event_loop() {
                    event_loop.start_function(&name, &params.to_string(), timeout, on_answer);
                }
            })
        } else {
            function.with_implementation(move |params| {
                to_reply(host.call(Callback::Function, &name, &params.to_string(), timeout))
            })
        };
        bound.with(function).map_err(|error| Failure::from_error(&error, error.code(), "", lang))
    })
}

/// The size up to which the answer of a function takes less than a millisecond to parse and to check, in bytes.
const MAX_QUICK_ANSWER_BYTES: usize = 32 << 10;

fn to_reply(answer: Result<String, String>) -> Result<FunctionReply, FunctionFailure> {
    let failed = |message: String| FunctionFailure { message, effects: Effects::Started };
    let answer = answer.map_err(failed)?;
    match serde_json::from_str(&answer) {
        Ok(RawReply::Value(result)) => Ok(FunctionReply::Immediate(result)),
        Ok(RawReply::Ticket(ticket)) => Ok(FunctionReply::Deferred(ticket)),
        Err(error) => Err(failed(format!("its result is not JSON: {error}"))),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawReply {
    Value(Value),
    Ticket(String),
}

/// The declaration of a hook of the host.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct HookDeclaration {
    name: String,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    before: bool,
    #[serde(default)]
    after: bool,
}

/// Adds the hooks of the host.
pub(crate) fn add_hooks(
    hooks: &mut Hooks,
    declared: Vec<HookDeclaration>,
    host: &Arc<dyn Host>,
    lang: Lang,
) -> Result<(), Failure> {
    for HookDeclaration { name, tools, timeout_ms, before, after } in declared {
        if !before && !after {
            return Err(Failure::request(format!("the hook `{name}` has neither `before` nor `after`")));
        }
        let timeout = timeout_ms.map_or(toolcell::hook::DEFAULT_TIMEOUT, Duration::from_millis);
        for (is_wanted, when, callback) in
            [(before, HookPhase::Before, Callback::Before), (after, HookPhase::After, Callback::After)]
        {
            if !is_wanted {
                continue;
            }
            let hook = JsonHook { name: name.clone(), when, timeout, tools: tools.clone() };
            let (host, name) = (Arc::clone(host), name.clone());
            hooks
                .add_json(hook, move |event| host.call(callback, &name, event, Some(timeout)))
                .map_err(|error| Failure::from_error(&error, error.code(), error.hint(), lang))?;
        }
    }
    Ok(())
}

/// The approver in the host's language.
pub(crate) struct HostApprover {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) lang: Lang,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    answer: String,
    #[serde(default)]
    feedback: Option<String>,
}

impl Approver for HostApprover {
    fn ask(&self, prompt: &ApprovalPrompt) -> ApprovalAnswer {
        let not_asked = |why: String| ApprovalAnswer::NotShown { reason: Message::verbatim(why) };
        match self.put(&prompt.call.tool_name, &prompt_json(prompt, self.lang)) {
            Ok(RawAnswer { answer, feedback }) => match answer.as_str() {
                "approve" => ApprovalAnswer::Approve,
                "refuse" => ApprovalAnswer::Refuse { feedback: feedback.map(Message::verbatim) },
                "defer" => ApprovalAnswer::Defer,
                other => not_asked(unknown_answer(other)),
            },
            Err(why) => not_asked(why),
        }
    }

    fn decide_flow(&self, question: &FlowQuestion) -> FlowAnswer {
        match self.put(&question.tool, &flow_json(question, self.lang)) {
            Ok(RawAnswer { answer, .. }) if answer == "approve" => FlowAnswer::Approve,
            Ok(RawAnswer { answer, feedback }) if answer == "refuse" => {
                FlowAnswer::Refuse { feedback: feedback.map(Message::verbatim) }
            }
            // The tool reads this, and what the approver raised is the host's own.
            Ok(_) | Err(_) => FlowAnswer::Unanswered { reason: message!("the approver failed") },
        }
    }
}

/// Returns a question about an operation, in the shape of those about calls: the operation is what the parameters are there.
fn flow_json(question: &FlowQuestion, lang: Lang) -> Value {
    let lines = question.lines(lang);
    let rules: Vec<String> = question.rules.iter().map(|(rule, _)| format!("flows[{rule}]")).collect();
    let (asked, headline) = (question.question(lang), lines.first().map_or("", String::as_str).to_owned());
    let operation = json!({ "kind": question.kind, "about": question.about, "details": question.details,
        "body": question.body, "from": question.from, "known": question.known,
        "to": question.to });
    json!({
        "askedBy": rules.join(", "),
        "text": headline,
        "question": asked,
        "facts": lines,
        "toolName": question.tool,
        "toolId": question.id.to_string(),
        "parameters": operation,
        "caller": null,
        "findings": [],
        "grants": null,
        "missing": null,
        "source": null,
        "digest": null,
        "display": format!("{}\n{asked}", lines.join("\n")),
    })
}

impl HostApprover {
    /// Puts a question to the host.
    fn put(&self, tool: &str, question: &Value) -> Result<RawAnswer, String> {
        let answer = self.host.call(Callback::Approve, tool, &question.to_string(), None);
        let answer = answer.map_err(|error| format!("the approver failed: {error}"))?;
        serde_json::from_str(&answer).map_err(|error| format!("the approver gave an invalid answer: {error}"))
    }
}

/// Describes an answer that the approver may not give.
fn unknown_answer(answer: &str) -> String {
    format!("the approver answered `{}`", answer.escape_debug())
}

/// What decides whether a question is the one that was answered.
const QUESTION_KEYS: [&str; 6] = ["askedBy", "text", "toolName", "toolId", "parameters", "digest"];

/// A person who has answered some questions before the call: yes, for this call.
pub(crate) struct AnsweredQuestions {
    questions: Vec<Value>,
    policy: Arc<Policy>,
    lang: Lang,
    /// Who is asked the others.
    approver: Option<Arc<dyn Approver>>,
}

impl AnsweredQuestions {
    /// Returns the approver of a call with these answers.
    pub(crate) fn approver(
        questions: &[Value],
        policy: &Policy,
        lang: Lang,
        approver: Option<Arc<dyn Approver>>,
    ) -> Option<Arc<dyn Approver>> {
        if questions.is_empty() {
            return approver;
        }
        let policy = Arc::new(policy.clone());
        Some(Arc::new(Self { questions: questions.to_vec(), policy, lang, approver }))
    }
}

impl Approver for AnsweredQuestions {
    fn ask(&self, prompt: &ApprovalPrompt) -> ApprovalAnswer {
        let asked = prompt_json(prompt, self.lang);
        let is_this = |answered: &Value| QUESTION_KEYS.iter().all(|key| answered.get(key) == asked.get(key));
        if self.questions.iter().any(is_this) {
            return ApprovalAnswer::ApproveUnder {
                policy: Arc::clone(&self.policy),
                duration: ApprovalDuration::ThisCall,
            };
        }
        match &self.approver {
            Some(approver) => approver.ask(prompt),
            None => ApprovalAnswer::NotShown {
                reason: Message::verbatim(
                    "a person approved something else: the tool, its grants or the call have changed".to_owned(),
                ),
            },
        }
    }

    fn decide_flow(&self, question: &FlowQuestion) -> FlowAnswer {
        match &self.approver {
            Some(approver) => approver.decide_flow(question),
            None => FlowAnswer::NotAsked { reason: message!("the caller of this run cannot pass questions on") },
        }
    }
}

/// Returns a question for an approver, with all that decides it.
pub(crate) fn prompt_json(prompt: &ApprovalPrompt, lang: Lang) -> Value {
    let tool = prompt.tool_approval.as_deref();
    json!({
        "askedBy": prompt.asked_by,
        "text": prompt.text.to_text(lang),
        "question": prompt.question(lang),
        "facts": prompt.facts(lang),
        "toolName": prompt.call.tool_name,
        "toolId": prompt.call.tool.map(|id| id.to_string()),
        "parameters": *prompt.call.args,
        "caller": prompt.call.caller,
        "findings": tool.map(|tool| tool.findings.iter().map(finding_json).collect::<Vec<_>>()).unwrap_or_default(),
        "grants": tool.map(|tool| tool.grants.to_value()),
        "missing": tool.map(|tool| tool.missing.iter().map(|one| one.text.as_str()).collect::<Vec<_>>()),
        "source": tool.map(|tool| tool.source.as_str()),
        "digest": tool.map(toolcell::hook::ToolApproval::digest),
        "display": prompt_text(prompt, prompt.question(lang), lang),
    })
}

/// Returns a question whose answer holds for this call alone.
pub(crate) fn call_prompt_json(prompt: &ApprovalPrompt, lang: Lang) -> Value {
    let mut question = prompt_json(prompt, lang);
    let asked = prompt.call_question(lang);
    question["display"] = prompt_text(prompt, asked.clone(), lang).into();
    question["question"] = asked.into();
    question
}

/// Returns all that a person needs to answer. A source cannot control what shows it, nor hide a part of itself.
fn prompt_text(prompt: &ApprovalPrompt, question: String, lang: Lang) -> String {
    let mut lines = prompt.facts(lang);
    if let Some(tool) = &prompt.tool_approval {
        lines.push(String::new());
        lines.extend(tool.source.split('\n').map(escape_for_display));
    }
    lines.extend([String::new(), question]);
    lines.join("\n")
}

pub(crate) fn finding_json(finding: &Finding) -> Value {
    serde_json::to_value(toolcell::FindingResponse::from(finding)).unwrap_or_default()
}
