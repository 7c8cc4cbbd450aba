//! The named functions of a source: declared, or assigned to a variable where it is declared.
//!
//! Several checks need each of them; one visit serves all.

use swc_ecma_ast::{
    ArrowExpr, Expr, FnDecl, Function, Ident, Program, TsInterfaceDecl, TsType, TsTypeAnn, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::syntax::expr::peel_parens;

/// A named function, by its syntactic form.
#[derive(Clone, Copy)]
pub(crate) enum NamedFunction<'a> {
    /// `function f() {}`.
    Declared(&'a Function),
    /// `const f = function () {}`.
    Assigned(&'a Function),
    /// `const f = () => {}`.
    Arrow(&'a ArrowExpr),
}

/// Calls `see` for each named function, in source order, an outer function before the inner ones.
pub(crate) fn for_each(program: &Program, see: impl FnMut(&Ident, NamedFunction<'_>)) {
    program.visit_with(&mut NamedFunctionVisitor(see));
}

struct NamedFunctionVisitor<F>(F);

impl<F: FnMut(&Ident, NamedFunction<'_>)> Visit for NamedFunctionVisitor<F> {
    fn visit_fn_decl(&mut self, decl: &FnDecl) {
        (self.0)(&decl.ident, NamedFunction::Declared(&decl.function));
        decl.function.visit_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(name) = declarator.name.as_ident() {
            match declarator.init.as_deref().map(peel_parens) {
                Some(Expr::Fn(function)) => (self.0)(&name.id, NamedFunction::Assigned(&function.function)),
                Some(Expr::Arrow(arrow)) => (self.0)(&name.id, NamedFunction::Arrow(arrow)),
                _ => {}
            }
        }
        declarator.visit_children_with(self);
    }

    // Types contain no functions.
    fn visit_ts_type(&mut self, _: &TsType) {}
    fn visit_ts_type_ann(&mut self, _: &TsTypeAnn) {}
    fn visit_ts_interface_decl(&mut self, _: &TsInterfaceDecl) {}
}
