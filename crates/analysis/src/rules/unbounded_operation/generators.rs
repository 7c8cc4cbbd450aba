//! Consumption of all values of an endless generator.
//!
//! Invariant: code that takes a limited number of values, or stops by itself, is not reported.

use rustc_hash::FxHashSet;
use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{ArrayPat, CallExpr, Callee, Expr, ExprOrSpread, Id, NewExpr, Pat, Program, VarDeclarator};
use swc_ecma_visit::{Visit, VisitWith};

use super::condition::ConditionAnalyzer;
use super::loops::LoopReport;
use crate::semantics::mutation::static_key;
use crate::syntax::expr::peel_parens;

/// Returns the places that consume all values of an endless generator, with its name.
pub(super) fn find_drained(program: &Program, judge: &ConditionAnalyzer<'_>, flow: &LoopReport) -> Vec<(Span, Atom)> {
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
    let mut drains = DrainVisitor { conditions: judge, loops: flow, endless, found: Vec::new() };
    for (expr, span) in &flow.drains {
        drains.check_drained(expr, *span);
    }
    program.visit_with(&mut drains);
    drains.found
}

struct DrainVisitor<'a> {
    conditions: &'a ConditionAnalyzer<'a>,
    loops: &'a LoopReport,
    endless: FxHashSet<Id>,
    found: Vec<(Span, Atom)>,
}

impl DrainVisitor<'_> {
    fn check_drained(&mut self, expr: &Expr, span: Span) {
        if let Some(name) = self.endless_source(expr, 8) {
            self.found.push((span, name));
        }
    }

    fn endless_method(&self, name: &Atom) -> Option<Atom> {
        self.loops.methods.get(name).filter(|endless| **endless).map(|_| name.clone())
    }

    /// Returns the endless generator that an expression iterates over.
    fn endless_source(&self, expr: &Expr, steps: u32) -> Option<Atom> {
        let steps = steps.checked_sub(1)?;
        match peel_parens(expr) {
            Expr::Ident(ident) => match peel_parens(self.conditions.names.sole_initializer(ident)?) {
                origin @ (Expr::Call(_) | Expr::New(_) | Expr::Ident(_) | Expr::Object(_)) => {
                    self.endless_source(origin, steps)
                }
                _ => None,
            },
            Expr::Object(object) => {
                let iterates = object.props.iter().any(|prop| {
                    matches!(prop, swc_ecma_ast::PropOrSpread::Prop(prop) if matches!(&**prop, swc_ecma_ast::Prop::Method(method)
                        if super::loops::key_name(&method.key).as_deref() == Some("@@iterator")))
                });
                self.endless_method(&"@@iterator".into()).filter(|_| iterates)
            }
            Expr::New(new) => {
                let own =
                    matches!(peel_parens(&new.callee), Expr::Ident(ident) if !self.conditions.names.is_free(ident));
                self.endless_method(&"@@iterator".into()).filter(|_| own)
            }
            Expr::Call(call) => {
                let Callee::Expr(callee) = &call.callee else { return None };
                match peel_parens(callee) {
                    Expr::Ident(ident) => self.endless.contains(&ident.to_id()).then(|| ident.sym.clone()),
                    Expr::Member(member) => {
                        let name = static_key(&member.prop)?;
                        if matches!(name.as_str(), "map" | "filter" | "drop" | "flatMap" | "values" | "entries") {
                            return self.endless_source(&member.obj, steps);
                        }
                        self.endless_method(&name)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl Visit for DrainVisitor<'_> {
    fn visit_expr_or_spread(&mut self, item: &ExprOrSpread) {
        if item.spread.is_some() {
            self.check_drained(&item.expr, item.expr.span());
        }
        item.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Expr::Member(member) = peel_parens(callee)
            && let Some(name) = static_key(&member.prop)
        {
            let object = match peel_parens(&member.obj) {
                Expr::Ident(ident) if self.conditions.names.is_free(ident) => &*ident.sym,
                _ => "",
            };
            let first = call.args.first().filter(|arg| arg.spread.is_none());
            match (object, name.as_str(), first) {
                ("Array", "from" | "fromAsync", Some(first))
                | ("Object", "fromEntries", Some(first))
                | ("Promise", "all" | "allSettled", Some(first)) => self.check_drained(&first.expr, call.span),
                ("", "toArray" | "reduce" | "forEach", _) => self.check_drained(&member.obj, call.span),
                _ => {}
            }
        }
        call.visit_children_with(self);
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        if let Expr::Ident(ident) = peel_parens(&new.callee)
            && self.conditions.names.is_free(ident)
            && matches!(&*ident.sym, "Set" | "Map" | "Uint8Array" | "Float64Array")
            && let Some(first) = new.args.as_deref().and_then(<[_]>::first)
        {
            self.check_drained(&first.expr, new.span);
        }
        new.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let (Pat::Array(ArrayPat { elems, .. }), Some(init)) = (&declarator.name, &declarator.init)
            && matches!(elems.last(), Some(Some(Pat::Rest(_))))
        {
            self.check_drained(init, declarator.span);
        }
        declarator.visit_children_with(self);
    }
}
