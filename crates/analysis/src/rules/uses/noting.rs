//! The walk that notes every use of every name.
//!
//! It knows where it is: in which function and loop, under how many conditions, and whether a `continue` may have
//! skipped what comes next.

mod visit;

use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::{Expr, Id, MemberExpr, MemberProp, Pat};
use swc_ecma_visit::VisitWith;

use super::{Kind, Use, Uses, own_key, root};
use crate::names::{Names, bare};

pub(super) struct Noting<'a> {
    pub(super) uses: Uses,
    names: &'a Names<'a>,
    /// The function around, by where it begins.
    function: u32,
    constructor: bool,
    /// Whether the next function is the tool itself.
    tool: bool,
    /// How many conditions stand around, within the loop or function.
    maybe: u32,
    /// Whether a `continue` may skip what follows.
    skips: bool,
    /// Where the loop around begins.
    round: u32,
    /// The name of the function around.
    called: Option<Atom>,
}

impl<'a> Noting<'a> {
    pub(super) fn new(uses: Uses, names: &'a Names) -> Self {
        Self {
            uses,
            names,
            function: 0,
            constructor: false,
            tool: false,
            maybe: 0,
            skips: false,
            round: 0,
            called: None,
        }
    }

    fn one(&self, span: Span, kind: Kind) -> Use {
        Use { at: span.lo.0, function: self.function, always: self.maybe == 0 && !self.skips, round: self.round, kind }
    }

    fn write(&mut self, id: Id, span: Span, kind: Kind) {
        let one = self.one(span, kind);
        self.uses.writes.entry(id).or_default().push(one);
    }

    fn content(&mut self, id: Id, span: Span, kind: Kind) {
        let one = self.one(span, kind);
        if kind != Kind::Plain {
            self.uses.changing.push(one.at);
        }
        self.uses.contents.entry(id).or_default().push(one);
    }

    fn effect(&mut self, span: Span) {
        self.uses.effects.push(span.lo.0);
    }

    /// A write to a member: `object.key = …`.
    fn member(&mut self, member: &MemberExpr) {
        let key = own_key(&member.prop);
        let kind = if self.constructor { Kind::Declared } else { Kind::Mutated };
        let one = self.one(member.span, kind);
        self.uses.changing.push(one.at);
        match &key {
            Some(key) => self.uses.keys.entry(key.clone()).or_default().push(one),
            // `list[i] = x` changes no member that has a name.
            None if matches!(&member.prop, MemberProp::Computed(key) if matches!(bare(&key.expr), Expr::Ident(_) | Expr::Lit(_) | Expr::Bin(_) | Expr::Update(_) if index_like(&key.expr))) =>
                {}
            None => self.uses.dynamic.push(one.at),
        }
        if let Some(id) = root(&member.obj) {
            let index = matches!(&member.prop, MemberProp::Computed(key) if matches!(bare(&key.expr), Expr::Ident(_) | Expr::Lit(_)));
            let kind = if key.is_none() && index { Kind::Placed } else { Kind::Mutated };
            self.content(id, member.span, kind);
        }
        match bare(&member.obj) {
            Expr::Ident(_) => {}
            other => other.visit_with(self),
        }
        member.prop.visit_with(self);
    }

    /// Runs with one more condition around.
    fn maybe(&mut self, visit: impl FnOnce(&mut Self)) {
        self.maybe += 1;
        visit(self);
        self.maybe -= 1;
    }

    /// Runs within a loop: what stands in it is done in each round, or not.
    fn round(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        let (maybe, skips) = (std::mem::take(&mut self.maybe), std::mem::take(&mut self.skips));
        let round = std::mem::replace(&mut self.round, span.lo.0);
        visit(self);
        (self.maybe, self.skips, self.round) = (maybe, skips, round);
    }

    fn function(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        let function = std::mem::replace(&mut self.function, span.lo.0);
        let called = self.called.clone();
        let tool = self.tool;
        self.round(span, visit);
        self.function = function;
        self.called = called;
        self.tool = tool;
    }

    fn parameter(&mut self, pat: &Pat) {
        if let Pat::Ident(ident) = pat {
            let fresh = self.tool;
            self.uses.declared.insert(ident.id.to_id(), (self.function, fresh));
        } else {
            pat.visit_with(self);
        }
    }

    /// An operand that is only looked at.
    fn operand(&mut self, expr: &Expr) {
        if !matches!(bare(expr), Expr::Ident(_)) {
            expr.visit_with(self);
        }
    }
}

/// Whether a computed key is a place in a list rather than a name.
fn index_like(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Ident(name) => name.sym.len() <= 2 || matches!(&*name.sym, "index" | "idx" | "pos" | "row" | "col"),
        Expr::Lit(lit) => matches!(lit, swc_ecma_ast::Lit::Num(_)),
        Expr::Bin(_) | Expr::Update(_) => true,
        _ => false,
    }
}
