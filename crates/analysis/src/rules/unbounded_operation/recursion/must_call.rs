//! The calls that a function certainly makes (a must analysis).
//!
//! Invariant: of two branches, only the calls on both are certain; an exit keeps the calls before
//! it.

use swc_atoms::Atom;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, BinExpr, BinaryOp, CallExpr, Callee, Class, CondExpr, Expr, Function, Id, MemberExpr,
    NewExpr, ObjectLit, Pat, Prop, PropOrSpread, Stmt, Tpl, UnaryExpr, UnaryOp,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{CallTarget, EnclosingType, MAX_CALLS};
use crate::rules::unbounded_operation::condition::ConditionAnalyzer;
use crate::semantics::mutation::static_key;
use crate::syntax::expr::peel_parens;

/// The must analysis of one function.
pub(super) struct MustCalls<'a> {
    pub(super) conditions: &'a ConditionAnalyzer<'a>,
    pub(super) enclosing: &'a EnclosingType,
    /// The name of the method under analysis.
    pub(super) method: Option<&'a str>,
    /// The names of a proxy, and of the key parameter of the trap.
    pub(super) proxy: Option<(Vec<Id>, Option<Id>)>,
    /// The calls on every path to the current point; `None` if it is unreachable.
    pub(super) state: Option<Vec<CallTarget>>,
    /// The calls on every path to an exit.
    pub(super) exits: Option<Vec<CallTarget>>,
}

