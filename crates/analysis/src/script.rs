//! The JavaScript that a source runs as.
//!
//! Types are blanked out where they stand, so nothing moves. What has no counterpart in JavaScript (enum, namespace,
//! parameter property, decorator, `accessor` field) is compiled, and then a map leads back to the author's text.
//!
//! Invariant: a position in a [`Script`] leads back to the author's own line and column, however it was made.

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
use toolcell_tool::Language;

use crate::compile::{Compiled, compile};
use crate::decorators::{self, DECORATORS, Lowered, Printed, Shifts};
use crate::error::{Problem, Rejection};
use crate::folding;
use crate::imports::{Fate, Imports};
use crate::parse::{JSX, PROBLEMS, Parsed, next_token, parse, problem, range, with_globals};
use crate::position::Lines;
use crate::room::with_room;
use crate::walk::{class_of, class_of_statement, decorators_of};

/// Beyond this depth nothing is compiled: the printed text could be thousands of times as long as the source.
pub(crate) const COMPILED_DEPTH: usize = 200;

/// Beyond this depth no types are stripped: that takes time with the square of the depth.
const STRIPPED_DEPTH: usize = 1_000;

/// What the sandbox evaluates.
#[derive(Debug, Clone)]
pub struct Script {
    code: String,
    /// What the compiler of TypeScript moved.
    map: Option<swc_sourcemap::SourceMap>,
    /// What the compiler of decorators moved after it.
    shifts: Option<Shifts>,
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
        self.map.is_some() || self.shifts.is_some()
    }

    /// The place in the author's text, line and column counted from 1; the same one where nothing moved, and none in what
    /// the author did not write.
    #[must_use]
    pub fn original(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let (line, column) = match &self.shifts {
            Some(shifts) => shifts.original(line, column)?,
            None => (line, column),
        };
        let token =
            self.map.as_ref().and_then(|map| map.lookup_token(line.saturating_sub(1), column.saturating_sub(1)));
        Some(token.map_or((line, column), |token| (token.get_src_line() + 1, token.get_src_col() + 1)))
    }
}

/// Makes the JavaScript of a source.
///
/// # Errors
/// `syntax-error`, `syntax-unsupported` (JSX, decorators of parameters, imports of values), `source-too-large`.
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
pub(crate) struct Untyped<'a> {
    source: Cow<'a, str>,
    is_typescript: bool,
    /// It has decorators or `accessor` fields, which no engine runs.
    is_decorated: bool,
    compiled: Compilable,
}

/// Whether a source may be compiled.
#[derive(Clone, Copy)]
struct Compilable {
    /// It is not too deep.
    may_be: bool,
    /// Values that the compiler works out are longer than may be.
    is_too_long: bool,
}

impl<'a> Untyped<'a> {
    /// # Errors
    /// `syntax-unsupported`
    pub(crate) fn of(source: &'a str, parsed: &Parsed) -> Result<Self, Rejection> {
        let mut refused = Refused { source, lines: Lines::of(source), imports: &parsed.imports, problems: Vec::new() };
        parsed.program.visit_with(&mut refused);
        if !refused.problems.is_empty() {
            return Err(Rejection::Unsupported(refused.problems));
        }
        let unsupported = |message| Rejection::Unsupported(vec![problem(&refused.lines, (0, 0), message)]);
        let Parsed { depth, typescript: is_typescript, .. } = *parsed;
        let decorators = decorators::count(&parsed.program);
        let (is_decorated, may_be) = (decorators > 0, depth <= COMPILED_DEPTH);
        if is_typescript && depth > STRIPPED_DEPTH {
            return Err(unsupported(format!("is nested {depth} deep, the limit for TypeScript is {STRIPPED_DEPTH}")));
        }
        if is_decorated && !may_be {
            return Err(unsupported(format!(
                "is nested {depth} deep, the limit for a tool with decorators or `accessor` fields is {COMPILED_DEPTH}"
            )));
        }
        if decorators > DECORATORS {
            return Err(unsupported(format!(
                "has {decorators} decorators and `accessor` fields, the limit is {DECORATORS}: write methods, or call \
                 functions in a loop"
            )));
        }
        if !is_typescript {
            let source = Cow::Borrowed(source);
            let compiled = Compilable { may_be, is_too_long: false };
            return Ok(Self { source, is_typescript, is_decorated, compiled });
        }
        let source = parsed.imports.blanked(source, &parsed.program, &parsed.exported_types);
        let compiled = Compilable { may_be, is_too_long: may_be && folding::is_too_long(&parsed.program) };
        Ok(Self { source, is_typescript, is_decorated, compiled })
    }

