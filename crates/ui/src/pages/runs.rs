//! The runs, newest first.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use toolcell::store::RecordPosition;
use toolcell::{ListRuns, ListedRun, RunEnd, RunList, RunRecord, ShowError, Toolbox};
use toolcell_i18n::{Lang, Localize as _, tr};

use super::words::{end_word, outcome_word};
use super::{Live, Page, Section, failed, query_of};
use crate::app::{App, Visit};
use crate::markup::{grouped, line, milliseconds, text, time};
use crate::source::PageError;

/// The number of runs on a page.
const PAGE_SIZE: usize = 50;

/// What to list.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct RunsQuery {
    /// The identifier of a tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    tool: String,
    /// How the runs ended.
    #[serde(skip_serializing_if = "String::is_empty")]
    end: String,
    /// Where the page starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<i64>,
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    query: Result<Query<RunsQuery>, QueryRejection>,
    visit: Visit,
) -> Response {
    let query = match query_of(query, &visit) {
        Ok(query) => query,
        Err(refusal) => return *refusal,
    };
    let asked = query.clone();
    let loaded = app.with_toolbox(move |toolbox| {
        let marker = toolbox.marker()?;
        Ok((load(toolbox, &asked)?, marker))
    });
    match loaded.await {
        Ok((list, since)) => {
            let body = to_markup(&list, &query, visit.lang);
            // An older page does not change under its reader.
            let live = if query.before.is_none() { Live::Replaced { since } } else { Live::Off };
            let title = tr!(visit.lang, "Runs").to_owned();
            Page { title, section: Some(Section::Runs), live, body }.to_response(&visit, StatusCode::OK)
        }
        Err(error) => failed(&visit, &error),
    }
}

fn load(toolbox: &Toolbox, query: &RunsQuery) -> Result<RunList, PageError> {
    let tool = match &*query.tool {
        "" => None,
        tool => match toolbox.show(tool, None) {
            Ok(details) => Some(details.entry.id),
            Err(ShowError::Fault(fault)) => return Err(fault.into()),
            Err(_) => return Ok(RunList { runs: Vec::new(), next: None }),
        },
    };
    let end = RunEnd::from_name(&query.end);
    let before = query.before.map(RecordPosition::from_number);
    Ok(toolbox.runs(&ListRuns { tool, end, before, limit: PAGE_SIZE })?)
}

fn to_markup(list: &RunList, query: &RunsQuery, lang: Lang) -> Markup {
    html! {
        h1 { (tr!(lang, "Runs")) }
        form.search method="get" action="runs" {
            label for="end" { (tr!(lang, "How they ended")) }
            select #end name="end" {
                option value="" { (tr!(lang, "any")) }
                @for end in RunEnd::ALL { option value=(end.name()) selected[query.end == end.name()] { (end_word(end, lang)) } }
            }
            @if !query.tool.is_empty() {
                label for="tool" { (tr!(lang, "Tool")) }
                input #tool name="tool" value=(query.tool) maxlength="80" autocomplete="off";
            }
            button { (tr!(lang, "Show")) }
        }
        @if list.runs.is_empty() {
            p.empty { (tr!(lang, "No run fits.")) }
        } @else {
            ul.rows { @for run in &list.runs { (row(run, lang)) } }
        }
        @if let Some(next) = list.next {
            @let older = RunsQuery { before: Some(next.number()), ..query.clone() };
            p { a rel="next" href={ "runs?" (serde_urlencoded::to_string(&older).unwrap_or_default()) } { (tr!(lang, "Older runs")) } }
        }
    }
}

fn row(run: &ListedRun, lang: Lang) -> Markup {
    html! {
        li.row {
            @match &run.record {
                Ok(record) => (record_row(record, lang)),
                Err(damage) => p { (text(&damage.localize().to_text(lang))) },
            }
        }
    }
}

fn record_row(record: &RunRecord, lang: Lang) -> Markup {
    let end = RunEnd::from_record(record);
    html! {
        a href={ "runs/" (record.run) } data-row { (text(&record.name)) }
        " " span.status.{ "end-" (end.name()) } { (text(outcome_word(&record.outcome, lang))) }
        @if let Some(code) = &record.code { " " code { (text(code)) } }
        p.quiet {
            (time(record.at)) ", " (line(&record.caller))
            @if let Some(used) = &record.used {
                ", " (tr!(lang, "{fuel} fuel", fuel = grouped(used.fuel.saturating_add(used.load_fuel)))) ", " (milliseconds(used.micros))
            }
        }
    }
}
