//! The command line, one module per subject.

pub(crate) mod budget;
pub(crate) mod decide;
pub(crate) mod exec;
pub(crate) mod grant;
pub(crate) mod help;
pub(crate) mod mcp_config;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod profile;
pub(crate) mod proof;
#[cfg(target_os = "linux")]
pub(crate) mod question;
pub(crate) mod receipt;
pub(crate) mod record;
#[cfg(target_os = "linux")]
pub(crate) mod screen;
pub(crate) mod shell;
pub(crate) mod store;
pub(crate) mod testing;
pub(crate) mod tools;
pub(crate) mod ui;
pub(crate) mod upkeep;
