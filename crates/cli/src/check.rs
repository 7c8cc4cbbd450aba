//! `check`: analyzes sources for safety, quality and required capabilities, without running them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::Serialize;
use serde_json::Value;
use toolcell::{
    Analysis, AnalysisError, Capabilities, Capability, Diagnostic, Draft, Finding, Lang, Severity, analyze,
    escape_control_chars,
};

use crate::Streams;
use crate::args::{CheckArgs, Format};
use crate::error::CliError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::{input, sarif};

/// Maximum depth of the search for sources in folders.
const MAX_FOLDER_DEPTH: usize = 16;

/// A source and the result of its analysis.
pub(crate) struct CheckedFile {
    pub(crate) path: String,
    pub(crate) source: String,
    pub(crate) analysis: Result<Analysis, CheckFailure>,
}

/// The reason that there is no analysis.
pub(crate) enum CheckFailure {
    /// The input is not a source: too large, or not UTF-8.
    InvalidDraft(toolcell::DraftError),
    /// The source does not parse.
    Rejected(AnalysisError),
}

impl CheckedFile {
    /// Whether the tool may run: it parses, has an entry point, is safe, and requests every
    /// capability that it uses.
    pub(crate) fn passes(&self) -> bool {
        self.analysis.as_ref().is_ok_and(|analysis| {
            let asked_for = analysis.capability_diff.missing.is_empty();
            analysis.entry_point.is_some() && analysis.safety.is_safe && analysis.script.is_ok() && asked_for
        })
    }

    /// Returns the syntax errors and unsupported syntax of the source, if any.
    pub(crate) fn rejection(&self) -> Option<&AnalysisError> {
        match &self.analysis {
            Ok(analysis) => analysis.script.as_ref().err(),
            Err(CheckFailure::Rejected(rejection)) => Some(rejection),
            Err(CheckFailure::InvalidDraft(_)) => None,
        }
    }
}

pub(crate) fn run(args: &CheckArgs, json: bool, lang: Lang, streams: &mut Streams<'_>) -> Result<Exit, CliError> {
    let declared = args.capabilities()?;
    let paths = expand_paths(&args.paths)?;
    let progress = streams.errors_are_terminal.then(|| Progress::start("checking"));
    let checked = paths.iter().map(|path| {
        if let Some(progress) = &progress {
            progress.set_message(path);
        }
        check_file(path, declared.as_ref(), streams)
    });
    let checked: Result<Vec<CheckedFile>, CliError> = checked.collect();
    if let Some(progress) = progress {
        progress.finish();
    }
    let checked = checked?;
    let format = if json { Format::Json } else { args.format };
    match format {
        Format::Json => {
            for one in &checked {
                writeln!(streams.output, "{}", to_json_line(one))?;
            }
        }
        Format::Sarif => writeln!(streams.output, "{}", sarif::report(&checked))?,
        Format::Text => print_text(&checked, args.quiet, lang, streams)?,
    }
    streams.output.flush()?;
    Ok(if checked.iter().all(CheckedFile::passes) { Exit::Done } else { Exit::Refused })
}

