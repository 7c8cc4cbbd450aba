//! Static analysis of a tool's source, and its translation to the JavaScript that runs.
//!
//! [`transpile`] produces the [`Script`] of a source; types are erased in place. [`analyze`]
//! reports how safe and how well written the source is, and which capabilities it needs.
//! [`quick_check`] runs the critical rules alone, right before a run.
//!
//! Reading order: `syntax` parses a source and produces the script; `semantics` resolves names and
//! collects facts; `rules` look for one danger each; `report` turns findings into scores.
//!
//! Invariants: rules inspect the syntax tree, with names resolved and constants folded (only
//! `hidden-text` and `obfuscation` look at characters); no type of the parser appears in a
//! signature; no source, however hostile, ends the process. Isolation never depends on this crate.

mod report;
mod rules;
mod semantics;
mod syntax;
#[cfg(test)]
mod testdata;

use std::collections::BTreeSet;

use toolcell_i18n::{message, msgid};
use toolcell_tool::Language;

use report::quality::QualityInput;
use semantics::bindings::Bindings;
use semantics::capabilities::{capabilities_of, lent_functions, lines_using_capabilities};
use semantics::facts::Facts;
use syntax::depth::MAX_DEPTH;
use syntax::entry_point::{EntryPointSearch, find_entry_point};
use syntax::parse::{ParsedSource, parse, with_globals};
use syntax::position::{LineIndex, byte_range};
use syntax::script::{TranspileJob, transpile_parsed};
use syntax::stack::{join_on_large_stack, on_large_stack};

pub use report::capability_diff::CapabilityDiff;
pub use report::finding::{Finding, RuleId, Severity};
pub use report::quality::{CategoryScores, QualityAssessment, QualityIssue};
pub use report::safety::{SafetyAnalysisIssue, SafetyAnalysisResult};
pub use syntax::entry_point::EntryPoint;
pub use syntax::error::{AnalysisError, Diagnostic};
pub use syntax::position::{Location, source_line};
pub use syntax::script::{Script, transpile};
pub use syntax::tokens::{SyntaxToken, TokenKind};
pub use toolcell_tool::{Capabilities, Capability, CapabilityNeed};

/// The minimum size of a source, in bytes, whose script is produced on a second thread. For a
/// shorter source, starting the thread takes longer than the work.
const MIN_PARALLEL_BYTES: usize = 8 << 10;

/// The result of analysing a source.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The form in which the source defines a tool; `None` if it defines none, or more than one.
    pub entry_point: Option<EntryPoint>,
    /// The safety score and its issues.
    pub safety: SafetyAnalysisResult,
    /// The quality score and its issues.
    pub quality: QualityAssessment,
    /// The capabilities that the source uses.
    pub capabilities: Capabilities,
    /// The lines on which the source uses a capability, counted from 1.
    pub capability_lines: BTreeSet<u32>,
    /// The difference between the capabilities used and those declared; empty if no declaration was
    /// given.
    pub capability_diff: CapabilityDiff,
    /// The findings, in source order.
    pub findings: Vec<Finding>,
    /// The script that the source runs as, or the reason why it cannot run here.
    pub script: Result<Script, AnalysisError>,
}

/// Analyses a source. `declared` holds the capabilities that it requests, if they are known.
///
/// # Errors
/// `syntax-error`, `source-too-deep`, `source-too-large` (the machine has too little address space
/// to parse it safely), `no-threads`.
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
/// # Ok::<(), toolcell_analysis::AnalysisError>(())
/// ```
pub fn analyze(source: &str, language: Language, declared: Option<&Capabilities>) -> Result<Analysis, AnalysisError> {
    on_large_stack(source.len(), || {
        with_globals(|| {
            let mut parsed = parse(source, language)?;
            let untyped = TranspileJob::new(source, &parsed);
            let script = || with_globals(|| untyped.as_ref().map_err(Clone::clone).and_then(TranspileJob::transpile));
            let (script, judged) = if source.len() >= MIN_PARALLEL_BYTES {
                join_on_large_stack(source.len(), script, || assess(source, &mut parsed, declared))
            } else {
                (script(), assess(source, &mut parsed, declared))
            };
            Ok(Analysis { script, ..judged })
        })
    })?
}

/// Returns the tokens of a source that a viewer colours, in source order. A source that does not parse has none.
///
/// # Examples
/// ```
/// use toolcell_analysis::{TokenKind, syntax_tokens};
///
/// let tokens = syntax_tokens("const half = 2 / 4");
/// assert_eq!((tokens[0].kind, tokens[0].range.clone()), (TokenKind::Keyword, 0..5));
/// assert_eq!(tokens.len(), 3);
/// ```
#[must_use]
pub fn syntax_tokens(source: &str) -> Vec<SyntaxToken> {
    let tokens = || with_globals(|| syntax::tokens::syntax_tokens(source));
    on_large_stack(source.len(), tokens).unwrap_or_default()
}

/// Returns whether a source has types or other syntax that exists only in TypeScript.
///
/// # Examples
/// ```
/// use toolcell_analysis::has_types;
///
/// assert!(has_types("const execute = ({ n }: { n: number }) => 2 * n"));
/// assert!(!has_types("const execute = ({ n }) => 2 * n"));
/// ```
#[must_use]
pub fn has_types(source: &str) -> bool {
    let parsed = || with_globals(|| parse(source, Language::JavaScript).is_ok_and(|parsed| parsed.is_typescript));
    on_large_stack(source.len(), parsed).unwrap_or(false)
}

