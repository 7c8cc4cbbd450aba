//! The responses of the operations as JSON with a schema.
//!
//! A failure has no response. It has a code and a text.
//!
//! Invariant: the keys of the responses and their contents are defined here alone, for all
//! interfaces.

mod create;
mod list;
mod run;

#[cfg(test)]
mod tests;

pub use create::{
    CreateResponse, EquivalentToolResponse, ExamplesResponse, FindingResponse, NamedToolResponse, ParameterResponse,
};
pub use list::{DeleteResponse, ListResponse, ToolResponse};
pub use run::{DeprecationResponse, HookContextResponse, LogLineResponse, RunResponse, UsageResponse, WarningResponse};

use toolcell_tool::Status;

/// Returns the names of all statuses, for schemas.
fn status_names() -> Vec<&'static str> {
    Status::ALL.map(Status::name).to_vec()
}
