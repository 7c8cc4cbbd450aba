//! `verify`: proves tools that are kept, or finds what speaks against them.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcell::proof::Verdict;
use toolcell::{CancelToken, Lang, Proof, Toolbox, VerifyError, VerifyOptions, line, visible};

use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::operation::exit_of;
use crate::person::AtTerminal;
use crate::progress::Progress;
use crate::rules::Rules;
use crate::table::{Column, Fit, Table, TooLong};
use crate::{Streams, open};

pub(crate) fn run(
    args: &VerifyArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let toolbox = open::existing(dir, args.sandbox.config(), rules)?;
    let progress = streams.errors_are_terminal.then(|| Progress::start("verify"));
    let person =
        |progress: &Arc<Progress>| AtTerminal { lang, cancel: cancel.clone(), progress: Some(Arc::clone(progress)) };
    let mut options = VerifyOptions {
        caller: "cli".to_owned(),
        cases: args.cases,
        seed: args.seed,
        cancel: Some(cancel.clone()),
        person: None,
    };
    let Some(tool) = &args.tool else {
        return all(&toolbox, &options, progress.as_ref(), json, lang, streams);
    };
    if streams.somebody_is_there() {
        options.person = progress.as_ref().map(|progress| Arc::new(person(progress)) as _);
    }
    let proof = toolbox.verify(tool, &options);
    end(progress.as_ref());
    let proof = proof?;
    if json {
        let text = serde_json::to_string(&proof).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        let text = streams.shown(&proof.to_text(lang));
        writeln!(streams.output, "{text}")?;
    }
    Ok(exit(&proof))
}

/// All tools; nobody is asked for one of many.
fn all(
    toolbox: &Toolbox,
    options: &VerifyOptions,
    progress: Option<&Arc<Progress>>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let done = toolbox.verify_all(options, &|proved| {
        if let Some(progress) = progress {
            progress.say(&format!("{} of {}: {} {}", proved.done, proved.all, proved.entry.name, word(proved.proof)));
        }
    });
    end(progress);
    let done = done?;
    let mut exit = Exit::Done;
    for (_, proof) in &done {
        exit = match proof {
            Ok(proof) if exit == Exit::Done => self::exit(proof),
            Err(error) if exit == Exit::Done || exit == Exit::ToolFailed => exit_of(error.code()),
            _ => exit,
        };
    }
    if json {
        let tools: Vec<Value> = done
            .iter()
            .map(|(entry, proof)| match proof {
                Ok(proof) => serde_json::to_value(proof).unwrap_or_default(),
                Err(error) => json!({ "tool": entry.id, "name": entry.name.as_str(), "verdict": "refused",
                    "error": { "code": error.code(), "message": error.to_string(), "hint": error.hint() } }),
            })
            .collect();
        writeln!(streams.output, "{}", json!({ "tools": tools }))?;
        return Ok(exit);
    }
    let mut table = Table::new(vec![
        Column { title: "tool", fit: Fit::Text(12), spare: 0 },
        Column { title: "verdict", fit: Fit::Whole, spare: 0 },
        Column { title: "what", fit: Fit::Text(30), spare: 0 },
    ]);
    for (entry, proof) in &done {
        let what = match proof {
            Ok(Proof { counterexample: Some(found), .. }) => {
                format!("{} {} {}", found.message, if lang == Lang::En { "with" } else { ":" }, found.parameters)
            }
            Ok(proof) => proof.checks.iter().map(|check| check.says.as_str()).collect::<Vec<_>>().join("; "),
            Err(error) => format!("{error}; {}", error.hint()),
        };
        table.row([entry.name.to_string(), word(proof).to_owned(), line(&visible(&what))]);
    }
    table.print(TooLong::Cut, "toolcell verify --all --json", streams)?;
    Ok(exit)
}

fn end(progress: Option<&Arc<Progress>>) {
    if let Some(progress) = progress {
        progress.end();
    }
}

fn word(proof: &Result<Proof, VerifyError>) -> &'static str {
    proof.as_ref().map_or("refused", |proof| proof.verdict.name())
}

/// Only what is proven is done.
fn exit(proof: &Proof) -> Exit {
    match proof.verdict {
        Verdict::Passed => Exit::Done,
        Verdict::Failed | Verdict::Unproven => Exit::ToolFailed,
    }
}
