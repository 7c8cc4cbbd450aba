//! The JavaScript of what TypeScript has beside types: `enum`, `namespace`, parameter properties.
//!
//! Invariant: a source has no more compiled text than [`COMPILED_BYTES`], and no pass of the compiler ends the process.

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

use crate::budget;
use crate::error::Problem;
use crate::names::bare;
use crate::namespaces;
use crate::parse::{Read, problem, range, read, syntax_of_typescript};
use crate::position::Lines;

/// The longest text that compiling may give, in bytes.
const COMPILED_BYTES: usize = 1 << 20;

/// JavaScript, and the map that leads its positions back where text moved.
pub(crate) struct Compiled {
    pub(crate) code: String,
    pub(crate) map: Option<swc_sourcemap::SourceMap>,
    /// What the keys of private methods with decorators begin with, which are printed as public ones.
    pub(crate) private_methods: String,
}

impl Compiled {
    /// A text in which nothing moved.
    pub(crate) fn untouched(code: String) -> Self {
        Self { code, map: None, private_methods: String::new() }
    }
}

/// Compiles TypeScript. Decorators and `accessor` fields stay.
///
/// # Errors
/// What is wrong with it, or that it gives more text than may be.
pub(crate) fn compile(source: &str) -> Result<Compiled, Vec<Problem>> {
    let whole = |message: String| vec![problem(&Lines::of(source), (0, 0), message)];
    let mut tree = read(source, syntax_of_typescript())?;
    budget::check(source, &tree.program)
        .map_err(|(message, span)| vec![problem(&Lines::of(source), range(span), message)])?;
    // The passes are not ours, and some panic on trees that TypeScript refuses.
    let passed = catch_unwind(AssertUnwindSafe(|| {
        let helpers = Helpers::new(false);
        HELPERS.set(&helpers, || pass(&mut tree))
    }));
    let private_methods = match passed {
        Ok(Ok(private_methods)) => private_methods,
        Ok(Err(message)) => return Err(whole(message)),
        Err(_) => return Err(whole("has something in it that is not compiled".to_owned())),
    };
    print(&tree, private_methods).map_err(|_| whole(format!("is more than {COMPILED_BYTES} bytes when it is compiled")))
}

/// Runs the passes: names, namespaces, types, names that collide, brackets. Gives what the keys of private methods with
/// decorators begin with.
fn pass(tree: &mut Read) -> Result<String, String> {
    let Read { program, comments, .. } = tree;
    let (unresolved, top_level) = (Mark::new(), Mark::new());
    program.mutate(&mut resolver(unresolved, top_level, true));
    namespaces::join(program)?;
    program.visit_mut_with(&mut Enums);
    let config = TypeScript { no_empty_export: true, ..TypeScript::default() };
    program.mutate(&mut typescript(config, unresolved, top_level));
    program.mutate(&mut inject_helpers(unresolved));
    program.mutate(&mut hygiene());
    program.mutate(&mut fixer(Some(&*comments)));
    let private_methods = marker(program);
    program.visit_mut_with(&mut Brackets { private_methods: &private_methods });
    Ok(private_methods)
}

/// What no key of a method in the source begins with.
fn marker(program: &Program) -> String {
    let mut taken = Taken::default();
    program.visit_with(&mut taken);
    let free = (0..=taken.0.len()).find(|number| !taken.0.contains(number)).unwrap_or_default();
    format!("{PRIVATE}{free} #")
}

const PRIVATE: &str = "private method ";

/// The numbers that keys of methods have behind [`PRIVATE`].
#[derive(Default)]
struct Taken(FxHashSet<usize>);

impl Visit for Taken {
    fn visit_class_method(&mut self, method: &ClassMethod) {
        if let PropName::Str(key) = &method.key
            && let Some(rest) = key.value.as_str().and_then(|key| key.strip_prefix(PRIVATE))
            && let Some(number) = rest.split(' ').next().and_then(|number| number.parse().ok())
        {
            self.0.insert(number);
        }
        method.visit_children_with(self);
    }
}

