//! A tool that was analysed in this process, and may be run.
//!
//! Invariant: a [`VettedTool`] is made here only, and cannot be read from anywhere: what comes off the disk is vetted
//! again.

use std::collections::BTreeSet;

use serde_json::Value;
use toolcell_analysis::{
    Analysis, Capabilities, Capability, Comparison, Finding, QualityAssessment, Rejection, SafetyAnalysisResult,
    Script, Severity, Shape, analyze,
};
use toolcell_store::Scores;
use toolcell_tool::{Callees, Endpoint, FolderName, Language, SecretName, SpaceName, ToolSpec};

/// A tool that was analysed: it parses, runs here, has a tool in it, and nothing critical.
pub struct VettedTool {
    spec: ToolSpec,
    script: Script,
    shape: Shape,
    safety: SafetyAnalysisResult,
    quality: QualityAssessment,
    findings: Vec<Finding>,
    comparison: Comparison,
    asked: Capabilities,
    uses: Capabilities,
}

/// Why a tool does not run.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// What it asks for cannot be read.
    #[error("{0}")]
    Capabilities(String),
    /// It does not parse, or does not run here.
    #[error(transparent)]
    Source(#[from] Rejection),
    /// There is no tool in it, or more than one.
    #[error("the source {0}")]
    NoTool(String),
    /// It has critical findings.
    #[error("{}", said(.0))]
    Critical(Vec<Finding>),
}

impl Refusal {
    /// The stable code of this refusal, where a tool is made.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Capabilities(_) => "capabilities-invalid",
            Self::Source(rejection) => rejection.code(),
            Self::NoTool(_) => "tool-missing",
            Self::Critical(_) => "critical-risk",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Capabilities(_) => "there are net, timers, clock, random, kv, files, secrets, tools",
            Self::Source(rejection) => rejection.hint(),
            Self::NoTool(_) => "declare `function execute(params)`, or export it",
            Self::Critical(findings) => findings.first().map_or("", |finding| finding.suggestion),
        }
    }

    /// Whether the machine was short of something, so that the same source may pass the next time.
    #[must_use]
    pub const fn is_of_the_machine(&self) -> bool {
        matches!(self, Self::Source(Rejection::NoRoom { .. } | Rejection::NoThread { .. }))
    }

    /// Line and column, where the source is at fault.
    #[must_use]
    pub fn place(&self) -> Option<(u32, u32)> {
        let location = match self {
            Self::Source(rejection) => rejection.problems().first()?.location,
            Self::Critical(findings) => findings.first()?.location,
            Self::Capabilities(_) | Self::NoTool(_) => return None,
        };
        Some((location.line, location.column))
    }
}

/// Findings in a line: what, which rule, where.
pub(crate) fn said(findings: &[Finding]) -> String {
    let shown = findings.iter().map(|finding| {
        let place = finding.location;
        format!("{} ({}) at {}:{}", finding.message, finding.rule.name(), place.line, place.column)
    });
    shown.collect::<Vec<_>>().join("; ")
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
    let declared = declared(spec.capabilities()).map_err(Refusal::Capabilities)?;
    let analysis = analyze(spec.source(), Language::Unsaid, declared.as_ref())?;
    let Analysis { shape, safety, quality, capabilities, comparison, findings, script } = analysis;
    let critical: Vec<Finding> =
        findings.iter().filter(|finding| finding.severity == Severity::Critical).cloned().collect();
    // What a critical rule finds, such as a module that is loaded, says more than that it does not run here.
    if !critical.is_empty() {
        return Err(Refusal::Critical(critical));
    }
    let script = script?;
    let Some(shape) = shape else {
        let why = findings.iter().find(|finding| finding.rule.name() == "no-tool");
        return Err(Refusal::NoTool(why.map_or_else(|| "declares no tool".to_owned(), |why| why.message.clone())));
    };
    // What works without, in a way that can be repeated, need not be asked for.
    let asked = declared.unwrap_or_else(|| Capabilities::these(capabilities.missing_from(&Capabilities::default())));
    Ok(VettedTool { spec, script, shape, safety, quality, findings, comparison, asked, uses: capabilities })
}

