//! The limits of a call: its budget, its deadline, and the number of concurrent calls.
//!
//! Invariant: this module knows nothing of Wasm; a limit is data, a clock or a lock.

mod call_limiter;
mod deadline;

pub use call_limiter::{AcquireError, CallLimiter, CallPermit, MAX_NESTED_CALLS, OnOverload};
pub use deadline::{CallDeadline, CancelToken, Interrupted, Notifier};
pub use toolcell_protocol::{Budget, BudgetError, FuelScope};
