//! The root certificates that requests trust.

use std::path::PathBuf;

/// The source of the trusted root certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    /// The system's certificates, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name. They are
    /// loaded on first use. Without any certificate, each https request fails.
    System,
    /// The certificates in a PEM file.
    File(PathBuf),
}
