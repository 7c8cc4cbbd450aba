//! What a tool would do, said before it runs, and the JavaScript that it runs as.
//!
//! [`translate`] makes the [`Script`] of a source: types are blanked out where they stand. [`analyze`] says how safe
//! and how well written it is, and what it needs from its host. [`quick_check`] is the moment before a run: critical
//! rules alone.
//!
//! Invariants: rules look at the tree, with names resolved and constants folded, never at the text; no type of the
//! parser is in a signature; no source, however hostile, ends the process. Isolation never leans on any of this.

mod budget;
mod capability;
mod compile;
mod decorators;
mod error;
mod exports;
mod facts;
mod finding;
mod fold;
mod folding;
mod imports;
mod names;
mod namespaces;
mod nesting;
mod parse;
mod position;
mod quality;
mod redos;
mod room;
mod rules;
mod safety;
mod scan;
mod script;
mod shape;
mod value;
mod walk;

use serde::Serialize;
use toolcell_tool::Language;

use facts::Facts;
use names::Names;
use parse::{Parsed, parse, range, with_globals};
use position::Lines;
use room::{with_room, with_room_beside};
use shape::Found;

pub use capability::{Capabilities, Need};
pub use error::{Problem, Rejection};
pub use finding::{Finding, RuleId, Severity};
pub use position::Location;
pub use quality::{CategoryScores, QualityAssessment, QualityIssue};
pub use safety::{SafetyAnalysisIssue, SafetyAnalysisResult};
pub use script::{Script, translate};
pub use shape::Shape;
pub use toolcell_tool::Capability;

/// Deeper than this, a source is not a tool that anybody wrote, and only its depth is told.
const DEPTH: usize = 400;

/// From this size on, in bytes, a source's script is made on a thread of its own: for a shorter one the other thread
/// would take longer to start.
const BESIDE: usize = 8 << 10;

/// Everything that is said of a source.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// In which shape it is a tool; `None` where no tool is found.
    pub shape: Option<Shape>,
    /// How safe it is.
    pub safety: SafetyAnalysisResult,
    /// How well it is written.
    pub quality: QualityAssessment,
    /// What it needs from its host.
    pub capabilities: Capabilities,
    /// How that compares with what it asks for.
    pub comparison: Comparison,
    /// What was found, in the order of the source.
    pub findings: Vec<Finding>,
    /// What it runs as; a rejection where it does not run here.
    pub script: Result<Script, Rejection>,
}

/// What a source needs beside what it asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Comparison {
    /// Used, and not asked for.
    pub missing: Vec<Capability>,
    /// Asked for, and not used.
    pub unused: Vec<Capability>,
    /// Asked for with more than is used.
    pub too_wide: Vec<Capability>,
}

/// Analyses a source. `declared` is what it asks to be granted, where that is known.
///
/// # Errors
/// `syntax-error`, `source-too-deep`, `source-too-large` (where the machine has too little address space to parse it safely).
///
/// # Examples
/// ```
/// use toolcell_analysis::{Capability, analyze};
/// use toolcell_tool::Language;
///
/// let source = "async function execute({ city }) { return (await fetch(`https://wttr.example/${city}`)).json() }";
/// let analysis = analyze(source, Language::JavaScript, None)?;
/// assert!(analysis.capabilities.has(Capability::Net));
/// assert_eq!(analysis.safety.issues[0].kind.name(), "network-access");
/// # Ok::<(), toolcell_analysis::Rejection>(())
/// ```
pub fn analyze(source: &str, language: Language, declared: Option<&Capabilities>) -> Result<Analysis, Rejection> {
    with_room(source.len(), || {
        with_globals(|| {
            let mut parsed = parse(source, language)?;
            let untyped = script::Untyped::of(source, &parsed);
            let script = || with_globals(|| untyped.as_ref().map_err(Clone::clone).and_then(script::Untyped::script));
            let (script, judged) = if source.len() >= BESIDE {
                with_room_beside(source.len(), script, || judge(source, &mut parsed, declared))
            } else {
                (script(), judge(source, &mut parsed, declared))
            };
            Ok(Analysis { script, ..judged })
        })
    })?
}

