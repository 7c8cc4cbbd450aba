//! Compilation of TypeScript syntax that is not only types: `enum`, `namespace`, parameter
//! properties.
//!
//! Invariant: the compiled text is at most [`MAX_COMPILED_BYTES`] long, and no pass of the compiler
//! ends the process.

mod budget;

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustc_hash::FxHashSet;
use swc_common::source_map::DefaultSourceMapGenConfig;
use swc_common::util::take::Take;
use swc_common::{Mark, Span, Spanned};
use swc_ecma_ast::{
    AutoAccessor, BinExpr, BinaryOp, ClassMember, ClassMethod, ComputedPropName, Decorator, Expr, Ident, Invalid, Lit,
    MemberExpr, MemberProp, NewExpr, Number, ParenExpr, Program, PropName, Str, TsEnumDecl, TsEnumMemberId,
    TsModuleDecl, UnaryExpr, UnaryOp,
};
use swc_ecma_codegen::text_writer::JsWriter;
use swc_ecma_codegen::{Config, Emitter};
use swc_ecma_transforms_base::fixer::fixer;
use swc_ecma_transforms_base::helpers::{HELPERS, Helpers, inject_helpers};
use swc_ecma_transforms_base::hygiene::hygiene;
use swc_ecma_transforms_base::resolver;
use swc_ecma_transforms_typescript::typescript::{Config as TypeScript, typescript};
use swc_ecma_visit::{Visit, VisitMut, VisitMutWith, VisitWith};
use toolcell_i18n::{Message, message};

use crate::syntax::error::Diagnostic;
use crate::syntax::expr::peel_parens;
use crate::syntax::namespaces;
use crate::syntax::parse::{SyntaxTree, diagnostic, parse_as, typescript_syntax};
use crate::syntax::position::{LineIndex, byte_range};

/// The maximum length of the compiled text, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// JavaScript, with a source map if it was compiled.
pub(crate) struct CompiledSource {
    pub(crate) code: String,
    pub(crate) map: Option<swc_sourcemap::SourceMap>,
    /// The prefix of the keys of decorated private methods, which are printed as public ones.
    pub(crate) private_method_prefix: String,
}

impl CompiledSource {
    /// Creates a result whose positions are those of the source.
    pub(crate) fn unchanged(code: String) -> Self {
        Self { code, map: None, private_method_prefix: String::new() }
    }
}

/// Compiles TypeScript. Decorators and `accessor` fields stay.
///
/// # Errors
/// Returns the diagnostics of the source, or one that the compiled text is too long.
pub(crate) fn compile(source: &str) -> Result<CompiledSource, Vec<Diagnostic>> {
    let whole = |message| vec![diagnostic(&LineIndex::new(source), (0, 0), message)];
    let mut tree = parse_as(source, typescript_syntax())?;
    budget::check(source, &tree.program)
        .map_err(|(message, span)| vec![diagnostic(&LineIndex::new(source), byte_range(span), message)])?;
    // The passes are third-party code, and some panic on trees that TypeScript refuses.
    let passed = catch_unwind(AssertUnwindSafe(|| {
        let helpers = Helpers::new(false);
        HELPERS.set(&helpers, || run_passes(&mut tree))
    }));
    let private_methods = match passed {
        Ok(Ok(private_methods)) => private_methods,
        Ok(Err(message)) => return Err(whole(message)),
        Err(_) => return Err(whole(message!("contains syntax that cannot be compiled"))),
    };
    print(&tree, private_methods)
        .map_err(|_| whole(message!("is more than {limit} bytes after compilation", limit = MAX_COMPILED_BYTES)))
}

