//! The JavaScript that a source runs as.
//!
//! Types are blanked out where they stand, so nothing moves. What has no counterpart in JavaScript (enum, namespace,
//! parameter property) is compiled, and then a map leads back to the author's text.
//!
//! Invariant: a position in a [`Script`] leads back to the author's own line and column, however it was made.

use std::borrow::Cow;

use swc_common::errors::{DiagnosticBuilder, Emitter, Handler};
use swc_common::sync::Lrc;
use swc_common::{SourceMap, Span};
use swc_ecma_ast::{
    ClassMember, Decl, Decorator, ExportAll, Expr, ImportDecl, JSXElement, JSXFragment, ModuleDecl, ModuleItem,
    NamedExport, Stmt, TsModuleRef,
};
use swc_ecma_parser::TsSyntax;
use swc_ecma_visit::{Visit, VisitWith};
use swc_ts_fast_strip::{ErrorCode, Mode, Options, TransformConfig, operate};
use toolcell_tool::Language;

use crate::error::{Problem, Rejection};
use crate::folding;
use crate::imports::{Fate, Imports};
use crate::parse::{JSX, PROBLEMS, Parsed, parse, problem, range, with_globals};
use crate::position::Lines;
use crate::room::with_room;

/// Beyond this depth nothing is compiled: the printed text could be thousands of times as long as the source.
pub(crate) const COMPILED_DEPTH: usize = 200;

/// Beyond this depth no types are stripped: that takes time with the square of the depth.
const STRIPPED_DEPTH: usize = 1_000;

/// The longest text that compiling may give, in bytes.
const COMPILED_BYTES: usize = 1 << 20;

/// What the sandbox evaluates.
#[derive(Debug, Clone)]
pub struct Script {
    code: String,
    map: Option<swc_sourcemap::SourceMap>,
}

impl Script {
    /// The JavaScript.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Whether text moved, so that positions have to be led back.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        self.map.is_some()
    }

    /// The place in the author's text, line and column counted from 1; the same one where nothing moved.
    #[must_use]
    pub fn original(&self, line: u32, column: u32) -> (u32, u32) {
        let token =
            self.map.as_ref().and_then(|map| map.lookup_token(line.saturating_sub(1), column.saturating_sub(1)));
        token.map_or((line, column), |token| (token.get_src_line() + 1, token.get_src_col() + 1))
    }
}

/// Makes the JavaScript of a source.
///
/// # Errors
/// `syntax-error`, `syntax-unsupported` (JSX, decorators, imports of values), `source-too-large`.
///
/// # Examples
/// ```
/// use toolcell_analysis::translate;
/// use toolcell_tool::Language;
///
/// let script = translate("const execute = (n: number): number => n * 2", Language::TypeScript)?;
/// assert_eq!(script.code(), "const execute = (n        )         => n * 2");
/// # Ok::<(), toolcell_analysis::Rejection>(())
/// ```
pub fn translate(source: &str, language: Language) -> Result<Script, Rejection> {
    with_room(source.len(), || with_globals(|| parse(source, language).and_then(|parsed| of(source, &parsed))))?
}

/// The JavaScript of a parsed source.
pub(crate) fn of(source: &str, parsed: &Parsed) -> Result<Script, Rejection> {
    Untyped::of(source, parsed).and_then(|untyped| untyped.script())
}

