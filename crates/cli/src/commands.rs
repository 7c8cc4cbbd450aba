//! The commands, one file each: `run(args, context)` does the work and prints the result.
//!
//! Invariant: a command prints results to standard output, everything else to standard error, and
//! returns its exit status. An error is printed by the caller.
//!
//! Reading order: the commands on tools, those without a stored tool, those on the whole store, the
//! policy, the servers, and the program itself.

/// The name of the caller of what the command line runs.
pub(crate) const CLI_CALLER: &str = "cli";

pub(crate) mod adopt;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod deprecate;
pub(crate) mod ledger;
pub(crate) mod list;
pub(crate) mod reflect;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod retire;
pub(crate) mod rollback;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod suspended;
pub(crate) mod undelete;
pub(crate) mod verify;

pub(crate) mod batch;
pub(crate) mod budget;
pub(crate) mod check;
pub(crate) mod exec;
pub(crate) mod profile;
pub(crate) mod test;

pub(crate) mod audit;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod fsck;
pub(crate) mod gc;
pub(crate) mod import;

pub(crate) mod approvals;
pub(crate) mod config;
pub(crate) mod decide;
pub(crate) mod flows;
pub(crate) mod grant;
pub(crate) mod init;
pub(crate) mod servers;

pub(crate) mod adapter;
pub(crate) mod mcp;
pub(crate) mod node;
pub(crate) mod ui;

pub(crate) mod completions;
pub(crate) mod man;
pub(crate) mod schema;
pub(crate) mod types;

mod analysis_response;
mod held_effects;
mod signature_file;
