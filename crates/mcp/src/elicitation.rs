//! Prompts, put to the user through MCP elicitation: for approvals, and for what MCP servers and rules about flows ask during a
//! run.
//!
//! Hooks, the policy and the host calls of runs ask an [`Approver`] on the thread of the run. Three kinds exist:
//! - [`LiveApprover`] asks while the call is running, by elicitation or as a task that needs input.
//! - [`DeferredApprover`] records the unanswered prompt. The call then ends, and the client sends
//!   it again with the answer. A question that comes up during the run is declined instead: what the run did before it would be
//!   done again.
//! - Clients that support neither have no approver: the tool waits in the store until it is decided
//!   with `toolcell approvals`.
//!
//! Invariant: an answer counts only for the prompt that was shown. No answer is neither approval
//! nor refusal.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema, InputRequest,
    StringSchema,
};
use rmcp::service::Peer;
use rmcp::task_manager::TaskContext;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use toolcell::policy::{Grants, SuggestedArgument};
use toolcell::{
    ApprovalAnswer, ApprovalDuration, ApprovalPrompt, Approver, FlowAnswer, FlowQuestion, Lang, Policy, PromptTooLong,
    QuestionAnswer, ServerQuestion, single_line_for_display,
};
use toolcell_i18n::{Localize as _, Message, message, tr};

/// Field names of the elicitation form.
const DECISION: &str = "decision";
const REASON: &str = "reason";
/// Values of the `decision` field.
const APPROVE: &str = "approve";
const REFUSE: &str = "refuse";
const GRANT_ONCE: &str = "grant_once";
/// The longest prompt, in bytes. The prompt is not shown if its facts exceed it; the tool's source
/// is cut to the space that is left.
const MAX_MESSAGE_BYTES: usize = 16 << 10;
/// The longest list of grants that an option offers, in bytes.
const MAX_OFFER_BYTES: usize = 300;
/// The longest client name that is shown, in characters.
const MAX_CLIENT_CHARS: usize = 100;

/// The language and the client of a prompt.
#[derive(Debug, Clone)]
pub(crate) struct PromptContext {
    pub(crate) lang: Lang,
    /// The name and version that the client reports.
    pub(crate) client: Option<String>,
    /// The policy, to which an answer may add grants for one call.
    pub(crate) policy: Arc<Policy>,
}

/// How a call can ask the user.
pub(crate) enum ElicitationMode {
    /// While the call is running.
    Live(ElicitationChannel, PromptContext),
    /// After the call, which the client then repeats with the answer.
    Deferred(Arc<DeferredApprover>),
    /// Not at all.
    Unavailable,
}

/// The channel of a prompt that is put while a call is running.
#[derive(Clone)]
pub(crate) enum ElicitationChannel {
    /// An elicitation request to the client.
    Client(Peer<RoleServer>),
    /// An input request of the task, which the client polls.
    Task(TaskContext),
}

impl ElicitationMode {
    /// Returns the approver for the run, and for [`Self::Live`] the queue that delivers its
    /// prompts.
    pub(crate) fn into_approver(self) -> (Option<Arc<dyn Approver>>, Option<PromptQueue>) {
        match self {
            Self::Unavailable => (None, None),
            Self::Deferred(meanwhile) => (Some(meanwhile), None),
            Self::Live(way, asker) => {
                let (ask, asked) = unbounded_channel();
                (
                    Some(Arc::new(LiveApprover(ask))),
                    Some(PromptQueue { receiver: asked, channel: way, context: asker, put: 0, current: None }),
                )
            }
        }
    }
}

/// A prompt, and where its answer goes.
enum QueuedPrompt {
    /// About a tool or a call.
    Approval(ApprovalPrompt, Sender<ApprovalAnswer>),
    /// What a server wants to know.
    Question(ServerQuestion, Sender<QuestionAnswer>),
    /// A rule about flows asks whether an operation may happen.
    Flow(FlowQuestion, Sender<FlowAnswer>),
}