    /// Takes the types away, or compiles what cannot just be taken away.
    ///
    /// # Errors
    /// `syntax-unsupported`
    pub(crate) fn script(&self) -> Result<Script, Rejection> {
        let Compiled { code, map, private_methods } = self.javascript()?;
        if !self.is_decorated {
            return Ok(Script { code, map, shifts: None });
        }
        let printed = if map.is_some() { Printed::ByCompiler(private_methods) } else { Printed::ByAuthor };
        let Lowered { code, shifts } = decorators::lower(&code, printed).map_err(|mut problems| {
            if map.is_some() {
                // Its place is one in what was compiled.
                let lines = Lines::of(&self.source);
                problems = problems.into_iter().map(|one| problem(&lines, (0, 0), one.message)).collect();
            }
            Rejection::Unsupported(problems)
        })?;
        Ok(Script { code, map, shifts: Some(shifts) })
    }

    /// The source without types; decorators are still in it.
    fn javascript(&self) -> Result<Compiled, Rejection> {
        let source = &*self.source;
        if !self.is_typescript {
            return Ok(Compiled::untouched(source.to_owned()));
        }
        match stripped(source) {
            Ok(code) => return Ok(Compiled::untouched(code)),
            Err(problems) if !self.compiled.may_be => return Err(Rejection::Unsupported(problems)),
            Err(_) => {}
        }
        if self.compiled.is_too_long {
            let message = "texts of an `enum` or a `const` are put together to more than is compiled".to_owned();
            return Err(Rejection::Unsupported(vec![problem(&Lines::of(source), (0, 0), message)]));
        }
        compile(source).map_err(Rejection::Unsupported)
    }
}

