//! Recursion that multiplies: each call makes two or more, to a depth that is written into the source.
//!
//! Invariant: a function that keeps what it has worked out is left alone, as is a depth that the caller gives.

use rustc_hash::FxHashMap;
use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AssignOp, BinaryOp, CallExpr, Callee, CondExpr, Expr, Function, Id, Ident, IfStmt,
    Pat, Program,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::functions::Named;
use super::{Sizes, doubled};
use crate::names::bare;

/// More calls than any budget pays.
const CALLS: f64 = 1e9;

/// How a function calls itself.
struct Pattern {
    span: Span,
    /// Calls on one path, at most.
    calls: f64,
    /// By how much the parameter at a place shrinks, at most and at least.
    place: usize,
    most: f64,
    least: f64,
    /// Whether a call stands in the arguments of another one.
    nested: bool,
    /// Whether it doubles a parameter.
    doubles: bool,
}

/// How the functions call themselves that do.
pub(super) struct Shapes<'a> {
    sizes: &'a Sizes<'a>,
    found: FxHashMap<Id, Pattern>,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(sizes: &'a Sizes<'a>) -> Self {
        Self { sizes, found: FxHashMap::default() }
    }

    /// Looks at a function with a name.
    pub(super) fn look_at(&mut self, name: &Ident, function: Named<'_>) {
        match function {
            Named::Declared(function) | Named::Assigned(function) => {
                let params = ids(function.params.iter().map(|param| &param.pat));
                self.note(name.to_id(), params, function.span, |own| function.body.visit_with(own));
            }
            Named::Arrow(arrow) => {
                let params = ids(arrow.params.iter());
                self.note(name.to_id(), params, arrow.span, |own| match &*arrow.body {
                    ArrowFunctionBody::Expr(expr) => expr.visit_with(own),
                    ArrowFunctionBody::FunctionBody(body) => body.visit_with(own),
                });
            }
        }
    }

    /// What such recursion is found.
    pub(super) fn found(self, program: &Program) -> Vec<(Span, String)> {
        if self.found.is_empty() {
            return Vec::new();
        }
        let mut starts = Starts { sizes: self.sizes, shapes: &self.found, found: Vec::new() };
        program.visit_with(&mut starts);
        starts.found
    }

    fn note(&mut self, own: Id, params: Vec<Option<Id>>, span: Span, visit: impl FnOnce(&mut Inside<'_>)) {
        let mut body = Inside {
            sizes: self.sizes,
            own,
            params,
            steps: Vec::new(),
            remembers: false,
            depth: 0,
            nested: false,
            doubles: false,
        };
        visit(&mut body);
        if body.remembers || body.steps.is_empty() {
            return;
        }
        let place = body.steps[0].0;
        let several = body.steps.iter().any(|(other, _)| *other != place);
        if several != body.nested {
            return;
        }
        let calls = f64::from(u32::try_from(body.steps.len()).unwrap_or(u32::MAX));
        let most = body.steps.iter().map(|(_, step)| *step).fold(0.0, f64::max);
        let least = body.steps.iter().map(|(_, step)| *step).fold(f64::INFINITY, f64::min);
        let shape = Pattern { span, calls, place, most, least, nested: body.nested, doubles: body.doubles };
        self.found.insert(body.own, shape);
    }
}

fn ids<'a>(pats: impl Iterator<Item = &'a Pat>) -> Vec<Option<Id>> {
    pats.map(|pat| pat.as_ident().map(|name| name.id.to_id())).collect()
}

/// The body of one function.
struct Inside<'a> {
    sizes: &'a Sizes<'a>,
    own: Id,
    params: Vec<Option<Id>>,
    steps: Vec<(usize, f64)>,
    remembers: bool,
    depth: u32,
    nested: bool,
    doubles: bool,
}

impl Inside<'_> {
    fn condition(&mut self, test: &Expr) {
        let mut plain = Plain(true);
        test.visit_with(&mut plain);
        self.remembers |= !plain.0;
    }
}

/// Whether a condition asks for nothing but names.
struct Plain(bool);

