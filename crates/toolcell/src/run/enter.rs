//! Takes a run that was admitted into the sandbox.
//!
//! Invariant: what it runs with is what it was admitted with.

use std::sync::Arc;

use toolcell_host::{Asleep, CallError, Called, FuelCovers, Report, Run, WakeError};
use toolcell_store::Entry;

use super::{key, since_1970};
use crate::cell::Code;
use crate::operations::Given;
use crate::permit::Permit;
use crate::receipt::Recording;
use crate::toolbox::{Ready, Toolbox};
use crate::ungranted;

/// A run that may begin.
pub(crate) struct Admitted<'a> {
    pub(crate) entry: Entry,
    pub(crate) ready: Arc<Ready>,
    pub(crate) permit: Permit,
    /// The seed that was drawn for it.
    pub(crate) random: Option<u64>,
    pub(crate) given: Given<'a>,
}

impl Toolbox {
    /// Calls a stored tool. Where it gets a receipt, what it is given and leaves is noted, before anything is added to that.
    pub(super) fn call(&self, admitted: &Admitted<'_>, recording: Option<&Recording<'_>>) -> Result<Report, CallError> {
        let Admitted { entry, permit, .. } = admitted;
        let code = self.code(admitted)?;
        let mut report = self.run_of(admitted, |run| {
            let run = Run { operations: recording.map_or(run.operations, Recording::operations), ..*run };
            let report = self.enter(key(entry.id, permit.grants()), entry.name.as_str(), code, permit, &run)?;
            if let (Some(recording), Ok(tool)) = (recording, &admitted.ready.vetted) {
                recording.ended(self, &entry.name, tool, permit, (&run, &report));
            }
            Ok::<_, CallError>(report)
        })?;
        if let Ok(tool) = &admitted.ready.vetted {
            ungranted::tell(&mut report, entry, tool, permit.grants(), &self.policy);
        }
        Ok(report)
    }

    /// The same, of a run that may be put to sleep.
    pub(crate) fn call_or_sleep(&self, admitted: &Admitted<'_>) -> Result<Called, CallError> {
        let Admitted { entry, permit, .. } = admitted;
        let code = self.code(admitted)?;
        self.run_of(admitted, |run| {
            self.enter_or_sleep(key(entry.id, permit.grants()), entry.name.as_str(), code, permit, run)
        })
    }

    /// Goes on with a run that was put to sleep.
    pub(crate) fn wake_run(&self, admitted: &Admitted<'_>, asleep: &Asleep) -> Result<Called, WakeError> {
        let Admitted { entry, ready, permit, .. } = admitted;
        let tool = ready.vetted.as_ref().map_err(|_| WakeError::Script)?;
        self.run_of(admitted, |run| self.wake(entry.name.as_str(), tool.script(), permit, asleep, run))
    }

    /// What is called of a tool.
    fn code<'a>(&self, admitted: &'a Admitted<'_>) -> Result<Code<'a>, CallError> {
        let Admitted { entry, ready, permit, .. } = admitted;
        if let Some(kept) = self.kept(&key(entry.id, permit.grants())) {
            return Ok(Code::Evaluated(kept));
        }
        // Whoever was admitted has a tool that runs.
        let tool = ready.vetted.as_ref().map_err(|refusal| CallError::NoInstance(refusal.to_string()))?;
        Ok(Code::Script(tool.script()))
    }

    fn run_of<T>(&self, admitted: &Admitted<'_>, enter: impl FnOnce(&Run<'_>) -> T) -> T {
        let Admitted { permit, random, given, .. } = admitted;
        let options = given.options;
        let clock = permit.grants().clock.then(|| self.real_clock());
        enter(&Run {
            tool: None,
            call_id: &given.call_id,
            seed: random.unwrap_or(options.seed),
            started_at: since_1970(self.now()),
            clock: clock.as_ref(),
            operations: given,
            cancel: options.cancel.as_ref(),
            partial: options.partial.as_ref(),
            when_full: options.when_full,
            profile: options.profile.as_deref(),
            time: None,
            fuel_covers: FuelCovers::LoadingAndCall,
        })
    }
}
