//! What is looked at, at each node of the tree.
//!
//! Invariant: a function that stands in a loop is not run by the loop, unless the loop is a method that calls it.

use swc_common::Spanned;
use swc_ecma_ast::{
    AssignExpr, AssignOp, AssignTarget, BinExpr, BinaryOp, CallExpr, Callee, Expr, ExprOrSpread, ForOfStmt, ForStmt,
    NewExpr, SimpleAssignTarget, Stmt,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::uses::{Kind, Range};

use super::size::Size;
use super::{DOUBLINGS, LETTERS, MEMBERS, Walk, big, growth};
use crate::names::bare;
use crate::value::Value;

impl Visit for Walk<'_, '_> {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Call(_) | Expr::New(_) | Expr::Array(_) | Expr::Object(_) => self.size(expr, expr.span()),
            Expr::Bin(binary) if binary.op == BinaryOp::Add => self.size(expr, binary.span),
            _ => {}
        }
        expr.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        let mut rounds = None;
        if let Callee::Expr(callee) = &call.callee {
            self.call(callee, &call.args, false, call.span);
            if !call.args.is_empty() && matches!(bare(callee), Expr::Member(_)) {
                self.described(callee, &call.args, call.span);
            }
            if let Expr::Member(member) = bare(callee) {
                let name = self.names.key(&member.prop);
                if let (Expr::Ident(list), Some("push" | "unshift" | "splice" | "add" | "set" | "append")) =
                    (bare(&member.obj), name.as_text())
                {
                    let id = list.to_id();
                    // `list.push(...list)` doubles as well.
                    let same = |arg: &ExprOrSpread| {
                        arg.spread.is_some() && matches!(bare(&arg.expr), Expr::Ident(same) if same.to_id() == id)
                    };
                    if call.args.iter().any(same) && self.doubles_often(call.span) {
                        self.found.push((call.span, "doubles a list again and again".to_owned()));
                    } else if self.fills(&id, call.span) {
                        self.found.push((call.span, "fills a list without end".to_owned()));
                    }
                }
                if matches!(name.as_text(), Some("forEach" | "map" | "reduce" | "flatMap" | "filter" | "reduceRight")) {
                    if let Size::List(count) = self.sizes.of(&member.obj) {
                        rounds = Some(count);
                    }
                    if rounds.is_some_and(|rounds| rounds >= DOUBLINGS)
                        && call.args.first().is_some_and(|arg| growth::doubles_first(&arg.expr, self.names))
                        && name.as_text().is_some_and(|name| name.starts_with("reduce"))
                    {
                        self.found.push((call.span, "doubles a value again and again".to_owned()));
                    }
                }
            }
        }
        let Some(rounds) = rounds else { return call.visit_children_with(self) };
        call.callee.visit_with(self);
        for arg in &call.args {
            match bare(&arg.expr) {
                Expr::Arrow(arrow) => self.inside(Some(rounds), call.span, |walk| {
                    arrow.body.visit_with(walk);
                    // `return` ends one round of it.
                    walk.returns = false;
                }),
                _ => arg.visit_with(self),
            }
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        let args = new.args.as_deref().unwrap_or_default();
        self.call(&new.callee, args, true, new.span);
        self.described(&new.callee, args, new.span);
        new.visit_children_with(self);
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        let power = match binary.op {
            BinaryOp::Exp => Some(1e6),
            BinaryOp::LShift => Some(1e7),
            _ => None,
        };
        if let Some(power) = power
            && big(self.names, &binary.right, 8).is_some_and(|by| by >= power)
        {
            self.found.push((binary.span, "raises a BigInt to a power that fits into no cell".to_owned()));
        }
        binary.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(target)) if !self.loops.is_empty() => {
                let id = target.id.to_id();
                let counts = self.uses.writes(&id).iter().take(64).any(|one| matches!(one.kind, Kind::Begun(_)));
                let twice = growth::doubles(assign, &id, self.names, &self.doubling);
                let squared = growth::squares(assign, &id) && self.names_big(&id);
                if ((twice && !counts) || squared) && self.doubles_often(assign.span) {
                    self.found.push((assign.span, "doubles a value again and again".to_owned()));
                }
                if assign.op == AssignOp::AddAssign
                    && matches!(self.sizes.of(&assign.right), Size::Text(count) if count > 0.0)
                    && (self.for_ever(assign.span).is_some()
                        || (self.rounds() >= LETTERS && !self.loops.iter().any(Option::is_none)))
                {
                    let at = Range { start: assign.span.lo.0, end: assign.span.lo.0 + 1, function: 0, round: 0 };
                    let once = self.uses.writes(&id).iter().take(64).filter(|one| one.kind == Kind::Other).count() <= 1;
                    let always = self.uses.writes_in(&id, at).is_some_and(|writes| writes.iter().any(|one| one.always));
                    if once && always {
                        self.found.push((assign.span, "appends to a text without end".to_owned()));
                    }
                }
            }
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                // `list[4294967294] = 1`, `list.length = 4294967295`
                let list = matches!(bare(&member.obj), Expr::Ident(ident) if self.names.origin(ident).is_some_and(|origin| {
                    matches!(bare(origin), Expr::Array(_)) || matches!(self.sizes.of(origin), Size::List(_))
                }));
                let place = match self.names.key(&member.prop) {
                    Value::Number(place) => Some(place),
                    Value::Text(name) if &*name == "length" => self.names.value(&assign.right).as_number(),
                    _ => None,
                };
                if list && place.is_some_and(|place| place > MEMBERS) {
                    self.found.push((assign.span, "makes a list longer than any cell holds".to_owned()));
                }
            }
            _ => {}
        }
        assign.visit_children_with(self);
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        let times = node.test.as_deref().and_then(|test| self.times(test));
        self.inside(times, node.span, |walk| node.visit_children_with(walk));
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        node.right.visit_with(self);
        let times = match self.sizes.of(&node.right) {
            Size::List(count) if count > 1.0 => Some(count),
            _ => None,
        };
        self.inside(times, node.span, |walk| node.body.visit_with(walk));
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::While(swc_ecma_ast::WhileStmt { test, .. })
            | Stmt::DoWhile(swc_ecma_ast::DoWhileStmt { test, .. }) => {
                let times = self.times(test).or_else(|| self.length_limit(test));
                self.inside(times, node.span(), |walk| node.visit_children_with(walk));
            }
            Stmt::Break(_) => self.breaks = true,
            Stmt::Return(_) | Stmt::Throw(_) => {
                self.returns = true;
                node.visit_children_with(self);
            }
            Stmt::Switch(_) => {
                let breaks = self.breaks;
                node.visit_children_with(self);
                self.breaks = breaks;
            }
            _ => node.visit_children_with(self),
        }
    }

    fn visit_function(&mut self, function: &swc_ecma_ast::Function) {
        self.apart(|walk| function.visit_children_with(walk));
    }

    fn visit_arrow_expr(&mut self, arrow: &swc_ecma_ast::ArrowExpr) {
        self.apart(|walk| arrow.visit_children_with(walk));
    }
}
