//! What the packages for Python and Node share.
//!
//! ```text
//! package (Python, JavaScript) → native module → Session → Toolbox
//!                              ← Host: functions, hooks, approver, secrets
//! ```
//!
//! Options, requests and answers are JSON, with the keys of the command line's JSON. The packages
//! give them the manners of their languages: objects, exceptions, cancellation.
//!
//! Reading order: `handle` is what a native module holds; `options` opens a `session`, whose
//! `operations` are by name and whose `run`s are not: `perform` has their kinds, some may `suspend`, and
//! `effects` are decided on the way; `replay` has what is made of runs that are over; `model_tools` are
//! the calls of a model, and `tool_tests` serve test runners; `host` is the way back into the host's
//! language, and `failure` each error. `threads` run what must not block the host's.
//!
//! Invariant: nothing here knows a language, and no text of a host reaches the toolbox unchecked.

mod effects;
mod failure;
mod handle;
mod host;
mod model_tools;
mod operations;
mod options;
mod perform;
mod replay;
mod run;
mod session;
mod suspend;
mod threads;
mod tool_tests;

pub use failure::{Failure, FailureKind};
pub use handle::SessionHandle;
pub use host::{Callback, EventLoop, Host, OnAnswer, initialize};
pub use model_tools::CalledTool;
pub use perform::RunKind;
pub use replay::flame_graph;
pub use run::{CallOptions, CompletedRun, RunControl};
pub use session::Session;
pub use suspend::EndedRun;
pub use threads::{Work, spawn};
pub use toolcell::{CancelToken, PartialResultSink};
