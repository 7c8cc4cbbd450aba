//! The JavaScript that a source runs as.
//!
//! Types are erased in place, so no position changes. Syntax without a JavaScript counterpart
//! (enum, namespace, parameter property, decorator, `accessor` field) is compiled; a position map
//! then leads back to the author's text.
//!
//! Invariant: a position in a [`Script`] maps back to the author's line and column, however the
//! script was produced.

mod compile;
mod constant_lengths;
mod decorators;

use std::borrow::Cow;

use swc_common::errors::{DiagnosticBuilder, Emitter, Handler};
use swc_common::sync::Lrc;
use swc_common::{SourceMap, Span, Spanned};
use swc_ecma_ast::{
    BlockStmt, Class, ClassDecl, ClassMember, Decl, Decorator, ExportAll, Expr, FunctionBody, ImportDecl, JSXElement,
    JSXFragment, Module, ModuleDecl, ModuleItem, NamedExport, Param, Stmt, SwitchCase, TsModuleBlock, TsModuleRef,
    TsParamProp,
};
use swc_ecma_parser::TsSyntax;
use swc_ecma_visit::{Visit, VisitWith};
use swc_ts_fast_strip::{ErrorCode, Mode, Options, operate};
use toolcell_i18n::{Message, message};
use toolcell_tool::Language;

use crate::syntax::error::{AnalysisError, Diagnostic};
use crate::syntax::imports::{ImportKind, Imports};
use crate::syntax::parse::{JSX_UNSUPPORTED, MAX_DIAGNOSTICS, ParsedSource, diagnostic, parse, with_globals};
use crate::syntax::position::{LineIndex, byte_range, next_token};
use crate::syntax::stack::on_large_stack;
use crate::syntax::visit::{class_of_item, class_of_statement, decorators_of};
use compile::{CompiledSource, compile};
use decorators::{ColumnMap, LoweredSource, MAX_DECORATORS, Provenance};

/// The maximum nesting depth of a source that is compiled: printed, a deeper source can be
/// thousands of times as long.
pub(crate) const MAX_COMPILED_DEPTH: usize = 200;

/// The maximum nesting depth of a source whose types are stripped: stripping takes time quadratic
/// in the depth.
const MAX_STRIPPED_DEPTH: usize = 1_000;

/// The code that the sandbox evaluates, with its position map.
#[derive(Debug, Clone)]
pub struct Script {
    code: String,
    /// The source map of the TypeScript compiler.
    map: Option<swc_sourcemap::SourceMap>,
    /// The columns that the decorator compiler shifted afterwards.
    column_map: Option<ColumnMap>,
}

impl Script {
    /// Returns the JavaScript code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns whether the code was compiled, so that positions have to be mapped back.
    #[must_use]
    pub fn has_position_map(&self) -> bool {
        self.map.is_some() || self.column_map.is_some()
    }

    /// Maps a position back to the author's text, line and column counted from 1. Returns the same
    /// position if nothing moved, and `None` in generated code.
    #[must_use]
    pub fn map_back(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let (line, column) = match &self.column_map {
            Some(shifts) => shifts.map_back(line, column)?,
            None => (line, column),
        };
        let token =
            self.map.as_ref().and_then(|map| map.lookup_token(line.saturating_sub(1), column.saturating_sub(1)));
        Some(token.map_or((line, column), |token| (token.get_src_line() + 1, token.get_src_col() + 1)))
    }
}

/// Produces the JavaScript of a source.
///
/// # Errors
/// `syntax-error`, `syntax-unsupported` (JSX, decorators of parameters, imports of values),
/// `source-too-large`.
///
/// # Examples
/// ```
/// use toolcell_analysis::transpile;
/// use toolcell_tool::Language;
///
/// let script = transpile("const execute = (n: number): number => n * 2", Language::TypeScript)?;
/// assert_eq!(script.code(), "const execute = (n        )         => n * 2");
/// # Ok::<(), toolcell_analysis::AnalysisError>(())
/// ```
pub fn transpile(source: &str, language: Language) -> Result<Script, AnalysisError> {
    on_large_stack(source.len(), || {
        with_globals(|| parse(source, language).and_then(|parsed| transpile_parsed(source, &parsed)))
    })?
}

