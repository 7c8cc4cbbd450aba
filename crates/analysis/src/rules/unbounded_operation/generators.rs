//! All values of a generator that never stops.
//!
//! Invariant: what takes a number of values, or stops by itself, is left alone.

use rustc_hash::FxHashSet;
use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{ArrayPat, CallExpr, Callee, Expr, ExprOrSpread, Id, NewExpr, Pat, Program, VarDeclarator};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::uses::own_key;
use super::condition::Judge;
use super::loops::Flow;
use crate::names::bare;

/// Where all values are taken, and of what.
pub(super) fn drained(program: &Program, judge: &Judge<'_>, flow: &Flow) -> Vec<(Span, Atom)> {
    let mut endless = flow.generators.clone();
    for _ in 0..4 {
        for (own, other) in &flow.delegates {
            if own == other || endless.contains(other) {
                endless.insert(own.clone());
            }
        }
    }
    if endless.is_empty() && !flow.methods.values().any(|endless| *endless) {
        return Vec::new();
    }
    let mut drains = Drains { judge, flow, endless, found: Vec::new() };
    for (expr, span) in &flow.drains {
        drains.take(expr, *span);
    }
    program.visit_with(&mut drains);
    drains.found
}

struct Drains<'a> {
    judge: &'a Judge<'a>,
    flow: &'a Flow,
    endless: FxHashSet<Id>,
    found: Vec<(Span, Atom)>,
}

impl Drains<'_> {
    fn take(&mut self, expr: &Expr, span: Span) {
        if let Some(name) = self.source(expr, 8) {
            self.found.push((span, name));
        }
    }

    fn method(&self, name: &Atom) -> Option<Atom> {
        self.flow.methods.get(name).filter(|endless| **endless).map(|_| name.clone())
    }

    /// The endless generator that an expression gives the values of.
    fn source(&self, expr: &Expr, steps: u32) -> Option<Atom> {
        let steps = steps.checked_sub(1)?;
        match bare(expr) {
            Expr::Ident(ident) => match bare(self.judge.names.origin(ident)?) {
                origin @ (Expr::Call(_) | Expr::New(_) | Expr::Ident(_) | Expr::Object(_)) => {
                    self.source(origin, steps)
                }
                _ => None,
            },
            Expr::Object(object) => {
                let iterates = object.props.iter().any(|prop| {
                    matches!(prop, swc_ecma_ast::PropOrSpread::Prop(prop) if matches!(&**prop, swc_ecma_ast::Prop::Method(method)
                        if super::loops::key_name(&method.key).as_deref() == Some("@@iterator")))
                });
                self.method(&"@@iterator".into()).filter(|_| iterates)
            }
            Expr::New(new) => {
                let own = matches!(bare(&new.callee), Expr::Ident(ident) if !self.judge.names.is_free(ident));
                self.method(&"@@iterator".into()).filter(|_| own)
            }
            Expr::Call(call) => {
                let Callee::Expr(callee) = &call.callee else { return None };
                match bare(callee) {
                    Expr::Ident(ident) => self.endless.contains(&ident.to_id()).then(|| ident.sym.clone()),
                    Expr::Member(member) => {
                        let name = own_key(&member.prop)?;
                        if matches!(name.as_str(), "map" | "filter" | "drop" | "flatMap" | "values" | "entries") {
                            return self.source(&member.obj, steps);
                        }
                        self.method(&name)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl Visit for Drains<'_> {
    fn visit_expr_or_spread(&mut self, item: &ExprOrSpread) {
        if item.spread.is_some() {
            self.take(&item.expr, item.expr.span());
        }
        item.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Expr::Member(member) = bare(callee)
            && let Some(name) = own_key(&member.prop)
        {
            let object = match bare(&member.obj) {
                Expr::Ident(ident) if self.judge.names.is_free(ident) => &*ident.sym,
                _ => "",
            };
            let first = call.args.first().filter(|arg| arg.spread.is_none());
            match (object, name.as_str(), first) {
                ("Array", "from" | "fromAsync", Some(first))
                | ("Object", "fromEntries", Some(first))
                | ("Promise", "all" | "allSettled", Some(first)) => self.take(&first.expr, call.span),
                ("", "toArray" | "reduce" | "forEach", _) => self.take(&member.obj, call.span),
                _ => {}
            }
        }
        call.visit_children_with(self);
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        if let Expr::Ident(ident) = bare(&new.callee)
            && self.judge.names.is_free(ident)
            && matches!(&*ident.sym, "Set" | "Map" | "Uint8Array" | "Float64Array")
            && let Some(first) = new.args.as_deref().and_then(<[_]>::first)
        {
            self.take(&first.expr, new.span);
        }
        new.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let (Pat::Array(ArrayPat { elems, .. }), Some(init)) = (&declarator.name, &declarator.init)
            && matches!(elems.last(), Some(Some(Pat::Rest(_))))
        {
            self.take(init, declarator.span);
        }
        declarator.visit_children_with(self);
    }
}
