//! How the server is, for who asks.
//!
//! Invariant: what nobody said how to tell is told as if all was well, and counts nothing.

use std::fmt;
use std::sync::Arc;

use crate::principal::Principal;

type Ready = dyn Fn() -> Result<(), String> + Send + Sync;
type Metrics = dyn Fn() -> String + Send + Sync;
type Refused = dyn Fn(&Principal, &'static str, String) + Send + Sync;

/// How the server is, for who asks.
#[derive(Clone, Default)]
pub struct Probes {
    ready: Option<Arc<Ready>>,
    metrics: Option<Arc<Metrics>>,
    refused: Option<Arc<Refused>>,
}

impl Probes {
    /// With what says whether requests should come, and if not, why.
    #[must_use]
    pub fn with_ready(mut self, ready: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.ready = Some(Arc::new(ready));
        self
    }

    /// With what counts, in the text format of Prometheus.
    #[must_use]
    pub fn with_metrics(mut self, metrics: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.metrics = Some(Arc::new(metrics));
        self
    }

    /// With who hears of requests that are refused before the protocol sees them: of whom, the code, and why. Those of nobody
    /// that is known are not told.
    #[must_use]
    pub fn with_refused(mut self, refused: impl Fn(&Principal, &'static str, String) + Send + Sync + 'static) -> Self {
        self.refused = Some(Arc::new(refused));
        self
    }

    pub(super) fn refused(&self, principal: &Principal, code: &'static str, why: String) {
        if let Some(refused) = &self.refused {
            refused(principal, code, why);
        }
    }

    pub(super) fn ready(&self) -> Result<(), String> {
        self.ready.as_ref().map_or(Ok(()), |ready| ready())
    }

    pub(super) fn metrics(&self) -> String {
        self.metrics.as_ref().map_or_else(String::new, |metrics| metrics())
    }
}

impl fmt::Debug for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probes").finish_non_exhaustive()
    }
}
