//! Counters and their limits, lists that are refilled, and rounds that change nothing.
//!
//! Invariant: every change of a counter is understood, or nothing is reported.

use swc_common::Spanned;
use swc_ecma_ast::{BinaryOp, Expr, Id, MemberExpr, Stmt};

use super::{AGAIN, ALWAYS, AWAY, ConditionAnalyzer, GROWS, MAX_PARTS, MISSED, UNCHANGED, compare_numbers};
use crate::semantics::mutation::{Mutation, MutationKind, SourceRange, static_key};
use crate::syntax::expr::peel_parens;

impl ConditionAnalyzer<'_> {
    /// Returns why a counter never reaches its limit.
    pub(super) fn why_counter_stays(
        &self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        range: SourceRange,
    ) -> Option<&'static str> {
        use BinaryOp::{Gt, GtEq, Lt, LtEq, NotEq, NotEqEq};
        let counter = match peel_parens(left) {
            Expr::Ident(ident) => ident,
            Expr::Update(update) => peel_parens(&update.arg).as_ident()?,
            _ => return None,
        };
        let id = counter.to_id();
        let writes = self.mutations.writes_in(&id, range)?;
        if self.names.is_free(counter) || !self.mutations.is_changed_only_here(&id, range) {
            return None;
        }
        let longer = matches!(op, Lt | LtEq) && self.never_shorter(right, range);
        if writes.is_empty() {
            return longer.then_some(UNCHANGED);
        }
        let steps: Option<Vec<f64>> = writes
            .iter()
            .map(|one| match one.kind {
                MutationKind::Step(step) => Some(step),
                MutationKind::Scaled(1.0) => Some(0.0),
                _ => None,
            })
            .collect();
        if !longer && !self.is_invariant(right, range, &mut MAX_PARTS.clone()) {
            return self.why_limit_outgrows(op, right, writes, steps.as_deref()?, range);
        }
        let limit = self.number(right);
        let first = self.initial_value(&id, range);
        if let Some(steps) = &steps {
            let (up, down) = (steps.iter().any(|step| *step > 0.0), steps.iter().any(|step| *step < 0.0));
            return match (op, up, down) {
                (_, false, false) => Some(UNCHANGED),
                (Gt | GtEq, true, false) | (Lt | LtEq, false, true) => Some(AWAY),
                (Lt | LtEq, true, false) if limit == Some(f64::INFINITY) => Some(ALWAYS),
                (NotEq | NotEqEq, ..) if steps.len() == 1 && steps_over(first?, *steps.first()?, limit?) => {
                    Some(MISSED)
                }
                _ => None,
            };
        }
        let all = |check: &dyn Fn(MutationKind) -> bool| writes.iter().all(|one| check(one.kind));
        if all(&|kind| matches!(kind, MutationKind::Scaled(by) if by.is_finite())) && first == Some(0.0) {
            return limit.is_none_or(|limit| compare_numbers(op, 0.0, limit) == Some(true)).then_some(UNCHANGED);
        }
        let limit = limit?;
        if matches!(op, Lt | LtEq | NotEq | NotEqEq)
            && all(&|kind| matches!(kind, MutationKind::SetBelow(most) if most <= limit))
        {
            return Some(ALWAYS);
        }
        // Set to a constant in each round, and otherwise changed by constants.
        let back = writes.iter().find_map(|one| match one.kind {
            MutationKind::SetTo(value) if one.is_unconditional && one.loop_start == range.loop_start => Some(value),
            _ => None,
        })?;
        let sum = writes.iter().try_fold(0.0, |sum, one| match one.kind {
            MutationKind::SetTo(value) if value.to_bits() == back.to_bits() => Some(sum),
            MutationKind::Step(step) if one.loop_start == range.loop_start => Some(sum + step),
            _ => None,
        })?;
        (compare_numbers(op, back, limit) == Some(true) && compare_numbers(op, back + sum, limit) == Some(true))
            .then_some(AGAIN)
    }

    /// Returns whether a limit is the length of a list whose elements are only replaced.
    fn never_shorter(&self, limit: &Expr, range: SourceRange) -> bool {
        list_of_length(limit).is_some_and(|list| {
            self.mutations.is_unchanged(&list, range)
                && !self.mutations.has_unknown_effects(range)
                && self
                    .mutations
                    .contents_in(&list, range)
                    .is_some_and(|uses| uses.iter().all(|one| one.kind == MutationKind::ElementSet))
        })
    }

    /// Returns the initial value of a counter, if only the loop changes it.
    fn initial_value(&self, id: &Id, range: SourceRange) -> Option<f64> {
        let mut outside = self.mutations.writes(id).iter().filter(|one| !range.contains(one.position));
        match (outside.next()?.kind, outside.next()) {
            (MutationKind::DeclaredNumber(first), None) => Some(first),
            _ => None,
        }
    }

    /// Checks `i < list.length`, if each round appends to the list.
    fn why_limit_outgrows(
        &self,
        op: BinaryOp,
        limit: &Expr,
        writes: &[Mutation],
        steps: &[f64],
        range: SourceRange,
    ) -> Option<&'static str> {
        if !matches!(op, BinaryOp::Lt | BinaryOp::LtEq) || writes.iter().any(|one| one.loop_start != range.loop_start) {
            return None;
        }
        let list = list_of_length(limit)?;
        let (grown, shrunk) = self.net_growth(&list, range)?;
        let pace: f64 = steps.iter().filter(|step| **step > 0.0).sum();
        (shrunk == 0 && f64::from(grown) >= pace && grown > 0).then_some(GROWS)
    }

    /// Checks `list.length > 0`, if each round appends at least as much as it removes.
    pub(super) fn why_length_stays(
        &self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        range: SourceRange,
    ) -> Option<&'static str> {
        let limit = self.number(right)?;
        let filled = matches!(op, BinaryOp::Gt | BinaryOp::NotEq | BinaryOp::NotEqEq) && limit == 0.0;
        let Expr::Member(member) = peel_parens(left) else { return None };
        self.why_refilled(member, range).filter(|_| filled)
    }

    pub(super) fn why_refilled(&self, member: &MemberExpr, range: SourceRange) -> Option<&'static str> {
        let Expr::Ident(list) = peel_parens(&member.obj) else { return None };
        if static_key(&member.prop)? != "length" {
            return None;
        }
        let (grown, shrunk) = self.net_growth(&list.to_id(), range)?;
        (grown > 0 && grown >= shrunk).then_some(GROWS)
    }

    /// Returns by how much each round certainly extends a list, and by how much it shortens it at
    /// most.
    pub(in crate::rules) fn net_growth(&self, list: &Id, range: SourceRange) -> Option<(u32, u32)> {
        if !self.mutations.is_unchanged(list, range) {
            return None;
        }
        let (mut grown, mut shrunk) = (0_u32, 0_u32);
        for one in self.mutations.contents_in(list, range)? {
            let own = one.loop_start == range.loop_start;
            match one.kind {
                MutationKind::Grown(by) if one.is_unconditional && own => grown = grown.saturating_add(by),
                MutationKind::Grown(_) => {}
                MutationKind::Shrunk if own => shrunk += 1,
                _ => return None,
            }
        }
        Some((grown, shrunk))
    }

    /// Returns whether a path through the body of a loop changes nothing, so that the next round is
    /// the same.
    pub(in crate::rules) fn has_stuck_path(&self, test: &Expr, body: &Stmt, range: SourceRange) -> bool {
        let Stmt::Block(block) = body else { return false };
        let Expr::Bin(compared) = peel_parens(test) else { return false };
        // The part before the body: the condition, and the update of a `for`.
        let head = SourceRange { end: block.span.lo.0, ..range };
        if matches!(compared.op, BinaryOp::LogicalOr) || !self.is_invariant(test, head, &mut MAX_PARTS.clone()) {
            return false;
        }
        let same = |range: SourceRange, cond: &Expr| {
            !self.mutations.has_unknown_effects(range)
                && self.is_invariant(test, range, &mut MAX_PARTS.clone())
                && self.is_invariant(cond, range, &mut MAX_PARTS.clone())
        };
        for statement in block.stmts.iter().take(MAX_PARTS as usize) {
            let Stmt::If(node) = statement else { continue };
            let end = node.cons.span().hi.0;
            if ends_with_continue(&node.cons) && same(SourceRange { start: block.span.lo.0, end, ..range }, &node.test)
            {
                return true;
            }
            let start = node.cons.span().lo.0;
            let before = SourceRange { start: block.span.lo.0, end: start, ..range };
            let after = SourceRange { start: end, end: range.end, ..range };
            if node.alt.is_none() && compares_lookup(&node.test) && same(before, &node.test) && same(after, &node.test)
            {
                return true;
            }
        }
        false
    }
}

