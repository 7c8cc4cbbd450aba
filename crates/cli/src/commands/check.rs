//! `check`: analyzes sources for safety, quality and required capabilities, without running them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use toolcell::{
    Analysis, Capabilities, Draft, Lang, Localize, Severity, TypeCheckRequest, TypeChecker, analyze,
    escape_control_chars,
};
use toolcell_i18n::{message, tr};

use crate::args::{CheckArgs, Format, parse_capabilities};
use crate::commands::analysis_response::{AnalysisResponse, problem_responses, type_error_responses};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::policy_files::PolicyFiles;
use crate::render::findings::{CheckFailure, CheckedFile, render_finding, render_problem, renderer};
use crate::render::progress::Progress;
use crate::render::sarif;
use crate::streams::Streams;

/// Maximum depth of the search for sources in folders.
const MAX_FOLDER_DEPTH: usize = 16;

pub(crate) fn run(args: &CheckArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, ref policy, format, lang, .. } = *context;
    let declared = args.capabilities()?;
    // An invalid policy is not an error of this command.
    let policy = policy.as_ref().ok().map(PolicyFiles::policy);
    let types = crate::toolbox::type_checker(policy).map(TypeChecker::new);
    let paths = expand_paths(&args.paths)?;
    let progress = streams.errors_are_terminal.then(|| Progress::start(tr!(lang, "checking")));
    let checked = paths.iter().map(|path| {
        if let Some(progress) = &progress {
            progress.set_message(path);
        }
        check_file(path, declared.as_ref(), types.as_ref(), streams)
    });
    let checked: Result<Vec<CheckedFile>, CliError> = checked.collect();
    if let Some(progress) = progress {
        progress.finish();
    }
    let checked = checked?;
    let format = if format.is_json() { Format::Json } else { args.format };
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
    if let Some(why) = checked.iter().find_map(|one| one.unchecked_types.as_ref()) {
        streams.print_note(&message!("types are not checked: {why}", why), lang)?;
    }
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
fn check_file(
    path: &str,
    declared: Option<&Capabilities>,
    types: Option<&TypeChecker>,
    streams: &mut Streams<'_>,
) -> Result<CheckedFile, CliError> {
    let bytes = input::read_source(path, streams)?;
    let name = if path == "-" { "stdin" } else { path.rsplit('/').next().unwrap_or(path) };
    let draft = match Draft::from_bytes(name, &bytes) {
        Ok(draft) => draft,
        Err(error) => {
            let source = String::from_utf8_lossy(&bytes).into_owned();
            let analysis = Err(CheckFailure::InvalidDraft(error));
            return Ok(CheckedFile {
                path: path.to_owned(),
                source,
                analysis,
                type_errors: Vec::new(),
                unchecked_types: None,
            });
        }
    };
    let beside = if declared.is_none() && path != "-" { read_declared_capabilities(path)? } else { None };
    let declared = declared.or(beside.as_ref());
    let analysis = analyze(draft.source(), draft.language(), declared).map_err(CheckFailure::Rejected);
    let types = match (types, &analysis) {
        (Some(types), Ok(analysis)) => types.check(&TypeCheckRequest {
            source: draft.source(),
            entry_point: analysis.entry_point,
            capabilities: declared.unwrap_or(&analysis.capabilities),
            parameters: None,
            returns: None,
            servers: "",
        }),
        _ => Ok(Vec::new()),
    };
    let (type_errors, unchecked_types) = match types {
        Ok(found) => (found, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    Ok(CheckedFile { path: path.to_owned(), source: draft.source().to_owned(), analysis, type_errors, unchecked_types })
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
        if !checked.type_errors.is_empty() {
            fields.insert("typeErrors".to_owned(), type_error_responses(&checked.type_errors));
        }
    }
    body.to_string()
}

fn print_text(checked: &[CheckedFile], quiet: bool, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let renderer = renderer(streams);
    let mut counts: BTreeMap<Severity, usize> = BTreeMap::new();
    for one in checked {
        match &one.analysis {
            Err(CheckFailure::InvalidDraft(error)) => {
                print_failure(&one.path, error, error.hint(), lang, streams)?;
            }
            Err(CheckFailure::Rejected(_)) => {}
            Ok(analysis) => {
                for finding in analysis.findings.iter().chain(&one.type_errors) {
                    let allowed = analysis.safety.allowed_operations.contains(&finding.message);
                    if !allowed {
                        *counts.entry(finding.severity).or_default() += 1;
                    }
                    if !(allowed || quiet && finding.severity < Severity::High) {
                        writeln!(streams.output, "{}\n", render_finding(&renderer, one, finding, lang))?;
                    }
                }
                print_capability_diff(one, analysis, quiet, lang, streams)?;
            }
        }
        if let Some(rejection) = one.rejection() {
            if rejection.diagnostics().is_empty() {
                print_failure(&one.path, rejection, rejection.hint(), lang, streams)?;
            }
            for problem in rejection.diagnostics() {
                let shown = render_problem(&renderer, one, problem, rejection.code().as_str(), lang);
                writeln!(streams.output, "{shown}\n")?;
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
    let unread = checked.iter().filter(|one| one.analysis.is_err() || one.rejection().is_some()).count();
    let mut found = Vec::new();
    if unread > 0 {
        found.push(tr!(lang, "{count} not runnable", count = unread));
    }
    found.extend(counts.iter().rev().map(|(severity, count)| tr!(lang, "{count} {severity}", count, severity)));
    if found.is_empty() {
        found.push(tr!(lang, "no findings").to_owned());
    }
    let (count, found) = (checked.len(), found.join(lang.list_separator()));
    writeln!(streams.output, "{}", tr!(lang, "{count} checked, {refused} refused: {found}", count, refused, found))
}

/// Prints the reason why a source cannot be analysed.
fn print_failure(
    path: &str,
    error: &impl Localize,
    hint: &'static str,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let colon = lang.colon();
    let (path, reason) = (escape_control_chars(path), error.localize().to_text(lang));
    writeln!(streams.output, "{}{colon}{path}{colon}{}", tr!(lang, "error"), escape_control_chars(&reason))?;
    writeln!(streams.output, "{}{colon}{}\n", tr!(lang, "hint"), lang.translate(hint))
}

/// Prints the difference between the capabilities that a source uses and those that it requests.
fn print_capability_diff(
    checked: &CheckedFile,
    analysis: &Analysis,
    quiet: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let (path, colon) = (escape_control_chars(&checked.path), lang.colon());
    for missing in &analysis.capability_diff.missing {
        let text = tr!(lang, "uses `{name}` without requesting it", name = missing.name());
        writeln!(streams.output, "{}{colon}{path}{colon}{text}\n", tr!(lang, "error"))?;
    }
    for unused in analysis.capability_diff.unused.iter().filter(|_| !quiet) {
        let text = tr!(lang, "requests `{name}` but does not use it", name = unused.name());
        writeln!(streams.output, "{}{colon}{path}{colon}{text}\n", tr!(lang, "warning"))?;
    }
    Ok(())
}

/// Formats the scores and required capabilities of one source as a line.
fn summary(checked: &CheckedFile, analysis: &Analysis, lang: Lang) -> String {
    let (safety, quality) = (analysis.safety.score, analysis.quality.score);
    let (safety, quality) = (format!("{safety:.2}"), format!("{quality:.2}"));
    let needs = &analysis.capabilities;
    let text = if needs.is_empty() {
        tr!(lang, "safety {safety}, quality {quality}", safety, quality)
    } else {
        tr!(lang, "safety {safety}, quality {quality}  uses {needs}", safety, quality, needs)
    };
    format!("{}{}{text}", escape_control_chars(&checked.path), lang.colon())
}
