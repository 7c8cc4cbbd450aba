//! What the way in over HTTP promises: each test speaks to a server on loopback, in bytes.

mod access;
mod bodies;
mod harness;
mod lines;
mod many;
mod sessions;
mod shutdown;