/// Produces the JavaScript of a parsed source.
pub(crate) fn transpile_parsed(source: &str, parsed: &ParsedSource) -> Result<Script, AnalysisError> {
    TranspileJob::new(source, parsed).and_then(|untyped| untyped.transpile())
}

/// A checked source, ready to be transpiled. It holds nothing of the syntax tree, so another thread
/// can transpile it.
pub(crate) struct TranspileJob<'a> {
    source: Cow<'a, str>,
    is_typescript: bool,
    /// Whether it has decorators or `accessor` fields, which the engine does not support.
    is_decorated: bool,
    compilability: Compilability,
}

/// Whether a source may be compiled.
#[derive(Clone, Copy)]
struct Compilability {
    /// Whether the source is no deeper than [`MAX_COMPILED_DEPTH`].
    is_allowed: bool,
    /// Whether constants that the compiler folds exceed their size limits.
    is_too_long: bool,
}

impl<'a> TranspileJob<'a> {
    /// # Errors
    /// `syntax-unsupported`.
    pub(crate) fn new(source: &'a str, parsed: &ParsedSource) -> Result<Self, AnalysisError> {
        let mut refused = UnsupportedVisitor {
            source,
            lines: LineIndex::new(source),
            imports: &parsed.imports,
            diagnostics: Vec::new(),
        };
        parsed.program.visit_with(&mut refused);
        if !refused.diagnostics.is_empty() {
            return Err(AnalysisError::Unsupported(refused.diagnostics));
        }
        let unsupported = |message| AnalysisError::Unsupported(vec![diagnostic(&refused.lines, (0, 0), message)]);
        let ParsedSource { depth, is_typescript, .. } = *parsed;
        let decorators = decorators::count(&parsed.program);
        let (is_decorated, may_be) = (decorators > 0, depth <= MAX_COMPILED_DEPTH);
        if is_typescript && depth > MAX_STRIPPED_DEPTH {
            let limit = MAX_STRIPPED_DEPTH;
            return Err(unsupported(message!(
                "is nested {depth} levels deep, the limit for TypeScript is {limit}",
                depth,
                limit
            )));
        }
        if is_decorated && !may_be {
            return Err(unsupported(message!(
                "is nested {depth} levels deep, the limit for a tool with decorators or `accessor` fields is {limit}",
                depth,
                limit = MAX_COMPILED_DEPTH
            )));
        }
        if decorators > MAX_DECORATORS {
            return Err(unsupported(message!(
                "has {count} decorators and `accessor` fields, the limit is {limit}: write methods, or call functions \
                 in a loop",
                count = decorators,
                limit = MAX_DECORATORS
            )));
        }
        if !is_typescript {
            let source = Cow::Borrowed(source);
            let compiled = Compilability { is_allowed: may_be, is_too_long: false };
            return Ok(Self { source, is_typescript, is_decorated, compilability: compiled });
        }
        let source = parsed.imports.erase_types(source, &parsed.program, &parsed.type_exports);
        let compiled = Compilability {
            is_allowed: may_be,
            is_too_long: may_be && constant_lengths::exceeds_limits(&parsed.program),
        };
        Ok(Self { source, is_typescript, is_decorated, compilability: compiled })
    }

    /// Strips the types, or compiles what cannot be stripped.
    ///
    /// # Errors
    /// `syntax-unsupported`.
    pub(crate) fn transpile(&self) -> Result<Script, AnalysisError> {
        let CompiledSource { code, map, private_method_prefix: private_methods } = self.strip_or_compile()?;
        if !self.is_decorated {
            return Ok(Script { code, map, column_map: None });
        }
        let printed = if map.is_some() { Provenance::Compiler(private_methods) } else { Provenance::Author };
        let LoweredSource { code, column_map: shifts } =
            decorators::lower(&code, printed).map_err(|mut problems| {
                if map.is_some() {
                    // The position is one in the compiled text, so the whole source is reported
                    // instead.
                    let lines = LineIndex::new(&self.source);
                    problems = problems.into_iter().map(|one| diagnostic(&lines, (0, 0), one.message)).collect();
                }
                AnalysisError::Unsupported(problems)
            })?;
        Ok(Script { code, map, column_map: Some(shifts) })
    }

