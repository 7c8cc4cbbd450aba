//! The words of records for how a run ended and what it used.
//!
//! Invariant: they follow from its report alone.

use std::time::Duration;

use toolcell_host::{ENGINE_VERSION, GUEST_DIGEST, Outcome, Report};
use toolcell_store::audit::Failure;

use super::Used;

/// How a tool ended, in the words of records.
pub(super) fn outcome(report: &Report) -> (&'static str, Option<Failure>) {
    let failed = |code, message| Some(Failure { code, message: Some(message) });
    match &report.outcome {
        Outcome::Returned(_) => ("returned", None),
        Outcome::Threw(thrown) => ("threw", failed("tool-failed", format!("{}: {}", thrown.name, thrown.message))),
        Outcome::Stopped(stop) => ("stopped", failed(stop.code(), stop.to_string())),
    }
}

/// What a run used, in the words of records.
pub(super) fn used(report: &Report) -> Used {
    Used {
        fuel: report.usage.fuel,
        load_fuel: report.usage.load_fuel,
        memory_bytes: report.usage.memory as u64,
        micros: micros(report.usage.duration),
        guest: GUEST_DIGEST[..16].to_owned(),
        engine: ENGINE_VERSION.to_owned(),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
