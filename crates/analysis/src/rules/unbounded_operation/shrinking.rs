//! Recursion that has a base case and never comes nearer to it.
//!
//! Invariant: only where the base case asks for nothing but the parameters themselves.

use swc_ecma_ast::{BinaryOp, CallExpr, Callee, Expr, Id, Pat, Stmt};
use swc_ecma_visit::{Visit, VisitWith};

use super::condition::Judge;
use crate::names::bare;

/// Whether a function calls itself with what it was given, or with more where less would end it.
pub(super) fn never(own: &Id, params: &[&Pat], stmts: &[Stmt], judge: &Judge<'_>) -> bool {
    let Some(params) = params.iter().map(|pat| pat.as_ident().map(|name| name.id.to_id())).collect::<Option<Vec<Id>>>()
    else {
        return false;
    };
    let [Stmt::If(guard), rest @ ..] = stmts else { return false };
    let (false, [Stmt::Return(last)], true) = (params.is_empty(), rest, guard.alt.is_none()) else { return false };
    let Some(last) = &last.arg else { return false };
    let ends = match &*guard.cons {
        Stmt::Return(_) | Stmt::Throw(_) => true,
        Stmt::Block(block) => matches!(block.stmts.as_slice(), [Stmt::Return(_) | Stmt::Throw(_)]),
        _ => false,
    };
    let Expr::Bin(test) = bare(&guard.test) else { return false };
    let (Expr::Ident(tested), Some(_)) = (bare(&test.left), judge.number(&test.right)) else { return false };
    let Some(place) = params.iter().position(|param| *param == tested.to_id()).filter(|_| ends) else { return false };
    let written = |id: &Id| judge.uses.writes(id).iter().any(|_| true);
    let mut calls = Calls { own, params: &params, place, same: 0, up: 0, down: 0, other: 0, maybe: false, judge };
    last.visit_with(&mut calls);
    if calls.maybe || calls.other > 0 || written(&tested.to_id()) {
        return false;
    }
    match test.op {
        _ if calls.same > 0 => calls.up == 0 && calls.down == 0 && !params.iter().any(written),
        BinaryOp::Lt | BinaryOp::LtEq => calls.up > 0 && calls.down == 0,
        BinaryOp::Gt | BinaryOp::GtEq => calls.down > 0 && calls.up == 0,
        _ => false,
    }
}

/// How a function calls itself.
struct Calls<'a> {
    own: &'a Id,
    params: &'a [Id],
    place: usize,
    same: u32,
    up: u32,
    down: u32,
    other: u32,
    /// Whether a condition stands around.
    maybe: bool,
    judge: &'a Judge<'a>,
}

impl Visit for Calls<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        call.visit_children_with(self);
        let Callee::Expr(callee) = &call.callee else { return };
        if !matches!(bare(callee), Expr::Ident(ident) if ident.to_id() == *self.own) {
            return;
        }
        let is = |expr: &Expr, id: &Id| matches!(bare(expr), Expr::Ident(ident) if ident.to_id() == *id);
        if call.args.len() == self.params.len()
            && call.args.iter().zip(self.params).all(|(arg, param)| arg.spread.is_none() && is(&arg.expr, param))
        {
            self.same += 1;
            return;
        }
        let step = call.args.get(self.place).and_then(|arg| match (bare(&arg.expr), self.params.get(self.place)) {
            (Expr::Bin(binary), Some(param)) if is(&binary.left, param) => {
                let step = self.judge.number(&binary.right)?;
                match binary.op {
                    BinaryOp::Add => Some(step),
                    BinaryOp::Sub => Some(-step),
                    _ => None,
                }
            }
            _ => None,
        });
        match step {
            Some(step) if step > 0.0 => self.up += 1,
            Some(step) if step < 0.0 => self.down += 1,
            _ => self.other += 1,
        }
    }

    fn visit_cond_expr(&mut self, _: &swc_ecma_ast::CondExpr) {
        self.maybe = true;
    }

    fn visit_bin_expr(&mut self, binary: &swc_ecma_ast::BinExpr) {
        self.maybe |= matches!(binary.op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing);
        binary.visit_children_with(self);
    }

    fn visit_function(&mut self, _: &swc_ecma_ast::Function) {
        self.maybe = true;
    }

    fn visit_arrow_expr(&mut self, _: &swc_ecma_ast::ArrowExpr) {
        self.maybe = true;
    }
}
