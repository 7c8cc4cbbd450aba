//! `check`: says of sources what they would do and how well they are written, without running them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::Serialize;
use serde_json::Value;
use toolcell::{
    Analysis, Capabilities, Capability, Draft, Finding, Lang, Problem, Rejection, Severity, analyze, visible,
};

use crate::Streams;
use crate::args::{CheckArgs, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{input, sarif};

/// How deep folders are looked through.
const FOLDERS: usize = 16;

/// One source and what is said of it.
pub(crate) struct Checked {
    pub(crate) path: String,
    pub(crate) source: String,
    pub(crate) said: Result<Analysis, Said>,
}

/// Why there is no analysis.
pub(crate) enum Said {
    /// It is no source.
    NoDraft(toolcell::DraftError),
    /// It does not parse.
    Rejected(Rejection),
}

impl Checked {
    /// Whether it may run: it parses, translates, is safe, and is a tool.
    pub(crate) fn passes(&self) -> bool {
        self.said.as_ref().is_ok_and(|analysis| {
            let asked_for = analysis.comparison.missing.is_empty();
            analysis.shape.is_some() && analysis.safety.is_safe && analysis.script.is_ok() && asked_for
        })
    }

    /// What is wrong with its syntax, or with what it uses of the language.
    pub(crate) fn rejection(&self) -> Option<&Rejection> {
        match &self.said {
            Ok(analysis) => analysis.script.as_ref().err(),
            Err(Said::Rejected(rejection)) => Some(rejection),
            Err(Said::NoDraft(_)) => None,
        }
    }
}

pub(crate) fn run(args: &CheckArgs, json: bool, lang: Lang, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let declared = args.capabilities()?;
    let paths = sources(&args.paths)?;
    let progress = streams.errors_are_terminal.then(|| Progress::start("checking"));
    let checked = paths.iter().map(|path| {
        if let Some(progress) = &progress {
            progress.say(path);
        }
        check(path, declared.as_ref(), streams)
    });
    let checked: Result<Vec<Checked>, Failure> = checked.collect();
    if let Some(progress) = progress {
        progress.end();
    }
    let checked = checked?;
    let format = if json { Format::Json } else { args.format };
    match format {
        Format::Json => {
            for one in &checked {
                writeln!(streams.output, "{}", in_json(one))?;
            }
        }
        Format::Sarif => writeln!(streams.output, "{}", sarif::of(&checked))?,
        Format::Text => print_text(&checked, args.quiet, lang, streams)?,
    }
    streams.output.flush()?;
    Ok(if checked.iter().all(Checked::passes) { Exit::Done } else { Exit::Refused })
}

/// The files that paths name: folders stand for the sources in them.
fn sources(paths: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path != "-" && Path::new(path).is_dir() {
            let before = found.len();
            walk(Path::new(path), FOLDERS, &mut found)?;
            if found.len() == before {
                return Err(Failure::NoSources { path: path.clone() });
            }
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<String>) -> Result<(), Failure> {
    let failed = |error| Failure::File { path: folder.display().to_string(), error };
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

/// Analyses one file. What a tool asks for stands in the file of the same name that ends in `.json`.
fn check(path: &str, declared: Option<&Capabilities>, streams: &mut Streams<'_>) -> Result<Checked, Failure> {
    let bytes = input::source(path, streams)?;
    let name = if path == "-" { "stdin" } else { path.rsplit('/').next().unwrap_or(path) };
    let draft = match Draft::from_bytes(name, &bytes) {
        Ok(draft) => draft,
        Err(error) => {
            let source = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(Checked { path: path.to_owned(), source, said: Err(Said::NoDraft(error)) });
        }
    };
    let beside = if declared.is_none() && path != "-" { declared_beside(path)? } else { None };
    let said = analyze(draft.source(), draft.language(), declared.or(beside.as_ref())).map_err(Said::Rejected);
    Ok(Checked { path: path.to_owned(), source: draft.source().to_owned(), said })
}

/// The `capabilities` of the JSON file beside a source.
fn declared_beside(path: &str) -> Result<Option<Capabilities>, Failure> {
    let beside = Path::new(path).with_extension("json");
    let Ok(text) = fs::read_to_string(&beside) else { return Ok(None) };
    let Ok(Value::Object(manifest)) = serde_json::from_str::<Value>(&text) else { return Ok(None) };
    let names: Vec<&str> = match manifest.get("capabilities") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::Object(names)) => names.keys().map(String::as_str).collect(),
        _ => return Ok(None),
    };
    named(&names).map(Some)
}

/// Capabilities by their names.
pub(crate) fn named(names: &[&str]) -> Result<Capabilities, Failure> {
    let found: Result<Vec<Capability>, Failure> = names
        .iter()
        .map(|name| Capability::named(name).ok_or_else(|| Failure::UnknownCapability { name: (*name).to_owned() }))
        .collect();
    found.map(Capabilities::these)
}

/// An analysis, as `batch` answers it as well.
#[derive(Serialize)]
pub(crate) struct AnalysisBody<'a> {
    shape: Option<toolcell::Shape>,
    safety: &'a toolcell::SafetyAnalysisResult,
    quality: &'a toolcell::QualityAssessment,
    capabilities: Vec<CapabilityBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a toolcell::Comparison>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ProblemBody>,
}

#[derive(Serialize)]
struct CapabilityBody<'a> {
    name: &'static str,
    #[serde(flatten)]
    need: &'a toolcell::Need,
}

/// Something that keeps a source from running.
#[derive(Serialize)]
pub(crate) struct ProblemBody {
    code: &'static str,
    message: String,
    line: u32,
    column: u32,
    text: String,
}

