//! `unsafe-regex`: a pattern that takes exponential or polynomial time on some input.

use rustc_hash::FxHashSet;
use toolcell_redos::{Risk, StepBudget, Verdict, check as verdict};

use super::{Findings, Rule, RuleContext};
use crate::report::finding::{RuleId, Severity};

pub(super) const RULE: Rule =
    Rule { id: RuleId("unsafe-regex"), max_severity: Severity::Medium, docs: include_str!("unsafe_regex.md"), check };

const SUGGESTION: &str =
    "write the pattern so that each string matches in only one way, or limit the length of the input";

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let allowance = StepBudget::for_source();
    let mut seen = FxHashSet::default();
    for (pattern, flags, span) in &source.facts.regexes {
        // The same pattern again is the same finding.
        if !seen.insert((pattern, flags)) {
            continue;
        }
        let (risk, attack) = match verdict(pattern, flags, &allowance) {
            Verdict::Risky(Risk::Exponential { attack }) => ("exponential time".to_owned(), attack),
            Verdict::Risky(Risk::Polynomial { degree, by_search: false, attack }) => {
                (format!("polynomial time of degree {degree}"), attack)
            }
            Verdict::Unknown => {
                let message = format!("the pattern /{}/ is too complex to be analysed", short(pattern));
                findings.add(Severity::Low, *span, message, SUGGESTION);
                continue;
            }
            _ => continue,
        };
        let shown: String = attack.pump.chars().take(12).collect();
        let message = format!("the pattern /{}/ takes {risk} on repeated {shown:?}", short(pattern));
        findings.add(Severity::Medium, *span, message, SUGGESTION);
    }
}

fn short(pattern: &str) -> String {
    let mut short: String = pattern.chars().take(40).collect();
    if short.len() < pattern.len() {
        short.push('…');
    }
    short
}
