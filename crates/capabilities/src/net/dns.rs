//! DNS resolution with SSRF protection.
//!
//! Invariant: the client connects only to addresses that passed [`GuardedResolver`]. If any address
//! of a name is not allowed, the whole name is refused: an answer that mixes private and public
//! addresses is typical of DNS rebinding.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolving};

use crate::net::ssrf;

/// A DNS resolver.
pub trait Resolve: Send + Sync {
    /// Resolves a host name, as written in a URL, to addresses.
    fn resolve<'a>(&'a self, host: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
}

/// The system's resolver, as all programs of this machine use it.
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

/// A resolver that rejects addresses which are neither global nor granted.
pub(super) struct GuardedResolver {
    resolver: Arc<dyn Resolve>,
    granted: Arc<[IpNet]>,
}

impl GuardedResolver {
    pub(super) fn new(resolver: Arc<dyn Resolve>, granted: Arc<[IpNet]>) -> Self {
        Self { resolver, granted }
    }
}

impl reqwest::dns::Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, granted) = (self.resolver.clone(), self.granted.clone());
        Box::pin(async move {
            let found = resolver.resolve(name.as_str()).await?;
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address").into());
            }
            let found: Vec<IpAddr> = found.into_iter().map(|address| address.to_canonical()).collect();
            for found in &found {
                ssrf::check_address(name.as_str(), *found, &granted)?;
            }
            let found: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(found)
        })
    }
}