/// An elicitation that is in progress, and delivers its answer.
type PendingAnswer = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The prompts of a run. A prompt that is in progress is kept if the caller stops polling.
pub(crate) struct PromptQueue {
    receiver: UnboundedReceiver<QueuedPrompt>,
    channel: ElicitationChannel,
    context: PromptContext,
    /// The number of prompts so far.
    put: u64,
    current: Option<PendingAnswer>,
}

impl PromptQueue {
    /// Puts the next prompt and forwards its answer. Never returns once no prompt can follow.
    pub(crate) async fn answer_next(&mut self, timeout: Duration) {
        if self.current.is_none() {
            let Some(prompt) = self.receiver.recv().await else { return std::future::pending().await };
            let (way, asker) = (self.channel.clone(), self.context.clone());
            self.put += 1;
            let number = self.put;
            // The hook, or the call of the server, may have timed out meanwhile; the answer is dropped then.
            self.current = Some(match prompt {
                QueuedPrompt::Approval(prompt, reply) => Box::pin(async move {
                    drop(reply.send(way.elicit(prompt, asker, timeout).await));
                }),
                QueuedPrompt::Question(question, reply) => Box::pin(async move {
                    drop(reply.send(way.pass_on(&question, asker.lang, (number, timeout)).await));
                }),
                QueuedPrompt::Flow(question, reply) => Box::pin(async move {
                    drop(reply.send(way.decide_flow(&question, &asker, (number, timeout)).await));
                }),
            });
        }
        let Some(current) = &mut self.current else { return };
        current.await;
        self.current = None;
    }
}

impl ElicitationChannel {
    async fn elicit(self, question: ApprovalPrompt, asker: PromptContext, timeout: Duration) -> ApprovalAnswer {
        let form = match elicitation_form(&question, &asker) {
            Ok(form) => form,
            Err(not_asked) => return not_asked.into(),
        };
        let key = match &self {
            Self::Client(_) => String::new(),
            Self::Task(_) => match prompt_hash(&question) {
                Ok(hash) => hash.chars().take(16).collect(),
                Err(not_asked) => return not_asked.into(),
            },
        };
        // A client that fails or takes too long has not answered.
        let said = self.send(form, key, timeout).await;
        said.and_then(|result| parse_answer(&result))
            .map_or(ApprovalAnswer::Defer, |answer| answer.to_approval(&question, &asker.policy))
    }

    /// Passes a question of a server on, as the prompt with this number.
    async fn pass_on(
        self,
        question: &ServerQuestion,
        lang: Lang,
        (number, timeout): (u64, Duration),
    ) -> QuestionAnswer {
        let Ok(requested_schema) = serde_json::from_value(question.form_schema()) else {
            return QuestionAnswer::NotAsked { reason: message!("the form cannot be shown to the client") };
        };
        let message = question.lines(lang).join("\n");
        let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
        let Some(result) = self.send(form, format!("question-{number}"), timeout).await else {
            return QuestionAnswer::Unanswered { reason: message!("the client did not answer in time, or failed") };
        };
        match result.action {
            ElicitationAction::Accept => match question.form.check(result.content.unwrap_or_else(|| json!({}))) {
                Ok(content) => QuestionAnswer::Accept(content),
                // What does not match is not repeated: it is not for the server or the code.
                Err(_) => QuestionAnswer::Unanswered { reason: message!("the answer does not match the form") },
            },
            ElicitationAction::Decline => QuestionAnswer::Decline,
            _ => QuestionAnswer::Cancel,
        }
    }

