//! A fuel profiler: samples the guest's stack after slices of fuel.
//!
//! A profiled call runs in an image whose guest is instrumented to record its position
//! (`marks.rs`), and hands its memory to the host between slices. The fuel of a slice is charged to
//! the functions that are on the stack at its end. Slices are short at first, grow with the run,
//! and vary in length by a pseudorandom sequence that is the same in every run.
//!
//! Invariant: profiling changes neither the result of a call nor its fuel, to the unit, and the
//! profile accounts for all of that fuel.

mod call;
mod quickjs;
mod sampler;

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use toolcell_json::Params;
use wasmtime::InstanceAllocationStrategy;

use crate::budget::Budget;
use crate::call_loop::NeverSuspend;
use crate::engine_config::ImageKind;
use crate::error::CallError;
use crate::image::Image;
use crate::instance::{GuestModule, ImageError};
use crate::outcome::Report;
use crate::sandbox::{CallContext, Prepared, Sandbox};
use crate::suspend::{CallInProgress, SuspendableStatus};

pub(crate) use sampler::Sampler;

/// The distribution of a call's fuel over functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallProfile {
    /// Fuel of the call: the sum of the stacks and of the next three fields.
    pub fuel: u64,
    /// Fuel while no function was running: reading parameters, starting jobs, writing the result.
    pub engine: u64,
    /// Fuel of other tools that this one called.
    pub other_tools: u64,
    /// Fuel after the last sample: less than a slice, or all fuel of a call that is shorter than
    /// one slice.
    pub unattributed: u64,
    /// The number of samples.
    pub samples: u64,
    /// The functions that were running, in order of first appearance.
    pub functions: Vec<ProfiledFunction>,
    /// The distinct call stacks, sorted.
    pub stacks: Vec<Stack>,
}

/// A function that was running.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProfiledFunction {
    /// The name in stack traces.
    pub name: String,
    /// The part of the program that defines the function.
    pub origin: FrameOrigin,
    /// The line where the function starts, counted from 1; 0 for a function of the engine.
    pub line: u32,
    /// The column where the function starts; 0 for a function of the engine.
    pub column: u32,
}

impl ProfiledFunction {
    fn engine(name: &str) -> Self {
        Self { name: name.to_owned(), origin: FrameOrigin::Engine, line: 0, column: 0 }
    }
}

/// The part of the program that defines a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FrameOrigin {
    /// The tool.
    Tool,
    /// A part of the guest written in JavaScript: web APIs, capabilities, `TypeBox`.
    Library,
    /// The engine, such as `JSON.parse` or `Array.prototype.sort`.
    Engine,
}

impl FrameOrigin {
    /// Returns the name used in messages and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Library => "library",
            Self::Engine => "engine",
        }
    }
}

/// A call stack, and the fuel that was charged to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The frames, the outermost first.
    pub frames: Vec<Frame>,
    /// Units of fuel.
    pub fuel: u64,
}

/// A position in a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// The index of the function in [`CallProfile::functions`].
    pub function: usize,
    /// The line, counted from 1; 0 in a function of the engine.
    pub line: u32,
    /// The column of the nearest recorded position, counted from 1; 0 in a function of the engine.
    pub column: u32,
}

/// A slot that receives the profile of the last call it was passed to.
#[derive(Debug, Default)]
pub struct ProfileSlot(Mutex<Option<CallProfile>>);

impl ProfileSlot {
    /// Takes the profile, if a call has stored one.
    pub fn take(&self) -> Option<CallProfile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Modifies the stored profile, if there is one.
    pub fn revise(&self, revise: impl FnOnce(&mut CallProfile)) {
        if let Some(profile) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            revise(profile);
        }
    }

    fn put(&self, profile: CallProfile) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(profile);
    }
}

impl Sandbox {
    /// Calls a tool in the instrumented image, which is loaded on first use.
    pub(crate) fn call_profiled(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
        slot: &ProfileSlot,
    ) -> Result<Report, CallError> {
        let guest = self.profiling().map_err(|error| CallError::NoInstance(error.to_owned()))?;
        let started = Instant::now();
        let attempt = match self.acquire_slot(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(crate::sandbox::not_started(stop, started)),
        };
        let (mut cell, ended, fuel) = Self::instantiate_prepared(guest, prepared, budget, run, &attempt)?;
        cell.start_profile(prepared.script().name).map_err(|error| CallError::NoInstance(format!("{error:#}")))?;
        let turn = ended.and_then(|()| {
            crate::call_loop::run_call::<NeverSuspend>(&mut cell, params, budget, run, &attempt.deadline)
        });
        if let Some(profile) = cell.take_profile() {
            slot.put(profile);
        }
        let so_far = CallInProgress::new(prepared, params, budget, fuel, started);
        match so_far.into_status(cell, turn, &attempt.deadline)? {
            SuspendableStatus::Finished(report) => Ok(report),
            SuspendableStatus::Suspended(_, never) => match never {},
        }
    }

    /// Returns the instrumented guest: the one in use if it is instrumented, or that of the bounded
    /// image.
    fn profiling(&self) -> Result<&GuestModule, &str> {
        if self.image().is_instrumented() {
            return Ok(&self.guest);
        }
        let loaded = self.profiling.get_or_init(|| {
            let (image, interruption) = (Image::for_kind(ImageKind::Bounded), self.guest.interruption);
            let verified = image.verify().map_err(|error| error.to_string())?;
            let guest = verified.load(InstanceAllocationStrategy::OnDemand).map_err(ImageError::Unsupported);
            drop(image);
            guest
                .and_then(|(engine, module)| GuestModule::new(ImageKind::Bounded, interruption, engine, &module))
                .map_err(|error| match error {
                    ImageError::Unsupported(error) => format!("{error:#}"),
                    ImageError::Rejected(error) => error.to_string(),
                })
        });
        loaded.as_ref().map_err(String::as_str)
    }
}
