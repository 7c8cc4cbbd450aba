//! Small programs of which a rule must find something, or nothing: many forms of what it is about.
//!
//! Each is one table of two lists. A form that a rule does not know yet belongs here first.

mod blocking;
mod built_ins;
mod data_exfiltration;
mod engine_modules;
mod function_constructor;
mod obfuscation;
mod prototype_pollution;
mod reexports;
mod sensitive_data;

use toolcell_tool::Language;

use crate::finding::Severity;

/// Checks that a rule finds something in each of the first, and nothing in any of the others.
fn check(rule: &str, dangerous: &[&str], benign: &[&str]) {
    let finds = |source: &str| {
        let analysis =
            crate::analyze(source, Language::TypeScript, None).unwrap_or_else(|error| panic!("{error}:\n{source}"));
        let mut findings = analysis.findings.into_iter();
        findings.find(|finding| finding.rule.name() == rule && finding.severity >= Severity::Medium)
    };
    let missed = dangerous.iter().filter(|source| finds(source).is_none()).map(|source| format!("missed:\n{source}"));
    let alarms = benign.iter().filter_map(|source| Some(format!("false alarm: {}\n{source}", finds(source)?.message)));
    let wrong: Vec<String> = missed.chain(alarms).collect();
    assert!(wrong.is_empty(), "{rule}: {} of {}\n{}", wrong.len(), dangerous.len() + benign.len(), wrong.join("\n\n"));
}
