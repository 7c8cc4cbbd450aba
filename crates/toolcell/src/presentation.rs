//! Presentation: results, errors and prompts as text and as JSON.
//!
//! Invariant: a presentation renders a value and adds nothing to it.

pub(crate) mod approval_prompt;
#[cfg(feature = "flame-graph")]
mod flame_graph;
mod flow_question;
mod held_effect;
pub(crate) mod messages;
mod proof;
#[cfg(feature = "reflection")]
mod reflection;
mod replay;
pub(crate) mod response;
#[cfg(feature = "proof")]
mod retirement;
mod server_question;
