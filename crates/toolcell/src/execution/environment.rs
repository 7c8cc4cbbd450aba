//! Host calls, clock and randomness of a run, as far as its grants allow.
//!
//! Invariant: what is not granted is absent, or has a deterministic substitute.

use std::sync::Arc;
use std::time::Duration;

use toolcell_host::{CallError, HostCalls, NoHostCalls, Timers, WallClock};
use toolcell_policy::Grants;
use toolcell_tool::ToolId;

use crate::clock::Clock;

/// Returns the clock of a toolbox, for tools that are granted the real one.
pub(crate) fn wall_clock(clock: Clock) -> WallClock {
    Arc::new(move || unix_time(clock()))
}

/// Draws a seed from the system's random numbers, for tools that are granted real ones.
pub(crate) fn draw_seed(grants: &Grants) -> Result<Option<u64>, CallError> {
    let drawn = grants.random.then(getrandom::u64).transpose();
    drawn.map_err(|error| CallError::NoRandom(error.to_string()))
}

/// Returns the time since 1970, at which the virtual clock of a run starts.
pub(crate) fn unix_time(at: jiff::Timestamp) -> Duration {
    Duration::try_from(at.duration_since(jiff::Timestamp::UNIX_EPOCH)).unwrap_or_default()
}

/// Restricts grants to timers, which have no effect outside the cell: repeated trials must give the
/// same result.
pub(crate) fn only_timers(grants: &Grants) -> Grants {
    Grants { timers: grants.timers, ..Grants::default() }
}

/// Returns the host calls of a tool whose grants are restricted to timers.
pub(crate) fn timer_calls(grants: &Grants) -> &'static dyn HostCalls {
    if grants.timers { &Timers } else { &NoHostCalls }
}

/// Returns the cache key of a stored tool that is prepared with these grants.
pub(crate) fn cache_key(id: ToolId, grants: &Grants) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared tool");
    hasher.update(id.as_bytes());
    for capability in grants.capabilities() {
        hasher.update(capability.name().as_bytes()).update(b"\0");
    }
    // No capability has an empty name, so this marks the start of the secrets.
    hasher.update(b"\0");
    for secret in &grants.secrets {
        hasher.update(secret.name.as_str().as_bytes()).update(b"\0");
    }
    hasher.finalize()
}
