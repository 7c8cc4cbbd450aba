//! The errors of starting the pages.

use std::io;
use std::net::SocketAddr;

/// An error of starting the server.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum UiError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    #[code(HttpListen)]
    #[hint("use another port with `--port`, or none for any free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        error: io::Error,
    },
    /// The system provides no threads or no random numbers.
    #[error("cannot start the server: {0}")]
    #[code(NoThreads)]
    #[hint("raise the limit on processes and threads (`ulimit -u`), or end other processes")]
    Start(#[source] io::Error),
}
