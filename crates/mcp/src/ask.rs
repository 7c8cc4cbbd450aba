//! How somebody is asked who sits behind a client.
//!
//! The gates and the policy ask a [`Person`] on the thread of the run. Here is what such a person is: the client, where the
//! protocol lets us ask it while a call is under way (elicitation, or a task that needs input); or nobody yet, where a call has
//! to end and come again with the answer. Where a client can do neither, there is no person, and the tool waits in the store
//! until somebody settles it with the command line.
//!
//! Invariant: an answer counts for the question that was asked, and for no other. Whoever says nothing has said nothing.

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
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use toolcell::{Answer, Lang, Person, Question, QuestionTooLong};

/// The fields of an answer.
const DECISION: &str = "decision";
const REASON: &str = "reason";
/// What a decision can be.
const APPROVE: &str = "approve";
const REFUSE: &str = "refuse";
/// The longest message, in bytes. The facts have to fit, or nobody is asked; of the source goes in what there is room for.
const MAX_MESSAGE: usize = 16 << 10;
/// The longest name of a client that is shown, in characters.
const MAX_CLIENT_CHARS: usize = 100;

/// How questions are put: in which language, and through which client.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) lang: Lang,
    /// What the client calls itself.
    pub(crate) client: Option<String>,
}

/// How somebody can be asked in a call.
pub(crate) enum Asking {
    /// While it is under way.
    Now(Way, Asker),
    /// When it is over.
    After(Arc<Meanwhile>),
    /// Nobody can.
    Nobody,
}

/// The way to whoever is asked while a call is under way.
#[derive(Clone)]
pub(crate) enum Way {
    /// The client asks them.
    Client(Peer<RoleServer>),
    /// The client sees that the task needs input.
    Task(TaskContext),
}

impl Asking {
    /// Who is asked, and the questions that somebody has to put meanwhile.
    pub(crate) fn person(self) -> (Option<Arc<dyn Person>>, Option<Questions>) {
        match self {
            Self::Nobody => (None, None),
            Self::After(meanwhile) => (Some(meanwhile), None),
            Self::Now(way, asker) => {
                let (ask, asked) = unbounded_channel();
                (Some(Arc::new(Through(ask))), Some(Questions { asked, way, asker, put: None }))
            }
        }
    }
}

/// A question that waits, and who waits for it.
type Waiting = (Question, Sender<Answer>);

/// Somebody thinks about a question.
type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The questions of a run. What is put and not answered yet is kept when nobody polls.
pub(crate) struct Questions {
    asked: UnboundedReceiver<Waiting>,
    way: Way,
    asker: Asker,
    put: Option<(Answering, Sender<Answer>)>,
}

impl Questions {
    /// Puts the next question, and hands on what was said; for ever where none comes any more.
    pub(crate) async fn put(&mut self, patience: Duration) {
        if self.put.is_none() {
            let Some((question, reply)) = self.asked.recv().await else { return std::future::pending().await };
            let (way, asker) = (self.way.clone(), self.asker.clone());
            self.put = Some((Box::pin(way.put(question, asker, patience)), reply));
        }
        let Some((answer, _)) = &mut self.put else { return };
        let answer = answer.await;
        if let Some((_, reply)) = self.put.take() {
            // Where the gate gave up meanwhile, nobody hears it.
            let _ = reply.send(answer);
        }
    }
}

impl Way {
    async fn put(self, question: Question, asker: Asker, patience: Duration) -> Answer {
        let form = match form(&question, &asker) {
            Ok(form) => form,
            Err(not_asked) => return not_asked.into(),
        };
        let said = match self {
            Self::Client(peer) => peer.create_elicitation_with_timeout(form, Some(patience)).await.ok(),
            Self::Task(task) => {
                let key = match hash(&question) {
                    Ok(hash) => hash.chars().take(16).collect::<String>(),
                    Err(not_asked) => return not_asked.into(),
                };
                let asked = task.request_input(key, InputRequest::Elicitation(ElicitRequest::new(form)));
                let answered = tokio::time::timeout(patience, asked).await.ok().and_then(Result::ok);
                answered.and_then(|value| serde_json::from_value(value).ok())
            }
        };
        // Where a client fails, or takes too long, nobody said anything.
        said.map_or(Answer::Later, |result| self::said(&result))
    }
}

/// Somebody who is asked through the client while the call goes on.
struct Through(UnboundedSender<Waiting>);

impl Person for Through {
    fn ask(&self, question: &Question) -> Answer {
        let (reply, answer) = channel();
        let asked = self.0.send((question.clone(), reply));
        // Where the client is gone, nobody said anything.
        asked.ok().and_then(|()| answer.recv().ok()).unwrap_or(Answer::Later)
    }
}

/// Somebody who has answered some questions, and is asked the next one when the call is over.
pub(crate) struct Meanwhile {
    asker: Asker,
    /// What was said, by the hash of the question: whether yes.
    said: BTreeMap<String, bool>,
    open: Mutex<Option<Open>>,
}

/// A question that is put when the call is over.
pub(crate) struct Open {
    /// The hash of the question.
    pub(crate) hash: String,
    /// The form that it is put in.
    pub(crate) form: ElicitRequestParams,
    /// What was said to those before it: whether yes.
    pub(crate) said: BTreeMap<String, bool>,
}

