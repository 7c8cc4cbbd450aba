//! The stored plans: the digests of held effects that were shown to the user, under a hash over all
//! of them.
//!
//! Invariant: approving a plan by its hash approves exactly the effects that were shown under it.

use serde::{Deserialize, Serialize};
use toolcell_i18n::message;
use toolcell_store::{Fault, PLAN_KIND, Record, StoreAccess};
use toolcell_tool::ToolId;

use crate::host_calls::HeldEffect;
use crate::parts::Parts;

/// The format name of a stored plan.
const FORMAT: &str = "toolcell.plan.1";

/// The stored form of a plan.
#[derive(Serialize, Deserialize)]
struct StoredPlan {
    format: String,
    lines: Vec<String>,
}

/// The error of loading a plan.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum PlanError {
    /// No plan with this hash was shown, or it was garbage-collected.
    #[error("there is no plan `{digest}`")]
    #[code(PlanUnknown)]
    #[hint("run the tool with --plan, and approve the digests it lists")]
    Unknown {
        /// The requested hash.
        digest: String,
    },
    /// The store failed, or its content is damaged.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

/// Stores the digests of held effects that are shown to the user, and returns the hash that
/// approves all of them. Returns `None` if no effect is held or the store is read-only.
pub(crate) fn store_plan(parts: &Parts, tool: ToolId, lines: &[HeldEffect]) -> Result<Option<blake3::Hash>, Fault> {
    let Some(store) = parts.store.as_ref().filter(|store| store.access() == StoreAccess::Full && !lines.is_empty())
    else {
        return Ok(None);
    };
    let lines = lines.iter().map(|held| held.digest.clone()).collect();
    let kept = serde_json::to_vec(&StoredPlan { format: FORMAT.to_owned(), lines });
    let body = kept.map_err(|error| Fault::Disk { path: message!("a plan"), source: error.into() })?;
    store
        .runs()
        .insert_record(&Record { kind: PLAN_KIND.to_owned(), tool: Some(tool), at: parts.now(), body })
        .map(Some)
}

/// Returns the digests of the plan with this hash, 64 hexadecimal digits.
pub(crate) fn plan_digests(parts: &Parts, digest: &str) -> Result<Vec<String>, PlanError> {
    let unknown = || PlanError::Unknown { digest: digest.chars().take(64).collect() };
    let hash = blake3::Hash::from_hex(digest).map_err(|_| unknown())?;
    let record =
        parts.require_store()?.runs().record(hash)?.filter(|record| record.kind == PLAN_KIND).ok_or_else(unknown)?;
    let kept: StoredPlan = serde_json::from_slice(&record.body).map_err(|_| unknown())?;
    if kept.format == FORMAT { Ok(kept.lines) } else { Err(unknown()) }
}
