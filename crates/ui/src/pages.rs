//! The pages: one module for each, and what they share.
//!
//! Invariant: a page reads the store on a blocking thread, shows a bounded number of rows, and changes nothing when it is asked for.

pub(crate) mod inbox;
pub(crate) mod ledger;
pub(crate) mod library;
pub(crate) mod playground;
mod profile;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sign_in;
pub(crate) mod suspended;
pub(crate) mod tool;
mod words;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use toolcell::policy::Grants;
use toolcell::{Capabilities, escape_for_display};
use toolcell_i18n::{Lang, Localize as _, Message, message, tr};

use crate::app::Visit;
use crate::assets::{self, Asset};
use crate::form::FormRefusal;
use crate::markup::{prose, text};
use crate::source::PageError;

/// The pages of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Inbox,
    Tools,
    Runs,
    Ledger,
    Playground,
}

/// What a page watches for changes; the script reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Live {
    /// Nothing.
    Off,
    /// The page is replaced when the store is not at this state any more.
    Replaced { since: String },
    /// The person is told when this tool is not what the page shows any more.
    Reported { tool: String, shown: String },
}

/// A page.
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) section: Option<Section>,
    pub(crate) live: Live,
    pub(crate) body: Markup,
}

impl Page {
    pub(crate) fn to_response(&self, visit: &Visit, status: StatusCode) -> Response {
        let lang = visit.lang;
        let (replaced, tool, shown) = match &self.live {
            Live::Off => (None, None, None),
            Live::Replaced { since } => (Some(since), None, None),
            Live::Reported { tool, shown } => (None, Some(tool), Some(shown)),
        };
        let link = |section, path: &str, name: &str| {
            html! { a href=(path) aria-current=[(self.section == Some(section)).then_some("page")] { (name) } }
        };
        let body = html! {
            body data-since=[replaced] data-tool=[tool] data-shown=[shown] {
                header.top {
                    a.brand href="./" { "Toolcell" }
                    nav aria-label=(tr!(lang, "pages")) {
                        (link(Section::Inbox, "./", tr!(lang, "Inbox")))
                        (link(Section::Tools, "tools", tr!(lang, "Tools")))
                        (link(Section::Runs, "runs", tr!(lang, "Runs")))
                        (link(Section::Ledger, "ledger", tr!(lang, "Ledger")))
                        (link(Section::Playground, "playground", tr!(lang, "Playground")))
                    }
                    (person(visit))
                }
                div #notices role="status" {
                    @if visit.was_link_reused {
                        p.notice.alarm { (tr!(lang, "The link to this page was used a second time. If that was not you, end the server: another program on this machine has seen it.")) }
                    }
                    @if visit.is_read_only() {
                        p.notice { (tr!(lang, "The store is read-only: decisions cannot be saved.")) }
                    }
                    p.notice #offline hidden { (tr!(lang, "The server does not answer. What you see may be out of date, and decisions cannot be made.")) }
                    p.notice #outdated hidden {
                        (tr!(lang, "This tool changed since the page was opened.")) " "
                        a href={ "tools/" (tool.map(String::as_str).unwrap_or_default()) } { (tr!(lang, "Show it as it is now")) }
                    }
                }
                main #main tabindex="-1" { (self.body) }
                dialog #keys aria-labelledby="keys-title" {
                    h2 #keys-title { (tr!(lang, "Keys")) }
                    dl {
                        @for (key, meaning) in keys(lang) { dt { kbd { (key) } } dd { (meaning) } }
                    }
                    form method="dialog" { button { (tr!(lang, "Close")) } }
                }
            }
        };
        // Each script has that of all pages in it.
        let script = match self.section {
            Some(Section::Ledger) => assets::LEDGER_SCRIPT,
            Some(Section::Playground) => assets::PLAYGROUND_SCRIPT,
            _ => assets::SCRIPT,
        };
        document(&visit.mount, lang, &self.title, status, Some((&visit.base, script)), &body)
    }
}

/// Shows who decides; on a server with principals also for which of them, and the way to the others and out.
fn person(visit: &Visit) -> Markup {
    let (lang, session) = (visit.lang, &visit.session);
    html! {
        div.who {
            span.person { (tr!(lang, "You decide as {person}", person = session.person)) }
            @if let Some(principal) = &visit.principal {
                " " span { (tr!(lang, "for the principal")) " " strong { (text(principal)) } }
                @if session.principals.len() > 1 { " " a href={ (visit.mount) "/" } { (tr!(lang, "Choose another")) } }
                (sign_in::sign_out_form(&visit.mount, &session.form_token, lang))
            }
        }
    }
}

fn keys(lang: Lang) -> [(&'static str, &'static str); 8] {
    [
        ("j", tr!(lang, "next row")),
        ("k", tr!(lang, "previous row")),
        ("Enter", tr!(lang, "open the row")),
        ("/", tr!(lang, "search tools")),
        ("a", tr!(lang, "go to the button that approves")),
        ("r", tr!(lang, "go to the reason of a refusal")),
        ("i", tr!(lang, "go to the inbox")),
        ("?", tr!(lang, "show these keys")),
    ]
}

