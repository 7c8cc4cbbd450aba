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
use swc_ecma_ast::{ArrowFunctionBody, Expr, Id, Program, Stmt};

use super::functions::{self, Named};
use super::{Findings, Rule, Source};
use crate::finding::{RuleId, Severity};
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
    let mut constants = FxHashMap::default();
    functions::each(program, |name, function| {
        let returned = match function {
            Named::Declared(function) if function.is_async => None,
            Named::Declared(function) => function.body.as_ref().and_then(|body| returned(&body.stmts)),
            Named::Assigned(_) => None,
            Named::Arrow(arrow) => match &*arrow.body {
                ArrowFunctionBody::Expr(expr) => Some(&**expr),
                ArrowFunctionBody::FunctionBody(body) => returned(&body.stmts),
            },
        };
        if let Some(truth) = returned.and_then(|expr| judge.truth(expr)) {
            constants.insert(name.to_id(), truth);
        }
    });
    constants
}

fn returned(stmts: &[Stmt]) -> Option<&Expr> {
    match stmts {
        [Stmt::Return(node)] => node.arg.as_deref(),
        _ => None,
    }
}
