//! A suspended run: what it waits for, and the decision about its held effects.
//!
//! Invariant: exactly the effects that were shown and chosen are performed. A run is continued here only if its result has no other
//! reader: a run of another caller is shown, and continued by that caller.

use std::collections::HashSet;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use toolcell::hook::{CallerClaims, HeldBody};
use toolcell::{
    EffectApprover, EffectDecision, HeldEffect, ReviewError, RunOptions, RunOutcome, RunResult, SuspendedRunDetails,
};
use toolcell_i18n::{Lang, tr};

use super::{Live, Page, Section, failed, refused_form};
use crate::app::{App, Visit, describe_person};
use crate::form::{Form, FormNames, FormRefusal};
use crate::markup::{grouped, line, text, time};
use crate::source::PageError;

/// The fields of a decision.
const FIELDS: FormNames = FormNames { required: &["shown", "action"], optional: &[], repeated: "effect", prefix: None };
/// The maximum number of characters shown of a result.
const MAX_RESULT_CHARS: usize = 200_000;

pub(crate) async fn page(State(app): State<Arc<App>>, Path(run): Path<String>, visit: Visit) -> Response {
    match app.with_toolbox(move |toolbox| Ok(toolbox.suspended_run(&run)?)).await {
        Ok(run) => {
            let page = Page {
                title: run.info.name.clone(),
                section: Some(Section::Inbox),
                live: Live::Off,
                body: to_markup(&run, &visit),
            };
            page.to_response(&visit, StatusCode::OK)
        }
        Err(error) => failed(&visit, &error),
    }
}

/// Continues a run with the decisions about its held effects, and shows its result.
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    Path(run): Path<String>,
    visit: Visit,
    body: Bytes,
) -> Response {
    let form = match Form::parse(&visit, &body, &FIELDS) {
        Ok(form) => form,
        Err(refusal) => return refused_form(&visit, refusal),
    };
    let performed: HashSet<String> = match form.one("action") {
        "continue" => form.many.iter().cloned().collect(),
        "refuse" => HashSet::new(),
        _ => return refused_form(&visit, FormRefusal::Incomplete),
    };
    let (caller, cancel) = (visit.session.caller.clone(), app.site.cancel.clone());
    let by = describe_person(&visit.session.person, "");
    let resumed = app.with_toolbox(move |toolbox| {
        let details = toolbox.suspended_run(&run)?;
        if digest(&details) != form.one("shown") || details.info.caller != caller {
            let changed = PageError::from(ReviewError::Changed);
            // If the line cannot be written, the person still reads the error.
            drop(toolbox.record_rejected(
                Some("resume"),
                Some(&run),
                changed.code,
                format!("{by}: {}", changed.message),
            ));
            return Err(changed);
        }
        let shown = details.held.iter().map(|effect| effect.digest.clone()).collect();
        let approver = Arc::new(ChosenEffects { shown, performed });
        let cancel = Some(cancel);
        // The record names the person who continued the run.
        let claims = CallerClaims { client: Some(by), ..CallerClaims::default() };
        let options = RunOptions { caller, claims, effect_approver: Some(approver), cancel, ..RunOptions::default() };
        let request = toolcell::ResumeRequest { run, ..Default::default() };
        Ok(toolbox.resume(&request, &options)?)
    });
    let outcome = resumed.await;
    app.feed.check_now();
    match outcome {
        Ok(RunOutcome::Finished(result)) => {
            let body = result_markup(&result, visit.lang);
            let page = Page { title: result.name.to_string(), section: Some(Section::Runs), live: Live::Off, body };
            page.to_response(&visit, StatusCode::OK)
        }
        Ok(RunOutcome::Suspended(again)) => {
            Redirect::to(&format!("{}suspended/{}", visit.base, again.run)).into_response()
        }
        Err(error) => failed(&visit, &error),
    }
}

/// Performs the effects that were chosen, refuses the others that were shown, and leaves later ones to be shown.
struct ChosenEffects {
    shown: HashSet<String>,
    performed: HashSet<String>,
}

impl EffectApprover for ChosenEffects {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        let decide = |effect: &HeldEffect| match (
            self.performed.contains(&effect.digest),
            self.shown.contains(&effect.digest),
        ) {
            (true, _) => EffectDecision::Perform,
            (false, true) => EffectDecision::Refuse,
            (false, false) => EffectDecision::Defer,
        };
        held.iter().map(decide).collect()
    }
}

