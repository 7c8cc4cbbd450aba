//! The paths of a site.
//!
//! ```text
//! each request → headers of the answer → limits → host name → session → page, event or decision
//! ```
//!
//! Invariant: only the link, the sign-in, the assets and the refusals are served without a session.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{OriginalUri, Query, Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{MethodFilter, get, on, post};
use serde::Deserialize;
use toolcell_i18n::message;

use crate::access::{Access, LinkUse, is_loopback_host};
use crate::app::{App, lang_of};
use crate::pages::sign_in;
use crate::site::{AnsweredFor, Site};
use crate::{assets, decide, events, headers, limits, pages};

/// Returns the routes of a site with the pages of some toolboxes.
pub(crate) fn routes(site: &Arc<Site>, apps: &[Arc<App>]) -> Router {
    let mut routes = match site.access {
        Access::Link(_) => Router::new().route("/open", on(MethodFilter::GET, open_link)),
        Access::Operators(_) => Router::new()
            .route("/", get(sign_in::entrance))
            .route("/sign-in", get(sign_in::to_entrance).post(sign_in::sign_in))
            .route("/sign-out", get(sign_in::to_entrance).post(sign_in::sign_out)),
    };
    for app in apps {
        // `Router::nest` would not match the path with its slash.
        let base = app.base.trim_start_matches(&site.mount).trim_end_matches('/');
        routes = routes.nest_service(base, routes_of(app));
    }
    routes
        .route("/assets/{hash}/{name}", get(assets::serve))
        .fallback(refuse)
        .with_state(Arc::clone(site))
        .layer(from_fn_with_state(Arc::clone(site), require_own_host))
        .layer(from_fn_with_state(Arc::clone(site), limits::bound))
        .layer(map_response(headers::secure))
}

/// Returns the routes of the pages of a toolbox.
fn routes_of(app: &Arc<App>) -> Router {
    Router::new()
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
        .with_state(Arc::clone(app))
}

async fn require_own_host(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    if site.port.is_some_and(|port| !is_loopback_host(request.headers(), port)) {
        let message = message!("this server has another name");
        let hint = message!("it answers to 127.0.0.1 and localhost with its port");
        let lang = lang_of(request.headers(), site.lang);
        return pages::refusal(&site.mount, lang, StatusCode::MISDIRECTED_REQUEST, &message, &hint);
    }
    next.run(request).await
}

async fn require_session(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let site = &app.site;
    let session = site.access.session(request.headers()).filter(|session| app.admits(session));
    let Some(session) = session else {
        let uri = request.extensions().get::<OriginalUri>().map_or_else(|| request.uri().clone(), |uri| uri.0.clone());
        return refusal(site, request.method(), &uri, request.headers());
    };
    request.extensions_mut().insert(session);
    let mut response = next.run(request).await;
    response.extensions_mut().insert(AnsweredFor(app.principal.clone()));
    response
}

/// Answers a request without access, whatever it asks for.
async fn refuse(
    State(site): State<Arc<Site>>,
    method: Method,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Response {
    refusal(&site, &method, &uri, &headers)
}

fn refusal(site: &Site, method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
    let lang = lang_of(headers, site.lang);
    if let Access::Operators(_) = site.access {
        return sign_in::refusal(site, method, uri, headers);
    }
    let message = message!("this browser has no access to the page");
    let hint = message!("open the link that the server printed; it works once, and until the server ends");
    pages::refusal(&site.mount, lang, StatusCode::UNAUTHORIZED, &message, &hint)
}

#[derive(Deserialize)]
struct Link {
    key: String,
}

/// Uses the one-time link.
async fn open_link(
    State(site): State<Arc<Site>>,
    link: Result<Query<Link>, QueryRejection>,
    request: Request,
) -> Response {
    let lang = lang_of(request.headers(), site.lang);
    if request.method() != Method::GET {
        // Asking for the head alone does not use the link.
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let again = message!("end the server and start it again: it prints a new link");
    let key = link.map(|Query(link)| link.key).unwrap_or_default();
    let (used, base) = match &site.access {
        Access::Link(link) => (link.open(&key, request.headers()), format!("{}/{}/", site.mount, link.folder())),
        Access::Operators(_) => (LinkUse::Unknown, String::new()),
    };
    match used {
        LinkUse::Opened(cookies) => {
            let cookies = AppendHeaders(cookies.map(|cookie| (SET_COOKIE, cookie)));
            (cookies, pages::entrance(&site.mount, lang, &base)).into_response()
        }
        LinkUse::OpenedBefore => pages::entrance(&site.mount, lang, &base),
        LinkUse::Spent => {
            let message = message!("this link was used before; if that was not you, somebody else has the page open");
            pages::refusal(&site.mount, lang, StatusCode::GONE, &message, &again)
        }
        LinkUse::Unknown => {
            pages::refusal(&site.mount, lang, StatusCode::NOT_FOUND, &message!("there is no such link"), &again)
        }
    }
}
