//! The checks at each node of the tree.
//!
//! Invariant: a function inside of a loop is not run by the loop, unless the loop is a method that
//! calls it.

use swc_common::Spanned;
use swc_ecma_ast::{
    AssignExpr, AssignOp, AssignTarget, BinExpr, BinaryOp, CallExpr, Callee, Expr, ExprOrSpread, ForOfStmt, ForStmt,
    NewExpr, SimpleAssignTarget, Stmt,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::mutation::{MutationKind, SourceRange};

use super::size::Size;
use super::{EXCESSIVE_DOUBLINGS, EXCESSIVE_ELEMENTS, EXCESSIVE_TEXT, ResourceVisitor, bigint_value, growth};
use crate::bindings::peel_parens;
use crate::value::Value;

impl Visit for ResourceVisitor<'_, '_> {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Call(_) | Expr::New(_) | Expr::Array(_) | Expr::Object(_) => self.check_size(expr, expr.span()),
            Expr::Bin(binary) if binary.op == BinaryOp::Add => self.check_size(expr, binary.span),
            _ => {}
        }
        expr.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        let mut rounds = None;
        if let Callee::Expr(callee) = &call.callee {
            self.check_call(callee, &call.args, false, call.span);
            if !call.args.is_empty() && matches!(peel_parens(callee), Expr::Member(_)) {
                self.check_described_call(callee, &call.args, call.span);
            }
            if let Expr::Member(member) = peel_parens(callee) {
                let name = self.names.key(&member.prop);
                if let (Expr::Ident(list), Some("push" | "unshift" | "splice" | "add" | "set" | "append")) =
                    (peel_parens(&member.obj), name.as_text())
                {
                    let id = list.to_id();
                    // `list.push(...list)` doubles as well.
                    let same = |arg: &ExprOrSpread| {
                        arg.spread.is_some()
                            && matches!(peel_parens(&arg.expr), Expr::Ident(same) if same.to_id() == id)
                    };
                    if call.args.iter().any(same) && self.doubles_often(call.span) {
                        self.found.push((call.span, "doubles a list repeatedly".to_owned()));
                    } else if self.fills_memory(&id, call.span) {
                        self.found.push((call.span, "fills a list endlessly".to_owned()));
                    }
                }
                if matches!(name.as_text(), Some("forEach" | "map" | "reduce" | "flatMap" | "filter" | "reduceRight")) {
                    if let Size::List(count) = self.sizes.size_of(&member.obj) {
                        rounds = Some(count);
                    }
                    if rounds.is_some_and(|rounds| rounds >= EXCESSIVE_DOUBLINGS)
                        && call.args.first().is_some_and(|arg| growth::doubles_first(&arg.expr, self.names))
                        && name.as_text().is_some_and(|name| name.starts_with("reduce"))
                    {
                        self.found.push((call.span, "doubles a value repeatedly".to_owned()));
                    }
                }
            }
        }
        let Some(rounds) = rounds else { return call.visit_children_with(self) };
        call.callee.visit_with(self);
        for arg in &call.args {
            match peel_parens(&arg.expr) {
                Expr::Arrow(arrow) => self.in_loop(Some(rounds), call.span, |walk| {
                    arrow.body.visit_with(walk);
                    // `return` ends only one round.
                    walk.has_return = false;
                }),
                _ => arg.visit_with(self),
            }
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        let args = new.args.as_deref().unwrap_or_default();
        self.check_call(&new.callee, args, true, new.span);
        self.check_described_call(&new.callee, args, new.span);
        new.visit_children_with(self);
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        let power = match binary.op {
            BinaryOp::Exp => Some(1e6),
            BinaryOp::LShift => Some(1e7),
            _ => None,
        };
        if let Some(power) = power
            && bigint_value(self.names, &binary.right, 8).is_some_and(|by| by >= power)
        {
            self.found.push((binary.span, "raises a BigInt to a power too large for a cell".to_owned()));
        }
        binary.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(target)) if !self.loop_rounds.is_empty() => {
                let id = target.id.to_id();
                let counts = self
                    .mutations
                    .writes(&id)
                    .iter()
                    .take(64)
                    .any(|one| matches!(one.kind, MutationKind::DeclaredNumber(_)));
                let twice = growth::doubles(assign, &id, self.names, &self.doubling_functions);
                let squared = growth::squares(assign, &id) && self.is_bigint(&id);
                if ((twice && !counts) || squared) && self.doubles_often(assign.span) {
                    self.found.push((assign.span, "doubles a value repeatedly".to_owned()));
                }
                if assign.op == AssignOp::AddAssign
                    && matches!(self.sizes.size_of(&assign.right), Size::Text(count) if count > 0.0)
                    && (self.enclosing_endless_loop(assign.span).is_some()
                        || (self.total_rounds() >= EXCESSIVE_TEXT && !self.loop_rounds.iter().any(Option::is_none)))
                {
                    let at =
                        SourceRange { start: assign.span.lo.0, end: assign.span.lo.0 + 1, function: 0, loop_start: 0 };
                    let once = self
                        .mutations
                        .writes(&id)
                        .iter()
                        .take(64)
                        .filter(|one| one.kind == MutationKind::Other)
                        .count()
                        <= 1;
                    let always = self
                        .mutations
                        .writes_in(&id, at)
                        .is_some_and(|writes| writes.iter().any(|one| one.is_unconditional));
                    if once && always {
                        self.found.push((assign.span, "appends to a string endlessly".to_owned()));
                    }
                }
            }
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                // `list[4294967294] = 1`, `list.length = 4294967295`.
                let list = matches!(peel_parens(&member.obj), Expr::Ident(ident) if self.names.sole_initializer(ident).is_some_and(|origin| {
                    matches!(peel_parens(origin), Expr::Array(_)) || matches!(self.sizes.size_of(origin), Size::List(_))
                }));
                let place = match self.names.key(&member.prop) {
                    Value::Number(place) => Some(place),
                    Value::Text(name) if &*name == "length" => self.names.value(&assign.right).as_number(),
                    _ => None,
                };
                if list && place.is_some_and(|place| place > EXCESSIVE_ELEMENTS) {
                    self.found.push((assign.span, "creates a list longer than a cell can hold".to_owned()));
                }
            }
            _ => {}
        }
        assign.visit_children_with(self);
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        let times = node.test.as_deref().and_then(|test| self.rounds_of(test));
        self.in_loop(times, node.span, |walk| node.visit_children_with(walk));
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        node.right.visit_with(self);
        let times = match self.sizes.size_of(&node.right) {
            Size::List(count) if count > 1.0 => Some(count),
            _ => None,
        };
        self.in_loop(times, node.span, |walk| node.body.visit_with(walk));
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::While(swc_ecma_ast::WhileStmt { test, .. })
            | Stmt::DoWhile(swc_ecma_ast::DoWhileStmt { test, .. }) => {
                let times = self.rounds_of(test).or_else(|| self.length_limit(test));
                self.in_loop(times, node.span(), |walk| node.visit_children_with(walk));
            }
            Stmt::Break(_) => self.has_break = true,
            Stmt::Return(_) | Stmt::Throw(_) => {
                self.has_return = true;
                node.visit_children_with(self);
            }
            Stmt::Switch(_) => {
                let breaks = self.has_break;
                node.visit_children_with(self);
                self.has_break = breaks;
            }
            _ => node.visit_children_with(self),
        }
    }

    fn visit_function(&mut self, function: &swc_ecma_ast::Function) {
        self.outside_loops(|walk| function.visit_children_with(walk));
    }

    fn visit_arrow_expr(&mut self, arrow: &swc_ecma_ast::ArrowExpr) {
        self.outside_loops(|walk| arrow.visit_children_with(walk));
    }
}
