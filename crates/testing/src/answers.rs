//! What the host answers a tool in a test.
//!
//! Invariant: nothing outside is reached and nothing is waited for. Each answer is given once, to what it is for; a timer is due
//! at once, and the tool's clock moves on by it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use toolcell::{
    Effects, Ended, Grant, Json, Operation, OperationAnswer, OperationFailure, Operations, OperationsOfCall, Waited,
};

use crate::diff::{cut, same};

/// What the host answers to one thing that a tool asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What it is an answer to: `fetch`, `tools.call`, `kv.get`, `kv.list`, `kv.commit`, `files.read` and so on.
    pub kind: String,
    /// What is asked for, as far as it matters: members of the request, which has them among others.
    pub request: Value,
    /// What comes of it.
    pub answered: Answered,
    /// Fuel that another tool burned for it.
    pub fuel: u64,
}

/// What comes of an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// A value, and bytes that come along.
    Value(Value, Option<Vec<u8>>),
    /// A failure, as the tool sees it.
    Failure {
        /// The error's name.
        name: String,
        /// Its message.
        message: String,
        /// Its code.
        code: String,
    },
}

/// The answer to a request: 200 and an empty body, unless said.
#[must_use]
pub fn fetch(url: impl Into<String>) -> Answer {
    let url = url.into();
    let answered = response(&url, 200, &[], Vec::new());
    Answer { kind: "fetch".to_owned(), request: json!({ "url": url }), answered, fuel: 0 }
}

/// The answer of another tool.
#[must_use]
pub fn tool_call(name: impl Into<String>) -> Answer {
    let answered = Answered::Value(Value::Null, None);
    Answer { kind: "tools.call".to_owned(), request: json!({ "name": name.into() }), answered, fuel: 0 }
}

/// The answer to another operation, such as `kv.get`, where what is asked for has these members.
#[must_use]
pub fn operation(kind: &str, request: impl Into<Value>) -> Answer {
    let answered = Answered::Value(Value::Null, None);
    Answer { kind: kind.to_owned(), request: request.into(), answered, fuel: 0 }
}

/// What `fetch` in a cell is handed.
pub(crate) fn response(url: &str, status: u16, headers: &[(String, String)], body: Vec<u8>) -> Answered {
    let headers: Vec<&str> = headers.iter().flat_map(|(name, value)| [name.as_str(), value]).collect();
    let head = json!({
        "status": status, "statusText": "", "url": url, "redirected": false, "headers": headers, "done": true,
    });
    Answered::Value(head, Some(body))
}

impl Answer {
    /// The same with this JSON as what is answered: the body of a response, or the value of another tool.
    #[must_use]
    pub fn with(mut self, value: impl Into<Value>) -> Self {
        let value = value.into();
        self.answered = match self.answered {
            Answered::Value(mut head, Some(_)) => {
                head["headers"] = json!(["content-type", "application/json"]);
                Answered::Value(head, Some(value.to_string().into_bytes()))
            }
            Answered::Value(..) | Answered::Failure { .. } => Answered::Value(value, None),
        };
        self
    }

    /// The same with another status, for a response.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        if let Answered::Value(head, Some(_)) = &mut self.answered {
            head["status"] = status.into();
        }
        self
    }

    /// It fails, with the name, the message and the code that the tool sees.
    #[must_use]
    pub fn fails(mut self, name: &str, message: &str, code: &str) -> Self {
        let [name, message, code] = [name, message, code].map(str::to_owned);
        self.answered = Answered::Failure { name, message, code };
        self
    }

    /// Whether it is for what a tool asks for.
    fn is_for(&self, operation: &Operation, request: &Value) -> bool {
        self.kind == operation.kind && has(request, &self.request)
    }

    /// In some words.
    pub(crate) fn told(&self) -> String {
        format!("{} {}", self.kind, cut(&self.request.to_string()))
    }

    fn ended(&self, id: u32) -> Ended {
        let result = match &self.answered {
            Answered::Value(value, bytes) => match Json::parse(value.to_string()) {
                Ok(json) => Ok(OperationAnswer { json, bytes: bytes.clone() }),
                Err(error) => Err(failed("TypeError", &error.to_string(), "answer-malformed")),
            },
            Answered::Failure { name, message, code } => Err(failed(name, message, code)),
        };
        Ended { id, result }
    }
}

/// The grant that an operation of this kind needs.
pub(crate) fn grant_of(kind: &str) -> Option<&'static str> {
    match kind.split_once('.').map_or(kind, |(group, _)| group) {
        "fetch" => Some("net"),
        "tools" => Some("tools"),
        "kv" => Some("kv"),
        "files" => Some("files"),
        _ => None,
    }
}

/// Whether a value has what another one has: the members of an object, or all of anything else.
fn has(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(members), Value::Object(parts)) => {
            parts.iter().all(|(key, part)| members.get(key).is_some_and(|value| has(value, part)))
        }
        _ => same(value, part),
    }
}

