//! What the product promises. Each module is one promise; [`world`] is the sentence that the tests are written in.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "a test may fail")]

mod world;

mod analysis;
mod attacks;
mod capabilities;
mod command_line;
mod determinism;
mod errors;
mod globals;
mod guest;
mod limits;
mod many_calls;
mod protocol;
mod results;
mod tidy;
mod tools;
mod typescript;