/// Runs the passes: names, namespaces, types, name collisions, parentheses. Returns the prefix of
/// the keys of decorated private methods.
fn run_passes(tree: &mut SyntaxTree) -> Result<String, Message> {
    let SyntaxTree { program, comments, .. } = tree;
    let (unresolved, top_level) = (Mark::new(), Mark::new());
    program.mutate(&mut resolver(unresolved, top_level, true));
    namespaces::qualify_merged_names(program)?;
    program.visit_mut_with(&mut EnumLowering);
    let config = TypeScript { no_empty_export: true, ..TypeScript::default() };
    program.mutate(&mut typescript(config, unresolved, top_level));
    program.mutate(&mut inject_helpers(unresolved));
    program.mutate(&mut hygiene());
    program.mutate(&mut fixer(Some(&*comments)));
    let private_methods = unused_private_prefix(program);
    program.visit_mut_with(&mut ParenFixer { private_method_prefix: &private_methods });
    Ok(private_methods)
}

/// Returns a prefix that no method key of the source has.
fn unused_private_prefix(program: &Program) -> String {
    let mut taken = UsedPrefixNumbers::default();
    program.visit_with(&mut taken);
    let free = (0..=taken.0.len()).find(|number| !taken.0.contains(number)).unwrap_or_default();
    format!("{PRIVATE_METHOD_PREFIX}{free} #")
}

const PRIVATE_METHOD_PREFIX: &str = "private method ";

/// Collects the numbers that follow [`PRIVATE_METHOD_PREFIX`] in method keys.
#[derive(Default)]
struct UsedPrefixNumbers(FxHashSet<usize>);

impl Visit for UsedPrefixNumbers {
    fn visit_class_method(&mut self, method: &ClassMethod) {
        if let PropName::Str(key) = &method.key
            && let Some(rest) = key.value.as_str().and_then(|key| key.strip_prefix(PRIVATE_METHOD_PREFIX))
            && let Some(number) = rest.split(' ').next().and_then(|number| number.parse().ok())
        {
            self.0.insert(number);
        }
        method.visit_children_with(self);
    }
}

/// Gives each `enum` an object with a value for each member, as TypeScript does when it compiles
/// files one by one.
///
/// The TypeScript pass drops a `const enum`, and sets a member that follows an unfolded value to
/// `undefined`.
struct EnumLowering;

impl VisitMut for EnumLowering {
    fn visit_mut_ts_enum_decl(&mut self, declaration: &mut TsEnumDecl) {
        if declaration.declare {
            return;
        }
        declaration.is_const = false;
        let mut follows = false;
        let mut before: Option<TsEnumMemberId> = None;
        for member in &mut declaration.members {
            follows = match &mut member.init {
                Some(init) => {
                    init.visit_mut_with(self);
                    reads_name(init)
                }
                None => follows,
            };
            if let Some(before) = before.take().filter(|_| follows && member.init.is_none()) {
                member.init = Some(Box::new(plus_one(&declaration.id, before, member.span)));
            }
            before = Some(member.id.clone());
        }
    }

    fn visit_mut_ts_module_decl(&mut self, module: &mut TsModuleDecl) {
        if !module.declare {
            module.visit_mut_children_with(self);
        }
    }
}

/// Returns whether a value is, or is computed from, a name or a member.
fn reads_name(mut value: &Expr) -> bool {
    loop {
        value = match value {
            Expr::Ident(_) | Expr::Member(_) => return true,
            Expr::Unary(inner) => &inner.arg,
            Expr::Bin(both) if reads_name(&both.right) => return true,
            Expr::Bin(both) => &both.left,
            value => match peel_parens(value) {
                inner if std::ptr::eq(inner, value) => return false,
                inner => inner,
            },
        };
    }
}

/// Returns the previous member of an `enum` plus one, written as a subtraction, which never
/// concatenates text.
fn plus_one(name: &Ident, member: TsEnumMemberId, span: Span) -> Expr {
    let prop = match member {
        TsEnumMemberId::Ident(name) => MemberProp::Ident(name.into()),
        TsEnumMemberId::Str(text) => {
            MemberProp::Computed(ComputedPropName { span, expr: Box::new(Expr::Lit(Lit::Str(text))) })
        }
    };
    let left = Box::new(Expr::Member(MemberExpr { span, obj: Box::new(Expr::Ident(name.clone())), prop }));
    let one = Box::new(Expr::Lit(Lit::Num(Number { span, value: 1.0, raw: None })));
    let right = Box::new(Expr::Unary(UnaryExpr { span, op: UnaryOp::Minus, arg: one }));
    Expr::Bin(BinExpr { span, op: BinaryOp::Sub, left, right })
}

