//! The difference between two sources.

use imara_diff::{Algorithm, Diff, InternedInput};
use maud::{Markup, html};
use toolcell_i18n::{Lang, tr};

use super::text;

/// The lines shown before and after a change.
const CONTEXT: u32 = 3;

/// Shows the lines that differ, with the lines around them; `None` if none differs.
pub(crate) fn difference(before: &str, after: &str, lang: Lang) -> Option<Markup> {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let line = |token| input.interner[token];
    let hunks: Vec<_> = diff.hunks().collect();
    if hunks.is_empty() {
        return None;
    }
    let all = u32::try_from(input.after.len()).unwrap_or(u32::MAX);
    let (before, after) = (|at: u32| line(input.before[at as usize]), |at: u32| line(input.after[at as usize]));
    let mut rows = Vec::new();
    let mut shown_until = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let from = hunk.after.start.saturating_sub(CONTEXT).max(shown_until);
        if from > shown_until {
            rows.push(Row::Gap);
        }
        rows.extend((from..hunk.after.start).map(|at| Row::Same(at + 1, after(at))));
        rows.extend(hunk.before.clone().map(|at| Row::Removed(at + 1, before(at))));
        rows.extend(hunk.after.clone().map(|at| Row::Added(at + 1, after(at))));
        let next = hunks.get(index + 1).map_or(all, |next| next.after.start);
        shown_until = next.min(hunk.after.end.saturating_add(CONTEXT));
        rows.extend((hunk.after.end..shown_until).map(|at| Row::Same(at + 1, after(at))));
    }
    if shown_until < all {
        rows.push(Row::Gap);
    }
    Some(html! {
        ol.source.difference tabindex="0" aria-label=(tr!(lang, "difference")) {
            @for row in &rows { (row.to_markup()) }
        }
    })
}

/// A row of a difference: the number of a line, counted from 1, and its text.
enum Row<'a> {
    Same(u32, &'a str),
    Removed(u32, &'a str),
    Added(u32, &'a str),
    /// Lines that are left out.
    Gap,
}

impl Row<'_> {
    fn to_markup(&self) -> Markup {
        let (kind, sign, number, line) = match self {
            Self::Same(number, line) => ("same", " ", number, line),
            Self::Removed(number, line) => ("removed", "−", number, line),
            Self::Added(number, line) => ("added", "+", number, line),
            Self::Gap => return html! { li.gap { "⋯" } },
        };
        html! {
            li.(kind) {
                span.number aria-hidden="true" { (number) }
                span.sign { (sign) }
                code { (text(line.trim_end_matches(['\n', '\r']))) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_far_from_a_change_are_left_out() {
        let before = (0..40).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let after = before.replace("line 20\n", "line twenty <b>\nand more\n");
        let html = difference(&before, &after, Lang::En).unwrap().into_string();
        assert!(html.contains("<li class=\"removed\">") && html.contains("line twenty &lt;b&gt;"), "{html}");
        assert_eq!(html.matches("class=\"same\"").count(), 6, "{html}");
        assert_eq!(html.matches("class=\"gap\"").count(), 2, "{html}");
        assert_eq!(difference(&before, &before, Lang::En).map(maud::PreEscaped::into_string), None);
    }

    #[test]
    fn everything_may_differ() {
        let html = difference("", "a\nb\n", Lang::En).unwrap().into_string();
        assert_eq!(html.matches("class=\"added\"").count(), 2, "{html}");
        let html = difference("a\nb\n", "", Lang::En).unwrap().into_string();
        assert_eq!(html.matches("class=\"removed\"").count(), 2, "{html}");
    }
}
