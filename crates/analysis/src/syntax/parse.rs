//! Parsing, and the diagnostics of sources that do not parse.
//!
//! Invariant: a tree is created, used and dropped only inside of
//! [`on_large_stack`](crate::syntax::stack::on_large_stack). Rules see it with all names resolved, so a
//! local `process` is never taken for the global one.

use swc_common::comments::SingleThreadedComments;
use swc_common::sync::Lrc;
use swc_common::{FileName, GLOBALS, Globals, Mark, SourceMap, Spanned, SyntaxContext};
use swc_ecma_ast::{EsVersion, Program};
use swc_ecma_parser::lexer::Lexer;
use swc_ecma_parser::{EsSyntax, Parser, StringInput, Syntax, TsSyntax};
use swc_ecma_transforms_base::resolver;
use swc_ecma_visit::VisitMutWith;
use toolcell_i18n::{Message, message, msgid};
use toolcell_tool::Language;

use crate::syntax::depth::ResolutionTooCostly;
use crate::syntax::error::{AnalysisError, Diagnostic};
use crate::syntax::imports::{ErasedRange, Imports};
use crate::syntax::position::{LineIndex, byte_range, truncate_message};
use crate::syntax::{depth, exports, namespaces, scan};

/// The maximum number of diagnostics of one source.
pub(crate) const MAX_DIAGNOSTICS: usize = 20;

/// The message for JSX.
pub(crate) const JSX_UNSUPPORTED: &str = msgid!("JSX is not supported: build strings or plain objects instead");

/// The maximum number of JSX tags in a source that is parsed with JSX, only to name JSX in the
/// error.
const MAX_JSX_TAGS: usize = 500;

/// A parsed source.
pub(crate) struct ParsedSource {
    pub(crate) program: Program,
    pub(crate) comments: SingleThreadedComments,
    /// The nesting depth.
    pub(crate) depth: usize,
    /// Whether the source was parsed as TypeScript.
    pub(crate) is_typescript: bool,
    pub(crate) imports: Imports,
    /// The exports of types, which were removed from the tree.
    pub(crate) type_exports: Vec<ErasedRange>,
}

/// Runs `work` with the thread-local data that the parser keeps beside the trees.
pub(crate) fn with_globals<T>(work: impl FnOnce() -> T) -> T {
    GLOBALS.set(&Globals::new(), work)
}

impl ParsedSource {
    /// Resolves the names, and returns the syntax context of those that the source does not
    /// declare.
    ///
    /// Requires a shallow source: the resolver visits each block once more for each block around
    /// it.
    pub(crate) fn resolve(&mut self) -> SyntaxContext {
        let (unresolved, top_level) = (Mark::new(), Mark::new());
        self.program.visit_mut_with(&mut resolver(unresolved, top_level, self.is_typescript));
        if self.is_typescript {
            // A source that takes too many steps is refused when it is compiled, so the result does
            // not matter here.
            let _ = namespaces::resolve_merged_names(&mut self.program);
        }
        SyntaxContext::empty().apply_mark(unresolved)
    }
}

