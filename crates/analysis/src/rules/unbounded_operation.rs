//! `unbounded-operation`: work that cannot end by itself. Running out of fuel ends it: fuel is
//! wasted, and the tool fails.
//!
//! Loops are visited once with their exits ([`loops`]); those without an exit are judged by their
//! condition ([`condition`]). Functions are judged by what they call on every path ([`recursion`]).
//!
//! Invariant: undecidable cases are not reported.

mod condition;
mod generators;
mod loops;
mod recursion;
mod termination;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use swc_ecma_ast::{ArrowFunctionBody, Expr, Id, Program, Stmt};
use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext};
use crate::report::finding::{RuleId, Severity};
use crate::syntax::named_functions::{self, NamedFunction};
pub(super) use condition::ConditionAnalyzer;

pub(super) const RULE: Rule = Rule {
    id: RuleId("unbounded-operation"),
    max_severity: Severity::High,
    docs: include_str!("unbounded_operation.md"),
    check,
};

const LOOP: &str = msgid!("give the loop an exit: a condition that changes, `break`, `return`");
const RECURSION: &str = msgid!("add a base case that returns without a recursive call");
const GENERATOR: &str = msgid!("take a limited number of values: stop the loop with `break` or `return`");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let mut judge = ConditionAnalyzer {
        names: source.names,
        mutations: source.mutations(),
        constant_functions: FxHashMap::default(),
    };
    judge.constant_functions = constants(source.program, &judge);
    let flow = loops::analyze_loops(source.program, &judge);
    source.endless_ranges.get_or_init(|| flow.ranges.clone());
    for (span, why) in &flow.endless {
        findings.add(Severity::High, *span, Message::from(*why), LOOP);
    }
    for (span, name) in generators::find_drained(source.program, &judge, &flow) {
        let message = message!("takes all values of `{name}`, which never ends", name);
        findings.add(Severity::High, span, message, GENERATOR);
    }
    for (span, message) in recursion::find_endless(source.program, &judge) {
        findings.add(Severity::High, span, message, RECURSION);
    }
}

/// Returns the endless parts of a program, as byte positions of its tree.
pub(super) fn endless_ranges<'a>(source: &'a RuleContext<'_>) -> &'a [(u32, u32)] {
    source.endless_ranges.get_or_init(|| {
        let mut judge = ConditionAnalyzer {
            names: source.names,
            mutations: source.mutations(),
            constant_functions: FxHashMap::default(),
        };
        judge.constant_functions = constants(source.program, &judge);
        loops::analyze_loops(source.program, &judge).ranges
    })
}

/// Returns the functions that only return something certainly true, or certainly false.
fn constants(program: &Program, judge: &ConditionAnalyzer<'_>) -> FxHashMap<Id, bool> {
    let mut constants = FxHashMap::default();
    named_functions::for_each(program, |name, function| {
        let returned = match function {
            NamedFunction::Declared(function) if function.is_async => None,
            NamedFunction::Declared(function) => function.body.as_ref().and_then(|body| sole_return(&body.stmts)),
            NamedFunction::Assigned(_) => None,
            NamedFunction::Arrow(arrow) => match &*arrow.body {
                ArrowFunctionBody::Expr(expr) => Some(&**expr),
                ArrowFunctionBody::FunctionBody(body) => sole_return(&body.stmts),
            },
        };
        if let Some(truth) = returned.and_then(|expr| judge.truth(expr)) {
            constants.insert(name.to_id(), truth);
        }
    });
    constants
}

fn sole_return(stmts: &[Stmt]) -> Option<&Expr> {
    match stmts {
        [Stmt::Return(node)] => node.arg.as_deref(),
        _ => None,
    }
}
