//! Renders findings with the source lines that they are about.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Message, Renderer, Snippet};
use toolcell::{Analysis, AnalysisError, Diagnostic, Finding, Lang, Localize as _, Severity, escape_control_chars};
use toolcell_i18n::tr;

use crate::streams::Streams;

/// A source and the result of its analysis.
pub(crate) struct CheckedFile {
    pub(crate) path: String,
    pub(crate) source: String,
    pub(crate) analysis: Result<Analysis, CheckFailure>,
    /// What a type checker says, if there is one.
    pub(crate) type_errors: Vec<Finding>,
    /// Why the type checker that there is says nothing.
    pub(crate) unchecked_types: Option<toolcell::Message>,
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

/// Returns a renderer that uses colors if standard output is coloured.
pub(crate) fn renderer(streams: &Streams<'_>) -> Renderer {
    if streams.color.is_on(streams.output_is_terminal) { Renderer::styled() } else { Renderer::plain() }
}

/// Renders a finding with its source line.
pub(crate) fn render_finding(renderer: &Renderer, checked: &CheckedFile, finding: &Finding, lang: Lang) -> String {
    let level = match finding.severity {
        Severity::Critical | Severity::High => Level::ERROR.with_name(tr!(lang, "error")),
        Severity::Medium => Level::WARNING.with_name(tr!(lang, "warning")),
        Severity::Low => Level::NOTE.with_name(tr!(lang, "diagnostic" => "note")),
    };
    let severity = finding.severity.localize().to_text(lang);
    let title = format!("{severity}{}{}", lang.colon(), escape_control_chars(&finding.message.to_text(lang)));
    let (id, range) = (finding.rule.name(), finding.location.start..finding.location.end);
    let help = Level::HELP.with_name(tr!(lang, "diagnostic" => "help")).message(lang.translate(finding.suggestion));
    render_snippet(renderer, checked, Annotation { level, id, title, range, help: Some(help) })
}

/// Renders a problem that keeps a source from running, with its source line.
pub(crate) fn render_problem(
    renderer: &Renderer,
    checked: &CheckedFile,
    problem: &Diagnostic,
    code: &str,
    lang: Lang,
) -> String {
    let level = Level::ERROR.with_name(tr!(lang, "error"));
    let title = escape_control_chars(&problem.message.to_text(lang));
    let range = problem.location.start..problem.location.end;
    render_snippet(renderer, checked, Annotation { level, id: code, title, range, help: None })
}

/// A message about a range of a source.
struct Annotation<'a> {
    level: Level<'static>,
    /// The rule, or the error code.
    id: &'a str,
    title: String,
    /// The bytes of the source.
    range: Range<usize>,
    help: Option<Message<'static>>,
}

fn render_snippet(renderer: &Renderer, checked: &CheckedFile, annotation: Annotation<'_>) -> String {
    let Annotation { level, id, title, range, help } = annotation;
    // A range over several lines is cut to its first line.
    let first_line = checked.source[range.start..].find('\n').map_or(checked.source.len(), |at| range.start + at);
    let end = range.end.min(first_line).max(range.start);
    let primary = AnnotationKind::Primary.span(range.start..end);
    let path = escape_control_chars(&checked.path);
    let snippet = Snippet::source(checked.source.as_str()).path(path.as_str()).annotation(primary);
    let mut group = level.primary_title(title).id(id).element(snippet);
    if let Some(help) = help {
        group = group.element(help);
    }
    renderer.render(&[group])
}
