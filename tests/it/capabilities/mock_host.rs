//! A mock host that answers host calls as a test specifies, and records them.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use toolcell_host::{
    Completion, Effects, Grant, HostCall, HostCallDriver, HostCalls, Json, OperationError, OperationOutput, Remaining,
    WaitResult,
};

use crate::fixtures::sandbox::{SandboxFixture, returned};

/// The result of a host call.
pub(super) type MockResult = Result<OperationOutput, OperationError>;

/// A mock host with fixed grants and an answer function.
pub(super) struct MockHostCalls<'a> {
    grants: Vec<Grant>,
    answer: &'a (dyn Fn(&HostCall) -> Option<MockResult> + Sync),
    asked: Mutex<Vec<String>>,
}

impl<'a> MockHostCalls<'a> {
    /// Creates a host. Calls for which `answer` returns `None` never complete.
    pub(super) fn new(grants: &[Grant], answer: &'a (dyn Fn(&HostCall) -> Option<MockResult> + Sync)) -> Self {
        Self { grants: grants.to_vec(), answer, asked: Mutex::default() }
    }

    /// Runs a script and returns its result.
    pub(super) fn returns(&self, script: &str) -> String {
        returned(&SandboxFixture::new().script(script).operations(self).run_text("{}"))
    }

    /// Runs the body of an asynchronous function and returns its result.
    pub(super) fn returns_body(&self, body: &str) -> String {
        self.returns(&format!("async function execute() {{ {body} }}"))
    }

    /// Takes the recorded calls, one line each; a cancellation is recorded as `-NUMBER`.
    pub(super) fn requested(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl HostCalls for MockHostCalls<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.grants.clone()
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(MockDriver { telling: self, waiting: Vec::new() })
    }
}

struct MockDriver<'a> {
    telling: &'a MockHostCalls<'a>,
    waiting: Vec<HostCall>,
}

impl HostCallDriver for MockDriver<'_> {
    fn submit(&mut self, started: Vec<HostCall>, cancelled: &[u32]) {
        let mut asked = self.telling.asked.lock().unwrap();
        for operation in &started {
            let bytes = operation.bytes.as_deref().map(|bytes| format!(" {}", String::from_utf8_lossy(bytes)));
            asked.push(format!("{} {}{}", operation.kind, operation.payload, bytes.unwrap_or_default()));
        }
        asked.extend(cancelled.iter().map(|id| format!("-{id}")));
        self.waiting.extend(started);
        self.waiting.retain(|operation| !cancelled.contains(&operation.id));
    }

    fn wait(&mut self, _: &Remaining<'_>) -> WaitResult {
        let answer = |operation: &HostCall| {
            (self.telling.answer)(operation).map(|result| Completion { id: operation.id, result })
        };
        let ended: Vec<Completion> = self.waiting.iter().filter_map(answer).collect();
        self.waiting.retain(|operation| ended.iter().all(|ended| ended.id != operation.id));
        // No time passes, so timers are due only if a host call completes.
        WaitResult { elapsed: Duration::ZERO, ..WaitResult::since(Instant::now(), ended) }
    }
}

/// Answers with this JSON.
pub(super) fn json(text: &str) -> MockResult {
    Ok(Json::parse(text.to_owned()).unwrap().into())
}

/// Answers with this JSON and these bytes.
pub(super) fn piece(text: &str, bytes: &[u8]) -> MockResult {
    Ok(OperationOutput { json: Json::parse(text.to_owned()).unwrap(), bytes: Some(bytes.to_vec()) })
}

/// Fails with an error of this name.
pub(super) fn failure(name: &str, effects: Effects) -> MockResult {
    let (name, message) = (name.to_owned(), "it did not work out".to_owned());
    Err(OperationError { name, message, code: "out-of-order".into(), effects })
}
