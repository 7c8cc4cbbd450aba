//! Routes HTTP requests: the protocol at `/mcp`, and the endpoints for operators.
//!
//! axum matches paths and methods; the check of `Host` is a layer around all routes, and CORS is
//! around that. `axum::serve` is not used: it has no timeouts of connections and keeps the buffers of idle
//! ones.
//!
//! Invariant: the name of the host is checked on every path, before anything else of a request but
//! its `Origin`. The endpoints for operators answer under any load.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, HeaderValue, TRANSFER_ENCODING};
use axum::http::{Request, Response};
use axum::middleware::from_fn_with_state;
use hyper::body::{Body as _, Incoming};
use rmcp::ServerHandler;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::HttpConfig;
use super::authenticate::Authenticator;
use super::body::GuardedBody;
use super::connection::Exchange;
use super::connections::RequestConnection;
use super::cors::Cors;
use super::endpoint::{self, Endpoint};
use super::health::{self, OperatorState};
use super::host_check::{HostAllowlist, check_host};
use super::pages;
use super::problem::{Refusal, RefusalCode};
use crate::in_flight::CallTracker;

/// The routes of a server, with their layers.
pub(super) struct HttpRoutes {
    routes: Router,
    cors: Cors,
    awaited: TaskTracker,
    sessions: CancellationToken,
    /// Cancelled when the streams of the host's pages have to end.
    pages: Option<CancellationToken>,
}

impl HttpRoutes {
    pub(super) fn new<H: ServerHandler + Clone>(
        handler: H,
        config: &HttpConfig,
        calls: &CallTracker,
        bound: SocketAddr,
    ) -> Self {
        let hosts = Arc::new(HostAllowlist::new(&config.allowed_hosts, bound));
        let authenticator = Arc::new(Authenticator::new(config));
        let (awaited, sessions) = (TaskTracker::new(), CancellationToken::new());
        let shared = endpoint::Shared {
            authenticator: Arc::clone(&authenticator),
            awaited: awaited.clone(),
            closing: sessions.clone(),
            draining: calls.draining().clone(),
        };
        let endpoint = Endpoint::new(handler, config, &hosts, shared);
        let operators = OperatorState { hooks: config.health.clone(), calls: calls.clone(), authenticator };
        let mut routes = health::routes(operators).merge(endpoint::route(endpoint));
        if let Some(host_pages) = &config.pages {
            routes = routes.merge(pages::routes(host_pages, &awaited));
        }
        let routes = routes.fallback(async || Refusal::NotFound);
        // The check is around a router of its own: one for each route would answer after the method
        // was matched, with the route's `Allow`.
        let routes = Router::new().fallback_service(routes).layer(from_fn_with_state(hosts, check_host));
        let pages = config.pages.as_ref().map(|pages| pages.closing.clone());
        Self { routes, cors: Cors::new(&config.allowed_origins), awaited, sessions, pages }
    }

    /// The requests whose responses a shutdown waits for.
    pub(super) const fn awaited(&self) -> &TaskTracker {
        &self.awaited
    }

    /// Ends all sessions and streams.
    pub(super) fn close_sessions(&self) {
        self.sessions.cancel();
        self.pages.iter().for_each(CancellationToken::cancel);
    }

    pub(super) async fn handle(
        &self,
        request: Request<Incoming>,
        connection: RequestConnection,
    ) -> Response<GuardedBody<Exchange>> {
        let exchange = connection.activity.start_exchange();
        if request.body().is_end_stream() {
            connection.activity.mark_read();
        }
        let chunked = request.headers().contains_key(TRANSFER_ENCODING);
        let peer: IpAddr = connection.peer;
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(connection);
        let mut response = self.cors.call(self.routes.clone(), request).await;
        if let Some(RefusalCode(code)) = response.extensions().get() {
            tracing::debug!(code = code.as_str(), %peer, "request refused");
        }
        if chunked {
            // A proxy may have framed this request differently (RFC 9112, section 6.3), so the
            // bytes after it are not parsed as another request.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response.map(|body| GuardedBody::new(body, exchange))
    }
}
