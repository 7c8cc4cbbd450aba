//! Two runs beside each other.

use maud::{Markup, html};
use toolcell::{ContentDigest, EffectLog, RunRecord};
use toolcell_i18n::{Lang, tr};

use crate::markup::{grouped, line, milliseconds, time};
use crate::pages::stored_grants_text;
use crate::pages::words::outcome_word;

/// Shows what two records say. What differs is marked by a word, too.
pub(super) fn to_markup(one: &RunRecord, other: &RunRecord, lang: Lang) -> Markup {
    let title = tr!(lang, "Compared with another run");
    let pairs = rows(one, lang).into_iter().zip(rows(other, lang));
    let took = |record: &RunRecord| record.used.as_ref().map(|used| milliseconds(used.micros)).unwrap_or_default();
    html! {
        section aria-labelledby="compared" {
            h2 #compared { (title) }
            div.scroll tabindex="0" role="group" aria-label=(title) {
                table.compared {
                    thead { tr {
                        td {}
                        th scope="col" { (tr!(lang, "this run")) br; (time(one.at)) }
                        th scope="col" { a href={ "runs/" (other.run) } { (tr!(lang, "the other run")) } br; (time(other.at)) }
                        td {}
                    } }
                    tbody {
                        @for ((name, one), (_, other)) in pairs {
                            @let differs = one != other;
                            tr class=[differs.then_some("differs")] {
                                th scope="row" { (name) }
                                td { (line(&one)) }
                                td { (line(&other)) }
                                td { @if differs { span.status { (tr!(lang, "differs")) } } }
                            }
                        }
                        // A time is never the same twice.
                        tr { th scope="row" { (tr!(lang, "time")) } td { (took(one)) } td { (took(other)) } td {} }
                    }
                }
            }
        }
    }
}

/// Returns what is compared of a run, with its names.
fn rows(record: &RunRecord, lang: Lang) -> Vec<(&'static str, String)> {
    let used = record.used.as_ref();
    let number = |value: Option<u64>| value.map(grouped).unwrap_or_default();
    let digest = |content: Option<&ContentDigest>| {
        content.map_or_else(String::new, |content| {
            let hash = content.blake3.get(..16).unwrap_or(&content.blake3);
            tr!(lang, "{bytes} bytes, blake3 {hash}…", bytes = grouped(content.bytes), hash)
        })
    };
    let grants = record.grants.as_ref().map(|grants| stored_grants_text(grants, lang));
    vec![
        (tr!(lang, "tool"), record.tool.clone().unwrap_or_default()),
        (tr!(lang, "caller"), record.caller.clone()),
        (tr!(lang, "outcome"), outcome_word(&record.outcome, lang).to_owned()),
        (tr!(lang, "error"), record.code.clone().unwrap_or_default()),
        (tr!(lang, "parameters"), digest(Some(record.changed.as_ref().unwrap_or(&record.parameters)))),
        (tr!(lang, "result"), digest(record.result.as_ref())),
        (tr!(lang, "granted"), grants.unwrap_or_default()),
        (tr!(lang, "operations"), operations(record.done.as_ref())),
        (tr!(lang, "fuel of the call"), number(used.map(|used| used.fuel))),
        (tr!(lang, "fuel of loading"), number(used.map(|used| used.load_fuel))),
        (tr!(lang, "memory in bytes"), number(used.map(|used| used.memory_bytes))),
        (
            tr!(lang, "fuel model"),
            used.map(|used| format!("{} {}", used.guest.get(..16).unwrap_or(&used.guest), used.engine))
                .unwrap_or_default(),
        ),
    ]
}

/// Lists the operations of a run in their order, each with its target and what came of it.
fn operations(log: Option<&EffectLog>) -> String {
    let Some(log) = log else { return String::new() };
    let mut listed: Vec<String> = log
        .effects
        .iter()
        .map(|effect| {
            format!(
                "{} {} ({}{})",
                effect.kind,
                effect.about,
                effect.effects.name(),
                effect.code.as_ref().map(|code| format!(", {code}")).unwrap_or_default()
            )
        })
        .collect();
    if log.more > 0 {
        listed.push(format!("… {}", grouped(log.more)));
    }
    listed.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(fuel: u64) -> RunRecord {
        let json = serde_json::json!({
            "run": "r_0123456789abcdef-1", "action": "run_dynamic_tool", "caller": "cli", "name": "sum", "at": "2026-11-30T00:00:00Z",
            "parameters": { "blake3": "00", "bytes": 2 }, "outcome": "returned",
            "used": { "fuel": fuel, "loadFuel": 1, "memoryBytes": 2, "micros": 3, "guest": "g", "engine": "e" },
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn what_differs_is_marked() {
        let shown = to_markup(&record(1), &record(2), Lang::En).into_string();
        assert_eq!(shown.matches("class=\"differs\"").count(), 1, "{shown}");
        assert!(shown.contains("<th scope=\"row\">fuel of the call</th><td>1</td><td>2</td>"), "{shown}");
        assert!(!to_markup(&record(1), &record(1), Lang::En).into_string().contains("differs\""));
    }
}