/// A source that runs here when its types are gone. It holds nothing of the tree, so another thread can finish it.
pub(crate) enum Untyped<'a> {
    JavaScript(&'a str),
    TypeScript { source: Cow<'a, str>, compiled: Compiled },
}

/// Whether a source may be compiled.
#[derive(Clone, Copy)]
pub(crate) struct Compiled {
    /// It is not too deep.
    may_be: bool,
    /// Values that the compiler works out are longer than anybody writes.
    is_too_long: bool,
}

impl<'a> Untyped<'a> {
    /// # Errors
    /// `syntax-unsupported`
    pub(crate) fn of(source: &'a str, parsed: &Parsed) -> Result<Self, Rejection> {
        let mut refused = Refused { lines: Lines::of(source), imports: &parsed.imports, problems: Vec::new() };
        parsed.program.visit_with(&mut refused);
        if !refused.problems.is_empty() {
            return Err(Rejection::Unsupported(refused.problems));
        }
        if !parsed.typescript {
            return Ok(Self::JavaScript(source));
        }
        if parsed.depth > STRIPPED_DEPTH {
            let message = format!("is nested {} deep, the limit for TypeScript is {STRIPPED_DEPTH}", parsed.depth);
            return Err(Rejection::Unsupported(vec![problem(&refused.lines, (0, 0), message)]));
        }
        let source = parsed.imports.blanked(source, &parsed.program);
        let may_be = parsed.depth <= COMPILED_DEPTH;
        let compiled = Compiled { may_be, is_too_long: may_be && folding::is_too_long(&parsed.program) };
        Ok(Self::TypeScript { source, compiled })
    }

    /// Takes the types away, or compiles what cannot just be taken away.
    ///
    /// # Errors
    /// `syntax-unsupported`
    pub(crate) fn script(&self) -> Result<Script, Rejection> {
        let (source, compiled) = match self {
            Self::JavaScript(source) => return Ok(Script { code: (*source).to_owned(), map: None }),
            Self::TypeScript { source, compiled } => (source, *compiled),
        };
        let problems = match operated(source, Mode::StripOnly) {
            Ok((code, _)) => return Ok(Script { code, map: None }),
            Err(problems) if !compiled.may_be => return Err(Rejection::Unsupported(problems)),
            Err(problems) => problems,
        };
        if compiled.is_too_long {
            let message = "texts of an `enum` or a `const` are put together to more than is compiled".to_owned();
            return Err(Rejection::Unsupported(vec![problem(&Lines::of(source), (0, 0), message)]));
        }
        let (code, map) = operated(source, Mode::Transform).map_err(Rejection::Unsupported)?;
        let map = map.and_then(|map| swc_sourcemap::SourceMap::from_slice(map.as_bytes()).ok());
        if code.len() > COMPILED_BYTES || map.is_none() {
            return Err(Rejection::Unsupported(problems));
        }
        Ok(Script { code, map })
    }
}

type Operated = (String, Option<String>);

/// Runs the stripper or the compiler.
fn operated(source: &str, mode: Mode) -> Result<Operated, Vec<Problem>> {
    let said = Lrc::new(std::sync::Mutex::new(Vec::new()));
    let handler = Handler::with_emitter(true, false, Box::new(Said(Lrc::clone(&said))));
    let compiled = matches!(mode, Mode::Transform);
    let mut transform = TransformConfig::default();
    transform.typescript.no_empty_export = true;
    let options = Options {
        parser: TsSyntax { decorators: true, ..TsSyntax::default() },
        mode,
        transform: Some(transform),
        source_map: compiled,
        ..Options::default()
    };
    let map: Lrc<SourceMap> = Lrc::default();
    let done = operate(&map, &handler, source.to_owned(), options);
    done.map(|output| (output.code, output.map)).map_err(|error| {
        let lines = Lines::of(source);
        let said = said.lock().map(|said| said.clone()).unwrap_or_default();
        let problems: Vec<Problem> =
            said.into_iter().take(PROBLEMS).map(|(span, message)| problem(&lines, range(span), message)).collect();
        if problems.is_empty() || !matches!(error.code, ErrorCode::UnsupportedSyntax | ErrorCode::InvalidSyntax) {
            return vec![problem(&lines, (0, 0), error.message)];
        }
        problems
    })
}

type Spans = Lrc<std::sync::Mutex<Vec<(Span, String)>>>;

/// Keeps what the stripper says.
struct Said(Spans);

impl Emitter for Said {
    fn emit(&mut self, diagnostic: &mut DiagnosticBuilder<'_>) {
        let span = diagnostic.span.primary_span().unwrap_or_default();
        let message = diagnostic.message.iter().map(|part| part.0.as_str()).collect();
        if let Ok(mut said) = self.0.lock()
            && said.len() < PROBLEMS
        {
            said.push((span, message));
        }
    }
}

/// Finds what does not run here, and says what to write instead.
struct Refused<'a> {
    lines: Lines<'a>,
    imports: &'a Imports,
    problems: Vec<Problem>,
}

