//! Suspended runs: a waiting run is saved to the store, encrypted, and loaded again.
//!
//! ```text
//! suspend: effects and functions are pending → memory and calls → compress → encrypt → store
//! ```
//!
//! Invariant: a suspended run is bound to its tool, its caller, its grants, its parameters and its
//! plan. A row that was modified is not loaded.

mod callbacks;
mod encryption;
mod error;
mod types;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_host::{ENGINE_VERSION, GUEST_DIGEST, Params, ResumeError, SuspendedCall};
use toolcell_i18n::message;
use toolcell_store::{Fault, RunId, Store, SuspendedKeys, SuspendedRow};

pub use error::RunSuspendError;
pub use types::{CallbackTicket, ResumeRequest, SuspendedRun, SuspendedRunDetails, SuspendedRunInfo};

pub(crate) use callbacks::deliver_answers;

use super::start::AdmittedRun;
use crate::host_calls::{ChainHead, HeldEffect, PendingHostCalls, PlanPosition};

/// The plain-text data that a suspended run is bound to, in its store row.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunBinding {
    pub(crate) name: String,
    pub(crate) grants: Value,
    guest: String,
    engine: String,
    /// The plan so far; `None` for runs that an earlier version suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<PlanBinding>,
    /// Where the data came from that the run was handed; `None` if the policy had no rules about flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sources: Option<Vec<String>>,
}

/// The plan of a suspended run.
#[derive(Serialize, Deserialize)]
pub(crate) struct PlanBinding {
    pub(crate) links: ChainHead,
    /// The places of the held effects, in the same order.
    pub(crate) places: Vec<PlanPosition>,
}

/// A suspended run, decrypted.
pub(crate) struct OpenedRun {
    pub(crate) row: SuspendedRow,
    pub(crate) binding: RunBinding,
    pub(crate) state: SuspendedState,
    pub(crate) params: Params,
}

/// The encrypted state of a suspended run.
#[derive(Serialize, Deserialize)]
pub(crate) struct SuspendedState {
    /// The serialized call: memory and engine state.
    pub(crate) call: ByteString,
    pub(crate) pending: PendingHostCalls,
    pub(crate) params: String,
    pub(crate) call_id: String,
    /// The seed that was drawn for the run.
    pub(crate) random: Option<u64>,
    /// Whether its effects are held for approval.
    pub(crate) planned: bool,
}

/// A byte string, serialized as bytes instead of a sequence.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ByteString(#[serde(with = "serde_bytes")] pub(crate) Vec<u8>);

/// Encrypts suspended runs for another store, unread.
pub(crate) const KEYS: SuspendedKeys<'static> =
    SuspendedKeys { purpose: encryption::KEY_PURPOSE, reencrypt: &encryption::reencrypt };

/// Loads and decrypts a suspended run, and checks its integrity.
pub(crate) fn open(store: &Store, run: &str) -> Result<OpenedRun, RunSuspendError> {
    let not_suspended = || RunSuspendError::NotSuspended { run: run.chars().take(64).collect() };
    let id: RunId = run.parse().map_err(|_| not_suspended())?;
    let row = store.suspended().find(id)?.ok_or_else(not_suspended)?;
    let damaged = || RunSuspendError::Damaged { run: row.run };
    let opened = encryption::decrypt(&store.derive_key(encryption::KEY_PURPOSE)?, &row).ok_or_else(damaged)?;
    let bound: RunBinding = serde_json::from_str(&row.binding).map_err(|_| damaged())?;
    if (&*bound.guest, &*bound.engine) != (GUEST_DIGEST, ENGINE_VERSION) {
        let (guest, engine) = (bound.guest, bound.engine);
        return Err(RunSuspendError::Resume(ResumeError::GuestMismatch { guest, engine }));
    }
    let kept: SuspendedState = postcard::from_bytes(&opened).map_err(|_| damaged())?;
    let params = Params::parse(kept.params.as_str()).map_err(|_| damaged())?;
    Ok(OpenedRun { row, binding: bound, state: kept, params })
}