impl Meanwhile {
    pub(crate) fn knowing(asker: Asker, said: BTreeMap<String, bool>) -> Arc<Self> {
        Arc::new(Self { asker, said, open: Mutex::default() })
    }

    /// The question that is open, if there is one.
    pub(crate) fn open(&self) -> Option<Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Person for Meanwhile {
    fn ask(&self, question: &Question) -> Answer {
        let hash = match hash(question) {
            Ok(hash) => hash,
            Err(not_asked) => return not_asked.into(),
        };
        match self.said.get(&hash) {
            Some(true) => Answer::Yes,
            Some(false) => Answer::No { feedback: None },
            None => match form(question, &self.asker) {
                Ok(form) => {
                    let open = Open { hash, form, said: self.said.clone() };
                    *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(open);
                    Answer::Later
                }
                Err(not_asked) => not_asked.into(),
            },
        }
    }
}

/// Why a question is not put to anybody.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAsked {
    #[error(transparent)]
    TooLong(#[from] QuestionTooLong),
    #[error("the question cannot be written: {0}")]
    NoForm(#[from] serde_json::Error),
}

impl From<NotAsked> for Answer {
    fn from(error: NotAsked) -> Self {
        Self::NotShown { reason: error.to_string() }
    }
}

/// What makes a question this one: all its facts, the grants, and every argument whole. The order of keys does not count, since a client
/// may write them in another one when it sends them again; each digit of a number does.
pub(crate) fn hash(question: &Question) -> Result<String, NotAsked> {
    let grants = question.approving.as_ref().map(|approving| approving.grants.to_value());
    let args = sorted(&question.call.args);
    let mut bare = question.clone();
    bare.call.args = Arc::default();
    let parts = (&question.gate, &question.text, &question.call.tool_name, bare.facts(Lang::En), grants, args);
    Ok(blake3::hash(&serde_json::to_vec(&parts)?).to_hex().to_string())
}

/// A value whose keys are in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, Value> = fields.iter().map(|(key, value)| (key, sorted(value))).collect();
            fields.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// The form that somebody fills in.
pub(crate) fn form(question: &Question, asker: &Asker) -> Result<ElicitRequestParams, NotAsked> {
    let lang = asker.lang;
    let client = asker.client.iter().map(|name| {
        let label = match lang {
            Lang::En => "client, as it calls itself",
            Lang::Ja => "クライアント（自称）",
            Lang::Zh => "客户端（自称）",
        };
        let (start, is_cut) =
            (name.chars().take(MAX_CLIENT_CHARS).collect::<String>(), name.chars().nth(MAX_CLIENT_CHARS));
        format!("{label}{}{start}{}", lang.colon(), if is_cut.is_some() { "…" } else { "" })
    });
    let message = question.in_form(lang, &client.collect::<Vec<_>>(), MAX_MESSAGE)?;
    let titles = match lang {
        Lang::En => ["Approve", "Refuse", "Decision", "Why, if you refuse"],
        Lang::Ja => ["許可する", "許可しない", "判断", "許可しない場合の理由"],
        Lang::Zh => ["批准", "拒绝", "决定", "如果拒绝，原因"],
    };
    let decisions = || EnumSchema::builder(vec![APPROVE.to_owned(), REFUSE.to_owned()]);
    let titled = decisions().enum_titles(titles[..2].iter().map(|title| (*title).to_owned()).collect());
    // Were the titles not as many as the values, the form would show the values themselves; both can always be chosen.
    let decisions = titled.map_or_else(|_| decisions().build(), |titled| titled.title(titles[2]).build());
    let schema = ElicitationSchema::builder()
        .required_enum_schema(DECISION, decisions)
        .string_property(REASON, |_| StringSchema::new().title(titles[3]).max_length(1_000))
        .build_unchecked();
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// What somebody said in such a form. Only an approval in so many words is one.
pub(crate) fn said(result: &ElicitResult) -> Answer {
    let field = |name: &str| result.content.as_ref().and_then(|content| content.get(name)).and_then(Value::as_str);
    match result.action {
        ElicitationAction::Accept if field(DECISION) == Some(APPROVE) => Answer::Yes,
        ElicitationAction::Accept | ElicitationAction::Decline => {
            Answer::No { feedback: field(REASON).filter(|reason| !reason.is_empty()).map(str::to_owned) }
        }
        _ => Answer::Later,
    }
}

#[cfg(test)]
mod tests {
    use toolcell::gate::{GateCall, Gates, Verdict};

    use super::*;

    /// Keeps the question that it is asked.
    struct Keeps(Mutex<Option<Question>>);

    impl Person for Keeps {
        fn ask(&self, question: &Question) -> Answer {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(question.clone());
            Answer::Later
        }
    }

    fn hash_of(args: &str) -> String {
        let mut gates = Gates::default();
        gates.before("careful", |_: &GateCall| Verdict::ask("sure?"));
        let args: Value = serde_json::from_str(args).unwrap_or_default();
        let call = GateCall::new("pay", None, args, jiff::Timestamp::UNIX_EPOCH, "/");
        let keeps = Keeps(Mutex::default());
        drop(gates.admit(call.clone(), Some(&keeps)).settle(&call, Some(&keeps)));
        let question = keeps.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        question.and_then(|question| hash(&question).ok()).unwrap_or_default()
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
