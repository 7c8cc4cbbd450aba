//! A tool: the decision about it, its source with findings, what changed, its proof, its versions and its use.
//!
//! Invariant: what a decision is about stands above all that the tool's author wrote, and is never cut.

mod permissions;

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use toolcell::policy::{GrantVerdict, SuggestedArgument};
use toolcell::store::{Decision, HistoryEntry, PendingApproval};
use toolcell::{
    Analysis, ApprovalState, CallGraph, CostTotals, Finding, GraphCaller, IdPrefix, Language, Proof, ToolDetails,
    ToolName, Toolbox, analyze,
};
use toolcell_i18n::{Lang, Localize as _, message, tr};

use self::permissions::PermissionChange;
use super::ledger::query_of_tool;
use super::words::status_word;
use super::{Live, Page, Section, capabilities_text, failed, grants_text, no_default_button, query_of};
use crate::app::{App, Visit};
use crate::markup::{SourceNotes, difference, grouped, line, milliseconds, prose, source, text, time};
use crate::source::PageError;

/// The maximum number of versions, counted from the newest, that are shown and compared.
const MAX_VERSIONS: usize = 50;
/// The maximum number of pending requests that are looked through for those of the tool.
const MAX_REQUESTS: usize = 1_000;
/// The maximum number of callers, and of called tools, that are shown.
const MAX_NEIGHBORS: usize = 12;

/// What to compare the tool with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Comparison {
    /// The number of a version of its name.
    against: Option<u64>,
}

struct ToolView {
    details: ToolDetails,
    digest: String,
    requests: Vec<PendingApproval>,
    analysis: Option<Analysis>,
    /// The grants that the tool requests and lacks.
    missing: Vec<SuggestedArgument>,
    compared: Option<Compared>,
    /// What it cost, and what it saved.
    totals: CostTotals,
    graph: CallGraph,
    /// The decisions about all versions of its name.
    permissions: Vec<PermissionChange>,
}

/// An earlier version.
struct Compared {
    past: HistoryEntry,
    source: String,
    was_approved: bool,
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    Path(tool): Path<String>,
    comparison: Result<Query<Comparison>, QueryRejection>,
    visit: Visit,
) -> Response {
    let comparison = match query_of(comparison, &visit) {
        Ok(comparison) => comparison,
        Err(refusal) => return *refusal,
    };
    show(&app, &visit, tool, comparison, StatusCode::OK, None).await
}

/// Answers a decision about a tool that is not what the page had shown: shows it as it is now.
pub(crate) async fn changed(app: &App, visit: &Visit, tool: String) -> Response {
    let lang = visit.lang;
    let notice = html! {
        p.notice.alarm role="alert" {
            (tr!(lang, "Nothing was decided: the tool, its grants or the decisions about it changed since you opened the page. This is how they are now."))
        }
    };
    show(app, visit, tool, Comparison::default(), StatusCode::CONFLICT, Some(notice)).await
}

async fn show(
    app: &App,
    visit: &Visit,
    tool: String,
    comparison: Comparison,
    status: StatusCode,
    notice: Option<Markup>,
) -> Response {
    let lang = visit.lang;
    match app.with_toolbox(move |toolbox| load(toolbox, &tool, &comparison, lang)).await {
        Ok(view) => {
            let body = html! { @if let Some(notice) = notice { (notice) } (view.to_markup(visit)) };
            let title = view.details.entry.name.to_string();
            let live = Live::Reported { tool: view.details.entry.id.to_string(), shown: view.digest.clone() };
            Page { title, section: Some(Section::Tools), live, body }.to_response(visit, status)
        }
        Err(error) => failed(visit, &error),
    }
}

fn load(toolbox: &Toolbox, tool: &str, comparison: &Comparison, lang: Lang) -> Result<ToolView, PageError> {
    let details = toolbox.show(tool, None)?;
    let entry = &details.entry;
    let store = toolbox.store();
    let pending = store.map(|store| store.approvals().pending(MAX_REQUESTS)).transpose()?;
    let requests = pending.unwrap_or_default().into_iter().filter(|request| request.tool == entry.id).collect();
    let prompt = toolbox.approval_prompt(&entry.id.to_string()).ok().and_then(|prompt| prompt.tool_approval);
    let missing = prompt.map(|prompt| prompt.missing.clone()).unwrap_or_default();
    let analysis = analyze(details.spec.source(), Language::Unknown, Some(&details.requested)).ok();
    let compared = find_compared(toolbox, &details, comparison)?;
    let (totals, graph) = (toolbox.cost_report_of(entry)?.totals, toolbox.call_graph(entry.id)?);
    let versions: Vec<&HistoryEntry> = details.history.iter().rev().take(MAX_VERSIONS).collect();
    let permissions = store.map(|store| permissions::load(store, &versions, lang)).transpose()?.unwrap_or_default();
    let digest = details.review_digest();
    Ok(ToolView { details, digest, requests, analysis, missing, compared, totals, graph, permissions })
}

