//! Questions of a server to the user, in form mode (MCP 2025-11-25, client/elicitation). The caller of the run answers them.
//!
//! ```text
//! elicitation/create (a request, up to 2025-11-25) ┐
//! inputRequests (a result, from 2026-07-28)        ┴→ checked → sink of the call → answer, or reason
//! ```
//!
//! Invariant: a question belongs to a call that is in flight. One that is too large, that is no flat form, or that cannot be
//! attributed to one run is declined, and so is each after the eighth of a call. While a question is open, the time of
//! the call stands still.
//!
//! A request does not say which call it belongs to, so it is passed on only while all calls in flight on its connection
//! belong to one run.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ElicitResult, ElicitationAction, MetaObject};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use toolcell_schema::{FormContent, QuestionForm};
use toolcell_tool::ServerName;

use crate::redaction::Redaction;
use crate::result;

/// The method of a question.
pub(crate) const METHOD: &str = "elicitation/create";
/// The maximum number of questions of a call.
const MAX_QUESTIONS: usize = 8;
/// The maximum size of a question in bytes of JSON.
const MAX_QUESTION_BYTES: usize = 32 << 10;
/// The maximum size of the message of a question in bytes.
const MAX_MESSAGE_BYTES: usize = 2 << 10;
/// The maximum number of lines of the message of a question.
const MAX_MESSAGE_LINES: usize = 60;
/// The key in the `_meta` of an answer for the reason why the user did not answer.
const REASON_KEY: &str = "toolcell/reason";

/// The answer to come; `None` if the run is over before.
pub type PendingAnswer = Pin<Box<dyn Future<Output = Option<Answer>> + Send>>;

/// Takes the questions of a call.
pub trait QuestionSink: Send + Sync {
    /// Passes a question on. Dropping the answer to come withdraws it.
    fn ask(&self, question: Question) -> PendingAnswer;
}

/// A question of a server. Its texts are the server's.
#[derive(Debug, Clone)]
pub struct Question {
    /// The server.
    pub server: ServerName,
    /// The tools whose calls may be the reason, as the server names them: one, unless a run calls several at once.
    pub tools: Vec<String>,
    /// The message.
    pub message: String,
    /// The fields to be filled in.
    pub form: QuestionForm,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The form is filled in.
    Accept(FormContent),
    /// The user declines.
    Decline,
    /// The user dismisses the question.
    Cancel,
    /// The user was not asked, and why.
    NotAsked(String),
    /// The user was asked, and there is no valid answer, and why.
    Unanswered(String),
}

/// The run that a call belongs to.
#[derive(Clone)]
pub struct CallOrigin {
    /// The number of the run, which the tools that it calls share.
    pub run: u64,
    /// Takes the questions of the call.
    pub questions: Arc<dyn QuestionSink>,
}

/// The calls that are in flight on a connection.
pub(crate) struct InFlightCalls {
    /// The newest last.
    calls: Mutex<Vec<Arc<CallInFlight>>>,
    /// When the last call was abandoned before it was answered. The server may go on with it, and ask for it.
    abandoned_at: Mutex<Option<Instant>>,
    /// How long no question is passed on after that.
    quarantine: Duration,
}

/// A call that is in flight.
pub(crate) struct CallInFlight {
    origin: CallOrigin,
    tool: String,
    asked: AtomicUsize,
    clock: watch::Sender<ClockState>,
    /// Why the last question was not answered.
    unanswered: Mutex<Option<String>>,
}

/// The clock of a call, which stands still while a question is open.
#[derive(Debug, Clone, Copy, Default)]
struct ClockState {
    open: usize,
    paused_at: Option<Instant>,
    paused: Duration,
}

/// Ends a call when it is dropped.
pub(crate) struct CallGuard {
    calls: Arc<InFlightCalls>,
    call: Arc<CallInFlight>,
    is_answered: bool,
}

impl CallGuard {
    /// Notes that the server has answered the call, and will not ask for it any more.
    pub(crate) fn complete(&mut self) {
        self.is_answered = true;
    }
}

impl std::ops::Deref for CallGuard {
    type Target = Arc<CallInFlight>;

    fn deref(&self) -> &Self::Target {
        &self.call
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let mut calls = self.calls.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|call| !Arc::ptr_eq(call, &self.call));
        if !self.is_answered {
            *self.calls.abandoned_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }
}

impl InFlightCalls {
    pub(crate) fn new(quarantine: Duration) -> Self {
        Self { calls: Mutex::default(), abandoned_at: Mutex::default(), quarantine }
    }

