//! One run: what it was, what it cost, and each operation that it asked of its host.

mod comparison;
mod receipt;

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use toolcell::hook::CallerClaims;
use toolcell::store::{Fault, RunId};
use toolcell::{ContentDigest, Effect, EffectLog, Effects, ListRuns, Receipt, ResourceUse, RunRecord, Toolbox};
use toolcell_i18n::{Lang, Localize as _, message, tr};

pub(crate) use self::receipt::{download, replay};
use super::words::outcome_word;
use super::{Live, Page, Section, failed, problem, query_of, stored_grants_text};
use crate::app::{App, Visit};
use crate::markup::{grouped, line, milliseconds, text, time};
use crate::source::PageError;

/// The number of other runs of the tool that are offered for a comparison.
const MAX_OTHERS: usize = 10;

/// What to compare the run with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Comparison {
    /// The identifier of another run.
    with: String,
}

struct RunView {
    record: RunRecord,
    /// The receipt, if there is one, or why it cannot be read.
    receipt: Result<Option<Receipt>, Fault>,
    /// Other runs of the tool, newest first.
    others: Vec<RunRecord>,
    compared: Option<RunRecord>,
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    Path(run): Path<String>,
    comparison: Result<Query<Comparison>, QueryRejection>,
    visit: Visit,
) -> Response {
    let comparison = match query_of(comparison, &visit) {
        Ok(comparison) => comparison,
        Err(refusal) => return *refusal,
    };
    let other = comparison.with.trim().to_owned();
    match app.with_toolbox(move |toolbox| load(toolbox, &run, &other)).await {
        Ok(Some(view)) if view.compared.is_none() && !comparison.with.trim().is_empty() => problem(
            &visit,
            StatusCode::NOT_FOUND,
            &message!("there is no record of the run to compare with"),
            &no_record(),
        ),
        Ok(Some(view)) => {
            let (title, body) = (view.record.name.clone(), view.to_markup(&visit));
            let page = Page { title, section: Some(Section::Runs), live: Live::Off, body };
            page.to_response(&visit, StatusCode::OK)
        }
        Ok(None) => problem(&visit, StatusCode::NOT_FOUND, &message!("there is no record of this run"), &no_record()),
        Err(error) => failed(&visit, &error),
    }
}

/// Tells why a run may have no record.
fn no_record() -> toolcell_i18n::Message {
    message!("it was never recorded here, it is still running, or `toolcell gc` deleted its record")
}

/// Returns the record of a run by its identifier.
fn find(toolbox: &Toolbox, run: &str) -> Result<Option<RunRecord>, PageError> {
    run.parse::<RunId>().map_or(Ok(None), |run| Ok(toolbox.run_record(run)?))
}

fn load(toolbox: &Toolbox, run: &str, other: &str) -> Result<Option<RunView>, PageError> {
    let Some(record) = find(toolbox, run)? else { return Ok(None) };
    let compared = if other.is_empty() { None } else { find(toolbox, other)? };
    // What the record says is shown also if the receipt is damaged.
    let receipt = run.parse().map_or(Ok(None), |run| toolbox.receipt_of_run(run));
    let tool = record.tool.as_ref().and_then(|tool| tool.parse().ok());
    let listed = match tool {
        Some(tool) => {
            toolbox.runs(&ListRuns { tool: Some(tool), end: None, before: None, limit: MAX_OTHERS + 1 })?.runs
        }
        None => Vec::new(),
    };
    let others = listed.into_iter().filter_map(|listed| listed.record.ok());
    let others = others.filter(|other| other.run != record.run).take(MAX_OTHERS).collect();
    Ok(Some(RunView { record, receipt, others, compared }))
}

impl RunView {
    fn to_markup(&self, visit: &Visit) -> Markup {
        let (record, lang) = (&self.record, visit.lang);
        html! {
            h1 { (text(&record.name)) " " span.status.{ "end-" (toolcell::RunEnd::from_record(record).name()) } { (text(outcome_word(&record.outcome, lang))) } }
            (facts(record, lang))
            @if let Some(other) = &self.compared { (comparison::to_markup(record, other, lang)) }
            @match &self.receipt {
                Ok(Some(receipt)) => (receipt::to_markup(record, receipt, visit)),
                Ok(None) => {},
                Err(fault) => p.notice.alarm { (text(&fault.localize().to_text(lang))) },
            }
            @if let Some(used) = &record.used { (cost(used, lang)) }
            @if let Some(log) = &record.done { (operations(log, lang)) }
            @if !self.others.is_empty() { (self.others(lang)) }
        }
    }

    fn others(&self, lang: Lang) -> Markup {
        html! {
            section aria-labelledby="others" {
                h2 #others { (tr!(lang, "Compare with another run")) }
                ul.rows.quiet {
                    @for other in &self.others {
                        li.row {
                            a href={ "runs/" (self.record.run) "?with=" (other.run) } { (time(other.at)) }
                            " " (text(outcome_word(&other.outcome, lang)))
                            @if let Some(used) = &other.used { ", " (tr!(lang, "{fuel} fuel", fuel = grouped(used.fuel.saturating_add(used.load_fuel)))) }
                        }
                    }
                }
            }
        }
    }
}

