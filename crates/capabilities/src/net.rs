//! Requests to other machines.
//!
//! Invariant: a request goes out only if one grant allows all of it, to an address that was checked, with no more of a secret
//! than its own grant allows; what comes back is searched for values. Each hop of a redirect is a request of its own.

mod address;
mod client;
mod fault;
mod field;
#[cfg(test)]
mod fuzz;
mod grants;
mod hop;
mod placeholder;
mod rate;
mod redact;
mod redirect;
mod request;
mod resolve;
mod response;
mod run;
mod secret;
mod tls;
mod turns;
mod unpack;

use std::path::PathBuf;
use std::sync::Arc;

use toolcell_tool::{NetGrant, SecretGrant};

use crate::meters::Meters;

use rate::Rates;
use tls::Tls;

pub use request::{Redirect, Request};
pub use resolve::{Resolve, SystemResolver};
pub use response::{Body, Response};
pub use run::NetRun;
pub use secret::{Secret, SecretError};
pub use tls::RootsError;

/// What all runs of a process share: whom to trust, who resolves names, and how often tools have asked. Cheap to clone.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Effects, Meters, Net, NetConfig, Redirect, Request, RunNet};
/// use toolcell_tool::{HostPattern, NetGrant, Scheme};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let net = Net::new(NetConfig::default())?;
/// let grants = vec![NetGrant::to(HostPattern::parse("127.0.0.1")?, Scheme::Http)];
/// let (secrets, other_secrets, meters) = (Vec::new(), Vec::new(), Meters::default());
/// let (tool, run) = ("weather".into(), "run-1".into());
/// let run = net.start(RunNet { tool, run, grants, secrets, other_secrets, meters, caller: None });
///
/// let url = "http://2130706433/".to_owned();
/// let request = Request { url, method: "GET".into(), headers: Vec::new(), redirect: Redirect::Follow, body: None };
/// let failure = run.fetch(1, request).await.unwrap_err();
/// assert_eq!((failure.code, failure.effects), ("net-address", Effects::None));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Net(Arc<Shared>);

/// What runs share.
struct Shared {
    tls: Tls,
    resolver: Arc<dyn Resolve>,
    rates: Rates,
}

/// How requests are made.
pub struct NetConfig {
    /// Whose certificates are trusted; the system's unless said.
    pub roots: Roots,
    /// Who resolves names; the system unless said.
    pub resolver: Arc<dyn Resolve>,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self { roots: Roots::System, resolver: Arc::new(SystemResolver) }
    }
}

/// Whose certificates are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    /// Those that this machine trusts, or that its `SSL_CERT_FILE` and `SSL_CERT_DIR` name. They are read when they are first
    /// needed; that there are none is an error of each request by https.
    System,
    /// Those in a file, in PEM.
    File(PathBuf),
}

/// What one run may do.
#[derive(Debug)]
pub struct RunNet {
    /// Which tool this is: what `per_minute` counts by, in all runs.
    pub tool: String,
    /// Which run this is: what idempotency keys are made of. No two runs have the same.
    pub run: String,
    /// The requests that it may make.
    pub grants: Vec<NetGrant>,
    /// The secrets that may be put into them.
    pub secrets: Vec<(SecretGrant, Secret)>,
    /// The secrets that other tools may send somewhere, with all hosts to which any of them may: what those hosts answer is searched
    /// for them as well.
    pub other_secrets: Vec<(SecretGrant, Secret)>,
    /// The counters of the tree of runs.
    pub meters: Meters,
    /// The requests of the run that it is called within.
    pub caller: Option<Arc<NetRun>>,
}

impl Net {
    /// What runs will share.
    ///
    /// # Errors
    /// `roots-unreadable`, `roots-invalid`: the file of trusted certificates.
    pub fn new(config: NetConfig) -> Result<Self, RootsError> {
        let NetConfig { roots, resolver } = config;
        Ok(Self(Arc::new(Shared { tls: Tls::new(roots)?, resolver, rates: Rates::default() })))
    }

    /// What one run makes its requests by. It opens no connection before the first of them.
    #[must_use]
    pub fn start(&self, run: RunNet) -> NetRun {
        NetRun::new(self.0.clone(), run)
    }
}
