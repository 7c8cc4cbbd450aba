//! What both benchmarks compare: a tool in the sandbox, and the same tool in QuickJS itself.
//!
//! Invariant: both are given the same text and the same parameters, and both end with the result as JSON text.

mod native;
mod sample;
mod sealed;

pub(crate) use native::Native;
pub(crate) use sample::{CALCULATE_AVERAGE, EMPTY, STRING_REVERSE, Sample};
pub(crate) use sealed::Sealed;