    /// Adds a call of a tool.
    pub(crate) fn begin(self: &Arc<Self>, origin: CallOrigin, tool: &str) -> CallGuard {
        let call = Arc::new(CallInFlight {
            origin,
            tool: tool.to_owned(),
            asked: AtomicUsize::new(0),
            clock: watch::Sender::default(),
            unanswered: Mutex::default(),
        });
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&call));
        CallGuard { calls: Arc::clone(self), call, is_answered: false }
    }

    fn all(&self) -> Vec<Arc<CallInFlight>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a question may be of a call that was abandoned.
    fn may_be_abandoned(&self) -> bool {
        let abandoned_at = self.abandoned_at.lock().unwrap_or_else(PoisonError::into_inner);
        abandoned_at.is_some_and(|at| at.elapsed() < self.quarantine)
    }

    /// Answers a request that does not say which call it belongs to.
    pub(crate) async fn ask(&self, asker: &Asker, params: &Value) -> ElicitResult {
        let calls = self.all();
        let refusal = match calls.last() {
            None => "no call is in flight that it could belong to",
            Some(newest) if calls.iter().any(|call| call.origin.run != newest.origin.run) => {
                "calls of several runs are in flight, and the protocol does not say which of them it belongs to"
            }
            Some(_) if self.may_be_abandoned() => {
                "a call was abandoned a short time ago, and the protocol does not say which call it belongs to"
            }
            Some(newest) => return asker.ask(newest, &calls, params).await,
        };
        for call in &calls {
            call.note(refusal);
        }
        to_result(Answer::NotAsked(refusal.to_owned()))
    }
}

/// Who asks: a server, and the secrets that are taken out of all that it says.
pub(crate) struct Asker {
    pub(crate) server: ServerName,
    pub(crate) redaction: Arc<Redaction>,
    /// How long no question is passed on after a call was abandoned: the time in which a call has to be answered.
    pub(crate) quarantine: Duration,
}

impl Asker {
    /// Puts a question to the caller of a call. `calls` are those that it may belong to, whose time stands still.
    async fn ask(&self, call: &Arc<CallInFlight>, calls: &[Arc<CallInFlight>], params: &Value) -> ElicitResult {
        let answer = match self.vet(call, calls, params) {
            Ok(question) => {
                let _paused: Vec<PausedClock> = calls.iter().map(PausedClock::new).collect();
                let answer = call.origin.questions.ask(question).await;
                answer.unwrap_or_else(|| Answer::Unanswered("the run is over".to_owned()))
            }
            Err(refusal) => Answer::NotAsked(refusal),
        };
        call.note(match &answer {
            Answer::Accept(_) => "",
            Answer::Decline => "the user declined",
            Answer::Cancel => "the user dismissed the question",
            Answer::NotAsked(why) | Answer::Unanswered(why) => why,
        });
        to_result(answer)
    }

    /// Answers a question that came as the result of a call.
    pub(crate) async fn ask_for(&self, call: &Arc<CallInFlight>, params: &Value) -> ElicitResult {
        self.ask(call, std::slice::from_ref(call), params).await
    }

    /// Checks a question, and takes the secrets out of it.
    fn vet(&self, call: &CallInFlight, calls: &[Arc<CallInFlight>], params: &Value) -> Result<Question, String> {
        if call.asked.fetch_add(1, Ordering::Relaxed) >= MAX_QUESTIONS {
            return Err(format!("the call has asked {MAX_QUESTIONS} questions, which is the limit"));
        }
        if params.get("mode").is_some_and(|mode| mode != "form") {
            return Err("only questions in form mode are passed on".to_owned());
        }
        let message = params.get("message").and_then(Value::as_str).ok_or("the question has no message")?;
        if message.len() > MAX_MESSAGE_BYTES {
            return Err(format!("the message has {} bytes, the limit is {MAX_MESSAGE_BYTES}", message.len()));
        }
        let lines = message.lines().count();
        if lines > MAX_MESSAGE_LINES {
            return Err(format!("the message has {lines} lines, the limit is {MAX_MESSAGE_LINES}"));
        }
        let mut asked = Value::from_iter([
            ("message", Value::from(message)),
            ("schema", params.get("requestedSchema").cloned().unwrap_or_default()),
        ]);
        let bytes = asked.to_string().len();
        if bytes > MAX_QUESTION_BYTES {
            return Err(format!("the question has {bytes} bytes, the limit is {MAX_QUESTION_BYTES}"));
        }
        // With the tokens that were obtained meanwhile.
        let redactor = self.redaction.redactor();
        if result::is_too_deep(&asked) {
            return Err("the requested schema is not a flat object of fields".to_owned());
        }
        asked = result::redact(&redactor, asked)
            .ok_or("it has a secret of the server in a form that cannot be taken out")?;
        let form = QuestionForm::parse(&asked["schema"]).map_err(|error| error.to_string())?;
        let message = asked["message"].as_str().unwrap_or_default().to_owned();
        let mut tools: Vec<String> = calls.iter().map(|call| redactor.redact_text(&call.tool)).collect();
        tools.sort();
        tools.dedup();
        Ok(Question { server: self.server.clone(), tools, message, form })
    }
}

