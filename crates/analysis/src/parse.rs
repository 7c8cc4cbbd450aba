//! From text to a tree, and what is wrong where there is none.
//!
//! Invariant: a tree is only made, used and dropped inside of [`with_room`](crate::room::with_room); rules see it with
//! every name resolved, so that a local `process` is never taken for the global one.

use swc_common::comments::SingleThreadedComments;
use swc_common::sync::Lrc;
use swc_common::{BytePos, FileName, GLOBALS, Globals, Mark, SourceMap, Span, Spanned, SyntaxContext};
use swc_ecma_ast::{EsVersion, Program};
use swc_ecma_parser::lexer::Lexer;
use swc_ecma_parser::{EsSyntax, Parser, StringInput, Syntax, TsSyntax};
use swc_ecma_transforms_base::resolver;
use swc_ecma_visit::VisitMutWith;
use toolcell_tool::Language;

use crate::error::{Problem, Rejection};
use crate::imports::{Blank, Imports};
use crate::nesting::TooLong;
use crate::position::{Lines, cut};
use crate::scan;
use crate::{exports, namespaces, nesting};

/// At most this many problems of one source are told.
pub(crate) const PROBLEMS: usize = 20;

/// What is said of JSX.
pub(crate) const JSX: &str = "JSX is not supported: build strings or plain objects instead";

/// The most tags of JSX in a source that is read so that they can be refused by their name.
const TAGS: usize = 500;

/// A parsed source.
pub(crate) struct Parsed {
    pub(crate) program: Program,
    pub(crate) comments: SingleThreadedComments,
    /// How deep it is nested.
    pub(crate) depth: usize,
    /// Whether there may be types in it.
    pub(crate) typescript: bool,
    pub(crate) imports: Imports,
    /// Where types are exported by name. The tree no longer has them.
    pub(crate) exported_types: Vec<Blank>,
}

/// Where a span begins and ends in the source, in bytes.
pub(crate) fn range(span: Span) -> (usize, usize) {
    let at = |position: BytePos| (position.0 as usize).saturating_sub(1);
    (at(span.lo), at(span.hi))
}