/// What a tool asks for, by the names of capabilities: in a list, or as the keys of an object, with what it names of each.
fn declared(capabilities: &Value) -> Result<Option<Capabilities>, String> {
    let asked: Vec<(Capability, BTreeSet<String>)> = match capabilities {
        Value::Null => return Ok(None),
        Value::Array(names) => names
            .iter()
            .map(|name| {
                let name = name.as_str().ok_or_else(|| format!("{name} is no name of a capability"))?;
                Ok((named(name)?, BTreeSet::new()))
            })
            .collect::<Result<_, String>>()?,
        Value::Object(fields) => {
            let asked = fields.iter().map(|(name, what)| {
                let capability = named(name)?;
                Ok(parts(capability, what)?.map(|parts| (capability, parts)))
            });
            asked.filter_map(Result::transpose).collect::<Result<_, String>>()?
        }
        _ => return Err("the capabilities are neither a list nor an object".to_owned()),
    };
    Ok(Some(Capabilities::naming(asked)))
}

fn named(name: &str) -> Result<Capability, String> {
    Capability::named(name).ok_or_else(|| format!("there is no capability `{name}`"))
}

/// What a tool asks for of a capability: nothing, all, or what it names.
fn parts(capability: Capability, what: &Value) -> Result<Option<BTreeSet<String>>, String> {
    let (name, parts) = (capability.name(), capability.parts());
    let wrong = || {
        let list = parts.map(|parts| format!(", or a list of {parts}")).unwrap_or_default();
        format!("`{name}` is {}, it must be `true`{list}", short(what))
    };
    match (what, parts) {
        (Value::Bool(false), _) => Ok(None),
        (Value::Bool(true), _) => Ok(Some(BTreeSet::new())),
        (Value::Array(list), Some(_)) if !list.is_empty() => {
            let texts = list.iter().map(|part| part.as_str().ok_or_else(wrong));
            let texts: BTreeSet<String> = texts.map(|part| part.map(str::to_owned)).collect::<Result<_, _>>()?;
            texts.iter().try_for_each(|part| could_be(capability, part))?;
            Ok(Some(texts))
        }
        _ => Err(wrong()),
    }
}

/// Refuses what no grant could ever be about.
fn could_be(capability: Capability, part: &str) -> Result<(), String> {
    let read = match capability {
        Capability::Net => Endpoint::parse(part).map(drop),
        Capability::Kv => SpaceName::parse(part).map(drop),
        Capability::Files => FolderName::parse(part).map(drop),
        Capability::Secrets => SecretName::parse(part).map(drop),
        Capability::Tools => Callees::parse(part).map(drop),
        Capability::Timers | Capability::Clock | Capability::Random => Ok(()),
    };
    read.map_err(|error| format!("`{}`: {error}", capability.name()))
}

/// So much of a value that a message stays a line.
fn short(value: &Value) -> String {
    value.to_string().chars().take(64).collect()
}

impl VettedTool {
    /// What decides how it behaves.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// What it runs as.
    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    /// How it is written.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How safe it is.
    #[must_use]
    pub fn safety(&self) -> &SafetyAnalysisResult {
        &self.safety
    }

    /// How well it is written.
    #[must_use]
    pub fn quality(&self) -> &QualityAssessment {
        &self.quality
    }

    /// What was found, in the order of the source.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How what it asks for compares with what it uses.
    #[must_use]
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// What it asks its host to grant: what it declares, else what its source needs.
    #[must_use]
    pub fn asked(&self) -> &Capabilities {
        &self.asked
    }

    /// What its source uses, as far as the analysis can tell.
    pub(crate) fn uses(&self) -> &Capabilities {
        &self.uses
    }

    /// What the analysis says of it, in two numbers.
    #[must_use]
    pub fn scores(&self) -> Scores {
        Scores { safety: self.safety.score, quality: self.quality.score }
    }

    /// The worst that was found and is not allowed by what it asks for.
    #[must_use]
    pub fn worst(&self) -> Option<&Finding> {
        let counts = |finding: &&Finding| !self.safety.allowed_operations.contains(&finding.message);
        self.findings.iter().filter(counts).max_by_key(|finding| finding.severity)
    }
}
