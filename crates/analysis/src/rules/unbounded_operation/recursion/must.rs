//! What a function certainly calls.
//!
//! Invariant: of two ways, only what is called on both is certain; a way out takes what was called before it.

use swc_atoms::Atom;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, BinExpr, BinaryOp, CallExpr, Callee, Class, CondExpr, Expr, Function, Id, MemberExpr,
    NewExpr, ObjectLit, Pat, Prop, PropOrSpread, Stmt, Tpl, UnaryExpr, UnaryOp,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::super::uses::own_key;
use super::super::condition::Judge;
use super::{CALLS, Home, Key};
use crate::names::bare;

/// What is certainly called.
pub(super) struct Must<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) home: &'a Home,
    /// The method that is looked at.
    pub(super) method: Option<&'a str>,
    /// The names of a proxy, and of the key that is asked for.
    pub(super) proxy: Option<(Vec<Id>, Option<Id>)>,
    /// What was called on every path to here; `None` where no path leads.
    pub(super) state: Option<Vec<Key>>,
    /// What was called on every path to a way out.
    pub(super) exits: Option<Vec<Key>>,
}

impl Must<'_> {
    pub(super) fn run(&mut self, stmts: &[Stmt]) -> Vec<Key> {
        for statement in stmts {
            self.stmt(statement);
        }
        self.exit();
        self.exits.take().unwrap_or_default()
    }

    pub(super) fn default(&mut self, pat: &Pat) {
        if let Pat::Assign(assign) = pat
            && let Expr::Call(call) = bare(&assign.right)
            && call.args.is_empty()
        {
            assign.right.visit_with(self);
        }
    }

    pub(super) fn arrow(&mut self, arrow: &ArrowExpr) -> Vec<Key> {
        match &*arrow.body {
            ArrowFunctionBody::FunctionBody(body) => self.run(&body.stmts),
            ArrowFunctionBody::Expr(expr) => {
                expr.visit_with(self);
                self.exit();
                self.exits.take().unwrap_or_default()
            }
        }
    }

    fn call(&mut self, key: Key) {
        if let Some(state) = &mut self.state
            && state.len() < CALLS
            && !state.contains(&key)
        {
            state.push(key);
        }
    }

    /// A way out of the function: only what was called on all of them is certain.
    fn exit(&mut self) {
        let state = self.state.take();
        self.exits = meet(self.exits.take(), state);
    }

    fn may_exit(&mut self) {
        let state = self.state.clone();
        self.exits = meet(self.exits.take(), state);
    }

    fn stmt(&mut self, statement: &Stmt) {
        if self.state.is_none() {
            return;
        }
        match statement {
            Stmt::Return(node) => {
                node.arg.visit_with(self);
                self.exit();
            }
            Stmt::Throw(node) => {
                node.arg.visit_with(self);
                self.exit();
            }
            // Where these lead to is not followed: what they leave may be anything that was called so far.
            Stmt::Break(_) | Stmt::Continue(_) => self.exit(),
            Stmt::Block(block) => block.stmts.iter().for_each(|statement| self.stmt(statement)),
            Stmt::If(node) => {
                node.test.visit_with(self);
                let truth = self.judge.truth(&node.test);
                let before = self.state.clone();
                if truth == Some(false) {
                    self.state = None;
                }
                self.stmt(&node.cons);
                let after = std::mem::replace(&mut self.state, before.filter(|_| truth != Some(true)));
                if let Some(alt) = &node.alt {
                    self.stmt(alt);
                }
                self.state = meet(self.state.take(), after);
            }
            Stmt::While(node) => {
                node.test.visit_with(self);
                self.aside(|must| must.stmt(&node.body));
            }
            Stmt::DoWhile(node) => self.aside(|must| must.stmt(&node.body)),
            Stmt::For(node) => {
                node.init.visit_with(self);
                node.test.visit_with(self);
                self.aside(|must| must.stmt(&node.body));
            }
            Stmt::ForOf(node) => {
                node.right.visit_with(self);
                self.aside(|must| must.stmt(&node.body));
            }
            Stmt::ForIn(node) => self.aside(|must| must.stmt(&node.body)),
            Stmt::Labeled(node) => self.aside(|must| must.stmt(&node.body)),
            Stmt::Switch(node) => {
                node.discriminant.visit_with(self);
                let before = self.state.clone();
                let (mut after, mut covered) = (None, false);
                for case in &node.cases {
                    covered |= case.test.is_none();
                    self.state.clone_from(&before);
                    let breaks = case.cons.iter().any(|one| matches!(one, Stmt::Break(_)));
                    case.cons.iter().filter(|one| !matches!(one, Stmt::Break(_))).for_each(|one| self.stmt(one));
                    if breaks || self.state.is_some() {
                        after = meet(after, Some(self.state.take().unwrap_or_default()));
                    }
                }
                self.state = if covered { after } else { meet(after, before) };
            }
            Stmt::Try(node) => {
                let before = self.state.clone();
                node.block.stmts.iter().for_each(|statement| self.stmt(statement));
                if let Some(handler) = &node.handler {
                    let after = std::mem::replace(&mut self.state, before);
                    handler.body.stmts.iter().for_each(|statement| self.stmt(statement));
                    self.state = meet(self.state.take(), after);
                }
                if let Some(last) = &node.finalizer {
                    last.stmts.iter().for_each(|statement| self.stmt(statement));
                }
            }
            Stmt::Decl(swc_ecma_ast::Decl::Var(node)) => node.visit_with(self),
            Stmt::Expr(node) => node.expr.visit_with(self),
            _ => {}
        }
    }

    /// What may be run, and may not.
    fn aside(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        visit(self);
        self.state = before;
    }

    fn is_self(&self, object: &Expr) -> bool {
        match bare(object) {
            Expr::This(_) => self.home.at != 0,
            Expr::Ident(ident) => self.home.name.as_ref().is_some_and(|name| *name == ident.to_id()),
            _ => false,
        }
    }

    /// `this` is made a text or a number: by which method of the class, if it is the one that is looked at.
    fn converted(&mut self, expr: &Expr, by: &[&str]) {
        if matches!(bare(expr), Expr::This(_))
            && let Some(method) = self.method.filter(|method| by.contains(method))
        {
            self.call(Key::Method(self.home.at, method.into()));
        }
    }

    fn later(&mut self, args: &[swc_ecma_ast::ExprOrSpread]) {
        let Some(first) = args.first() else { return };
        match bare(&first.expr) {
            Expr::Ident(ident) => self.call(Key::Name(ident.to_id())),
            Expr::Arrow(arrow) => {
                let mut inner = Must {
                    judge: self.judge,
                    home: self.home,
                    method: None,
                    proxy: None,
                    state: Some(Vec::new()),
                    exits: None,
                };
                for key in inner.arrow(arrow) {
                    self.call(key);
                }
            }
            _ => {}
        }
    }

    fn method(&mut self, member: &MemberExpr, call: &CallExpr) {
        let Some(name) = own_key(&member.prop) else { return };
        if self.is_self(&member.obj) {
            return self.call(Key::Method(self.home.at, name));
        }
        if let Expr::Ident(object) = bare(&member.obj) {
            if self.judge.names.is_free(object) {
                let first = call.args.first().map(|arg| &*arg.expr);
                if let (("JSON", "stringify"), Some(first)) = ((&*object.sym, name.as_str()), first) {
                    self.converted(first, &["toJSON"]);
                }
                if (&*object.sym, name.as_str()) == ("process", "nextTick") {
                    self.later(&call.args);
                }
            } else if matches!(name.as_str(), "call" | "apply") {
                self.call(Key::Name(object.to_id()));
            }
        }
        if matches!(name.as_str(), "then" | "finally") {
            self.later(&call.args);
        }
    }
}

