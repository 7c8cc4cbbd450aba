//! `unsafe-regex`: a pattern that takes exponential or polynomial time on some input.

use rustc_hash::FxHashSet;
use toolcell_i18n::{message, msgid};
use toolcell_redos::{Risk, StepBudget, Verdict, check as verdict};

use super::{Findings, Rule, RuleContext};
use crate::report::finding::{RuleId, Severity};

pub(super) const RULE: Rule =
    Rule { id: RuleId("unsafe-regex"), max_severity: Severity::Medium, docs: include_str!("unsafe_regex.md"), check };

const SUGGESTION: &str =
    msgid!("write the pattern so that each string matches in only one way, or limit the length of the input");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let allowance = StepBudget::for_source();
    let mut seen = FxHashSet::default();
    for (pattern, flags, span) in &source.facts.regexes {
        // The same pattern again is the same finding.
        if !seen.insert((pattern, flags)) {
            continue;
        }
        let (severity, message) = match verdict(pattern, flags, &allowance) {
            Verdict::Risky(Risk::Exponential { attack }) => {
                let (pattern, text) = (short(pattern), quote_start(&attack.pump));
                (
                    Severity::Medium,
                    message!("the pattern /{pattern}/ takes exponential time on repeated {text}", pattern, text),
                )
            }
            Verdict::Risky(Risk::Polynomial { degree, by_search: false, attack }) => {
                let (pattern, text) = (short(pattern), quote_start(&attack.pump));
                let message = message!(
                    "the pattern /{pattern}/ takes polynomial time of degree {degree} on repeated {text}",
                    pattern,
                    degree,
                    text
                );
                (Severity::Medium, message)
            }
            Verdict::Unknown => {
                let pattern = short(pattern);
                (Severity::Low, message!("the pattern /{pattern}/ is too complex to be analysed", pattern))
            }
            _ => continue,
        };
        findings.add(severity, *span, message, SUGGESTION);
    }
}

/// Returns the start of a text in quotation marks.
fn quote_start(text: &str) -> String {
    let start: String = text.chars().take(12).collect();
    format!("{start:?}")
}

fn short(pattern: &str) -> String {
    let mut short: String = pattern.chars().take(40).collect();
    if short.len() < pattern.len() {
        short.push('…');
    }
    short
}