    /// Returns the source without types; decorators remain.
    fn strip_or_compile(&self) -> Result<CompiledSource, AnalysisError> {
        let source = &*self.source;
        if !self.is_typescript {
            return Ok(CompiledSource::unchanged(source.to_owned()));
        }
        match strip_types(source) {
            Ok(code) => return Ok(CompiledSource::unchanged(code)),
            Err(problems) if !self.compilability.is_allowed => return Err(AnalysisError::Unsupported(problems)),
            Err(_) => {}
        }
        if self.compilability.is_too_long {
            let message = message!("strings of an `enum` or a `const` are concatenated to more than the limit");
            return Err(AnalysisError::Unsupported(vec![diagnostic(&LineIndex::new(source), (0, 0), message)]));
        }
        compile(source).map_err(AnalysisError::Unsupported)
    }
}

/// Strips the types.
fn strip_types(source: &str) -> Result<String, Vec<Diagnostic>> {
    let said = Lrc::new(std::sync::Mutex::new(Vec::new()));
    let handler = Handler::with_emitter(true, false, Box::new(MessageCollector(Lrc::clone(&said))));
    let options = Options {
        parser: TsSyntax { decorators: true, ..TsSyntax::default() },
        mode: Mode::StripOnly,
        ..Options::default()
    };
    let map: Lrc<SourceMap> = Lrc::default();
    let done = operate(&map, &handler, source.to_owned(), options);
    done.map(|output| output.code).map_err(|error| {
        let lines = LineIndex::new(source);
        let said = said.lock().map(|said| said.clone()).unwrap_or_default();
        let problems: Vec<Diagnostic> = said
            .into_iter()
            .take(MAX_DIAGNOSTICS)
            .map(|(span, message)| diagnostic(&lines, byte_range(span), Message::verbatim(message)))
            .collect();
        if problems.is_empty() || !matches!(error.code, ErrorCode::UnsupportedSyntax | ErrorCode::InvalidSyntax) {
            return vec![diagnostic(&lines, (0, 0), Message::verbatim(error.message))];
        }
        problems
    })
}

type CollectedMessages = Lrc<std::sync::Mutex<Vec<(Span, String)>>>;

/// Collects the messages of the type stripper.
struct MessageCollector(CollectedMessages);

impl Emitter for MessageCollector {
    fn emit(&mut self, diagnostic: &mut DiagnosticBuilder<'_>) {
        let span = diagnostic.span.primary_span().unwrap_or_default();
        let message = diagnostic.message.iter().map(|part| part.0.as_str()).collect();
        if let Ok(mut said) = self.0.lock()
            && said.len() < MAX_DIAGNOSTICS
        {
            said.push((span, message));
        }
    }
}

/// Finds unsupported syntax, and reports what to write instead.
struct UnsupportedVisitor<'a> {
    source: &'a str,
    lines: LineIndex<'a>,
    imports: &'a Imports,
    diagnostics: Vec<Diagnostic>,
}

impl UnsupportedVisitor<'_> {
    /// Returns whether the maximum number of diagnostics is reached.
    fn is_full(&self) -> bool {
        self.diagnostics.len() >= MAX_DIAGNOSTICS
    }

    fn refuse(&mut self, span: Span, message: Message) {
        if self.is_full() {
            return;
        }
        self.diagnostics.push(diagnostic(&self.lines, byte_range(span), message));
    }

    fn refuse_decorated_parameter(&mut self, decorators: &[Decorator]) {
        if let Some(first) = decorators.first() {
            let message = message!(
                "parameter decorators are not supported: only the old `experimentalDecorators` has them; decorate the \
                 method or the class, or call a function in the body"
            );
            self.refuse(first.span, message);
        }
    }

    fn refuse_decorated_declaration(&mut self, decorators: &[Decorator]) {
        if let Some(first) = decorators.first() {
            let message = message!(
                "decorates a declaration without code (`declare`, `abstract`, an overload): decorate its \
                 implementation"
            );
            self.refuse(first.span, message);
        }
    }
}

