//! Clients of the server for programs that measure it: messages of both eras, lines over pipes or sockets, and HTTP.
//!
//! They are written by hand, so that what is timed is the server and not a client's library.
//!
//! Invariant: a server that is started here is ended when its client is dropped.

mod http;
mod lines;
mod message;
pub(crate) mod process;

pub(crate) use http::{Connection, Http};
pub(crate) use lines::{Lines, Way};
pub(crate) use message::{Era, Message};
pub(crate) use process::{rss_kib, toolcell};