/// The problems of a rejection.
pub(crate) fn problems(rejection: &Rejection) -> Vec<ProblemBody> {
    let problem = |problem: &Problem| ProblemBody {
        code: rejection.code(),
        message: problem.message.clone(),
        line: problem.location.line,
        column: problem.location.column,
        text: problem.text.clone(),
    };
    rejection.problems().iter().map(problem).collect()
}

impl<'a> AnalysisBody<'a> {
    pub(crate) fn of(analysis: &'a Analysis) -> Self {
        let comparison =
            Some(&analysis.comparison).filter(|comparison| **comparison != toolcell::Comparison::default());
        Self {
            shape: analysis.shape,
            safety: &analysis.safety,
            quality: &analysis.quality,
            capabilities: analysis
                .capabilities
                .iter()
                .map(|(capability, need)| CapabilityBody { name: capability.name(), need })
                .collect(),
            comparison,
            errors: analysis.script.as_ref().err().map(problems).unwrap_or_default(),
        }
    }
}

/// One line of JSON for one source.
fn in_json(checked: &Checked) -> String {
    let mut body = match &checked.said {
        Ok(analysis) => serde_json::to_value(AnalysisBody::of(analysis)).unwrap_or_default(),
        Err(Said::Rejected(rejection)) => serde_json::json!({ "errors": problems(rejection) }),
        Err(Said::NoDraft(error)) => {
            serde_json::json!({ "errors": [{ "code": error.code(), "message": error.to_string() }] })
        }
    };
    if let Value::Object(fields) = &mut body {
        fields.insert("path".to_owned(), Value::String(checked.path.clone()));
        fields.insert("passes".to_owned(), Value::Bool(checked.passes()));
    }
    body.to_string()
}

fn print_text(checked: &[Checked], quiet: bool, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let renderer = renderer(streams);
    let mut counts: BTreeMap<Severity, usize> = BTreeMap::new();
    for one in checked {
        match &one.said {
            Err(Said::NoDraft(error)) => {
                writeln!(streams.output, "error: {}: {error}\nhint: {}\n", one.path, error.hint())?;
            }
            Err(Said::Rejected(_)) => {}
            Ok(analysis) => {
                for finding in &analysis.findings {
                    let allowed = analysis.safety.allowed_operations.contains(&finding.message);
                    if !allowed {
                        *counts.entry(finding.severity).or_default() += 1;
                    }
                    if !(allowed || quiet && finding.severity < Severity::High) {
                        writeln!(streams.output, "{}\n", shown(&renderer, one, finding))?;
                    }
                }
                for missing in &analysis.comparison.missing {
                    writeln!(
                        streams.output,
                        "error: {}: uses `{}` and does not ask for it\n",
                        one.path,
                        missing.name()
                    )?;
                }
                if !quiet {
                    for unused in &analysis.comparison.unused {
                        let name = unused.name();
                        writeln!(streams.output, "warning: {}: asks for `{name}` and does not use it\n", one.path)?;
                    }
                }
            }
        }
        if let Some(rejection) = one.rejection() {
            if rejection.problems().is_empty() {
                writeln!(streams.output, "error: {}: {rejection}\nhint: {}\n", one.path, rejection.hint())?;
            }
            for problem in rejection.problems() {
                writeln!(streams.output, "{}\n", problem_shown(&renderer, one, problem, rejection.code()))?;
            }
        }
    }
    if !quiet {
        for one in checked {
            if let Ok(analysis) = &one.said {
                writeln!(streams.output, "{}", summary(one, analysis, lang))?;
            }
        }
    }
    let refused = checked.iter().filter(|one| !one.passes()).count();
    let mut found: Vec<String> =
        counts.iter().rev().map(|(severity, count)| format!("{count} {}", severity.name())).collect();
    let unread = checked.iter().filter(|one| one.said.is_err() || one.rejection().is_some()).count();
    if unread > 0 {
        found.insert(0, format!("{unread} that do not run here"));
    }
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    writeln!(streams.output, "{} checked, {refused} refused: {found}", checked.len())
}

/// Colours are for terminals, and for people who want them.
pub(crate) fn renderer(streams: &Streams<'_>) -> Renderer {
    if streams.output_is_terminal && std::env::var_os("NO_COLOR").is_none() {
        Renderer::styled()
    } else {
        Renderer::plain()
    }
}

/// One line about one source: its scores, and what it needs.
fn summary(checked: &Checked, analysis: &Analysis, lang: Lang) -> String {
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
    let needs = if needs.is_empty() { String::new() } else { format!("  needs {}", needs.join(", ")) };
    format!("{}: {scores}{needs}", visible(&checked.path))
}

/// A finding with the line it is in.
pub(crate) fn shown(renderer: &Renderer, checked: &Checked, finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Critical | Severity::High => Level::ERROR,
        Severity::Medium => Level::WARNING,
        Severity::Low => Level::NOTE,
    };
    let title = format!("{}: {}", finding.severity.name(), visible(&finding.message));
    let place = (finding.location.start, finding.location.end);
    render(renderer, checked, level, finding.rule.name(), &title, place, finding.suggestion)
}

pub(crate) fn problem_shown(renderer: &Renderer, checked: &Checked, problem: &Problem, code: &str) -> String {
    let place = (problem.location.start, problem.location.end);
    render(renderer, checked, Level::ERROR, code, &visible(&problem.message), place, "")
}

fn render(
    renderer: &Renderer,
    checked: &Checked,
    level: Level<'_>,
    id: &str,
    title: &str,
    (start, end): (usize, usize),
    help: &str,
) -> String {
    // Of a long stretch, its first line says where to look.
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
