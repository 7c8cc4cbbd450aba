//! Mocks of host calls.
//!
//! Invariant: nothing outside is reached, and nothing waits. Each mock replies once, to a call that
//! it matches. A timer is due at once, and advances the tool's clock.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use toolcell::{
    Completion, Effects, Grant, HostCall, HostCallDriver, HostCalls, HostRequest, Json, OperationError,
    OperationOutput, TimerRequest, WaitResult,
};

use crate::diff::{is_equal, truncate};

/// A mock of one host call.
#[derive(Debug, Clone, PartialEq)]
pub struct Mock {
    /// The kind of call: `fetch`, `tools.call`, `kv.get`, `kv.list`, `kv.commit`, `files.read` and
    /// so on.
    pub kind: String,
    /// The members that the call's request must have; it may have others.
    pub request: Value,
    /// The reply.
    pub reply: MockReply,
    /// Fuel charged for the call, as burned by another tool.
    pub fuel: u64,
}

/// The reply of a mock.
#[derive(Debug, Clone, PartialEq)]
pub enum MockReply {
    /// A value, and optional binary data with it.
    Value(Value, Option<Vec<u8>>),
    /// An error, as the tool sees it.
    Failure {
        /// The error's name.
        name: String,
        /// The error's message.
        message: String,
        /// The error's stable code.
        code: String,
    },
}

/// Mocks an HTTP request, with status 200 and an empty body unless changed.
#[must_use]
pub fn fetch(url: impl Into<String>) -> Mock {
    let url = url.into();
    let answered = response_reply(&url, 200, &[], Vec::new());
    Mock { kind: "fetch".to_owned(), request: json!({ "url": url }), reply: answered, fuel: 0 }
}

/// Mocks a call of another tool, which returns `null` unless changed.
#[must_use]
pub fn tool_call(name: impl Into<String>) -> Mock {
    let answered = MockReply::Value(Value::Null, None);
    Mock { kind: "tools.call".to_owned(), request: json!({ "name": name.into() }), reply: answered, fuel: 0 }
}

/// Mocks any other host call, such as `kv.get`, whose request has these members.
#[must_use]
pub fn host_call(kind: &str, request: impl Into<Value>) -> Mock {
    let answered = MockReply::Value(Value::Null, None);
    Mock { kind: kind.to_owned(), request: request.into(), reply: answered, fuel: 0 }
}

/// Returns the reply that `fetch` in a cell expects.
pub(crate) fn response_reply(url: &str, status: u16, headers: &[(String, String)], body: Vec<u8>) -> MockReply {
    let headers: Vec<&str> = headers.iter().flat_map(|(name, value)| [name.as_str(), value]).collect();
    let head = json!({
        "status": status, "statusText": "", "url": url, "redirected": false, "headers": headers, "done": true,
    });
    MockReply::Value(head, Some(body))
}

impl Mock {
    /// Sets the reply to this JSON: the body of a response, or the value that a host call returns.
    #[must_use]
    pub fn with(mut self, value: impl Into<Value>) -> Self {
        let value = value.into();
        self.reply = match self.reply {
            MockReply::Value(mut head, Some(_)) => {
                head["headers"] = json!(["content-type", "application/json"]);
                MockReply::Value(head, Some(value.to_string().into_bytes()))
            }
            MockReply::Value(..) | MockReply::Failure { .. } => MockReply::Value(value, None),
        };
        self
    }

    /// Sets the status of a response.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        if let MockReply::Value(head, Some(_)) = &mut self.reply {
            head["status"] = status.into();
        }
        self
    }

    /// Sets the reply to an error with this name, message and code.
    #[must_use]
    pub fn fails(mut self, name: &str, message: &str, code: &str) -> Self {
        let [name, message, code] = [name, message, code].map(str::to_owned);
        self.reply = MockReply::Failure { name, message, code };
        self
    }

    /// Returns whether the mock matches a host call.
    fn is_match(&self, operation: &HostCall, request: &Value) -> bool {
        self.kind == operation.kind && contains_members(request, &self.request)
    }

    /// Describes the mock for a message.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", self.kind, truncate(&self.request.to_string()))
    }

    fn completion(&self, id: u32) -> Completion {
        let result = match &self.reply {
            MockReply::Value(value, bytes) => match Json::parse(value.to_string()) {
                Ok(json) => Ok(OperationOutput { json, bytes: bytes.clone() }),
                Err(error) => Err(operation_error("TypeError", &error.to_string(), "answer-malformed")),
            },
            MockReply::Failure { name, message, code } => Err(operation_error(name, message, code)),
        };
        Completion { id, result }
    }
}

/// Returns the grant that a host call of this kind needs.
pub(crate) fn required_grant(kind: &str) -> Option<&'static str> {
    match kind.split_once('.').map_or(kind, |(group, _)| group) {
        "fetch" => Some("net"),
        "tools" => Some("tools"),
        "kv" => Some("kv"),
        "files" => Some("files"),
        _ => None,
    }
}