impl MustCalls<'_> {
    pub(super) fn visit_body(&mut self, stmts: &[Stmt]) -> Vec<CallTarget> {
        for statement in stmts {
            self.visit_statement(statement);
        }
        self.note_exit();
        self.exits.take().unwrap_or_default()
    }

    pub(super) fn visit_default(&mut self, pat: &Pat) {
        if let Pat::Assign(assign) = pat
            && let Expr::Call(call) = peel_parens(&assign.right)
            && call.args.is_empty()
        {
            assign.right.visit_with(self);
        }
    }

    pub(super) fn calls_of_arrow(&mut self, arrow: &ArrowExpr) -> Vec<CallTarget> {
        match &*arrow.body {
            ArrowFunctionBody::FunctionBody(body) => self.visit_body(&body.stmts),
            ArrowFunctionBody::Expr(expr) => {
                expr.visit_with(self);
                self.note_exit();
                self.exits.take().unwrap_or_default()
            }
        }
    }

    fn note_call(&mut self, key: CallTarget) {
        if let Some(state) = &mut self.state
            && state.len() < MAX_CALLS
            && !state.contains(&key)
        {
            state.push(key);
        }
    }

    /// Records an exit of the function: only the calls before all exits are certain.
    fn note_exit(&mut self) {
        let state = self.state.take();
        self.exits = meet(self.exits.take(), state);
    }

    fn note_possible_exit(&mut self) {
        let state = self.state.clone();
        self.exits = meet(self.exits.take(), state);
    }

    fn visit_statement(&mut self, statement: &Stmt) {
        if self.state.is_none() {
            return;
        }
        match statement {
            Stmt::Return(node) => {
                node.arg.visit_with(self);
                self.note_exit();
            }
            Stmt::Throw(node) => {
                node.arg.visit_with(self);
                self.note_exit();
            }
            // The target is not followed: what is left may be anything called so far.
            Stmt::Break(_) | Stmt::Continue(_) => self.note_exit(),
            Stmt::Block(block) => block.stmts.iter().for_each(|statement| self.visit_statement(statement)),
            Stmt::If(node) => {
                node.test.visit_with(self);
                let truth = self.conditions.truth(&node.test);
                let before = self.state.clone();
                if truth == Some(false) {
                    self.state = None;
                }
                self.visit_statement(&node.cons);
                let after = std::mem::replace(&mut self.state, before.filter(|_| truth != Some(true)));
                if let Some(alt) = &node.alt {
                    self.visit_statement(alt);
                }
                self.state = meet(self.state.take(), after);
            }
            Stmt::While(node) => {
                node.test.visit_with(self);
                self.conditionally(|must| must.visit_statement(&node.body));
            }
            Stmt::DoWhile(node) => self.conditionally(|must| must.visit_statement(&node.body)),
            Stmt::For(node) => {
                node.init.visit_with(self);
                node.test.visit_with(self);
                self.conditionally(|must| must.visit_statement(&node.body));
            }
            Stmt::ForOf(node) => {
                node.right.visit_with(self);
                self.conditionally(|must| must.visit_statement(&node.body));
            }
            Stmt::ForIn(node) => self.conditionally(|must| must.visit_statement(&node.body)),
            Stmt::Labeled(node) => self.conditionally(|must| must.visit_statement(&node.body)),
            Stmt::Switch(node) => {
                node.discriminant.visit_with(self);
                let before = self.state.clone();
                let (mut after, mut covered) = (None, false);
                for case in &node.cases {
                    covered |= case.test.is_none();
                    self.state.clone_from(&before);
                    let breaks = case.cons.iter().any(|one| matches!(one, Stmt::Break(_)));
                    case.cons
                        .iter()
                        .filter(|one| !matches!(one, Stmt::Break(_)))
                        .for_each(|one| self.visit_statement(one));
                    if breaks || self.state.is_some() {
                        after = meet(after, Some(self.state.take().unwrap_or_default()));
                    }
                }
                self.state = if covered { after } else { meet(after, before) };
            }
            Stmt::Try(node) => {
                let before = self.state.clone();
                node.block.stmts.iter().for_each(|statement| self.visit_statement(statement));
                if let Some(handler) = &node.handler {
                    let after = std::mem::replace(&mut self.state, before);
                    handler.body.stmts.iter().for_each(|statement| self.visit_statement(statement));
                    self.state = meet(self.state.take(), after);
                }
                if let Some(last) = &node.finalizer {
                    last.stmts.iter().for_each(|statement| self.visit_statement(statement));
                }
            }
            Stmt::Decl(swc_ecma_ast::Decl::Var(node)) => node.visit_with(self),
            Stmt::Expr(node) => node.expr.visit_with(self),
            _ => {}
        }
    }

    /// Visits code that may or may not run.
    fn conditionally(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        visit(self);
        self.state = before;
    }

    fn is_self(&self, object: &Expr) -> bool {
        match peel_parens(object) {
            Expr::This(_) => self.enclosing.start != 0,
            Expr::Ident(ident) => self.enclosing.name.as_ref().is_some_and(|name| *name == ident.to_id()),
            _ => false,
        }
    }

    /// Records the conversion of `this` to a text or a number, if it calls the method under
    /// analysis.
    fn note_conversion(&mut self, expr: &Expr, by: &[&str]) {
        if matches!(peel_parens(expr), Expr::This(_))
            && let Some(method) = self.method.filter(|method| by.contains(method))
        {
            self.note_call(CallTarget::Method(self.enclosing.start, method.into()));
        }
    }

    fn note_callback(&mut self, args: &[swc_ecma_ast::ExprOrSpread]) {
        let Some(first) = args.first() else { return };
        match peel_parens(&first.expr) {
            Expr::Ident(ident) => self.note_call(CallTarget::Name(ident.to_id())),
            Expr::Arrow(arrow) => {
                let mut inner = MustCalls {
                    conditions: self.conditions,
                    enclosing: self.enclosing,
                    method: None,
                    proxy: None,
                    state: Some(Vec::new()),
                    exits: None,
                };
                for key in inner.calls_of_arrow(arrow) {
                    self.note_call(key);
                }
            }
            _ => {}
        }
    }

    fn note_method_call(&mut self, member: &MemberExpr, call: &CallExpr) {
        let Some(name) = static_key(&member.prop) else { return };
        if self.is_self(&member.obj) {
            return self.note_call(CallTarget::Method(self.enclosing.start, name));
        }
        if let Expr::Ident(object) = peel_parens(&member.obj) {
            if self.conditions.names.is_free(object) {
                let first = call.args.first().map(|arg| &*arg.expr);
                if let (("JSON", "stringify"), Some(first)) = ((&*object.sym, name.as_str()), first) {
                    self.note_conversion(first, &["toJSON"]);
                }
                if (&*object.sym, name.as_str()) == ("process", "nextTick") {
                    self.note_callback(&call.args);
                }
            } else if matches!(name.as_str(), "call" | "apply") {
                self.note_call(CallTarget::Name(object.to_id()));
            }
        }
        if matches!(name.as_str(), "then" | "finally") {
            self.note_callback(&call.args);
        }
    }
}

