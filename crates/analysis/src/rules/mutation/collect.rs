//! The visitor that collects the mutations of all names.
//!
//! It tracks the enclosing function and loop, the number of conditions, and whether a `continue`
//! may have skipped the current code.

mod visit;

use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::{Expr, Id, MemberExpr, MemberProp, Pat};
use swc_ecma_visit::VisitWith;

use super::{Mutation, MutationKind, Mutations, root_variable, static_key};
use crate::bindings::{Bindings, peel_parens};

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

/// Returns whether a computed key is an index rather than a name.
fn is_index_like(expr: &Expr) -> bool {
    match peel_parens(expr) {
        Expr::Ident(name) => name.sym.len() <= 2 || matches!(&*name.sym, "index" | "idx" | "pos" | "row" | "col"),
        Expr::Lit(lit) => matches!(lit, swc_ecma_ast::Lit::Num(_)),
        Expr::Bin(_) | Expr::Update(_) => true,
        _ => false,
    }
}
