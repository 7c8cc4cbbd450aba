//! The tokens of a source that a viewer colours.
//!
//! Invariant: the tokens are in source order and do not overlap, so that text and colours cannot get out of step. A source that does
//! not parse has no tokens; it is shown without colours.

use std::ops::Range;

use swc_common::comments::SingleThreadedComments;
use swc_common::sync::Lrc;
use swc_common::{FileName, SourceMap};
use swc_ecma_ast::EsVersion;
use swc_ecma_parser::lexer::Lexer;
use swc_ecma_parser::unstable::{Capturing, Token};
use swc_ecma_parser::{Parser, StringInput, Syntax};

use crate::syntax::parse::{javascript_syntax, typescript_syntax};
use crate::syntax::position::byte_range;
use crate::syntax::scan;

/// A token of a source that has a colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxToken {
    /// The kind.
    pub kind: TokenKind,
    /// The bytes of the source.
    pub range: Range<usize>,
}

/// The kind of a [`SyntaxToken`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A comment.
    Comment,
    /// A reserved word, such as `const`.
    Keyword,
    /// A string, or a piece of a template.
    String,
    /// A number.
    Number,
    /// A regular expression.
    Regex,
    /// `true`, `false`, `null` or `this`.
    Constant,
}

impl TokenKind {
    /// Returns the name of the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Keyword => "keyword",
            Self::String => "string",
            Self::Number => "number",
            Self::Regex => "regex",
            Self::Constant => "constant",
        }
    }

    fn from_token(token: Token) -> Option<Self> {
        Some(match token {
            Token::True | Token::False | Token::Null | Token::This => Self::Constant,
            Token::Str
            | Token::Template
            | Token::NoSubstitutionTemplateLiteral
            | Token::TemplateHead
            | Token::TemplateMiddle
            | Token::TemplateTail => Self::String,
            Token::Num | Token::BigInt => Self::Number,
            Token::Regex => Self::Regex,
            other if other.is_keyword() => Self::Keyword,
            Token::Async | Token::Interface | Token::Type | Token::Enum => Self::Keyword,
            _ => return None,
        })
    }
}

/// Returns the tokens of a source, parsed as TypeScript or else as JavaScript. Requires a large stack.
pub(crate) fn syntax_tokens(source: &str) -> Vec<SyntaxToken> {
    if scan::find_too_deep(source).is_some() {
        return Vec::new();
    }
    let tokens = [typescript_syntax(), javascript_syntax()].into_iter().find_map(|syntax| tokens_as(source, syntax));
    tokens.unwrap_or_default()
}

fn tokens_as(source: &str, syntax: Syntax) -> Option<Vec<SyntaxToken>> {
    let map: Lrc<SourceMap> = Lrc::default();
    let file = map.new_source_file(FileName::Anon.into(), source.to_owned());
    let comments = SingleThreadedComments::default();
    let lexer = Lexer::new(syntax, EsVersion::latest(), StringInput::from(&*file), Some(&comments));
    let mut parser = Parser::new_from(Capturing::new(lexer));
    if parser.parse_program().is_err() || !parser.take_errors().is_empty() {
        return None;
    }
    let coloured = |kind, (start, end)| SyntaxToken { kind, range: start..end };
    let mut tokens: Vec<SyntaxToken> = parser
        .input_mut()
        .iter_mut()
        .take()
        .iter()
        .filter_map(|token| Some(coloured(TokenKind::from_token(token.token)?, byte_range(token.span))))
        .collect();
    let (leading, trailing) = comments.take_all();
    for comment in leading.borrow().values().chain(trailing.borrow().values()).flatten() {
        tokens.push(coloured(TokenKind::Comment, byte_range(comment.span)));
    }
    tokens.sort_by_key(|token| (token.range.start, token.range.end));
    let mut end = 0;
    tokens.retain(|token| {
        let follows = token.range.start >= end && source.get(token.range.clone()).is_some();
        if follows {
            end = token.range.end;
        }
        follows
    });
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use crate::syntax_tokens;

    fn check(source: &str, expected: &[(&str, &str)]) {
        let tokens = syntax_tokens(source);
        let found: Vec<(&str, &str)> =
            tokens.iter().map(|token| (token.kind.name(), &source[token.range.clone()])).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn tokens_have_the_kind_that_the_parser_saw() {
        check(
            "const execute = ({ a }: { a: number }) => a / 2 // half",
            &[("keyword", "const"), ("number", "2"), ("comment", "// half")],
        );
        check("x = /a[/]'/g", &[("regex", "/a[/]'/g")]);
        check("x = `a${ 'b' }c`", &[("string", "`a${"), ("string", "'b'"), ("string", "c`")]);
        check("/* ü */ f(null, this)", &[("comment", "/* ü */"), ("constant", "null"), ("constant", "this")]);
    }

    #[test]
    fn a_source_that_does_not_parse_has_no_tokens() {
        check("const = 1", &[]);
        check(&"(".repeat(100_000), &[]);
    }
}