/// Takes the types away.
fn stripped(source: &str) -> Result<String, Vec<Problem>> {
    let said = Lrc::new(std::sync::Mutex::new(Vec::new()));
    let handler = Handler::with_emitter(true, false, Box::new(Said(Lrc::clone(&said))));
    let options = Options {
        parser: TsSyntax { decorators: true, ..TsSyntax::default() },
        mode: Mode::StripOnly,
        ..Options::default()
    };
    let map: Lrc<SourceMap> = Lrc::default();
    let done = operate(&map, &handler, source.to_owned(), options);
    done.map(|output| output.code).map_err(|error| {
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
    source: &'a str,
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

    fn decorated_parameter(&mut self, decorators: &[Decorator]) {
        if let Some(first) = decorators.first() {
            let message = "decorators of parameters are not supported: they are part of the old \
                           `experimentalDecorators` alone; decorate the method or the class, or call a function in the \
                           body";
            self.refuse(first.span, message);
        }
    }

    fn decorated_declaration(&mut self, decorators: &[Decorator]) {
        if let Some(first) = decorators.first() {
            let message = "decorates a declaration that makes nothing (`declare`, `abstract`, an overload): decorate \
                           what implements it";
            self.refuse(first.span, message);
        }
    }
}

impl Refused<'_> {
    /// Refuses a decorator that the parser dropped: one between the end of the previous item (`from`) and the next item, unless it is
    /// `known`, the first decorator of that item.
    fn dropped_decorator(&mut self, from: usize, start: usize, known: Option<&Decorator>) {
        if from > start {
            return;
        }
        let at = next_token(self.source, from).min(start);
        if self.source[at..].starts_with('@') && known.is_none_or(|known| range(known.span).0 != at) && !self.is_done()
        {
            let message = "a decorator is only allowed on a class, a method, an accessor or a field".to_owned();
            self.problems.push(problem(&self.lines, (at, at + 1), message));
        }
    }

    fn statements(&mut self, mut from: usize, statements: &[Stmt]) {
        for stmt in statements {
            let (start, end) = range(stmt.span());
            self.dropped_decorator(from, start, class_of_statement(stmt).and_then(|class| class.decorators.first()));
            from = end;
        }
    }

    fn items(&mut self, mut from: usize, items: &[ModuleItem]) {
        for item in items {
            let (start, end) = range(item.span());
            self.dropped_decorator(from, start, class_of(item).and_then(|class| class.decorators.first()));
            from = end;
        }
    }

    /// Where the members of a class begin.
    fn members_of(&self, class: &Class) -> Option<usize> {
        let parts = [
            class.decorators.last().map(|last| last.span),
            class.type_params.as_ref().map(|params| params.span),
            class.super_class.as_ref().map(Spanned::span),
            class.super_type_params.as_ref().map(|params| params.span),
            class.implements.last().map(|last| last.span),
        ];
        let mut from = parts.into_iter().flatten().map(|span| range(span).1).max().unwrap_or(range(class.span).0);
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

impl Visit for Refused<'_> {
    fn visit_module(&mut self, module: &Module) {
        self.items(0, &module.body);
        module.visit_children_with(self);
    }

    fn visit_script(&mut self, script: &swc_ecma_ast::Script) {
        self.statements(0, &script.body);
        script.visit_children_with(self);
    }

    fn visit_block_stmt(&mut self, block: &BlockStmt) {
        self.statements(range(block.span).0 + 1, &block.stmts);
        block.visit_children_with(self);
    }

    fn visit_switch_case(&mut self, case: &SwitchCase) {
        let head = case.test.as_ref().map_or(range(case.span).0 + "default".len(), |test| range(test.span()).1);
        self.statements(next_token(self.source, head) + 1, &case.cons);
        case.visit_children_with(self);
    }

    fn visit_function_body(&mut self, body: &FunctionBody) {
        self.statements(range(body.span).0 + 1, &body.stmts);
        body.visit_children_with(self);
    }

    fn visit_ts_module_block(&mut self, block: &TsModuleBlock) {
        self.items(range(block.span).0 + 1, &block.body);
        block.visit_children_with(self);
    }

    fn visit_class(&mut self, class: &Class) {
        let mut from = self.members_of(class);
        for member in &class.body {
            let (start, end) = range(member.span());
            if let Some(from) = from {
                self.dropped_decorator(from, start, decorators_of(member).first());
            }
            from = Some(end);
        }
        class.visit_children_with(self);
    }

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

    fn visit_param(&mut self, param: &Param) {
        self.decorated_parameter(&param.decorators);
        param.pat.visit_with(self);
    }

    fn visit_ts_param_prop(&mut self, property: &TsParamProp) {
        self.decorated_parameter(&property.decorators);
        property.param.visit_with(self);
    }

    fn visit_class_decl(&mut self, class: &ClassDecl) {
        if class.declare {
            self.decorated_declaration(&class.class.decorators);
        }
        class.visit_children_with(self);
    }

    fn visit_class_member(&mut self, member: &ClassMember) {
        if self.is_done() {
            return;
        }
        match member {
            ClassMember::Method(method) if method.function.body.is_none() => {
                self.decorated_declaration(&method.function.decorators);
            }
            ClassMember::PrivateMethod(method) if method.function.body.is_none() => {
                self.decorated_declaration(&method.function.decorators);
            }
            ClassMember::ClassProp(property) if property.declare || property.is_abstract => {
                self.decorated_declaration(&property.decorators);
            }
            ClassMember::AutoAccessor(accessor) if accessor.is_abstract => {
                self.decorated_declaration(&accessor.decorators);
            }
            _ => {}
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
