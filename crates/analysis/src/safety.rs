//! How safe a source is: the findings, weighed.
//!
//! The scale is the seed system's: 1.0, less 0.5 for each critical finding, 0.25 for a high, 0.1 for a medium and 0.05
//! for a low one; the same thing found twice counts once. A source is safe where the score is at least 0.5 and no
//! finding is high or critical.

use serde::Serialize;
use toolcell_tool::Capability;

use crate::capability::Capabilities;
use crate::finding::{Finding, RuleId, Severity};

/// The least score of a safe source.
const SAFE: f64 = 0.5;

/// One thing that was found, in the form of the contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SafetyAnalysisIssue {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of thing it is: the name of the rule.
    #[serde(rename = "type")]
    pub kind: RuleId,
    /// What the source does.
    pub description: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1 in UTF-16 units.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column behind the end.
    pub end_column: u32,
    /// The line of the source, without the blanks around it.
    pub code: String,
    /// What to write instead.
    pub suggestion: String,
}

/// How safe a source is, in the form of the contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SafetyAnalysisResult {
    /// 0.0 to 1.0.
    pub score: f64,
    /// What was found.
    pub issues: Vec<SafetyAnalysisIssue>,
    /// What the source may do, because it was asked for and can be granted.
    pub allowed_operations: Vec<String>,
    /// What the source does and may not.
    pub blocked_operations: Vec<String>,
    /// What to do about it.
    pub recommendations: Vec<String>,
    /// Whether the score is at least 0.5, and nothing is high or critical.
    pub is_safe: bool,
    /// How certain this is, 0.0 to 1.0.
    pub confidence: f64,
}

/// The capability that makes what a rule finds allowed.
fn allowed_by(finding: &Finding) -> Option<Capability> {
    match finding.rule.name() {
        "network-access" => Some(Capability::Net),
        _ => None,
    }
}

impl SafetyAnalysisResult {
    /// Weighs findings; what the tool asks to be granted is allowed, and whether it is granted is the host's matter.
    pub(crate) fn of(findings: &[Finding], declared: Option<&Capabilities>, uncertain: bool) -> Self {
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
            issues: issues.iter().map(|finding| issue(finding)).collect(),
            allowed_operations: allowed.iter().map(|finding| finding.message.clone()).collect(),
            blocked_operations: issues
                .iter()
                .filter(|finding| finding.severity >= Severity::High)
                .map(|finding| finding.message.clone())
                .collect(),
            recommendations: recommendations(&issues),
            is_safe: score >= SAFE && worst < Some(Severity::High),
            confidence,
        }
    }
}

fn issue(finding: &Finding) -> SafetyAnalysisIssue {
    SafetyAnalysisIssue {
        severity: finding.severity,
        kind: finding.rule,
        description: finding.message.clone(),
        line: finding.location.line,
        column: finding.location.column,
        end_line: finding.location.end_line,
        end_column: finding.location.end_column,
        code: finding.text.trim().to_owned(),
        suggestion: finding.suggestion.to_owned(),
    }
}

/// How many are critical and high, and each suggestion once.
fn recommendations(issues: &[&Finding]) -> Vec<String> {
    let mut lines = Vec::new();
    for severity in [Severity::Critical, Severity::High] {
        let count = issues.iter().filter(|finding| finding.severity == severity).count();
        if count > 0 {
            lines.push(format!("{count} {} finding{} to remove", severity.name(), if count == 1 { "" } else { "s" }));
        }
    }
    for finding in issues {
        if !lines.iter().any(|line| line == finding.suggestion) {
            lines.push(finding.suggestion.to_owned());
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
