//! HTTP requests of tools.
//!
//! Invariant: a request is sent only if a single grant allows all of it, only to an address that
//! passed the SSRF check, and only with the secrets that their own grants allow for it. Secret
//! values in responses are redacted. Each hop of a redirect is authorized like a request of its
//! own.

mod authorize;
mod decompress;
mod dns;
mod error;
#[cfg(test)]
mod fuzz;
mod header;
mod hop;
mod origin_limiter;
mod placeholder;
mod pool;
mod rate_limit;
mod redact;
mod redirect;
mod request;
mod response;
mod secret;
mod session;
mod ssrf;
mod tls;

use std::sync::Arc;

use ipnet::IpNet;
use toolcell_protocol::OperationError;
use toolcell_tool::{NetGrant, Scheme, SecretGrant};

use crate::meters::Meters;
use crate::roots::Roots;

use rate_limit::RateLimits;
use tls::Tls;

pub use dns::{Resolve, SystemResolver};
pub use redact::{Redactor, RedactorError};
pub use request::Request;
pub use response::{Body, Response};
pub use secret::{Secret, SecretError};
pub use session::{NetSession, ObservedRequest, RequestObserver};
pub use tls::RootsError;

/// The network state that all runs of a process share: TLS roots, the DNS resolver, and the rate
/// limits. Cheap to clone.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Effects, Meters, Net, NetConfig, Redirect, Request, NetSessionConfig};
/// use toolcell_tool::{HostPattern, NetGrant, Scheme};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let net = Net::new(NetConfig::default())?;
/// let grants = vec![NetGrant::new(HostPattern::parse("127.0.0.1")?, Scheme::Http)];
/// let (secrets, other_secrets, meters) = (Vec::new(), Vec::new(), Meters::default());
/// let (tool, run) = ("weather".into(), "run-1".into());
/// let run = net.start(NetSessionConfig { tool, run, grants, secrets, other_secrets, meters, caller: None });
///
/// let url = "http://2130706433/".to_owned();
/// let request = Request { url, method: "GET".into(), headers: Vec::new(), redirect: Redirect::Follow, body: None };
/// let failure = run.fetch(1, request).await.unwrap_err();
/// assert_eq!((&*failure.code, failure.effects), ("net-address", Effects::None));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Net(Arc<Shared>);

/// The shared state.
struct Shared {
    tls: Tls,
    resolver: Arc<dyn Resolve>,
    rates: RateLimits,
}

/// The configuration of network access.
pub struct NetConfig {
    /// The trusted root certificates; default the system's.
    pub roots: Roots,
    /// The DNS resolver; default the system's.
    pub resolver: Arc<dyn Resolve>,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self { roots: Roots::System, resolver: Arc::new(SystemResolver) }
    }
}

/// The configuration of the network access of one run.
#[derive(Debug)]
pub struct NetSessionConfig {
    /// The identifier of the tool. `per_minute` limits are counted per tool, over all its runs.
    pub tool: String,
    /// The unique identifier of the run, from which idempotency keys are derived.
    pub run: String,
    /// The requests that the run may make.
    pub grants: Vec<NetGrant>,
    /// The secrets that the run may send.
    pub secrets: Vec<(SecretGrant, Secret)>,
    /// The secrets that other tools may send, with all hosts that any of them may send to.
    /// Responses of those hosts are searched for them as well.
    pub other_secrets: Vec<(SecretGrant, Secret)>,
    /// The usage counters of the run tree.
    pub meters: Meters,
    /// The network session of the calling run, if this run is nested.
    pub caller: Option<Arc<NetSession>>,
}

impl Net {
    /// Creates the shared network state.
    ///
    /// # Errors
    /// `roots-unreadable`, `roots-invalid`: the PEM file of trusted certificates.
    /// `tls-unsupported`: TLS cannot be set up.
    pub fn new(config: NetConfig) -> Result<Self, RootsError> {
        let NetConfig { roots, resolver } = config;
        Ok(Self(Arc::new(Shared { tls: Tls::new(roots)?, resolver, rates: RateLimits::default() })))
    }

    /// Checks a URL whose host is an address: it has to be global, or in one of these ranges. The addresses of a name are
    /// checked when it is resolved.
    ///
    /// # Errors
    /// Which address it is, and why it is not global.
    pub fn check_host(url: &url::Url, addresses: &[IpNet]) -> Result<(), String> {
        let literal = match url.host() {
            Some(url::Host::Ipv4(address)) => address.into(),
            Some(url::Host::Ipv6(address)) => address.into(),
            Some(url::Host::Domain(_)) | None => return Ok(()),
        };
        let checked = ssrf::check_address(url.host_str().unwrap_or_default(), literal, addresses);
        checked.map_err(|refused| refused.to_string())
    }

    /// Returns an HTTP client for one server of the user's: it follows no redirect, and connects to no private address but
    /// those in these ranges. A URL whose host is an address is for [`check_host`](Self::check_host).
    ///
    /// # Errors
    /// `net-tls`: TLS cannot be set up.
    pub async fn client(&self, scheme: &str, addresses: Vec<IpNet>) -> Result<reqwest::Client, OperationError> {
        let key = pool::PoolKey {
            scheme: if scheme == Scheme::Http.name() { Scheme::Http } else { Scheme::Https },
            addresses: addresses.into(),
            decompression: pool::Decompression::Library,
        };
        pool::ClientPool::new().get_or_create(key, &self.0).await
    }

    /// Creates the network session of a run. No connection is opened before its first request.
    #[must_use]
    pub fn start(&self, run: NetSessionConfig) -> NetSession {
        NetSession::new(self.0.clone(), run)
    }
}
