//! The product's promises as tests, one module per promise. [`fixtures`] are what most of
//! them use.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "a test may fail")]

mod docs;
mod fixtures;
mod operations;
#[cfg(target_os = "linux")]
mod terminal;

mod analysis;
mod approvals;
mod bounds;
mod bundles;
mod capabilities;
mod ci_examples;
mod circles;
mod cli;
mod cluster;
mod contract;
mod crash_consistency;
mod custom_tools;
mod declarations;
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
mod templates;
mod tidy;
mod tools;
mod translations;
mod typescript;
mod web_apis;
