//! What came of tests, said to whoever asks: a person, a program, a server of builds.
//!
//! Invariant: all forms say the same.

mod github;
mod json;
mod junit;
mod text;

pub use github::github;
pub use json::json;
pub use junit::junit;
pub use text::{Words, text};
