//! Plans: what would change the world is held, and happens if somebody says so.
//!
//! ```text
//! operations that are held together → each with its content's hash → the plan's hash, over all before and all of these → digests
//! ```
//!
//! Invariant: of what is held, exactly that happens which was chosen; the tool is told of the rest that nothing happened. A digest
//! stands for one operation at one place of one plan: of one tool, called with these parameters, after the same operations, and
//! beside the same ones.

use std::sync::{Mutex, MutexGuard, PoisonError};

use blake3::Hash;
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use toolcell_host::Operation;
use toolcell_tool::ToolId;

use super::done::named_in;
use super::failure::nothing_done;
use super::fetch;

/// The most characters that are shown of what an operation is about.
const MAX_ABOUT_CHARS: usize = 400;

/// Something that a tool wants to do, and that nobody has decided about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    /// The name of the tool.
    pub tool: String,
    /// The tool.
    pub id: ToolId,
    /// Its place in the plan of the run, from 1. Operations that are held together have their places by content, so that the order in
    /// which they came does not matter.
    pub position: u32,
    /// What it is, such as `fetch`.
    pub kind: String,
    /// What it is about: `POST https://api.example.com/v1/items?dry=1`, the key of a pair, a path. What is cut has a mark.
    pub about: String,
    /// The details, as JSON text: headers of a request, values of pairs.
    pub details: String,
    /// How many bytes go along, of which [`body`](Self::body) has all.
    pub bytes: u64,
    /// The bytes that go along, such as the body of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<HeldBody>,
    /// What it is told from others by: a hash over the tool, the operation and the plan until then, 64 hexadecimal digits. A run that
    /// comes to the same plan has the same ones.
    pub digest: String,
}

/// Bytes that go along with an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HeldBody {
    /// UTF-8.
    Text(String),
    /// What is not UTF-8, in base64.
    Base64(String),
}

impl HeldBody {
    fn of(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).map(str::to_owned);
        text.map_or_else(|_| Self::Base64(BASE64.encode(bytes)), Self::Text)
    }

    /// The text, or the base64 of what is no text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Base64(text) => text,
        }
    }
}

/// What becomes of something that a tool wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It happens.
    Do,
    /// It does not.
    Refuse,
    /// Somebody decides later. A run that may sleep ([`Toolbox::run_or_sleep`](crate::Toolbox::run_or_sleep)) sleeps until then; for
    /// others it does not happen.
    Later,
}

/// Decides what of the things that a tool wants to do happens.
pub trait Planner: Send + Sync {
    /// What becomes of each of these, in the same order. What nothing is said of does not happen.
    fn choose(&self, held: &[Held]) -> Vec<Choice>;
}

/// Decides nothing.
pub(crate) struct Nobody;

impl Planner for Nobody {
    fn choose(&self, held: &[Held]) -> Vec<Choice> {
        vec![Choice::Later; held.len()]
    }
}

/// The plan of a run and of the tools that it calls, so far: a hash chain over what was held.
#[derive(Debug)]
pub(crate) struct PlanChain(Mutex<Links>);

/// How far a [`PlanChain`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Links {
    /// How many operations were held.
    count: u32,
    /// The hash over the tool, its parameters and all of them.
    hash: [u8; 32],
}

/// The place of an operation in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    position: u32,
    digest: [u8; 32],
}

impl PlanChain {
    /// The plan of a tool that is called with these parameters, before anything is held.
    pub(crate) fn begin(tool: ToolId, params: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 plan of a call");
        hasher.update(tool.as_bytes()).update(params.as_bytes());
        Self::at(Links { count: 0, hash: *hasher.finalize().as_bytes() })
    }

    /// A plan that goes on from here.
    pub(crate) fn at(links: Links) -> Self {
        Self(Mutex::new(links))
    }

    /// How far it is.
    pub(crate) fn links(&self) -> Links {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Links> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives operations that are held together their places, in the same order.
    pub(super) fn extend(&self, tool: ToolId, operations: &[&Operation]) -> Vec<Place> {
        let mut links = self.lock();
        let contents: Vec<Hash> = operations.iter().map(|operation| content(tool, operation)).collect();
        let mut order: Vec<usize> = (0..operations.len()).collect();
        order.sort_by_key(|at| *contents[*at].as_bytes());
        let mut plan = blake3::Hasher::new_derive_key("toolcell 2026-11 plan");
        plan.update(&links.hash);
        for at in &order {
            plan.update(contents[*at].as_bytes());
        }
        let plan = plan.finalize();
        let mut places = vec![Place { position: 0, digest: [0; 32] }; operations.len()];
        for (position, at) in (links.count + 1..).zip(order) {
            let mut line = blake3::Hasher::new_derive_key("toolcell 2026-11 line of a plan");
            line.update(plan.as_bytes()).update(&position.to_le_bytes()).update(contents[at].as_bytes());
            places[at] = Place { position, digest: *line.finalize().as_bytes() };
        }
        let held = u32::try_from(operations.len()).unwrap_or(u32::MAX);
        *links = Links { count: links.count.saturating_add(held), hash: *plan.as_bytes() };
        places
    }
}

/// The hash of an operation of a tool.
fn content(tool: ToolId, operation: &Operation) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 held operation of a tool");
    let bytes = operation.bytes.as_deref().unwrap_or_default();
    for part in [tool.as_bytes().as_slice(), operation.kind.as_bytes(), operation.payload.as_bytes(), bytes] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize()
}

impl Held {
    pub(crate) fn at(place: Place, (id, name): (ToolId, &str), operation: &Operation) -> Self {
        let bytes = operation.bytes.as_deref();
        Self {
            tool: name.to_owned(),
            id,
            position: place.position,
            kind: operation.kind.clone(),
            about: about(operation),
            details: operation.payload.clone(),
            bytes: bytes.map_or(0, |bytes| bytes.len() as u64),
            body: bytes.map(HeldBody::of),
            digest: Hash::from_bytes(place.digest).to_hex().to_string(),
        }
    }
}

/// What an operation is about, for somebody who decides about it: the whole URL, all keys, or a mark where that is too long.
fn about(operation: &Operation) -> String {
    let whole = named_in(operation).whole();
    let all = whole.chars().count();
    if all <= MAX_ABOUT_CHARS {
        return whole;
    }
    let start: String = whole.chars().take(MAX_ABOUT_CHARS).collect();
    format!("{start}… ({MAX_ABOUT_CHARS} of {all} characters shown)")
}

/// Whether an operation changes the world. Tools that are called are asked by themselves.
pub(super) fn changes(operation: &Operation) -> bool {
    match operation.kind.as_str() {
        "fetch" => !fetch::only_reads(operation),
        "kv.commit" | "files.write" | "files.remove" | "files.mkdir" => true,
        _ => false,
    }
}

/// What the tool is told of something that was not chosen.
pub(super) fn not_chosen(held: &Held) -> toolcell_host::OperationFailure {
    let message = format!("{} {} was held by the plan of this run, and not approved", held.kind, held.about);
    nothing_done("NotAllowedError", "effect-not-approved", message)
}

#[cfg(test)]
mod tests;
