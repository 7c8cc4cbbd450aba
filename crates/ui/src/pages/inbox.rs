//! The inbox: what waits for a decision, newest first.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use toolcell::hook::ToolApproval;
use toolcell::store::{Approval, Decision, Entry, Filter, PendingApproval};
use toolcell::{PendingTool, Severity, Status, SuspendedRunInfo};
use toolcell_i18n::{Lang, Localize as _, tr};

use super::words::decision_word;
use super::{Live, Page, Section, capabilities_text, failed, grants_text, stored_grants_text};
use crate::app::{App, Visit};
use crate::markup::{line, text, time};
use crate::source::{CurrentToolbox, PageError};

/// The maximum number of rows of a list.
const MAX_ROWS: usize = 50;
/// The number of past decisions.
const MAX_DECISIONS: usize = 10;

/// What waits, and what was decided.
struct Inbox {
    pending: Vec<(Entry, PendingApproval, Result<Arc<ToolApproval>, String>)>,
    has_more_pending: bool,
    suspended: Vec<SuspendedRunInfo>,
    has_more_suspended: bool,
    failed: Vec<Entry>,
    has_more_failed: bool,
    decisions: Vec<(Entry, Approval)>,
    marker: String,
}

pub(crate) async fn page(State(app): State<Arc<App>>, visit: Visit) -> Response {
    let lang = visit.lang;
    match app.with_toolbox(move |toolbox| load(toolbox, lang)).await {
        Ok(inbox) => {
            let count = inbox.pending.len() + inbox.suspended.len();
            let title =
                if count == 0 { tr!(lang, "Inbox").to_owned() } else { format!("({count}) {}", tr!(lang, "Inbox")) };
            let live = Live::Replaced { since: inbox.marker.clone() };
            Page { title, section: Some(Section::Inbox), live, body: inbox.to_markup(lang) }
                .to_response(&visit, StatusCode::OK)
        }
        Err(error) => failed(&visit, &error),
    }
}

fn load(toolbox: &CurrentToolbox, lang: Lang) -> Result<Inbox, PageError> {
    let marker = toolbox.marker()?;
    let mut pending = toolbox.pending_approvals(MAX_ROWS + 1)?;
    let has_more_pending = pending.len() > MAX_ROWS;
    pending.truncate(MAX_ROWS);
    let known = pending.into_iter().filter_map(|PendingTool { tool, approval }| {
        let prompt = toolbox.approval_prompt(&tool.id.to_string());
        let facts =
            prompt.map_err(|error| error.localize().to_text(lang)).map(|prompt| prompt.tool_approval).transpose()?;
        Some((tool, approval, facts))
    });
    let pending = known.collect();
    let mut suspended = toolbox.suspended_runs()?;
    suspended.reverse();
    let has_more_suspended = suspended.len() > MAX_ROWS;
    suspended.truncate(MAX_ROWS);
    let filter = Filter { status: Some(Status::Failed), limit: MAX_ROWS, ..Filter::default() };
    let failed = toolbox.store().map(|store| store.catalog().list(&filter)).transpose()?;
    let has_more_failed = failed.as_ref().is_some_and(|page| page.remaining > 0);
    let failed = failed.map(|page| page.entries).unwrap_or_default();
    let decisions = toolbox.decisions(MAX_DECISIONS)?;
    Ok(Inbox { pending, has_more_pending, suspended, has_more_suspended, failed, has_more_failed, decisions, marker })
}

impl Inbox {
    fn to_markup(&self, lang: Lang) -> Markup {
        html! {
            h1 { (tr!(lang, "Inbox")) }
            @if self.pending.is_empty() && self.suspended.is_empty() && self.failed.is_empty() {
                p.empty { (tr!(lang, "Nothing waits for you.")) }
            }
            @if !self.pending.is_empty() {
                section aria-labelledby="pending" {
                    h2 #pending { (tr!(lang, "Waiting for approval")) }
                    ul.rows { @for row in &self.pending { (pending_row(row, lang)) } }
                    @if self.has_more_pending {
                        p { (tr!(lang, "There are more than these {count}.", count = MAX_ROWS)) }
                    }
                }
            }
            @if !self.suspended.is_empty() {
                section aria-labelledby="suspended" {
                    h2 #suspended { (tr!(lang, "Suspended runs")) }
                    ul.rows {
                        @for run in &self.suspended {
                            li.row {
                                a href={ "suspended/" (run.run) } data-row { (text(&run.name)) }
                                p { (line(&run.caller)) ", " (time(run.since)) }
                            }
                        }
                    }
                    @if self.has_more_suspended {
                        p { (tr!(lang, "There are more than these {count}.", count = MAX_ROWS)) }
                    }
                }
            }
            @if !self.failed.is_empty() {
                section aria-labelledby="failed" {
                    h2 #failed { (tr!(lang, "Failed verification")) }
                    ul.rows {
                        @for tool in &self.failed {
                            li.row {
                                a href={ "tools/" (tool.id) } data-row { (tool.name) }
                                p { (text(&tool.description)) }
                            }
                        }
                    }
                    @if self.has_more_failed {
                        p { (tr!(lang, "There are more than these {count}.", count = MAX_ROWS)) }
                    }
                }
            }
            @if !self.decisions.is_empty() {
                section aria-labelledby="decided" {
                    h2 #decided { (tr!(lang, "Decided last")) }
                    ul.rows.quiet { @for (tool, approval) in &self.decisions { (decision_row(tool, approval, lang)) } }
                }
            }
        }
    }
}

fn pending_row(
    (tool, request, facts): &(Entry, PendingApproval, Result<Arc<ToolApproval>, String>),
    lang: Lang,
) -> Markup {
    html! {
        li.row {
            a href={ "tools/" (tool.id) } data-row { (tool.name) }
            p.about { (text(&tool.description)) }
            dl.facts {
                @match facts {
                    Ok(facts) => {
                        dt { (tr!(lang, "asks for")) }
                        dd { (text(&capabilities_text(&facts.requested, lang))) }
                        dt { (tr!(lang, "would be granted")) }
                        dd { (text(&grants_text(&facts.grants, lang))) }
                        @if let Some(worst) = facts.findings.iter().map(|finding| finding.severity).max() {
                            dt { (tr!(lang, "findings")) }
                            dd { (findings_text(facts.findings.len(), worst, lang)) }
                        }
                    }
                    Err(error) => { dt { (tr!(lang, "error")) } dd { (text(error)) } }
                }
                dt { (tr!(lang, "requested by")) }
                dd { (line(&request.by)) ", " (time(request.at)) }
            }
        }
    }
}

fn findings_text(count: usize, worst: Severity, lang: Lang) -> String {
    tr!(lang, "{count}, the worst is {severity}", count, severity = worst)
}

fn decision_row(tool: &Entry, approval: &Approval, lang: Lang) -> Markup {
    let word = decision_word(approval.decision, lang);
    html! {
        li.row {
            a href={ "tools/" (tool.id) } data-row { (tool.name) }
            p {
                (word)
                @if approval.decision != Decision::Refused { " (" (text(&stored_grants_text(&approval.grants, lang))) ")" }
                ", " (line(&approval.by)) ", " (time(approval.at))
            }
        }
    }
}