impl Visit for Plain {
    fn visit_member_expr(&mut self, _: &swc_ecma_ast::MemberExpr) {
        self.0 = false;
    }

    fn visit_call_expr(&mut self, _: &CallExpr) {
        self.0 = false;
    }

    fn visit_bin_expr(&mut self, binary: &swc_ecma_ast::BinExpr) {
        self.0 &= binary.op != BinaryOp::In;
        binary.visit_children_with(self);
    }
}

impl Visit for Inside<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        let own = matches!(&call.callee, Callee::Expr(callee)
            if matches!(bare(callee), Expr::Ident(ident) if ident.to_id() == self.own));
        if !own {
            return call.visit_children_with(self);
        }
        self.nested |= self.depth > 0;
        let mut step = None;
        for (place, arg) in call.args.iter().enumerate() {
            let Some(Some(param)) = self.params.get(place) else { continue };
            self.doubles |= doubled(&arg.expr, param, self.sizes.names);
            if let Expr::Bin(binary) = bare(&arg.expr)
                && binary.op == BinaryOp::Sub
                && matches!(bare(&binary.left), Expr::Ident(ident) if ident.to_id() == *param)
                && let Some(by) = self.sizes.number(&binary.right).filter(|by| *by > 0.0)
            {
                step = step.or(Some((place, by)));
            }
        }
        match step {
            Some(step) => self.steps.push(step),
            None => self.remembers = true,
        }
        self.depth += 1;
        call.args.visit_with(self);
        self.depth -= 1;
    }

    fn visit_if_stmt(&mut self, node: &IfStmt) {
        self.condition(&node.test);
        node.visit_children_with(self);
    }

    fn visit_cond_expr(&mut self, node: &CondExpr) {
        self.condition(&node.test);
        // Of two ways, the one that calls more often counts.
        node.test.visit_with(self);
        let before = self.steps.len();
        node.cons.visit_with(self);
        let first = self.steps.split_off(before);
        node.alt.visit_with(self);
        if self.steps.len() - before < first.len() {
            self.steps.truncate(before);
            self.steps.extend(first);
        }
    }

    fn visit_bin_expr(&mut self, binary: &swc_ecma_ast::BinExpr) {
        self.remembers |= matches!(binary.op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing);
        binary.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &swc_ecma_ast::AssignExpr) {
        self.remembers |= matches!(assign.op, AssignOp::NullishAssign | AssignOp::OrAssign | AssignOp::AndAssign);
        assign.visit_children_with(self);
    }

    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
}

/// Calls with a depth that is known.
struct Starts<'a> {
    sizes: &'a Sizes<'a>,
    shapes: &'a FxHashMap<Id, Pattern>,
    found: Vec<(Span, String)>,
}

impl Visit for Starts<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        call.visit_children_with(self);
        let Callee::Expr(callee) = &call.callee else { return };
        let Expr::Ident(ident) = bare(callee) else { return };
        let Some(shape) = self.shapes.get(&ident.to_id()) else { return };
        if shape.span.contains(call.span) {
            return;
        }
        let Some(depth) = call.args.get(shape.place).and_then(|arg| self.sizes.number(&arg.expr)) else { return };
        let rounds = depth / shape.most;
        if shape.doubles && rounds >= 26.0 {
            return self.found.push((call.span, format!("doubles a value {rounds} times")));
        }
        if shape.nested {
            if depth >= 4.0 {
                self.found.push((call.span, "calls itself more often than any budget pays".to_owned()));
            }
            return;
        }
        // Calls with n - 1 and n - 2 grow as the Fibonacci numbers do.
        let growth = if shape.calls >= 2.0 && shape.least < shape.most {
            if shape.most <= 2.0 * shape.least { 1.618_f64.powf(depth / shape.least) } else { shape.calls.powf(rounds) }
        } else {
            shape.calls.powf(rounds)
        };
        if shape.calls >= 2.0 && growth >= CALLS {
            self.found.push((call.span, format!("calls itself {growth:.0e} times")));
        }
    }
}
