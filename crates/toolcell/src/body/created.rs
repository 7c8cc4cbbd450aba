//! What `create_tool` answers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolcell_analysis::Finding;
use toolcell_tool::{ToolId, ToolName};

use super::statuses;
use crate::alike::Alike;
use crate::create::Created;
use crate::params::Parameter;

/// A tool that was made.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedBody<'a> {
    /// Its identifier.
    #[schemars(with = "String")]
    pub id: ToolId,
    /// Its name.
    pub name: &'a str,
    /// The number of the version, from 1.
    pub version: u64,
    /// How safe it is, 0.0 to 1.0.
    pub safety_score: f64,
    /// How good it is, 0.0 to 1.0.
    pub quality_score: f64,
    /// How far it is trusted.
    #[schemars(extend("enum" = statuses()))]
    pub verification_status: &'static str,
    /// What it takes.
    pub parameters: Vec<ParameterBody<'a>>,
    /// What the analysis found, in the order of the source.
    pub findings: Vec<FindingBody<'a>>,
    /// The tool that the name led to before.
    #[schemars(with = "Option<String>")]
    pub replaced: Option<ToolId>,
    /// Tools with the same source.
    pub identical_to: Vec<NamedBody<'a>>,
    /// Tools with another source that give the same answers.
    pub alike: Vec<AlikeBody<'a>>,
    /// Why somebody has to approve it before it runs, where somebody has to.
    pub needs_approval: Option<&'a str>,
}

/// A parameter of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ParameterBody<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its type or types, such as `number` or `string | null`; `any` where none is declared.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// What it is for; empty where nothing is said.
    pub description: &'a str,
    /// Whether a call has to have it.
    pub required: bool,
    /// What stands for it where a call does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<&'a Value>,
    /// The only values that it may have.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub allowed: Option<&'a [Value]>,
}

/// Something that the analysis found in a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingBody<'a> {
    /// How bad it is.
    #[schemars(extend("enum" = ["low", "medium", "high", "critical"]))]
    pub severity: &'static str,
    /// The rule that found it.
    #[serde(rename = "type")]
    pub rule: &'static str,
    /// What the source does.
    pub description: &'a str,
    /// The line that it begins in, from 1.
    pub line: u32,
    /// The column that it begins at, from 1.
    pub column: u32,
    /// The line that it ends in.
    pub end_line: u32,
    /// The column that it ends before.
    pub end_column: u32,
    /// The line of the source that it begins in.
    pub code: &'a str,
    /// What to write instead.
    pub suggestion: &'static str,
}

/// A tool, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedBody<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its identifier.
    #[schemars(with = "String")]
    pub id: ToolId,
}

/// A tool that gives the same answers as another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AlikeBody<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its identifier.
    #[schemars(with = "String")]
    pub id: ToolId,
    /// To how many inputs both gave the same answer.
    pub inputs: usize,
    /// What the parameters of one are called by the other.
    #[schemars(with = "BTreeMap<String, String>")]
    pub parameters: Map<String, Value>,
}

impl Created {
    /// The answer as programs read it.
    #[must_use]
    pub fn body(&self) -> CreatedBody<'_> {
        CreatedBody {
            id: self.id,
            name: self.name.as_str(),
            version: self.version,
            safety_score: self.scores.safety,
            quality_score: self.scores.quality,
            verification_status: self.status.name(),
            parameters: self.parameters.iter().map(ParameterBody::from).collect(),
            findings: self.findings.iter().map(FindingBody::from).collect(),
            replaced: self.replaced,
            identical_to: self.identical_to.iter().map(named).collect(),
            alike: self.alike.iter().map(AlikeBody::from).collect(),
            needs_approval: self.needs_approval.as_deref(),
        }
    }
}

impl<'a> From<&'a Parameter> for ParameterBody<'a> {
    fn from(parameter: &'a Parameter) -> Self {
        let Parameter { name, kind, description, required, default, allowed } = parameter;
        let (default, allowed) = (default.as_ref(), Some(allowed.as_slice()).filter(|allowed| !allowed.is_empty()));
        Self { name, kind, description, required: *required, default, allowed }
    }
}

impl<'a> From<&'a Finding> for FindingBody<'a> {
    fn from(finding: &'a Finding) -> Self {
        let toolcell_analysis::Location { line, column, end_line, end_column, .. } = finding.location;
        Self {
            severity: finding.severity.name(),
            rule: finding.rule.name(),
            description: &finding.message,
            line,
            column,
            end_line,
            end_column,
            code: &finding.text,
            suggestion: finding.suggestion,
        }
    }
}

impl<'a> From<&'a Alike> for AlikeBody<'a> {
    fn from(Alike { entry, inputs, parameters }: &'a Alike) -> Self {
        let parameters = parameters.iter().map(|(ours, theirs)| (ours.clone(), theirs.as_str().into())).collect();
        Self { name: entry.name.as_str(), id: entry.id, inputs: *inputs, parameters }
    }
}

fn named((name, id): &(ToolName, ToolId)) -> NamedBody<'_> {
    NamedBody { name: name.as_str(), id: *id }
}