fn failed(name: &str, message: &str, code: &str) -> OperationFailure {
    let (name, message) = (name.to_owned(), message.to_owned());
    OperationFailure { name, message, code: code.to_owned().into(), effects: Effects::None }
}

/// The operations of a test.
pub(crate) struct Host<'a> {
    grants: &'a [Grant],
    answers: &'a [Answer],
    seen: Mutex<Seen>,
}

/// What a tool asked for.
#[derive(Default)]
pub(crate) struct Seen {
    /// Which answers were given.
    given: Vec<bool>,
    /// All of it, in order, timers aside.
    pub(crate) asked: Vec<String>,
    /// What there is no answer to.
    pub(crate) unanswered: Vec<String>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(grants: &'a [Grant], answers: &'a [Answer]) -> Self {
        let seen = Seen { given: vec![false; answers.len()], ..Seen::default() };
        Self { grants, answers, seen: Mutex::new(seen) }
    }

    /// What was asked for, and which answers nobody asked for.
    pub(crate) fn into_seen(self) -> (Seen, Vec<String>) {
        let seen = self.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left = self.answers.iter().zip(&seen.given).filter(|(_, given)| !**given);
        let left = left.map(|(answer, _)| answer.told()).collect();
        (seen, left)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first answer that is left for this.
    fn answer(&self, operation: &Operation) -> (Ended, u64) {
        let request: Value = serde_json::from_str(&operation.payload).unwrap_or_default();
        let mut seen = self.seen();
        seen.asked.push(told(operation, &request));
        let mut left = self.answers.iter().enumerate();
        if let Some((at, answer)) = left.find(|(at, answer)| !seen.given[*at] && answer.is_for(operation, &request)) {
            seen.given[at] = true;
            return (answer.ended(operation.id), answer.fuel);
        }
        let told = told(operation, &request);
        let message = format!("this test has no answer to {told}");
        seen.unanswered.push(told);
        (Ended { id: operation.id, result: Err(failed("NotFoundError", &message, "answer-missing")) }, 0)
    }
}

impl Operations for Host<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.grants.to_vec()
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(Answering { host: self, now: Duration::ZERO, timers: Vec::new(), ready: VecDeque::new() })
    }
}

struct Answering<'a> {
    host: &'a Host<'a>,
    /// How long the tool has waited.
    now: Duration,
    /// When each timer is due, and its number.
    timers: Vec<(Duration, u32)>,
    /// What has ended, with the fuel of other tools.
    ready: VecDeque<(Ended, u64)>,
}

impl OperationsOfCall for Answering<'_> {
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]) {
        for operation in started {
            match due(&operation) {
                Some(wait) => self.timers.push((self.now.saturating_add(wait), operation.id)),
                None => self.ready.push_back(self.host.answer(&operation)),
            }
        }
        self.timers.retain(|(_, id)| !cancelled.contains(id));
        self.ready.retain(|(ended, _)| !cancelled.contains(&ended.id));
    }

    fn wait(&mut self, _: &toolcell::Left<'_>) -> Waited {
        if !self.ready.is_empty() {
            let (ended, fuel): (Vec<Ended>, Vec<u64>) = self.ready.drain(..).unzip();
            return Waited { ended, took: Duration::ZERO, fuel: fuel.iter().sum() };
        }
        // One at a time, so that what a callback does is seen by the next one, as in a browser.
        self.timers.sort_unstable();
        if self.timers.is_empty() {
            return Waited::in_vain();
        }
        let (due, id) = self.timers.remove(0);
        let took = due.saturating_sub(self.now);
        self.now = due.max(self.now);
        Waited { ended: vec![Ended { id, result: Ok(Json::NULL.into()) }], took, fuel: 0 }
    }
}

/// How long a timer waits; nothing where it is none.
fn due(operation: &Operation) -> Option<Duration> {
    if operation.kind != "timer" {
        return None;
    }
    let request: Value = serde_json::from_str(&operation.payload).ok()?;
    Duration::try_from_secs_f64(request["ms"].as_f64()? / 1000.0).ok()
}

/// What is asked for, as a person says it: `fetch GET https://example.com/`.
fn told(operation: &Operation, request: &Value) -> String {
    let word = |key: &str| request[key].as_str().map(str::to_owned).unwrap_or_default();
    let said = match operation.kind.as_str() {
        "fetch" => format!("fetch {} {}", word("method"), word("url")),
        "tools.call" => format!("tools.call {}", word("name")),
        "kv.get" => format!("kv.get {}", word("key")),
        "kv.commit" => {
            let writes = request["writes"].as_array().into_iter().flatten();
            let keys: Vec<&str> = writes.filter_map(|write| write["key"].as_str()).collect();
            format!("kv.commit {}", keys.join(" "))
        }
        kind if kind.starts_with("files.") => format!("{kind} {}", word("path")),
        kind => kind.to_owned(),
    };
    said.trim_end().to_owned()
}
