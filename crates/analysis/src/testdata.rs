//! Small programs in which a rule must report something, or nothing, in many syntactic forms.
//!
//! Each file has two lists. A form that a rule does not recognise yet is added here first.

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

use crate::report::finding::Severity;

/// Checks that a rule reports something in each dangerous program, and nothing in any benign one.
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
