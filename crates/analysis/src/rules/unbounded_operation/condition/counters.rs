//! Counters, their limits, lists that are refilled, and rounds that change nothing.
//!
//! Invariant: each change of a counter is known, or nothing is said of it.

use swc_common::Spanned;
use swc_ecma_ast::{BinaryOp, Expr, Id, MemberExpr, Stmt};

use super::super::super::uses::{Kind, Range, Use, own_key};
use super::{AGAIN, ALWAYS, AWAY, GROWS, Judge, MISSED, PARTS, UNCHANGED, holds};
use crate::names::bare;

impl Judge<'_> {
    /// A counter and its limit.
    pub(super) fn counts(&self, op: BinaryOp, left: &Expr, right: &Expr, range: Range) -> Option<&'static str> {
        use BinaryOp::{Gt, GtEq, Lt, LtEq, NotEq, NotEqEq};
        let counter = match bare(left) {
            Expr::Ident(ident) => ident,
            Expr::Update(update) => bare(&update.arg).as_ident()?,
            _ => return None,
        };
        let id = counter.to_id();
        let writes = self.uses.writes_in(&id, range)?;
        if self.names.is_free(counter) || !self.uses.is_own(&id, range) {
            return None;
        }
        let longer = matches!(op, Lt | LtEq) && self.never_shorter(right, range);
        if writes.is_empty() {
            return longer.then_some(UNCHANGED);
        }
        let steps: Option<Vec<f64>> = writes
            .iter()
            .map(|one| match one.kind {
                Kind::Step(step) => Some(step),
                Kind::Scaled(1.0) => Some(0.0),
                _ => None,
            })
            .collect();
        if !longer && !self.fixed(right, range, &mut PARTS.clone()) {
            return self.chases(op, right, writes, steps.as_deref()?, range);
        }
        let limit = self.number(right);
        let first = self.first(&id, range);
        if let Some(steps) = &steps {
            let (up, down) = (steps.iter().any(|step| *step > 0.0), steps.iter().any(|step| *step < 0.0));
            return match (op, up, down) {
                (_, false, false) => Some(UNCHANGED),
                (Gt | GtEq, true, false) | (Lt | LtEq, false, true) => Some(AWAY),
                (Lt | LtEq, true, false) if limit == Some(f64::INFINITY) => Some(ALWAYS),
                (NotEq | NotEqEq, ..) if steps.len() == 1 && misses(first?, *steps.first()?, limit?) => Some(MISSED),
                _ => None,
            };
        }
        let all = |check: &dyn Fn(Kind) -> bool| writes.iter().all(|one| check(one.kind));
        if all(&|kind| matches!(kind, Kind::Scaled(by) if by.is_finite())) && first == Some(0.0) {
            return limit.is_none_or(|limit| holds(op, 0.0, limit) == Some(true)).then_some(UNCHANGED);
        }
        let limit = limit?;
        if matches!(op, Lt | LtEq | NotEq | NotEqEq) && all(&|kind| matches!(kind, Kind::Below(most) if most <= limit))
        {
            return Some(ALWAYS);
        }
        // Set to a constant in each round, and changed by constants otherwise.
        let back = writes.iter().find_map(|one| match one.kind {
            Kind::To(value) if one.always && one.round == range.round => Some(value),
            _ => None,
        })?;
        let sum = writes.iter().try_fold(0.0, |sum, one| match one.kind {
            Kind::To(value) if value.to_bits() == back.to_bits() => Some(sum),
            Kind::Step(step) if one.round == range.round => Some(sum + step),
            _ => None,
        })?;
        (holds(op, back, limit) == Some(true) && holds(op, back + sum, limit) == Some(true)).then_some(AGAIN)
    }

    /// `list.length`, of a list whose members are only given other values.
    fn never_shorter(&self, limit: &Expr, range: Range) -> bool {
        length_of(limit).is_some_and(|list| {
            self.uses.is_fixed(&list, range)
                && !self.uses.others_run(range)
                && self
                    .uses
                    .contents_in(&list, range)
                    .is_some_and(|uses| uses.iter().all(|one| one.kind == Kind::Placed))
        })
    }

    /// The number that a counter begins with, if nothing else but the loop changes it.
    fn first(&self, id: &Id, range: Range) -> Option<f64> {
        let mut outside = self.uses.writes(id).iter().filter(|one| !range.holds(one.at));
        match (outside.next()?.kind, outside.next()) {
            (Kind::Begun(first), None) => Some(first),
            _ => None,
        }
    }

    /// `i < list.length`, where each round appends to the list.
    fn chases(&self, op: BinaryOp, limit: &Expr, writes: &[Use], steps: &[f64], range: Range) -> Option<&'static str> {
        if !matches!(op, BinaryOp::Lt | BinaryOp::LtEq) || writes.iter().any(|one| one.round != range.round) {
            return None;
        }
        let list = length_of(limit)?;
        let (grown, shrunk) = self.balance(&list, range)?;
        let pace: f64 = steps.iter().filter(|step| **step > 0.0).sum();
        (shrunk == 0 && f64::from(grown) >= pace && grown > 0).then_some(GROWS)
    }

    /// `list.length > 0`, where each round appends as much as it takes.
    pub(super) fn refills(&self, op: BinaryOp, left: &Expr, right: &Expr, range: Range) -> Option<&'static str> {
        let limit = self.number(right)?;
        let filled = matches!(op, BinaryOp::Gt | BinaryOp::NotEq | BinaryOp::NotEqEq) && limit == 0.0;
        let Expr::Member(member) = bare(left) else { return None };
        self.refilled(member, range).filter(|_| filled)
    }

    pub(super) fn refilled(&self, member: &MemberExpr, range: Range) -> Option<&'static str> {
        let Expr::Ident(list) = bare(&member.obj) else { return None };
        if own_key(&member.prop)? != "length" {
            return None;
        }
        let (grown, shrunk) = self.balance(&list.to_id(), range)?;
        (grown > 0 && grown >= shrunk).then_some(GROWS)
    }

    /// By how much each round certainly makes a list longer, and at most shorter.
    pub(in super::super) fn balance(&self, list: &Id, range: Range) -> Option<(u32, u32)> {
        if !self.uses.is_fixed(list, range) {
            return None;
        }
        let (mut grown, mut shrunk) = (0_u32, 0_u32);
        for one in self.uses.contents_in(list, range)? {
            let own = one.round == range.round;
            match one.kind {
                Kind::Grown(by) if one.always && own => grown = grown.saturating_add(by),
                Kind::Grown(_) => {}
                Kind::Shrunk if own => shrunk += 1,
                _ => return None,
            }
        }
        Some((grown, shrunk))
    }

    /// Whether some path through the body of a loop changes nothing, so that the next round is the same again.
    pub(in super::super) fn sticks(&self, test: &Expr, body: &Stmt, range: Range) -> bool {
        let Stmt::Block(block) = body else { return false };
        let Expr::Bin(compared) = bare(test) else { return false };
        // What stands before the body is the condition, and what a `for` does after each round.
        let head = Range { end: block.span.lo.0, ..range };
        if matches!(compared.op, BinaryOp::LogicalOr) || !self.fixed(test, head, &mut PARTS.clone()) {
            return false;
        }
        let same = |range: Range, cond: &Expr| {
            !self.uses.others_run(range)
                && self.fixed(test, range, &mut PARTS.clone())
                && self.fixed(cond, range, &mut PARTS.clone())
        };
        for statement in block.stmts.iter().take(PARTS as usize) {
            let Stmt::If(node) = statement else { continue };
            let end = node.cons.span().hi.0;
            if continues(&node.cons) && same(Range { start: block.span.lo.0, end, ..range }, &node.test) {
                return true;
            }
            let start = node.cons.span().lo.0;
            let before = Range { start: block.span.lo.0, end: start, ..range };
            let after = Range { start: end, end: range.end, ..range };
            if node.alt.is_none() && looks_up(&node.test) && same(before, &node.test) && same(after, &node.test) {
                return true;
            }
        }
        false
    }
}

