//! Kept results: a run passes on what it cannot read.
//!
//! ```text
//! tools.keep, servers.$keep → the result stays here → the cell gets a text that stands for it
//! the text in what a run sends → the result, at the place where it is sent
//! ```
//!
//! The label of a run does not grow by a result that it cannot read (the variables of FIDES: Costa et al., *Securing AI
//! Agents with Information-Flow Control*, 2025, section 4). That of the operation that sends it does, and that of its
//! answer. A failure is kept like a result: that it failed is as private as what it said.
//!
//! Invariant: a text stands for a result in one chain of calls only, and no other party can guess it. A result is put
//! into values that a run sends, never into a name, a path or an address.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use toolcell_flows::Label;
use toolcell_host::{FileAction, HostCall, HostRequest, Json, OperationError, OperationOutput, ParsedHostCall};
use toolcell_tool::ToolName;

use super::RunEnvironment;
use super::error::{error_without_effects, to_output};

/// The beginning of the text that stands for a result; then come 32 hexadecimal digits and `}}`.
const OPENING: &str = "{{kept:";
/// The length of a text that stands for a result.
const TEXT_BYTES: usize = OPENING.len() + 32 + 2;
/// The maximum number of results that a chain of calls keeps.
const MAX_KEPT: usize = 1_000;
/// The maximum size of all results that a chain of calls keeps, in bytes.
const MAX_KEPT_BYTES: usize = 16 << 20;
/// The maximum size of what is sent after results were put into it, in bytes.
const MAX_SENT_BYTES: usize = 32 << 20;

/// The results that a chain of calls keeps.
#[derive(Default)]
pub(super) struct KeptResults(Mutex<KeptState>);

#[derive(Default)]
struct KeptState {
    results: BTreeMap<String, Arc<KeptResult>>,
    bytes: usize,
    /// The text of all that is beyond the limits.
    overflow: Option<String>,
}

/// A result that is kept as JSON text, and where it came from.
struct KeptResult {
    result: Result<Json, OperationError>,
    label: Label,
}

/// An operation into which results were put, and where these came from.
pub(super) struct Filled {
    pub(super) operation: ParsedHostCall,
    pub(super) label: Label,
}

impl KeptResults {
    fn lock(&self) -> MutexGuard<'_, KeptState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the result of an operation, and returns the text that stands for it.
    ///
    /// Whether it is within the limits depends on all that was kept before, so the failure of what is beyond them comes
    /// from all of that, and one text stands for all of it.
    pub(super) fn keep(
        &self,
        result: Result<OperationOutput, OperationError>,
        label: Label,
    ) -> Result<OperationOutput, OperationError> {
        let mut state = self.lock();
        let bytes = result.as_ref().map_or(0, |output| output.json.as_str().len());
        if state.results.len() >= MAX_KEPT || state.bytes.saturating_add(bytes) > MAX_KEPT_BYTES {
            return state.overflow(&label);
        }
        state.bytes += bytes;
        let text = new_text()?;
        state.results.insert(text.clone(), Arc::new(KeptResult { result: result.map(|output| output.json), label }));
        to_output(&text)
    }

    /// Whether nothing is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().results.is_empty()
    }

    fn find(&self, text: &str) -> Option<Arc<KeptResult>> {
        self.lock().results.get(text).cloned()
    }
}

impl KeptResult {
    fn to_value(&self) -> Value {
        self.result.as_ref().ok().and_then(|json| serde_json::from_str(json.as_str()).ok()).unwrap_or_default()
    }
}

impl KeptState {
    /// Returns the text that stands for all that is beyond the limits.
    fn overflow(&mut self, label: &Label) -> Result<OperationOutput, OperationError> {
        let mut all = label.clone();
        for kept in self.results.values() {
            all.join(&kept.label);
        }
        let text = match self.overflow.take() {
            Some(text) => text,
            None => new_text()?,
        };
        let message = format!("a run keeps at most {MAX_KEPT} results of {MAX_KEPT_BYTES} bytes in all");
        let failure = error_without_effects("QuotaExceededError", "operation-invalid", message);
        self.results.insert(text.clone(), Arc::new(KeptResult { result: Err(failure), label: all }));
        self.overflow = Some(text.clone());
        to_output(&text)
    }
}

/// Returns a text that stands for no result yet.
fn new_text() -> Result<String, OperationError> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).map_err(|error| {
        error_without_effects("Error", "operation-failed", format!("there are no random numbers: {error}"))
    })?;
    Ok(format!("{OPENING}{:032x}}}}}", u128::from_le_bytes(random)))
}

/// Puts kept results into texts.
struct Filler<'a> {
    kept: &'a KeptResults,
    label: Label,
    failure: Option<OperationError>,
    /// The bytes that may still be put in.
    left: usize,
}

