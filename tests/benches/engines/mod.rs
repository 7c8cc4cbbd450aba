//! The engines that both benchmarks compare: a tool in the sandbox, and the same tool in native
//! QuickJS.
//!
//! Invariant: both get the same source and parameters, and both return the result as JSON text.

mod native;
mod sample;
mod sealed;

pub(crate) use native::Native;
pub(crate) use sample::{CALCULATE_AVERAGE, EMPTY, STRING_REVERSE, Sample};
pub(crate) use sealed::Sealed;
