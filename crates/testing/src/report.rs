//! Report formats for people, programs and CI servers.
//!
//! Invariant: all formats contain the same results.

mod github;
mod json;
mod junit;
mod text;

pub use github::{github, without_commands};
pub use json::json;
pub use junit::junit;
pub use text::text;
