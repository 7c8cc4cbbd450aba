//! The visitor that collects the mutations of all names.
//!
//! It tracks the enclosing function and loop, the number of conditions, and whether a `continue`
//! may have skipped the current code.
//!
//! Invariant: a name in any position that is not handled here counts as escaped.

use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, AssignExpr, AssignTarget, AwaitExpr, BinExpr, BindingIdent, BlockStmt, CallExpr, Callee, CondExpr,
    Constructor, ContinueStmt, Expr, ExprOrSpread, ForOfStmt, ForStmt, Function, GetterProp, Id, Ident, IfStmt,
    LabeledStmt, MemberExpr, MemberProp, NewExpr, Pat, Prop, SimpleAssignTarget, Stmt, SwitchCase, ThrowStmt,
    UnaryExpr, UnaryOp, UpdateExpr, UpdateOp, VarDeclarator, YieldExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{Mutation, MutationKind, Mutations, kinds, root_variable, static_key};
use crate::semantics::bindings::Bindings;
use crate::syntax::expr::peel_parens;

pub(super) struct MutationCollector<'a> {
    pub(super) mutations: Mutations,
    names: &'a Bindings<'a>,
    /// The enclosing function, by its start.
    function: u32,
    in_constructor: bool,
    /// Whether the next function is the tool itself.
    next_is_tool: bool,
    /// The number of conditions inside of the enclosing loop or function.
    condition_depth: u32,
    /// Whether a `continue` may skip what follows.
    may_be_skipped: bool,
    /// The start of the enclosing loop.
    loop_start: u32,
    /// The name of the enclosing function.
    function_name: Option<Atom>,
}

impl<'a> MutationCollector<'a> {
    pub(super) fn new(uses: Mutations, names: &'a Bindings) -> Self {
        Self {
            mutations: uses,
            names,
            function: 0,
            in_constructor: false,
            next_is_tool: false,
            condition_depth: 0,
            may_be_skipped: false,
            loop_start: 0,
            function_name: None,
        }
    }

    fn mutation(&self, span: Span, kind: MutationKind) -> Mutation {
        Mutation {
            position: span.lo.0,
            function: self.function,
            is_unconditional: self.condition_depth == 0 && !self.may_be_skipped,
            loop_start: self.loop_start,
            kind,
        }
    }

    fn note_write(&mut self, id: Id, span: Span, kind: MutationKind) {
        let one = self.mutation(span, kind);
        self.mutations.writes.entry(id).or_default().push(one);
    }

    fn note_content(&mut self, id: Id, span: Span, kind: MutationKind) {
        let one = self.mutation(span, kind);
        if kind != MutationKind::Escaped {
            self.mutations.content_changes.push(one.position);
        }
        self.mutations.contents.entry(id).or_default().push(one);
    }

    fn note_effect(&mut self, span: Span) {
        self.mutations.effects.push(span.lo.0);
    }

    /// Records a write to a member: `object.key = …`.
    fn note_member_write(&mut self, member: &MemberExpr) {
        let key = static_key(&member.prop);
        let kind = if self.in_constructor { MutationKind::Declared } else { MutationKind::Mutated };
        let one = self.mutation(member.span, kind);
        self.mutations.content_changes.push(one.position);
        match &key {
            Some(key) => self.mutations.member_writes.entry(key.clone()).or_default().push(one),
            // `list[i] = x` changes no named member.
            None if matches!(&member.prop, MemberProp::Computed(key) if matches!(peel_parens(&key.expr), Expr::Ident(_) | Expr::Lit(_) | Expr::Bin(_) | Expr::Update(_) if is_index_like(&key.expr))) =>
                {}
            None => self.mutations.dynamic_key_writes.push(one.position),
        }
        if let Some(id) = root_variable(&member.obj) {
            let index = matches!(&member.prop, MemberProp::Computed(key) if matches!(peel_parens(&key.expr), Expr::Ident(_) | Expr::Lit(_)));
            let kind = if key.is_none() && index { MutationKind::ElementSet } else { MutationKind::Mutated };
            self.note_content(id, member.span, kind);
        }
        match peel_parens(&member.obj) {
            Expr::Ident(_) => {}
            other => other.visit_with(self),
        }
        member.prop.visit_with(self);
    }