/// Makes each `enum` an object with a value for each member, as TypeScript does where it compiles files one by one.
///
/// The pass drops a `const enum`, and gives `undefined` to a member that follows one whose value it does not work out.
struct Enums;

impl VisitMut for Enums {
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
                    is_read(init)
                }
                None => follows,
            };
            if let Some(before) = before.take().filter(|_| follows && member.init.is_none()) {
                member.init = Some(Box::new(one_more(&declaration.id, before, member.span)));
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

/// Whether a value is, or is worked out of, one that another name stands for.
fn is_read(mut value: &Expr) -> bool {
    loop {
        value = match value {
            Expr::Ident(_) | Expr::Member(_) => return true,
            Expr::Unary(inner) => &inner.arg,
            Expr::Bin(both) if is_read(&both.right) => return true,
            Expr::Bin(both) => &both.left,
            value => match bare(value) {
                inner if std::ptr::eq(inner, value) => return false,
                inner => inner,
            },
        };
    }
}

/// One more than a member of an `enum`. It is a subtraction, which never makes a text.
fn one_more(name: &Ident, member: TsEnumMemberId, span: Span) -> Expr {
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

/// Makes up for what the pass for brackets, and the printer, leave out of decorators and `accessor` fields.
struct Brackets<'a> {
    private_methods: &'a str,
}

impl VisitMut for Brackets<'_> {
    fn visit_mut_decorator(&mut self, decorator: &mut Decorator) {
        decorator.visit_mut_children_with(self);
        if !is_plain(&decorator.expr) {
            within_brackets(&mut decorator.expr);
        }
    }

    fn visit_mut_new_expr(&mut self, new: &mut NewExpr) {
        new.visit_mut_children_with(self);
        let mut first = &*new.callee;
        while let Expr::Member(member) = first {
            first = &member.obj;
        }
        if first.is_new() {
            within_brackets(&mut new.callee);
        }
    }

    fn visit_mut_class_member(&mut self, member: &mut ClassMember) {
        member.visit_mut_children_with(self);
        // The printer leaves out the decorators of private methods.
        if let ClassMember::PrivateMethod(method) = member
            && !method.function.decorators.is_empty()
        {
            let value = format!("{}{}", self.private_methods, method.key.name).into();
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
            within_brackets(value);
        }
    }
}

/// Whether a decorator needs no brackets: it is a name, or a member of such by name.
fn is_plain(mut decorator: &Expr) -> bool {
    while let Expr::Member(MemberExpr { obj, prop: MemberProp::Ident(_) | MemberProp::PrivateName(_), .. }) = decorator
    {
        decorator = obj;
    }
    decorator.is_ident()
}

fn within_brackets(expr: &mut Box<Expr>) {
    let span = expr.span();
    let inner = std::mem::replace(expr, Box::new(Expr::Invalid(Invalid { span })));
    **expr = Expr::Paren(ParenExpr { span, expr: inner });
}

fn print(tree: &Read, private_methods: String) -> io::Result<Compiled> {
    let Read { program, comments, map } = tree;
    let mut text = Bounded(Vec::new());
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
    Ok(Compiled { code, map, private_methods })
}

fn emit<W: swc_ecma_codegen::text_writer::WriteJs>(
    emitter: &mut Emitter<'_, W, swc_common::SourceMap>,
    program: &Program,
) -> io::Result<()> {
    emitter.emit_program(program)
}

/// A text that does not get longer than it may.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.0.len() + more.len() > COMPILED_BYTES {
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

    use crate::translate;

    /// The JavaScript of a source, in one line, with one kind of quotes.
    fn compiled(source: &str) -> String {
        let script = translate(source, Language::TypeScript).unwrap_or_else(|error| panic!("{source}: {error}"));
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
            // Where the compiler knows the value, it stays a number.
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
                assert!(crate::parse::read(&code, crate::parse::syntax_of_javascript()).is_ok(), "{source}: {code}");
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
