//! Recursion that never approaches its base case.
//!
//! Invariant: only base cases that test nothing but the parameters are considered.

use swc_ecma_ast::{BinaryOp, CallExpr, Callee, Expr, Id, Pat, Stmt};
use swc_ecma_visit::{Visit, VisitWith};

use super::condition::ConditionAnalyzer;
use crate::syntax::expr::peel_parens;

/// Returns whether a function calls itself with unchanged arguments, or with arguments that move
/// away from the base case.
pub(super) fn never_terminates(own: &Id, params: &[&Pat], stmts: &[Stmt], judge: &ConditionAnalyzer<'_>) -> bool {
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
    let Expr::Bin(test) = peel_parens(&guard.test) else { return false };
    let (Expr::Ident(tested), Some(_)) = (peel_parens(&test.left), judge.number(&test.right)) else { return false };
    let Some(place) = params.iter().position(|param| *param == tested.to_id()).filter(|_| ends) else { return false };
    let written = |id: &Id| judge.mutations.writes(id).iter().any(|_| true);
    let mut calls = SelfCalls {
        function: own,
        params: &params,
        param_index: place,
        same: 0,
        up: 0,
        down: 0,
        other: 0,
        is_conditional: false,
        conditions: judge,
    };
    last.visit_with(&mut calls);
    if calls.is_conditional || calls.other > 0 || written(&tested.to_id()) {
        return false;
    }
    match test.op {
        _ if calls.same > 0 => calls.up == 0 && calls.down == 0 && !params.iter().any(written),
        BinaryOp::Lt | BinaryOp::LtEq => calls.up > 0 && calls.down == 0,
        BinaryOp::Gt | BinaryOp::GtEq => calls.down > 0 && calls.up == 0,
        _ => false,
    }
}

/// The recursive calls of a function.
struct SelfCalls<'a> {
    function: &'a Id,
    params: &'a [Id],
    param_index: usize,
    same: u32,
    up: u32,
    down: u32,
    other: u32,
    /// Whether a call is conditional.
    is_conditional: bool,
    conditions: &'a ConditionAnalyzer<'a>,
}

impl Visit for SelfCalls<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        call.visit_children_with(self);
        let Callee::Expr(callee) = &call.callee else { return };
        if !matches!(peel_parens(callee), Expr::Ident(ident) if ident.to_id() == *self.function) {
            return;
        }
        let is = |expr: &Expr, id: &Id| matches!(peel_parens(expr), Expr::Ident(ident) if ident.to_id() == *id);
        if call.args.len() == self.params.len()
            && call.args.iter().zip(self.params).all(|(arg, param)| arg.spread.is_none() && is(&arg.expr, param))
        {
            self.same += 1;
            return;
        }
        let step = call.args.get(self.param_index).and_then(|arg| {
            match (peel_parens(&arg.expr), self.params.get(self.param_index)) {
                (Expr::Bin(binary), Some(param)) if is(&binary.left, param) => {
                    let step = self.conditions.number(&binary.right)?;
                    match binary.op {
                        BinaryOp::Add => Some(step),
                        BinaryOp::Sub => Some(-step),
                        _ => None,
                    }
                }
                _ => None,
            }
        });
        match step {
            Some(step) if step > 0.0 => self.up += 1,
            Some(step) if step < 0.0 => self.down += 1,
            _ => self.other += 1,
        }
    }

    fn visit_cond_expr(&mut self, _: &swc_ecma_ast::CondExpr) {
        self.is_conditional = true;
    }

    fn visit_bin_expr(&mut self, binary: &swc_ecma_ast::BinExpr) {
        self.is_conditional |=
            matches!(binary.op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing);
        binary.visit_children_with(self);
    }

    fn visit_function(&mut self, _: &swc_ecma_ast::Function) {
        self.is_conditional = true;
    }

    fn visit_arrow_expr(&mut self, _: &swc_ecma_ast::ArrowExpr) {
        self.is_conditional = true;
    }
}
