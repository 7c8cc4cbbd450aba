//! Renders the findings of `check` as SARIF 2.1.0 (OASIS), for code hosts and editors.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_sarif::sarif::{
    ArtifactLocation, Location, Message, MultiformatMessageString, PhysicalLocation, Region, ReportingDescriptor,
    Result as SarifResult, ResultLevel, Run, Sarif, Tool, ToolComponent,
};
use toolcell::{Severity, rule_docs, rule_names};

use super::findings::CheckedFile;

/// The schema of the format; GitHub refuses reports that do not name it.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The characters of a path that a relative URI reference cannot have (RFC 3986). A colon is allowed
/// after the first slash only.
const NOT_IN_URI: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b':');

/// Returns the report on all sources.
pub(crate) fn report(checked: &[CheckedFile]) -> String {
    let rules: Vec<ReportingDescriptor> = rule_names().into_iter().map(rule).collect();
    let results: Vec<SarifResult> = checked.iter().flat_map(results).collect();
    let driver =
        ToolComponent::builder().name("toolcell").version(env!("CARGO_PKG_VERSION").to_owned()).rules(rules).build();
    let run = Run::builder().tool(Tool::builder().driver(driver).build()).results(results).build();
    let report = Sarif::builder().schema(SCHEMA.to_owned()).version(serde_json::json!("2.1.0")).runs(vec![run]).build();
    serde_json::to_string_pretty(&report).unwrap_or_default()
}

fn rule(name: &'static str) -> ReportingDescriptor {
    let text = rule_docs(name).unwrap_or_default();
    let full = MultiformatMessageString::builder().text(text.to_owned()).markdown(text.to_owned()).build();
    ReportingDescriptor::builder().id(name).full_description(full).build()
}

fn results(checked: &CheckedFile) -> Vec<SarifResult> {
    let mut results = Vec::new();
    if let Ok(analysis) = &checked.analysis {
        for finding in analysis.findings.iter().chain(&checked.type_errors) {
            if analysis.safety.allowed_operations.contains(&finding.message) {
                continue;
            }
            let level = match finding.severity {
                Severity::Critical | Severity::High => ResultLevel::Error,
                Severity::Medium => ResultLevel::Warning,
                Severity::Low => ResultLevel::Note,
            };
            let text = format!("{}. {}.", finding.message, finding.suggestion);
            results.push(result(finding.rule.name(), level, text, location(&checked.path, &finding.location)));
        }
    }
    if let Some(rejection) = checked.rejection() {
        for problem in rejection.diagnostics() {
            let location = location(&checked.path, &problem.location);
            results.push(result(rejection.code().as_str(), ResultLevel::Error, problem.message.to_string(), location));
        }
    }
    results
}

fn location(path: &str, place: &toolcell::Location) -> Location {
    let region = Region::builder()
        .start_line(i64::from(place.line))
        .start_column(i64::from(place.column))
        .end_line(i64::from(place.end_line))
        .end_column(i64::from(place.end_column))
        .build();
    let file = ArtifactLocation::builder().uri(utf8_percent_encode(path, NOT_IN_URI).to_string()).build();
    let physical = PhysicalLocation::builder().artifact_location(file).region(region).build();
    Location::builder().physical_location(physical).build()
}

fn result(rule: &str, level: ResultLevel, text: String, location: Location) -> SarifResult {
    SarifResult::builder()
        .rule_id(rule.to_owned())
        .level(level)
        .message(Message::builder().text(text).build())
        .locations(vec![location])
        .build()
}
