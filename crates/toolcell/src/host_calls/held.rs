//! Held effects: a run's side effects are held in a plan until an approver decides about them.
//!
//! ```text
//! effects held together → content hash of each → plan hash over all effects so far → digests
//! ```
//!
//! Invariant: exactly those held effects are performed that were approved; for the others the tool
//! gets an error that states that nothing happened. A digest identifies one operation at one
//! position of one plan: of one tool with these parameters, after the same operations, and beside
//! the same ones.

use std::sync::{Mutex, MutexGuard, PoisonError};

use blake3::Hash;
use serde::{Deserialize, Serialize};
use toolcell_host::{FetchRequest, FileAction, HostCall, HostRequest};
use toolcell_tool::ToolId;

use super::effects::parse_details;
use super::error::error_without_effects;
use super::pending::PlanPosition;
use crate::admission::hook::HeldBody;

/// The maximum length of the description shown to the approver, in characters.
const MAX_ABOUT_CHARS: usize = 400;

/// A side effect of a tool that awaits a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldEffect {
    /// The name of the tool.
    pub tool: String,
    /// The identifier of the tool.
    pub id: ToolId,
    /// The position in the plan of the run, from 1. Effects that are held together are ordered by
    /// content, so the order in which they were requested does not matter.
    pub position: u32,
    /// The kind of the effect, such as `fetch`.
    pub kind: String,
    /// The target: `POST https://api.example.com/v1/items?dry=1`, a key (`delete note` if it is
    /// deleted), a path. A truncation is marked.
    pub about: String,
    /// The details as JSON text, such as the headers of a request or the values of pairs.
    pub details: String,
    /// The number of bytes of the [`body`](Self::body).
    pub bytes: u64,
    /// The data that the effect carries in full, such as the body of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<HeldBody>,
    /// Where the data came from that the effect may depend on, if the policy has rules about flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// The digest that identifies the effect: a hash over the tool, the operation and the plan so
    /// far, 64 hexadecimal digits. A run with the same plan has the same digests.
    pub digest: String,
}

/// The decision about a held effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectDecision {
    /// The effect is performed.
    Perform,
    /// The effect is not performed.
    Refuse,
    /// The decision is deferred. A run that may be suspended
    /// ([`Toolbox::run_suspendable`](crate::Toolbox::run_suspendable)) is suspended until then; for
    /// other runs the effect is not performed.
    Defer,
}

/// Decides which of a tool's side effects are performed.
pub trait EffectApprover: Send + Sync {
    /// Returns the decision for each effect, in the same order. Effects without a decision are not
    /// performed.
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision>;
}

/// An approver that defers every effect.
pub(crate) struct DeferAll;

impl EffectApprover for DeferAll {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        vec![EffectDecision::Defer; held.len()]
    }
}

/// The plan of a run and the tools it calls so far: a hash chain over the held effects.
#[derive(Debug)]
pub(crate) struct PlanChain(Mutex<ChainHead>);

/// The head of a [`PlanChain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChainHead {
    /// The number of effects in the chain.
    count: u32,
    /// The hash over the tool, its parameters and all effects of the chain.
    hash: [u8; 32],
}

impl PlanChain {
    /// Creates the plan of a call, before any effect is held.
    pub(crate) fn new(tool: ToolId, params: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 plan of a call");
        hasher.update(tool.as_bytes()).update(params.as_bytes());
        Self::from_head(ChainHead { count: 0, hash: *hasher.finalize().as_bytes() })
    }

    /// Creates a plan that continues from this head.
    pub(crate) fn from_head(links: ChainHead) -> Self {
        Self(Mutex::new(links))
    }

