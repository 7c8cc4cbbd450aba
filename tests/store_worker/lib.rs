//! A worker that applies orders to a store. An order is a line of JSON, and so is its reply, which
//! is sent only after the store has returned. Crash-consistency tests run the worker in its own
//! process and kill it there.
//!
//! Invariant: the orders decide everything. A worker reads no clock, and what it stores follows
//! from the order alone.
#![expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a test may fail")]

mod order;
mod runs;
mod sample;
mod state;
mod work;

pub use order::{StoreAction, StoreOrder, StoreReply};
pub use runs::{RunEnd, StartedRun};
pub use sample::{INITIAL_CONFIDENCE, SampleTool};
pub use state::{HistoryStep, RecordedDecision, StoreState, ToolState};
pub use work::{StoreWorker, SyncMode};
