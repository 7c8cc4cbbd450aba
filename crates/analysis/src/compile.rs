//! The JavaScript of what TypeScript has beside types: `enum`, `namespace`, parameter properties.
//!
//! Invariant: a source has no more compiled text than [`COMPILED_BYTES`], and no pass of the compiler ends the process.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use swc_common::source_map::DefaultSourceMapGenConfig;
use swc_common::util::take::Take;
use swc_common::{Mark, Spanned};
use swc_ecma_ast::{
    AutoAccessor, ClassMember, ClassMethod, Decorator, Expr, Invalid, ParenExpr, Program, PropName, Str,
};
use swc_ecma_codegen::text_writer::JsWriter;
use swc_ecma_codegen::{Config, Emitter};
use swc_ecma_transforms_base::fixer::fixer;
use swc_ecma_transforms_base::helpers::{HELPERS, Helpers, inject_helpers};
use swc_ecma_transforms_base::hygiene::hygiene;
use swc_ecma_transforms_base::resolver;
use swc_ecma_transforms_typescript::typescript::{Config as TypeScript, typescript};

use swc_ecma_visit::{VisitMut, VisitMutWith};

use crate::budget;
use crate::decorators::PRIVATE;
use crate::error::Problem;
use crate::namespaces;
use crate::parse::{Read, problem, range, read, syntax_of_typescript};
use crate::position::Lines;

/// The longest text that compiling may give, in bytes.
const COMPILED_BYTES: usize = 1 << 20;

/// JavaScript, and the map that leads its positions back where text moved.
pub(crate) struct Compiled {
    pub(crate) code: String,
    pub(crate) map: Option<swc_sourcemap::SourceMap>,
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
    match passed {
        Ok(Ok(())) => {}
        Ok(Err(message)) => return Err(whole(message)),
        Err(_) => return Err(whole("has something in it that is not compiled".to_owned())),
    }
    print(&tree).map_err(|_| whole(format!("is more than {COMPILED_BYTES} bytes when it is compiled")))
}

/// Runs the passes: names, namespaces, types, names that collide, brackets.
fn pass(tree: &mut Read) -> Result<(), String> {
    let Read { program, comments, .. } = tree;
    let (unresolved, top_level) = (Mark::new(), Mark::new());
    program.mutate(&mut resolver(unresolved, top_level, true));
    namespaces::join(program)?;
    let config = TypeScript { no_empty_export: true, ..TypeScript::default() };
    program.mutate(&mut typescript(config, unresolved, top_level));
    program.mutate(&mut inject_helpers(unresolved));
    program.mutate(&mut hygiene());
    program.mutate(&mut fixer(Some(&*comments)));
    program.visit_mut_with(&mut Brackets);
    Ok(())
}

/// Makes up for what the pass for brackets, and the printer, leave out of decorators and `accessor` fields.
struct Brackets;

impl VisitMut for Brackets {
    fn visit_mut_decorator(&mut self, decorator: &mut Decorator) {
        decorator.visit_mut_children_with(self);
        if !matches!(&*decorator.expr, Expr::Ident(_) | Expr::Member(_)) {
            within_brackets(&mut decorator.expr);
        }
    }

    fn visit_mut_class_member(&mut self, member: &mut ClassMember) {
        member.visit_mut_children_with(self);
        // The printer leaves out the decorators of private methods.
        if let ClassMember::PrivateMethod(method) = member
            && !method.function.decorators.is_empty()
        {
            let key = Str { span: method.key.span, value: format!("{PRIVATE}{}", method.key.name).into(), raw: None };
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

fn within_brackets(expr: &mut Box<Expr>) {
    let span = expr.span();
    let inner = std::mem::replace(expr, Box::new(Expr::Invalid(Invalid { span })));
    **expr = Expr::Paren(ParenExpr { span, expr: inner });
}

fn print(tree: &Read) -> io::Result<Compiled> {
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
    Ok(Compiled { code, map })
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
