//! Calls that are profiled.
//!
//! Invariant: a profiled call runs in an instrumented image, with the same result and the same fuel.

use std::time::Instant;

use toolcell_i18n::{Localize as _, Message};
use toolcell_json::Params;
use wasmtime::InstanceAllocationStrategy;

use super::Sandbox;
use crate::call_loop::{NeverSuspend, run_call};
use crate::context::CallContext;
use crate::engine::{Image, ImageKind};
use crate::error::CallError;
use crate::imports;
use crate::instance::{GuestModule, ImageError};
use crate::limits::Budget;
use crate::outcome::Report;
use crate::prepared::Prepared;
use crate::profile::ProfileSlot;
use crate::suspend::{CallInProgress, SuspendableStatus};

impl Sandbox {
    /// Calls a tool in the instrumented image, which is loaded on first use.
    pub(super) fn call_profiled(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
        slot: &ProfileSlot,
    ) -> Result<Report, CallError> {
        let guest = self.profiling().map_err(|error| CallError::NoInstance(error.clone()))?;
        let started = Instant::now();
        let attempt = match self.acquire_slot(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(Report::not_started(stop, started)),
        };
        let (mut cell, ended, fuel) = Self::instantiate_prepared(guest, prepared, budget, run, &attempt)?;
        cell.start_profile(prepared.script().name).map_err(CallError::bug)?;
        let turn = ended.and_then(|()| run_call::<NeverSuspend>(&mut cell, params, budget, run, &attempt.deadline));
        if let Some(profile) = cell.take_profile() {
            slot.put(profile);
        }
        let so_far = CallInProgress::new(prepared.script(), params, budget, fuel, started);
        match so_far.into_status(cell, turn, &attempt.deadline)? {
            SuspendableStatus::Finished(report) => Ok(report),
            SuspendableStatus::Suspended(_, never) => match never {},
        }
    }

    /// Returns the instrumented guest: the one in use if it is instrumented, or that of the bounded
    /// image.
    fn profiling(&self) -> Result<&GuestModule, &Message> {
        if self.image().is_instrumented() {
            return Ok(&self.guest);
        }
        let loaded = self.profiling.get_or_init(|| {
            let not_built_in = || Message::verbatim("the image `bounded` is not built in".to_owned());
            let image = Image::for_kind(ImageKind::Bounded).ok_or_else(not_built_in)?;
            let interruption = self.guest.interruption;
            let verified = image.verify().map_err(|error| error.localize())?;
            let guest = verified.load(InstanceAllocationStrategy::OnDemand).map_err(ImageError::Unsupported);
            drop(image);
            guest
                .and_then(|module| GuestModule::new(ImageKind::Bounded, interruption, imports::link(&module)?))
                .map_err(|error| match error {
                    ImageError::Unsupported(error) => Message::verbatim(format!("{error:#}")),
                    ImageError::Rejected(error) => error.localize(),
                })
        });
        loaded.as_ref()
    }
}
