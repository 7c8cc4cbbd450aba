//! What the product promises. Each module is one promise; [`world`] is the sentence that the tests are written in.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "a test may fail")]

mod desk;
mod operations;
mod shelf;
mod world;

mod analysis;
mod attacks;
mod capabilities;
mod command_line;
mod command_line_mcp_config;
mod command_line_policy;
mod command_line_proof;
mod command_line_receipt;
mod command_line_record;
mod command_line_shell;
mod command_line_store;
mod command_line_tools;
mod command_line_upkeep;
mod contract;
mod determinism;
mod errors;
mod exchange;
mod fsck;
mod gc;
mod globals;
mod guest;
mod ledger;
mod limits;
mod list;
mod many_calls;
mod mcp;
mod model;
mod protocol;
mod readme;
mod rebuild;
mod results;
mod search;
mod signed;
mod store;
mod survival;
mod tidy;
mod tools;
mod trust;
mod typescript;