/// Writes a document. `mount` is the path before all others of the server, and `page` the path below which all pages are, and the script of this one.
fn document(
    mount: &str,
    lang: Lang,
    title: &str,
    status: StatusCode,
    page: Option<(&str, Asset)>,
    body: &Markup,
) -> Response {
    let document = html! {
        (DOCTYPE)
        html lang=(lang.name()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                @if let Some((base, _)) = page { base href=(base); }
                title { (escape_for_display(title)) " · Toolcell" }
                link rel="icon" href={ (mount) (assets::ICON.path) };
                link rel="stylesheet" href={ (mount) (assets::STYLE.path) };
                @if let Some((_, script)) = page { script src={ (mount) (script.path) } type="module" {} }
            }
            (body)
        }
    };
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], document.into_string()).into_response()
}

/// Tells why a request was not done, to a person with access.
pub(crate) fn problem(visit: &Visit, status: StatusCode, message: &Message, hint: &Message) -> Response {
    let lang = visit.lang;
    let body = html! {
        h1 { (tr!(lang, "Not done")) }
        p { (prose(&message.to_text(lang))) }
        p { (prose(&hint.to_text(lang))) }
        p { a href="./" { (tr!(lang, "Back to the inbox")) } }
    };
    let title = tr!(lang, "Not done").to_owned();
    Page { title, section: None, live: Live::Off, body }.to_response(visit, status)
}

/// Tells why a request was not done, by the error of an operation.
pub(crate) fn failed(visit: &Visit, error: &PageError) -> Response {
    problem(visit, error.status(), &error.message, &error.hint)
}

/// Tells why a form was not used.
pub(crate) fn refused_form(visit: &Visit, refusal: FormRefusal) -> Response {
    let (status, message) = match refusal {
        FormRefusal::Incomplete => (StatusCode::BAD_REQUEST, message!("the form is incomplete: nothing was done")),
        FormRefusal::Foreign => {
            (StatusCode::FORBIDDEN, message!("the form does not come from a page of this server: nothing was done"))
        }
    };
    problem(visit, status, &message, &message!("go back to the page, reload it, and send the form again"))
}

/// Tells a browser without access how it gets access, or why a request is not answered, and nothing else.
pub(crate) fn refusal(mount: &str, lang: Lang, status: StatusCode, message: &Message, hint: &Message) -> Response {
    let body = html! {
        body {
            main #main {
                h1 { (prose(&message.to_text(lang))) }
                p { (prose(&hint.to_text(lang))) }
            }
        }
    };
    let is_without_access = matches!(
        status,
        StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::MISDIRECTED_REQUEST
    );
    let title = if is_without_access { tr!(lang, "No access") } else { tr!(lang, "Not done") };
    document(mount, lang, title, status, None, &body)
}

/// Sends a browser that got access to the pages. A redirect would not do: after a click on another site, a browser sends the cookie
/// only with a request that comes from here.
pub(crate) fn entrance(mount: &str, lang: Lang, base: &str) -> Response {
    let document = html! {
        (DOCTYPE)
        html lang=(lang.name()) {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content={ "0; url=" (base) };
                title { "Toolcell" }
                link rel="stylesheet" href={ (mount) (assets::STYLE.path) };
            }
            body { main #main { p { a href=(base) { (tr!(lang, "Inbox")) } } } }
        }
    };
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], document.into_string()).into_response()
}

/// Answers a path that there is not.
pub(crate) async fn not_found(visit: Visit) -> Response {
    let hint = message!("the pages are the inbox, the tools, the runs, the ledger and the playground");
    problem(&visit, StatusCode::NOT_FOUND, &message!("there is no such page"), &hint)
}

/// Returns a button that keeps Enter from submitting a form that approves something: a form is not submitted by Enter if its first
/// button is disabled (WHATWG HTML, section 4.10.22.2).
fn no_default_button() -> Markup {
    html! { button disabled hidden {} }
}

/// Parses a query, or tells that it is invalid.
fn query_of<T>(query: Result<Query<T>, QueryRejection>, visit: &Visit) -> Result<T, Box<Response>> {
    query.map(|Query(query)| query).map_err(|_| {
        let hint = message!("start from the inbox");
        Box::new(problem(visit, StatusCode::BAD_REQUEST, &message!("the address of the page is invalid"), &hint))
    })
}

/// Describes grants.
fn grants_text(grants: &Grants, lang: Lang) -> String {
    if grants.is_empty() { tr!(lang, "no grants").to_owned() } else { grants.localize().to_text(lang) }
}

/// Describes stored grants, which another version may have written.
fn stored_grants_text(grants: &serde_json::Value, lang: Lang) -> String {
    match serde_json::from_value::<Grants>(grants.clone()) {
        Ok(grants) => grants_text(&grants, lang),
        Err(_) => grants.to_string(),
    }
}

/// Describes requested capabilities.
fn capabilities_text(capabilities: &Capabilities, lang: Lang) -> String {
    toolcell::describe_capabilities(capabilities).to_text(lang)
}