/// Returns the intersection of two sets of calls; `None` stands for an unreachable branch.
fn meet(one: Option<Vec<CallTarget>>, other: Option<Vec<CallTarget>>) -> Option<Vec<CallTarget>> {
    match (one, other) {
        (None, other) => other,
        (one, None) => one,
        (Some(mut one), Some(other)) => {
            one.retain(|key| other.contains(key));
            Some(one)
        }
    }
}

impl Visit for MustCalls<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        let Callee::Expr(callee) = &call.callee else { return call.args.visit_with(self) };
        match peel_parens(callee) {
            Expr::Ident(ident) => {
                call.args.visit_with(self);
                if self.conditions.names.is_free(ident) {
                    match &*ident.sym {
                        "setTimeout" if !self.conditions.mutations.clears_timers => self.note_callback(&call.args),
                        "queueMicrotask" | "setImmediate" | "requestAnimationFrame" => self.note_callback(&call.args),
                        "String" => {
                            call.args
                                .iter()
                                .for_each(|arg| self.note_conversion(&arg.expr, &["toString", "@@toPrimitive"]));
                        }
                        "Number" => {
                            call.args
                                .iter()
                                .for_each(|arg| self.note_conversion(&arg.expr, &["valueOf", "@@toPrimitive"]));
                        }
                        _ => {}
                    }
                } else {
                    if self.conditions.mutations.throwing_functions.contains(&ident.sym) {
                        self.note_possible_exit();
                    }
                    self.note_call(CallTarget::Name(ident.to_id()));
                }
            }
            Expr::Member(member) => {
                member.obj.visit_with(self);
                call.args.visit_with(self);
                if static_key(&member.prop)
                    .is_some_and(|name| self.conditions.mutations.throwing_functions.contains(&name))
                {
                    self.note_possible_exit();
                }
                self.note_method_call(member, call);
            }
            Expr::Arrow(arrow) if !arrow.is_generator => {
                call.args.visit_with(self);
                let mut inner = MustCalls { proxy: None, state: Some(Vec::new()), exits: None, ..*self };
                for key in inner.calls_of_arrow(arrow) {
                    self.note_call(key);
                }
            }
            _ => call.visit_children_with(self),
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        new.visit_children_with(self);
        if let Expr::Ident(ident) = peel_parens(&new.callee) {
            self.note_call(CallTarget::New(ident.to_id()));
        }
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        if let (Some((own, Some(key))), swc_ecma_ast::MemberProp::Computed(asked), Expr::Ident(object)) =
            (&self.proxy, &member.prop, peel_parens(&member.obj))
            && own.contains(&object.to_id())
            && matches!(peel_parens(&asked.expr), Expr::Ident(ident) if ident.to_id() == *key)
        {
            return self.note_call(CallTarget::Get(0, Atom::default()));
        }
        if self.is_self(&member.obj)
            && let Some(name) = static_key(&member.prop)
        {
            return self.note_call(CallTarget::Get(self.enclosing.start, name));
        }
        member.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &swc_ecma_ast::AssignExpr) {
        assign.right.visit_with(self);
        if let swc_ecma_ast::AssignTarget::Simple(swc_ecma_ast::SimpleAssignTarget::Member(member)) = &assign.left
            && self.is_self(&member.obj)
            && let Some(name) = static_key(&member.prop)
        {
            self.note_call(CallTarget::Set(self.enclosing.start, name));
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
                        let text = [&binary.left, &binary.right].iter().any(|side| {
                            matches!(peel_parens(side), Expr::Lit(swc_ecma_ast::Lit::Str(_)) | Expr::Tpl(_))
                        });
                        self.note_conversion(
                            side,
                            if text {
                                &["toString", "valueOf", "@@toPrimitive"]
                            } else {
                                &["valueOf", "@@toPrimitive"]
                            },
                        );
                    } else if matches!(op, BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) {
                        self.note_conversion(side, &["valueOf", "@@toPrimitive"]);
                    }
                }
            }
        }
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        unary.arg.visit_with(self);
        if matches!(unary.op, UnaryOp::Plus | UnaryOp::Minus) {
            self.note_conversion(&unary.arg, &["valueOf", "@@toPrimitive"]);
        }
    }

    fn visit_tpl(&mut self, template: &Tpl) {
        for expr in &template.exprs {
            expr.visit_with(self);
            self.note_conversion(expr, &["toString", "@@toPrimitive"]);
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
