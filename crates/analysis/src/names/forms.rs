//! Forms that one thing is written in.

use swc_ecma_ast::{Expr, Id, MemberExpr, MemberProp, ObjectPatProp, OptChainBase, Pat, Stmt, TsEntityName};

/// An expression without brackets and casts around it.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => bare(&paren.expr),
        Expr::Seq(seq) => seq.exprs.last().map_or(expr, |last| bare(last)),
        Expr::TsAs(cast) => bare(&cast.expr),
        Expr::TsNonNull(cast) => bare(&cast.expr),
        Expr::TsSatisfies(cast) => bare(&cast.expr),
        Expr::TsConstAssertion(cast) => bare(&cast.expr),
        Expr::TsTypeAssertion(cast) => bare(&cast.expr),
        Expr::OptChain(chain) => match &*chain.base {
            OptChainBase::Member(_) | OptChainBase::Call(_) => expr,
        },
        _ => expr,
    }
}

/// Whether this is `function () { return this }`: called, it gives the global object.
pub(super) fn returns_this(expr: &Expr) -> bool {
    let Expr::Fn(function) = bare(expr) else { return false };
    let statements = function.function.body.as_ref().map(|body| body.stmts.as_slice()).unwrap_or_default();
    matches!(statements, [Stmt::Return(returned)]
        if returned.arg.as_deref().is_some_and(|arg| matches!(bare(arg), Expr::This(_))))
}

/// All names of a pattern.
pub(super) fn ids(pat: &Pat, found: &mut Vec<Id>) {
    match pat {
        Pat::Ident(ident) => found.push(ident.to_id()),
        Pat::Array(array) => array.elems.iter().flatten().for_each(|elem| ids(elem, found)),
        Pat::Rest(rest) => ids(&rest.arg, found),
        Pat::Assign(assign) => ids(&assign.left, found),
        Pat::Object(object) => {
            for prop in &object.props {
                match prop {
                    ObjectPatProp::KeyValue(pair) => ids(&pair.value, found),
                    ObjectPatProp::Assign(short) => found.push(short.key.to_id()),
                    ObjectPatProp::Rest(rest) => ids(&rest.arg, found),
                }
            }
        }
        Pat::Expr(_) | Pat::Invalid(_) => {}
    }
}

/// What `import a = b.c` gives a name to.
pub(crate) fn entity(name: &TsEntityName) -> Expr {
    match name {
        TsEntityName::Ident(ident) => Expr::Ident(ident.clone()),
        TsEntityName::TsQualifiedName(name) => Expr::Member(MemberExpr {
            span: name.span,
            obj: Box::new(entity(&name.left)),
            prop: MemberProp::Ident(name.right.clone()),
        }),
    }
}
