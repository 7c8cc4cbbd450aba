//! Tells open pages that they are out of date (server-sent events).
//!
//! An event contains no data: the page asks again.
//!
//! Invariant: the number of open streams is bounded, and a browser that does not read its stream holds one event.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::{Channel, Sender};
use hyper::body::Frame;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::app::App;

/// How often a comment is sent, so that a browser that is gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// How long a browser may not read an event.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// What a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Watched {
    /// A tool: its identifier, and the digest of what is shown of it.
    Tool { tool: String, shown: String },
    /// The store, at a state that its marker describes.
    Store { since: String },
}

/// Streams events (WHATWG HTML, section 9.2): `changed`, when what the page shows has changed.
pub(crate) async fn events(State(app): State<Arc<App>>, Query(watched): Query<Watched>) -> Response {
    let Ok(permit) = Arc::clone(&app.site.streams).try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (sender, body) = Channel::<Bytes>::new(1);
    let state = app.feed.subscribe();
    let closing = app.site.closing.clone();
    tokio::spawn(async move {
        let _ = closing.run_until_cancelled(stream(app, watched, state, sender)).await;
        drop(permit);
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::new(body)).into_response()
}

async fn stream(
    app: Arc<App>,
    watched: Watched,
    mut state: watch::Receiver<Option<String>>,
    mut sender: Sender<Bytes>,
) {
    let mut since = match &watched {
        Watched::Store { since } => Some(since.clone()),
        Watched::Tool { .. } => None,
    };
    let mut event = Some(": open\n\n");
    loop {
        if let Some(event) = event.take() {
            let sent = timeout(SEND_TIMEOUT, sender.send(Frame::data(Bytes::from_static(event.as_bytes())))).await;
            if !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
        let now = state.borrow_and_update().clone();
        if now.is_some() && now != since {
            since = now;
            if is_outdated(&app, &watched).await {
                event = Some(CHANGED);
                continue;
            }
        }
        match timeout(KEEP_ALIVE, state.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return,
            Err(_) => event = Some(": alive\n\n"),
        }
    }
}

const CHANGED: &str = "event: changed\ndata:\n\n";

/// Whether a page shows something else than what there is now, after the store changed.
async fn is_outdated(app: &App, watched: &Watched) -> bool {
    let Watched::Tool { tool, shown } = watched.clone() else { return true };
    let is_as_shown = app.with_toolbox(move |toolbox| Ok(toolbox.show(&tool, None)?.review_digest() == shown)).await;
    !is_as_shown.is_ok_and(|is_as_shown| is_as_shown)
}
