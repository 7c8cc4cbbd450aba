//! The vocabulary: what a tool is, before anything is done to it.
//!
//! Invariant: pure values. Nothing here touches a clock, a file, the environment, a thread or a random number.

mod draft;
mod message;

pub use draft::{Draft, DraftError, Language, SOURCE_LIMIT};
pub use message::{Lang, headline};