/// Returns whether a value contains another one: all members of an object, recursively, or an equal
/// value of any other type.
fn contains_members(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(members), Value::Object(parts)) => {
            parts.iter().all(|(key, part)| members.get(key).is_some_and(|value| contains_members(value, part)))
        }
        _ => is_equal(value, part),
    }
}

fn operation_error(name: &str, message: &str, code: &str) -> OperationError {
    let (name, message) = (name.to_owned(), message.to_owned());
    OperationError { name, message, code: code.to_owned().into(), effects: Effects::None }
}

/// The host calls of a test, answered by mocks.
pub(crate) struct MockHost<'a> {
    grants: &'a [Grant],
    mocks: &'a [Mock],
    observed: Mutex<Observed>,
}

/// The host calls that a tool made.
#[derive(Default)]
pub(crate) struct Observed {
    /// Whether each mock was used.
    used: Vec<bool>,
    /// All calls except timers, in order.
    pub(crate) calls: Vec<String>,
    /// The calls that no mock matched.
    pub(crate) unmatched: Vec<String>,
}

impl<'a> MockHost<'a> {
    pub(crate) fn new(grants: &'a [Grant], answers: &'a [Mock]) -> Self {
        let seen = Observed { used: vec![false; answers.len()], ..Observed::default() };
        Self { grants, mocks: answers, observed: Mutex::new(seen) }
    }

    /// Returns the observed calls, and descriptions of the unused mocks.
    pub(crate) fn into_observed(self) -> (Observed, Vec<String>) {
        let seen = self.observed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left = self.mocks.iter().zip(&seen.used).filter(|(_, given)| !**given);
        let left = left.map(|(answer, _)| answer.describe()).collect();
        (seen, left)
    }

    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replies with the first unused mock that matches. Returns the completion and its fuel.
    fn reply_to(&self, operation: &HostCall) -> (Completion, u64) {
        let request: Value = serde_json::from_str(&operation.payload).unwrap_or_default();
        let mut seen = self.observed();
        seen.calls.push(describe_call(operation, &request));
        let mut left = self.mocks.iter().enumerate();
        if let Some((at, answer)) = left.find(|(at, answer)| !seen.used[*at] && answer.is_match(operation, &request)) {
            seen.used[at] = true;
            return (answer.completion(operation.id), answer.fuel);
        }
        let call = describe_call(operation, &request);
        let message = format!("this test has no answer to {call}");
        seen.unmatched.push(call);
        (Completion { id: operation.id, result: Err(operation_error("NotFoundError", &message, "answer-missing")) }, 0)
    }
}

impl HostCalls for MockHost<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.grants.to_vec()
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(MockDriver { host: self, now: Duration::ZERO, timers: Vec::new(), completed: VecDeque::new() })
    }
}

struct MockDriver<'a> {
    host: &'a MockHost<'a>,
    /// Time that the tool has waited.
    now: Duration,
    /// The due time and the identifier of each timer.
    timers: Vec<(Duration, u32)>,
    /// Completed calls, each with the fuel of other tools.
    completed: VecDeque<(Completion, u64)>,
}

impl HostCallDriver for MockDriver<'_> {
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]) {
        for operation in started {
            match timer_delay(&operation) {
                Some(wait) => self.timers.push((self.now.saturating_add(wait), operation.id)),
                None => self.completed.push_back(self.host.reply_to(&operation)),
            }
        }
        self.timers.retain(|(_, id)| !cancelled.contains(id));
        self.completed.retain(|(ended, _)| !cancelled.contains(&ended.id));
    }

    fn wait(&mut self, _: &toolcell::Remaining<'_>) -> WaitResult {
        if !self.completed.is_empty() {
            let (ended, fuel): (Vec<Completion>, Vec<u64>) = self.completed.drain(..).unzip();
            return WaitResult { completions: ended, elapsed: Duration::ZERO, fuel: fuel.iter().sum() };
        }
        // One timer at a time, so that the next callback sees what this one did, as in a browser.
        self.timers.sort_unstable();
        if self.timers.is_empty() {
            return WaitResult::nothing_pending();
        }
        let (due, id) = self.timers.remove(0);
        let took = due.saturating_sub(self.now);
        self.now = due.max(self.now);
        WaitResult { completions: vec![Completion { id, result: Ok(Json::NULL.into()) }], elapsed: took, fuel: 0 }
    }
}

/// Returns the delay of a timer, or `None` for any other call.
fn timer_delay(operation: &HostCall) -> Option<Duration> {
    let HostRequest::Timer(Ok(TimerRequest { ms })) = HostRequest::parse(operation) else { return None };
    Duration::try_from_secs_f64(ms / 1000.0).ok()
}

/// Describes a host call: `fetch GET https://example.com/`.
fn describe_call(operation: &HostCall, request: &Value) -> String {
    let word = |key: &str| request[key].as_str().map(str::to_owned).unwrap_or_default();
    let text = match operation.kind.as_str() {
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
    text.trim_end().to_owned()
}
