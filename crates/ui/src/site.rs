//! What the pages of a server share.
//!
//! Invariant: runs, checks and blocking threads are bounded for the whole site, however many principals have pages.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use toolcell::CancelToken;
use toolcell_i18n::Lang;

use crate::access::Access;

/// The maximum number of runs and replays at once. A browser opens six connections to a server, and pages need some of them.
pub const MAX_RUNS: usize = 2;
/// The maximum number of open event streams.
const MAX_STREAMS: usize = 200;
/// The maximum number of pages and decisions that are worked on at once.
const MAX_BLOCKING: usize = 8;

/// The principal that a person with access asked about; `None` on a server that has no principals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredFor(pub Option<String>);

/// What all pages of a server share.
pub(crate) struct Site {
    pub(crate) access: Access,
    /// The path before all others: empty, or that at which the pages are mounted.
    pub(crate) mount: String,
    /// The port of a server on loopback that checks the host names of requests; `None` if another layer does.
    pub(crate) port: Option<u16>,
    /// The language for browsers that ask for none that there is.
    pub(crate) lang: Lang,
    /// Cancels runs when the server ends.
    pub(crate) cancel: CancelToken,
    /// The runs and replays that may still begin. Each keeps a thread busy, and pages and decisions need threads, too.
    pub(crate) runs: Semaphore,
    /// Held while code is checked, of which the last one matters alone.
    pub(crate) checks: Semaphore,
    /// The pages and decisions that may still be worked on.
    pub(crate) blocking: Arc<Semaphore>,
    /// The event streams that may still be opened.
    pub(crate) streams: Arc<Semaphore>,
    /// Cancelled when all event streams and runs have to end.
    pub(crate) closing: CancellationToken,
}

impl Site {
    pub(crate) fn new(access: Access, mount: &str, lang: Lang, port: Option<u16>) -> Arc<Self> {
        let closing = CancellationToken::new();
        let ending = closing.clone();
        Arc::new(Self {
            access,
            mount: mount.to_owned(),
            port,
            lang,
            cancel: CancelToken::with_poll(move || ending.is_cancelled()),
            runs: Semaphore::new(MAX_RUNS),
            checks: Semaphore::new(1),
            blocking: Arc::new(Semaphore::new(MAX_BLOCKING)),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            closing,
        })
    }

    /// Returns the path below which the pages of a principal are.
    pub(crate) fn base_of_principal(&self, principal: &str) -> String {
        format!("{}/principals/{principal}/", self.mount)
    }

    /// The schemes under which browsers reach the server. A proxy in front of it may end TLS.
    pub(crate) const fn schemes(&self) -> &'static [&'static str] {
        if self.port.is_some() { &["http"] } else { &["http", "https"] }
    }
}
