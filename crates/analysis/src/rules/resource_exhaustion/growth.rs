//! Doublings: `s + s`, `[...list, ...list]`, `list.concat(list)`.
//!
//! Doubled numbers are not growth; the caller has to exclude them.

use rustc_hash::FxHashSet;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AssignExpr, AssignOp, BinaryOp, Callee, Expr, ExprOrSpread, Id, Pat, Prop,
    PropOrSpread, Stmt,
};

use crate::semantics::bindings::Bindings;
use crate::syntax::expr::peel_parens;
use crate::syntax::named_functions::NamedFunction;

/// Returns whether an assignment doubles the name on its left.
pub(super) fn doubles(assign: &AssignExpr, id: &Id, names: &Bindings, doubling: &FxHashSet<Id>) -> bool {
    match assign.op {
        AssignOp::AddAssign => is_ident(&assign.right, id) || doubled(&assign.right, id, names),
        AssignOp::Assign => {
            let through = matches!(peel_parens(&assign.right), Expr::Call(call)
                if matches!(&call.callee, Callee::Expr(callee)
                    if matches!(peel_parens(callee), Expr::Ident(function) if doubling.contains(&function.to_id())))
                    && call.args.first().is_some_and(|arg| is_ident(&arg.expr, id)));
            through || doubled(&assign.right, id, names)
        }
        _ => false,
    }
}

/// Returns whether an assignment multiplies the name on its left by itself.
pub(super) fn squares(assign: &AssignExpr, id: &Id) -> bool {
    match assign.op {
        AssignOp::MulAssign => is_ident(&assign.right, id),
        AssignOp::ExpAssign => true,
        AssignOp::Assign => matches!(peel_parens(&assign.right), Expr::Bin(binary)
            if matches!(binary.op, BinaryOp::Mul) && is_ident(&binary.left, id) && is_ident(&binary.right, id)),
        _ => false,
    }
}

fn is_ident(expr: &Expr, id: &Id) -> bool {
    matches!(peel_parens(expr), Expr::Ident(ident) if ident.to_id() == *id)
}

/// Returns whether an expression contains a name twice.
pub(super) fn doubled(expr: &Expr, id: &Id, names: &Bindings) -> bool {
    match peel_parens(expr) {
        Expr::Bin(binary) if binary.op == BinaryOp::Add => count_in_sum(expr, id, 16) >= 2,
        Expr::Tpl(template) => template.exprs.iter().filter(|part| is_ident(part, id)).count() >= 2,
        Expr::Array(list) => list.elems.iter().flatten().filter(|elem| is_ident(&elem.expr, id)).count() >= 2,
        Expr::Object(object) => {
            let holds = |prop: &&PropOrSpread| matches!(prop, PropOrSpread::Prop(prop) if matches!(&**prop, Prop::KeyValue(pair) if is_ident(&pair.value, id)));
            object.props.iter().filter(holds).count() >= 2
        }
        Expr::Call(call) => {
            let Callee::Expr(callee) = &call.callee else { return false };
            let Expr::Member(member) = peel_parens(callee) else { return false };
            let first = call.args.first();
            match names.key(&member.prop).as_text() {
                Some("concat") => {
                    let times = call.args.iter().filter(|arg| is_ident(&arg.expr, id)).count();
                    let lists = first.is_some_and(|arg| doubled(&arg.expr, id, names));
                    lists || times + usize::from(is_ident(&member.obj, id)) >= 2
                }
                Some("repeat") => {
                    let times = first.and_then(|arg| names.value(&arg.expr).as_number());
                    is_ident(&member.obj, id) && times.is_some_and(|times| times >= 2.0)
                }
                Some("flatMap" | "map") => is_ident(&member.obj, id) && first.is_some_and(returns_pair),
                Some("join" | "flat") => doubled(&member.obj, id, names),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Returns the number of times that a name occurs in a sum.
fn count_in_sum(expr: &Expr, id: &Id, depth: u32) -> u32 {
    match peel_parens(expr) {
        Expr::Bin(binary) if binary.op == BinaryOp::Add && depth > 0 => {
            count_in_sum(&binary.left, id, depth - 1) + count_in_sum(&binary.right, id, depth - 1)
        }
        other => u32::from(is_ident(other, id)),
    }
}

/// Returns whether an argument is `(x) => [x, x]`.
fn returns_pair(arg: &ExprOrSpread) -> bool {
    doubles_by(
        &arg.expr,
        |body, id| matches!(peel_parens(body), Expr::Array(list) if list.elems.iter().flatten().filter(|elem| is_ident(&elem.expr, id)).count() >= 2),
    )
}

/// Returns whether a function returns its first parameter twice.
pub(super) fn doubles_first(function: &Expr, names: &Bindings) -> bool {
    doubles_by(function, |body, id| doubled(body, id, names))
}

/// Returns whether a named function returns its first parameter twice.
pub(super) fn is_doubling(function: NamedFunction<'_>, names: &Bindings) -> bool {
    match function {
        NamedFunction::Declared(function) => {
            let first = function.params.first().map(|param| &param.pat);
            let body = function.body.as_ref().map(|body| body.stmts.as_slice()).unwrap_or_default();
            matches!(first, Some(Pat::Ident(first))
                if sole_return(body).is_some_and(|body| doubled(body, &first.id.to_id(), names)))
        }
        NamedFunction::Assigned(_) => false,
        NamedFunction::Arrow(arrow) => arrow_doubles_by(arrow, |body, id| doubled(body, id, names)),
    }
}

fn doubles_by(function: &Expr, check: impl Fn(&Expr, &Id) -> bool) -> bool {
    matches!(peel_parens(function), Expr::Arrow(arrow) if arrow_doubles_by(arrow, check))
}

fn arrow_doubles_by(arrow: &ArrowExpr, check: impl Fn(&Expr, &Id) -> bool) -> bool {
    let Some(Pat::Ident(first)) = arrow.params.first() else { return false };
    let id = first.id.to_id();
    match &*arrow.body {
        ArrowFunctionBody::Expr(body) => check(body, &id),
        ArrowFunctionBody::FunctionBody(body) => sole_return(&body.stmts).is_some_and(|body| check(body, &id)),
    }
}

fn sole_return(stmts: &[Stmt]) -> Option<&Expr> {
    match stmts {
        [Stmt::Return(node)] => node.arg.as_deref(),
        _ => None,
    }
}
