//! Whether the condition of a loop can ever become false.
//!
//! Invariant: a condition stays true only if nothing that it depends on changes, or if every change leads away from
//! its limit; what is not understood may change.

mod counters;

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_ecma_ast::{BinExpr, BinaryOp, CallExpr, Callee, Expr, Id, Lit, MemberExpr, MemberProp, UnaryOp};

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
    pub(in super::super) names: &'a Names<'a>,
    pub(in super::super) uses: &'a Uses,
    /// Functions that always return something true, or false.
    pub(in super::super) constant: FxHashMap<Id, bool>,
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
                    let own = ["length", "size"].into_iter().any(|key| self.uses.getters.contains(&Atom::from(key)));
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
                    .or_else(|| self.counts(counters::mirrored(op)?, &binary.right, &binary.left, range))
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