/// Adds what the parenthesis pass and the printer omit from decorators and `accessor` fields.
struct ParenFixer<'a> {
    private_method_prefix: &'a str,
}

impl VisitMut for ParenFixer<'_> {
    fn visit_mut_decorator(&mut self, decorator: &mut Decorator) {
        decorator.visit_mut_children_with(self);
        if !is_simple_path(&decorator.expr) {
            parenthesize(&mut decorator.expr);
        }
    }

    fn visit_mut_new_expr(&mut self, new: &mut NewExpr) {
        new.visit_mut_children_with(self);
        let mut first = &*new.callee;
        while let Expr::Member(member) = first {
            first = &member.obj;
        }
        if first.is_new() {
            parenthesize(&mut new.callee);
        }
    }

    fn visit_mut_class_member(&mut self, member: &mut ClassMember) {
        member.visit_mut_children_with(self);
        // The printer omits the decorators of private methods.
        if let ClassMember::PrivateMethod(method) = member
            && !method.function.decorators.is_empty()
        {
            let value = format!("{}{}", self.private_method_prefix, method.key.name).into();
            let key = Str { span: method.key.span, value, raw: None };
            *member = ClassMember::Method(ClassMethod {
                span: method.span,
                key: PropName::Str(key),
                function: method.function.take(),
                kind: method.kind,
                is_static: method.is_static,
                accessibility: None,
                is_abstract: false,
                is_optional: false,
                is_override: false,
            });
        }
    }

    fn visit_mut_auto_accessor(&mut self, accessor: &mut AutoAccessor) {
        accessor.visit_mut_children_with(self);
        if let Some(value) = accessor.value.as_mut().filter(|value| value.is_seq()) {
            parenthesize(value);
        }
    }
}

/// Returns whether a decorator needs no parentheses: it is a name, or a chain of members of a name.
fn is_simple_path(mut decorator: &Expr) -> bool {
    while let Expr::Member(MemberExpr { obj, prop: MemberProp::Ident(_) | MemberProp::PrivateName(_), .. }) = decorator
    {
        decorator = obj;
    }
    decorator.is_ident()
}

fn parenthesize(expr: &mut Box<Expr>) {
    let span = expr.span();
    let inner = std::mem::replace(expr, Box::new(Expr::Invalid(Invalid { span })));
    **expr = Expr::Paren(ParenExpr { span, expr: inner });
}

fn print(tree: &SyntaxTree, private_methods: String) -> io::Result<CompiledSource> {
    let SyntaxTree { program, comments, map } = tree;
    let mut text = SizeLimitedWriter(Vec::new());
    let mut marks = Vec::new();
    let mut emitter = Emitter {
        cfg: Config::default(),
        comments: Some(comments),
        cm: map.clone(),
        wr: JsWriter::new(map.clone(), "\n", &mut text, Some(&mut marks)),
    };
    emit(&mut emitter, program)?;
    let code = String::from_utf8(text.0).map_err(io::Error::other)?;
    let map = Some(map.build_source_map(&marks, None, DefaultSourceMapGenConfig));
    Ok(CompiledSource { code, map, private_method_prefix: private_methods })
}

fn emit<W: swc_ecma_codegen::text_writer::WriteJs>(
    emitter: &mut Emitter<'_, W, swc_common::SourceMap>,
    program: &Program,
) -> io::Result<()> {
    emitter.emit_program(program)
}

/// A buffer that refuses to grow beyond [`MAX_COMPILED_BYTES`].
struct SizeLimitedWriter(Vec<u8>);

impl Write for SizeLimitedWriter {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.0.len() + more.len() > MAX_COMPILED_BYTES {
            return Err(io::Error::other("the compiled text is too long"));
        }
        self.0.write(more)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use crate::transpile;

