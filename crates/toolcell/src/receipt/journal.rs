//! Notes what a host answers a tool, while it does.
//!
//! Invariant: what the tool sees is the same whether somebody notes it or not.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolcell_host::{
    Ended, Grant, Json, Left, Operation, OperationAnswer, OperationFailure, Operations, OperationsOfCall, Waited,
};

use super::form::{Answer, Begun, Journal, Settled, Wait};

/// How much of it is noted, in bytes. What a tool reads is kept in memory until its run has ended.
pub(super) const LIMIT: usize = 64 << 20;
/// What noting an operation takes besides its answer, about.
const EACH: usize = 256;
/// The journal is left out because there is more.
const TOO_LARGE: &str = "receipt-too-large";

/// Operations that are noted.
pub(super) struct Recorder<'a> {
    operations: &'a dyn Operations,
    noted: Mutex<Noted>,
    limit: usize,
}

#[derive(Default)]
struct Noted {
    waits: Vec<Wait>,
    bytes: usize,
}

impl<'a> Recorder<'a> {
    /// With so much room, in bytes.
    pub(super) fn new(operations: &'a dyn Operations, limit: usize) -> Self {
        Self { operations, noted: Mutex::default(), limit }
    }

    /// What was noted so far.
    pub(super) fn taken(&self) -> Journal {
        let noted = std::mem::take(&mut *self.noted());
        if noted.bytes > self.limit { Journal::Missing(TOO_LARGE.to_owned()) } else { Journal::Waits(noted.waits) }
    }

    fn note(&self, wait: Wait, ended: &[Ended]) {
        let mut noted = self.noted();
        let operations = wait.started.len() + wait.cancelled.len() + 1;
        noted.bytes = noted.bytes.saturating_add(operations * EACH + ended.iter().map(size).sum::<usize>());
        if noted.bytes > self.limit {
            noted.waits = Vec::new();
        } else {
            noted.waits.push(Wait { ended: ended.iter().map(Settled::from).collect(), ..wait });
        }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Operations for Recorder<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.operations.grants()
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(Recording { recorder: self, operations: self.operations.start(), wait: Wait::default() })
    }
}

/// The operations of one call.
struct Recording<'a> {
    recorder: &'a Recorder<'a>,
    operations: Box<dyn OperationsOfCall + 'a>,
    /// What was asked for since the last wait.
    wait: Wait,
}

impl OperationsOfCall for Recording<'_> {
    fn begin(&mut self, started: Vec<Operation>, cancelled: &[u32]) {
        self.wait.started.extend(started.iter().map(Begun::from));
        self.wait.cancelled.extend(cancelled);
        self.operations.begin(started, cancelled);
    }

    fn wait(&mut self, left: &Left<'_>) -> Waited {
        let waited = self.operations.wait(left);
        let took = u64::try_from(waited.took.as_nanos()).unwrap_or(u64::MAX);
        let wait = Wait { took, fuel: waited.fuel, ..std::mem::take(&mut self.wait) };
        self.recorder.note(wait, &waited.ended);
        waited
    }
}

/// How many bytes of an end are kept.
fn size(ended: &Ended) -> usize {
    EACH + match &ended.result {
        Ok(answer) => answer.json.as_str().len() + answer.bytes.as_ref().map_or(0, Vec::len),
        Err(failure) => failure.name.len() + failure.message.len() + failure.code.len(),
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl From<&Operation> for Begun {
    fn from(operation: &Operation) -> Self {
        Self {
            id: operation.id,
            kind: operation.kind.clone(),
            payload: hash(operation.payload.as_bytes()),
            bytes: operation.bytes.as_deref().map(hash),
        }
    }
}

impl From<&Ended> for Settled {
    fn from(ended: &Ended) -> Self {
        let result = match &ended.result {
            Ok(OperationAnswer { json, bytes }) => Answer::Value { json: json.to_string(), bytes: bytes.clone() },
            Err(OperationFailure { name, message, code, effects }) => Answer::Failure {
                name: name.clone(),
                message: message.clone(),
                code: code.to_string(),
                effects: *effects,
            },
        };
        Self { id: ended.id, result }
    }
}

impl Settled {
    /// What was given back; nothing where it is no JSON.
    fn ended(&self) -> Option<Ended> {
        let result = match &self.result {
            Answer::Value { json, bytes } => {
                Ok(OperationAnswer { json: Json::parse(json.clone()).ok()?, bytes: bytes.clone() })
            }
            Answer::Failure { name, message, code, effects } => Err(OperationFailure {
                name: name.clone(),
                message: message.clone(),
                code: code.clone().into(),
                effects: *effects,
            }),
        };
        Some(Ended { id: self.id, result })
    }
}

impl Wait {
    /// What the host gave back then; nothing where an answer is no JSON.
    pub(super) fn waited(&self) -> Option<Waited> {
        let ended = self.ended.iter().map(Settled::ended).collect::<Option<_>>()?;
        Some(Waited { ended, took: Duration::from_nanos(self.took), fuel: self.fuel })
    }
}
