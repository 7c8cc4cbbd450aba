//! The fixtures that the tests share: a sandbox, a store, and the command line.

pub(crate) mod cli;
pub(crate) mod sandbox;
pub(crate) mod store;
