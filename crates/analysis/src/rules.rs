//! The analysis rules. Each is one file, with a page of documentation beside it: subject, reason,
//! and examples that pass and fail.
//!
//! Invariant: a rule inspects the syntax tree and the values of names, not the text; only
//! `hidden-text` and `obfuscation` look at characters.

mod data_exfiltration;
mod environment_access;
mod eval_usage;
mod file_system;
mod global_escape;
mod hidden_text;
mod missing_global;
mod module_loading;
mod network_access;
mod obfuscation;
mod process_spawn;
mod prototype_pollution;
mod resource_exhaustion;
mod sensitive_data;
mod unbounded_operation;
mod unsafe_regex;

use std::cell::OnceCell;

use swc_common::Span;
use swc_ecma_ast::Program;
use toolcell_i18n::Message;

use crate::report::finding::{Finding, RuleId, Severity};
use crate::semantics::bindings::Bindings;
use crate::semantics::dataflow::DataFlow;
use crate::semantics::facts::{Facts, Use};
use crate::semantics::mutation::Mutations;
use crate::syntax::position::{LineIndex, byte_range, truncate_message};

/// An analysis rule.
pub(crate) struct Rule {
    pub(crate) id: RuleId,
    /// The maximum severity that it reports.
    pub(crate) max_severity: Severity,
    /// Its documentation, in Markdown.
    pub(crate) docs: &'static str,
    check: fn(&RuleContext<'_>, &mut Findings<'_>),
}

/// All rules, in the order in which they run.
pub(crate) const RULES: [&Rule; 18] = [
    &process_spawn::RULE,
    &file_system::DELETE,
    &file_system::WRITE,
    &file_system::READ,
    &network_access::RULE,
    &eval_usage::RULE,
    &module_loading::RULE,
    &missing_global::RULE,
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

/// The input of a rule.
pub(crate) struct RuleContext<'a> {
    pub(crate) text: &'a str,
    pub(crate) program: &'a Program,
    pub(crate) names: &'a Bindings<'a>,
    pub(crate) facts: &'a Facts,
    dataflow: OnceCell<DataFlow<'a>>,
    mutations: OnceCell<Mutations>,
    /// The endless parts of the source, as byte positions of its tree.
    endless_ranges: OnceCell<Vec<(u32, u32)>>,
}

impl<'a> RuleContext<'a> {
    pub(crate) fn new(text: &'a str, program: &'a Program, names: &'a Bindings<'a>, facts: &'a Facts) -> Self {
        Self {
            text,
            program,
            names,
            facts,
            dataflow: OnceCell::new(),
            mutations: OnceCell::new(),
            endless_ranges: OnceCell::new(),
        }
    }

    /// Returns the data flow graph, built on first use.
    fn dataflow(&self) -> &DataFlow<'a> {
        self.dataflow.get_or_init(|| DataFlow::lower(self.program, self.names))
    }

    /// Returns the mutations of all names, collected on first use.
    fn mutations(&self) -> &Mutations {
        self.mutations.get_or_init(|| Mutations::collect(self.program, self.names))
    }
}

/// The maximum number of findings of one rule; each new one is compared with the earlier ones.
const MAX_FINDINGS_PER_RULE: usize = 50;

/// The findings of one rule.
pub(crate) struct Findings<'a> {
    rule: &'a Rule,
    lines: &'a LineIndex<'a>,
    found: &'a mut Vec<Finding>,
}

impl Findings<'_> {
    pub(crate) fn add(&mut self, severity: Severity, span: Span, message: Message, suggestion: &'static str) {
        self.add_at(severity, byte_range(span), message, suggestion);
    }

    pub(crate) fn add_at(
        &mut self,
        severity: Severity,
        (start, end): (usize, usize),
        message: Message,
        suggestion: &'static str,
    ) {
        let (rule, found) = (self.rule.id, &*self.found);
        let own = || found.iter().filter(move |finding| finding.rule == rule);
        // Duplicates are one finding: an operation is not worse for occurring in two places.
        let is_known = |message: &Message| own().any(|finding| finding.message == *message);
        if own().count() >= MAX_FINDINGS_PER_RULE || is_known(&message) {
            return;
        }
        let message = truncate_message(message);
        if is_known(&message) {
            return;
        }
        let location = self.lines.locate(start, end);
        let text = self.lines.snippet(&location);
        self.found.push(Finding { rule: self.rule.id, severity, message, suggestion, location, snippet: text });
    }
}

/// Runs the rules that can report a severity of `least` or more.
pub(crate) fn check(source: &RuleContext<'_>, lines: &LineIndex<'_>, least: Severity) -> Vec<Finding> {
    let mut found = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.max_severity >= least) {
        (rule.check)(source, &mut Findings { rule, lines, found: &mut found });
    }
    found.retain(|finding| finding.severity >= least);
    found.sort_by_key(|finding| (finding.location.start, finding.rule));
    found
}

/// Returns the path of a use, as rules name it in messages.
fn display_path(used: &Use) -> String {
    used.path.to_source()
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use super::*;

    /// Returns the code blocks below a heading of a page.
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

    /// Returns the rules that report medium severity or worse.
    fn found(source: &str, language: Language, least: Severity) -> Vec<String> {
        let analysis = crate::analyze(source, language, None).unwrap_or_else(|error| panic!("{error}:\n{source}"));
        let worse = analysis.findings.iter().filter(|finding| finding.severity >= least);
        worse.map(|finding| finding.rule.name().to_owned()).collect()
    }

    #[test]
    fn pages_have_examples_that_pass_and_fail() {
        let mut wrong = Vec::new();
        for rule in RULES {
            let name = rule.id.name();
            assert!(rule.docs.starts_with(&format!("# {name}\n")), "the page of {name} has another title");
            let (pass, fail) = (blocks(rule.docs, "Pass"), blocks(rule.docs, "Fail"));
            if pass.len() < 2 || fail.len() < 2 {
                wrong.push(format!("{name}: {} blocks pass and {} fail", pass.len(), fail.len()));
            }
            for (code, language) in pass {
                let found = found(code, language, Severity::Medium);
                if !found.is_empty() {
                    wrong.push(format!("{name}: a block under Pass is found by {found:?}:\n{code}"));
                }
            }
            for (code, language) in fail {
                let found = found(code, language, rule.max_severity.min(Severity::Medium));
                if !found.iter().any(|found| found == name) {
                    wrong.push(format!("{name}: a block under Fail is found by {found:?} only:\n{code}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
