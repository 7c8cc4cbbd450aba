//! The web page of Toolcell: what waits for a decision, the stored tools, their runs and their cost, and a place to write new ones.
//!
//! Pages are rendered on the server and work without scripts. A script adds live updates and keys, one draws the plots of the ledger, and one is
//! the editor of the playground. The server listens on
//! loopback, and a one-time link is the only way in.
//!
//! Reading order: [`serve`] accepts connections; `routes` maps paths to `pages`; `access` decides who may ask, and `headers` what a
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
mod events;
mod feed;
mod flame_graphs;
mod form;
mod headers;
mod markup;
mod pages;
mod routes;
mod server;
mod source;

pub use server::{UiConfig, UiError, serve};
pub use source::{CurrentToolbox, PageError, ToolboxSource};