    /// Visits code under one more condition.
    fn with_condition(&mut self, visit: impl FnOnce(&mut Self)) {
        self.condition_depth += 1;
        visit(self);
        self.condition_depth -= 1;
    }

    /// Visits the code of a loop: whether something happens in each round is decided anew.
    fn with_loop(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        let (maybe, skips) = (std::mem::take(&mut self.condition_depth), std::mem::take(&mut self.may_be_skipped));
        let round = std::mem::replace(&mut self.loop_start, span.lo.0);
        visit(self);
        (self.condition_depth, self.may_be_skipped, self.loop_start) = (maybe, skips, round);
    }

    fn with_function(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        let function = std::mem::replace(&mut self.function, span.lo.0);
        let called = self.function_name.clone();
        let tool = self.next_is_tool;
        self.with_loop(span, visit);
        self.function = function;
        self.function_name = called;
        self.next_is_tool = tool;
    }

    fn note_param(&mut self, pat: &Pat) {
        if let Pat::Ident(ident) = pat {
            let fresh = self.next_is_tool;
            self.mutations.declared.insert(ident.id.to_id(), (self.function, fresh));
        } else {
            pat.visit_with(self);
        }
    }

    /// Visits an operand that is only read.
    fn visit_operand(&mut self, expr: &Expr) {
        if !matches!(peel_parens(expr), Expr::Ident(_)) {
            expr.visit_with(self);
        }
    }
}

