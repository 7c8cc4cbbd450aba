//! The functions of a source that have a name: declared, or given to one where it is declared.
//!
//! Several questions are about each of them, and one walk shows them all.

use swc_ecma_ast::{
    ArrowExpr, Expr, FnDecl, Function, Ident, Program, TsInterfaceDecl, TsType, TsTypeAnn, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::names::bare;

/// How a function with a name is written.
#[derive(Clone, Copy)]
pub(super) enum Named<'a> {
    /// `function f() {}`
    Declared(&'a Function),
    /// `const f = function () {}`
    Assigned(&'a Function),
    /// `const f = () => {}`
    Arrow(&'a ArrowExpr),
}

/// Shows each function with a name, in the order of the source, and before those in it.
pub(super) fn each(program: &Program, see: impl FnMut(&Ident, Named<'_>)) {
    program.visit_with(&mut Walk(see));
}

struct Walk<F>(F);

impl<F: FnMut(&Ident, Named<'_>)> Visit for Walk<F> {
    fn visit_fn_decl(&mut self, decl: &FnDecl) {
        (self.0)(&decl.ident, Named::Declared(&decl.function));
        decl.function.visit_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(name) = declarator.name.as_ident() {
            match declarator.init.as_deref().map(bare) {
                Some(Expr::Fn(function)) => (self.0)(&name.id, Named::Assigned(&function.function)),
                Some(Expr::Arrow(arrow)) => (self.0)(&name.id, Named::Arrow(arrow)),
                _ => {}
            }
        }
        declarator.visit_children_with(self);
    }

    // No function is in a type.
    fn visit_ts_type(&mut self, _: &TsType) {}
    fn visit_ts_type_ann(&mut self, _: &TsTypeAnn) {}
    fn visit_ts_interface_decl(&mut self, _: &TsInterfaceDecl) {}
}
