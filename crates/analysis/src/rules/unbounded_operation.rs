//! `unbounded-operation`: work that cannot end by itself. Fuel ends it; that is a waste of fuel, and a tool that fails.
//!
//! Loops are walked once with what leaves them ([`loops`]); those that nothing leaves are judged by their condition
//! ([`condition`]). Functions are judged by what they call on every path ([`recursion`]).
//!
//! Invariant: what cannot be decided is not said.

mod condition;
mod generators;
mod loops;
mod recursion;
mod shrinking;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use swc_ecma_ast::{ArrowFunctionBody, Expr, Id, Program, Stmt, VarDeclarator};
use swc_ecma_visit::{Visit, VisitWith};

use super::{Findings, Rule, Source};
use crate::finding::{RuleId, Severity};
use crate::names::bare;
pub(super) use condition::Judge;

pub(super) const RULE: Rule = Rule {
    id: RuleId("unbounded-operation"),
    worst: Severity::High,
    page: include_str!("unbounded_operation.md"),
    check,
};

const LOOP: &str = "give the loop a way out: a condition that changes, `break`, `return`";
const RECURSION: &str = "return without calling itself where the input is small enough";
const GENERATOR: &str = "take a number of values: stop the loop with `break` or `return`";

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    let mut judge = Judge { names: source.names, uses: source.uses(), constant: FxHashMap::default() };
    judge.constant = constants(source.program, &judge);
    let flow = loops::of(source.program, &judge);
    source.endless.get_or_init(|| flow.ranges.clone());
    for (span, why) in &flow.endless {
        findings.add(Severity::High, *span, (*why).to_owned(), LOOP);
    }
    for (span, name) in generators::drained(source.program, &judge, &flow) {
        let message = format!("takes all values of `{name}`, which never ends");
        findings.add(Severity::High, span, message, GENERATOR);
    }
    for (span, message) in recursion::endless(source.program, &judge) {
        findings.add(Severity::High, span, message, RECURSION);
    }
}

/// The parts of a program, as byte positions of its tree, that are gone through for ever.
pub(super) fn endless_ranges<'a>(source: &'a Source<'_>) -> &'a [(u32, u32)] {
    source.endless.get_or_init(|| {
        let mut judge = Judge { names: source.names, uses: source.uses(), constant: FxHashMap::default() };
        judge.constant = constants(source.program, &judge);
        loops::of(source.program, &judge).ranges
    })
}

/// The functions that do nothing but return something that is certainly true, or false.
fn constants(program: &Program, judge: &Judge<'_>) -> FxHashMap<Id, bool> {
    let mut constants = Constants { judge, found: FxHashMap::default() };
    program.visit_with(&mut constants);
    constants.found
}

struct Constants<'a> {
    judge: &'a Judge<'a>,
    found: FxHashMap<Id, bool>,
}

impl Constants<'_> {
    fn note(&mut self, id: Id, returned: Option<&Expr>) {
        if let Some(truth) = returned.and_then(|expr| self.judge.truth(expr)) {
            self.found.insert(id, truth);
        }
    }
}

fn returned(stmts: &[Stmt]) -> Option<&Expr> {
    match stmts {
        [Stmt::Return(node)] => node.arg.as_deref(),
        _ => None,
    }
}

impl Visit for Constants<'_> {
    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        if let Some(body) = decl.function.body.as_ref().filter(|_| !decl.function.is_async) {
            self.note(decl.ident.to_id(), returned(&body.stmts));
        }
        decl.function.visit_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let (Some(name), Some(Expr::Arrow(arrow))) =
            (declarator.name.as_ident(), declarator.init.as_deref().map(bare))
        {
            match &*arrow.body {
                ArrowFunctionBody::Expr(expr) => self.note(name.id.to_id(), Some(expr)),
                ArrowFunctionBody::FunctionBody(body) => self.note(name.id.to_id(), returned(&body.stmts)),
            }
        }
        declarator.visit_children_with(self);
    }
}
