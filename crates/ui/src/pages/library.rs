//! The tools: search, filters, a list.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use toolcell::store::{Cursor, DailyUsage, Entry, Filter, ListError, Store};
use toolcell::{CostReportLine, CostTotals, Status, Toolbox};
use toolcell_i18n::{Lang, tr};

use super::ledger::Period;
use super::words::status_word;
use super::{Live, Page, Section, failed, query_of};
use crate::app::{App, Visit};
use crate::markup::{grouped, sparkline, text, time};
use crate::source::PageError;

/// The number of tools on a page.
const PAGE_SIZE: usize = 50;
/// The number of days whose runs are drawn beside a tool.
const SPARKLINE_DAYS: u16 = 30;

/// What to list.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct LibraryQuery {
    /// Words to search for.
    #[serde(skip_serializing_if = "String::is_empty")]
    q: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    status: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    tag: String,
    /// Where the page starts.
    #[serde(skip_serializing_if = "String::is_empty")]
    after: String,
}

struct Library {
    tools: Vec<ListedTool>,
    /// The number of tools that fit; `None` for a search, which returns the best.
    total: Option<u64>,
    next: Option<String>,
}

/// A tool in the list, with its use in the last days.
struct ListedTool {
    tool: Entry,
    period: Period,
    days: Vec<DailyUsage>,
    totals: CostTotals,
}

impl ListedTool {
    fn load(toolbox: &Toolbox, store: &Store, tool: &Entry) -> Result<Self, PageError> {
        let period = Period::ending_today(SPARKLINE_DAYS);
        let days = store.runs().usage_by_day(period.days(), Some(tool))?;
        let CostReportLine { tool, totals } = toolbox.cost_report_of(tool)?;
        Ok(Self { tool, period, days, totals })
    }
}

/// Returns the query that lists the tools with a tag.
pub(super) fn query_of_tag(tag: &str) -> String {
    encode(&LibraryQuery { tag: tag.to_owned(), ..LibraryQuery::default() })
}

fn encode(query: &LibraryQuery) -> String {
    // A struct of strings always has this form.
    serde_urlencoded::to_string(query).unwrap_or_default()
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    query: Result<Query<LibraryQuery>, QueryRejection>,
    visit: Visit,
) -> Response {
    let query = match query_of(query, &visit) {
        Ok(query) => query,
        Err(refusal) => return *refusal,
    };
    let asked = query.clone();
    match app.with_toolbox(move |toolbox| load(toolbox, &asked)).await {
        Ok(library) => {
            let (title, body) = (tr!(visit.lang, "Tools").to_owned(), library.to_markup(&query, visit.lang));
            let page = Page { title, section: Some(Section::Tools), live: Live::Off, body };
            page.to_response(&visit, StatusCode::OK)
        }
        Err(error) => failed(&visit, &error),
    }
}

fn load(toolbox: &Toolbox, query: &LibraryQuery) -> Result<Library, PageError> {
    let Some(store) = toolbox.store() else { return Ok(Library { tools: Vec::new(), total: Some(0), next: None }) };
    let with_usage = |tools: Vec<Entry>| {
        tools.iter().map(|tool| ListedTool::load(toolbox, store, tool)).collect::<Result<Vec<_>, _>>()
    };
    let words = query.q.trim();
    if !words.is_empty() {
        let found = toolbox.search(words, PAGE_SIZE)?.into_iter().map(|hit| hit.entry);
        let fits = |tool: &Entry| {
            (query.status.is_empty() || tool.status.name() == query.status)
                && (query.tag.is_empty() || tool.tags.contains(&query.tag))
        };
        return Ok(Library { tools: with_usage(found.filter(fits).collect())?, total: None, next: None });
    }
    let after = Some(&*query.after).filter(|after| !after.is_empty()).map(Cursor::parse).transpose();
    let filter = Filter {
        status: Status::from_name(&query.status),
        any_tag: Some(query.tag.clone()).filter(|tag| !tag.is_empty()).into_iter().collect(),
        limit: PAGE_SIZE,
        after: after.map_err(ListError::from)?,
        ..Filter::default()
    };
    let page = store.catalog().list(&filter)?;
    Ok(Library {
        tools: with_usage(page.entries)?,
        total: Some(page.total),
        next: page.next.map(|next| next.to_string()),
    })
}

impl Library {
    fn to_markup(&self, query: &LibraryQuery, lang: Lang) -> Markup {
        html! {
            h1 { (tr!(lang, "Tools")) }
            form.search method="get" action="tools" role="search" {
                label for="q" { (tr!(lang, "Search")) }
                input #q type="search" name="q" value=(query.q) maxlength="400" autocomplete="off";
                label for="status" { (tr!(lang, "Status")) }
                select #status name="status" {
                    option value="" { (tr!(lang, "any")) }
                    @for status in Status::ALL {
                        option value=(status.name()) selected[query.status == status.name()] { (status_word(status, lang)) }
                    }
                }
                @if !query.tag.is_empty() {
                    label for="tag" { (tr!(lang, "Tag")) }
                    input #tag name="tag" value=(query.tag) maxlength="64" autocomplete="off";
                }
                button { (tr!(lang, "Show")) }
            }
            p role="status" {
                @match self.total {
                    Some(total) => (tr!(lang, "tools: {count}", count = grouped(total))),
                    None => (tr!(lang, "found: {count}, the best first", count = self.tools.len())),
                }
            }
            @if self.tools.is_empty() {
                p.empty { (tr!(lang, "No tool fits. A tool is created with `toolcell create`, or by an agent.")) }
            } @else {
                ul.rows { @for tool in &self.tools { (row(tool, lang)) } }
            }
            @if let Some(next) = &self.next {
                p { a rel="next" href={ "tools?" (encode(&LibraryQuery { after: next.clone(), ..query.clone() })) } { (tr!(lang, "More tools")) } }
            }
        }
    }
}

fn row(ListedTool { tool, period, days, totals }: &ListedTool, lang: Lang) -> Markup {
    html! {
        li.row {
            @if tool.runs > 0 { (sparkline(days, period.from, period.to, lang)) }
            a href={ "tools/" (tool.id) } data-row { (tool.name) }
            " " span.status.{ "status-" (tool.status.name()) } { (status_word(tool.status, lang)) }
            p.about { (text(&tool.description)) }
            p.quiet {
                @for tag in &tool.tags { a.tag href={ "tools?" (query_of_tag(tag)) } { (text(tag)) } " " }
                @if !tool.tags.is_empty() { "· " }
                (tr!(lang, "runs: {runs}", runs = grouped(tool.runs)))
                @if let Some(last) = tool.last_used_at { ", " (tr!(lang, "the last one")) " " (time(last)) }
                @if let Some(saved) = totals.tokens_saved { " · " (tr!(lang, "tokens saved: {tokens}", tokens = grouped(saved))) }
                @if let Some(cost) = totals.cost { " · " (tr!(lang, "cost: {tokens} tokens", tokens = grouped(cost))) }
            }
        }
    }
}
