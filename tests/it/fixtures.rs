//! The fixtures that the tests share: a sandbox, a store, the command line, and a collector of traces.

pub(crate) mod cli;
pub(crate) mod collector;
pub(crate) mod sandbox;
pub(crate) mod store;
