//! What the host does for a run with its grants: operations, time, chance.
//!
//! Invariant: what is not granted is not there, or has a stand-in that gives the same again.

use std::sync::Arc;
use std::time::Duration;

use toolcell_host::{CallError, NoOperations, Operations, RealClock, Timers};
use toolcell_tool::ToolId;

use crate::policy::Grants;
use crate::toolbox::Toolbox;

impl Toolbox {
    /// The clock of this toolbox, for tools that are granted the real one.
    pub(super) fn real_clock(&self) -> RealClock {
        let now = self.clock;
        Arc::new(move || since_1970(now()))
    }
}

/// A seed of the system's random numbers, for tools that are granted real ones.
pub(super) fn drawn(grants: &Grants) -> Result<Option<u64>, CallError> {
    let drawn = grants.random.then(getrandom::u64).transpose();
    drawn.map_err(|error| CallError::NoInstance(format!("the system gives no random numbers: {error}")))
}

/// The time since 1970, where the virtual clock of a run starts.
pub(crate) fn since_1970(at: jiff::Timestamp) -> Duration {
    Duration::try_from(at.duration_since(jiff::Timestamp::UNIX_EPOCH)).unwrap_or_default()
}

/// What of some grants reaches nothing outside of the cell: what is tried twice has to come out the same.
pub(crate) fn inward(grants: &Grants) -> Grants {
    Grants { timers: grants.timers, ..Grants::default() }
}

/// What the host does for a tool with grants that reach nothing.
pub(crate) fn waiting(grants: &Grants) -> &'static dyn Operations {
    if grants.timers { &Timers } else { &NoOperations }
}

/// The key of a stored tool that was prepared with these grants.
pub(crate) fn key(id: ToolId, grants: &Grants) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared tool");
    hasher.update(id.as_bytes());
    for capability in grants.names() {
        hasher.update(capability.name().as_bytes()).update(b"\0");
    }
    // No capability has an empty name: what follows are secrets.
    hasher.update(b"\0");
    for secret in &grants.secrets {
        hasher.update(secret.name.as_str().as_bytes()).update(b"\0");
    }
    hasher.finalize()
}
