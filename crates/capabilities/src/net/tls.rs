//! Whom to trust.
//!
//! Invariant: a certificate is always checked, by rustls, against these roots alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;

use crate::failure::Failure;
use crate::net::Roots;
use crate::net::fault;

/// The file of trusted certificates is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// It cannot be read.
    #[error("the trusted certificates `{}` cannot be read", path.display())]
    Unreadable {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: pem::Error,
    },
    /// There is something else in it, or nothing.
    #[error("`{}` has no certificate in it that can be trusted", path.display())]
    Invalid {
        /// Where it is.
        path: PathBuf,
    },
    /// The library has nothing to encrypt with.
    #[error("TLS cannot be set up")]
    Unsupported(#[from] rustls::Error),
}

impl RootsError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "roots-unreadable",
            Self::Invalid { .. } => "roots-invalid",
            Self::Unsupported(_) => "tls-unsupported",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unreadable { .. } => Some("check that the file is there and may be read"),
            Self::Invalid { .. } => {
                Some("it must have certificates of authorities in PEM: `-----BEGIN CERTIFICATE-----`")
            }
            Self::Unsupported(_) => None,
        }
    }
}

/// How connections are encrypted.
pub(super) struct Tls {
    /// Trusts nobody: for clients that speak http alone, and to make the others of.
    nobody: ClientConfig,
    trusting: OnceCell<Option<ClientConfig>>,
}

impl Tls {
    pub(super) fn new(roots: Roots) -> Result<Self, RootsError> {
        let trusting = match roots {
            Roots::System => OnceCell::new(),
            Roots::File(path) => OnceCell::new_with(Some(Some(config(read(&path)?)?))),
        };
        Ok(Self { nobody: config(RootCertStore::empty())?, trusting })
    }

    /// For clients that speak http alone.
    pub(super) fn unused(&self) -> ClientConfig {
        self.nobody.clone()
    }

    /// For clients that speak https.
    pub(super) async fn trusting(&self) -> Result<ClientConfig, Failure> {
        let load = || async {
            // Reading a hundred files would hold up all other tasks of this thread.
            tokio::task::spawn_blocking(system).await.ok().flatten()
        };
        self.trusting.get_or_init(load).await.clone().ok_or_else(|| {
            let next = "install the system's certificates of authorities (`ca-certificates`), or name a file of them";
            fault::type_error("net-tls", format!("this machine trusts no authority, so https cannot be used; {next}"))
        })
    }
}

fn system() -> Option<ClientConfig> {
    let mut roots = RootCertStore::empty();
    // Systems carry certificates that rustls cannot use; those are not trusted.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() { None } else { config(roots).ok() }
}

fn read(path: &Path) -> Result<RootCertStore, RootsError> {
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

fn config(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