impl CallInFlight {
    /// Runs a task for at most this time, not counting the time in which a question is open.
    pub(crate) async fn within<T>(&self, limit: Duration, task: impl Future<Output = T>) -> Option<T> {
        let mut task = std::pin::pin!(task);
        let mut clock = self.clock.subscribe();
        let began = Instant::now();
        loop {
            let state = *clock.borrow_and_update();
            let deadline = (state.open == 0).then(|| began + limit + state.paused);
            tokio::select! {
                biased;
                done = &mut task => return Some(done),
                // The sender is here, so this does not fail.
                _ = clock.changed() => {}
                () = sleep_until(deadline) => return None,
            }
        }
    }

    /// Returns what is to be added to the error of the call: that a question was not answered, and why.
    pub(crate) fn unanswered(&self) -> Option<String> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes why a question was not answered; nothing if it was.
    fn note(&self, why: &str) {
        let why = (!why.is_empty()).then(|| why.to_owned());
        *self.unanswered.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Lets the clock of a call stand still until it is dropped.
struct PausedClock(Arc<CallInFlight>);

impl PausedClock {
    fn new(call: &Arc<CallInFlight>) -> Self {
        call.clock.send_modify(|clock| {
            clock.open += 1;
            clock.paused_at.get_or_insert_with(Instant::now);
        });
        Self(Arc::clone(call))
    }
}

impl Drop for PausedClock {
    fn drop(&mut self) {
        self.0.clock.send_modify(|clock| {
            clock.open -= 1;
            if clock.open == 0
                && let Some(since) = clock.paused_at.take()
            {
                clock.paused += since.elapsed();
            }
        });
    }
}

/// Returns an answer as the protocol writes it.
fn to_result(answer: Answer) -> ElicitResult {
    let because = |action: ElicitationAction, why: String| {
        let meta = MetaObject::from(serde_json::Map::from_iter([(REASON_KEY.to_owned(), Value::from(why))]));
        ElicitResult::new(action).with_meta(meta)
    };
    match answer {
        Answer::Accept(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content.into_value()),
        Answer::Decline => ElicitResult::new(ElicitationAction::Decline),
        Answer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        Answer::NotAsked(why) => because(ElicitationAction::Decline, why),
        Answer::Unanswered(why) => because(ElicitationAction::Cancel, why),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Declines each question.
    struct Declining;

    impl QuestionSink for Declining {
        fn ask(&self, _: Question) -> PendingAnswer {
            Box::pin(async { Some(Answer::Decline) })
        }
    }

    fn origin(run: u64) -> CallOrigin {
        CallOrigin { run, questions: Arc::new(Declining) }
    }

    #[tokio::test]
    async fn a_question_of_an_abandoned_call_is_put_to_no_other_run() {
        let server = ServerName::parse("s").unwrap();
        let redaction = Arc::new(Redaction::new(Vec::new()).unwrap());
        let asker = Asker { server, redaction, quarantine: Duration::from_millis(50) };
        let calls = Arc::new(InFlightCalls::new(asker.quarantine));
        let question = json!({ "message": "Which?", "requestedSchema": { "type": "object", "properties": {} } });
        let reason = async || {
            let answer = serde_json::to_value(calls.ask(&asker, &question).await).unwrap();
            answer["_meta"][REASON_KEY].as_str().unwrap_or_default().to_owned()
        };
        let mut answered = calls.begin(origin(1), "first");
        answered.complete();
        drop(answered);
        let next = calls.begin(origin(2), "second");
        assert_eq!(reason().await, "");
        drop(next);
        let _call = calls.begin(origin(3), "third");
        assert!(reason().await.starts_with("a call was abandoned"));
        // After the time in which the call had to be answered.
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert_eq!(reason().await, "");
    }
}