    /// Has the user decide about an operation, as the prompt with this number.
    async fn decide_flow(
        self,
        question: &FlowQuestion,
        asker: &PromptContext,
        (number, timeout): (u64, Duration),
    ) -> FlowAnswer {
        let lang = asker.lang;
        let lines = question.lines(lang).into_iter().chain(client_line(asker).map(|line| format!("  {line}")));
        let message = lines.chain([question.question(lang)]).collect::<Vec<_>>().join("\n");
        if message.len() > MAX_MESSAGE_BYTES {
            let error = PromptTooLong { bytes: message.len(), limit: MAX_MESSAGE_BYTES };
            return FlowAnswer::NotAsked { reason: error.localize() };
        }
        let options = [(APPROVE, tr!(lang, "Approve").to_owned()), (REFUSE, tr!(lang, "Refuse").to_owned())];
        let form = decision_form(message, options, lang);
        match self.send(form, format!("question-{number}"), timeout).await {
            Some(result) => match parse_answer(&result) {
                Some(FormAnswer::Approve) => FlowAnswer::Approve,
                Some(FormAnswer::GrantOnce) => FlowAnswer::Refuse { feedback: None },
                Some(FormAnswer::Refuse(reason)) => FlowAnswer::Refuse { feedback: reason.map(Message::verbatim) },
                None => FlowAnswer::Unanswered { reason: message!("the user dismissed the question") },
            },
            None => FlowAnswer::Unanswered { reason: message!("the client did not answer in time, or failed") },
        }
    }

    /// Sends a form, and returns the answer; `None` if the client does not answer in time. `key` names the prompt in a task.
    async fn send(self, form: ElicitRequestParams, key: String, timeout: Duration) -> Option<ElicitResult> {
        match self {
            Self::Client(peer) => peer.create_elicitation_with_timeout(form, Some(timeout)).await.ok(),
            Self::Task(task) => {
                let asked = task.request_input(key, InputRequest::Elicitation(ElicitRequest::new(form)));
                let answered = tokio::time::timeout(timeout, asked).await.ok().and_then(Result::ok);
                answered.and_then(|value| serde_json::from_value(value).ok())
            }
        }
    }
}

/// Asks through the client while the call is running.
struct LiveApprover(UnboundedSender<QueuedPrompt>);

impl Approver for LiveApprover {
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
        let (reply, answer) = channel();
        let asked = self.0.send(QueuedPrompt::Approval(question.clone(), reply));
        // A disconnected client has not answered.
        asked.ok().and_then(|()| answer.recv().ok()).unwrap_or(ApprovalAnswer::Defer)
    }

    fn can_grant(&self, missing: &[SuggestedArgument]) -> bool {
        grants_to_offer(missing).is_some()
    }

    fn answer(&self, question: &ServerQuestion) -> QuestionAnswer {
        let (reply, answer) = channel();
        let asked = self.0.send(QueuedPrompt::Question(question.clone(), reply));
        let gone = || QuestionAnswer::Unanswered { reason: message!("the client is gone") };
        asked.ok().and_then(|()| answer.recv().ok()).unwrap_or_else(gone)
    }

    fn decide_flow(&self, question: &FlowQuestion) -> FlowAnswer {
        let (reply, answer) = channel();
        let asked = self.0.send(QueuedPrompt::Flow(question.clone(), reply));
        let gone = || FlowAnswer::Unanswered { reason: message!("the client is gone") };
        asked.ok().and_then(|()| answer.recv().ok()).unwrap_or_else(gone)
    }
}

/// Returns the grants that a form can offer: it cannot ask for a host or a path that the tool does
/// not name, and an option is one line.
fn grants_to_offer(missing: &[SuggestedArgument]) -> Option<Grants> {
    if missing.iter().map(|argument| argument.text.len() + 1).sum::<usize>() > MAX_OFFER_BYTES {
        return None;
    }
    let mut offered = Grants::default();
    for argument in missing {
        offered.extend(argument.grants.clone()?);
    }
    (!offered.is_empty()).then_some(offered)
}

/// The answer to a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FormAnswer {
    /// The call or tool is approved.
    Approve,
    /// The tool is granted what it lacks, for this call.
    GrantOnce,
    /// It is refused, perhaps with a reason.
    Refuse(Option<String>),
}