/// Returns the digest of what a decision about a suspended run is bound to.
fn digest(run: &SuspendedRunDetails) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 suspended run on a page");
    let digests = run.held.iter().map(|effect| effect.digest.as_str());
    for part in [run.info.run.to_string().as_str(), run.info.since.to_string().as_str()].into_iter().chain(digests) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn to_markup(run: &SuspendedRunDetails, visit: &Visit) -> Markup {
    let (lang, info) = (visit.lang, &run.info);
    html! {
        h1 { (text(&info.name)) " " span.status.end-suspended { (tr!(lang, "outcome" => "suspended")) } }
        section.decision .waits[!run.held.is_empty()] aria-labelledby="decision" {
            h2 #decision { (tr!(lang, "Decision")) }
            dl.facts {
                dt { (tr!(lang, "run")) } dd { code { (info.run) } }
                dt { (tr!(lang, "tool")) } dd { a href={ "tools/" (info.tool) } { code { (info.tool.short()) } } }
                dt { (tr!(lang, "caller")) } dd { (line(&info.caller)) }
                dt { (tr!(lang, "suspended")) } dd { (time(info.since)) }
                dt { (tr!(lang, "parameters")) } dd { code { (text(&run.params)) } }
                @for ticket in &run.tickets {
                    dt { (tr!(lang, "waits for")) } dd { (text(&ticket.function)) " " code { (text(&ticket.ticket)) } }
                }
            }
            (form(run, visit))
        }
    }
}

fn form(run: &SuspendedRunDetails, visit: &Visit) -> Markup {
    let lang = visit.lang;
    let can_continue = run.info.caller == visit.session.caller && run.tickets.is_empty();
    let is_disabled = visit.is_read_only() || !can_continue;
    html! {
        form.decide method="post" action={ "suspended/" (run.info.run) "/resume" } {
            (super::no_default_button())
            input type="hidden" name="form_token" value=(visit.session.form_token);
            input type="hidden" name="shown" value=(digest(run));
            @if !run.held.is_empty() {
                fieldset.offers {
                    legend { (tr!(lang, "It waits to do this; choose what may happen")) }
                    @for effect in &run.held { (effect_markup(effect, lang)) }
                }
            }
            @if can_continue {
                button.primary #approve name="action" value="continue" disabled[is_disabled] {
                    @if run.held.is_empty() { (tr!(lang, "Continue")) } @else { (tr!(lang, "Do what is chosen, and continue")) }
                }
                @if !run.held.is_empty() {
                    button.danger #refuse name="action" value="refuse" disabled[is_disabled] { (tr!(lang, "Do nothing of it, and continue")) }
                }
            } @else {
                p { (tr!(lang, "Its caller continues it: the result goes there.")) }
            }
        }
    }
}

/// Shows a held effect whole: its target, its details and its body.
fn effect_markup(effect: &HeldEffect, lang: Lang) -> Markup {
    html! {
        label {
            input type="checkbox" name="effect" value=(effect.digest);
            span { strong { (text(&effect.kind)) } " " (text(&effect.about)) }
        }
        pre.details { (text(&effect.details)) }
        @match &effect.body {
            Some(HeldBody::Text(body)) => pre.details { (text(body)) },
            Some(HeldBody::Base64(body)) => { p { (tr!(lang, "body (base64)")) } pre.details { (text(body)) } },
            None => {},
        }
        @if !effect.from.is_empty() {
            p.quiet { (tr!(lang, "may depend on data from")) " " (text(&effect.from.join(lang.list_separator()))) }
        }
    }
}

fn result_markup(result: &RunResult, lang: Lang) -> Markup {
    let whole = result.to_text(lang);
    let shown: String = whole.chars().take(MAX_RESULT_CHARS).collect();
    html! {
        h1 { (result.name) }
        pre.result tabindex="0" aria-label=(tr!(lang, "result")) { (text(&shown)) }
        @if shown.len() < whole.len() {
            p { (tr!(lang, "The first {shown} of {all} characters are shown.", shown = grouped(MAX_RESULT_CHARS as u64), all = grouped(whole.chars().count() as u64))) }
        }
        p { a href="runs" { (tr!(lang, "Show the runs")) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chosen_effects_are_performed() {
        let held = |digest: &str| HeldEffect {
            tool: "t".to_owned(),
            id: toolcell::ToolId::from_bytes([0; 32]),
            position: 1,
            kind: "fetch".to_owned(),
            about: String::new(),
            details: String::new(),
            bytes: 0,
            body: None,
            from: Vec::new(),
            digest: digest.to_owned(),
        };
        let digests = |digests: &[&str]| digests.iter().map(|digest| (*digest).to_owned()).collect();
        let chosen = ChosenEffects { shown: digests(&["a", "b"]), performed: digests(&["b"]) };
        let expected = [EffectDecision::Refuse, EffectDecision::Perform, EffectDecision::Defer];
        assert_eq!(chosen.decide(&[held("a"), held("b"), held("later")]), expected);
    }
}
