//! `exec`: runs a draft once and stores nothing.

use std::path::Path;

use toolcell::{CancelToken, ExecError, Lang, Outcome, Precheck, Report, Run, visible};

use crate::Streams;
use crate::answer::{Answer, lines};
use crate::args::ExecArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::during;
use crate::rules::Rules;
use crate::{input, open};

pub(crate) fn run(
    args: &ExecArgs,
    rules: &Rules,
    dir: Option<&Path>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    if args.file == "-" && args.params == "-" {
        return Err(Failure::OneInput);
    }
    let draft = input::draft(&args.file, streams)?;
    let params = input::params(&args.params, streams)?;
    let toolbox = open::for_drafts(dir, args.sandbox.config(), rules)?;
    let budget = toolbox.policy().budget(&args.limits.wanted()).map_err(ExecError::from)?;
    let precheck = if args.no_analysis { Precheck::Off } else { Precheck::Critical };
    let run = Run {
        tool: args.tool.as_deref(),
        seed: args.seed,
        started_at: input::now(),
        cancel: Some(cancel),
        ..Run::default()
    };
    let report = during(draft.name(), streams, || toolbox.exec(&draft, &params, &budget, &run, precheck))?;
    let exit = Exit::of(&report.outcome);
    if json {
        writeln!(streams.output, "{}", Answer::of(None, report).to_json())?;
    } else {
        print_text(&report, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(exit)
}

/// The result on standard output, everything else on standard error.
pub(crate) fn print_text(report: &Report, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    print_aside(report, lang, streams)?;
    if let Outcome::Returned(Some(value)) = &report.outcome {
        let text = streams.shown(&value.to_text());
        writeln!(streams.output, "{text}")?;
    }
    for line in lines(&report.outcome, lang) {
        writeln!(streams.errors, "{}", visible(&line))?;
    }
    Ok(())
}

/// What a tool wrote to its console, and what JSON could not hold.
pub(crate) fn print_aside(report: &Report, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    for log in &report.logs {
        writeln!(streams.errors, "{}", visible(&log.text))?;
    }
    for warning in &report.warnings {
        let word = match lang {
            Lang::En => "warning",
            Lang::Ja | Lang::Zh => "警告",
        };
        let path = if warning.path.is_empty() { "/" } else { &warning.path };
        let colon = lang.colon();
        writeln!(streams.errors, "{word}{colon}{}{colon}{}", visible(path), visible(&warning.message))?;
    }
    Ok(())
}
