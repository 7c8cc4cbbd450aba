//! Tests of the HTTP transport: each sends bytes to a server on loopback.

mod access;
mod bodies;
mod harness;
mod lines;
mod many;
mod sessions;
mod shutdown;
