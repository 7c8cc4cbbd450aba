//! Presentation: results, errors and prompts as text and as JSON.
//!
//! Invariant: a presentation renders a value and adds nothing to it.

pub(crate) mod approval_prompt;
pub(crate) mod messages;
mod proof;
#[cfg(feature = "reflection")]
mod reflection;
pub(crate) mod response;
#[cfg(feature = "proof")]
mod retirement;