/// Expands folders to the sources in them.
fn expand_paths(paths: &[String]) -> Result<Vec<String>, CliError> {
    let mut found = Vec::new();
    for path in paths {
        if path != "-" && Path::new(path).is_dir() {
            let before = found.len();
            walk(Path::new(path), MAX_FOLDER_DEPTH, &mut found)?;
            if found.len() == before {
                return Err(CliError::NoSources { path: path.clone() });
            }
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<String>) -> Result<(), CliError> {
    let failed = |error| CliError::File { path: folder.display().to_string(), error };
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_dir() {
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if depth > 0 && !hidden && !path.ends_with("node_modules") {
                walk(&path, depth - 1, found)?;
            }
        } else if path.extension().is_some_and(|ending| ["js", "mjs", "ts", "mts"].iter().any(|known| ending == *known))
        {
            found.push(path.display().to_string());
        }
    }
    Ok(())
}

/// Analyzes one file. The requested capabilities are read from the JSON file of the same name
/// beside it, unless `declared` has them.
fn check_file(path: &str, declared: Option<&Capabilities>, streams: &mut Streams<'_>) -> Result<CheckedFile, CliError> {
    let bytes = input::read_source(path, streams)?;
    let name = if path == "-" { "stdin" } else { path.rsplit('/').next().unwrap_or(path) };
    let draft = match Draft::from_bytes(name, &bytes) {
        Ok(draft) => draft,
        Err(error) => {
            let source = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(CheckedFile { path: path.to_owned(), source, analysis: Err(CheckFailure::InvalidDraft(error)) });
        }
    };
    let beside = if declared.is_none() && path != "-" { read_declared_capabilities(path)? } else { None };
    let said = analyze(draft.source(), draft.language(), declared.or(beside.as_ref())).map_err(CheckFailure::Rejected);
    Ok(CheckedFile { path: path.to_owned(), source: draft.source().to_owned(), analysis: said })
}

/// Reads the `capabilities` of the JSON file beside a source.
fn read_declared_capabilities(path: &str) -> Result<Option<Capabilities>, CliError> {
    let beside = Path::new(path).with_extension("json");
    let Ok(text) = fs::read_to_string(&beside) else { return Ok(None) };
    let Ok(Value::Object(manifest)) = serde_json::from_str::<Value>(&text) else { return Ok(None) };
    let names: Vec<&str> = match manifest.get("capabilities") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::Object(names)) => names.keys().map(String::as_str).collect(),
        _ => return Ok(None),
    };
    parse_capabilities(&names).map(Some)
}

/// Parses the names of capabilities.
pub(crate) fn parse_capabilities(names: &[&str]) -> Result<Capabilities, CliError> {
    let found: Result<Vec<Capability>, CliError> = names
        .iter()
        .map(|name| Capability::from_name(name).ok_or_else(|| CliError::UnknownCapability { name: (*name).to_owned() }))
        .collect();
    found.map(Capabilities::unscoped)
}

/// An analysis in JSON, as `check` and `batch` print it.
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
    code: &'static str,
    message: String,
    line: u32,
    column: u32,
    text: String,
}

