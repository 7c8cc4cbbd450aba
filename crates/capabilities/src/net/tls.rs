//! TLS configuration and trusted root certificates.
//!
//! Invariant: rustls verifies every certificate, against the configured roots only.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;
use toolcell_i18n::msgid;
use toolcell_protocol::OperationError;

use crate::net::error;
use crate::roots::Roots;

/// The error of loading the trusted root certificates.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum RootsError {
    /// The file cannot be read.
    #[error("the trusted certificates `{}` cannot be read", path.display())]
    #[code(RootsUnreadable)]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: pem::Error,
    },
    /// The file contains no certificate, or one that cannot be trusted.
    #[error("`{}` contains no certificate that can be trusted", path.display())]
    #[code(RootsInvalid)]
    Invalid {
        /// The path of the file.
        path: PathBuf,
    },
    /// The TLS library supports no protocol version with its provider.
    #[error("TLS cannot be set up")]
    #[code(TlsUnsupported)]
    Unsupported(#[from] rustls::Error),
}

impl RootsError {
    /// Returns a suggested next step, if there is one.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unreadable { .. } => Some(msgid!("check that the file exists and is readable")),
            Self::Invalid { .. } => {
                Some(msgid!("it must contain CA certificates in PEM: `-----BEGIN CERTIFICATE-----`"))
            }
            Self::Unsupported(_) => None,
        }
    }
}

/// The TLS configurations of the clients.
pub(super) struct Tls {
    /// A configuration without trusted roots, for clients that only use http.
    without_roots: ClientConfig,
    with_roots: OnceCell<Option<ClientConfig>>,
}

impl Tls {
    pub(super) fn new(roots: Roots) -> Result<Self, RootsError> {
        let trusting = match roots {
            Roots::System => OnceCell::new(),
            Roots::File(path) => OnceCell::new_with(Some(Some(client_config(read_pem(&path)?)?))),
        };
        Ok(Self { without_roots: client_config(RootCertStore::empty())?, with_roots: trusting })
    }

    /// Returns the configuration for clients that only use http.
    pub(super) fn disabled(&self) -> ClientConfig {
        self.without_roots.clone()
    }

    /// Returns the configuration for clients that use https. The system's roots are loaded on first
    /// use.
    pub(super) async fn with_roots(&self) -> Result<ClientConfig, OperationError> {
        let load = || async {
            // Loading reads up to hundreds of files, which must not block the async runtime.
            tokio::task::spawn_blocking(system_config).await.ok().flatten()
        };
        self.with_roots.get_or_init(load).await.clone().ok_or_else(|| {
            let next = "install the system's CA certificates (`ca-certificates`), or name a file with them";
            error::type_error("net-tls", format!("this machine trusts no CA, so https cannot be used; {next}"))
        })
    }
}

fn system_config() -> Option<ClientConfig> {
    let mut roots = RootCertStore::empty();
    // Certificates of the system that rustls cannot parse are ignored.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() { None } else { client_config(roots).ok() }
}

fn read_pem(path: &Path) -> Result<RootCertStore, RootsError> {
    let unreadable = |source| match source {
        pem::Error::Io(_) => RootsError::Unreadable { path: path.to_owned(), source },
        _ => RootsError::Invalid { path: path.to_owned() },
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
        let certificate = certificate.map_err(unreadable)?;
        roots.add(certificate).map_err(|_| RootsError::Invalid { path: path.to_owned() })?;
    }
    if roots.is_empty() { Err(RootsError::Invalid { path: path.to_owned() }) } else { Ok(roots) }
}

fn client_config(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