impl UnsupportedVisitor<'_> {
    /// Refuses a decorator that the parser dropped: one between the end of the previous item
    /// (`from`) and the next item, unless it is `known`, the first decorator of that item.
    fn refuse_dropped_decorator(&mut self, from: usize, start: usize, known: Option<&Decorator>) {
        if from > start {
            return;
        }
        let at = next_token(self.source, from).min(start);
        if self.source[at..].starts_with('@')
            && known.is_none_or(|known| byte_range(known.span).0 != at)
            && !self.is_full()
        {
            let message = message!("a decorator is only allowed on a class, a method, an accessor or a field");
            self.diagnostics.push(diagnostic(&self.lines, (at, at + 1), message));
        }
    }

    fn check_statements(&mut self, mut from: usize, statements: &[Stmt]) {
        for stmt in statements {
            let (start, end) = byte_range(stmt.span());
            self.refuse_dropped_decorator(
                from,
                start,
                class_of_statement(stmt).and_then(|class| class.decorators.first()),
            );
            from = end;
        }
    }

    fn check_items(&mut self, mut from: usize, items: &[ModuleItem]) {
        for item in items {
            let (start, end) = byte_range(item.span());
            self.refuse_dropped_decorator(from, start, class_of_item(item).and_then(|class| class.decorators.first()));
            from = end;
        }
    }

    /// Returns the offset after the `{` of a class body.
    fn class_body_start(&self, class: &Class) -> Option<usize> {
        let parts = [
            class.decorators.last().map(|last| last.span),
            class.type_params.as_ref().map(|params| params.span),
            class.super_class.as_ref().map(Spanned::span),
            class.super_type_params.as_ref().map(|params| params.span),
            class.implements.last().map(|last| last.span),
        ];
        let mut from =
            parts.into_iter().flatten().map(|span| byte_range(span).1).max().unwrap_or(byte_range(class.span).0);
        loop {
            from = next_token(self.source, from);
            let rest = &self.source[from..];
            if rest.starts_with('{') {
                return Some(from + 1);
            }
            let word = rest.find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '$'))?;
            if word == 0 {
                return None;
            }
            from += word;
        }
    }
}