/// Parses a source.
///
/// JavaScript is tried first for JavaScript sources, because `a < b > (c)` is a comparison there
/// and a call in TypeScript. If that fails, or if the language is unknown, the source is parsed as
/// TypeScript.
pub(crate) fn parse(source: &str, language: Language) -> Result<ParsedSource, AnalysisError> {
    if let Some(at) = scan::find_too_deep(source) {
        // Nested tags look like nested casts.
        let rest = &source.as_bytes()[at..];
        let is_tag = rest.first() == Some(&b'<') && rest.windows(2).any(|two| two == b"</" || two == b"/>");
        let told = |message| vec![diagnostic(&LineIndex::new(source), (at, at + 1), message)];
        return Err(if is_tag {
            AnalysisError::Unsupported(told(Message::from(JSX_UNSUPPORTED)))
        } else {
            AnalysisError::TooDeep(told(message!("is nested too deeply")))
        });
    }
    let (typescript, javascript) = (typescript_syntax(), javascript_syntax());
    // JSX never runs; it is parsed so that the error can name it.
    let jsx = Syntax::Typescript(TsSyntax { decorators: true, tsx: true, ..TsSyntax::default() });
    let order: &[Syntax] = match language {
        Language::TypeScript => &[typescript, jsx],
        Language::JavaScript => &[javascript, typescript, jsx],
        Language::Unknown => &[typescript, javascript, jsx],
    };
    let mut first_problems = None;
    for syntax in order {
        if *syntax == jsx && !may_be_jsx(source) {
            break;
        }
        match parse_as(source, *syntax) {
            Ok(SyntaxTree { mut program, comments, .. }) => {
                let depth = depth::nesting_depth(&program).map_err(|ResolutionTooCostly { message, at }| {
                    let place = at.map_or((0, 0), byte_range);
                    AnalysisError::TooDeep(vec![diagnostic(&LineIndex::new(source), place, message)])
                })?;
                let typescript = syntax.typescript();
                let exported_types =
                    if typescript { exports::remove_type_exports(source, &mut program) } else { Vec::new() };
                let imports = Imports::new(&program, typescript);
                return Ok(ParsedSource {
                    program,
                    comments,
                    depth,
                    is_typescript: typescript,
                    imports,
                    type_exports: exported_types,
                });
            }
            // If no syntax fits, the diagnostics of the first one are reported.
            Err(problems) => first_problems = first_problems.or(Some(problems)),
        }
    }
    Err(AnalysisError::Syntax(first_problems.unwrap_or_default()))
}

/// Returns whether to parse a source with JSX: it has tags, but not so many that parsing takes
/// long.
fn may_be_jsx(source: &str) -> bool {
    let tags =
        source.as_bytes().windows(2).filter(|two| two[0] == b'<' && (two[1].is_ascii_alphabetic() || two[1] == b'>'));
    (1..=MAX_JSX_TAGS).contains(&tags.count()) && !scan::is_too_deep_as_text(source)
}

/// A syntax tree with its comments and source map.
pub(crate) struct SyntaxTree {
    pub(crate) program: Program,
    pub(crate) comments: SingleThreadedComments,
    pub(crate) map: Lrc<SourceMap>,
}

/// Returns the syntax of TypeScript without JSX.
pub(crate) fn typescript_syntax() -> Syntax {
    Syntax::Typescript(TsSyntax { decorators: true, ..TsSyntax::default() })
}

/// Returns the syntax of JavaScript with proposals that are about to be standardised.
pub(crate) fn javascript_syntax() -> Syntax {
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
/// Returns the diagnostics of the source.
pub(crate) fn parse_as(source: &str, syntax: Syntax) -> Result<SyntaxTree, Vec<Diagnostic>> {
    let map: Lrc<SourceMap> = Lrc::default();
    let file = map.new_source_file(FileName::Anon.into(), source.to_owned());
    let comments = SingleThreadedComments::default();
    let lexer = Lexer::new(syntax, EsVersion::latest(), StringInput::from(&*file), Some(&comments));
    let mut parser = Parser::new_from(lexer);
    let parsed = parser.parse_program();
    let mut errors = parser.take_errors();
    let program = match parsed {
        Ok(program) if errors.is_empty() => return Ok(SyntaxTree { program, comments, map }),
        Ok(program) => Some(program),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    drop(program);
    // The parser may report an error for every token.
    errors.sort_by_key(Spanned::span_lo);
    errors.truncate(MAX_DIAGNOSTICS * 4);
    let mut told: Vec<_> =
        errors.into_iter().map(|error| (byte_range(error.span()), normalize_message(&error.kind().msg()))).collect();
    told.sort();
    told.dedup();
    told.truncate(MAX_DIAGNOSTICS);
    let lines = LineIndex::new(source);
    Err(told.into_iter().map(|(place, message)| diagnostic(&lines, place, Message::verbatim(message))).collect())
}

/// Creates a diagnostic for a byte range of the source.
pub(crate) fn diagnostic(lines: &LineIndex<'_>, (start, end): (usize, usize), message: Message) -> Diagnostic {
    let location = lines.locate(start, end);
    Diagnostic { message: truncate_message(message), location, snippet: lines.snippet(&location) }
}

/// Adapts a message of the parser to our style: a lower-case start and no full stop.
fn normalize_message(message: &str) -> String {
    let message = message.trim_end_matches('.');
    let mut letters = message.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain([second]).chain(letters).collect()
        }
        _ => message.to_owned(),
    }
}
