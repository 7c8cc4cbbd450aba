//! A fuel profiler: samples the guest's stack after slices of fuel.
//!
//! A profiled call runs in an image whose guest is instrumented to record its position
//! (`marks.rs`), and hands its memory to the host between slices. The fuel of a slice is charged to
//! the functions that are on the stack at its end. Slices are short at first, grow with the run,
//! and vary in length by a pseudorandom sequence that is the same in every run.
//!
//! Invariant: profiling changes neither the result of a call nor its fuel, to the unit, and the
//! profile accounts for all of that fuel.

mod quickjs;
mod sampler;

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

pub(crate) use sampler::{GuestPosition, Sampler};

/// The distribution of a call's fuel over functions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl CallProfile {
    /// Returns whether this can be the profile of a call that burned this fuel: one that the profiler
    /// would take.
    #[must_use]
    pub fn is_plausible(&self, fuel: u64) -> bool {
        let parts = [self.engine, self.other_tools, self.unattributed].into_iter();
        let sum = parts.chain(self.stacks.iter().map(|stack| stack.fuel)).try_fold(0_u64, u64::checked_add);
        let is_known = |frame: &Frame| frame.function < self.functions.len();
        sum == Some(fuel)
            && self.fuel == fuel
            && sampler::fits(&self.functions, &self.stacks)
            && self.stacks.iter().all(|stack| stack.frames.iter().all(is_known))
    }
}

impl ProfiledFunction {
    fn engine(name: &str) -> Self {
        Self { name: name.to_owned(), origin: FrameOrigin::Engine, line: 0, column: 0 }
    }
}

/// The part of the program that defines a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The frames, the outermost first.
    pub frames: Vec<Frame>,
    /// Units of fuel.
    pub fuel: u64,
}

/// A position in a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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

    /// Stores the profile of a call.
    pub fn put(&self, profile: CallProfile) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(profile);
    }
}