    /// Returns the head of the chain.
    pub(crate) fn head(&self) -> ChainHead {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, ChainHead> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends effects that are held together. Returns their positions, in the same order as the
    /// effects.
    pub(super) fn extend(&self, tool: ToolId, operations: &[&HostCall]) -> Vec<PlanPosition> {
        let mut links = self.lock();
        let contents: Vec<Hash> = operations.iter().map(|operation| content_hash(tool, operation)).collect();
        let mut order: Vec<usize> = (0..operations.len()).collect();
        order.sort_by_key(|at| *contents[*at].as_bytes());
        let mut plan = blake3::Hasher::new_derive_key("toolcell 2026-11 plan");
        plan.update(&links.hash);
        for at in &order {
            plan.update(contents[*at].as_bytes());
        }
        let plan = plan.finalize();
        let mut places = vec![PlanPosition { position: 0, digest: [0; 32] }; operations.len()];
        for (position, at) in (links.count + 1..).zip(order) {
            let mut line = blake3::Hasher::new_derive_key("toolcell 2026-11 line of a plan");
            line.update(plan.as_bytes()).update(&position.to_le_bytes()).update(contents[at].as_bytes());
            places[at] = PlanPosition { position, digest: *line.finalize().as_bytes() };
        }
        let held = u32::try_from(operations.len()).unwrap_or(u32::MAX);
        *links = ChainHead { count: links.count.saturating_add(held), hash: *plan.as_bytes() };
        places
    }
}

/// Returns the hash of an operation of a tool.
fn content_hash(tool: ToolId, operation: &HostCall) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 held operation of a tool");
    let bytes = operation.bytes.as_deref().unwrap_or_default();
    for part in [tool.as_bytes().as_slice(), operation.kind.as_bytes(), operation.payload.as_bytes(), bytes] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize()
}

impl HeldEffect {
    pub(crate) fn new(place: PlanPosition, (id, name): (ToolId, &str), operation: &HostCall) -> Self {
        let bytes = operation.bytes.as_deref();
        Self {
            tool: name.to_owned(),
            id,
            position: place.position,
            kind: operation.kind.clone(),
            about: describe_for_approval(operation),
            details: operation.payload.clone(),
            bytes: bytes.map_or(0, |bytes| bytes.len() as u64),
            body: bytes.map(HeldBody::from_bytes),
            from: Vec::new(),
            digest: Hash::from_bytes(place.digest).to_hex().to_string(),
        }
    }
}

/// Describes the target of an operation for an approver: the whole URL, all keys, or a marked
/// excerpt if that is too long.
fn describe_for_approval(operation: &HostCall) -> String {
    let whole = parse_details(operation).into_line();
    let all = whole.chars().count();
    if all <= MAX_ABOUT_CHARS {
        return whole;
    }
    let start: String = whole.chars().take(MAX_ABOUT_CHARS).collect();
    format!("{start}… ({MAX_ABOUT_CHARS} of {all} characters shown)")
}

/// Whether an operation has side effects. A call of a tool is not one: the effects of the called
/// tool are held by themselves.
pub(super) fn has_side_effects(request: &HostRequest) -> bool {
    match request {
        HostRequest::Fetch(request) => !request.as_ref().is_ok_and(has_safe_method),
        // What the definition of a server's tool says is not known here.
        HostRequest::ServerCall(_)
        | HostRequest::KvCommit(_)
        | HostRequest::File(FileAction::Write | FileAction::Remove | FileAction::MakeFolder, _) => true,
        HostRequest::Timer(_)
        | HostRequest::FetchRead(_)
        | HostRequest::KvGet(_)
        | HostRequest::KvList(_)
        | HostRequest::File(FileAction::Read | FileAction::List | FileAction::Stat, _)
        | HostRequest::ToolCall(_)
        | HostRequest::ServerSearch(_)
        | HostRequest::ServerDescribe(_)
        | HostRequest::Unknown(_) => false,
    }
}

/// Whether the method of a request is safe, that is, changes nothing (RFC 9110, section 9.2.1).
fn has_safe_method(request: &FetchRequest) -> bool {
    matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS")
}

/// Returns the error for an effect that was not approved.
pub(super) fn not_approved_error(held: &HeldEffect) -> toolcell_host::OperationError {
    let message = format!("{} {} was held by the plan of this run and not approved", held.kind, held.about);
    error_without_effects("NotAllowedError", "effect-not-approved", message)
}

#[cfg(test)]
mod tests;
