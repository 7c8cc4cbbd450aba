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
use toolcell::{Answer, Lang, Person, Question};

/// The fields of an answer.
const DECISION: &str = "decision";
const REASON: &str = "reason";
/// What a decision can be.
const APPROVE: &str = "approve";
const REFUSE: &str = "refuse";
/// The longest message, in bytes: a source may be longer than what somebody reads in a dialogue.
const MESSAGE: usize = 16 << 10;

/// How somebody can be asked in a call.
pub(crate) enum Asking {
    /// While it is under way.
    Now(Way),
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
            Self::Now(way) => {
                let (ask, asked) = unbounded_channel();
                (Some(Arc::new(Through(ask))), Some(Questions { asked, way, put: None }))
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
    put: Option<(Answering, Sender<Answer>)>,
}

impl Questions {
    /// Puts the next question, and hands on what was said; for ever where none comes any more.
    pub(crate) async fn put(&mut self, lang: Lang, patience: Duration) {
        if self.put.is_none() {
            let Some((question, reply)) = self.asked.recv().await else { return std::future::pending().await };
            self.put = Some((Box::pin(self.way.clone().put(question, lang, patience)), reply));
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
    async fn put(self, question: Question, lang: Lang, patience: Duration) -> Answer {
        let form = form(&question, lang);
        let said = match self {
            Self::Client(peer) => peer.create_elicitation_with_timeout(form, Some(patience)).await.ok(),
            Self::Task(task) => {
                let key = hash(&question).chars().take(16).collect::<String>();
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
#[derive(Default)]
pub(crate) struct Meanwhile {
    /// What was said, by the hash of the question: whether yes.
    said: BTreeMap<String, bool>,
    open: Mutex<Option<Question>>,
}

impl Meanwhile {
    pub(crate) fn knowing(said: BTreeMap<String, bool>) -> Arc<Self> {
        Arc::new(Self { said, open: Mutex::default() })
    }

    /// The question that is open, if there is one, and what was said to those before it.
    pub(crate) fn open(&self) -> Option<(Question, BTreeMap<String, bool>)> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some((open, self.said.clone()))
    }
}

impl Person for Meanwhile {
    fn ask(&self, question: &Question) -> Answer {
        match self.said.get(&hash(question)) {
            Some(true) => Answer::Yes,
            Some(false) => Answer::No { feedback: None },
            None => {
                *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(question.clone());
                Answer::Later
            }
        }
    }
}

/// What makes a question this one: who asks what about which tool, with which grants and which arguments.
pub(crate) fn hash(question: &Question) -> String {
    let tool = question.call.tool.map(|id| id.to_string());
    let grants = question.approving.as_ref().map(|approving| approving.grants.to_value());
    let parts = (&question.gate, &question.text, &question.call.tool_name, tool, grants, &*question.call.args);
    blake3::hash(&serde_jcs::to_vec(&parts).unwrap_or_default()).to_hex().to_string()
}

/// The form that somebody fills in.
pub(crate) fn form(question: &Question, lang: Lang) -> ElicitRequestParams {
    let mut message = question.told(lang).join("\n");
    if message.len() > MESSAGE {
        message.truncate(message.floor_char_boundary(MESSAGE));
        message.push('…');
    }
    message.push('\n');
    message.push_str(question.asks(lang));
    let titles = match lang {
        Lang::En => ["Approve", "Refuse", "Decision", "Why, if you refuse"],
        Lang::Ja => ["許可する", "許可しない", "判断", "許可しない場合の理由"],
        Lang::Zh => ["批准", "拒绝", "决定", "如果拒绝，原因"],
    };
    let decisions = EnumSchema::builder(vec![APPROVE.to_owned(), REFUSE.to_owned()])
        .enum_titles(titles[..2].iter().map(|title| (*title).to_owned()).collect());
    // There are as many titles as values.
    let decisions = decisions
        .map_or_else(|_| EnumSchema::builder(vec![APPROVE.to_owned()]).build(), |it| it.title(titles[2]).build());
    let schema = ElicitationSchema::builder()
        .required_enum_schema(DECISION, decisions)
        .string_property(REASON, |_| StringSchema::new().title(titles[3]).max_length(1_000))
        .build_unchecked();
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema }
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
