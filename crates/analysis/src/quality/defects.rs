//! What the walk counts, and the defects that it finds, in the tree.

use swc_common::Spanned;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AwaitExpr, BinExpr, BinaryOp, CallExpr, Callee, CatchClause, DoWhileStmt, Expr,
    ForInStmt, ForOfStmt, ForStmt, Function, IfStmt, NewExpr, Stmt, ThrowStmt, TryStmt, TsTypeAnn, VarDecl,
    VarDeclKind, WhileStmt,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{ERRORS, PERFORMANCE, READABILITY, TESTABILITY, Walk};
use crate::finding::Severity;
use crate::names::bare;
use crate::value::Value;

impl Visit for Walk<'_> {
    fn visit_var_decl(&mut self, declaration: &VarDecl) {
        if declaration.kind == VarDeclKind::Var {
            self.issue(
                READABILITY,
                Severity::Low,
                declaration.span,
                "`var` is seen outside of its block",
                "`let` or `const`",
            );
        }
        declaration.visit_children_with(self);
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        if matches!(binary.op, BinaryOp::EqEq | BinaryOp::NotEq)
            && !matches!(bare(&binary.right), Expr::Lit(swc_ecma_ast::Lit::Null(_)))
            && !matches!(bare(&binary.left), Expr::Lit(swc_ecma_ast::Lit::Null(_)))
        {
            self.issue(READABILITY, Severity::Low, binary.span, "a comparison that converts types", "`===` or `!==`");
        }
        binary.visit_children_with(self);
    }

    fn visit_function(&mut self, function: &Function) {
        self.function(function.span, |walk| function.visit_children_with(walk));
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        match &*arrow.body {
            ArrowFunctionBody::FunctionBody(_) => self.function(arrow.span, |walk| arrow.visit_children_with(walk)),
            ArrowFunctionBody::Expr(_) => arrow.visit_children_with(self),
        }
    }

    fn visit_if_stmt(&mut self, node: &IfStmt) {
        // `if (…) throw`, `if (…) return`: the input is looked at.
        let mut leaves = Leaves(false);
        node.cons.visit_with(&mut leaves);
        self.checks += usize::from(leaves.0);
        node.test.visit_with(self);
        self.nested(node.span, |walk| node.cons.visit_with(walk));
        // `else if` is no deeper.
        match node.alt.as_deref() {
            Some(Stmt::If(alternative)) => self.visit_if_stmt(alternative),
            Some(alternative) => self.nested(alternative.span(), |walk| alternative.visit_with(walk)),
            None => {}
        }
    }

    fn visit_throw_stmt(&mut self, node: &ThrowStmt) {
        self.handled += 1;
        if let Expr::New(new) = bare(&node.arg) {
            let empty = new.args.as_ref().is_none_or(Vec::is_empty)
                || new.args.iter().flatten().next().is_some_and(|arg| self.names.value(&arg.expr) == Value::text(""));
            let of_language = self
                .names
                .value(&new.callee)
                .as_thing()
                .is_some_and(|thing| thing.last().is_some_and(|name| name.ends_with("Error")));
            if empty && of_language {
                self.issue(ERRORS, Severity::Medium, node.span, "an error without a message", "say what is wrong");
            }
        }
        node.visit_children_with(self);
    }

    fn visit_try_stmt(&mut self, node: &TryStmt) {
        self.handled += 1;
        self.can_fail = true;
        node.visit_children_with(self);
    }

    fn visit_catch_clause(&mut self, clause: &CatchClause) {
        if clause.body.stmts.is_empty() {
            self.issue(
                ERRORS,
                Severity::High,
                clause.span,
                "an error is swallowed",
                "say what happened, or let it pass",
            );
        }
        clause.visit_children_with(self);
    }

    fn visit_await_expr(&mut self, node: &AwaitExpr) {
        self.can_fail = true;
        if self.loops > 0 {
            self.issue(
                PERFORMANCE,
                Severity::Low,
                node.span,
                "waits in a loop",
                "`await Promise.all(…)` where order does not matter",
            );
        }
        node.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Some(thing) = self.names.value(callee).as_thing()
        {
            let names = thing.names().unwrap_or_default();
            match names.as_slice() {
                ["JSON", "parse"] => {
                    self.can_fail = true;
                    if let Some(Expr::Call(inner)) = call.args.first().map(|arg| bare(&arg.expr))
                        && let Callee::Expr(inner) = &inner.callee
                        && self
                            .names
                            .value(inner)
                            .as_thing()
                            .is_some_and(|thing| thing.is_global_below(&["JSON", "stringify"]))
                    {
                        self.issue(
                            PERFORMANCE,
                            Severity::Low,
                            call.span,
                            "copies through JSON",
                            "`structuredClone(value)`",
                        );
                    }
                }
                ["Array", "isArray"]
                | ["Number", "isFinite" | "isInteger" | "isNaN" | "isSafeInteger"]
                | ["isNaN" | "isFinite"] => {
                    self.checks += 1;
                }
                ["BigInt" | "decodeURIComponent" | "atob"] => self.can_fail = true,
                _ => {}
            }
        }
        call.visit_children_with(self);
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        let now = new.args.as_ref().is_none_or(Vec::is_empty)
            && self.names.value(&new.callee).as_thing().is_some_and(|thing| thing.is_global_below(&["Date"]));
        if now {
            self.issue(
                TESTABILITY,
                Severity::Low,
                new.span,
                "`new Date()` makes the result vary",
                "take the time as a parameter",
            );
        }
        new.visit_children_with(self);
    }

    fn visit_unary_expr(&mut self, unary: &swc_ecma_ast::UnaryExpr) {
        self.checks += usize::from(unary.op == swc_ecma_ast::UnaryOp::TypeOf);
        unary.visit_children_with(self);
    }

    fn visit_assign_pat(&mut self, pat: &swc_ecma_ast::AssignPat) {
        // A default is a decision about input that is not there.
        self.checks += 1;
        pat.visit_children_with(self);
    }

    fn visit_ts_type_ann(&mut self, _: &TsTypeAnn) {
        self.typed += 1;
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        self.in_loop(node.span, |walk| node.visit_children_with(walk));
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        self.in_loop(node.span, |walk| node.visit_children_with(walk));
    }

    fn visit_for_in_stmt(&mut self, node: &ForInStmt) {
        self.in_loop(node.span, |walk| node.visit_children_with(walk));
    }

    fn visit_while_stmt(&mut self, node: &WhileStmt) {
        self.in_loop(node.span, |walk| node.visit_children_with(walk));
    }

    fn visit_do_while_stmt(&mut self, node: &DoWhileStmt) {
        self.in_loop(node.span, |walk| node.visit_children_with(walk));
    }
}

/// Whether a statement leaves the function, or says that something is wrong.
struct Leaves(bool);

impl Visit for Leaves {
    fn visit_return_stmt(&mut self, _: &swc_ecma_ast::ReturnStmt) {
        self.0 = true;
    }

    fn visit_throw_stmt(&mut self, _: &ThrowStmt) {
        self.0 = true;
    }

    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
}
