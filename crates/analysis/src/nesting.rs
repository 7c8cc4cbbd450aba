//! How deep a tree is.
//!
//! Invariant: only what recurses counts, whatever its shape: brackets, arrows, `else if` chains, long sums, types.

use swc_ecma_ast::{Expr, Pat, Program, Stmt, TsType};
use swc_ecma_visit::{Visit, VisitWith};

/// The most expressions, statements, patterns and types inside each other.
pub(crate) fn depth(program: &Program) -> usize {
    let mut depth = Depth::default();
    program.visit_with(&mut depth);
    depth.most
}

#[derive(Default)]
struct Depth {
    now: usize,
    most: usize,
}

impl Depth {
    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.now += 1;
        self.most = self.most.max(self.now);
        visit(self);
        self.now -= 1;
    }
}

impl Visit for Depth {
    fn visit_expr(&mut self, node: &Expr) {
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
