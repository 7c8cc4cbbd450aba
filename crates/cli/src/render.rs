//! Renders results: as text for a person, fitted to the terminal, or in a format of other programs.
//!
//! Invariant: rendering decides nothing. Text of others, such as the source of a tool, is escaped
//! before it reaches a terminal.

pub(crate) mod findings;
pub(crate) mod flame;
pub(crate) mod label;
pub(crate) mod profile;
pub(crate) mod progress;
pub(crate) mod run;
pub(crate) mod sarif;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod tools;
