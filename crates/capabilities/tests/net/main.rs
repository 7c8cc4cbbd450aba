//! Requests to real servers on loopback.
//!
//! Invariant: each test starts the servers that it talks to, and nothing leaves the machine.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod addresses;
mod bodies;
mod effects;
mod headers;
mod limits;
mod redirects;
mod secrets;
mod tls;
mod world;
