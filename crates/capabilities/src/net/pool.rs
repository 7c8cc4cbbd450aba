//! The connection pools of a run.
//!
//! Invariant: a connection is reused only by requests that could have opened it. Requests whose
//! grants allow different private addresses use different clients.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use reqwest::Client;
use reqwest::redirect::Policy;
use toolcell_protocol::OperationError;
use toolcell_tool::Scheme;

use crate::net::dns::GuardedResolver;
use crate::net::{Shared, error};

/// The timeout for name resolution, connecting and the TLS handshake together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of the response head in HTTP/2, in bytes. In HTTP/1.1 the library has a limit
/// of the same order.
const MAX_HEADER_LIST_BYTES: u32 = 256 << 10;
const USER_AGENT: &str = concat!("toolcell/", env!("CARGO_PKG_VERSION"));

/// The HTTP clients of a run, one for each [`PoolKey`].
pub(super) struct ClientPool(Mutex<Vec<(PoolKey, Client)>>);

/// The properties of a client that requests must share to use its connections.
#[derive(PartialEq, Eq, Clone)]
pub(super) struct PoolKey {
    pub(super) scheme: Scheme,
    /// The private address ranges, sorted.
    pub(super) addresses: Arc<[IpNet]>,
    pub(super) decompression: Decompression,
}

/// The component that decompresses response bodies.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum Decompression {
    /// The HTTP library, for the codings it supports.
    Library,
    /// This crate, which rejects other codings: compressed data cannot be searched for secrets.
    Ourselves,
}

impl ClientPool {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the client for a key, and creates it on first use.
    pub(super) async fn get_or_create(&self, reach: PoolKey, shared: &Shared) -> Result<Client, OperationError> {
        if let Some(client) = self.cached(&reach) {
            return Ok(client);
        }
        let tls = match reach.scheme {
            Scheme::Http => shared.tls.disabled(),
            Scheme::Https => shared.tls.with_roots().await?,
        };
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have created it in the meantime.
        if let Some((_, client)) = clients.iter().find(|(made, _)| *made == reach) {
            return Ok(client.clone());
        }
        let mut builder = Client::builder();
        if reach.decompression == Decompression::Ourselves {
            builder = builder.no_gzip().no_brotli().no_deflate();
        }
        let client = builder
            .no_proxy()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .https_only(reach.scheme == Scheme::Https)
            .http2_max_header_list_size(MAX_HEADER_LIST_BYTES)
            .dns_resolver(GuardedResolver::new(shared.resolver.clone(), reach.addresses.clone()))
            .tls_backend_preconfigured(tls)
            .build()
            .map_err(|_| error::type_error("net-tls", "the client cannot be set up; report this as a bug"))?;
        clients.push((reach, client.clone()));
        Ok(client)
    }

    fn cached(&self, reach: &PoolKey) -> Option<Client> {
        let clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.iter().find(|(made, _)| made == reach).map(|(_, client)| client.clone())
    }
}
