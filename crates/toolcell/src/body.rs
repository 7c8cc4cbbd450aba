//! What the operations answer, as programs read it: JSON, with a schema.
//!
//! A failure has no body. It has a code, and a text.
//!
//! Invariant: what a key is called and what is in it stands here alone, for every surface.

mod created;
mod listed;
mod ran;

#[cfg(test)]
mod tests;

pub use created::{AlikeBody, CreatedBody, FindingBody, NamedBody, ParameterBody};
pub use listed::{DeletedBody, ListedBody, ToolBody};
pub use ran::{ContextBody, DeprecationBody, LogBody, RanBody, UsageBody, WarningBody};

use toolcell_tool::Status;

/// What the status of a tool may be, for schemas.
fn statuses() -> Vec<&'static str> {
    Status::ALL.map(Status::name).to_vec()
}