impl FormAnswer {
    fn to_approval(&self, question: &ApprovalPrompt, policy: &Policy) -> ApprovalAnswer {
        let offered = question
            .tool_approval
            .as_ref()
            .and_then(|approving| Some((approving.tool, grants_to_offer(&approving.missing)?)));
        match (self, offered) {
            (Self::Approve, _) => ApprovalAnswer::Approve,
            (Self::GrantOnce, Some((tool, grants))) => ApprovalAnswer::ApproveUnder {
                policy: Arc::new(policy.clone().with_tool_grants(tool, &grants)),
                duration: ApprovalDuration::ThisCall,
            },
            // The form did not offer it.
            (Self::GrantOnce, None) => ApprovalAnswer::Refuse { feedback: None },
            (Self::Refuse(reason), _) => ApprovalAnswer::Refuse { feedback: reason.clone().map(Message::verbatim) },
        }
    }
}

/// Answers from earlier rounds, and defers the first prompt that has no answer.
pub(crate) struct DeferredApprover {
    context: PromptContext,
    /// Earlier answers, by the hash of the prompt.
    answers: BTreeMap<String, FormAnswer>,
    unanswered: Mutex<Option<DeferredPrompt>>,
}

/// A prompt that is put when the call is over.
pub(crate) struct DeferredPrompt {
    /// The hash of the prompt.
    pub(crate) hash: String,
    /// The elicitation form.
    pub(crate) form: ElicitRequestParams,
    /// The answers to earlier prompts, by hash.
    pub(crate) answers: BTreeMap<String, FormAnswer>,
}

impl DeferredApprover {
    pub(crate) fn with_answers(asker: PromptContext, said: BTreeMap<String, FormAnswer>) -> Arc<Self> {
        Arc::new(Self { context: asker, answers: said, unanswered: Mutex::default() })
    }

    /// Takes the prompt that has no answer yet.
    pub(crate) fn take_unanswered(&self) -> Option<DeferredPrompt> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Approver for DeferredApprover {
    fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
        let hash = match prompt_hash(question) {
            Ok(hash) => hash,
            Err(not_asked) => return not_asked.into(),
        };
        match self.answers.get(&hash) {
            Some(answer) => answer.to_approval(question, &self.context.policy),
            None => match elicitation_form(question, &self.context) {
                Ok(form) => {
                    let open = DeferredPrompt { hash, form, answers: self.answers.clone() };
                    *self.unanswered.lock().unwrap_or_else(PoisonError::into_inner) = Some(open);
                    ApprovalAnswer::Defer
                }
                Err(not_asked) => not_asked.into(),
            },
        }
    }

    fn can_grant(&self, missing: &[SuggestedArgument]) -> bool {
        grants_to_offer(missing).is_some()
    }

    fn answer(&self, _: &ServerQuestion) -> QuestionAnswer {
        QuestionAnswer::NotAsked { reason: would_repeat() }
    }

    fn decide_flow(&self, _: &FlowQuestion) -> FlowAnswer {
        FlowAnswer::NotAsked { reason: would_repeat() }
    }
}

/// Returns why a question that comes up during a run is not put: the answer would come with a repeated request, for which the run
/// would start anew and do everything again that it did before the question, the call of a server that asks included.
fn would_repeat() -> Message {
    message!("without a session, an answer would come with a new request, and the run would do again what it has done")
}

