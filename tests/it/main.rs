//! The product's promises as tests, one module per promise. [`world`] is the fixture that most of
//! them use.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "a test may fail")]

mod desk;
mod docs;
mod operations;
mod shelf;
#[cfg(target_os = "linux")]
mod terminal;
mod world;

mod analysis;
mod approvals;
mod bounds;
mod bundles;
mod capabilities;
mod ci_examples;
mod command_line;
mod command_line_budget;
mod command_line_mcp_config;
mod command_line_plan;
mod command_line_policy;
mod command_line_profile;
mod command_line_proof;
mod command_line_receipt;
mod command_line_record;
#[cfg(target_os = "linux")]
mod command_line_screen;
mod command_line_shell;
mod command_line_store;
mod command_line_testing;
mod command_line_tools;
mod command_line_upkeep;
mod contract;
mod crash_consistency;
mod determinism;
mod engine;
mod equivalence_bounds;
mod errors;
mod fsck;
mod gc;
mod globals;
mod guest;
mod hostile;
mod jail;
mod ledger;
mod limits;
mod links;
mod list;
mod lockdown;
mod many_calls;
mod mcp;
mod model_based;
mod profile;
mod protocol;
mod rebuild;
mod results;
mod search;
mod signatures;
mod store;
mod tidy;
mod tools;
mod typescript;
mod web_apis;
