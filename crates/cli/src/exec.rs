//! `exec`: runs a source once, without storing it.

use std::path::Path;

use toolcell::{CallContext, CancelToken, ExecError, Lang, Outcome, Precheck, Report, escape_control_chars};

use crate::Streams;
use crate::answer::{CommandResponse, error_lines};
use crate::args::ExecArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::policy_files::PolicyFiles;
use crate::progress::with_progress;
use crate::{input, toolbox};

pub(crate) fn run(
    args: &ExecArgs,
    rules: &PolicyFiles,
    dir: Option<&Path>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, CliError> {
    if args.file == "-" && args.params == "-" {
        return Err(CliError::StdinUsedTwice);
    }
    let draft = input::read_draft(&args.file, streams)?;
    let params = input::read_params(&args.params, streams)?;
    let toolbox = toolbox::open_for_drafts(dir, args.sandbox.config()?, rules)?;
    let budget = toolbox.policy().budget(&args.limits.overrides()).map_err(ExecError::from)?;
    let precheck = if args.no_analysis { Precheck::Off } else { Precheck::Critical };
    let run = CallContext {
        tool: args.tool.as_deref(),
        seed: args.seed,
        started_at: input::now(),
        cancel: Some(cancel),
        ..CallContext::default()
    };
    let report = with_progress(draft.name(), streams, || toolbox.exec(&draft, &params, &budget, &run, precheck))?;
    let exit = Exit::from_outcome(&report.outcome);
    if json {
        writeln!(streams.output, "{}", CommandResponse::from_report(None, report).to_json())?;
    } else {
        print_text(&report, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(exit)
}

/// Prints the result to standard output, and everything else to standard error.
pub(crate) fn print_text(report: &Report, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    print_logs_and_warnings(report, lang, streams)?;
    if let Outcome::Returned(Some(value)) = &report.outcome {
        let text = streams.escape_for_output(&value.to_text());
        writeln!(streams.output, "{text}")?;
    }
    for line in error_lines(&report.outcome, lang) {
        writeln!(streams.errors, "{}", escape_control_chars(&line))?;
    }
    Ok(())
}

/// Prints the tool's console output, and warnings on values that JSON cannot represent.
pub(crate) fn print_logs_and_warnings(report: &Report, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    for log in &report.logs {
        writeln!(streams.errors, "{}", escape_control_chars(&log.text))?;
    }
    for warning in &report.warnings {
        let word = match lang {
            Lang::En => "warning",
            Lang::Ja | Lang::Zh => "警告",
        };
        let path = if warning.path.is_empty() { "/" } else { &warning.path };
        let colon = lang.colon();
        writeln!(
            streams.errors,
            "{word}{colon}{}{colon}{}",
            escape_control_chars(path),
            escape_control_chars(&warning.message)
        )?;
    }
    Ok(())
}