/// Returns the version to compare with: the chosen one, or the last approved one, or the one before.
fn find_compared(
    toolbox: &Toolbox,
    details: &ToolDetails,
    comparison: &Comparison,
) -> Result<Option<Compared>, PageError> {
    let Some(store) = toolbox.store() else { return Ok(None) };
    let others = details.history.iter().rev().take(MAX_VERSIONS).filter(|past| past.id != details.entry.id);
    let mut others: Vec<&HistoryEntry> = others.collect();
    if let Some(number) = comparison.against {
        others.retain(|past| past.number == number);
    }
    let mut found = None;
    for past in &others {
        let approvals = store.approvals().for_tool(past.id)?;
        if approvals.iter().any(|approval| approval.decision == Decision::Approved) {
            found = Some((*past, true));
            break;
        }
    }
    let Some((past, was_approved)) = found.or_else(|| Some((*others.first()?, false))) else { return Ok(None) };
    let Ok(id) = IdPrefix::parse(&past.id.to_string()) else { return Ok(None) };
    // A version whose content was collected as garbage is not compared with.
    let Ok(entry) = store.catalog().find_any(&id) else { return Ok(None) };
    let Ok(spec) = store.catalog().spec(&entry) else { return Ok(None) };
    Ok(Some(Compared { past: past.clone(), source: spec.source().to_owned(), was_approved }))
}

impl ToolView {
    fn to_markup(&self, visit: &Visit) -> Markup {
        let (lang, details) = (visit.lang, &self.details);
        let entry = &details.entry;
        let findings = self.analysis.as_ref().map(|analysis| &*analysis.findings).unwrap_or_default();
        let none = std::collections::BTreeSet::new();
        let capability_lines = self.analysis.as_ref().map_or(&none, |analysis| &analysis.capability_lines);
        let notes = SourceNotes { findings, capability_lines };
        html! {
            h1 { (entry.name) " " span.status.{ "status-" (entry.status.name()) } { (status_word(entry.status, lang)) } }
            (self.decision(findings, visit))
            section aria-labelledby="about" {
                h2 #about { (tr!(lang, "What it does")) }
                p.description { (text(details.notes.description())) }
                (self.facts(lang))
            }
            @if let Some(compared) = &self.compared { (self.compared(compared, lang)) }
            section aria-labelledby="source" {
                h2 #source { (tr!(lang, "Source")) }
                (source(details.spec.source(), notes, lang))
                p { a href={ "playground?tool=" (entry.id) } { (tr!(lang, "Open it in the playground")) } }
            }
            @if !details.notes.examples().is_empty() || details.proof.is_some() { (self.proof(lang)) }
            (self.usage(lang))
            @if self.graph.runs > 0 { (self.graph(lang)) }
            @if !self.permissions.is_empty() { (permissions::to_markup(&self.permissions, lang)) }
            (self.history(lang))
        }
    }

