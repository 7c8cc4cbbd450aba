//! A source with line numbers, colours, findings, and marks where it reaches outside.
//!
//! Invariant: the whole source is shown, each line with its number; nothing is cut or folded.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use maud::{Markup, html};
use toolcell::{Finding, SyntaxToken, TokenKind, syntax_tokens};
use toolcell_i18n::{Lang, Localize as _, tr};

use super::text;

/// What is known about the lines of a source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceNotes<'a> {
    /// The findings.
    pub(crate) findings: &'a [Finding],
    /// The lines that use a capability, counted from 1.
    pub(crate) capability_lines: &'a BTreeSet<u32>,
}

/// Shows a source.
pub(crate) fn source(source: &str, notes: SourceNotes<'_>, lang: Lang) -> Markup {
    let tokens = syntax_tokens(source);
    let mut findings: BTreeMap<u32, Vec<&Finding>> = BTreeMap::new();
    for finding in notes.findings {
        findings.entry(finding.location.line).or_default().push(finding);
    }
    let mut pieces = Pieces { source, tokens: &tokens, next: 0 };
    let mut start = 0;
    let lines = source.split_inclusive('\n').zip(1..).map(|(line, number)| {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        let is_reaching = notes.capability_lines.contains(&number);
        let findings = findings.remove(&number).unwrap_or_default();
        Line { number, is_reaching, findings, pieces: pieces.line(range) }
    });
    let lines: Vec<Line<'_>> = lines.collect();
    html! {
        ol.source tabindex="0" aria-label=(tr!(lang, "source")) {
            @for line in &lines { (line.to_markup(lang)) }
        }
    }
}

/// A line of a source.
struct Line<'a> {
    /// Counted from 1.
    number: u32,
    is_reaching: bool,
    findings: Vec<&'a Finding>,
    pieces: Vec<(Option<TokenKind>, &'a str)>,
}

impl Line<'_> {
    fn to_markup(&self, lang: Lang) -> Markup {
        html! {
            li id={ "L" (self.number) } .reaches[self.is_reaching] .found[!self.findings.is_empty()] {
                span.number aria-hidden="true" { (self.number) }
                @if self.is_reaching {
                    @let meaning = tr!(lang, "reaches outside of the cell");
                    span.mark title=(meaning) role="img" aria-label=(meaning) { "↗" }
                }
                code {
                    @for (kind, piece) in &self.pieces {
                        @match kind {
                            Some(kind) => span.{ "token-" (kind.name()) } { (text(piece)) },
                            None => (text(piece)),
                        }
                    }
                }
                @for finding in &self.findings {
                    p.finding.{ "severity-" (finding.severity.name()) } {
                        strong { (finding.severity.localize().to_text(lang)) } " "
                        (text(&finding.message.to_text(lang))) " "
                        span.rule { (finding.rule.name()) }
                    }
                }
            }
        }
    }
}

/// The coloured pieces of lines, from the first line to the last.
struct Pieces<'a> {
    source: &'a str,
    tokens: &'a [SyntaxToken],
    /// The first token that does not end before the line.
    next: usize,
}

impl<'a> Pieces<'a> {
    fn line(&mut self, range: Range<usize>) -> Vec<(Option<TokenKind>, &'a str)> {
        while self.tokens.get(self.next).is_some_and(|token| token.range.end <= range.start) {
            self.next += 1;
        }
        let source = self.source;
        let piece = |from: usize, to: usize| source.get(from..to).unwrap_or_default();
        let mut pieces = Vec::new();
        let mut at = range.start;
        for token in self.tokens[self.next..].iter().take_while(|token| token.range.start < range.end) {
            let (start, end) = (token.range.start.max(range.start), token.range.end.min(range.end));
            pieces.extend([(None, piece(at, start)), (Some(token.kind), piece(start, end))]);
            at = end;
        }
        pieces.push((None, piece(at, range.end)));
        pieces.retain(|(_, piece)| !piece.is_empty());
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        source(text, SourceNotes { findings: &[], capability_lines: &BTreeSet::from([2]) }, Lang::En).into_string()
    }

    /// The text that a reader sees, without markup.
    fn plain(markup: &str) -> String {
        let mut plain = String::new();
        let mut rest = markup;
        while let Some((before, after)) = rest.split_once('<') {
            plain += before;
            rest = after.split_once('>').map_or("", |(_, after)| after);
        }
        (plain + rest).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    }

    #[test]
    fn a_template_over_several_lines_keeps_its_colour() {
        let html = shown("const a = `one\ntwo` // <b>\n");
        assert!(html.contains("<span class=\"token-string\">`one</span>"), "{html}");
        assert!(html.contains("<span class=\"token-string\">two`</span>"), "{html}");
        assert!(html.contains("<span class=\"token-comment\">// &lt;b&gt;</span>"), "{html}");
        assert!(html.contains("class=\"reaches\" id=\"L2\""), "{html}");
    }

    #[test]
    fn a_source_is_shown_whole() {
        for text in ["", "x", "const = 1 // 'é\r\n\tlet y = \"<&\"\n\n", "/* 1\n2\n3 */ f(`${`${a}`}`)"] {
            let html = shown(text);
            let lines: Vec<&str> =
                html.split("<code>").skip(1).map(|line| line.split("</code>").next().unwrap()).collect();
            let expected: Vec<&str> = text.lines().collect();
            assert_eq!(lines.into_iter().map(plain).collect::<Vec<_>>(), expected, "{html}");
        }
    }
}
