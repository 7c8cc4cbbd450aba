//! Conversion of a report into the outcome and the resource use of a record.
//!
//! Invariant: both are derived from the report alone.

use std::time::Duration;

use toolcell_error::ErrorCode;
use toolcell_host::{ENGINE_VERSION, GUEST_DIGEST, Outcome, Report};
use toolcell_store::audit::EventFailure;

use super::ResourceUse;

/// Returns the outcome of a run and its failure, if any.
pub(super) fn outcome(report: &Report) -> (&'static str, Option<EventFailure>) {
    let failed = |code, message| Some(EventFailure { code, message: Some(message) });
    match &report.outcome {
        Outcome::Returned(_) => ("returned", None),
        Outcome::Threw(thrown) => {
            ("threw", failed(ErrorCode::ToolFailed, format!("{}: {}", thrown.name, thrown.message)))
        }
        Outcome::Stopped(stop) => ("stopped", failed(stop.code(), stop.to_string())),
    }
}

/// Returns the resources that a run used.
pub(super) fn resource_use(report: &Report) -> ResourceUse {
    ResourceUse {
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
