//! The endpoints for operators, and the hooks behind them.
//!
//! Invariant: a hook that the host did not configure reports success and records no metrics. The
//! endpoints acquire nothing that a request to the protocol can exhaust.

use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Extension, Router};
use toolcell_error::ErrorCode;

use super::authenticate::Authenticator;
use super::connections::RequestConnection;
use super::problem::Refusal;
use crate::in_flight::CallTracker;
use crate::principal::Principal;

/// The text at `/`.
const INDEX_TEXT: &str =
    "Toolcell MCP server. Send MCP requests to /mcp; /healthz, /readyz and /metrics report its state.\n";
/// The methods of the endpoints.
const READ_METHODS: &str = "GET, HEAD";
/// The type of the Prometheus text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The header of all successful responses.
const NO_STORE: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

type DegradedFn = dyn Fn() -> Option<String> + Send + Sync;
type ReadyFn = dyn Fn() -> Result<(), String> + Send + Sync;
type MetricsFn = dyn Fn() -> String + Send + Sync;
type RefusedFn = dyn Fn(&Principal, ErrorCode, String) + Send + Sync;

/// Hooks behind the health endpoints, configured by the host.
#[derive(Clone, Default)]
pub struct HealthHooks {
    ready: Option<Arc<ReadyFn>>,
    degraded: Option<Arc<DegradedFn>>,
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

    /// Sets the check for what does not work although the server is ready, which `/readyz` tells.
    #[must_use]
    pub fn with_degraded(mut self, degraded: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.degraded = Some(Arc::new(degraded));
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
    pub fn with_refused(mut self, refused: impl Fn(&Principal, ErrorCode, String) + Send + Sync + 'static) -> Self {
        self.refused = Some(Arc::new(refused));
        self
    }

    pub(super) fn report_refused(&self, principal: &Principal, code: ErrorCode, why: String) {
        if let Some(refused) = &self.refused {
            refused(principal, code, why);
        }
    }

    pub(crate) fn check_ready(&self) -> Result<(), String> {
        self.ready.as_ref().map_or(Ok(()), |ready| ready())
    }

    pub(crate) fn describe_degraded(&self) -> Option<String> {
        self.degraded.as_ref().and_then(|degraded| degraded())
    }

    pub(crate) fn render_metrics(&self) -> String {
        self.metrics.as_ref().map_or_else(String::new, |metrics| metrics())
    }
}

impl fmt::Debug for HealthHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probes").finish_non_exhaustive()
    }
}

/// The state of the endpoints for operators.
pub(super) struct OperatorState {
    pub(super) hooks: HealthHooks,
    pub(super) calls: CallTracker,
    pub(super) authenticator: Arc<Authenticator>,
}

/// The routes of the endpoints for operators.
pub(super) fn routes(state: OperatorState) -> Router {
    Router::new()
        .route("/", get(async || ([NO_STORE], INDEX_TEXT)))
        .route("/healthz", get(async || ([NO_STORE], "ok\n")))
        .route("/readyz", get(readiness))
        .route("/metrics", get(metrics))
        .method_not_allowed_fallback(async || Refusal::MethodNotAllowed { allowed: READ_METHODS })
        .with_state(Arc::new(state))
}

async fn readiness(State(state): State<Arc<OperatorState>>) -> Result<impl IntoResponse, Refusal> {
    if state.calls.draining().is_cancelled() {
        return Err(Refusal::Closing);
    }
    state.hooks.check_ready().map_err(Refusal::NotReady)?;
    let text = match state.hooks.describe_degraded() {
        None => "ready\n".to_owned(),
        Some(what) => format!("ready, but {what}\n"),
    };
    Ok(([NO_STORE], text))
}

async fn metrics(
    State(state): State<Arc<OperatorState>>,
    Extension(connection): Extension<RequestConnection>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Refusal> {
    state.authenticator.authorize_metrics(&headers, connection.peer)?;
    Ok(([NO_STORE, (CONTENT_TYPE, METRICS_TYPE)], state.hooks.render_metrics()))
}