/// The critical findings alone, for the moment before a run, and what the source runs as.
///
/// # Errors
/// As [`translate`].
pub fn quick_check(source: &str, language: Language) -> Result<(Script, Vec<Finding>), Rejection> {
    with_room(source.len(), || {
        with_globals(|| {
            let mut parsed = parse(source, language)?;
            let lines = Lines::of(source);
            let findings = if parsed.depth > DEPTH {
                Vec::new()
            } else {
                let unresolved = parsed.resolve();
                let names = Names::of(&parsed.program, unresolved);
                let facts = Facts::of(&parsed.program, &parsed.imports, &names);
                let looked_at = rules::Source::new(source, &parsed.program, &names, &facts);
                rules::check(&looked_at, &lines, Severity::Critical)
            };
            // What a critical rule refuses, such as an import, needs no second reason.
            match script::of(source, &parsed) {
                Ok(script) => Ok((script, findings)),
                Err(rejection) => Err(rejection),
            }
        })
    })?
}

/// The page of a rule: what it is about, why, and what passes and fails, in Markdown.
#[must_use]
pub fn page(rule: &str) -> Option<&'static str> {
    rules::RULES.iter().find(|known| known.id.name() == rule).map(|known| known.page)
}

/// The names of all rules.
#[must_use]
pub fn rule_names() -> Vec<&'static str> {
    rules::RULES.iter().map(|rule| rule.id.name()).collect()
}

/// Everything but the script, which is made at the same time.
fn judge(source: &str, parsed: &mut Parsed, declared: Option<&Capabilities>) -> Analysis {
    let lines = Lines::of(source);
    if parsed.depth > DEPTH {
        return too_deep(parsed, &lines);
    }
    let unresolved = parsed.resolve();
    let names = Names::of(&parsed.program, unresolved);
    let facts = Facts::of(&parsed.program, &parsed.imports, &names);
    let looked_at = rules::Source::new(source, &parsed.program, &names, &facts);
    let mut findings = rules::check(&looked_at, &lines, Severity::Low);
    let found = shape::of(&parsed.program);
    findings.extend(no_tool(&found, &lines));
    let capabilities = Capabilities::of(&facts);
    let comparison = declared.map_or_else(Comparison::default, |declared| Comparison {
        missing: capabilities.missing_from(declared),
        unused: capabilities.unused_of(declared),
        too_wide: capabilities.too_wide(declared),
    });
    let uncertain = capabilities.iter().any(|(_, need)| need.unknown);
    let quality = QualityAssessment::of(&quality::Subject {
        program: &parsed.program,
        comments: &parsed.comments,
        names: &names,
        facts: &facts,
        lines: &lines,
        found: &found,
        findings: &findings,
    });
    Analysis {
        shape: if let Found::Tool(shape) = found { Some(shape) } else { None },
        safety: SafetyAnalysisResult::of(&findings, declared, uncertain),
        quality,
        capabilities,
        comparison,
        findings,
        script: Err(Rejection::Unsupported(Vec::new())),
    }
}

/// The finding of a source in which no tool, or more than one, is found.
fn no_tool(found: &Found, lines: &Lines<'_>) -> Option<Finding> {
    let (message, suggestion, span) = match found {
        Found::Tool(_) => return None,
        Found::Missing => ("declares no tool", "declare `function execute(params)`, or export it", None),
        Found::Twice(span) => ("declares `execute` twice", "keep one of them", Some(*span)),
    };
    let (start, end) = span.map_or((0, 0), range);
    let location = lines.locate(start, end);
    Some(Finding {
        rule: RuleId("no-tool"),
        severity: Severity::Low,
        message: message.to_owned(),
        suggestion,
        location,
        text: lines.shown(&location),
    })
}

/// What is said of a source that nests deeper than any tool does.
fn too_deep(parsed: &Parsed, lines: &Lines<'_>) -> Analysis {
    let location = lines.locate(0, 0);
    let finding = Finding {
        rule: RuleId("deep-nesting"),
        severity: Severity::High,
        message: format!("is nested {} deep, more than {DEPTH}: what it does is not looked at", parsed.depth),
        suggestion: "write lists and functions instead of nesting",
        location,
        text: lines.shown(&location),
    };
    let findings = vec![finding];
    Analysis {
        shape: None,
        safety: SafetyAnalysisResult::of(&findings, None, true),
        quality: QualityAssessment {
            score: 0.0,
            category_scores: CategoryScores::default(),
            issues: Vec::new(),
            improvements: vec!["write lists and functions instead of nesting".to_owned()],
            confidence: 0.95,
        },
        capabilities: Capabilities::default(),
        comparison: Comparison::default(),
        findings,
        script: Err(Rejection::Unsupported(Vec::new())),
    }
}
