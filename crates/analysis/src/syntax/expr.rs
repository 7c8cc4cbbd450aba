//! Helpers for syntactic variants of the same thing.

use swc_ecma_ast::{Expr, Id, MemberExpr, MemberProp, ObjectPatProp, OptChainBase, Pat, Stmt, TsEntityName};

/// Strips parentheses and casts from an expression; of a sequence, takes the last expression.
pub(crate) fn peel_parens(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => peel_parens(&paren.expr),
        Expr::Seq(seq) => seq.exprs.last().map_or(expr, |last| peel_parens(last)),
        Expr::TsAs(cast) => peel_parens(&cast.expr),
        Expr::TsNonNull(cast) => peel_parens(&cast.expr),
        Expr::TsSatisfies(cast) => peel_parens(&cast.expr),
        Expr::TsConstAssertion(cast) => peel_parens(&cast.expr),
        Expr::TsTypeAssertion(cast) => peel_parens(&cast.expr),
        Expr::OptChain(chain) => match &*chain.base {
            OptChainBase::Member(_) | OptChainBase::Call(_) => expr,
        },
        _ => expr,
    }
}

/// Returns whether this is `function () { return this }`: a plain call returns the global object.
pub(crate) fn returns_this(expr: &Expr) -> bool {
    let Expr::Fn(function) = peel_parens(expr) else { return false };
    let statements = function.function.body.as_ref().map(|body| body.stmts.as_slice()).unwrap_or_default();
    matches!(statements, [Stmt::Return(returned)]
        if returned.arg.as_deref().is_some_and(|arg| matches!(peel_parens(arg), Expr::This(_))))
}

/// Collects all names of a pattern.
pub(crate) fn pattern_ids(pat: &Pat, found: &mut Vec<Id>) {
    match pat {
        Pat::Ident(ident) => found.push(ident.to_id()),
        Pat::Array(array) => array.elems.iter().flatten().for_each(|elem| pattern_ids(elem, found)),
        Pat::Rest(rest) => pattern_ids(&rest.arg, found),
        Pat::Assign(assign) => pattern_ids(&assign.left, found),
        Pat::Object(object) => {
            for prop in &object.props {
                match prop {
                    ObjectPatProp::KeyValue(pair) => pattern_ids(&pair.value, found),
                    ObjectPatProp::Assign(short) => found.push(short.key.to_id()),
                    ObjectPatProp::Rest(rest) => pattern_ids(&rest.arg, found),
                }
            }
        }
        Pat::Expr(_) | Pat::Invalid(_) => {}
    }
}

/// Returns the target of `import a = b.c` as an expression.
pub(crate) fn entity_expr(name: &TsEntityName) -> Expr {
    match name {
        TsEntityName::Ident(ident) => Expr::Ident(ident.clone()),
        TsEntityName::TsQualifiedName(name) => Expr::Member(MemberExpr {
            span: name.span,
            obj: Box::new(entity_expr(&name.left)),
            prop: MemberProp::Ident(name.right.clone()),
        }),
    }
}