/// Where the next token of a source is, behind white space and comments.
pub(crate) fn next_token(source: &str, mut from: usize) -> usize {
    loop {
        let rest = &source[from..];
        if rest.starts_with("//") {
            from += rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            from += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else {
            match rest.chars().next() {
                Some(letter) if letter.is_whitespace() || letter == '\u{feff}' => from += letter.len_utf8(),
                _ => return from,
            }
        }
    }
}

/// Runs `work` with what the parser keeps beside the trees.
pub(crate) fn with_globals<T>(work: impl FnOnce() -> T) -> T {
    GLOBALS.set(&Globals::new(), work)
}

impl Parsed {
    /// Resolves the names, and gives the mark of those that nothing in the source declares.
    ///
    /// Only for sources that are not deep: it looks through each block once more for each block around it.
    pub(crate) fn resolve(&mut self) -> SyntaxContext {
        let (unresolved, top_level) = (Mark::new(), Mark::new());
        self.program.visit_mut_with(&mut resolver(unresolved, top_level, self.typescript));
        if self.typescript {
            // Where that takes too long the source is refused, whatever its names stand for.
            let _ = namespaces::link(&mut self.program);
        }
        SyntaxContext::empty().apply_mark(unresolved)
    }
}

/// Parses a source.
///
/// JavaScript is read as such first: `a < b > (c)` is a comparison there and a call in TypeScript. Where that fails,
/// and where nothing says what it is, it is read as TypeScript.
pub(crate) fn parse(source: &str, language: Language) -> Result<Parsed, Rejection> {
    if let Some(at) = scan::too_deep(source) {
        // Tags in each other look like casts in each other.
        let rest = &source.as_bytes()[at..];
        let is_tag = rest.first() == Some(&b'<') && rest.windows(2).any(|two| two == b"</" || two == b"/>");
        let told = |message: &str| vec![problem(&Lines::of(source), (at, at + 1), message.to_owned())];
        return Err(if is_tag {
            Rejection::Unsupported(told(JSX))
        } else {
            Rejection::TooDeep(told("nests deeper than any tool does"))
        });
    }
    let (typescript, javascript) = (syntax_of_typescript(), syntax_of_javascript());
    // Nothing with JSX runs here; it is read so that it can be refused by its name.
    let jsx = Syntax::Typescript(TsSyntax { decorators: true, tsx: true, ..TsSyntax::default() });
    let order: &[Syntax] = match language {
        Language::TypeScript => &[typescript, jsx],
        Language::JavaScript => &[javascript, typescript, jsx],
        Language::Unsaid => &[typescript, javascript, jsx],
    };
    let mut first_problems = None;
    for syntax in order {
        if *syntax == jsx && !may_be_jsx(source) {
            break;
        }
        match read(source, *syntax) {
            Ok(Read { mut program, comments, .. }) => {
                let depth = nesting::depth(&program).map_err(|TooLong { message, at }| {
                    let place = at.map_or((0, 0), range);
                    Rejection::TooDeep(vec![problem(&Lines::of(source), place, message.to_owned())])
                })?;
                let typescript = syntax.typescript();
                let exported_types = if typescript { exports::take_types(source, &mut program) } else { Vec::new() };
                let imports = Imports::of(&program, typescript);
                return Ok(Parsed { program, comments, depth, typescript, imports, exported_types });
            }
            // Of two readings, the problems of the one that was meant are told.
            Err(problems) => first_problems = first_problems.or(Some(problems)),
        }
    }
    Err(Rejection::Syntax(first_problems.unwrap_or_default()))
}

/// Whether it is worth reading a source with JSX: it has a tag, and not so many that reading takes long.
fn may_be_jsx(source: &str) -> bool {
    let tags =
        source.as_bytes().windows(2).filter(|two| two[0] == b'<' && (two[1].is_ascii_alphabetic() || two[1] == b'>'));
    (1..=TAGS).contains(&tags.count()) && !scan::too_deep_as_text(source)
}

/// A tree, with what is kept beside it.
pub(crate) struct Read {
    pub(crate) program: Program,
    pub(crate) comments: SingleThreadedComments,
    pub(crate) map: Lrc<SourceMap>,
}

/// TypeScript without JSX.
pub(crate) fn syntax_of_typescript() -> Syntax {
    Syntax::Typescript(TsSyntax { decorators: true, ..TsSyntax::default() })
}

/// JavaScript with what is about to become part of it.
pub(crate) fn syntax_of_javascript() -> Syntax {
    Syntax::Es(EsSyntax {
        decorators: true,
        decorators_before_export: true,
        auto_accessors: true,
        explicit_resource_management: true,
        import_attributes: true,
        ..EsSyntax::default()
    })
}

/// Parses a source in one syntax.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read(source: &str, syntax: Syntax) -> Result<Read, Vec<Problem>> {
    let map: Lrc<SourceMap> = Lrc::default();
    let file = map.new_source_file(FileName::Anon.into(), source.to_owned());
    let comments = SingleThreadedComments::default();
    let lexer = Lexer::new(syntax, EsVersion::latest(), StringInput::from(&*file), Some(&comments));
    let mut parser = Parser::new_from(lexer);
    let parsed = parser.parse_program();
    let mut errors = parser.take_errors();
    let program = match parsed {
        Ok(program) if errors.is_empty() => return Ok(Read { program, comments, map }),
        Ok(program) => Some(program),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    drop(program);
    // The parser may stumble over every token.
    errors.sort_by_key(Spanned::span_lo);
    errors.truncate(PROBLEMS * 4);
    let mut told: Vec<_> =
        errors.into_iter().map(|error| (range(error.span()), sentence(&error.kind().msg()))).collect();
    told.sort();
    told.dedup();
    told.truncate(PROBLEMS);
    let lines = Lines::of(source);
    Err(told.into_iter().map(|(place, message)| problem(&lines, place, message)).collect())
}

/// A problem at some bytes of the source.
pub(crate) fn problem(lines: &Lines<'_>, (start, end): (usize, usize), message: String) -> Problem {
    let location = lines.locate(start, end);
    Problem { message: cut(message), location, text: lines.shown(&location) }
}

/// The parser's message in the style of ours: it begins with a small letter and ends without a full stop.
fn sentence(message: &str) -> String {
    let message = message.trim_end_matches('.');
    let mut letters = message.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain([second]).chain(letters).collect()
        }
        _ => message.to_owned(),
    }
}
