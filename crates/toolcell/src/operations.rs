//! The operations of a toolbox: one module for each verb or group of verbs.
//!
//! Invariant: each attempt leaves one audit line, except for those that only read and say so.

pub(crate) mod adopt;
pub(crate) mod approvals;
pub(crate) mod async_run;
pub(crate) mod call_graph;
#[cfg(feature = "proof")]
mod candidates;
pub(crate) mod cost_report;
pub(crate) mod create;
pub(crate) mod decide;
pub(crate) mod delete;
pub(crate) mod deprecate;
pub(crate) mod example_check;
pub(crate) mod exchange;
pub(crate) mod exec;
mod factory;
pub(crate) mod flows;
mod hook_tools;
pub(crate) mod list;
pub(crate) mod lookup;
pub(crate) mod plans;
pub(crate) mod profile;
#[cfg(feature = "reflection")]
pub(crate) mod reflect;
#[cfg(feature = "proof")]
pub(crate) mod retire;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod runs;
#[cfg(feature = "reflection")]
pub(crate) mod search;
#[cfg(feature = "servers")]
pub(crate) mod servers;
pub(crate) mod show;
pub(crate) mod suspend;
pub(crate) mod types;
#[cfg(feature = "proof")]
pub(crate) mod verify;