/// Converts the problems of a rejection to JSON.
pub(crate) fn problem_responses(rejection: &AnalysisError) -> Vec<ProblemResponse> {
    let problem = |problem: &Diagnostic| ProblemResponse {
        code: rejection.code(),
        message: problem.message.clone(),
        line: problem.location.line,
        column: problem.location.column,
        text: problem.snippet.clone(),
    };
    rejection.diagnostics().iter().map(problem).collect()
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

/// Formats the result of one source as a line of JSON.
fn to_json_line(checked: &CheckedFile) -> String {
    let mut body = match &checked.analysis {
        Ok(analysis) => serde_json::to_value(AnalysisResponse::from_analysis(analysis)).unwrap_or_default(),
        Err(CheckFailure::Rejected(rejection)) => serde_json::json!({ "errors": problem_responses(rejection) }),
        Err(CheckFailure::InvalidDraft(error)) => {
            serde_json::json!({ "errors": [{ "code": error.code(), "message": error.to_string() }] })
        }
    };
    if let Value::Object(fields) = &mut body {
        fields.insert("path".to_owned(), Value::String(checked.path.clone()));
        fields.insert("passes".to_owned(), Value::Bool(checked.passes()));
    }
    body.to_string()
}

fn print_text(checked: &[CheckedFile], quiet: bool, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let renderer = renderer(streams);
    let mut counts: BTreeMap<Severity, usize> = BTreeMap::new();
    for one in checked {
        match &one.analysis {
            Err(CheckFailure::InvalidDraft(error)) => {
                writeln!(streams.output, "error: {}: {error}\nhint: {}\n", one.path, error.hint())?;
            }
            Err(CheckFailure::Rejected(_)) => {}
            Ok(analysis) => {
                for finding in &analysis.findings {
                    let allowed = analysis.safety.allowed_operations.contains(&finding.message);
                    if !allowed {
                        *counts.entry(finding.severity).or_default() += 1;
                    }
                    if !(allowed || quiet && finding.severity < Severity::High) {
                        writeln!(streams.output, "{}\n", render_finding(&renderer, one, finding))?;
                    }
                }
                for missing in &analysis.capability_diff.missing {
                    writeln!(streams.output, "error: {}: uses `{}` without requesting it\n", one.path, missing.name())?;
                }
                if !quiet {
                    for unused in &analysis.capability_diff.unused {
                        let name = unused.name();
                        writeln!(streams.output, "warning: {}: requests `{name}` but does not use it\n", one.path)?;
                    }
                }
            }
        }
        if let Some(rejection) = one.rejection() {
            if rejection.diagnostics().is_empty() {
                writeln!(streams.output, "error: {}: {rejection}\nhint: {}\n", one.path, rejection.hint())?;
            }
            for problem in rejection.diagnostics() {
                writeln!(streams.output, "{}\n", render_problem(&renderer, one, problem, rejection.code()))?;
            }
        }
    }
    if !quiet {
        for one in checked {
            if let Ok(analysis) = &one.analysis {
                writeln!(streams.output, "{}", summary(one, analysis, lang))?;
            }
        }
    }
    let refused = checked.iter().filter(|one| !one.passes()).count();
    let mut found: Vec<String> =
        counts.iter().rev().map(|(severity, count)| format!("{count} {}", severity.name())).collect();
    let unread = checked.iter().filter(|one| one.analysis.is_err() || one.rejection().is_some()).count();
    if unread > 0 {
        found.insert(0, format!("{unread} not runnable"));
    }
    let found = if found.is_empty() { "no findings".to_owned() } else { found.join(", ") };
    writeln!(streams.output, "{} checked, {refused} refused: {found}", checked.len())
}

/// Returns a renderer that uses colors only on a terminal, and only if `NO_COLOR` is not set.
pub(crate) fn renderer(streams: &Streams<'_>) -> Renderer {
    if streams.output_is_terminal && std::env::var_os("NO_COLOR").is_none() {
        Renderer::styled()
    } else {
        Renderer::plain()
    }
}

/// Formats the scores and required capabilities of one source as a line.
fn summary(checked: &CheckedFile, analysis: &Analysis, lang: Lang) -> String {
    let (safety, quality) = (analysis.safety.score, analysis.quality.score);
    let scores = match lang {
        Lang::En => format!("safety {safety:.2}, quality {quality:.2}"),
        Lang::Ja => format!("安全性 {safety:.2}, 品質 {quality:.2}"),
        Lang::Zh => format!("安全性 {safety:.2}，质量 {quality:.2}"),
    };
    let needs: Vec<String> = analysis
        .capabilities
        .iter()
        .map(|(capability, need)| {
            let mut names: Vec<&str> = need.named.iter().map(String::as_str).collect();
            if need.unknown {
                names.push("unknown");
            }
            if names.is_empty() {
                capability.name().to_owned()
            } else {
                format!("{} ({})", capability.name(), names.join(", "))
            }
        })
        .collect();
    let needs = if needs.is_empty() { String::new() } else { format!("  uses {}", needs.join(", ")) };
    format!("{}: {scores}{needs}", escape_control_chars(&checked.path))
}

/// Renders a finding with its source line.
pub(crate) fn render_finding(renderer: &Renderer, checked: &CheckedFile, finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Critical | Severity::High => Level::ERROR,
        Severity::Medium => Level::WARNING,
        Severity::Low => Level::NOTE,
    };
    let title = format!("{}: {}", finding.severity.name(), escape_control_chars(&finding.message));
    let place = (finding.location.start, finding.location.end);
    render_snippet(renderer, checked, level, finding.rule.name(), &title, place, finding.suggestion)
}

pub(crate) fn render_problem(renderer: &Renderer, checked: &CheckedFile, problem: &Diagnostic, code: &str) -> String {
    let place = (problem.location.start, problem.location.end);
    render_snippet(renderer, checked, Level::ERROR, code, &escape_control_chars(&problem.message), place, "")
}

fn render_snippet(
    renderer: &Renderer,
    checked: &CheckedFile,
    level: Level<'_>,
    id: &str,
    title: &str,
    (start, end): (usize, usize),
    help: &str,
) -> String {
    // A range over several lines is cut to its first line.
    let first_line = checked.source[start..].find('\n').map_or(checked.source.len(), |at| start + at);
    let end = end.min(first_line).max(start);
    let annotation = AnnotationKind::Primary.span(start..end);
    let snippet = Snippet::source(checked.source.as_str()).path(checked.path.as_str()).annotation(annotation);
    let mut group = level.primary_title(title).id(id).element(snippet);
    if !help.is_empty() {
        group = group.element(Level::HELP.message(help));
    }
    renderer.render(&[group])
}
