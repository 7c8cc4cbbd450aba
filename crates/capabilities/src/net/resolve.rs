//! From names to addresses.
//!
//! Invariant: the client connects to no address that [`Checked`] has not seen. A name with one address among its answers that
//! is not granted is refused whole: whoever mixes private and public answers wants a second try to end at the private one.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolving};

use crate::net::address;

/// Finds the addresses of a host.
pub trait Resolve: Send + Sync {
    /// The addresses of a host, by its name as it stands in a URL.
    fn resolve<'a>(&'a self, host: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
}

/// Asks the system, as all programs of the machine do.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// What the client resolves names by.
pub(super) struct Checked {
    resolver: Arc<dyn Resolve>,
    granted: Arc<[IpNet]>,
}

impl Checked {
    pub(super) fn new(resolver: Arc<dyn Resolve>, granted: Arc<[IpNet]>) -> Self {
        Self { resolver, granted }
    }
}

impl reqwest::dns::Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, granted) = (self.resolver.clone(), self.granted.clone());
        Box::pin(async move {
            let found = resolver.resolve(name.as_str()).await?;
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address").into());
            }
            let found: Vec<IpAddr> = found.into_iter().map(|address| address.to_canonical()).collect();
            for found in &found {
                address::check(name.as_str(), *found, &granted)?;
            }
            let found: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(found)
        })
    }
}
