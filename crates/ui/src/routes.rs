//! The paths of the server.
//!
//! ```text
//! each request → headers of the answer → host name → session → page, event or decision
//! ```
//!
//! Invariant: only the link, the assets and the refusals are served without the session, or outside of the secret path.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{MethodFilter, get, on, post};
use serde::Deserialize;
use toolcell_i18n::message;

use crate::access::LinkUse;
use crate::app::App;
use crate::{assets, decide, events, headers, pages};

/// Returns the routes of a server.
pub(crate) fn routes(app: &Arc<App>) -> Router {
    let pages = Router::new()
        .route("/", get(pages::inbox::page))
        .route("/tools", get(pages::library::page))
        .route("/tools/{tool}", get(pages::tool::page))
        .route("/tools/{tool}/decide", post(decide::decide))
        .route("/runs", get(pages::runs::page))
        .route("/runs/{run}", get(pages::run::page))
        .route("/runs/{run}/receipt.json", get(pages::run::download))
        .route("/runs/{run}/replay", post(pages::run::replay))
        .route("/suspended/{run}", get(pages::suspended::page))
        .route("/suspended/{run}/resume", post(pages::suspended::resume))
        .route("/ledger", get(pages::ledger::page))
        .route("/ledger/usage.csv", get(pages::ledger::usage_file))
        .route("/ledger/tools.csv", get(pages::ledger::tools_file))
        .route("/playground", get(pages::playground::page).post(pages::playground::submit))
        .route("/playground/toolcell.d.ts", get(pages::playground::declarations))
        .route("/playground/flame/{name}", get(pages::playground::flame_graph))
        .route("/events", get(events::events))
        .fallback(pages::not_found)
        .layer(from_fn_with_state(Arc::clone(app), require_session))
        .with_state(Arc::clone(app));
    Router::new()
        .route("/open", on(MethodFilter::GET, open_link))
        .route("/assets/{hash}/{name}", get(assets::serve))
        // `Router::nest` would not match the path with its slash.
        .nest_service(app.access.base().trim_end_matches('/'), pages)
        .fallback(refuse)
        .with_state(Arc::clone(app))
        .layer(from_fn_with_state(Arc::clone(app), require_own_host))
        .layer(map_response(headers::secure))
}

/// Marks the connection of a request that has access.
#[derive(Clone)]
pub(crate) struct KnownConnection(pub(crate) Arc<AtomicBool>);

async fn require_own_host(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if !app.access.is_own_host(request.headers()) {
        let message = message!("this server has another name");
        let hint = message!("it answers to 127.0.0.1 and localhost with its port");
        return pages::refusal(app.lang_of(request.headers()), StatusCode::MISDIRECTED_REQUEST, &message, &hint);
    }
    next.run(request).await
}

async fn require_session(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if !app.access.has_session(request.headers()) {
        return refuse(State(app), request.headers().clone()).await;
    }
    if let Some(KnownConnection(is_known)) = request.extensions().get() {
        is_known.store(true, Ordering::Relaxed);
    }
    next.run(request).await
}

/// Answers a request without access, whatever it asks for.
async fn refuse(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let message = message!("this browser has no access to the page");
    let hint = message!("open the link that `toolcell ui` printed; it works once, and until the command ends");
    pages::refusal(app.lang_of(&headers), StatusCode::UNAUTHORIZED, &message, &hint)
}

#[derive(Deserialize)]
struct Link {
    key: String,
}

/// Uses the one-time link.
async fn open_link(
    State(app): State<Arc<App>>,
    link: Result<Query<Link>, QueryRejection>,
    request: Request,
) -> Response {
    let lang = app.lang_of(request.headers());
    if request.method() != Method::GET {
        // Asking for the head alone does not use the link.
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let again = message!("end `toolcell ui` and start it again: it prints a new link");
    let key = link.map(|Query(link)| link.key).unwrap_or_default();
    match app.access.open(&key, request.headers()) {
        LinkUse::Opened(cookies) => {
            let cookies = AppendHeaders(cookies.map(|cookie| (SET_COOKIE, cookie)));
            (cookies, pages::entrance(lang, app.access.base())).into_response()
        }
        LinkUse::OpenedBefore => pages::entrance(lang, app.access.base()),
        LinkUse::Spent => {
            let message = message!("this link was used before; if that was not you, somebody else has the page open");
            pages::refusal(lang, StatusCode::GONE, &message, &again)
        }
        LinkUse::Unknown => pages::refusal(lang, StatusCode::NOT_FOUND, &message!("there is no such link"), &again),
    }
}
