//! Where the fuel of a run went.

use maud::{Markup, html};
use toolcell::{FunctionFuel, Profile};
use toolcell_i18n::{Lang, tr};

use crate::markup::{grouped, text};

/// The maximum number of functions in the table.
const MAX_FUNCTIONS: usize = 10;

/// Shows where the fuel of a run went: its flame graph, which is served under a name, and its most expensive functions.
pub(super) fn profile_markup(profile: &Profile, flame_graph: Option<&str>, lang: Lang) -> Markup {
    html! {
        h3 { (tr!(lang, "Where the fuel went")) }
        @if let Some(name) = flame_graph {
            @let path = format!("playground/flame/{name}.svg");
            div.flame-graph tabindex="0" role="group" aria-label=(tr!(lang, "flame graph")) { a href=(path) target="_blank" rel="noopener" {
                img.flame src=(path) alt=(tr!(lang, "flame graph: the calls from the bottom up, as wide as their fuel")) loading="lazy";
            } }
        }
        div.scroll tabindex="0" role="group" aria-label=(tr!(lang, "Where the fuel went")) {
            table.figures {
                thead { tr {
                    th scope="col" { (tr!(lang, "function")) }
                    th scope="col" { (tr!(lang, "line")) }
                    th scope="col" { (tr!(lang, "fuel of its own")) }
                    th scope="col" { (tr!(lang, "fuel with its calls")) }
                } }
                tbody {
                    @for FunctionFuel { name, home, line, own, total } in profile.functions.iter().take(MAX_FUNCTIONS) {
                        tr {
                            th scope="row" { code { (text(name)) } @if home != "tool" { " " span.quiet { (text(home)) } } }
                            td { @if let Some(line) = line { (line) } }
                            td { (grouped(*own)) }
                            td { (grouped(*total)) }
                        }
                    }
                }
            }
        }
    }
}
