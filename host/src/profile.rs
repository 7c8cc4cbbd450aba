//! Where the fuel of a call goes: samples of what is on the guest's stack, taken after slices of fuel.
//!
//! A call that is profiled runs in an image whose guest says where it is (`marks.rs`) and lends its memory to the host between
//! slices. Fuel that is burned in a slice is charged to the functions that are on the stack when it ends. Slices
//! are short at first, grow with the run, and vary in length, by numbers that are the same in every run.
//!
//! Invariant: a call that is profiled returns what it returns otherwise and burns the same fuel, to the unit; and all of that fuel is
//! in the profile.

mod cell;
mod engine;
mod sampler;

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use wasmtime::InstanceAllocationStrategy;

use crate::asleep::{CallSoFar, Rested};
use crate::budget::Budget;
use crate::conversation::Awake;
use crate::error::CallError;
use crate::image::Image;
use crate::instance::{Guest, Unusable};
use crate::json::Params;
use crate::outcome::Report;
use crate::sandbox::{Prepared, Run, Sandbox};
use crate::tunables::Kind;

pub(crate) use sampler::Sampler;

/// Where the fuel of a call went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Fuel of the call: the sum of the stacks and of the three below.
    pub fuel: u64,
    /// Fuel while no function was running: parameters are read, jobs are taken up, the result is written.
    pub engine: u64,
    /// Fuel that other tools burned, which this one called.
    pub other_tools: u64,
    /// Fuel that was burned after the last sample: less than a slice, or all of it where the call did not last for one.
    pub unattributed: u64,
    /// How many samples were taken.
    pub samples: u64,
    /// The functions that were running, in the order in which they were seen first.
    pub functions: Vec<Function>,
    /// What was on the stack, each once, in order.
    pub stacks: Vec<Stack>,
}

/// A function that was running.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub home: Home,
    /// The line where it begins, from 1; 0 for one of the engine.
    pub line: u32,
    /// The column there.
    pub column: u32,
}

impl Function {
    fn engine(name: &str) -> Self {
        Self { name: name.to_owned(), home: Home::Engine, line: 0, column: 0 }
    }
}

/// Whose a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Home {
    /// The tool's.
    Tool,
    /// A part of the guest that is written in JavaScript: web APIs, capabilities, `TypeBox`.
    Library,
    /// A part of the engine: `JSON.parse`, `Array.prototype.sort`.
    Engine,
}

impl Home {
    /// Its name in messages and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Library => "library",
            Self::Engine => "engine",
        }
    }
}

/// What was on the stack, and the fuel that was charged to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The outermost first.
    pub frames: Vec<Frame>,
    /// Fuel.
    pub fuel: u64,
}

/// A place in a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Which of [`Profile::functions`].
    pub function: usize,
    /// The line, from 1; 0 in a function of the engine.
    pub line: u32,
    /// The column of what is noted there, from 1; 0 likewise.
    pub column: u32,
}

/// Gets the profile of a call: of the last one that it was handed to.
#[derive(Debug, Default)]
pub struct ProfileSlot(Mutex<Option<Profile>>);

impl ProfileSlot {
    /// The profile, if a call was profiled since this was last asked.
    pub fn take(&self) -> Option<Profile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Changes the profile that is in there, if one is.
    pub fn revise(&self, revise: impl FnOnce(&mut Profile)) {
        if let Some(profile) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            revise(profile);
        }
    }

    fn put(&self, profile: Profile) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(profile);
    }
}

impl Sandbox {
    /// Calls a tool in an image for profiles, which is loaded when it is needed first.
    pub(crate) fn call_profiled(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
        slot: &ProfileSlot,
    ) -> Result<Report, CallError> {
        let guest = self.profiling().map_err(|error| CallError::NoInstance(error.to_owned()))?;
        let started = Instant::now();
        let attempt = match self.attempt(budget, run)? {
            Ok(attempt) => attempt,
            Err(stop) => return Ok(crate::sandbox::never_began(stop, started)),
        };
        let (mut cell, ended, fuel) = Self::begin(guest, prepared, budget, run, &attempt)?;
        cell.profile(prepared.script().name).map_err(|error| CallError::NoInstance(format!("{error:#}")))?;
        let turn =
            ended.and_then(|()| crate::conversation::converse::<Awake>(&mut cell, params, budget, run, &attempt.until));
        if let Some(profile) = cell.profiled() {
            slot.put(profile);
        }
        let so_far = CallSoFar::of(prepared, params, budget, fuel, started);
        match so_far.rest(cell, turn, &attempt.until)? {
            Rested::Ended(report) => Ok(report),
            Rested::Asleep(_, never) => match never {},
        }
    }

    /// The guest that profiles are taken with: the one in use if it has marks, or that of the next image that has them.
    fn profiling(&self) -> Result<&Guest, &str> {
        if self.image().is_marked() {
            return Ok(&self.guest);
        }
        let loaded = self.profiling.get_or_init(|| {
            let (image, interruption) = (Image::of(Kind::Bounded), self.guest.interruption);
            let verified = image.verify().map_err(|error| error.to_string())?;
            let guest = verified.load(InstanceAllocationStrategy::OnDemand).map_err(Unusable::Here);
            drop(image);
            guest.and_then(|(engine, module)| Guest::new(Kind::Bounded, interruption, engine, &module)).map_err(
                |error| match error {
                    Unusable::Here(error) => format!("{error:#}"),
                    Unusable::Refused(error) => error.to_string(),
                },
            )
        });
        loaded.as_ref().map_err(String::as_str)
    }
}
