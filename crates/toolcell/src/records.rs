//! Records: one record and one audit line for each attempt to run a tool.
//!
//! Invariant: an attempt is recorded whatever its outcome, also if its process was killed.

pub(crate) mod flusher;
pub(crate) mod interrupted;
mod rejected_request;
pub(crate) mod run_record;
