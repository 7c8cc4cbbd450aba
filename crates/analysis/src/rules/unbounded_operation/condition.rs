//! Whether the condition of a loop can ever become false.
//!
//! Invariant: a condition stays true only if nothing that it depends on changes, or if every change leads away from
//! its limit; what is not understood may change.

use std::collections::HashMap;

use swc_common::Spanned;
use swc_ecma_ast::{BinExpr, BinaryOp, CallExpr, Callee, Expr, Id, Lit, MemberExpr, MemberProp, Stmt, UnaryOp};

use super::super::uses::{Kind, Range, Use, Uses, harmless_method, own_key};
use crate::names::{Names, bare};
use crate::value::Value;

/// How many parts of a condition are looked at.
const PARTS: u32 = 64;

pub(super) const UNCHANGED: &str = "loops without end: what its condition depends on never changes";
pub(super) const ALWAYS: &str = "loops without end: the condition is always true";
const AWAY: &str = "loops without end: its counter moves away from the limit";
const MISSED: &str = "loops without end: its counter never meets the limit";
const GROWS: &str = "loops without end: the limit grows with each round";
const AGAIN: &str = "loops without end: its counter is set back in each round";

/// What conditions are judged by.
pub(in super::super) struct Judge<'a> {
    pub(in super::super) names: &'a Names,
    pub(in super::super) uses: &'a Uses,
    /// Functions that always return something true, or false.
    pub(in super::super) constant: HashMap<Id, bool>,
}

