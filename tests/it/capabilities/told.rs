//! A host that answers as a test tells it, and keeps what it was asked.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use toolcell_host::{
    Effects, Ended, Grant, Json, Left, Operation, OperationAnswer, OperationFailure, Operations, OperationsOfCall,
    Waited,
};

use crate::world::{World, returned};

/// What an operation comes to.
pub(super) type Told = Result<OperationAnswer, OperationFailure>;

/// Grants what it was told to grant, and answers what it was told to answer.
pub(super) struct Telling<'a> {
    grants: Vec<Grant>,
    answer: &'a (dyn Fn(&Operation) -> Option<Told> + Sync),
    asked: Mutex<Vec<String>>,
}

impl<'a> Telling<'a> {
    /// Operations of which `answer` tells the answer; those without one never end.
    pub(super) fn new(grants: &[Grant], answer: &'a (dyn Fn(&Operation) -> Option<Told> + Sync)) -> Self {
        Self { grants: grants.to_vec(), answer, asked: Mutex::default() }
    }

    /// What a script returns with these operations.
    pub(super) fn returns(&self, script: &str) -> String {
        returned(&World::new().script(script).operations(self).run_text("{}"))
    }

    /// What the body of an asynchronous function returns with these operations.
    pub(super) fn gives(&self, body: &str) -> String {
        self.returns(&format!("async function execute() {{ {body} }}"))
    }

    /// A line for each operation that was started, cancelled operations as `-NUMBER`; none is told twice.
    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Operations for Telling<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.grants.clone()
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(Answering { telling: self, waiting: Vec::new() })
    }
}

struct Answering<'a> {
    telling: &'a Telling<'a>,
    waiting: Vec<Operation>,
}

impl OperationsOfCall for Answering<'_> {
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]) {
        let mut asked = self.telling.asked.lock().unwrap();
        for operation in &started {
            let bytes = operation.bytes.as_deref().map(|bytes| format!(" {}", String::from_utf8_lossy(bytes)));
            asked.push(format!("{} {}{}", operation.kind, operation.payload, bytes.unwrap_or_default()));
        }
        asked.extend(cancelled.iter().map(|id| format!("-{id}")));
        self.waiting.extend(started);
        self.waiting.retain(|operation| !cancelled.contains(&operation.id));
    }

    fn wait(&mut self, _: &Left<'_>) -> Waited {
        let answer =
            |operation: &Operation| (self.telling.answer)(operation).map(|result| Ended { id: operation.id, result });
        let ended: Vec<Ended> = self.waiting.iter().filter_map(answer).collect();
        self.waiting.retain(|operation| ended.iter().all(|ended| ended.id != operation.id));
        // Time passes as slowly as it can, so that what is due is due by an operation that says so.
        Waited { took: Duration::ZERO, ..Waited::since(Instant::now(), ended) }
    }
}

/// An answer of this JSON.
pub(super) fn json(text: &str) -> Told {
    Ok(Json::parse(text.to_owned()).unwrap().into())
}

/// An answer of this JSON with these bytes.
pub(super) fn piece(text: &str, bytes: &[u8]) -> Told {
    Ok(OperationAnswer { json: Json::parse(text.to_owned()).unwrap(), bytes: Some(bytes.to_vec()) })
}

/// A failure of this name.
pub(super) fn failure(name: &str, effects: Effects) -> Told {
    let (name, message) = (name.to_owned(), "it did not work out".to_owned());
    Err(OperationFailure { name, message, code: "out-of-order".into(), effects })
}