/// Whether a branch ends with the next round.
fn continues(statement: &Stmt) -> bool {
    match statement {
        Stmt::Continue(node) => node.label.is_none(),
        Stmt::Block(block) => {
            block.stmts.len() < 8
                && block.stmts.last().is_some_and(continues)
                && block.stmts.iter().rev().skip(1).all(|statement| matches!(statement, Stmt::Expr(_) | Stmt::Decl(_)))
        }
        _ => false,
    }
}

/// Whether a comparison is one of a member that is looked up.
fn looks_up(test: &Expr) -> bool {
    match bare(test) {
        Expr::Bin(binary) => {
            let op = binary.op;
            matches!(op, BinaryOp::EqEq | BinaryOp::EqEqEq)
                && [&binary.left, &binary.right]
                    .iter()
                    .any(|side| matches!(bare(side), Expr::Member(member) if member.prop.is_computed()))
        }
        _ => false,
    }
}

/// The list of `list.length`.
fn length_of(expr: &Expr) -> Option<Id> {
    let Expr::Member(member) = bare(expr) else { return None };
    let Expr::Ident(list) = bare(&member.obj) else { return None };
    (own_key(&member.prop)? == "length").then(|| list.to_id())
}

/// Whether a counter steps over its limit.
fn misses(first: f64, step: f64, limit: f64) -> bool {
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

/// The comparison with its sides exchanged.
pub(super) fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::LtEq => BinaryOp::GtEq,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::GtEq => BinaryOp::LtEq,
        BinaryOp::NotEq | BinaryOp::NotEqEq => op,
        _ => return None,
    })
}