/// What is called on both ways.
fn meet(one: Option<Vec<Key>>, other: Option<Vec<Key>>) -> Option<Vec<Key>> {
    match (one, other) {
        (None, other) => other,
        (one, None) => one,
        (Some(mut one), Some(other)) => {
            one.retain(|key| other.contains(key));
            Some(one)
        }
    }
}

impl Visit for Must<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        let Callee::Expr(callee) = &call.callee else { return call.args.visit_with(self) };
        match bare(callee) {
            Expr::Ident(ident) => {
                call.args.visit_with(self);
                if self.judge.names.is_free(ident) {
                    match &*ident.sym {
                        "setTimeout" if !self.judge.uses.clears => self.later(&call.args),
                        "queueMicrotask" | "setImmediate" | "requestAnimationFrame" => self.later(&call.args),
                        "String" => {
                            call.args.iter().for_each(|arg| self.converted(&arg.expr, &["toString", "@@toPrimitive"]));
                        }
                        "Number" => {
                            call.args.iter().for_each(|arg| self.converted(&arg.expr, &["valueOf", "@@toPrimitive"]));
                        }
                        _ => {}
                    }
                } else {
                    if self.judge.uses.throwing.contains(&ident.sym) {
                        self.may_exit();
                    }
                    self.call(Key::Name(ident.to_id()));
                }
            }
            Expr::Member(member) => {
                member.obj.visit_with(self);
                call.args.visit_with(self);
                if own_key(&member.prop).is_some_and(|name| self.judge.uses.throwing.contains(&name)) {
                    self.may_exit();
                }
                self.method(member, call);
            }
            Expr::Arrow(arrow) if !arrow.is_generator => {
                call.args.visit_with(self);
                let mut inner = Must { proxy: None, state: Some(Vec::new()), exits: None, ..*self };
                for key in inner.arrow(arrow) {
                    self.call(key);
                }
            }
            _ => call.visit_children_with(self),
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        new.visit_children_with(self);
        if let Expr::Ident(ident) = bare(&new.callee) {
            self.call(Key::New(ident.to_id()));
        }
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        if let (Some((own, Some(key))), swc_ecma_ast::MemberProp::Computed(asked), Expr::Ident(object)) =
            (&self.proxy, &member.prop, bare(&member.obj))
            && own.contains(&object.to_id())
            && matches!(bare(&asked.expr), Expr::Ident(ident) if ident.to_id() == *key)
        {
            return self.call(Key::Get(0, Atom::default()));
        }
        if self.is_self(&member.obj)
            && let Some(name) = own_key(&member.prop)
        {
            return self.call(Key::Get(self.home.at, name));
        }
        member.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &swc_ecma_ast::AssignExpr) {
        assign.right.visit_with(self);
        if let swc_ecma_ast::AssignTarget::Simple(swc_ecma_ast::SimpleAssignTarget::Member(member)) = &assign.left
            && self.is_self(&member.obj)
            && let Some(name) = own_key(&member.prop)
        {
            self.call(Key::Set(self.home.at, name));
        }
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        binary.left.visit_with(self);
        match binary.op {
            BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing => {}
            op => {
                binary.right.visit_with(self);
                for side in [&binary.left, &binary.right] {
                    if op == BinaryOp::Add {
                        let text = [&binary.left, &binary.right]
                            .iter()
                            .any(|side| matches!(bare(side), Expr::Lit(swc_ecma_ast::Lit::Str(_)) | Expr::Tpl(_)));
                        self.converted(
                            side,
                            if text {
                                &["toString", "valueOf", "@@toPrimitive"]
                            } else {
                                &["valueOf", "@@toPrimitive"]
                            },
                        );
                    } else if matches!(op, BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) {
                        self.converted(side, &["valueOf", "@@toPrimitive"]);
                    }
                }
            }
        }
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        unary.arg.visit_with(self);
        if matches!(unary.op, UnaryOp::Plus | UnaryOp::Minus) {
            self.converted(&unary.arg, &["valueOf", "@@toPrimitive"]);
        }
    }

    fn visit_tpl(&mut self, template: &Tpl) {
        for expr in &template.exprs {
            expr.visit_with(self);
            self.converted(expr, &["toString", "@@toPrimitive"]);
        }
    }

    fn visit_cond_expr(&mut self, choice: &CondExpr) {
        choice.test.visit_with(self);
        let before = self.state.clone();
        choice.cons.visit_with(self);
        let after = std::mem::replace(&mut self.state, before);
        choice.alt.visit_with(self);
        self.state = meet(self.state.take(), after);
    }

    fn visit_spread_element(&mut self, node: &swc_ecma_ast::SpreadElement) {
        node.expr.visit_with(self);
    }

    fn visit_opt_chain_expr(&mut self, _: &swc_ecma_ast::OptChainExpr) {}
    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
    fn visit_class(&mut self, _: &Class) {}
    fn visit_object_lit(&mut self, object: &ObjectLit) {
        for prop in &object.props {
            match prop {
                PropOrSpread::Spread(spread) => spread.expr.visit_with(self),
                PropOrSpread::Prop(prop) => {
                    if let Prop::KeyValue(pair) = &**prop {
                        pair.value.visit_with(self);
                    }
                }
            }
        }
    }
}