impl Filler<'_> {
    /// Returns the result for which a text stands as JSON text, and notes where it came from; `None` if it stands for
    /// nothing, or no more is put in.
    fn take(&mut self, text: &str) -> Option<Arc<KeptResult>> {
        let kept = self.kept.find(text)?;
        self.label.join(&kept.label);
        match &kept.result {
            Ok(json) if self.failure.is_none() && self.spend(json.as_str().len()) => Some(kept),
            Ok(_) => None,
            Err(failure) => {
                self.failure.get_or_insert_with(|| failure.clone());
                None
            }
        }
    }

    /// Puts results into all strings of a value. A string that is one text becomes the result itself.
    fn fill_value(&mut self, value: &mut Value) {
        if self.failure.is_some() {
            return;
        }
        match value {
            Value::String(text) if text.len() == TEXT_BYTES && text.starts_with(OPENING) => {
                if let Some(kept) = self.take(text) {
                    *value = kept.to_value();
                }
            }
            Value::String(text) => {
                if let Some(filled) = self.fill_text(text) {
                    *text = filled;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.fill_value(item);
                }
            }
            Value::Object(fields) => {
                for field in fields.values_mut() {
                    self.fill_value(field);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns a text in which kept results replace their handles, as text or as JSON; `None` if it has no handles.
    fn fill_text(&mut self, text: &str) -> Option<String> {
        let mut filled = String::new();
        let (mut rest, mut found) = (text, false);
        while let Some(at) = rest.find(OPENING) {
            let (before, after) = rest.split_at(at);
            filled.push_str(before);
            let standing = after.get(..TEXT_BYTES).and_then(|standing| Some((standing, self.take(standing)?)));
            let Some((standing, kept)) = standing else {
                filled.push_str(OPENING);
                rest = &after[OPENING.len()..];
                continue;
            };
            found = true;
            match kept.to_value() {
                Value::String(text) => filled.push_str(&text),
                other => filled.push_str(&other.to_string()),
            }
            rest = &after[standing.len()..];
        }
        filled.push_str(rest);
        found.then_some(filled)
    }

    /// Returns bytes with results put in. In JSON they are put into its strings, so that what they say cannot become
    /// fields; elsewhere they are put in as they are.
    fn fill_bytes(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(&bytes) else { return bytes };
        if let Ok(mut json @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
            self.fill_value(&mut json);
            return json.to_string().into_bytes();
        }
        self.fill_text(text).map_or(bytes, String::into_bytes)
    }

    /// Takes bytes from what may be put in; returns whether there were enough.
    fn spend(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                let message = format!("with kept results, more than {MAX_SENT_BYTES} bytes would be sent");
                let failure = || error_without_effects("QuotaExceededError", "operation-invalid", message);
                self.failure.get_or_insert_with(failure);
                false
            }
        }
    }

    /// Puts results into a field of a payload.
    fn fill_field(&mut self, payload: &mut Value, field: &str) {
        if let Some(value) = payload.get_mut(field) {
            self.fill_value(value);
        }
    }
}

impl RunEnvironment<'_> {
    /// Whether the result of an operation stays with the host.
    pub(super) fn is_kept(request: &HostRequest) -> bool {
        match request {
            HostRequest::ToolCall(Ok(request)) => request.keep,
            HostRequest::ServerCall(Ok(request)) => request.keep,
            _ => false,
        }
    }

    /// Puts kept results into what an operation sends.
    ///
    /// # Errors
    /// The failure that is kept in place of a result, and where it came from.
    pub(super) fn fill_kept(&self, operation: ParsedHostCall) -> Result<Filled, (OperationError, Label)> {
        let unchanged = |operation| Ok(Filled { operation, label: Label::default() });
        let sent = operation.as_sent();
        let mentions = |bytes: &[u8]| bytes.windows(OPENING.len()).any(|window| window == OPENING.as_bytes());
        if self.kept.is_empty() || !mentions(sent.payload.as_bytes()) && !sent.bytes.as_deref().is_some_and(mentions) {
            return unchanged(operation);
        }
        let mut filler = Filler { kept: &self.kept, label: Label::default(), failure: None, left: MAX_SENT_BYTES };
        let HostCall { id, kind, payload, bytes } = sent.clone();
        let Ok(mut payload) = serde_json::from_str::<Value>(&payload) else { return unchanged(operation) };
        let mut bytes = bytes;
        match operation.request() {
            HostRequest::ServerCall(Ok(_)) => filler.fill_field(&mut payload, "input"),
            // A stored tool passes the text on, or keeps it.
            HostRequest::ToolCall(Ok(request))
                if ToolName::parse(&request.name).is_ok_and(|name| self.function(&name).is_some()) =>
            {
                filler.fill_field(&mut payload, "params");
            }
            HostRequest::KvCommit(Ok(_)) => {
                for write in payload.get_mut("writes").and_then(Value::as_array_mut).into_iter().flatten() {
                    filler.fill_field(write, "value");
                }
            }
            HostRequest::Fetch(Ok(_)) | HostRequest::File(FileAction::Write, Ok(_)) => {
                bytes = bytes.map(|bytes| filler.fill_bytes(bytes));
            }
            _ => return unchanged(operation),
        }
        let Filler { label, failure, .. } = filler;
        if let Some(failure) = failure {
            return Err((failure, label));
        }
        let operation = HostCall { id, kind, payload: payload.to_string(), bytes };
        Ok(Filled { operation: operation.into(), label })
    }
}
