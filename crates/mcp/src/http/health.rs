//! Hooks behind the health endpoints.
//!
//! Invariant: a hook that the host did not configure reports success and records no metrics.

use std::fmt;
use std::sync::Arc;

use crate::principal::Principal;

type ReadyFn = dyn Fn() -> Result<(), String> + Send + Sync;
type MetricsFn = dyn Fn() -> String + Send + Sync;
type RefusedFn = dyn Fn(&Principal, &'static str, String) + Send + Sync;

/// Hooks behind the health endpoints, configured by the host.
#[derive(Clone, Default)]
pub struct HealthHooks {
    ready: Option<Arc<ReadyFn>>,
    metrics: Option<Arc<MetricsFn>>,
    refused: Option<Arc<RefusedFn>>,
}

impl HealthHooks {
    /// Sets the readiness check; an error is the reason why the server is not ready.
    #[must_use]
    pub fn with_ready(mut self, ready: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.ready = Some(Arc::new(ready));
        self
    }

    /// Sets the source of metrics, in the Prometheus text format.
    #[must_use]
    pub fn with_metrics(mut self, metrics: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.metrics = Some(Arc::new(metrics));
        self
    }

    /// Sets the observer of requests that are refused before they reach the protocol: the
    /// principal, the code and the reason. Requests without a known principal are not reported.
    #[must_use]
    pub fn with_refused(mut self, refused: impl Fn(&Principal, &'static str, String) + Send + Sync + 'static) -> Self {
        self.refused = Some(Arc::new(refused));
        self
    }

    pub(super) fn report_refused(&self, principal: &Principal, code: &'static str, why: String) {
        if let Some(refused) = &self.refused {
            refused(principal, code, why);
        }
    }

    pub(super) fn check_ready(&self) -> Result<(), String> {
        self.ready.as_ref().map_or(Ok(()), |ready| ready())
    }

    pub(super) fn render_metrics(&self) -> String {
        self.metrics.as_ref().map_or_else(String::new, |metrics| metrics())
    }
}

impl fmt::Debug for HealthHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probes").finish_non_exhaustive()
    }
}