impl Refused<'_> {
    /// Whether enough is found: nobody reads more.
    fn is_done(&self) -> bool {
        self.problems.len() >= PROBLEMS
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>) {
        if self.is_done() {
            return;
        }
        self.problems.push(problem(&self.lines, range(span), message.into()));
    }
}

impl Visit for Refused<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        if !self.is_done() {
            expr.visit_children_with(self);
        }
    }

    fn visit_stmt(&mut self, stmt: &Stmt) {
        if !self.is_done() {
            stmt.visit_children_with(self);
        }
    }

    fn visit_jsx_element(&mut self, element: &JSXElement) {
        self.refuse(element.span, JSX);
    }

    fn visit_jsx_fragment(&mut self, fragment: &JSXFragment) {
        self.refuse(fragment.span, JSX);
    }

    fn visit_decorator(&mut self, decorator: &Decorator) {
        self.refuse(decorator.span, "decorators are not supported: wrap the class or the method in a function call");
    }

    fn visit_class_member(&mut self, member: &ClassMember) {
        if self.is_done() {
            return;
        }
        if let ClassMember::AutoAccessor(accessor) = member {
            self.refuse(accessor.span, "`accessor` fields are not supported: write a getter and a setter");
        }
        member.visit_children_with(self);
    }

    fn visit_import_decl(&mut self, import: &ImportDecl) {
        if self.imports.fate(import) == Fate::Refused {
            let name = import.src.value.to_string_lossy();
            self.refuse(import.span, import_refused(&name));
        }
    }

    fn visit_named_export(&mut self, export: &NamedExport) {
        if let Some(from) = export.src.as_ref().filter(|_| !export.type_only) {
            self.refuse(export.span, import_refused(&from.value.to_string_lossy()));
        }
    }

    fn visit_export_all(&mut self, export: &ExportAll) {
        if !export.type_only {
            self.refuse(export.span, import_refused(&export.src.value.to_string_lossy()));
        }
    }

    fn visit_module_item(&mut self, item: &ModuleItem) {
        match item {
            _ if self.is_done() => {}
            ModuleItem::ModuleDecl(ModuleDecl::TsImportEquals(import)) if !import.is_type_only => {
                if let TsModuleRef::TsExternalModuleRef(module) = &import.module_ref {
                    self.refuse(import.span, import_refused(&module.expr.value.to_string_lossy()));
                }
            }
            ModuleItem::ModuleDecl(ModuleDecl::TsExportAssignment(export)) => {
                self.refuse(export.span, "`export =` is not supported: write `export default`");
            }
            ModuleItem::Stmt(Stmt::Decl(Decl::TsModule(module))) if module.declare => {}
            _ => item.visit_children_with(self),
        }
    }
}

fn import_refused(name: &str) -> String {
    if name == "typebox" {
        return "`typebox` cannot be imported: import `@sinclair/typebox`, which has the same builder".to_owned();
    }
    if matches!(name, "zod" | "zod/v4" | "zod/mini" | "valibot" | "arktype") {
        return format!(
            "`{name}` cannot be imported: build the schema with `@sinclair/typebox`, or write it as a plain JSON Schema \
             object"
        );
    }
    format!("`{name}` cannot be imported: a tool is one file that imports types alone, and `@sinclair/typebox`")
}