    /// What a decision is about, and its form.
    fn decision(&self, findings: &[Finding], visit: &Visit) -> Markup {
        let (lang, details) = (visit.lang, &self.details);
        let (state, needs_decision) = match &details.approval_state {
            ApprovalState::Approved => (message!("It is approved with what it is granted."), false),
            ApprovalState::ApprovedOnce => (
                message!("Its next run is approved, within a day of the decision. The run after that asks again."),
                false,
            ),
            ApprovalState::Refused => (message!("It is refused, whatever it is granted."), false),
            ApprovalState::NotRequired => (message!("It needs no approval under this policy."), false),
            ApprovalState::Unapproved { why } => (message!("It needs your approval: {why}.", why), true),
            ApprovalState::Unsafe(refusal) => (message!("It cannot run: {reason}.", reason = refusal), false),
            _ => (message!("Its state is unknown."), false),
        };
        let worst = findings.iter().map(|finding| finding.severity).max();
        html! {
            section.decision .waits[needs_decision] aria-labelledby="decision" {
                h2 #decision { (tr!(lang, "Decision")) }
                @if !details.entry.current {
                    p.notice { (tr!(lang, "This is an earlier version, or its name was deleted.")) }
                }
                p.state { (prose(&state.to_text(lang))) }
                dl.facts {
                    dt { (tr!(lang, "asks for")) }
                    dd { (text(&capabilities_text(&details.requested, lang))) }
                    dt {
                        @if matches!(details.approval_state, ApprovalState::Approved | ApprovalState::ApprovedOnce) { (tr!(lang, "is granted")) }
                        @else { (tr!(lang, "would be granted")) }
                    }
                    dd { strong { (text(&grants_text(&details.grants, lang))) } }
                    @for ruling in details.grant_decisions.iter().filter(|ruling| ruling.verdict == GrantVerdict::Refused) {
                        dt { (tr!(lang, "not granted")) }
                        dd { (text(&ruling.localize().to_text(lang))) }
                    }
                    @for unnamed in self.missing.iter().filter(|argument| argument.grants.is_none() || !visit.can_grant) {
                        dt { (tr!(lang, "to grant it")) }
                        dd { code { (text(&visit.grant_command)) " " (details.entry.id) " " (text(&unnamed.text)) } }
                    }
                    dt { (tr!(lang, "findings")) }
                    dd .{ "worst-" (worst.map_or("none", toolcell::Severity::name)) } {
                        @match worst {
                            Some(worst) => (tr!(lang, "{count}, the worst is {severity}", count = findings.len(), severity = worst)),
                            None => (tr!(lang, "none")),
                        }
                    }
                    @for request in &self.requests {
                        dt { (tr!(lang, "requested by")) }
                        dd { (line(&request.by)) ", " (time(request.at)) }
                    }
                }
                (self.form(visit))
            }
        }
    }

