//! Where operators sign in, choose a principal, and sign out.
//!
//! Invariant: a form is used only if it comes from this server, so that no other web site signs a person in or out; after signing in, a
//! browser goes to a page of this server only.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{OriginalUri, State};
use axum::http::header::{REFERER, SET_COOKIE};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use toolcell_i18n::{Lang, Message, message, tr};

use super::{document, refusal as refused};
use crate::access::{Access, OperatorAccess, Session, SignInRefusal, is_own_origin};
use crate::app::lang_of;
use crate::markup::{prose, text};
use crate::site::Site;

/// The maximum length of the path that a person asked for, in bytes.
const MAX_PATH_BYTES: usize = 2_000;

/// What a person sends to sign in.
#[derive(Deserialize)]
struct SignInForm {
    token: String,
    /// The page that the person asked for.
    #[serde(default)]
    next: String,
}

#[derive(Deserialize)]
struct SignOutForm {
    form_token: String,
}

/// Shows a person who is signed in the principals, and another one how to sign in.
pub(crate) async fn entrance(
    State(site): State<Arc<Site>>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Response {
    if uri.path() == site.mount {
        // The cookie is for the paths below.
        return to_entrance(State(site)).await;
    }
    let lang = lang_of(&headers, site.lang);
    match site.access.session(&headers) {
        None => form(&site, lang, StatusCode::OK, "", None),
        Some(session) => match &*session.principals {
            [only] => Redirect::to(&site.base_of_principal(only)).into_response(),
            _ => choice(&site, &session, lang),
        },
    }
}

/// Sends a browser to the entrance.
pub(crate) async fn to_entrance(State(site): State<Arc<Site>>) -> Response {
    Redirect::to(&format!("{}/", site.mount)).into_response()
}

/// Answers a request for a page that a person has no access to, or that there is not: nothing tells the two apart.
pub(crate) fn refusal(site: &Site, method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
    let lang = lang_of(headers, site.lang);
    match site.access.session(headers) {
        None => {
            // What was sent to a form is gone, and its path has no page: the person goes back to the page of the form.
            let page = if method.is_safe() { Some(uri.clone()) } else { referring_page(headers) };
            let next = page.as_ref().and_then(Uri::path_and_query).map_or("", |path| path.as_str());
            form(site, lang, StatusCode::UNAUTHORIZED, next, None)
        }
        Some(_) => {
            let hint = message!("open {path} for the pages that you have access to", path = format!("{}/", site.mount));
            refused(&site.mount, lang, StatusCode::NOT_FOUND, &message!("there is no such page for you"), &hint)
        }
    }
}

/// Signs a person in.
pub(crate) async fn sign_in(
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let lang = lang_of(&headers, site.lang);
    let Some(operators) = operators(&site) else { return StatusCode::NOT_FOUND.into_response() };
    if !is_own_origin(&headers, site.schemes()) {
        return foreign(&site, lang);
    }
    let Ok(SignInForm { token, next }) = serde_urlencoded::from_bytes(&body) else {
        return form(&site, lang, StatusCode::BAD_REQUEST, "", Some(&message!("the form is incomplete")));
    };
    let address = extensions.get::<IpAddr>().copied().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    match operators.open(token.trim(), address, &headers) {
        Ok((operator, cookie)) => {
            tracing::info!(operator = operator.name, "an operator signed in");
            let next = if is_own_path(&site, &next) { next } else { format!("{}/", site.mount) };
            ([(SET_COOKIE, cookie)], Redirect::to(&next)).into_response()
        }
        Err(SignInRefusal::Unknown) => {
            let message = message!("this is not the token of an operator");
            form(&site, lang, StatusCode::UNAUTHORIZED, &next, Some(&message))
        }
        Err(SignInRefusal::TooManyAttempts { wait }) => {
            let seconds = wait.as_secs() + 1;
            let message = message!("too many wrong tokens came from your address: try again in {seconds} s", seconds);
            let mut response = form(&site, lang, StatusCode::TOO_MANY_REQUESTS, &next, Some(&message));
            response.headers_mut().insert(HeaderName::from_static("retry-after"), HeaderValue::from(seconds));
            response
        }
    }
}

/// Signs a person out.
pub(crate) async fn sign_out(State(site): State<Arc<Site>>, headers: HeaderMap, body: Bytes) -> Response {
    let lang = lang_of(&headers, site.lang);
    let Some(operators) = operators(&site) else { return StatusCode::NOT_FOUND.into_response() };
    let sent = serde_urlencoded::from_bytes::<SignOutForm>(&body).ok();
    let session = site.access.session(&headers);
    let is_own = session.is_none_or(|session| sent.is_some_and(|form| session.is_form_token(&form.form_token)));
    if !is_own || !is_own_origin(&headers, site.schemes()) {
        return foreign(&site, lang);
    }
    let mut response = Redirect::to(&format!("{}/", site.mount)).into_response();
    if let Some(cookie) = operators.close(&headers) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Returns the page that a request came from.
fn referring_page(headers: &HeaderMap) -> Option<Uri> {
    headers.get(REFERER)?.to_str().ok()?.parse().ok()
}

fn operators(site: &Site) -> Option<&OperatorAccess> {
    match &site.access {
        Access::Operators(operators) => Some(operators),
        Access::Link(_) => None,
    }
}

fn foreign(site: &Site, lang: Lang) -> Response {
    let message = message!("the form does not come from a page of this server: nothing was done");
    let hint = message!(
        "open {path} and try again; a proxy in front of the server must pass on the `Host` that the browser sent",
        path = format!("{}/", site.mount)
    );
    refused(&site.mount, lang, StatusCode::FORBIDDEN, &message, &hint)
}

/// Whether a path is one of this server's pages. It begins with the path of the pages, so no browser takes it for another host.
fn is_own_path(site: &Site, path: &str) -> bool {
    let is_inside = path.strip_prefix(&*site.mount).is_some_and(|rest| rest.starts_with("/principals/"));
    is_inside && path.len() <= MAX_PATH_BYTES && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

fn form(site: &Site, lang: Lang, status: StatusCode, next: &str, problem: Option<&Message>) -> Response {
    let body = html! {
        body {
            main #main {
                p.brand { "Toolcell" }
                h1 { (tr!(lang, "Sign in")) }
                p { (tr!(lang, "These pages are for operators, who decide about the tools of agents.")) }
                @if let Some(problem) = problem { p.notice.alarm role="alert" { (prose(&problem.to_text(lang))) } }
                form.sign-in method="post" action={ (site.mount) "/sign-in" } {
                    @if is_own_path(site, next) { input type="hidden" name="next" value=(next); }
                    label for="token" { (tr!(lang, "Token of the operator")) }
                    input #token type="password" name="token" required autofocus autocomplete="current-password" maxlength="512";
                    button.primary { (tr!(lang, "Sign in")) }
                }
                p.quiet { (prose(tr!(lang, "The token is in the file of tokens of the server, under `[operators.NAME]`. The token of an agent does not open these pages."))) }
            }
        }
    };
    document(&site.mount, lang, tr!(lang, "Sign in"), status, None, &body)
}

/// Lets a person choose one of several principals.
fn choice(site: &Site, session: &Session, lang: Lang) -> Response {
    let body = html! {
        body {
            main #main {
                p.brand { "Toolcell" }
                h1 { (tr!(lang, "Principals")) }
                p { (tr!(lang, "You decide as {person}", person = session.person)) }
                ul.rows {
                    @for principal in &session.principals {
                        li.row { a href=(site.base_of_principal(principal)) { (text(principal)) } }
                    }
                }
                (sign_out_form(&site.mount, &session.form_token, lang))
            }
        }
    };
    document(&site.mount, lang, tr!(lang, "Principals"), StatusCode::OK, None, &body)
}

/// Returns the form that signs a person out.
pub(super) fn sign_out_form(mount: &str, form_token: &str, lang: Lang) -> Markup {
    html! {
        form.sign-out method="post" action={ (mount) "/sign-out" } {
            input type="hidden" name="form_token" value=(form_token);
            button { (tr!(lang, "Sign out")) }
        }
    }
}
