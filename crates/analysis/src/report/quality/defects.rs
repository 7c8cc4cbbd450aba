//! The visitor that counts good practice and reports defects.

use swc_common::Spanned;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AwaitExpr, BinExpr, BinaryOp, CallExpr, Callee, CatchClause, DoWhileStmt, Expr,
    ForInStmt, ForOfStmt, ForStmt, Function, IfStmt, NewExpr, Stmt, ThrowStmt, TryStmt, TsTypeAnn, VarDecl,
    VarDeclKind, WhileStmt,
};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::{message, msgid};

use super::{ERRORS, PERFORMANCE, QualityVisitor, READABILITY, TESTABILITY};
use crate::report::finding::Severity;
use crate::semantics::value::Value;
use crate::syntax::expr::peel_parens;

impl Visit for QualityVisitor<'_> {
    fn visit_var_decl(&mut self, declaration: &VarDecl) {
        if declaration.kind == VarDeclKind::Var {
            self.add_issue(
                READABILITY,
                Severity::Low,
                declaration.span,
                message!("`var` is visible outside its block"),
                msgid!("`let` or `const`"),
            );
        }
        declaration.visit_children_with(self);
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        if matches!(binary.op, BinaryOp::EqEq | BinaryOp::NotEq)
            && !matches!(peel_parens(&binary.right), Expr::Lit(swc_ecma_ast::Lit::Null(_)))
            && !matches!(peel_parens(&binary.left), Expr::Lit(swc_ecma_ast::Lit::Null(_)))
        {
            self.add_issue(
                READABILITY,
                Severity::Low,
                binary.span,
                message!("a comparison that converts types"),
                msgid!("`===` or `!==`"),
            );
        }
        binary.visit_children_with(self);
    }

    fn visit_function(&mut self, function: &Function) {
        self.in_function(function.span, |walk| function.visit_children_with(walk));
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        match &*arrow.body {
            ArrowFunctionBody::FunctionBody(_) => self.in_function(arrow.span, |walk| arrow.visit_children_with(walk)),
            ArrowFunctionBody::Expr(_) => arrow.visit_children_with(self),
        }
    }

    fn visit_if_stmt(&mut self, node: &IfStmt) {
        // `if (…) throw` and `if (…) return` check the input.
        let mut leaves = ExitSearch(false);
        node.cons.visit_with(&mut leaves);
        self.input_checks += usize::from(leaves.0);
        node.test.visit_with(self);
        self.in_block(node.span, |walk| node.cons.visit_with(walk));
        // An `else if` is not nested deeper.
        match node.alt.as_deref() {
            Some(Stmt::If(alternative)) => self.visit_if_stmt(alternative),
            Some(alternative) => self.in_block(alternative.span(), |walk| alternative.visit_with(walk)),
            None => {}
        }
    }

    fn visit_throw_stmt(&mut self, node: &ThrowStmt) {
        self.error_handlers += 1;
        if let Expr::New(new) = peel_parens(&node.arg) {
            let empty = new.args.as_ref().is_none_or(Vec::is_empty)
                || new.args.iter().flatten().next().is_some_and(|arg| self.names.value(&arg.expr) == Value::text(""));
            let of_language = self
                .names
                .value(&new.callee)
                .as_path()
                .is_some_and(|thing| thing.last_name().is_some_and(|name| name.ends_with("Error")));
            if empty && of_language {
                let description = message!("an error without a message");
                self.add_issue(ERRORS, Severity::Medium, node.span, description, msgid!("say what is wrong"));
            }
        }
        node.visit_children_with(self);
    }

    fn visit_try_stmt(&mut self, node: &TryStmt) {
        self.error_handlers += 1;
        self.can_fail = true;
        node.visit_children_with(self);
    }

    fn visit_catch_clause(&mut self, clause: &CatchClause) {
        if clause.body.stmts.is_empty() {
            self.add_issue(
                ERRORS,
                Severity::High,
                clause.span,
                message!("an error is swallowed"),
                msgid!("handle it, or let it propagate"),
            );
        }
        clause.visit_children_with(self);
    }

    fn visit_await_expr(&mut self, node: &AwaitExpr) {
        self.can_fail = true;
        if self.loop_depth > 0 {
            self.add_issue(
                PERFORMANCE,
                Severity::Low,
                node.span,
                message!("awaits in a loop"),
                msgid!("`await Promise.all(…)` where order does not matter"),
            );
        }
        node.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Some(thing) = self.names.value(callee).as_path()
        {
            let names = thing.names().unwrap_or_default();
            match names.as_slice() {
                ["JSON", "parse"] => {
                    self.can_fail = true;
                    if let Some(Expr::Call(inner)) = call.args.first().map(|arg| peel_parens(&arg.expr))
                        && let Callee::Expr(inner) = &inner.callee
                        && self
                            .names
                            .value(inner)
                            .as_path()
                            .is_some_and(|thing| thing.is_global_below(&["JSON", "stringify"]))
                    {
                        self.add_issue(
                            PERFORMANCE,
                            Severity::Low,
                            call.span,
                            message!("copies through JSON"),
                            msgid!("`structuredClone(value)`"),
                        );
                    }
                }
                ["Array", "isArray"]
                | ["Number", "isFinite" | "isInteger" | "isNaN" | "isSafeInteger"]
                | ["isNaN" | "isFinite"] => {
                    self.input_checks += 1;
                }
                ["BigInt" | "decodeURIComponent" | "atob"] => self.can_fail = true,
                _ => {}
            }
        }
        call.visit_children_with(self);
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        let now = new.args.as_ref().is_none_or(Vec::is_empty)
            && self.names.value(&new.callee).as_path().is_some_and(|thing| thing.is_global_below(&["Date"]));
        if now {
            self.add_issue(
                TESTABILITY,
                Severity::Low,
                new.span,
                message!("`{call}` makes the result nondeterministic", call = "new Date()"),
                msgid!("take the time as a parameter"),
            );
        }
        new.visit_children_with(self);
    }

    fn visit_unary_expr(&mut self, unary: &swc_ecma_ast::UnaryExpr) {
        self.input_checks += usize::from(unary.op == swc_ecma_ast::UnaryOp::TypeOf);
        unary.visit_children_with(self);
    }

    fn visit_assign_pat(&mut self, pat: &swc_ecma_ast::AssignPat) {
        // A default value handles missing input.
        self.input_checks += 1;
        pat.visit_children_with(self);
    }

    fn visit_ts_type_ann(&mut self, _: &TsTypeAnn) {
        self.type_annotations += 1;
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

/// Looks for a `return` or `throw` that is not inside a nested function.
struct ExitSearch(bool);

impl Visit for ExitSearch {
    fn visit_return_stmt(&mut self, _: &swc_ecma_ast::ReturnStmt) {
        self.0 = true;
    }

    fn visit_throw_stmt(&mut self, _: &ThrowStmt) {
        self.0 = true;
    }

    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
}
