//! The web page of Toolcell: what waits for a decision, the stored tools, their runs and their cost, and a place to write new ones.
//!
//! Pages are rendered on the server and work without scripts. A script adds live updates and keys, one draws the plots of the ledger, and one is
//! the editor of the playground. On one machine, a server on loopback has them behind a one-time link. A server that several people reach
//! mounts them for operators, who sign in.
//!
//! Reading order: `site` has what all pages share; `mounted` builds them for a server of another crate, and [`serve`] for one of its own on loopback. `routes` maps paths to `pages`; `access` decides who may ask, `limits` bounds a request, and `headers` say what a
//! browser may do with an answer. `decide`, `pages::suspended` and `pages::playground` change something, by a `form`. `markup` shows texts and
//! sources. `feed` notices changes, and `events` tells open pages about them.
//!
//! Invariants: a text of a tool, a model or a caller reaches a page only through `markup::text`, which escapes it and makes invisible
//! characters visible; no page has an inline script or style; a decision is bound to what was shown, and leaves one audit line with
//! the person; each request is bounded in size and time.

mod access;
mod app;
mod assets;
mod decide;
mod error;
mod events;
mod feed;
mod flame_graphs;
mod form;
mod headers;
mod limits;
mod markup;
mod mounted;
mod pages;
mod routes;
mod server;
mod site;
mod source;

pub use access::{Operator, SignIn, SignInRefusal};
pub use error::UiError;
pub use mounted::{LinkConfig, MountedPages, OperatorsConfig};
pub use server::serve;
pub use site::{AnsweredFor, MAX_RUNS};
pub use source::{CurrentToolbox, PageError, ToolboxSource};
