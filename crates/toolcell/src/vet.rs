//! The vetted tool: a tool that was analysed in this process and may run.
//!
//! Invariant: a [`VettedTool`] is created only here and cannot be deserialized: a tool read from
//! disk is vetted again.

use std::collections::BTreeSet;

use serde_json::Value;
use toolcell_analysis::{
    Analysis, AnalysisError, Capabilities, Capability, CapabilityDiff, EntryPoint, Finding, QualityAssessment,
    SafetyAnalysisResult, Script, Severity, analyze,
};
use toolcell_i18n::{Message, message, msgid};
use toolcell_store::Scores;
use toolcell_tool::{CallableTools, Endpoint, FolderName, Language, SecretName, ServersGrant, SpaceName, ToolSpec};

/// A tool that was analysed: it parses, runs here, declares one tool, and has no critical finding.
pub struct VettedTool {
    spec: ToolSpec,
    script: Script,
    entry_point: EntryPoint,
    safety: SafetyAnalysisResult,
    quality: QualityAssessment,
    findings: Vec<Finding>,
    capability_diff: CapabilityDiff,
    requested: Capabilities,
    used: Capabilities,
    capability_lines: BTreeSet<u32>,
}

/// The reason for refusing a tool.
#[derive(Debug, Clone, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum Refusal {
    /// The requested capabilities are malformed.
    #[error("{0}")]
    #[code(CapabilitiesInvalid)]
    Capabilities(Message),
    /// The source does not parse, or does not run here.
    #[error(transparent)]
    #[coded(transparent)]
    Source(#[from] AnalysisError),
    /// The source declares no tool, or more than one.
    #[error("the source {0}")]
    #[code(ToolMissing)]
    NoTool(Message),
    /// The source has critical findings.
    #[error("{}", describe_findings(.0))]
    #[code(CriticalRisk)]
    Critical(Vec<Finding>),
}

impl Refusal {
    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Capabilities(_) => {
                msgid!("the capabilities are net, timers, clock, random, kv, files, secrets, tools, servers")
            }
            Self::Source(rejection) => rejection.hint(),
            Self::NoTool(_) => msgid!("declare `function execute(params)`, or export it"),
            Self::Critical(findings) => findings.first().map_or("", |finding| finding.suggestion),
        }
    }

    /// Returns whether the machine lacked memory or threads, so that the same source may pass
    /// later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Source(AnalysisError::InsufficientAddressSpace { .. } | AnalysisError::NoThread { .. }))
    }

    /// Returns the line and column, if the refusal has a position in the source.
    #[must_use]
    pub fn position(&self) -> Option<(u32, u32)> {
        let location = match self {
            Self::Source(rejection) => rejection.diagnostics().first()?.location,
            Self::Critical(findings) => findings.first()?.location,
            Self::Capabilities(_) | Self::NoTool(_) => return None,
        };
        Some((location.line, location.column))
    }
}

/// Formats findings on one line: message, rule and position.
pub(crate) fn describe_findings(findings: &[Finding]) -> Message {
    let shown = findings.iter().enumerate().flat_map(|(index, finding)| {
        let toolcell_analysis::Location { line, column, .. } = finding.location;
        let shown = message!(
            "{message} ({rule}) at {line}:{column}",
            message = finding.message,
            rule = finding.rule.name(),
            line,
            column
        );
        (index > 0).then(|| message!("; ")).into_iter().chain([shown])
    });
    Message::sequence(shown)
}

/// Analyses a tool.
///
/// # Errors
/// `syntax-error`, `syntax-unsupported`, `critical-risk`, `tool-missing`, `capabilities-invalid`.
///
/// # Examples
/// ```
/// use serde_json::Value;
/// use toolcell::{Draft, ToolName, ToolSpec, vet};
///
/// let spec = |source: &str| {
///     let draft = Draft::from_bytes("tool.ts", source.as_bytes()).unwrap();
///     ToolSpec::new(ToolName::parse("tool").unwrap(), &draft, Value::Null, Value::Null).unwrap()
/// };
/// let tool = vet(spec("const execute = ({ n }: { n: number }) => 2 * n"))?;
/// assert!(tool.safety().is_safe);
/// let refusal = vet(spec("const execute = ({ code }) => eval(code)")).err().unwrap();
/// assert_eq!(refusal.code(), "critical-risk");
/// # Ok::<(), toolcell::Refusal>(())
/// ```
pub fn vet(spec: ToolSpec) -> Result<VettedTool, Refusal> {
    let declared = parse_capabilities(spec.capabilities()).map_err(Refusal::Capabilities)?;
    let analysis = analyze(spec.source(), Language::Unknown, declared.as_ref())?;
    let Analysis {
        entry_point: shape,
        safety,
        quality,
        capabilities,
        capability_lines,
        capability_diff: comparison,
        findings,
        script,
    } = analysis;
    let critical: Vec<Finding> =
        findings.iter().filter(|finding| finding.severity == Severity::Critical).cloned().collect();
    // A critical finding, such as a module import, is more specific than the error that the source
    // does not run here.
    if !critical.is_empty() {
        return Err(Refusal::Critical(critical));
    }
    let script = script?;
    let Some(shape) = shape else {
        let why = findings.iter().find(|finding| finding.rule.name() == "no-tool");
        return Err(Refusal::NoTool(why.map_or_else(|| message!("declares no tool"), |why| why.message.clone())));
    };
    // Capabilities that have a deterministic fallback need not be requested.
    let asked = declared.unwrap_or_else(|| Capabilities::unscoped(capabilities.missing_from(&Capabilities::default())));
    Ok(VettedTool {
        spec,
        script,
        entry_point: shape,
        safety,
        quality,
        findings,
        capability_diff: comparison,
        requested: asked,
        used: capabilities,
        capability_lines,
    })
}

