//! The connections of one run.
//!
//! Invariant: a connection is used again only by requests that could have opened it: requests by different grants of private
//! addresses have different clients.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use reqwest::Client;
use reqwest::redirect::Policy;
use toolcell_tool::Scheme;

use crate::failure::Failure;
use crate::net::resolve::Checked;
use crate::net::{Shared, fault};

/// How long it may take to find a host and greet it.
const CONNECT: Duration = Duration::from_secs(10);
/// The most bytes of the head of an answer by HTTP/2; by HTTP/1.1 the library has a limit of this order.
const HEAD_BYTES: u32 = 256 << 10;
const USER_AGENT: &str = concat!("toolcell/", env!("CARGO_PKG_VERSION"));

/// The connections of one run.
pub(super) struct Clients(Mutex<Vec<(Reach, Client)>>);

/// Where a client may connect to.
#[derive(PartialEq, Eq, Clone)]
pub(super) struct Reach {
    pub(super) scheme: Scheme,
    /// The private addresses, in order.
    pub(super) addresses: Arc<[IpNet]>,
    pub(super) unpacks: Unpacks,
}

/// Who unpacks what comes back.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum Unpacks {
    /// The library, as far as it can.
    Library,
    /// We do, and refuse what we cannot unpack: what stays packed cannot be searched.
    Ourselves,
}

impl Clients {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The client for a request.
    pub(super) async fn reaching(&self, reach: Reach, shared: &Shared) -> Result<Client, Failure> {
        if let Some(client) = self.made(&reach) {
            return Ok(client);
        }
        let tls = match reach.scheme {
            Scheme::Http => shared.tls.unused(),
            Scheme::Https => shared.tls.trusting().await?,
        };
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have made it meanwhile.
        if let Some((_, client)) = clients.iter().find(|(made, _)| *made == reach) {
            return Ok(client.clone());
        }
        let mut builder = Client::builder();
        if reach.unpacks == Unpacks::Ourselves {
            builder = builder.no_gzip().no_brotli().no_deflate();
        }
        let client = builder
            .no_proxy()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT)
            .https_only(reach.scheme == Scheme::Https)
            .http2_max_header_list_size(HEAD_BYTES)
            .dns_resolver(Checked::new(shared.resolver.clone(), reach.addresses.clone()))
            .tls_backend_preconfigured(tls)
            .build()
            .map_err(|_| fault::type_error("net-tls", "the client cannot be set up; report this as a fault"))?;
        clients.push((reach, client.clone()));
        Ok(client)
    }

    fn made(&self, reach: &Reach) -> Option<Client> {
        let clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.iter().find(|(made, _)| made == reach).map(|(_, client)| client.clone())
    }
}