fn facts(record: &RunRecord, lang: Lang) -> Markup {
    html! {
        dl.facts {
            dt { (tr!(lang, "run")) } dd { code { (text(&record.run)) } }
            @if let Some(tool) = &record.tool { dt { (tr!(lang, "tool")) } dd { a href={ "tools/" (tool) } { code { (text(tool)) } } } }
            dt { (tr!(lang, "operation")) } dd { code { (text(&record.action)) } }
            dt { (tr!(lang, "started")) } dd { (time(record.at)) }
            dt { (tr!(lang, "caller")) }
            dd {
                (line(&record.caller))
            }
            @if let Some(claims) = &record.claims {
                @for (name, claim) in claims_of(claims, lang) {
                    @if let Some(claim) = claim { dt { (name) } dd { (line(claim)) } }
                }
            }
            @if let Some(code) = &record.code { dt { (tr!(lang, "error")) } dd { code { (text(code)) } } }
            @if let Some(by) = &record.decided_by { dt { (tr!(lang, "decided by")) } dd { (text(by)) } }
            @if let Some(grants) = &record.grants { dt { (tr!(lang, "granted")) } dd { (text(&stored_grants_text(grants, lang))) } }
            @if let Some(run) = &record.resumes { dt { (tr!(lang, "resumes")) } dd { a href={ "runs/" (run) } { code { (text(run)) } } } }
            dt { (tr!(lang, "parameters")) } dd { (digest(&record.parameters, lang)) }
            @if let Some(changed) = &record.changed { dt { (tr!(lang, "changed by hooks to")) } dd { (digest(changed, lang)) } }
            @if let Some(result) = &record.result { dt { (tr!(lang, "result")) } dd { (digest(result, lang)) } }
            @if let Some(seed) = &record.seed { dt { (tr!(lang, "seed")) } dd { code { (text(seed)) } } }
        }
    }
}

/// Names what a caller claims about itself.
fn claims_of(claims: &CallerClaims, lang: Lang) -> [(&'static str, &Option<String>); 4] {
    [
        (tr!(lang, "claims to be the client"), &claims.client),
        (tr!(lang, "claims the session"), &claims.session),
        (tr!(lang, "claims to be the agent"), &claims.agent),
        (tr!(lang, "claims the call"), &claims.call),
    ]
}

/// Shows the hash and the size of a content, which the store does not keep.
fn digest(content: &ContentDigest, lang: Lang) -> Markup {
    html! { (tr!(lang, "{bytes} bytes", bytes = grouped(content.bytes))) ", blake3 " code { (text(&content.blake3)) } }
}

/// Shows what a run cost: a bar of the fuel of loading and of the call.
fn cost(used: &ResourceUse, lang: Lang) -> Markup {
    let all = used.fuel.saturating_add(used.load_fuel).max(1);
    let loading = used.load_fuel.saturating_mul(1_000) / all;
    html! {
        section aria-labelledby="cost" {
            h2 #cost { (tr!(lang, "Cost")) }
            svg.bar viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label=(tr!(lang, "fuel of loading beside fuel of the call")) {
                rect.load x="0" y="0" width=(loading) height="24" {}
                rect.call x=(loading) y="0" width=(1_000 - loading) height="24" {}
            }
            dl.facts {
                dt { span.key.load {} (tr!(lang, "fuel of loading")) } dd { (grouped(used.load_fuel)) }
                dt { span.key.call {} (tr!(lang, "fuel of the call")) } dd { (grouped(used.fuel)) }
                dt { (tr!(lang, "time")) } dd { (milliseconds(used.micros)) }
                dt { (tr!(lang, "memory")) } dd { (tr!(lang, "{bytes} bytes", bytes = grouped(used.memory_bytes))) }
                dt { (tr!(lang, "fuel model")) } dd { code { (text(used.guest.get(..16).unwrap_or(&used.guest))) } ", Wasmtime " (text(&used.engine)) }
            }
        }
    }
}

fn operations(log: &EffectLog, lang: Lang) -> Markup {
    html! {
        section aria-labelledby="operations" {
            h2 #operations { (tr!(lang, "Operations")) }
            ol.timeline {
                @for effect in &log.effects { (operation(effect, lang)) }
                @if log.more > 0 { li { (tr!(lang, "and {count} more", count = grouped(log.more))) } }
            }
            @if !log.sources.is_empty() {
                h3 { (tr!(lang, "Sources of its data")) }
                ul { @for source in &log.sources { li { code { (text(source)) } } } }
            }
        }
    }
}

fn operation(effect: &Effect, lang: Lang) -> Markup {
    let (name, word) = match effect.effects {
        Effects::None => ("none", tr!(lang, "effect" => "changed nothing")),
        Effects::Started => ("started", tr!(lang, "effect" => "may have happened")),
        Effects::Committed => ("committed", tr!(lang, "effect" => "happened")),
    };
    html! {
        li.{ "effect-" (name) } {
            strong { (text(&effect.kind)) } " " (text(&effect.about)) " "
            span.status { (word) }
            @if let Some(code) = &effect.code { " " code { (text(code)) } }
            @if let Some(received) = &effect.received {
                " " (tr!(lang, "{bytes} bytes", bytes = grouped(received.bytes)))
            }
        }
    }
}