/// Parses the requested capabilities: a list of names, or an object with names as keys and
/// resources as values.
fn parse_capabilities(capabilities: &Value) -> Result<Option<Capabilities>, Message> {
    let asked: Vec<(Capability, BTreeSet<String>)> = match capabilities {
        Value::Null => return Ok(None),
        Value::Array(names) => names
            .iter()
            .map(|name| {
                let name = name.as_str().ok_or_else(|| message!("{name} is not the name of a capability", name))?;
                Ok((parse_capability(name)?, BTreeSet::new()))
            })
            .collect::<Result<_, Message>>()?,
        Value::Object(fields) => {
            let asked = fields.iter().map(|(name, what)| {
                let capability = parse_capability(name)?;
                Ok(parse_parts(capability, what)?.map(|parts| (capability, parts)))
            });
            asked.filter_map(Result::transpose).collect::<Result<_, Message>>()?
        }
        _ => return Err(message!("the capabilities are neither a list nor an object")),
    };
    Ok(Some(Capabilities::scoped(asked)))
}

fn parse_capability(name: &str) -> Result<Capability, Message> {
    Capability::from_name(name).ok_or_else(|| message!("there is no capability `{name}`", name))
}

/// Parses the value of a requested capability: not requested, all resources, or the named ones.
fn parse_parts(capability: Capability, what: &Value) -> Result<Option<BTreeSet<String>>, Message> {
    let (name, parts) = (capability.name(), capability.scope_noun());
    let wrong = || {
        let value = truncated_json(what);
        match parts.map(Message::from) {
            Some(parts) => {
                message!("`{name}` is {value}, it must be `true`, or a list of {parts}", name, value, parts)
            }
            None => message!("`{name}` is {value}, it must be `true`", name, value),
        }
    };
    match (what, parts) {
        (Value::Bool(false), _) => Ok(None),
        (Value::Bool(true), _) => Ok(Some(BTreeSet::new())),
        (Value::Array(list), Some(_)) if !list.is_empty() => {
            let texts = list.iter().map(|part| part.as_str().ok_or_else(wrong));
            let texts: BTreeSet<String> = texts.map(|part| part.map(str::to_owned)).collect::<Result<_, _>>()?;
            texts.iter().try_for_each(|part| check_part(capability, part))?;
            Ok(Some(texts))
        }
        _ => Err(wrong()),
    }
}

/// Refuses a resource name that no grant could match.
fn check_part(capability: Capability, part: &str) -> Result<(), Message> {
    let read = match capability {
        Capability::Net => Endpoint::parse(part).map(drop),
        Capability::Kv => SpaceName::parse(part).map(drop),
        Capability::Files => FolderName::parse(part).map(drop),
        Capability::Secrets => SecretName::parse(part).map(drop),
        Capability::Tools => CallableTools::parse_name(part).map(drop),
        Capability::Servers => ServersGrant::parse_part(part).map(drop),
        Capability::Timers | Capability::Clock | Capability::Random => Ok(()),
    };
    read.map_err(|error| message!("`{name}`: {error}", name = capability.name(), error))
}

/// Truncates a value for a one-line message.
fn truncated_json(value: &Value) -> String {
    value.to_string().chars().take(64).collect()
}

impl VettedTool {
    /// Returns the specification, which determines the behaviour.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Returns the compiled script.
    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    /// Returns how the source declares the tool.
    #[must_use]
    pub fn entry_point(&self) -> EntryPoint {
        self.entry_point
    }

    /// Returns the safety analysis.
    #[must_use]
    pub fn safety(&self) -> &SafetyAnalysisResult {
        &self.safety
    }

    /// Returns the quality assessment.
    #[must_use]
    pub fn quality(&self) -> &QualityAssessment {
        &self.quality
    }

    /// Returns the findings in source order.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the difference between the requested and the used capabilities.
    #[must_use]
    pub fn capability_diff(&self) -> &CapabilityDiff {
        &self.capability_diff
    }

    /// Returns the requested capabilities: those that it declares, otherwise those that its source
    /// needs.
    #[must_use]
    pub fn requested_capabilities(&self) -> &Capabilities {
        &self.requested
    }

    /// Returns the capabilities that its source uses, as far as the analysis can tell.
    pub(crate) fn used_capabilities(&self) -> &Capabilities {
        &self.used
    }

    /// Returns the lines on which its source uses a capability, counted from 1.
    pub(crate) fn capability_lines(&self) -> &BTreeSet<u32> {
        &self.capability_lines
    }

    /// Returns the safety and quality scores.
    #[must_use]
    pub fn scores(&self) -> Scores {
        Scores { safety: self.safety.score, quality: self.quality.score }
    }

    /// Returns the worst finding that the requested capabilities do not allow.
    #[must_use]
    pub fn worst_finding(&self) -> Option<&Finding> {
        let counts = |finding: &&Finding| !self.safety.allowed_operations.contains(&finding.message);
        self.findings.iter().filter(counts).max_by_key(|finding| finding.severity)
    }
}