/// Encrypts and saves a suspended run.
pub(crate) fn save(
    store: &Store,
    run: RunId,
    admitted: &AdmittedRun<'_>,
    suspended: &SuspendedCall,
) -> Result<SuspendedRun, RunSuspendError> {
    let AdmittedRun { entry, permit, environment: given, options, .. } = admitted;
    let pending = std::mem::take(&mut *given.pending());
    let tool = (entry.id, entry.name.as_str());
    let placed = pending.places.iter().zip(&pending.held);
    let held: Vec<HeldEffect> = placed.map(|(place, operation)| HeldEffect::new(*place, tool, operation)).collect();
    let held = given.with_sources(held);
    let plan = given.plan.as_ref().map(|plan| PlanBinding { links: plan.head(), places: pending.places.clone() });
    let tickets =
        pending.tickets.iter().map(|one| CallbackTicket { function: one.function.clone(), ticket: one.ticket.clone() });
    let tickets = tickets.collect();
    let kept = SuspendedState {
        call: ByteString(suspended.to_bytes()),
        pending,
        params: permit.args().params().as_str().to_owned(),
        call_id: given.call_id.clone(),
        random: admitted.drawn_seed,
        planned: options.effect_approver.is_some(),
    };
    let bound = RunBinding {
        name: entry.name.to_string(),
        grants: permit.grants().to_value(),
        guest: GUEST_DIGEST.to_owned(),
        engine: ENGINE_VERSION.to_owned(),
        plan,
        sources: given.flow_label().map(|label| label.to_texts()),
    };
    let unwritten =
        |error: &dyn std::fmt::Display| RunSuspendError::Encrypt(message!("it cannot be serialized: {error}", error));
    let content = postcard::to_allocvec(&kept).map_err(|error| unwritten(&error))?;
    let bound = serde_json::to_string(&bound).map_err(|error| unwritten(&error))?;
    let (caller, at) = (options.caller.clone(), (admitted.clock)());
    let mut row = SuspendedRow { run, tool: entry.id, caller, suspended_at: at, binding: bound, blob: Vec::new() };
    row.blob = encryption::encrypt(&store.derive_key(encryption::KEY_PURPOSE)?, &row, &content)?;
    store.suspended().save(&row)?;
    let (name, bytes) = (entry.name.clone(), row.blob.len() as u64);
    Ok(SuspendedRun { run, tool: entry.id, name, held, tickets, bytes, record: None })
}

/// Returns what a suspended run waits for.
pub(crate) fn details(store: &Store, run: &str) -> Result<SuspendedRunDetails, RunSuspendError> {
    let OpenedRun { row, binding, state, params } = open(store, run)?;
    let tool = (row.tool, binding.name.as_str());
    let places = binding.plan.map(|plan| plan.places).unwrap_or_default();
    let mut held: Vec<HeldEffect> =
        places.iter().zip(&state.pending.held).map(|(place, call)| HeldEffect::new(*place, tool, call)).collect();
    for effect in &mut held {
        effect.from = binding.sources.clone().unwrap_or_default();
    }
    let tickets = state.pending.tickets;
    let tickets =
        tickets.into_iter().map(|one| CallbackTicket { function: one.function, ticket: one.ticket }).collect();
    let bytes = row.blob.len() as u64;
    let info = SuspendedRunInfo {
        run: row.run,
        tool: row.tool,
        name: binding.name,
        caller: row.caller,
        since: row.suspended_at,
        bytes,
    };
    Ok(SuspendedRunDetails { info, params: params.as_str().to_owned(), held, tickets })
}

/// Returns all suspended runs of a store, the oldest first.
pub(crate) fn list(store: &Store) -> Result<Vec<SuspendedRunInfo>, Fault> {
    let info = |row: SuspendedRow| {
        let bound: Option<RunBinding> = serde_json::from_str(&row.binding).ok();
        let (name, bytes) = (bound.map(|bound| bound.name).unwrap_or_default(), row.blob.len() as u64);
        SuspendedRunInfo { run: row.run, tool: row.tool, name, caller: row.caller, since: row.suspended_at, bytes }
    };
    Ok(store.suspended().all()?.into_iter().map(info).collect())
}
