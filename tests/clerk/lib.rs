//! A clerk works on a store as it is told: an order is a line of JSON, and so is the answer, which is given only after
//! the store has returned. Tests tell it what to do in a process of its own, and kill it there.
//!
//! Invariant: orders and samples decide everything. A clerk looks at no clock, and what it stores can be told from the
//! order alone.
#![expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a test may fail")]

mod order;
mod runs;
mod sample;
mod state;
mod work;

pub use order::{Answer, Order, Verb};
pub use runs::{Ended, Noted};
pub use sample::{SCORE, Sample};
pub use state::{Past, Said, State, Tool};
pub use work::{Clerk, Keeping};
