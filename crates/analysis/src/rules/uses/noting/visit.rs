//! What is noted at each node of the tree.
//!
//! Invariant: a name that stands anywhere else than in a place known here counts as given away.

use swc_atoms::Atom;
use swc_common::Spanned;
use swc_ecma_ast::{
    ArrowExpr, AssignExpr, AssignTarget, AwaitExpr, BinExpr, BindingIdent, BlockStmt, CallExpr, Callee, CondExpr,
    Constructor, ContinueStmt, Expr, ExprOrSpread, ForOfStmt, ForStmt, Function, GetterProp, Ident, IfStmt,
    LabeledStmt, MemberExpr, MemberProp, NewExpr, Pat, Prop, SimpleAssignTarget, Stmt, SwitchCase, ThrowStmt,
    UnaryExpr, UnaryOp, UpdateExpr, UpdateOp, VarDeclarator, YieldExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::{Kind, kinds, own_key, root};
use super::Noting;
use crate::names::bare;

impl Visit for Noting<'_> {
    fn visit_ident(&mut self, ident: &Ident) {
        if self.names.is_free(ident) {
            self.uses.clears |= matches!(&*ident.sym, "clearInterval" | "clearTimeout" | "clearImmediate");
            return;
        }
        self.content(ident.to_id(), ident.span, Kind::Plain);
    }

    fn visit_binding_ident(&mut self, ident: &BindingIdent) {
        self.uses.declared.entry(ident.id.to_id()).or_insert((self.function, false));
        self.write(ident.id.to_id(), ident.id.span, Kind::Other);
    }

    fn visit_assign_pat_prop(&mut self, prop: &swc_ecma_ast::AssignPatProp) {
        self.visit_binding_ident(&prop.key);
        prop.value.visit_with(self);
    }

    fn visit_labeled_stmt(&mut self, labeled: &LabeledStmt) {
        labeled.body.visit_with(self);
    }

    fn visit_break_stmt(&mut self, _: &swc_ecma_ast::BreakStmt) {}

    fn visit_continue_stmt(&mut self, _: &ContinueStmt) {
        self.skips = true;
    }

    fn visit_throw_stmt(&mut self, node: &ThrowStmt) {
        if let Some(name) = &self.called {
            self.uses.throwing.insert(name.clone());
        }
        node.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Pat::Ident(ident) = &declarator.name {
            let init = declarator.init.as_deref().map(bare);
            let fresh = matches!(init, Some(Expr::Array(_) | Expr::Object(_) | Expr::New(_) | Expr::Lit(_)));
            self.uses.declared.insert(ident.id.to_id(), (self.function, fresh));
            let kind = match init {
                Some(Expr::Lit(swc_ecma_ast::Lit::Num(number))) => Kind::Begun(number.value),
                Some(Expr::Lit(swc_ecma_ast::Lit::BigInt(_))) => Kind::Large,
                _ => Kind::Declared,
            };
            self.write(ident.id.to_id(), ident.id.span, kind);
            let called = self.called.clone();
            if let Some(Expr::Fn(_) | Expr::Arrow(_)) = init {
                self.called = Some(ident.id.sym.clone());
                self.tool = &*ident.id.sym == "execute";
            }
            declarator.init.visit_with(self);
            self.called = called;
            self.tool = false;
        } else {
            declarator.visit_children_with(self);
        }
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(target)) => {
                let kind = kinds::of(assign, &target.id.to_id(), self.names);
                self.write(target.id.to_id(), assign.span, kind);
                // `i = i++` leaves it as it was.
                if kind != Kind::Step(0.0) {
                    assign.right.visit_with(self);
                }
            }
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                self.member(member);
                assign.right.visit_with(self);
            }
            _ => assign.visit_children_with(self),
        }
    }

    fn visit_simple_assign_target(&mut self, target: &SimpleAssignTarget) {
        if let SimpleAssignTarget::Member(member) = target {
            self.member(member);
        } else {
            target.visit_children_with(self);
        }
    }

    fn visit_pat(&mut self, pat: &Pat) {
        match pat {
            Pat::Expr(expr) => match bare(expr) {
                Expr::Member(member) => self.member(member),
                other => other.visit_with(self),
            },
            _ => pat.visit_children_with(self),
        }
    }

    fn visit_update_expr(&mut self, update: &UpdateExpr) {
        match bare(&update.arg) {
            Expr::Ident(ident) => {
                let step = if update.op == UpdateOp::PlusPlus { 1.0 } else { -1.0 };
                self.write(ident.to_id(), update.span, Kind::Step(step));
            }
            Expr::Member(member) => self.member(member),
            other => other.visit_with(self),
        }
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        match (unary.op, bare(&unary.arg)) {
            (UnaryOp::Delete, Expr::Member(member)) => self.member(member),
            _ => self.operand(&unary.arg),
        }
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        use swc_ecma_ast::BinaryOp::{LogicalAnd, LogicalOr, NullishCoalescing};
        if matches!(binary.op, LogicalAnd | LogicalOr | NullishCoalescing) {
            binary.left.visit_with(self);
            self.maybe(|noting| binary.right.visit_with(noting));
        } else {
            self.operand(&binary.left);
            self.operand(&binary.right);
        }
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        self.operand(&member.obj);
        if let MemberProp::Computed(key) = &member.prop {
            self.operand(&key.expr);
        }
    }

    fn visit_expr_or_spread(&mut self, item: &ExprOrSpread) {
        if item.spread.is_some() { self.operand(&item.expr) } else { item.expr.visit_with(self) }
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            match bare(callee) {
                Expr::Member(member) => {
                    let name = own_key(&member.prop).unwrap_or_default();
                    let kind = kinds::method(&name, call.args.len());
                    if kind != Kind::Read
                        && let Some(id) = root(&member.obj)
                    {
                        self.content(id, call.span, kind);
                    }
                    self.uses.clears |= matches!(&*name, "unref" | "clearInterval" | "clearTimeout");
                }
                Expr::Ident(_) | Expr::Fn(_) | Expr::Arrow(_) => {}
                _ => self.effect(call.span),
            }
            if !kinds::is_harmless(callee, &call.args, self.names) {
                self.effect(call.span);
            }
            callee.visit_with(self);
        } else {
            self.effect(call.span);
        }
        let inspects = matches!(&call.callee, Callee::Expr(callee) if kinds::is_global(callee, self.names));
        for arg in &call.args {
            if inspects { self.operand(&arg.expr) } else { arg.visit_with(self) }
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        if !kinds::is_global(&new.callee, self.names) {
            self.effect(new.span);
        }
        new.visit_children_with(self);
    }

    fn visit_tagged_tpl(&mut self, tagged: &swc_ecma_ast::TaggedTpl) {
        self.effect(tagged.span);
        tagged.visit_children_with(self);
    }

    fn visit_await_expr(&mut self, waits: &AwaitExpr) {
        self.effect(waits.span);
        waits.visit_children_with(self);
    }

    fn visit_yield_expr(&mut self, yields: &YieldExpr) {
        self.effect(yields.span);
        yields.visit_children_with(self);
    }

    fn visit_if_stmt(&mut self, node: &IfStmt) {
        self.operand(&node.test);
        self.maybe(|noting| {
            node.cons.visit_with(noting);
            node.alt.visit_with(noting);
        });
    }

    fn visit_cond_expr(&mut self, node: &CondExpr) {
        self.operand(&node.test);
        self.maybe(|noting| {
            node.cons.visit_with(noting);
            node.alt.visit_with(noting);
        });
    }

    fn visit_switch_case(&mut self, node: &SwitchCase) {
        self.maybe(|noting| node.visit_children_with(noting));
    }

    fn visit_try_stmt(&mut self, node: &swc_ecma_ast::TryStmt) {
        self.maybe(|noting| node.visit_children_with(noting));
    }

    fn visit_opt_chain_expr(&mut self, node: &swc_ecma_ast::OptChainExpr) {
        self.effect(node.span);
        self.maybe(|noting| node.visit_children_with(noting));
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        node.init.visit_with(self);
        self.round(node.span, |noting| {
            node.test.visit_with(noting);
            node.body.visit_with(noting);
            noting.skips = false;
            node.update.visit_with(noting);
        });
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        if node.is_await {
            self.effect(node.span);
        }
        self.operand(&node.right);
        self.round(node.span, |noting| {
            node.left.visit_with(noting);
            node.body.visit_with(noting);
        });
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::While(_) | Stmt::DoWhile(_) | Stmt::ForIn(_) => {
                self.round(node.span(), |noting| node.visit_children_with(noting));
            }
            _ => node.visit_children_with(self),
        }
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let called = self.called.replace(decl.ident.sym.clone());
        self.uses.declared.insert(decl.ident.to_id(), (self.function, false));
        self.tool = &*decl.ident.sym == "execute";
        decl.function.visit_with(self);
        self.tool = false;
        self.called = called;
    }

    fn visit_fn_expr(&mut self, node: &swc_ecma_ast::FnExpr) {
        self.tool |= node.ident.as_ref().is_some_and(|name| &*name.sym == "execute");
        node.function.visit_with(self);
        self.tool = false;
    }

    fn visit_class_decl(&mut self, decl: &swc_ecma_ast::ClassDecl) {
        decl.class.visit_with(self);
    }

    fn visit_function(&mut self, function: &Function) {
        self.function(function.span, |noting| {
            function.params.iter().for_each(|param| noting.parameter(&param.pat));
            noting.tool = false;
            function.body.visit_with(noting);
        });
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        self.function(arrow.span, |noting| {
            arrow.params.iter().for_each(|pat| noting.parameter(pat));
            noting.tool = false;
            arrow.body.visit_with(noting);
        });
    }

    fn visit_constructor(&mut self, node: &Constructor) {
        let constructor = std::mem::replace(&mut self.constructor, true);
        self.function(node.span, |noting| node.visit_children_with(noting));
        self.constructor = constructor;
    }

    fn visit_class_method(&mut self, node: &swc_ecma_ast::ClassMethod) {
        let called = std::mem::take(&mut self.called);
        if let Some(name) = node.key.as_ident() {
            if node.kind == swc_ecma_ast::MethodKind::Getter {
                self.uses.getters.insert(name.sym.clone());
            }
            self.called = Some(name.sym.clone());
        }
        node.visit_children_with(self);
        self.called = called;
    }

    fn visit_private_method(&mut self, node: &swc_ecma_ast::PrivateMethod) {
        let name = Atom::from(format!("#{}", node.key.name));
        if node.kind == swc_ecma_ast::MethodKind::Getter {
            self.uses.getters.insert(name.clone());
        }
        let called = self.called.replace(name);
        node.visit_children_with(self);
        self.called = called;
    }

    fn visit_getter_prop(&mut self, node: &GetterProp) {
        if let Some(name) = node.key.as_ident() {
            self.uses.getters.insert(name.sym.clone());
        }
        node.function.visit_with(self);
    }

    fn visit_prop(&mut self, prop: &Prop) {
        let called = self.called.clone();
        if let Prop::Method(method) = prop {
            self.called = method.key.as_ident().map(|name| name.sym.clone());
        }
        prop.visit_children_with(self);
        self.called = called;
    }

    fn visit_block_stmt(&mut self, block: &BlockStmt) {
        block.stmts.visit_with(self);
    }

    fn visit_ts_type(&mut self, _: &swc_ecma_ast::TsType) {}
    fn visit_ts_type_ann(&mut self, _: &swc_ecma_ast::TsTypeAnn) {}

    fn visit_expr(&mut self, expr: &Expr) {
        // Brackets and casts around a name are nothing.
        match expr {
            Expr::Call(call) => self.visit_call_expr(call),
            _ => expr.visit_children_with(self),
        }
        debug_assert!(expr.span().lo <= expr.span().hi);
    }
}
