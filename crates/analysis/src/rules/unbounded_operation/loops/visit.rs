//! What each statement does to the walk.
//!
//! Invariant: a function begins anew, whatever stands around it.

use swc_common::Spanned;
use swc_ecma_ast::{
    ArrowExpr, BlockStmt, CallExpr, Callee, Class, Constructor, Expr, Function, Stmt, VarDeclarator, YieldExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::super::uses::own_key;
use super::{Owner, Walk, What, key_name};
use crate::names::bare;

impl Visit for Walk<'_> {
    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::Return(node) => {
                node.arg.visit_with(self);
                let target = self.find(|frame| frame.what == What::Function);
                self.jump(target, false);
                self.reach = false;
            }
            Stmt::Throw(node) => {
                node.arg.visit_with(self);
                self.throws();
                self.reach = false;
            }
            Stmt::Break(node) => {
                let target = match &node.label {
                    None => self.find(|frame| matches!(frame.what, What::Loop | What::Switch)),
                    Some(label) => self.find(|frame| frame.labels.contains(&label.sym)),
                };
                self.jump(target, true);
                self.reach = false;
            }
            Stmt::Continue(node) => {
                let target = match &node.label {
                    None => self.find(|frame| frame.what == What::Loop),
                    Some(label) => self.find(|frame| frame.labels.contains(&label.sym)),
                };
                self.jump(target, false);
                self.reach = false;
            }
            Stmt::If(node) => {
                node.test.visit_with(self);
                let truth = self.judge.truth(&node.test);
                let reach = self.reach;
                self.reach = reach && truth != Some(false);
                node.cons.visit_with(self);
                let falls = self.reach;
                self.reach = reach && truth != Some(true);
                node.alt.visit_with(self);
                self.reach |= falls;
            }
            Stmt::While(node) => {
                self.looping(node.span, node.span.lo.0, Some(&node.test), &node.body, |walk| {
                    node.test.visit_with(walk);
                });
            }
            Stmt::DoWhile(node) => {
                let start = node.body.span().lo.0;
                self.looping(node.span, start, Some(&node.test), &node.body, |walk| node.test.visit_with(walk));
            }
            Stmt::For(node) => {
                let labels = std::mem::take(&mut self.labels);
                node.init.visit_with(self);
                self.labels = labels;
                let start = node.init.as_ref().map_or(node.span.lo.0, |init| init.span().hi.0);
                self.looping(node.span, start, node.test.as_deref(), &node.body, |walk| {
                    node.test.visit_with(walk);
                    node.update.visit_with(walk);
                });
            }
            Stmt::ForOf(node) => self.through(node),
            Stmt::ForIn(node) => {
                let reach = self.reach;
                self.frame(What::Loop, |walk| node.body.visit_with(walk));
                self.reach = reach;
            }
            Stmt::Switch(node) => self.switch(node),
            Stmt::Try(node) => self.tries(node),
            Stmt::Labeled(node) => self.labelled(node),
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
            && let Some(Owner::Name(own)) = &self.owner
            && let Some(Expr::Call(call)) = node.arg.as_deref().map(bare)
            && let Callee::Expr(callee) = &call.callee
            && let Expr::Ident(callee) = bare(callee)
            && self.frames.last().is_some_and(|frame| frame.what == What::Function && frame.outward == usize::MAX)
        {
            self.flow.delegates.push((own.clone(), callee.to_id()));
        }
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        call.visit_children_with(self);
        let Callee::Expr(callee) = &call.callee else { return };
        let ends = match bare(callee) {
            Expr::Ident(name) => self.judge.uses.throwing.contains(&name.sym),
            Expr::Member(member) => own_key(&member.prop).is_some_and(|name| {
                self.judge.uses.throwing.contains(&name) || matches!(&*name, "throwIfAborted" | "exit" | "assert")
            }),
            _ => false,
        };
        if ends {
            self.throws();
        }
    }

    fn visit_if_stmt(&mut self, node: &swc_ecma_ast::IfStmt) {
        node.visit_children_with(self);
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let owner = decl.function.is_generator.then(|| Owner::Name(decl.ident.to_id()));
        self.function(decl.function.span, owner, |walk| decl.function.visit_children_with(walk));
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let (Some(name), Some(Expr::Fn(function))) =
            (declarator.name.as_ident(), declarator.init.as_deref().map(bare))
        {
            let owner = function.function.is_generator.then(|| Owner::Name(name.id.to_id()));
            self.function(function.function.span, owner, |walk| function.function.visit_children_with(walk));
        } else {
            declarator.visit_children_with(self);
        }
    }

    fn visit_method_prop(&mut self, method: &swc_ecma_ast::MethodProp) {
        let owner = key_name(&method.key).filter(|_| method.function.is_generator).map(Owner::Method);
        self.function(method.function.span, owner, |walk| method.function.visit_children_with(walk));
    }

    fn visit_class_method(&mut self, method: &swc_ecma_ast::ClassMethod) {
        let owner = key_name(&method.key).filter(|_| method.function.is_generator).map(Owner::Method);
        self.function(method.function.span, owner, |walk| method.function.visit_children_with(walk));
    }

    fn visit_class(&mut self, class: &Class) {
        let reach = self.reach;
        class.visit_children_with(self);
        self.reach = reach;
    }

    fn visit_function(&mut self, function: &Function) {
        self.function(function.span, None, |walk| function.visit_children_with(walk));
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        self.function(arrow.span, None, |walk| arrow.visit_children_with(walk));
    }

    fn visit_constructor(&mut self, node: &Constructor) {
        self.function(node.span, None, |walk| node.visit_children_with(walk));
    }

    fn visit_ts_type(&mut self, _: &swc_ecma_ast::TsType) {}
}
