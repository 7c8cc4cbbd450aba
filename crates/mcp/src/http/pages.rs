//! Pages of the host, such as those of `toolcell_ui`, beside the protocol.
//!
//! Their forms are read by themselves, with limits of their own; the timeouts and the shares of connections are those of this server.
//!
//! Invariant: a connection counts as authenticated only after the pages said so. At shutdown their streams end with the sessions.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::Extensions;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};
use hyper::body::{Frame, SizeHint};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::body::{GuardedBody, RequestGuard};
use super::connection::IdleTracker;
use super::connections::RequestConnection;
use crate::principal::Principal;

/// The path of the pages.
pub const PAGES_PATH: &str = "/ui";

/// Pages of the host below [`PAGES_PATH`].
#[derive(Debug, Clone)]
pub struct HostPages {
    /// The pages, without [`PAGES_PATH`]. A request has the [`IpAddr`] of its client among its extensions.
    pub router: Router,
    /// Returns the principal whose pages a person with access asked for, from the extensions of the answer.
    pub principal_of: fn(&Extensions) -> Option<Principal>,
    /// Cancelled when the streams of the pages have to end.
    pub closing: CancellationToken,
}

#[derive(Clone)]
struct PagesState {
    router: Router,
    principal_of: fn(&Extensions) -> Option<Principal>,
    awaited: TaskTracker,
}

/// The routes of the pages. `awaited` has the requests whose responses a shutdown waits for.
pub(super) fn routes(pages: &HostPages, awaited: &TaskTracker) -> Router {
    let HostPages { router, principal_of, closing: _ } = pages.clone();
    let state = PagesState { router, principal_of, awaited: awaited.clone() };
    // A service that is nested matches its path with and without a slash at the end.
    Router::new().nest_service(PAGES_PATH, Router::new().fallback(serve).with_state(state))
}

async fn serve(
    State(pages): State<PagesState>,
    Extension(connection): Extension<RequestConnection>,
    mut request: Request,
) -> Response {
    let mut guard = RequestGuard::default();
    request.extensions_mut().remove::<RequestConnection>();
    request.extensions_mut().insert::<IpAddr>(connection.peer);
    if !request.method().is_safe() {
        guard.awaited = Some(pages.awaited.token());
    }
    let activity = Arc::clone(&connection.activity);
    let request = request.map(|body| Body::new(TrackedBody { body, activity }));
    let response = match pages.router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    if let Some(principal) = (pages.principal_of)(response.extensions())
        && let Err(refusal) = connection.registered.set_owner(&principal)
    {
        return refusal.into_response();
    }
    response.map(|body| Body::new(GuardedBody::new(body, guard)))
}

/// A request body that tells its connection when it is read.
struct TrackedBody {
    body: Body,
    activity: Arc<IdleTracker>,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None)) {
            self.activity.mark_read();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
