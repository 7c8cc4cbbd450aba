//! Admission: decides whether a call may run.
//!
//! Reading order: `permit` is the decision; `hook` runs the hooks of the host and of the policy; `denial` is the answer to a
//! refused call; `review` lets the post-run hooks revise the outcome of an admitted one.
//!
//! Invariant: a permit is created only by an admission, and whatever cannot decide refuses.

pub(crate) mod denial;
pub(crate) mod grant_hints;
pub mod hook;
pub(crate) mod permit;
pub(crate) mod review;
