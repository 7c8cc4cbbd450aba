//! Loop conditions that can never become false.
//!
//! Invariant: a condition stays true only if nothing that it depends on changes, or if every change
//! leads away from its limit. Code that is not understood may change anything.

mod induction;

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_ecma_ast::{BinExpr, BinaryOp, CallExpr, Callee, Expr, Id, Lit, MemberExpr, MemberProp, UnaryOp};
use toolcell_i18n::msgid;

use crate::semantics::bindings::Bindings;
use crate::semantics::mutation::{Mutation, MutationKind, Mutations, SourceRange, is_nonmutating_method, static_key};
use crate::semantics::value::Value;
use crate::syntax::expr::peel_parens;

/// The maximum number of inspected parts of a condition.
const MAX_PARTS: u32 = 64;

pub(super) const UNCHANGED: &str = msgid!("loops without end: what its condition depends on never changes");
pub(super) const ALWAYS: &str = msgid!("loops without end: the condition is always true");
const AWAY: &str = msgid!("loops without end: its counter moves away from the limit");
const MISSED: &str = msgid!("loops without end: its counter never reaches the limit");
const GROWS: &str = msgid!("loops without end: the limit grows with each iteration");
const AGAIN: &str = msgid!("loops without end: its counter is reset in each iteration");

/// The analyzer of conditions.
pub(in crate::rules) struct ConditionAnalyzer<'a> {
    pub(in crate::rules) names: &'a Bindings<'a>,
    pub(in crate::rules) mutations: &'a Mutations,
    /// Functions that always return something true, or something false.
    pub(in crate::rules) constant_functions: FxHashMap<Id, bool>,
}