/// Returns the script of a source and its critical findings, for the check right before a run.
///
/// # Errors
/// As [`transpile`].
pub fn quick_check(source: &str, language: Language) -> Result<(Script, Vec<Finding>), AnalysisError> {
    on_large_stack(source.len(), || {
        with_globals(|| {
            let mut parsed = parse(source, language)?;
            let lines = LineIndex::new(source);
            let findings = if parsed.depth > MAX_DEPTH {
                Vec::new()
            } else {
                let unresolved = parsed.resolve();
                let names = Bindings::collect(&parsed.program, unresolved);
                let facts = Facts::collect(&parsed.program, &parsed.imports, &names);
                let looked_at = rules::RuleContext::new(source, &parsed.program, &names, &facts);
                rules::check(&looked_at, &lines, Severity::Critical)
            };
            // Unsupported syntax, such as an import, is reported as the rejection
            // alone.
            match transpile_parsed(source, &parsed) {
                Ok(script) => Ok((script, findings)),
                Err(rejection) => Err(rejection),
            }
        })
    })?
}

/// Returns the documentation of a rule, in Markdown: its subject, its reason, and examples that
/// pass and fail.
#[must_use]
pub fn rule_docs(rule: &str) -> Option<&'static str> {
    rules::RULES.iter().find(|known| known.id.name() == rule).map(|known| known.docs)
}

/// Returns the names of all rules.
#[must_use]
pub fn rule_names() -> Vec<&'static str> {
    rules::RULES.iter().map(|rule| rule.id.name()).collect()
}

/// Runs every part of the analysis except the script, which is produced in parallel.
fn assess(source: &str, parsed: &mut ParsedSource, declared: Option<&Capabilities>) -> Analysis {
    let lines = LineIndex::new(source);
    if parsed.depth > MAX_DEPTH {
        return too_deep_analysis(parsed, &lines);
    }
    let unresolved = parsed.resolve();
    let names = Bindings::collect(&parsed.program, unresolved);
    let facts = Facts::collect(&parsed.program, &parsed.imports, &names);
    let looked_at = rules::RuleContext::new(source, &parsed.program, &names, &facts);
    let mut findings = rules::check(&looked_at, &lines, Severity::Low);
    let found = find_entry_point(&parsed.program);
    findings.extend(entry_point_finding(&found, &lines));
    let mut capabilities = capabilities_of(&facts);
    let is_factory = matches!(found, EntryPointSearch::Found(EntryPoint::Factory));
    let lent = if is_factory { lent_functions(&parsed.program) } else { Vec::new() };
    for (name, _) in &lent {
        capabilities.insert_name(Capability::Tools, name.clone());
    }
    let comparison =
        declared.map_or_else(CapabilityDiff::default, |declared| CapabilityDiff::between(&capabilities, declared));
    let uncertain = capabilities.iter().any(|(_, need)| need.unknown);
    let quality = QualityAssessment::assess(&QualityInput {
        program: &parsed.program,
        comments: &parsed.comments,
        names: &names,
        facts: &facts,
        lines: &lines,
        entry_point: &found,
        findings: &findings,
    });
    Analysis {
        entry_point: if let EntryPointSearch::Found(shape) = found { Some(shape) } else { None },
        safety: SafetyAnalysisResult::from_findings(&findings, declared, uncertain),
        quality,
        capabilities,
        capability_lines: lines_using_capabilities(&facts, &lent, &lines),
        capability_diff: comparison,
        findings,
        script: Err(AnalysisError::Unsupported(Vec::new())),
    }
}

/// Returns the finding for a source that defines no tool, or more than one.
fn entry_point_finding(found: &EntryPointSearch, lines: &LineIndex<'_>) -> Option<Finding> {
    let (message, suggestion, span) = match found {
        EntryPointSearch::Found(_) => return None,
        EntryPointSearch::Missing => {
            (message!("declares no tool"), msgid!("declare `function execute(params)`, or export it"), None)
        }
        EntryPointSearch::Ambiguous(span) => {
            (message!("declares `execute` twice"), msgid!("keep one of them"), Some(*span))
        }
    };
    let (start, end) = span.map_or((0, 0), byte_range);
    let location = lines.locate(start, end);
    Some(Finding {
        rule: RuleId("no-tool"),
        severity: Severity::Low,
        message,
        suggestion,
        location,
        snippet: lines.snippet(&location),
    })
}

/// Returns the analysis of a source that is nested deeper than [`MAX_DEPTH`].
fn too_deep_analysis(parsed: &ParsedSource, lines: &LineIndex<'_>) -> Analysis {
    let location = lines.locate(0, 0);
    let finding = Finding {
        rule: RuleId("deep-nesting"),
        severity: Severity::High,
        message: message!(
            "is nested {depth} levels deep, the limit is {limit}: it was not analysed",
            depth = parsed.depth,
            limit = MAX_DEPTH
        ),
        suggestion: msgid!("write lists and functions instead of nesting"),
        location,
        snippet: lines.snippet(&location),
    };
    let findings = vec![finding];
    Analysis {
        entry_point: None,
        safety: SafetyAnalysisResult::from_findings(&findings, None, true),
        quality: QualityAssessment {
            score: 0.0,
            category_scores: CategoryScores::default(),
            issues: Vec::new(),
            improvements: vec![message!("write lists and functions instead of nesting")],
            confidence: 0.95,
        },
        capabilities: Capabilities::default(),
        capability_lines: BTreeSet::new(),
        capability_diff: CapabilityDiff::default(),
        findings,
        script: Err(AnalysisError::Unsupported(Vec::new())),
    }
}