impl Judge<'_> {
    /// The number that an expression certainly is.
    pub(in super::super) fn number(&self, expr: &Expr) -> Option<f64> {
        match bare(expr) {
            Expr::Member(member) => {
                if let Expr::Ident(object) = bare(&member.obj)
                    && self.names.is_free(object)
                    && &*object.sym == "Number"
                {
                    return match own_key(&member.prop)?.as_str() {
                        "POSITIVE_INFINITY" => Some(f64::INFINITY),
                        "MAX_VALUE" => Some(f64::MAX),
                        "MAX_SAFE_INTEGER" => Some(9_007_199_254_740_991.0),
                        _ => None,
                    };
                }
                // `limits.most`, of an object that nothing changes.
                let key = own_key(&member.prop)?;
                let all = Range { start: 0, end: u32::MAX, function: 0, round: 0 };
                if key == "length" || !self.uses.is_key_fixed(&key, all) {
                    return None;
                }
                self.names.value(expr).as_number()
            }
            // Of a name that is changed somewhere, the value is that of one moment.
            Expr::Ident(ident) if self.uses.writes(&ident.to_id()).len() > 1 => None,
            Expr::Lit(_) | Expr::Ident(_) => self.names.value(expr).as_number(),
            Expr::Unary(unary) => {
                let number = Value::Number(self.number(&unary.arg)?);
                crate::fold::unary(unary.op, &number).as_number()
            }
            Expr::Bin(binary) => {
                let (left, right) = (self.number(&binary.left)?, self.number(&binary.right)?);
                crate::fold::binary(binary.op, &Value::Number(left), &Value::Number(right)).as_number()
            }
            Expr::Call(call) => {
                // `Number("5e8")`
                let Callee::Expr(callee) = &call.callee else { return None };
                let free = matches!(bare(callee), Expr::Ident(ident) if self.names.is_free(ident));
                let literal = matches!(call.args.as_slice(), [arg] if matches!(bare(&arg.expr), Expr::Lit(_)));
                (free && literal).then(|| self.names.value(expr).as_number()).flatten()
            }
            _ => None,
        }
    }

    /// Whether an expression is certainly true, or certainly false.
    pub(in super::super) fn truth(&self, expr: &Expr) -> Option<bool> {
        match bare(expr) {
            Expr::Lit(Lit::BigInt(number)) => Some(number.value.to_string() != "0"),
            Expr::Ident(ident) if self.uses.writes(&ident.to_id()).len() > 1 => None,
            Expr::Lit(_) | Expr::Ident(_) => self.names.value(expr).truth(),
            Expr::Array(_) | Expr::Object(_) | Expr::Fn(_) | Expr::Arrow(_) | Expr::Class(_) | Expr::New(_) => {
                Some(true)
            }
            Expr::Tpl(template) => {
                let text = template.quasis.iter().any(|quasi| !quasi.raw.is_empty());
                if text { Some(true) } else { template.exprs.is_empty().then_some(false) }
            }
            Expr::Unary(unary) => match unary.op {
                UnaryOp::Bang => self.truth(&unary.arg).map(|truth| !truth),
                UnaryOp::TypeOf => Some(true),
                UnaryOp::Void => Some(false),
                _ => self.number(expr).map(|number| number != 0.0 && !number.is_nan()),
            },
            Expr::Assign(assign) if assign.op == swc_ecma_ast::AssignOp::Assign => self.truth(&assign.right),
            Expr::Cond(choice) => match self.truth(&choice.test) {
                Some(true) => self.truth(&choice.cons),
                Some(false) => self.truth(&choice.alt),
                None => self.truth(&choice.cons).filter(|truth| self.truth(&choice.alt) == Some(*truth)),
            },
            Expr::Bin(binary) => self.compared(binary),
            Expr::Call(call) => self.called(call),
            _ => None,
        }
    }

    fn called(&self, call: &CallExpr) -> Option<bool> {
        let Callee::Expr(callee) = &call.callee else { return None };
        let Expr::Ident(ident) = bare(callee) else { return None };
        if self.names.is_free(ident) {
            let boolean = &*ident.sym == "Boolean";
            return call.args.first().filter(|_| boolean).and_then(|arg| self.truth(&arg.expr));
        }
        self.constant.get(&ident.to_id()).copied()
    }

    fn compared(&self, binary: &BinExpr) -> Option<bool> {
        use BinaryOp::{EqEq, EqEqEq, Gt, GtEq, LogicalAnd, LogicalOr, NotEq, NotEqEq};
        let (left, right) = (&*binary.left, &*binary.right);
        match binary.op {
            LogicalOr => match (self.truth(left), self.truth(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), other) => other,
                _ => excludes(left, right).then_some(true),
            },
            LogicalAnd => match (self.truth(left), self.truth(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), other) => other,
                _ => None,
            },
            _ => {
                let number = self.number(right);
                let other = self.number(left);
                if number.is_some_and(f64::is_nan) || other.is_some_and(f64::is_nan) {
                    return Some(matches!(binary.op, NotEq | NotEqEq));
                }
                if let (Some(a), Some(b)) = (other, number) {
                    return holds(binary.op, a, b);
                }
                // Some things are never below a certain number.
                let least = number.zip(self.least(left)).map(|(number, least)| match binary.op {
                    GtEq => least >= number,
                    Gt | NotEq | NotEqEq => least > number,
                    _ => false,
                });
                if least == Some(true) {
                    return Some(true);
                }
                let plain =
                    |expr: &Expr| matches!(bare(expr), Expr::Lit(_) | Expr::Ident(_) | Expr::Bin(_) | Expr::Unary(_));
                if matches!(binary.op, EqEq | EqEqEq | NotEq | NotEqEq) && plain(left) && plain(right) {
                    let equal = |expr: &Expr| match bare(expr) {
                        Expr::Ident(ident) => self.uses.writes(&ident.to_id()).len() <= 1,
                        other => matches!(other, Expr::Lit(_)),
                    };
                    if equal(left) && equal(right) {
                        return crate::fold::binary(binary.op, &self.names.value(left), &self.names.value(right))
                            .truth();
                    }
                }
                None
            }
        }
    }

    /// The number below which an expression never is.
    fn least(&self, expr: &Expr) -> Option<f64> {
        match bare(expr) {
            Expr::Member(member) => match own_key(&member.prop)?.as_str() {
                "length" | "size" => {
                    let own = self.uses.getters.contains("length") || self.uses.getters.contains("size");
                    (!own && !matches!(bare(&member.obj), Expr::This(_))).then_some(0.0)
                }
                _ => None,
            },
            Expr::Call(call) => {
                let Callee::Expr(callee) = &call.callee else { return None };
                let Expr::Member(member) = bare(callee) else { return None };
                match own_key(&member.prop)?.as_str() {
                    "indexOf" | "lastIndexOf" | "findIndex" | "search" => Some(-1.0),
                    "random" | "abs" | "sqrt" | "hypot" if matches!(bare(&member.obj), Expr::Ident(math) if &*math.sym == "Math") => {
                        Some(0.0)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Why a condition that holds once holds for ever, if it does.
    pub(super) fn stays(&self, test: &Expr, range: Range) -> Option<&'static str> {
        match self.truth(test) {
            Some(true) => return Some(ALWAYS),
            Some(false) => return None,
            None => {}
        }
        if self.fixed(test, range, &mut PARTS.clone()) {
            return Some(UNCHANGED);
        }
        match bare(test) {
            Expr::Bin(binary) => match binary.op {
                BinaryOp::LogicalAnd | BinaryOp::LogicalOr => {
                    let left = self.stays(&binary.left, range)?;
                    let right = self.stays(&binary.right, range)?;
                    Some(if left == ALWAYS || left == UNCHANGED { right } else { left })
                }
                op => self
                    .counts(op, &binary.left, &binary.right, range)
                    .or_else(|| self.counts(mirrored(op)?, &binary.right, &binary.left, range))
                    .or_else(|| self.refills(op, &binary.left, &binary.right, range)),
            },
            Expr::Member(member) => self.refilled(member, range),
            _ => None,
        }
    }

    /// Whether an expression has the same value throughout a range.
    pub(super) fn fixed(&self, expr: &Expr, range: Range, parts: &mut u32) -> bool {
        if *parts == 0 {
            return false;
        }
        *parts -= 1;
        match bare(expr) {
            Expr::Lit(_) => true,
            Expr::Tpl(template) => template.exprs.iter().all(|part| self.fixed(part, range, parts)),
            Expr::Ident(ident) => {
                if self.names.is_free(ident) {
                    return matches!(&*ident.sym, "undefined" | "NaN" | "Infinity");
                }
                let id = ident.to_id();
                if self.uses.is_fixed(&id, range) {
                    return true;
                }
                // A name that each round declares anew is what it is declared as.
                let declared = self
                    .uses
                    .writes_in(&id, range)
                    .is_some_and(|writes| matches!(writes, [Use { kind: Kind::Declared | Kind::Begun(_), .. }]));
                declared && self.names.origin(ident).is_some_and(|origin| self.fixed(origin, range, parts))
            }
            Expr::Unary(unary) => unary.op != UnaryOp::Delete && self.fixed(&unary.arg, range, parts),
            Expr::Bin(binary) => self.fixed(&binary.left, range, parts) && self.fixed(&binary.right, range, parts),
            Expr::Cond(choice) => {
                self.fixed(&choice.test, range, parts)
                    && self.fixed(&choice.cons, range, parts)
                    && self.fixed(&choice.alt, range, parts)
            }
            Expr::Member(member) => self.member_fixed(member, range, parts),
            Expr::Call(call) => self.call_fixed(call, range, parts),
            _ => false,
        }
    }

    fn member_fixed(&self, member: &MemberExpr, range: Range, parts: &mut u32) -> bool {
        let local = |expr: &Expr| match bare(expr) {
            Expr::Ident(ident) if !self.names.is_free(ident) => Some(ident.to_id()),
            _ => None,
        };
        match own_key(&member.prop) {
            Some(key) if key == "length" || key == "size" => {
                local(&member.obj).is_some_and(|id| self.uses.is_content_fixed(&id, range))
            }
            Some(key) => {
                let quiet = !self.uses.others_run(range);
                let object = match bare(&member.obj) {
                    Expr::This(_) => true,
                    Expr::Ident(_) => local(&member.obj).is_some_and(|id| {
                        self.uses.is_fixed(&id, range)
                            && self
                                .uses
                                .contents_in(&id, range)
                                .is_some_and(|uses| uses.iter().all(|one| one.kind == Kind::Plain && quiet))
                            && (quiet || self.uses.is_fresh(&id))
                    }),
                    Expr::Member(inner) => quiet && self.member_fixed(inner, range, parts),
                    _ => false,
                };
                object && self.uses.is_key_fixed(&key, range)
            }
            None => {
                let MemberProp::Computed(key) = &member.prop else { return false };
                local(&member.obj).is_some_and(|id| self.uses.is_content_fixed(&id, range))
                    && self.fixed(&key.expr, range, parts)
            }
        }
    }

    fn call_fixed(&self, call: &CallExpr, range: Range, parts: &mut u32) -> bool {
        let Callee::Expr(callee) = &call.callee else { return false };
        if !call.args.iter().all(|arg| arg.spread.is_none() && self.fixed(&arg.expr, range, parts)) {
            return false;
        }
        match bare(callee) {
            Expr::Member(member) => {
                let Some(name) = own_key(&member.prop) else { return false };
                match bare(&member.obj) {
                    Expr::Ident(object) if self.names.is_free(object) => {
                        matches!(
                            (&*object.sym, name.as_str()),
                            ("Number", "isNaN" | "isFinite" | "isInteger") | ("Array", "isArray")
                        ) || (&*object.sym == "Math" && name != "random")
                    }
                    Expr::Ident(object) => {
                        harmless_method(&name)
                            && !matches!(name.as_str(), "keys" | "values" | "entries")
                            && self.uses.is_content_fixed(&object.to_id(), range)
                            && !self.others_known(&object.to_id(), range)
                    }
                    _ => false,
                }
            }
            Expr::Ident(ident) => {
                self.names.is_free(ident)
                    && matches!(
                        &*ident.sym,
                        "isNaN" | "isFinite" | "Number" | "String" | "Boolean" | "parseInt" | "parseFloat"
                    )
            }
            _ => false,
        }
    }

    /// A method of something that somebody else made may give something else each time.
    fn others_known(&self, id: &Id, range: Range) -> bool {
        !self.uses.is_fresh(id) && self.uses.others_run(range)
    }

    /// A counter and its limit.
    fn counts(&self, op: BinaryOp, left: &Expr, right: &Expr, range: Range) -> Option<&'static str> {
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
    fn refills(&self, op: BinaryOp, left: &Expr, right: &Expr, range: Range) -> Option<&'static str> {
        let limit = self.number(right)?;
        let filled = matches!(op, BinaryOp::Gt | BinaryOp::NotEq | BinaryOp::NotEqEq) && limit == 0.0;
        let Expr::Member(member) = bare(left) else { return None };
        self.refilled(member, range).filter(|_| filled)
    }

    fn refilled(&self, member: &MemberExpr, range: Range) -> Option<&'static str> {
        let Expr::Ident(list) = bare(&member.obj) else { return None };
        if own_key(&member.prop)? != "length" {
            return None;
        }
        let (grown, shrunk) = self.balance(&list.to_id(), range)?;
        (grown > 0 && grown >= shrunk).then_some(GROWS)
    }

    /// By how much each round certainly makes a list longer, and at most shorter.
    pub(super) fn balance(&self, list: &Id, range: Range) -> Option<(u32, u32)> {
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
    pub(super) fn sticks(&self, test: &Expr, body: &Stmt, range: Range) -> bool {
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

/// `x !== 1 || x !== 2`: one of them always holds.
fn excludes(left: &Expr, right: &Expr) -> bool {
    let parts = |expr: &Expr| match bare(expr) {
        Expr::Bin(binary) if matches!(binary.op, BinaryOp::NotEq | BinaryOp::NotEqEq) => {
            match (bare(&binary.left), bare(&binary.right)) {
                (Expr::Ident(name), Expr::Lit(lit)) => Some((name.to_id(), constant(lit)?)),
                _ => None,
            }
        }
        _ => None,
    };
    matches!((parts(left), parts(right)), (Some((a, x)), Some((b, y))) if a == b && x != y)
}

fn constant(lit: &Lit) -> Option<String> {
    match lit {
        Lit::Num(number) => Some(number.value.to_string()),
        Lit::Str(text) => Some(format!("{:?}", text.value.to_string_lossy())),
        _ => None,
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
fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::LtEq => BinaryOp::GtEq,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::GtEq => BinaryOp::LtEq,
        BinaryOp::NotEq | BinaryOp::NotEqEq => op,
        _ => return None,
    })
}

/// Whether a comparison of two numbers holds.
fn holds(op: BinaryOp, a: f64, b: f64) -> Option<bool> {
    #[expect(clippy::float_cmp, reason = "it is what JavaScript compares")]
    Some(match op {
        BinaryOp::Lt => a < b,
        BinaryOp::LtEq => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::GtEq => a >= b,
        BinaryOp::EqEq | BinaryOp::EqEqEq => a == b,
        BinaryOp::NotEq | BinaryOp::NotEqEq => a != b,
        _ => return None,
    })
}