    fn form(&self, visit: &Visit) -> Markup {
        let (lang, details) = (visit.lang, &self.details);
        let state = &details.approval_state;
        let is_safe = !matches!(state, ApprovalState::Unsafe(_));
        let is_open =
            matches!(state, ApprovalState::Unapproved { .. } | ApprovalState::ApprovedOnce | ApprovalState::Refused);
        let can_decide = is_safe && details.entry.current && is_open;
        let offers: Vec<&SuggestedArgument> =
            self.missing.iter().filter(|argument| argument.grants.is_some()).collect();
        // An approval alone would not help a tool that is granted nothing of what it requests.
        let can_approve = can_decide && (self.missing.is_empty() || !details.grants.is_empty());
        let can_approve_once = can_approve && !matches!(state, ApprovalState::ApprovedOnce);
        let can_grant = can_decide && visit.can_grant && !offers.is_empty();
        let can_refuse = !matches!(state, ApprovalState::Refused);
        let can_revoke = !details.approvals.is_empty();
        let action = format!("tools/{}/decide", details.entry.id);
        let hidden = html! {
            input type="hidden" name="form_token" value=(visit.session.form_token);
            input type="hidden" name="shown" value=(self.digest);
        };
        let is_disabled = visit.is_read_only();
        html! {
            div.forms {
                @if can_grant || can_approve || can_revoke {
                    form.decide method="post" action=(action) {
                        (no_default_button())
                        (hidden)
                        @if can_grant {
                            fieldset.offers {
                                legend { (tr!(lang, "Grant it, in your policy file, for this tool alone")) }
                                @for offer in &offers { (offer_markup(offer, lang)) }
                            }
                            button.primary #approve name="action" value="grant" disabled[is_disabled] {
                                (tr!(lang, "Grant these and approve"))
                            }
                        }
                        @if can_approve {
                            button.primary[!can_grant] id=[(!can_grant).then_some("approve")] name="action" value="approve" disabled[is_disabled] {
                                @if can_grant { (tr!(lang, "Approve without them")) } @else { (tr!(lang, "Approve with these grants")) }
                            }
                        }
                        @if can_approve_once {
                            button #once name="action" value="once" disabled[is_disabled] {
                                @if can_grant { (tr!(lang, "Approve the next run without them")) } @else { (tr!(lang, "Approve the next run only")) }
                            }
                        }
                        @if can_revoke {
                            button #revoke name="action" value="revoke" disabled[is_disabled] { (tr!(lang, "Withdraw the decision")) }
                        }
                    }
                }
                @if can_refuse {
                    form.decide.refuse method="post" action=(action) {
                        (hidden)
                        label for="reason" { (tr!(lang, "Reason")) }
                        input #reason name="reason" maxlength="200" autocomplete="off";
                        button.danger #refuse name="action" value="refuse" disabled[is_disabled] { (tr!(lang, "Refuse")) }
                    }
                }
            }
        }
    }

    fn facts(&self, lang: Lang) -> Markup {
        let details = &self.details;
        html! {
            dl.facts {
                dt { (tr!(lang, "identifier")) }
                dd { code { (details.entry.id) } }
                @if !details.notes.tags().is_empty() {
                    dt { (tr!(lang, "tags")) }
                    dd { @for tag in details.notes.tags() { a.tag href={ "tools?" (super::library::query_of_tag(tag)) } { (text(tag)) } " " } }
                }
                dt { (tr!(lang, "parameters")) }
                dd {
                    @if details.parameters.is_empty() { (tr!(lang, "none")) }
                    @for parameter in &details.parameters {
                        div.parameter {
                            code { (text(&parameter.name)) ": " (text(&parameter.kind)) }
                            @if parameter.required { " " (tr!(lang, "(required)")) }
                            " " (text(&parameter.description))
                        }
                    }
                }
                @if let Some(successor) = &details.successor {
                    dt { (tr!(lang, "use instead")) }
                    dd { a href={ "tools/" (successor.id) } { (successor.name) } }
                }
                @if let Some(task) = details.notes.generated_from() {
                    dt { (tr!(lang, "made for")) }
                    dd { (text(task)) }
                }
            }
        }
    }

    fn compared(&self, compared: &Compared, lang: Lang) -> Markup {
        let number = compared.past.number;
        let title = if compared.was_approved {
            tr!(lang, "Difference to version {number}, which was approved", number)
        } else {
            tr!(lang, "Difference to version {number}, which was not approved", number)
        };
        html! {
            section aria-labelledby="compared" {
                h2 #compared { (title) }
                @match difference(&compared.source, self.details.spec.source(), lang) {
                    Some(difference) => (difference),
                    None => p { (tr!(lang, "The sources are the same: name, parameters or capabilities differ.")) },
                }
            }
        }
    }

    fn proof(&self, lang: Lang) -> Markup {
        let examples = self.details.notes.examples();
        html! {
            section aria-labelledby="proof" {
                h2 #proof { (tr!(lang, "Examples and verification")) }
                @if !examples.is_empty() {
                    ul.examples { @for example in examples { li { code { (text(&serde_json::to_string(example).unwrap_or_default())) } } } }
                }
                @if let Some(proof) = &self.details.proof { (proof_text(proof, lang)) }
            }
        }
    }

    fn usage(&self, lang: Lang) -> Markup {
        let usage = &self.details.usage;
        html! {
            section aria-labelledby="usage" {
                h2 #usage { (tr!(lang, "Use")) }
                @match usage.last_used_at {
                    None => p { (tr!(lang, "It has not run yet.")) },
                    Some(last) => {
                        p {
                            (tr!(lang, "runs: {runs}, of which {successes} returned", runs = grouped(usage.runs), successes = grouped(usage.successes)))
                            "; " (tr!(lang, "the last one")) " " (time(last)) ". "
                            a href={ "runs?tool=" (self.details.entry.id) } { (tr!(lang, "Show the runs")) } " · "
                            a href={ "ledger?" (query_of_tool(&self.details.entry)) } { (tr!(lang, "Show them over time")) }
                        }
                        (self.costs(lang))
                        @if !usage.failures.is_empty() {
                            ul.failures { @for (code, count) in &usage.failures { li { code { (text(code)) } ": " (grouped(*count)) } } }
                        }
                        div.scroll tabindex="0" role="region" aria-label=(tr!(lang, "cost of a run")) {
                            table {
                                thead { tr { th scope="col" { (tr!(lang, "cost of a run")) } th scope="col" { "p50" } th scope="col" { "p90" } th scope="col" { "p99" } } }
                                tbody {
                                    tr {
                                        th scope="row" { (tr!(lang, "fuel")) }
                                        @for value in [usage.fuel.p50, usage.fuel.p90, usage.fuel.p99] { td { (grouped(value)) } }
                                    }
                                    tr {
                                        th scope="row" { (tr!(lang, "time")) }
                                        @for value in [usage.micros.p50, usage.micros.p90, usage.micros.p99] { td { (milliseconds(value)) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What the tool cost to create, and what its runs saved.
    fn costs(&self, lang: Lang) -> Markup {
        let tokens = |tokens: Option<u64>| tokens.map_or_else(|| tr!(lang, "not reported").to_owned(), grouped);
        html! {
            dl.facts {
                dt { (tr!(lang, "tokens saved")) } dd { (tokens(self.totals.tokens_saved)) }
                dt { (tr!(lang, "cost to create, in tokens")) } dd { (tokens(self.totals.cost)) }
                @if let Some(balance) = self.totals.balance() { dt { (tr!(lang, "balance")) } dd { (format!("{balance:+}")) } }
            }
        }
    }

    /// Who calls the tool, and which tools it calls.
    fn graph(&self, lang: Lang) -> Markup {
        let CallGraph { runs, callers, callees } = &self.graph;
        html! {
            section aria-labelledby="graph" {
                h2 #graph { (tr!(lang, "Who calls it, and what it calls")) }
                div.graph {
                    ul.callers aria-label=(tr!(lang, "callers")) {
                        @for (caller, count) in callers.iter().take(MAX_NEIGHBORS) {
                            li {
                                @match caller {
                                    GraphCaller::Tool(name) => (tool_link(name)),
                                    GraphCaller::Host(name) => (line(name)),
                                }
                                " " span.quiet { "× " (grouped(*count)) }
                            }
                        }
                        @if callers.len() > MAX_NEIGHBORS { li.quiet { (tr!(lang, "and {count} more", count = callers.len() - MAX_NEIGHBORS)) } }
                    }
                    strong.center { (self.details.entry.name) }
                    ul.callees aria-label=(tr!(lang, "tools that it calls")) {
                        @for (name, count) in callees.iter().take(MAX_NEIGHBORS) {
                            li { (tool_link(name)) " " span.quiet { "× " (grouped(*count)) } }
                        }
                        @if callees.is_empty() { li.quiet { (tr!(lang, "no other tools")) } }
                        @if callees.len() > MAX_NEIGHBORS { li.quiet { (tr!(lang, "and {count} more", count = callees.len() - MAX_NEIGHBORS)) } }
                    }
                }
                p.quiet { (tr!(lang, "Counted in its last {runs} runs", runs = grouped(*runs as u64))) }
            }
        }
    }

    fn history(&self, lang: Lang) -> Markup {
        let id = self.details.entry.id;
        html! {
            section aria-labelledby="versions" {
                h2 #versions { (tr!(lang, "Versions of the name")) }
                div.scroll tabindex="0" role="region" aria-label=(tr!(lang, "versions")) {
                    table {
                        thead { tr {
                            th scope="col" { (tr!(lang, "version")) }
                            th scope="col" { (tr!(lang, "what happened")) }
                            th scope="col" { (tr!(lang, "tool")) }
                            th scope="col" { (tr!(lang, "when")) }
                            th scope="col" { (tr!(lang, "difference")) }
                        } }
                        tbody {
                            @for past in self.details.history.iter().rev().take(MAX_VERSIONS) {
                                tr {
                                    td { (past.number) }
                                    td { (past.event.name()) }
                                    td { a href={ "tools/" (past.id) } { code { (past.id.short()) } } }
                                    td { (time(past.at)) }
                                    td { @if past.id != id { a href={ "tools/" (id) "?against=" (past.number) "#compared" } { (tr!(lang, "compare with {number}", number = past.number)) } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Links to a tool by its name.
fn tool_link(name: &str) -> Markup {
    // Other names are those of a damaged record.
    match ToolName::parse(name) {
        Ok(name) => html! { a href={ "tools/" (name) } { (name) } },
        Err(_) => line(name),
    }
}

/// Offers a grant: the argument of `toolcell grant`, and what it grants if that says more.
fn offer_markup(offer: &SuggestedArgument, lang: Lang) -> Markup {
    let meaning = offer.grants.as_ref().map(|grants| grants_text(grants, lang)).filter(|text| *text != offer.text);
    html! {
        label {
            input type="checkbox" name="grant" value=(offer.text) checked;
            span { code { (text(&offer.text)) } @if let Some(meaning) = &meaning { ": " (text(meaning)) } }
        }
    }
}

/// Shows the result of the last verification.
fn proof_text(proof: &Proof, lang: Lang) -> Markup {
    html! { p.proof { (text(&proof.to_text(lang))) } p { (tr!(lang, "verified")) " " (time(proof.at)) } }
}