/// Why a prompt cannot be shown.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
pub(crate) enum PromptError {
    #[error(transparent)]
    TooLong(#[from] PromptTooLong),
    #[error("the prompt cannot be encoded: {0}")]
    NotEncodable(#[from] serde_json::Error),
}

impl From<PromptError> for ApprovalAnswer {
    fn from(error: PromptError) -> Self {
        Self::NotShown { reason: error.localize() }
    }
}

/// Computes the identity of a prompt: a BLAKE3 hash of all its facts, the grants and the complete
/// arguments. The order of keys does not matter, because a client may reorder them when it repeats
/// the request; every digit of a number does.
pub(crate) fn prompt_hash(question: &ApprovalPrompt) -> Result<String, PromptError> {
    let grants = question.tool_approval.as_ref().map(|approving| approving.grants.to_value());
    let args = with_sorted_keys(&question.call.args);
    let mut bare = question.clone();
    bare.call.args = Arc::default();
    let parts = (&question.asked_by, &question.text, &question.call.tool_name, bare.facts(Lang::En), grants, args);
    Ok(blake3::hash(&serde_json::to_vec(&parts)?).to_hex().to_string())
}

/// Returns the value with the keys of all objects sorted.
fn with_sorted_keys(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, Value> =
                fields.iter().map(|(key, value)| (key, with_sorted_keys(value))).collect();
            fields.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(with_sorted_keys).collect(),
        other => other.clone(),
    }
}

/// Builds the elicitation form of a prompt.
pub(crate) fn elicitation_form(
    question: &ApprovalPrompt,
    asker: &PromptContext,
) -> Result<ElicitRequestParams, PromptError> {
    let lang = asker.lang;
    let client: Vec<String> = client_line(asker).into_iter().collect();
    let message = question.to_form_text(lang, &client, MAX_MESSAGE_BYTES)?;
    // Approving a tool that is granted nothing of what it requests would not help it.
    let approving = question.tool_approval.as_ref();
    let offered = approving.filter(|approving| grants_to_offer(&approving.missing).is_some());
    let is_approvable = offered.is_none_or(|approving| !approving.grants.is_empty());
    let approve = is_approvable.then(|| (APPROVE, tr!(lang, "Approve").to_owned()));
    let grant = offered
        .map(|approving| (GRANT_ONCE, tr!(lang, "Grant {grants} for this call", grants = approving.missing_words())));
    let refuse = (REFUSE, tr!(lang, "Refuse").to_owned());
    Ok(decision_form(message, approve.into_iter().chain(grant).chain([refuse]), lang))
}

/// Returns the client's name for itself, as a line of a prompt.
fn client_line(asker: &PromptContext) -> Option<String> {
    let name = asker.client.as_ref()?;
    let label = tr!(asker.lang, "client (self-reported)");
    let start: String = name.chars().take(MAX_CLIENT_CHARS).collect();
    let mark = if name.chars().nth(MAX_CLIENT_CHARS).is_some() { "…" } else { "" };
    Some(format!("{label}{}{}{mark}", asker.lang.colon(), single_line_for_display(&start)))
}

/// Builds a form with these options, each a value and a title.
fn decision_form(
    message: String,
    options: impl IntoIterator<Item = (&'static str, String)>,
    lang: Lang,
) -> ElicitRequestParams {
    let (values, titles): (Vec<String>, Vec<String>) =
        options.into_iter().map(|(value, title)| (value.to_owned(), title)).unzip();
    let decisions = || EnumSchema::builder(values.clone());
    // If the titles did not match the values in number, the form would show the values themselves;
    // both can be chosen either way.
    let decisions = decisions()
        .enum_titles(titles)
        .map_or_else(|_| decisions().build(), |titled| titled.title(tr!(lang, "Decision")).build());
    let schema = ElicitationSchema::builder()
        .required_enum_schema(DECISION, decisions)
        .string_property(REASON, |_| StringSchema::new().title(tr!(lang, "Reason, if you refuse")).max_length(1_000))
        .build_unchecked();
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema }
}

/// Parses the answer in an elicitation result. Only an explicit `approve` or `grant_once` is an
/// approval; a dismissed form is no answer.
pub(crate) fn parse_answer(result: &ElicitResult) -> Option<FormAnswer> {
    let field = |name: &str| result.content.as_ref().and_then(|content| content.get(name)).and_then(Value::as_str);
    match result.action {
        ElicitationAction::Accept if field(DECISION) == Some(APPROVE) => Some(FormAnswer::Approve),
        ElicitationAction::Accept if field(DECISION) == Some(GRANT_ONCE) => Some(FormAnswer::GrantOnce),
        ElicitationAction::Accept | ElicitationAction::Decline => {
            let reason = field(REASON).filter(|reason| !reason.is_empty());
            Some(FormAnswer::Refuse(reason.map(str::to_owned)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use toolcell::hook::{HookEvent, HookVerdict, Hooks};

    use super::*;

    /// Captures the prompt and defers.
    struct CapturingApprover(Mutex<Option<ApprovalPrompt>>);

    impl Approver for CapturingApprover {
        fn ask(&self, question: &ApprovalPrompt) -> ApprovalAnswer {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(question.clone());
            ApprovalAnswer::Defer
        }
    }

    /// Returns the prompt of a hook about a call with these arguments.
    fn prompt(args: &str) -> Option<ApprovalPrompt> {
        let mut hooks = Hooks::default();
        hooks.before("careful", |_: &HookEvent| HookVerdict::ask("sure?"));
        let args: Value = serde_json::from_str(args).unwrap_or_default();
        let call = HookEvent::new("pay", None, args, jiff::Timestamp::UNIX_EPOCH, "/");
        let keeps = CapturingApprover(Mutex::default());
        drop(hooks.admit(call.clone(), Some(&keeps)).resolve_ask(&call, Some(&keeps)));
        keeps.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn hash_of(args: &str) -> String {
        prompt(args).and_then(|question| prompt_hash(&question).ok()).unwrap_or_default()
    }

    #[test]
    fn a_form_offers_both_decisions_in_each_language() {
        for (lang, words) in [
            (Lang::En, ["Approve", "Refuse", "Decision", "Reason, if you refuse", "client (self-reported): cli 1"]),
            (Lang::Ja, ["承認する", "拒否する", "判断", "拒否する場合の理由", "クライアント（自称）: cli 1"]),
            (Lang::Zh, ["批准", "拒绝", "决定", "拒绝时的原因", "客户端（自称）：cli 1"]),
        ] {
            let (client, policy) = (Some("cli 1".to_owned()), Arc::default());
            let asker = PromptContext { lang, client, policy };
            let form = elicitation_form(&prompt("{}").unwrap(), &asker).unwrap();
            let form = serde_json::to_value(&form).unwrap();
            let decision = &form["requestedSchema"]["properties"][DECISION];
            let options = serde_json::to_string(decision).unwrap();
            assert!([APPROVE, REFUSE].iter().all(|value| options.contains(&format!("\"{value}\""))), "{options}");
            assert_eq!(form["requestedSchema"]["required"], serde_json::json!([DECISION]));
            let form = form.to_string();
            for word in words {
                assert!(form.contains(word), "{word}: {form}");
            }
        }
    }

    #[test]
    fn a_question_is_the_same_whatever_the_order_of_keys_and_another_one_with_each_digit() {
        let one = hash_of(r#"{"amount": 9007199254740993, "to": {"a": 1, "b": [2]}}"#);
        assert_eq!(
            (one.len(), hash_of(r#"{"to": {"b": [2], "a": 1}, "amount": 9007199254740993}"#)),
            (64, one.clone())
        );
        let long = "x".repeat(5_000);
        let others = [
            r#"{"amount": 9007199254740992, "to": {"a": 1, "b": [2]}}"#.to_owned(),
            r#"{"amount": 9007199254740993, "to": {"a": 1, "b": [3]}}"#.to_owned(),
            format!(r#"{{"amount": "{long}a"}}"#),
            format!(r#"{{"amount": "{long}b"}}"#),
        ];
        let mut all: Vec<String> = others.iter().map(|args| hash_of(args)).chain([one]).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 5);
    }
}