    /// Compiles a source to one line with one kind of quotes.
    fn compiled(source: &str) -> String {
        let script = transpile(source, Language::TypeScript).unwrap_or_else(|error| panic!("{source}: {error}"));
        script.code().split_whitespace().collect::<Vec<_>>().join(" ").replace('\'', "\"")
    }

    #[test]
    fn a_member_of_an_enum_that_follows_a_qualified_constant_is_one_more() {
        for (source, says) in [
            (
                "namespace N { export enum E { C = 3 } } enum F { X = N.E.C, Y, 'z-z', W }",
                &["F[\"Y\"] = F.X - -1", "F[\"z-z\"] = F.Y - -1", "F[\"W\"] = F[\"z-z\"] - -1"][..],
            ),
            (
                "namespace N { export enum E { C = 3 } } import E = N.E; enum F { X = E.C, Y } F",
                &["F[\"Y\"] = F.X - -1"],
            ),
            ("namespace N { export const k = 3 } enum F { X = -(N.k as number) + 1, Y }", &["F[\"Y\"] = F.X - -1"]),
            ("namespace N { export const k = 3 } namespace N { enum F { X = k, Y } F }", &["F[\"Y\"] = F.X - -1"]),
            // A value that the compiler folds stays a number.
            ("enum E { A = 2, B = A, C } enum F { X = E.C, Y }", &["E[\"C\"] = 3", "F[\"Y\"] = 4"]),
            ("enum F { X = 7, Y }", &["F[\"Y\"] = 8"]),
        ] {
            let code = compiled(source);
            for says in says {
                assert!(code.contains(says), "{source}: {code}");
            }
            assert!(!code.contains("void 0"), "{source}: {code}");
        }
    }

    #[test]
    fn a_const_enum_is_an_object_too() {
        for source in [
            "const enum E { A, B = 'b' } Object.values(E)",
            "const enum E { A } let k = 'A'; E[k]",
            "const enum E { A } const { A } = E",
            "namespace N { const enum E { A } Object.values(E) }",
            "export const enum E { A }",
        ] {
            let code = compiled(source);
            assert!(code.contains("E[E[\"A\"] = 0] = \"A\""), "{source}: {code}");
        }
        let code = compiled("declare const enum E { A } enum F { X = E.A }");
        assert!(!code.contains("\"A\"") && code.contains("F[\"X\"] = 0"), "{code}");
    }

    #[test]
    fn decorators_keep_the_brackets_that_they_need() {
        for (source, says) in [
            ("@(o[0]) class A {}", "B.o=o"),
            ("class A { @(o['f']) m() {} }", "$dB.o[\"f\"])"),
            ("class A { @(new D().d) m() {} }", "$dB.o=new D()"),
            ("function f() { class A { @(this.d) m() {} } }", "$dB.o=this"),
            ("class A { @o.f.g m() {} }", "$dB.o=o.f"),
        ] {
            for head in ["", "enum Q { X } "] {
                let source = format!("{head}{source}");
                let code = compiled(&source);
                assert!(code.contains(says), "{source}: {code}");
                assert!(
                    crate::syntax::parse::parse_as(&code, crate::syntax::parse::javascript_syntax()).is_ok(),
                    "{source}: {code}"
                );
            }
        }
    }

    #[test]
    fn what_new_makes_keeps_the_brackets_around_what_new_made() {
        for inner in ["new (new A().c)()", "new (new A().b.c)(1)", "new (new A())()"] {
            let code = compiled(&format!("enum Q {{ X }} {inner}"));
            assert!(code.contains(inner), "{code}");
        }
    }

    #[test]
    fn a_key_cannot_pass_for_a_private_method() {
        for key in ["private method #m", "private method 0 #m", "private\\x20method 0 #m"] {
            let source = format!("enum E {{ X }} class A {{ @d '{key}'() {{}} @d #m() {{}} }}");
            let code = compiled(&source);
            assert_eq!(code.matches("get #m()").count(), 1, "{source}: {code}");
            assert!(code.contains("#m\"() {") && code.contains("\"#m\",o=>#m in o"), "{source}: {code}");
        }
    }
}
