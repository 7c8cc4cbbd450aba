//! What makes two of one: `s + s`, `[...list, ...list]`, `list.concat(list)`.
//!
//! Invariant: numbers that are doubled are no growth; whoever asks knows that it is none.

use rustc_hash::FxHashSet;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AssignExpr, AssignOp, BinaryOp, Callee, Expr, ExprOrSpread, Id, Pat, Prop,
    PropOrSpread, Stmt,
};

use super::super::functions::Named;
use crate::names::{Names, bare};

/// Whether an assignment doubles the name on its left.
pub(super) fn doubles(assign: &AssignExpr, id: &Id, names: &Names, doubling: &FxHashSet<Id>) -> bool {
    match assign.op {
        AssignOp::AddAssign => is(&assign.right, id) || doubled(&assign.right, id, names),
        AssignOp::Assign => {
            let through = matches!(bare(&assign.right), Expr::Call(call)
                if matches!(&call.callee, Callee::Expr(callee)
                    if matches!(bare(callee), Expr::Ident(function) if doubling.contains(&function.to_id())))
                    && call.args.first().is_some_and(|arg| is(&arg.expr, id)));
            through || doubled(&assign.right, id, names)
        }
        _ => false,
    }
}

/// Whether an assignment multiplies the name on its left with itself.
pub(super) fn squares(assign: &AssignExpr, id: &Id) -> bool {
    match assign.op {
        AssignOp::MulAssign => is(&assign.right, id),
        AssignOp::ExpAssign => true,
        AssignOp::Assign => matches!(bare(&assign.right), Expr::Bin(binary)
            if matches!(binary.op, BinaryOp::Mul) && is(&binary.left, id) && is(&binary.right, id)),
        _ => false,
    }
}

fn is(expr: &Expr, id: &Id) -> bool {
    matches!(bare(expr), Expr::Ident(ident) if ident.to_id() == *id)
}

/// Whether an expression is made of a name twice.
pub(super) fn doubled(expr: &Expr, id: &Id, names: &Names) -> bool {
    match bare(expr) {
        Expr::Bin(binary) if binary.op == BinaryOp::Add => parts(expr, id, 16) >= 2,
        Expr::Tpl(template) => template.exprs.iter().filter(|part| is(part, id)).count() >= 2,
        Expr::Array(list) => list.elems.iter().flatten().filter(|elem| is(&elem.expr, id)).count() >= 2,
        Expr::Object(object) => {
            let holds = |prop: &&PropOrSpread| matches!(prop, PropOrSpread::Prop(prop) if matches!(&**prop, Prop::KeyValue(pair) if is(&pair.value, id)));
            object.props.iter().filter(holds).count() >= 2
        }
        Expr::Call(call) => {
            let Callee::Expr(callee) = &call.callee else { return false };
            let Expr::Member(member) = bare(callee) else { return false };
            let first = call.args.first();
            match names.key(&member.prop).as_text() {
                Some("concat") => {
                    let times = call.args.iter().filter(|arg| is(&arg.expr, id)).count();
                    let lists = first.is_some_and(|arg| doubled(&arg.expr, id, names));
                    lists || times + usize::from(is(&member.obj, id)) >= 2
                }
                Some("repeat") => {
                    let times = first.and_then(|arg| names.value(&arg.expr).as_number());
                    is(&member.obj, id) && times.is_some_and(|times| times >= 2.0)
                }
                Some("flatMap" | "map") => is(&member.obj, id) && first.is_some_and(pairs),
                Some("join" | "flat") => doubled(&member.obj, id, names),
                _ => false,
            }
        }
        _ => false,
    }
}

/// How often a name stands in a sum.
fn parts(expr: &Expr, id: &Id, depth: u32) -> u32 {
    match bare(expr) {
        Expr::Bin(binary) if binary.op == BinaryOp::Add && depth > 0 => {
            parts(&binary.left, id, depth - 1) + parts(&binary.right, id, depth - 1)
        }
        other => u32::from(is(other, id)),
    }
}

/// `(x) => [x, x]`
fn pairs(arg: &ExprOrSpread) -> bool {
    doubles_by(
        &arg.expr,
        |body, id| matches!(bare(body), Expr::Array(list) if list.elems.iter().flatten().filter(|elem| is(&elem.expr, id)).count() >= 2),
    )
}

/// Whether a function gives back its first parameter twice.
pub(super) fn doubles_first(function: &Expr, names: &Names) -> bool {
    doubles_by(function, |body, id| doubled(body, id, names))
}

/// Whether a function with a name does.
pub(super) fn is_doubling(function: Named<'_>, names: &Names) -> bool {
    match function {
        Named::Declared(function) => {
            let first = function.params.first().map(|param| &param.pat);
            let body = function.body.as_ref().map(|body| body.stmts.as_slice()).unwrap_or_default();
            matches!(first, Some(Pat::Ident(first))
                if returned(body).is_some_and(|body| doubled(body, &first.id.to_id(), names)))
        }
        Named::Assigned(_) => false,
        Named::Arrow(arrow) => arrow_doubles_by(arrow, |body, id| doubled(body, id, names)),
    }
}

fn doubles_by(function: &Expr, check: impl Fn(&Expr, &Id) -> bool) -> bool {
    matches!(bare(function), Expr::Arrow(arrow) if arrow_doubles_by(arrow, check))
}

fn arrow_doubles_by(arrow: &ArrowExpr, check: impl Fn(&Expr, &Id) -> bool) -> bool {
    let Some(Pat::Ident(first)) = arrow.params.first() else { return false };
    let id = first.id.to_id();
    match &*arrow.body {
        ArrowFunctionBody::Expr(body) => check(body, &id),
        ArrowFunctionBody::FunctionBody(body) => returned(&body.stmts).is_some_and(|body| check(body, &id)),
    }
}

fn returned(stmts: &[Stmt]) -> Option<&Expr> {
    match stmts {
        [Stmt::Return(node)] => node.arg.as_deref(),
        _ => None,
    }
}
