//! Texts, times and numbers as markup.
//!
//! Invariant: [`text`] is the only way by which a text of a tool, a model or a caller gets into a page. What it returns is escaped, and
//! each character in it is visible: control characters, characters that change the direction of others, and invisible ones are shown
//! by their code, which looks different from a text that spells the same code.

mod difference;
mod source;
mod sparkline;

use jiff::Timestamp;
use maud::{Markup, html};
use toolcell::{escape_for_display, is_hidden_char};
use toolcell_i18n::{Lang, tr};

pub(crate) use difference::difference;
pub(crate) use source::{SourceNotes, source};
pub(crate) use sparkline::sparkline;

/// The maximum number of characters shown of a long text.
const MAX_SHOWN_CHARS: usize = 20_000;

/// Shows a text of another party.
pub(crate) fn text(text: &str) -> Markup {
    pieces_markup(&pieces(text, is_hidden_char))
}

fn pieces_markup(pieces: &[Piece<'_>]) -> Markup {
    html! {
        @for piece in pieces {
            @match piece {
                Piece::Plain(plain) => (escape_for_display(plain)),
                Piece::Hidden(char) => span.code { (char.escape_unicode()) },
            }
        }
    }
}

/// Shows a text of another party on one line: line feeds and tabs are shown by their code, too.
pub(crate) fn line(text: &str) -> Markup {
    pieces_markup(&pieces(text, |char| is_hidden_char(char) || matches!(char, '\n' | '\t')))
}

/// Shows a sentence of ours, with what stands between backticks as code.
pub(crate) fn prose(sentence: &str) -> Markup {
    html! {
        @for (at, piece) in sentence.split('`').enumerate() {
            @if at % 2 == 1 { code { (text(piece)) } } @else { (text(piece)) }
        }
    }
}

/// Shows a text of another party, the beginning of a long one.
pub(crate) fn long_text(whole: &str, label: &str, lang: Lang) -> Markup {
    let beginning: String = whole.chars().take(MAX_SHOWN_CHARS).collect();
    html! {
        pre.result tabindex="0" role="group" aria-label=(label) { (text(&beginning)) }
        @if beginning.len() < whole.len() {
            p.quiet { (tr!(lang, "The first {shown} of {all} characters are shown.", shown = grouped(MAX_SHOWN_CHARS as u64), all = grouped(whole.chars().count() as u64))) }
        }
    }
}

/// A piece of a text.
enum Piece<'a> {
    Plain(&'a str),
    Hidden(char),
}

fn pieces(text: &str, is_hidden: impl Fn(char) -> bool) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, char) in text.char_indices().filter(|(_, char)| is_hidden(*char)) {
        if start < at {
            pieces.push(Piece::Plain(&text[start..at]));
        }
        pieces.push(Piece::Hidden(char));
        start = at + char.len_utf8();
    }
    if start < text.len() {
        pieces.push(Piece::Plain(&text[start..]));
    }
    pieces
}

/// Shows a time, to the minute.
pub(crate) fn time(at: Timestamp) -> Markup {
    html! { time datetime=(at) { (at.strftime("%Y-%m-%d %H:%M")) " UTC" } }
}

/// Formats a number with a separator between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats microseconds as milliseconds.
pub(crate) fn milliseconds(micros: u64) -> String {
    format!("{}.{:02} ms", grouped(micros / 1_000), micros % 1_000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_be_markup() {
        let shown = text("<script>alert(1)</script> \"a\" 'b' &amp;").into_string();
        assert_eq!(shown, "&lt;script&gt;alert(1)&lt;/script&gt; &quot;a&quot; 'b' &amp;amp;");
    }

    #[test]
    fn an_invisible_character_is_shown_and_differs_from_its_spelling() {
        assert_eq!(text("a\u{202e}b").into_string(), "a<span class=\"code\">\\u{202e}</span>b");
        assert_eq!(text("a\\u{202e}b").into_string(), "a\\u{202e}b");
        assert_eq!(
            text("\u{200b}\u{1b}").into_string(),
            "<span class=\"code\">\\u{200b}</span><span class=\"code\">\\u{1b}</span>"
        );
        assert_eq!(line("a\nb").into_string(), "a<span class=\"code\">\\u{a}</span>b");
        assert_eq!(text("名前が とても長い\n道具").into_string(), "名前が とても長い\n道具");
    }

    #[test]
    fn names_in_a_sentence_are_code() {
        assert_eq!(prose("it asks for `net`").into_string(), "it asks for <code>net</code>");
        assert_eq!(prose("<`<b>`>").into_string(), "&lt;<code>&lt;b&gt;</code>&gt;");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1\u{202f}000");
        assert_eq!(grouped(12_345_678), "12\u{202f}345\u{202f}678");
        assert_eq!(milliseconds(1_234_567), "1\u{202f}234.56 ms");
    }
}
