//! The response of `create_tool`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolcell_analysis::Finding;
use toolcell_schema::Parameter;
use toolcell_tool::{ToolId, ToolName};

use super::status_names;
use crate::operations::create::CreateResult;
use crate::verification::EquivalentTool;
use crate::verification::proof::ExampleComparison;

/// A tool that was created.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateResponse<'a> {
    /// The identifier of the tool.
    #[schemars(with = "String")]
    pub id: ToolId,
    /// The name of the tool.
    pub name: &'a str,
    /// The version number, from 1.
    pub version: u64,
    /// The safety score, 0.0 to 1.0.
    pub safety_score: f64,
    /// The quality score, 0.0 to 1.0.
    pub quality_score: f64,
    /// The verification status.
    #[schemars(extend("enum" = status_names()))]
    pub verification_status: &'static str,
    /// The parameters of the tool.
    pub parameters: Vec<ParameterResponse<'a>>,
    /// The findings of the analysis, in source order.
    pub findings: Vec<FindingResponse<'a>>,
    /// The identifier of the tool that had this name before.
    #[schemars(with = "Option<String>")]
    pub replaced: Option<ToolId>,
    /// Tools with the same source.
    pub identical_to: Vec<NamedToolResponse<'a>>,
    /// Tools with another source that give the same answers.
    pub alike: Vec<EquivalentToolResponse<'a>>,
    /// Why the tool needs an approval before it runs; null if it needs none.
    pub needs_approval: Option<String>,
    /// The comparison with the examples; null if the tool has none.
    pub examples: Option<ExamplesResponse>,
}

/// The comparison of a created tool with its examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExamplesResponse {
    /// The number of examples that were run.
    pub count: usize,
    /// The number of those that came with a template.
    pub from_template: usize,
    /// How examples differ, each with its number.
    pub mismatches: Vec<String>,
    /// Why they were not run, or not all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
}

/// A parameter of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ParameterResponse<'a> {
    /// The name of the parameter.
    pub name: &'a str,
    /// Its type or types, such as `number` or `string | null`; `any` where none is declared.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The description, empty by default.
    pub description: &'a str,
    /// Whether the parameter is required.
    pub required: bool,
    /// The value used if the parameter is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<&'a Value>,
    /// The allowed values.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub allowed: Option<&'a [Value]>,
}

/// A finding of the analysis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingResponse<'a> {
    /// The severity of the finding.
    #[schemars(extend("enum" = ["low", "medium", "high", "critical"]))]
    pub severity: &'static str,
    /// The rule that reports the finding.
    #[serde(rename = "type")]
    pub rule: &'static str,
    /// What the source does.
    pub description: String,
    /// The start line, from 1.
    pub line: u32,
    /// The start column, from 1.
    pub column: u32,
    /// The end line.
    pub end_line: u32,
    /// The end column (exclusive).
    pub end_column: u32,
    /// The source line at which the finding starts.
    pub code: &'a str,
    /// What to write instead.
    pub suggestion: &'static str,
}

/// The name and identifier of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedToolResponse<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// The identifier of the tool.
    #[schemars(with = "String")]
    pub id: ToolId,
}

/// A tool that gives the same answers as another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EquivalentToolResponse<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// The identifier of the tool.
    #[schemars(with = "String")]
    pub id: ToolId,
    /// The number of inputs to which both tools gave the same answer.
    pub inputs: usize,
    /// The parameter names of the created tool, each with the name that the other tool uses.
    #[schemars(with = "BTreeMap<String, String>")]
    pub parameters: Map<String, Value>,
}

impl CreateResult {
    /// Returns the result as a JSON response.
    #[must_use]
    pub fn response(&self) -> CreateResponse<'_> {
        CreateResponse {
            id: self.id,
            name: self.name.as_str(),
            version: self.version,
            safety_score: self.scores.safety,
            quality_score: self.scores.quality,
            verification_status: self.status.name(),
            parameters: self.parameters.iter().map(ParameterResponse::from).collect(),
            findings: self.findings.iter().map(FindingResponse::from).collect(),
            replaced: self.replaced,
            identical_to: self.identical_to.iter().map(named_tool).collect(),
            alike: self.equivalent.iter().map(EquivalentToolResponse::from).collect(),
            needs_approval: self.needs_approval.as_ref().map(ToString::to_string),
            examples: ExamplesResponse::new(&self.examples),
        }
    }
}

impl ExamplesResponse {
    fn new(compared: &ExampleComparison) -> Option<Self> {
        match compared {
            ExampleComparison::NoExamples => None,
            ExampleComparison::NotRun(reason) => {
                Some(Self { count: 0, from_template: 0, mismatches: Vec::new(), not_run: Some(reason.to_string()) })
            }
            ExampleComparison::Compared { count, from_template, mismatches } => {
                let mismatches = mismatches.iter().map(ToString::to_string).collect();
                Some(Self { count: *count, from_template: *from_template, mismatches, not_run: None })
            }
        }
    }
}

impl<'a> From<&'a Parameter> for ParameterResponse<'a> {
    fn from(parameter: &'a Parameter) -> Self {
        let Parameter { name, kind, description, required, default, allowed } = parameter;
        let (default, allowed) = (default.as_ref(), Some(allowed.as_slice()).filter(|allowed| !allowed.is_empty()));
        Self { name, kind, description, required: *required, default, allowed }
    }
}

impl<'a> From<&'a Finding> for FindingResponse<'a> {
    fn from(finding: &'a Finding) -> Self {
        let toolcell_analysis::Location { line, column, end_line, end_column, .. } = finding.location;
        Self {
            severity: finding.severity.name(),
            rule: finding.rule.name(),
            description: finding.message.to_string(),
            line,
            column,
            end_line,
            end_column,
            code: &finding.snippet,
            suggestion: finding.suggestion,
        }
    }
}

impl<'a> From<&'a EquivalentTool> for EquivalentToolResponse<'a> {
    fn from(EquivalentTool { entry, inputs, parameters }: &'a EquivalentTool) -> Self {
        let parameters = parameters.iter().map(|(ours, theirs)| (ours.clone(), theirs.as_str().into())).collect();
        Self { name: entry.name.as_str(), id: entry.id, inputs: *inputs, parameters }
    }
}

fn named_tool((name, id): &(ToolName, ToolId)) -> NamedToolResponse<'_> {
    NamedToolResponse { name: name.as_str(), id: *id }
}
