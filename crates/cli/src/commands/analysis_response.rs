//! The JSON form of an analysis, which `check` and `batch` print.

use serde::Serialize;
use serde_json::{Value, json};
use toolcell::{Analysis, AnalysisError, Diagnostic, Finding};
use toolcell_error::ErrorCode;

/// An analysis in JSON.
#[derive(Serialize)]
pub(crate) struct AnalysisResponse<'a> {
    shape: Option<toolcell::EntryPoint>,
    safety: &'a toolcell::SafetyAnalysisResult,
    quality: &'a toolcell::QualityAssessment,
    capabilities: Vec<CapabilityResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a toolcell::CapabilityDiff>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ProblemResponse>,
}

#[derive(Serialize)]
struct CapabilityResponse<'a> {
    name: &'static str,
    #[serde(flatten)]
    need: &'a toolcell::CapabilityNeed,
}

/// A problem that keeps a source from running.
#[derive(Serialize)]
pub(crate) struct ProblemResponse {
    code: ErrorCode,
    message: String,
    line: u32,
    column: u32,
    text: String,
}

/// Converts the problems of a rejection to JSON.
pub(crate) fn problem_responses(rejection: &AnalysisError) -> Vec<ProblemResponse> {
    let problem = |problem: &Diagnostic| ProblemResponse {
        code: rejection.code(),
        message: problem.message.to_string(),
        line: problem.location.line,
        column: problem.location.column,
        text: problem.snippet.clone(),
    };
    rejection.diagnostics().iter().map(problem).collect()
}

/// Converts type errors to JSON.
pub(crate) fn type_error_responses(found: &[Finding]) -> Value {
    let response = |finding: &Finding| {
        json!({
            "message": finding.message.to_string(),
            "line": finding.location.line,
            "column": finding.location.column,
            "suggestion": finding.suggestion,
        })
    };
    found.iter().map(response).collect()
}

impl<'a> AnalysisResponse<'a> {
    pub(crate) fn from_analysis(analysis: &'a Analysis) -> Self {
        let comparison =
            Some(&analysis.capability_diff).filter(|comparison| **comparison != toolcell::CapabilityDiff::default());
        Self {
            shape: analysis.entry_point,
            safety: &analysis.safety,
            quality: &analysis.quality,
            capabilities: analysis
                .capabilities
                .iter()
                .map(|(capability, need)| CapabilityResponse { name: capability.name(), need })
                .collect(),
            comparison,
            errors: analysis.script.as_ref().err().map(problem_responses).unwrap_or_default(),
        }
    }
}
