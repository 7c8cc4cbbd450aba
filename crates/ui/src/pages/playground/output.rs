//! What a run in the playground gave: its result, its console, its cost, and where its fuel went.

use maud::{Markup, html};
use serde_json::{Value, json};
use toolcell::{CodeResult, HookContext, Outcome, Params, Profile};
use toolcell_i18n::{Lang, tr};

use crate::markup::{grouped, long_text, milliseconds, text};
use crate::pages::profile::profile_markup;

/// The maximum size of a JSON text that is laid out, in bytes.
const MAX_PRETTY_BYTES: usize = 20_000;

/// A run.
pub(super) struct Ran {
    /// The parameters that were typed, with defaults.
    pub(super) parameters: Params,
    pub(super) result: CodeResult,
    pub(super) profile: Profile,
    /// The name under which the flame graph is served.
    pub(super) flame_graph: Option<String>,
}

impl Ran {
    /// Returns the run as an example of the tool, if it returned a value or threw, and no hook had a part in that.
    pub(super) fn example(&self) -> Option<Value> {
        if self.result.is_revised || self.result.output_suppressed {
            return None;
        }
        let parameters: Value = serde_json::from_str(self.parameters.as_str()).ok()?;
        match &self.result.report.outcome {
            Outcome::Returned(Some(value)) => {
                let result: Value = serde_json::from_str(value.as_str()).ok()?;
                Some(json!({ "parameters": parameters, "result": result }))
            }
            Outcome::Threw(thrown) => Some(json!({ "parameters": parameters, "throws": thrown.message })),
            Outcome::Returned(None) | Outcome::Stopped(_) => None,
        }
    }
}

/// Shows a run.
pub(super) fn ran_markup(ran: &Ran, lang: Lang) -> Markup {
    let report = &ran.result.report;
    html! {
        h2 { (tr!(lang, "Result")) }
        @if ran.result.output_suppressed {
            p.notice { (tr!(lang, "A hook hides what it returned and printed.")) }
        } @else {
            (what_came_out(ran, lang))
        }
        @for HookContext { hook, text: said } in &ran.result.context { p.notice { code { (text(hook)) } " " (text(said)) } }
        dl.tiles {
            div { dt { (tr!(lang, "fuel of the call")) } dd { (grouped(report.usage.fuel)) } }
            div { dt { (tr!(lang, "fuel of loading")) } dd { (grouped(report.usage.load_fuel)) } }
            div { dt { (tr!(lang, "time")) } dd { (milliseconds(u64::try_from(report.usage.duration.as_micros()).unwrap_or(u64::MAX))) } }
            div { dt { (tr!(lang, "memory")) } dd { (tr!(lang, "{bytes} bytes", bytes = grouped(report.usage.memory as u64))) } }
        }
        @if !ran.profile.functions.is_empty() { (profile_markup(&ran.profile, ran.flame_graph.as_deref(), lang)) }
    }
}

/// Shows the result of a run, its warnings and its console.
fn what_came_out(ran: &Ran, lang: Lang) -> Markup {
    let report = &ran.result.report;
    html! {
        @match ran.result.value() {
            Ok(Some(value)) => (long_text(&pretty(value.as_str()), tr!(lang, "result"), lang)),
            Ok(None) => p.quiet { (tr!(lang, "It returned nothing.")) },
            Err(failure) => {
                p.notice.alarm { (text(&failure.to_message(lang))) }
                @if let Outcome::Threw(thrown) = &report.outcome {
                    @if !thrown.stack.is_empty() { pre.details tabindex="0" aria-label=(tr!(lang, "stack")) { (text(&thrown.stack)) } }
                }
            },
        }
        @for warning in &report.warnings { p.notice { code { (text(&warning.path)) } " " (text(&warning.message)) } }
        @if !report.logs.is_empty() {
            h3 { (tr!(lang, "Console")) }
            @let console = report.logs.iter().map(|log| &*log.text).collect::<Vec<_>>().join("\n");
            (long_text(&console, tr!(lang, "Console"), lang))
        }
    }
}

/// Lays out a JSON text, if it is not long.
fn pretty(json: &str) -> String {
    let short = Some(json).filter(|json| json.len() <= MAX_PRETTY_BYTES);
    let value = short.and_then(|json| serde_json::from_str::<Value>(json).ok());
    value.map_or_else(|| json.to_owned(), |value| format!("{value:#}"))
}
