//! The line in a client's configuration that starts a server.
