//! The effect of each statement on reachability.
//!
//! Invariant: a function starts reachable, whatever surrounds it.

use swc_common::Spanned;
use swc_ecma_ast::{
    ArrowExpr, BlockStmt, CallExpr, Callee, Class, Constructor, Expr, Function, Stmt, VarDeclarator, YieldExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::super::mutation::static_key;
use super::{FrameKind, GeneratorName, LoopVisitor, key_name};
use crate::bindings::peel_parens;

impl Visit for LoopVisitor<'_> {
    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::Return(node) => {
                node.arg.visit_with(self);
                let target = self.find_target(|frame| frame.kind == FrameKind::Function);
                self.jump(target, false);
                self.is_reachable = false;
            }
            Stmt::Throw(node) => {
                node.arg.visit_with(self);
                self.note_throw();
                self.is_reachable = false;
            }
            Stmt::Break(node) => {
                let target = match &node.label {
                    None => self.find_target(|frame| matches!(frame.kind, FrameKind::Loop | FrameKind::Switch)),
                    Some(label) => self.find_target(|frame| frame.labels.contains(&label.sym)),
                };
                self.jump(target, true);
                self.is_reachable = false;
            }
            Stmt::Continue(node) => {
                let target = match &node.label {
                    None => self.find_target(|frame| frame.kind == FrameKind::Loop),
                    Some(label) => self.find_target(|frame| frame.labels.contains(&label.sym)),
                };
                self.jump(target, false);
                self.is_reachable = false;
            }
            Stmt::If(node) => {
                node.test.visit_with(self);
                let truth = self.conditions.truth(&node.test);
                let reach = self.is_reachable;
                self.is_reachable = reach && truth != Some(false);
                node.cons.visit_with(self);
                let falls = self.is_reachable;
                self.is_reachable = reach && truth != Some(true);
                node.alt.visit_with(self);
                self.is_reachable |= falls;
            }
            Stmt::While(node) => {
                self.visit_loop(node.span, node.span.lo.0, Some(&node.test), &node.body, |walk| {
                    node.test.visit_with(walk);
                });
            }
            Stmt::DoWhile(node) => {
                let start = node.body.span().lo.0;
                self.visit_loop(node.span, start, Some(&node.test), &node.body, |walk| node.test.visit_with(walk));
            }
            Stmt::For(node) => {
                let labels = std::mem::take(&mut self.labels);
                node.init.visit_with(self);
                self.labels = labels;
                let start = node.init.as_ref().map_or(node.span.lo.0, |init| init.span().hi.0);
                self.visit_loop(node.span, start, node.test.as_deref(), &node.body, |walk| {
                    node.test.visit_with(walk);
                    node.update.visit_with(walk);
                });
            }
            Stmt::ForOf(node) => self.visit_for_of(node),
            Stmt::ForIn(node) => {
                let reach = self.is_reachable;
                self.in_frame(FrameKind::Loop, |walk| node.body.visit_with(walk));
                self.is_reachable = reach;
            }
            Stmt::Switch(node) => self.visit_switch(node),
            Stmt::Try(node) => self.visit_try(node),
            Stmt::Labeled(node) => self.visit_labeled(node),
            _ => node.visit_children_with(self),
        }
    }

    fn visit_block_stmt(&mut self, block: &BlockStmt) {
        block.stmts.visit_with(self);
    }

    fn visit_yield_expr(&mut self, node: &YieldExpr) {
        node.arg.visit_with(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.yields = true;
        }
        if node.delegate
            && let Some(GeneratorName::Name(own)) = &self.generator
            && let Some(Expr::Call(call)) = node.arg.as_deref().map(peel_parens)
            && let Callee::Expr(callee) = &call.callee
            && let Expr::Ident(callee) = peel_parens(callee)
            && self
                .frames
                .last()
                .is_some_and(|frame| frame.kind == FrameKind::Function && frame.outermost_exit == usize::MAX)
        {
            self.report.delegates.push((own.clone(), callee.to_id()));
        }
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        call.visit_children_with(self);
        let Callee::Expr(callee) = &call.callee else { return };
        let ends = match peel_parens(callee) {
            Expr::Ident(name) => self.conditions.mutations.throwing_functions.contains(&name.sym),
            Expr::Member(member) => static_key(&member.prop).is_some_and(|name| {
                self.conditions.mutations.throwing_functions.contains(&name)
                    || matches!(&*name, "throwIfAborted" | "exit" | "assert")
            }),
            _ => false,
        };
        if ends {
            self.note_throw();
        }
    }

    fn visit_if_stmt(&mut self, node: &swc_ecma_ast::IfStmt) {
        node.visit_children_with(self);
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let owner = decl.function.is_generator.then(|| GeneratorName::Name(decl.ident.to_id()));
        self.in_function(decl.function.span, owner, |walk| decl.function.visit_children_with(walk));
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let (Some(name), Some(Expr::Fn(function))) =
            (declarator.name.as_ident(), declarator.init.as_deref().map(peel_parens))
        {
            let owner = function.function.is_generator.then(|| GeneratorName::Name(name.id.to_id()));
            self.in_function(function.function.span, owner, |walk| function.function.visit_children_with(walk));
        } else {
            declarator.visit_children_with(self);
        }
    }

    fn visit_method_prop(&mut self, method: &swc_ecma_ast::MethodProp) {
        let owner = key_name(&method.key).filter(|_| method.function.is_generator).map(GeneratorName::Method);
        self.in_function(method.function.span, owner, |walk| method.function.visit_children_with(walk));
    }

    fn visit_class_method(&mut self, method: &swc_ecma_ast::ClassMethod) {
        let owner = key_name(&method.key).filter(|_| method.function.is_generator).map(GeneratorName::Method);
        self.in_function(method.function.span, owner, |walk| method.function.visit_children_with(walk));
    }

    fn visit_class(&mut self, class: &Class) {
        let reach = self.is_reachable;
        class.visit_children_with(self);
        self.is_reachable = reach;
    }

    fn visit_function(&mut self, function: &Function) {
        self.in_function(function.span, None, |walk| function.visit_children_with(walk));
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        self.in_function(arrow.span, None, |walk| arrow.visit_children_with(walk));
    }

    fn visit_constructor(&mut self, node: &Constructor) {
        self.in_function(node.span, None, |walk| node.visit_children_with(walk));
    }

    fn visit_ts_type(&mut self, _: &swc_ecma_ast::TsType) {}
}
