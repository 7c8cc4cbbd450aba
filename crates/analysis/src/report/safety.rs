//! The safety score of a source, computed from its findings.
//!
//! The scale is that of the seed system: 1.0, less 0.5 for each critical finding, 0.25 for each
//! high one, 0.1 for each medium one and 0.05 for each low one; duplicates count once. A source is
//! safe if its score is at least 0.5 and it has no high or critical finding.

use serde::Serialize;
use toolcell_i18n::{Message, message};
use toolcell_tool::{Capabilities, Capability};

use crate::report::finding::{Finding, RuleId, Severity};

/// The minimum score of a safe source.
const MIN_SAFE_SCORE: f64 = 0.5;

/// A safety issue, in the format of the contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SafetyAnalysisIssue {
    /// The severity, which determines the weight in the score.
    pub severity: Severity,
    /// The name of the rule that reported it.
    #[serde(rename = "type")]
    pub kind: RuleId,
    /// The issue, as a predicate of the source: "reads files".
    pub description: Message,
    /// Start line, counted from 1.
    pub line: u32,
    /// Start column, counted from 1 in UTF-16 units.
    pub column: u32,
    /// End line, counted from 1.
    pub end_line: u32,
    /// End column, exclusive.
    pub end_column: u32,
    /// The source line in which the issue starts, trimmed.
    pub code: String,
    /// The suggested replacement.
    pub suggestion: &'static str,
}

/// The safety of a source, in the format of the contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SafetyAnalysisResult {
    /// The safety score, 0.0 to 1.0.
    pub score: f64,
    /// The issues, without those that a declared capability allows.
    pub issues: Vec<SafetyAnalysisIssue>,
    /// Operations of the source that a declared capability allows.
    pub allowed_operations: Vec<Message>,
    /// Operations of the source with a high or critical issue.
    pub blocked_operations: Vec<Message>,
    /// The numbers of critical and of high issues, and each suggestion once.
    pub recommendations: Vec<Message>,
    /// Whether the score is at least 0.5 and no issue is high or critical.
    pub is_safe: bool,
    /// The confidence of this result, 0.0 to 1.0.
    pub confidence: f64,
}

/// Returns the capability that allows what a rule reports.
fn allowed_by(finding: &Finding) -> Option<Capability> {
    match finding.rule.name() {
        "network-access" => Some(Capability::Net),
        _ => None,
    }
}

impl SafetyAnalysisResult {
    /// Computes the score of some findings. A declared capability allows its operations; whether it
    /// is granted is decided by the host.
    pub(crate) fn from_findings(findings: &[Finding], declared: Option<&Capabilities>, uncertain: bool) -> Self {
        let asked = |finding: &&Finding| {
            allowed_by(finding).is_some_and(|needed| declared.is_some_and(|declared| declared.has(needed)))
        };
        let (allowed, issues): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(asked);
        let penalty: f64 = issues.iter().map(|finding| finding.severity.weight()).sum();
        let score = ((1.0 - penalty).clamp(0.0, 1.0) * 1e4).round() / 1e4;
        let worst = issues.iter().map(|finding| finding.severity).max();
        let confidence = match worst {
            None if uncertain => 0.7,
            None => 0.9,
            Some(Severity::Critical) => 0.5,
            Some(_) => 0.7,
        };
        Self {
            score,
            issues: issues.iter().map(|finding| to_issue(finding)).collect(),
            allowed_operations: allowed.iter().map(|finding| finding.message.clone()).collect(),
            blocked_operations: issues
                .iter()
                .filter(|finding| finding.severity >= Severity::High)
                .map(|finding| finding.message.clone())
                .collect(),
            recommendations: recommendations(&issues),
            is_safe: score >= MIN_SAFE_SCORE && worst < Some(Severity::High),
            confidence,
        }
    }
}

fn to_issue(finding: &Finding) -> SafetyAnalysisIssue {
    SafetyAnalysisIssue {
        severity: finding.severity,
        kind: finding.rule,
        description: finding.message.clone(),
        line: finding.location.line,
        column: finding.location.column,
        end_line: finding.location.end_line,
        end_column: finding.location.end_column,
        code: finding.snippet.trim().to_owned(),
        suggestion: finding.suggestion,
    }
}

/// Returns the number of critical and of high issues, and each suggestion once.
fn recommendations(issues: &[&Finding]) -> Vec<Message> {
    let count = |severity| issues.iter().filter(|finding| finding.severity == severity).count();
    let critical = match count(Severity::Critical) {
        0 => None,
        1 => Some(message!("1 critical finding to remove")),
        count => Some(message!("{count} critical findings to remove", count)),
    };
    let high = match count(Severity::High) {
        0 => None,
        1 => Some(message!("1 high finding to remove")),
        count => Some(message!("{count} high findings to remove", count)),
    };
    let mut lines: Vec<Message> = critical.into_iter().chain(high).collect();
    for finding in issues {
        let suggestion = Message::from(finding.suggestion);
        if !lines.contains(&suggestion) {
            lines.push(suggestion);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use crate::{Severity, analyze};

    #[test]
    fn whether_a_source_is_safe_is_about_what_it_reaches_and_not_about_cost() {
        let safety = |source: &str| analyze(source, Language::JavaScript, None).unwrap().safety;
        for costly in [
            "const execute = ({ text }) => /^(a+)+$/.test(text);",
            "const execute = () => 'x'.repeat(2 ** 30).length;",
            "const execute = () => new Array(1e9).fill(0).length;",
            "const execute = ({ ms }) => { const end = Date.now() + ms; while (Date.now() < end) {} };",
        ] {
            let safety = safety(costly);
            assert!(safety.is_safe, "{costly}: {safety:?}");
            assert_eq!(safety.issues.iter().map(|issue| issue.severity).max(), Some(Severity::Medium), "{costly}");
        }
        for reaching in ["const execute = ({ url }) => fetch(url);", "const execute = ({ code }) => eval(code);"] {
            assert!(!safety(reaching).is_safe, "{reaching}");
        }
    }
}