impl ConditionAnalyzer<'_> {
    /// Returns the number that an expression certainly is.
    pub(in crate::rules) fn number(&self, expr: &Expr) -> Option<f64> {
        match peel_parens(expr) {
            Expr::Member(member) => {
                if let Expr::Ident(object) = peel_parens(&member.obj)
                    && self.names.is_free(object)
                    && &*object.sym == "Number"
                {
                    return match static_key(&member.prop)?.as_str() {
                        "POSITIVE_INFINITY" => Some(f64::INFINITY),
                        "MAX_VALUE" => Some(f64::MAX),
                        "MAX_SAFE_INTEGER" => Some(9_007_199_254_740_991.0),
                        _ => None,
                    };
                }
                // `limits.most`, of an object that nothing changes.
                let key = static_key(&member.prop)?;
                let all = SourceRange { start: 0, end: u32::MAX, function: 0, loop_start: 0 };
                if key == "length" || !self.mutations.is_key_unchanged(&key, all) {
                    return None;
                }
                self.names.value(expr).as_number()
            }
            // If a name is changed somewhere, its value is only valid for some time.
            Expr::Ident(ident) if self.mutations.writes(&ident.to_id()).len() > 1 => None,
            Expr::Lit(_) | Expr::Ident(_) => self.names.value(expr).as_number(),
            Expr::Unary(unary) => {
                let number = Value::Number(self.number(&unary.arg)?);
                crate::semantics::fold::unary(unary.op, &number).as_number()
            }
            Expr::Bin(binary) => {
                let (left, right) = (self.number(&binary.left)?, self.number(&binary.right)?);
                crate::semantics::fold::binary(binary.op, &Value::Number(left), &Value::Number(right)).as_number()
            }
            Expr::Call(call) => {
                // `Number("5e8")`.
                let Callee::Expr(callee) = &call.callee else { return None };
                let free = matches!(peel_parens(callee), Expr::Ident(ident) if self.names.is_free(ident));
                let literal = matches!(call.args.as_slice(), [arg] if matches!(peel_parens(&arg.expr), Expr::Lit(_)));
                (free && literal).then(|| self.names.value(expr).as_number()).flatten()
            }
            _ => None,
        }
    }

    /// Returns whether an expression is certainly true, or certainly false.
    pub(in crate::rules) fn truth(&self, expr: &Expr) -> Option<bool> {
        match peel_parens(expr) {
            Expr::Lit(Lit::BigInt(number)) => Some(number.value.to_string() != "0"),
            Expr::Ident(ident) if self.mutations.writes(&ident.to_id()).len() > 1 => None,
            Expr::Lit(_) | Expr::Ident(_) => self.names.value(expr).to_boolean(),
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
            Expr::Bin(binary) => self.eval_comparison(binary),
            Expr::Call(call) => self.eval_call(call),
            _ => None,
        }
    }

    fn eval_call(&self, call: &CallExpr) -> Option<bool> {
        let Callee::Expr(callee) = &call.callee else { return None };
        let Expr::Ident(ident) = peel_parens(callee) else { return None };
        if self.names.is_free(ident) {
            let boolean = &*ident.sym == "Boolean";
            return call.args.first().filter(|_| boolean).and_then(|arg| self.truth(&arg.expr));
        }
        self.constant_functions.get(&ident.to_id()).copied()
    }

    fn eval_comparison(&self, binary: &BinExpr) -> Option<bool> {
        use BinaryOp::{EqEq, EqEqEq, Gt, GtEq, LogicalAnd, LogicalOr, NotEq, NotEqEq};
        let (left, right) = (&*binary.left, &*binary.right);
        match binary.op {
            LogicalOr => match (self.truth(left), self.truth(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), other) => other,
                _ => one_always_differs(left, right).then_some(true),
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
                    return compare_numbers(binary.op, a, b);
                }
                // Some expressions have a lower bound.
                let least = number.zip(self.lower_bound(left)).map(|(number, least)| match binary.op {
                    GtEq => least >= number,
                    Gt | NotEq | NotEqEq => least > number,
                    _ => false,
                });
                if least == Some(true) {
                    return Some(true);
                }
                let plain = |expr: &Expr| {
                    matches!(peel_parens(expr), Expr::Lit(_) | Expr::Ident(_) | Expr::Bin(_) | Expr::Unary(_))
                };
                if matches!(binary.op, EqEq | EqEqEq | NotEq | NotEqEq) && plain(left) && plain(right) {
                    let equal = |expr: &Expr| match peel_parens(expr) {
                        Expr::Ident(ident) => self.mutations.writes(&ident.to_id()).len() <= 1,
                        other => matches!(other, Expr::Lit(_)),
                    };
                    if equal(left) && equal(right) {
                        return crate::semantics::fold::binary(
                            binary.op,
                            &self.names.value(left),
                            &self.names.value(right),
                        )
                        .to_boolean();
                    }
                }
                None
            }
        }
    }

    /// Returns the lower bound of an expression.
    fn lower_bound(&self, expr: &Expr) -> Option<f64> {
        match peel_parens(expr) {
            Expr::Member(member) => match static_key(&member.prop)?.as_str() {
                "length" | "size" => {
                    let own =
                        ["length", "size"].into_iter().any(|key| self.mutations.getters.contains(&Atom::from(key)));
                    (!own && !matches!(peel_parens(&member.obj), Expr::This(_))).then_some(0.0)
                }
                _ => None,
            },
            Expr::Call(call) => {
                let Callee::Expr(callee) = &call.callee else { return None };
                let Expr::Member(member) = peel_parens(callee) else { return None };
                match static_key(&member.prop)?.as_str() {
                    "indexOf" | "lastIndexOf" | "findIndex" | "search" => Some(-1.0),
                    "random" | "abs" | "sqrt" | "hypot" if matches!(peel_parens(&member.obj), Expr::Ident(math) if &*math.sym == "Math") => {
                        Some(0.0)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns why a condition that holds once always holds, or `None`.
    pub(super) fn why_always_true(&self, test: &Expr, range: SourceRange) -> Option<&'static str> {
        match self.truth(test) {
            Some(true) => return Some(ALWAYS),
            Some(false) => return None,
            None => {}
        }
        if self.is_invariant(test, range, &mut MAX_PARTS.clone()) {
            return Some(UNCHANGED);
        }
        match peel_parens(test) {
            Expr::Bin(binary) => match binary.op {
                BinaryOp::LogicalAnd | BinaryOp::LogicalOr => {
                    let left = self.why_always_true(&binary.left, range)?;
                    let right = self.why_always_true(&binary.right, range)?;
                    Some(if left == ALWAYS || left == UNCHANGED { right } else { left })
                }
                op => self
                    .why_counter_stays(op, &binary.left, &binary.right, range)
                    .or_else(|| self.why_counter_stays(induction::swap_sides(op)?, &binary.right, &binary.left, range))
                    .or_else(|| self.why_length_stays(op, &binary.left, &binary.right, range)),
            },
            Expr::Member(member) => self.why_refilled(member, range),
            _ => None,
        }
    }

    /// Returns whether an expression is invariant in a range.
    pub(super) fn is_invariant(&self, expr: &Expr, range: SourceRange, parts: &mut u32) -> bool {
        if *parts == 0 {
            return false;
        }
        *parts -= 1;
        match peel_parens(expr) {
            Expr::Lit(_) => true,
            Expr::Tpl(template) => template.exprs.iter().all(|part| self.is_invariant(part, range, parts)),
            Expr::Ident(ident) => {
                if self.names.is_free(ident) {
                    return matches!(&*ident.sym, "undefined" | "NaN" | "Infinity");
                }
                let id = ident.to_id();
                if self.mutations.is_unchanged(&id, range) {
                    return true;
                }
                // A name that is declared anew in each round is as invariant as its initial value.
                let declared = self.mutations.writes_in(&id, range).is_some_and(|writes| {
                    matches!(writes, [Mutation { kind: MutationKind::Declared | MutationKind::DeclaredNumber(_), .. }])
                });
                declared
                    && self.names.sole_initializer(ident).is_some_and(|origin| self.is_invariant(origin, range, parts))
            }
            Expr::Unary(unary) => unary.op != UnaryOp::Delete && self.is_invariant(&unary.arg, range, parts),
            Expr::Bin(binary) => {
                self.is_invariant(&binary.left, range, parts) && self.is_invariant(&binary.right, range, parts)
            }
            Expr::Cond(choice) => {
                self.is_invariant(&choice.test, range, parts)
                    && self.is_invariant(&choice.cons, range, parts)
                    && self.is_invariant(&choice.alt, range, parts)
            }
            Expr::Member(member) => self.is_member_invariant(member, range, parts),
            Expr::Call(call) => self.is_call_invariant(call, range, parts),
            _ => false,
        }
    }

    fn is_member_invariant(&self, member: &MemberExpr, range: SourceRange, parts: &mut u32) -> bool {
        let local = |expr: &Expr| match peel_parens(expr) {
            Expr::Ident(ident) if !self.names.is_free(ident) => Some(ident.to_id()),
            _ => None,
        };
        match static_key(&member.prop) {
            Some(key) if key == "length" || key == "size" => {
                local(&member.obj).is_some_and(|id| self.mutations.is_content_unchanged(&id, range))
            }
            Some(key) => {
                let quiet = !self.mutations.has_unknown_effects(range);
                let object = match peel_parens(&member.obj) {
                    Expr::This(_) => true,
                    Expr::Ident(_) => local(&member.obj).is_some_and(|id| {
                        self.mutations.is_unchanged(&id, range)
                            && self
                                .mutations
                                .contents_in(&id, range)
                                .is_some_and(|uses| uses.iter().all(|one| one.kind == MutationKind::Escaped && quiet))
                            && (quiet || self.mutations.is_fresh(&id))
                    }),
                    Expr::Member(inner) => quiet && self.is_member_invariant(inner, range, parts),
                    _ => false,
                };
                object && self.mutations.is_key_unchanged(&key, range)
            }
            None => {
                let MemberProp::Computed(key) = &member.prop else { return false };
                local(&member.obj).is_some_and(|id| self.mutations.is_content_unchanged(&id, range))
                    && self.is_invariant(&key.expr, range, parts)
            }
        }
    }

    fn is_call_invariant(&self, call: &CallExpr, range: SourceRange, parts: &mut u32) -> bool {
        let Callee::Expr(callee) = &call.callee else { return false };
        if !call.args.iter().all(|arg| arg.spread.is_none() && self.is_invariant(&arg.expr, range, parts)) {
            return false;
        }
        match peel_parens(callee) {
            Expr::Member(member) => {
                let Some(name) = static_key(&member.prop) else { return false };
                match peel_parens(&member.obj) {
                    Expr::Ident(object) if self.names.is_free(object) => {
                        matches!(
                            (&*object.sym, name.as_str()),
                            ("Number", "isNaN" | "isFinite" | "isInteger") | ("Array", "isArray")
                        ) || (&*object.sym == "Math" && name != "random")
                    }
                    Expr::Ident(object) => {
                        is_nonmutating_method(&name)
                            && !matches!(name.as_str(), "keys" | "values" | "entries")
                            && self.mutations.is_content_unchanged(&object.to_id(), range)
                            && !self.may_change_elsewhere(&object.to_id(), range)
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

    /// Returns whether methods of an object may return something else each time, because it is
    /// shared with other code.
    fn may_change_elsewhere(&self, id: &Id, range: SourceRange) -> bool {
        !self.mutations.is_fresh(id) && self.mutations.has_unknown_effects(range)
    }
}

/// Returns whether the condition is like `x !== 1 || x !== 2`, which always holds.
fn one_always_differs(left: &Expr, right: &Expr) -> bool {
    let parts = |expr: &Expr| match peel_parens(expr) {
        Expr::Bin(binary) if matches!(binary.op, BinaryOp::NotEq | BinaryOp::NotEqEq) => {
            match (peel_parens(&binary.left), peel_parens(&binary.right)) {
                (Expr::Ident(name), Expr::Lit(lit)) => Some((name.to_id(), literal_key(lit)?)),
                _ => None,
            }
        }
        _ => None,
    };
    matches!((parts(left), parts(right)), (Some((a, x)), Some((b, y))) if a == b && x != y)
}

fn literal_key(lit: &Lit) -> Option<String> {
    match lit {
        Lit::Num(number) => Some(number.value.to_string()),
        Lit::Str(text) => Some(format!("{:?}", text.value.to_string_lossy())),
        _ => None,
    }
}

/// Evaluates a comparison of two numbers.
fn compare_numbers(op: BinaryOp, a: f64, b: f64) -> Option<bool> {
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
