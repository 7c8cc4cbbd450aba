//! The receipt of a run, where the store keeps it: what the run was given and returned, and a replay of it.
//!
//! Invariant: a replay performs no operation and changes nothing, so its form needs no digest of what was shown.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use toolcell::{CancelToken, Profile, Receipt, ReplayOptions, ReplayResult, RunRecord, VersionPolicy};
use toolcell_i18n::{Lang, message, tr};

use crate::app::{App, CancelOnDrop, Visit, too_many_runs};
use crate::form::{Form, FormNames};
use crate::markup::{grouped, long_text, text};
use crate::pages::profile::profile_markup;
use crate::pages::{Live, Page, Section, failed, problem, refused_form};

/// The fields of the form: none but its token.
const FIELDS: FormNames = FormNames { required: &[], optional: &[], repeated: "", prefix: None };

/// Serves the receipt of a run as a file.
pub(crate) async fn download(State(app): State<Arc<App>>, Path(run): Path<String>, visit: Visit) -> Response {
    match find(&app, run).await {
        Ok(Some(receipt)) => {
            ([(CONTENT_TYPE, "application/json"), (CONTENT_DISPOSITION, "attachment")], receipt.to_text())
                .into_response()
        }
        Ok(None) => without_receipt(&visit),
        Err(error) => failed(&visit, &error),
    }
}

/// Replays a run here, and shows whether it comes out the same.
pub(crate) async fn replay(
    State(app): State<Arc<App>>,
    Path(run): Path<String>,
    visit: Visit,
    body: Bytes,
) -> Response {
    if let Err(refusal) = Form::parse(&visit, &body, &FIELDS) {
        return refused_form(&visit, refusal);
    }
    let receipt = match find(&app, run.clone()).await {
        Ok(Some(receipt)) => receipt,
        Ok(None) => return without_receipt(&visit),
        Err(error) => return failed(&visit, &error),
    };
    let Ok(_permit) = app.site.runs.try_acquire() else { return failed(&visit, &too_many_runs()) };
    let ending = app.site.cancel.clone();
    let cancel = CancelOnDrop(CancelToken::with_poll(move || ending.is_cancelled()));
    let (token, name) = (cancel.0.clone(), receipt.name().to_owned());
    let replayed = app.with_toolbox(move |toolbox| {
        let options = ReplayOptions { version_policy: VersionPolicy::Note, cancel: Some(token) };
        let (replayed, profile) = toolbox.profile_replay(&receipt, &options)?;
        let drawn = profile.flame_graph_image().ok();
        Ok((replayed, profile, drawn))
    });
    match replayed.await {
        Ok((replayed, profile, drawn)) => {
            let flame_graph = drawn.and_then(|drawn| app.flame_graphs.keep(drawn));
            let body = replayed_markup(&run, &replayed, &profile, flame_graph.as_deref(), visit.lang);
            let page = Page { title: name, section: Some(Section::Runs), live: Live::Off, body };
            page.to_response(&visit, StatusCode::OK)
        }
        Err(error) => failed(&visit, &error),
    }
}

async fn find(app: &App, run: String) -> Result<Option<Receipt>, crate::source::PageError> {
    let Ok(run) = run.parse() else { return Ok(None) };
    app.with_toolbox(move |toolbox| Ok(toolbox.receipt_of_run(run)?)).await
}

fn without_receipt(visit: &Visit) -> Response {
    let hint = message!(
        "the store keeps receipts if the policy has `receipts = true` in `[audit]`, of at most 1 MiB, and the last 1000 of them"
    );
    problem(visit, StatusCode::NOT_FOUND, &message!("the store keeps no receipt of this run"), &hint)
}

/// Shows what a run was given and returned.
pub(super) fn to_markup(record: &RunRecord, receipt: &Receipt, visit: &Visit) -> Markup {
    let lang = visit.lang;
    let console = receipt.console().collect::<Vec<_>>().join("\n");
    html! {
        section aria-labelledby="receipt" {
            h2 #receipt { (tr!(lang, "What it was given, and what came of it")) }
            h3 { (tr!(lang, "Parameters")) }
            (long_text(receipt.parameters(), tr!(lang, "Parameters"), lang))
            @if let Some(result) = receipt.result() { h3 { (tr!(lang, "Result")) } (long_text(result, tr!(lang, "Result"), lang)) }
            @if let Some(failure) = receipt.failure() { h3 { (tr!(lang, "Error")) } (long_text(&failure, tr!(lang, "Error"), lang)) }
            @if !console.is_empty() { h3 { (tr!(lang, "Console")) } (long_text(&console, tr!(lang, "Console"), lang)) }
            form.forms method="post" action={ "runs/" (record.run) "/replay" } {
                input type="hidden" name="form_token" value=(visit.session.form_token);
                @if receipt.has_trace() { button { (tr!(lang, "Run again here")) } }
                a href={ "runs/" (record.run) "/receipt.json" } download={ (record.run) ".receipt.json" } { (tr!(lang, "Download the receipt")) }
            }
            @if !receipt.has_trace() { p.quiet { (tr!(lang, "The answers of its operations were too large for the receipt: it cannot run again.")) } }
        }
    }
}

fn replayed_markup(
    run: &str,
    replayed: &ReplayResult,
    profile: &Profile,
    flame_graph: Option<&str>,
    lang: Lang,
) -> Markup {
    html! {
        h1 {
            @if replayed.is_reproduced() { (tr!(lang, "It came out the same")) } @else { (tr!(lang, "It came out otherwise")) }
        }
        p { a href={ "runs/" (run) } { (tr!(lang, "Back to the run")) } }
        @for note in &replayed.notes { p.notice { (text(&note.to_text(lang))) } }
        @if replayed.is_reproduced() {
            p { (tr!(lang, "The result, the console and the fuel are those of the receipt. No operation was performed: the answers are those of the receipt.")) }
        } @else {
            ul.failures { @for difference in &replayed.differences { li { code { (difference.about) } " " (text(&difference.says.to_text(lang))) } } }
        }
        dl.tiles {
            div { dt { (tr!(lang, "fuel of the call")) } dd { (grouped(replayed.fuel)) } }
            div { dt { (tr!(lang, "fuel of loading")) } dd { (grouped(replayed.load_fuel)) } }
        }
        @if !profile.functions.is_empty() { (profile_markup(profile, flame_graph, lang)) }
    }
}
