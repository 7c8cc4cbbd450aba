//! The rules: each is one file, and beside it one page that says what, why, and what passes and fails.
//!
//! Invariant: a rule looks at the tree and at what its names stand for, never at the text.

#[cfg(test)]
mod cases;
mod data_exfiltration;
mod environment_access;
mod eval_usage;
mod file_system;
mod flow;
mod functions;
mod global_escape;
mod hidden_text;
mod module_loading;
mod network_access;
mod obfuscation;
mod process_spawn;
mod prototype_pollution;
mod quickjs;
mod resource_exhaustion;
mod sensitive_data;
mod unbounded_operation;
mod unsafe_regex;
mod uses;

use std::cell::OnceCell;

use swc_common::Span;
use swc_ecma_ast::Program;

use crate::facts::Facts;
use crate::finding::{Finding, RuleId, Severity};
use crate::names::Names;
use crate::parse::range;
use crate::position::{Lines, cut};
use flow::Flow;
use uses::Uses;

/// A rule.
pub(crate) struct Rule {
    pub(crate) id: RuleId,
    /// The worst that it says.
    pub(crate) worst: Severity,
    /// What it is about, why, and examples, in Markdown.
    pub(crate) page: &'static str,
    check: fn(&Source<'_>, &mut Findings<'_>),
}

/// All of them.
pub(crate) const RULES: [&Rule; 17] = [
    &process_spawn::RULE,
    &file_system::DELETE,
    &file_system::WRITE,
    &file_system::READ,
    &network_access::RULE,
    &eval_usage::RULE,
    &module_loading::RULE,
    &environment_access::RULE,
    &global_escape::RULE,
    &prototype_pollution::RULE,
    &sensitive_data::RULE,
    &data_exfiltration::RULE,
    &unbounded_operation::RULE,
    &resource_exhaustion::RULE,
    &unsafe_regex::RULE,
    &obfuscation::RULE,
    &hidden_text::RULE,
];

/// What a rule looks at.
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) program: &'a Program,
    pub(crate) names: &'a Names<'a>,
    pub(crate) facts: &'a Facts,
    flow: OnceCell<Flow<'a>>,
    uses: OnceCell<Uses>,
    /// The parts of the source that are gone through for ever, as byte positions of its tree.
    endless: OnceCell<Vec<(u32, u32)>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str, program: &'a Program, names: &'a Names<'a>, facts: &'a Facts) -> Self {
        Self { text, program, names, facts, flow: OnceCell::new(), uses: OnceCell::new(), endless: OnceCell::new() }
    }

    /// Where values go, for the rules that ask for it.
    fn flow(&self) -> &Flow<'a> {
        self.flow.get_or_init(|| Flow::of(self.program, self.names))
    }

    /// Every use of every name, for the rules that ask for it.
    fn uses(&self) -> &Uses {
        self.uses.get_or_init(|| Uses::of(self.program, self.names))
    }
}

/// So many findings of one rule are told: nobody reads more, and each is compared with those before it.
const MOST: usize = 50;

/// What one rule has found.
pub(crate) struct Findings<'a> {
    rule: &'a Rule,
    lines: &'a Lines<'a>,
    found: &'a mut Vec<Finding>,
}

impl Findings<'_> {
    pub(crate) fn add(&mut self, severity: Severity, span: Span, message: String, suggestion: &'static str) {
        self.add_at(severity, range(span), message, suggestion);
    }

    pub(crate) fn add_at(
        &mut self,
        severity: Severity,
        (start, end): (usize, usize),
        message: String,
        suggestion: &'static str,
    ) {
        let message = cut(message);
        // The same thing twice is one finding: what is said once is not worse for being written in two places.
        let mut own = self.found.iter().filter(|finding| finding.rule == self.rule.id);
        if own.clone().count() >= MOST || own.any(|finding| finding.message == message) {
            return;
        }
        let location = self.lines.locate(start, end);
        let text = self.lines.shown(&location);
        self.found.push(Finding { rule: self.rule.id, severity, message, suggestion, location, text });
    }
}

/// Runs the rules that can say something as bad as `least`.
pub(crate) fn check(source: &Source<'_>, lines: &Lines<'_>, least: Severity) -> Vec<Finding> {
    let mut found = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.worst >= least) {
        (rule.check)(source, &mut Findings { rule, lines, found: &mut found });
    }
    found.retain(|finding| finding.severity >= least);
    found.sort_by_key(|finding| (finding.location.start, finding.rule));
    found
}

/// The end of a path, as a rule names it in a message.
fn shown(span: &crate::facts::Use) -> String {
    span.thing.shown()
}

/// The globals that reach the network, for whoever asks what a source needs.
pub(crate) use network_access::GLOBALS as NETWORK;

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use super::*;

    /// The code blocks below a heading of a page.
    fn blocks<'a>(page: &'a str, heading: &str) -> Vec<(&'a str, Language)> {
        let below = page.split("\n## ").find_map(|part| part.strip_prefix(heading)).unwrap_or_default();
        let fences: Vec<&str> = below.split("```").skip(1).step_by(2).collect();
        fences
            .into_iter()
            .filter_map(|fence| fence.split_once('\n'))
            .map(|(language, code)| {
                (code, if language.trim() == "ts" { Language::TypeScript } else { Language::JavaScript })
            })
            .collect()
    }

    /// The rules that find something of medium severity or worse.
    fn found(source: &str, language: Language) -> Vec<String> {
        let analysis = crate::analyze(source, language, None).unwrap_or_else(|error| panic!("{error}:\n{source}"));
        let worse = analysis.findings.iter().filter(|finding| finding.severity >= Severity::Medium);
        worse.map(|finding| finding.rule.name().to_owned()).collect()
    }

    #[test]
    fn pages_have_examples_that_pass_and_fail() {
        let mut wrong = Vec::new();
        for rule in RULES {
            let name = rule.id.name();
            assert!(rule.page.starts_with(&format!("# {name}\n")), "the page of {name} has another title");
            let (pass, fail) = (blocks(rule.page, "Pass"), blocks(rule.page, "Fail"));
            if pass.len() < 2 || fail.len() < 2 {
                wrong.push(format!("{name}: {} blocks pass and {} fail", pass.len(), fail.len()));
            }
            for (code, language) in pass {
                let found = found(code, language);
                if !found.is_empty() {
                    wrong.push(format!("{name}: a block under Pass is found by {found:?}:\n{code}"));
                }
            }
            for (code, language) in fail {
                let found = found(code, language);
                if !found.iter().any(|found| found == name) {
                    wrong.push(format!("{name}: a block under Fail is found by {found:?} only:\n{code}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
