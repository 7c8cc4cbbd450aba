//! Exponential recursion: each call makes two or more, to a depth that the source fixes.
//!
//! Invariant: functions that may memoize are not reported, and neither are depths that the caller
//! provides.

use rustc_hash::FxHashMap;
use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AssignOp, BinaryOp, CallExpr, Callee, CondExpr, Expr, Function, Id, Ident, IfStmt,
    Pat, Program,
};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::{Message, message};

use super::{Sizes, doubled};
use crate::syntax::expr::peel_parens;
use crate::syntax::named_functions::NamedFunction;

/// A number of calls that exceeds any fuel budget.
const EXCESSIVE_CALLS: f64 = 1e9;

/// The way in which a function calls itself.
struct SelfCallPattern {
    span: Span,
    /// The maximum number of recursive calls on one path.
    calls: f64,
    /// The index of the parameter that shrinks, with its largest and its smallest step.
    param_index: usize,
    max_step: f64,
    min_step: f64,
    /// Whether a recursive call is an argument of another one.
    is_nested: bool,
    /// Whether a parameter is doubled.
    doubles: bool,
}

/// The recursive functions of a source.
pub(super) struct SelfCallPatterns<'a> {
    sizes: &'a Sizes<'a>,
    found: FxHashMap<Id, SelfCallPattern>,
}

impl<'a> SelfCallPatterns<'a> {
    pub(super) fn new(sizes: &'a Sizes<'a>) -> Self {
        Self { sizes, found: FxHashMap::default() }
    }

    /// Adds a named function, if it calls itself.
    pub(super) fn add_function(&mut self, name: &Ident, function: NamedFunction<'_>) {
        match function {
            NamedFunction::Declared(function) | NamedFunction::Assigned(function) => {
                let params = param_ids(function.params.iter().map(|param| &param.pat));
                self.note(name.to_id(), params, function.span, |own| function.body.visit_with(own));
            }
            NamedFunction::Arrow(arrow) => {
                let params = param_ids(arrow.params.iter());
                self.note(name.to_id(), params, arrow.span, |own| match &*arrow.body {
                    ArrowFunctionBody::Expr(expr) => expr.visit_with(own),
                    ArrowFunctionBody::FunctionBody(body) => body.visit_with(own),
                });
            }
        }
    }

    /// Finds the calls that start an exponential recursion.
    pub(super) fn find_calls(self, program: &Program) -> Vec<(Span, Message)> {
        if self.found.is_empty() {
            return Vec::new();
        }
        let mut starts = InitialCalls { sizes: self.sizes, patterns: &self.found, found: Vec::new() };
        program.visit_with(&mut starts);
        starts.found
    }

    fn note(&mut self, own: Id, params: Vec<Option<Id>>, span: Span, visit: impl FnOnce(&mut SelfCallVisitor<'_>)) {
        let mut body = SelfCallVisitor {
            sizes: self.sizes,
            function: own,
            params,
            steps: Vec::new(),
            may_memoize: false,
            depth: 0,
            nested: false,
            doubles: false,
        };
        visit(&mut body);
        if body.may_memoize || body.steps.is_empty() {
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
        let shape = SelfCallPattern {
            span,
            calls,
            param_index: place,
            max_step: most,
            min_step: least,
            is_nested: body.nested,
            doubles: body.doubles,
        };
        self.found.insert(body.function, shape);
    }
}

fn param_ids<'a>(pats: impl Iterator<Item = &'a Pat>) -> Vec<Option<Id>> {
    pats.map(|pat| pat.as_ident().map(|name| name.id.to_id())).collect()
}

/// Visits the body of one function.
struct SelfCallVisitor<'a> {
    sizes: &'a Sizes<'a>,
    function: Id,
    params: Vec<Option<Id>>,
    steps: Vec<(usize, f64)>,
    may_memoize: bool,
    depth: u32,
    nested: bool,
    doubles: bool,
}

impl SelfCallVisitor<'_> {
    fn condition(&mut self, test: &Expr) {
        let mut plain = NamesOnly(true);
        test.visit_with(&mut plain);
        self.may_memoize |= !plain.0;
    }
}

/// Checks that a condition reads only names.
struct NamesOnly(bool);

impl Visit for NamesOnly {
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

impl Visit for SelfCallVisitor<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        let own = matches!(&call.callee, Callee::Expr(callee)
            if matches!(peel_parens(callee), Expr::Ident(ident) if ident.to_id() == self.function));
        if !own {
            return call.visit_children_with(self);
        }
        self.nested |= self.depth > 0;
        let mut step = None;
        for (place, arg) in call.args.iter().enumerate() {
            let Some(Some(param)) = self.params.get(place) else { continue };
            self.doubles |= doubled(&arg.expr, param, self.sizes.names);
            if let Expr::Bin(binary) = peel_parens(&arg.expr)
                && binary.op == BinaryOp::Sub
                && matches!(peel_parens(&binary.left), Expr::Ident(ident) if ident.to_id() == *param)
                && let Some(by) = self.sizes.number(&binary.right).filter(|by| *by > 0.0)
            {
                step = step.or(Some((place, by)));
            }
        }
        match step {
            Some(step) => self.steps.push(step),
            None => self.may_memoize = true,
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
        // Of two branches, the one with more calls counts.
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
        self.may_memoize |=
            matches!(binary.op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing);
        binary.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &swc_ecma_ast::AssignExpr) {
        self.may_memoize |= matches!(assign.op, AssignOp::NullishAssign | AssignOp::OrAssign | AssignOp::AndAssign);
        assign.visit_children_with(self);
    }

    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
}

/// Visits the calls with a known depth.
struct InitialCalls<'a> {
    sizes: &'a Sizes<'a>,
    patterns: &'a FxHashMap<Id, SelfCallPattern>,
    found: Vec<(Span, Message)>,
}

impl Visit for InitialCalls<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        call.visit_children_with(self);
        let Callee::Expr(callee) = &call.callee else { return };
        let Expr::Ident(ident) = peel_parens(callee) else { return };
        let Some(shape) = self.patterns.get(&ident.to_id()) else { return };
        if shape.span.contains(call.span) {
            return;
        }
        let Some(depth) = call.args.get(shape.param_index).and_then(|arg| self.sizes.number(&arg.expr)) else { return };
        let rounds = depth / shape.max_step;
        if shape.doubles && rounds >= 26.0 {
            return self.found.push((call.span, message!("doubles a value {count} times", count = rounds)));
        }
        if shape.is_nested {
            if depth >= 4.0 {
                self.found.push((call.span, message!("calls itself more often than any budget allows")));
            }
            return;
        }
        // Calls with n - 1 and n - 2 grow like the Fibonacci numbers.
        let growth = if shape.calls >= 2.0 && shape.min_step < shape.max_step {
            if shape.max_step <= 2.0 * shape.min_step {
                1.618_f64.powf(depth / shape.min_step)
            } else {
                shape.calls.powf(rounds)
            }
        } else {
            shape.calls.powf(rounds)
        };
        if shape.calls >= 2.0 && growth >= EXCESSIVE_CALLS {
            self.found.push((call.span, message!("calls itself {count} times", count = format_args!("{growth:.0e}"))));
        }
    }
}