impl Visit for MutationCollector<'_> {
    fn visit_ident(&mut self, ident: &Ident) {
        if self.names.is_free(ident) {
            self.mutations.clears_timers |= matches!(&*ident.sym, "clearInterval" | "clearTimeout" | "clearImmediate");
            return;
        }
        self.note_content(ident.to_id(), ident.span, MutationKind::Escaped);
    }

    fn visit_binding_ident(&mut self, ident: &BindingIdent) {
        self.mutations.declared.entry(ident.id.to_id()).or_insert((self.function, false));
        self.note_write(ident.id.to_id(), ident.id.span, MutationKind::Other);
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
        self.may_be_skipped = true;
    }

    fn visit_throw_stmt(&mut self, node: &ThrowStmt) {
        if let Some(name) = &self.function_name {
            self.mutations.throwing_functions.insert(name.clone());
        }
        node.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Pat::Ident(ident) = &declarator.name {
            let init = declarator.init.as_deref().map(peel_parens);
            let fresh = matches!(init, Some(Expr::Array(_) | Expr::Object(_) | Expr::New(_) | Expr::Lit(_)));
            self.mutations.declared.insert(ident.id.to_id(), (self.function, fresh));
            let kind = match init {
                Some(Expr::Lit(swc_ecma_ast::Lit::Num(number))) => MutationKind::DeclaredNumber(number.value),
                Some(Expr::Lit(swc_ecma_ast::Lit::BigInt(_))) => MutationKind::DeclaredBigInt,
                _ => MutationKind::Declared,
            };
            self.note_write(ident.id.to_id(), ident.id.span, kind);
            let called = self.function_name.clone();
            if let Some(Expr::Fn(_) | Expr::Arrow(_)) = init {
                self.function_name = Some(ident.id.sym.clone());
                self.next_is_tool = &*ident.id.sym == "execute";
            }
            declarator.init.visit_with(self);
            self.function_name = called;
            self.next_is_tool = false;
        } else {
            declarator.visit_children_with(self);
        }
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(target)) => {
                let kind = kinds::classify_assignment(assign, &target.id.to_id(), self.names);
                self.note_write(target.id.to_id(), assign.span, kind);
                // `i = i++` leaves the name unchanged.
                if kind != MutationKind::Step(0.0) {
                    assign.right.visit_with(self);
                }
            }
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                self.note_member_write(member);
                assign.right.visit_with(self);
            }
            _ => assign.visit_children_with(self),
        }
    }

    fn visit_simple_assign_target(&mut self, target: &SimpleAssignTarget) {
        if let SimpleAssignTarget::Member(member) = target {
            self.note_member_write(member);
        } else {
            target.visit_children_with(self);
        }
    }

    fn visit_pat(&mut self, pat: &Pat) {
        match pat {
            Pat::Expr(expr) => match peel_parens(expr) {
                Expr::Member(member) => self.note_member_write(member),
                other => other.visit_with(self),
            },
            _ => pat.visit_children_with(self),
        }
    }

    fn visit_update_expr(&mut self, update: &UpdateExpr) {
        match peel_parens(&update.arg) {
            Expr::Ident(ident) => {
                let step = if update.op == UpdateOp::PlusPlus { 1.0 } else { -1.0 };
                self.note_write(ident.to_id(), update.span, MutationKind::Step(step));
            }
            Expr::Member(member) => self.note_member_write(member),
            other => other.visit_with(self),
        }
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        match (unary.op, peel_parens(&unary.arg)) {
            (UnaryOp::Delete, Expr::Member(member)) => self.note_member_write(member),
            _ => self.visit_operand(&unary.arg),
        }
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        use swc_ecma_ast::BinaryOp::{LogicalAnd, LogicalOr, NullishCoalescing};
        if matches!(binary.op, LogicalAnd | LogicalOr | NullishCoalescing) {
            binary.left.visit_with(self);
            self.with_condition(|noting| binary.right.visit_with(noting));
        } else {
            self.visit_operand(&binary.left);
            self.visit_operand(&binary.right);
        }
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        self.visit_operand(&member.obj);
        if let MemberProp::Computed(key) = &member.prop {
            self.visit_operand(&key.expr);
        }
    }

    fn visit_expr_or_spread(&mut self, item: &ExprOrSpread) {
        if item.spread.is_some() { self.visit_operand(&item.expr) } else { item.expr.visit_with(self) }
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            match peel_parens(callee) {
                Expr::Member(member) => {
                    let name = static_key(&member.prop).unwrap_or_default();
                    let kind = kinds::classify_method(&name, call.args.len());
                    if kind != MutationKind::Read
                        && let Some(id) = root_variable(&member.obj)
                    {
                        self.note_content(id, call.span, kind);
                    }
                    self.mutations.clears_timers |= matches!(&*name, "unref" | "clearInterval" | "clearTimeout");
                }
                Expr::Ident(_) | Expr::Fn(_) | Expr::Arrow(_) => {}
                _ => self.note_effect(call.span),
            }
            if !kinds::is_harmless_call(callee, &call.args, self.names) {
                self.note_effect(call.span);
            }
            callee.visit_with(self);
        } else {
            self.note_effect(call.span);
        }
        let inspects =
            matches!(&call.callee, Callee::Expr(callee) if kinds::is_callback_free_builtin(callee, self.names));
        for arg in &call.args {
            if inspects { self.visit_operand(&arg.expr) } else { arg.visit_with(self) }
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        if !kinds::is_callback_free_builtin(&new.callee, self.names) {
            self.note_effect(new.span);
        }
        new.visit_children_with(self);
    }

    fn visit_tagged_tpl(&mut self, tagged: &swc_ecma_ast::TaggedTpl) {
        self.note_effect(tagged.span);
        tagged.visit_children_with(self);
    }

    fn visit_await_expr(&mut self, waits: &AwaitExpr) {
        self.note_effect(waits.span);
        waits.visit_children_with(self);
    }

    fn visit_yield_expr(&mut self, yields: &YieldExpr) {
        self.note_effect(yields.span);
        yields.visit_children_with(self);
    }

    fn visit_if_stmt(&mut self, node: &IfStmt) {
        self.visit_operand(&node.test);
        self.with_condition(|noting| {
            node.cons.visit_with(noting);
            node.alt.visit_with(noting);
        });
    }

    fn visit_cond_expr(&mut self, node: &CondExpr) {
        self.visit_operand(&node.test);
        self.with_condition(|noting| {
            node.cons.visit_with(noting);
            node.alt.visit_with(noting);
        });
    }

    fn visit_switch_case(&mut self, node: &SwitchCase) {
        self.with_condition(|noting| node.visit_children_with(noting));
    }

    fn visit_try_stmt(&mut self, node: &swc_ecma_ast::TryStmt) {
        self.with_condition(|noting| node.visit_children_with(noting));
    }

    fn visit_opt_chain_expr(&mut self, node: &swc_ecma_ast::OptChainExpr) {
        self.note_effect(node.span);
        self.with_condition(|noting| node.visit_children_with(noting));
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        node.init.visit_with(self);
        self.with_loop(node.span, |noting| {
            node.test.visit_with(noting);
            node.body.visit_with(noting);
            noting.may_be_skipped = false;
            node.update.visit_with(noting);
        });
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        if node.is_await {
            self.note_effect(node.span);
        }
        self.visit_operand(&node.right);
        self.with_loop(node.span, |noting| {
            node.left.visit_with(noting);
            node.body.visit_with(noting);
        });
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::While(_) | Stmt::DoWhile(_) | Stmt::ForIn(_) => {
                self.with_loop(node.span(), |noting| node.visit_children_with(noting));
            }
            _ => node.visit_children_with(self),
        }
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let called = self.function_name.replace(decl.ident.sym.clone());
        self.mutations.declared.insert(decl.ident.to_id(), (self.function, false));
        self.next_is_tool = &*decl.ident.sym == "execute";
        decl.function.visit_with(self);
        self.next_is_tool = false;
        self.function_name = called;
    }

    fn visit_fn_expr(&mut self, node: &swc_ecma_ast::FnExpr) {
        self.next_is_tool |= node.ident.as_ref().is_some_and(|name| &*name.sym == "execute");
        node.function.visit_with(self);
        self.next_is_tool = false;
    }

    fn visit_class_decl(&mut self, decl: &swc_ecma_ast::ClassDecl) {
        decl.class.visit_with(self);
    }

    fn visit_function(&mut self, function: &Function) {
        self.with_function(function.span, |noting| {
            function.params.iter().for_each(|param| noting.note_param(&param.pat));
            noting.next_is_tool = false;
            function.body.visit_with(noting);
        });
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        self.with_function(arrow.span, |noting| {
            arrow.params.iter().for_each(|pat| noting.note_param(pat));
            noting.next_is_tool = false;
            arrow.body.visit_with(noting);
        });
    }

    fn visit_constructor(&mut self, node: &Constructor) {
        let constructor = std::mem::replace(&mut self.in_constructor, true);
        self.with_function(node.span, |noting| node.visit_children_with(noting));
        self.in_constructor = constructor;
    }

    fn visit_class_method(&mut self, node: &swc_ecma_ast::ClassMethod) {
        let called = std::mem::take(&mut self.function_name);
        if let Some(name) = node.key.as_ident() {
            if node.kind == swc_ecma_ast::MethodKind::Getter {
                self.mutations.getters.insert(name.sym.clone());
            }
            self.function_name = Some(name.sym.clone());
        }
        node.visit_children_with(self);
        self.function_name = called;
    }

    fn visit_private_method(&mut self, node: &swc_ecma_ast::PrivateMethod) {
        let name = Atom::from(format!("#{}", node.key.name));
        if node.kind == swc_ecma_ast::MethodKind::Getter {
            self.mutations.getters.insert(name.clone());
        }
        let called = self.function_name.replace(name);
        node.visit_children_with(self);
        self.function_name = called;
    }

    fn visit_getter_prop(&mut self, node: &GetterProp) {
        if let Some(name) = node.key.as_ident() {
            self.mutations.getters.insert(name.sym.clone());
        }
        node.function.visit_with(self);
    }

    fn visit_prop(&mut self, prop: &Prop) {
        let called = self.function_name.clone();
        if let Prop::Method(method) = prop {
            self.function_name = method.key.as_ident().map(|name| name.sym.clone());
        }
        prop.visit_children_with(self);
        self.function_name = called;
    }

    fn visit_block_stmt(&mut self, block: &BlockStmt) {
        block.stmts.visit_with(self);
    }

    fn visit_ts_type(&mut self, _: &swc_ecma_ast::TsType) {}
    fn visit_ts_type_ann(&mut self, _: &swc_ecma_ast::TsTypeAnn) {}

    fn visit_expr(&mut self, expr: &Expr) {
        // Parentheses and casts around a name have no effect.
        match expr {
            Expr::Call(call) => self.visit_call_expr(call),
            _ => expr.visit_children_with(self),
        }
        debug_assert!(expr.span().lo <= expr.span().hi);
    }
}

/// Returns whether a computed key is an index rather than a name.
fn is_index_like(expr: &Expr) -> bool {
    match peel_parens(expr) {
        Expr::Ident(name) => name.sym.len() <= 2 || matches!(&*name.sym, "index" | "idx" | "pos" | "row" | "col"),
        Expr::Lit(lit) => matches!(lit, swc_ecma_ast::Lit::Num(_)),
        Expr::Bin(_) | Expr::Update(_) => true,
        _ => false,
    }
}