/// Returns whether a branch ends with `continue`.
fn ends_with_continue(statement: &Stmt) -> bool {
    match statement {
        Stmt::Continue(node) => node.label.is_none(),
        Stmt::Block(block) => {
            block.stmts.len() < 8
                && block.stmts.last().is_some_and(ends_with_continue)
                && block.stmts.iter().rev().skip(1).all(|statement| matches!(statement, Stmt::Expr(_) | Stmt::Decl(_)))
        }
        _ => false,
    }
}

/// Returns whether an equality compares a computed member.
fn compares_lookup(test: &Expr) -> bool {
    match peel_parens(test) {
        Expr::Bin(binary) => {
            let op = binary.op;
            matches!(op, BinaryOp::EqEq | BinaryOp::EqEqEq)
                && [&binary.left, &binary.right]
                    .iter()
                    .any(|side| matches!(peel_parens(side), Expr::Member(member) if member.prop.is_computed()))
        }
        _ => false,
    }
}

/// Returns the list of `list.length`.
fn list_of_length(expr: &Expr) -> Option<Id> {
    let Expr::Member(member) = peel_parens(expr) else { return None };
    let Expr::Ident(list) = peel_parens(&member.obj) else { return None };
    (static_key(&member.prop)? == "length").then(|| list.to_id())
}

/// Returns whether a counter steps over its limit.
fn steps_over(first: f64, step: f64, limit: f64) -> bool {
    if first.fract() == 0.0 && step.fract() == 0.0 && limit.fract() == 0.0 {
        let rounds = (limit - first) / step;
        return !(rounds >= 0.0 && rounds.fract() == 0.0);
    }
    let mut at = first;
    for _ in 0..1000 {
        if at.to_bits() == limit.to_bits() {
            return false;
        }
        if (step > 0.0 && at > limit) || (step < 0.0 && at < limit) {
            return true;
        }
        at += step;
    }
    false
}

/// Returns the comparison for exchanged operands.
pub(super) fn swap_sides(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::LtEq => BinaryOp::GtEq,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::GtEq => BinaryOp::LtEq,
        BinaryOp::NotEq | BinaryOp::NotEqEq => op,
        _ => return None,
    })
}