impl Visit for UnsupportedVisitor<'_> {
    fn visit_module(&mut self, module: &Module) {
        self.check_items(0, &module.body);
        module.visit_children_with(self);
    }

    fn visit_script(&mut self, script: &swc_ecma_ast::Script) {
        self.check_statements(0, &script.body);
        script.visit_children_with(self);
    }

    fn visit_block_stmt(&mut self, block: &BlockStmt) {
        self.check_statements(byte_range(block.span).0 + 1, &block.stmts);
        block.visit_children_with(self);
    }

    fn visit_switch_case(&mut self, case: &SwitchCase) {
        let head =
            case.test.as_ref().map_or(byte_range(case.span).0 + "default".len(), |test| byte_range(test.span()).1);
        self.check_statements(next_token(self.source, head) + 1, &case.cons);
        case.visit_children_with(self);
    }

    fn visit_function_body(&mut self, body: &FunctionBody) {
        self.check_statements(byte_range(body.span).0 + 1, &body.stmts);
        body.visit_children_with(self);
    }

    fn visit_ts_module_block(&mut self, block: &TsModuleBlock) {
        self.check_items(byte_range(block.span).0 + 1, &block.body);
        block.visit_children_with(self);
    }

    fn visit_class(&mut self, class: &Class) {
        let mut from = self.class_body_start(class);
        for member in &class.body {
            let (start, end) = byte_range(member.span());
            if let Some(from) = from {
                self.refuse_dropped_decorator(from, start, decorators_of(member).first());
            }
            from = Some(end);
        }
        class.visit_children_with(self);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if !self.is_full() {
            expr.visit_children_with(self);
        }
    }

    fn visit_stmt(&mut self, stmt: &Stmt) {
        if !self.is_full() {
            stmt.visit_children_with(self);
        }
    }

    fn visit_jsx_element(&mut self, element: &JSXElement) {
        self.refuse(element.span, JSX_UNSUPPORTED.into());
    }

    fn visit_jsx_fragment(&mut self, fragment: &JSXFragment) {
        self.refuse(fragment.span, JSX_UNSUPPORTED.into());
    }

    fn visit_param(&mut self, param: &Param) {
        self.refuse_decorated_parameter(&param.decorators);
        param.pat.visit_with(self);
    }

    fn visit_ts_param_prop(&mut self, property: &TsParamProp) {
        self.refuse_decorated_parameter(&property.decorators);
        property.param.visit_with(self);
    }

    fn visit_class_decl(&mut self, class: &ClassDecl) {
        if class.declare {
            self.refuse_decorated_declaration(&class.class.decorators);
        }
        class.visit_children_with(self);
    }

    fn visit_class_member(&mut self, member: &ClassMember) {
        if self.is_full() {
            return;
        }
        match member {
            ClassMember::Method(method) if method.function.body.is_none() => {
                self.refuse_decorated_declaration(&method.function.decorators);
            }
            ClassMember::PrivateMethod(method) if method.function.body.is_none() => {
                self.refuse_decorated_declaration(&method.function.decorators);
            }
            ClassMember::ClassProp(property) if property.declare || property.is_abstract => {
                self.refuse_decorated_declaration(&property.decorators);
            }
            ClassMember::AutoAccessor(accessor) if accessor.is_abstract => {
                self.refuse_decorated_declaration(&accessor.decorators);
            }
            _ => {}
        }
        member.visit_children_with(self);
    }

    fn visit_import_decl(&mut self, import: &ImportDecl) {
        if self.imports.kind(import) == ImportKind::Unsupported {
            let name = import.src.value.to_string_lossy();
            self.refuse(import.span, unsupported_import_message(&name));
        }
    }

    fn visit_named_export(&mut self, export: &NamedExport) {
        if let Some(from) = export.src.as_ref().filter(|_| !export.type_only) {
            self.refuse(export.span, unsupported_import_message(&from.value.to_string_lossy()));
        }
    }

    fn visit_export_all(&mut self, export: &ExportAll) {
        if !export.type_only {
            self.refuse(export.span, unsupported_import_message(&export.src.value.to_string_lossy()));
        }
    }

    fn visit_module_item(&mut self, item: &ModuleItem) {
        match item {
            _ if self.is_full() => {}
            ModuleItem::ModuleDecl(ModuleDecl::TsImportEquals(import)) if !import.is_type_only => {
                if let TsModuleRef::TsExternalModuleRef(module) = &import.module_ref {
                    self.refuse(import.span, unsupported_import_message(&module.expr.value.to_string_lossy()));
                }
            }
            ModuleItem::ModuleDecl(ModuleDecl::TsExportAssignment(export)) => {
                self.refuse(export.span, message!("`export =` is not supported: write `export default`"));
            }
            ModuleItem::Stmt(Stmt::Decl(Decl::TsModule(module))) if module.declare => {}
            _ => item.visit_children_with(self),
        }
    }
}

fn unsupported_import_message(name: &str) -> Message {
    if name == "valibot" || name.starts_with("zod/") || name.starts_with("@sinclair/typebox/") {
        return message!(
            "`{name}` cannot be imported: build the schema with `zod`, `typebox`, `@sinclair/typebox` or `arktype`, or \
             write it as a plain JSON Schema object",
            name
        );
    }
    message!(
        "`{name}` cannot be imported: a tool is one file that may import only types and schema builders (`zod`, \
         `typebox`, `@sinclair/typebox`, `arktype`)",
        name
    )
}
