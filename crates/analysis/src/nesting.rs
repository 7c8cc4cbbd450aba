//! How deep a tree is.
//!
//! Invariant: only what recurses counts, whatever its shape: brackets, arrows, `else if` chains, long sums, types.

use swc_ecma_ast::{ClassExpr, Decorator, Expr, Pat, Program, Stmt, TsType};
use swc_ecma_visit::{Visit, VisitWith};

/// The most work that names are resolved with, in expressions.
const WORK: u64 = 500_000;

/// The most expressions, statements, patterns and types inside each other; nothing where resolving names takes too long.
pub(crate) fn depth(program: &Program) -> Option<usize> {
    let mut depth = Depth::default();
    program.visit_with(&mut depth);
    // The resolver looks twice at what the `extends` of a class expression, and a decorator, are made of; within each
    // other, that is twice for each.
    (depth.work <= WORK).then_some(depth.most)
}

#[derive(Default)]
struct Depth {
    now: usize,
    most: usize,
    doubled: u32,
    work: u64,
}

impl Depth {
    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.now += 1;
        self.most = self.most.max(self.now);
        visit(self);
        self.now -= 1;
    }
}

impl Depth {
    fn twice(&mut self, visit: impl FnOnce(&mut Self)) {
        self.doubled += 1;
        visit(self);
        self.doubled -= 1;
    }
}

impl Visit for Depth {
    fn visit_class_expr(&mut self, node: &ClassExpr) {
        self.twice(|depth| node.class.super_class.visit_with(depth));
        node.class.decorators.visit_with(self);
        node.class.body.visit_with(self);
    }

    fn visit_decorator(&mut self, node: &Decorator) {
        self.twice(|depth| node.visit_children_with(depth));
    }

    fn visit_expr(&mut self, node: &Expr) {
        self.work = self.work.saturating_add(1 << self.doubled.min(32));
        self.inside(|depth| node.visit_children_with(depth));
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        self.inside(|depth| node.visit_children_with(depth));
    }

    fn visit_pat(&mut self, node: &Pat) {
        self.inside(|depth| node.visit_children_with(depth));
    }

    fn visit_ts_type(&mut self, node: &TsType) {
        self.inside(|depth| node.visit_children_with(depth));
    }
}
