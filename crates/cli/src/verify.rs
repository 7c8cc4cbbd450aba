//! `verify`: verifies stored tools with examples and generated inputs.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcell::proof::ProofStatus;
use toolcell::{CancelToken, Lang, Proof, Toolbox, VerifyError, VerifyOptions, escape_control_chars, single_line};

use crate::args::VerifyArgs;
use crate::command_error::exit_for_code;
use crate::error::CliError;
use crate::exit::Exit;
use crate::policy_files::PolicyFiles;
use crate::progress::Progress;
use crate::prompt::TerminalApprover;
use crate::table::{Column, Fit, Overflow, Table};
use crate::{Streams, toolbox};

pub(crate) fn run(
    args: &VerifyArgs,
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, CliError> {
    let toolbox = toolbox::open_existing(dir, args.sandbox.config()?, rules)?;
    let progress = streams.errors_are_terminal.then(|| Progress::start("verify"));
    let person = |progress: &Arc<Progress>| TerminalApprover {
        lang,
        cancel: cancel.clone(),
        progress: Some(Arc::clone(progress)),
    };
    let mut options = VerifyOptions {
        caller: "cli".to_owned(),
        cases: args.cases,
        seed: args.seed,
        cancel: Some(cancel.clone()),
        approver: None,
    };
    let Some(tool) = &args.tool else {
        return verify_all(&toolbox, &options, progress.as_ref(), json, lang, streams);
    };
    if streams.is_interactive() {
        options.approver = progress.as_ref().map(|progress| Arc::new(person(progress)) as _);
    }
    let proof = toolbox.verify(tool, &options);
    end_progress(progress.as_ref());
    let proof = proof?;
    if json {
        let text = serde_json::to_string(&proof).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        let text = streams.escape_for_output(&proof.to_text(lang));
        writeln!(streams.output, "{text}")?;
    }
    Ok(exit_for_proof(&proof))
}

/// Verifies all tools, without prompting.
fn verify_all(
    toolbox: &Toolbox,
    options: &VerifyOptions,
    progress: Option<&Arc<Progress>>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let done = toolbox.verify_all(options, &|proved| {
        if let Some(progress) = progress {
            progress.set_message(&format!(
                "{} of {}: {} {}",
                proved.done,
                proved.all,
                proved.entry.name,
                status_name(proved.proof)
            ));
        }
    });
    end_progress(progress);
    let done = done?;
    let mut exit = Exit::Done;
    for (_, proof) in &done {
        exit = match proof {
            Ok(proof) if exit == Exit::Done => exit_for_proof(proof),
            Err(error) if exit == Exit::Done || exit == Exit::ToolFailed => exit_for_code(error.code()),
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
        Column { title: "tool", fit: Fit::Text(12), drop_order: 0 },
        Column { title: "verdict", fit: Fit::Whole, drop_order: 0 },
        Column { title: "what", fit: Fit::Text(30), drop_order: 0 },
    ]);
    for (entry, proof) in &done {
        let what = match proof {
            Ok(Proof { counterexample: Some(found), .. }) => {
                format!("{} {} {}", found.message, if lang == Lang::En { "with" } else { ":" }, found.parameters)
            }
            Ok(proof) => proof.checks.iter().map(|check| check.says.as_str()).collect::<Vec<_>>().join("; "),
            Err(error) => format!("{error}; {}", error.hint()),
        };
        table.add_row([
            entry.name.to_string(),
            status_name(proof).to_owned(),
            single_line(&escape_control_chars(&what)),
        ]);
    }
    table.print(Overflow::Truncate, "toolcell verify --all --json", streams)?;
    Ok(exit)
}

fn end_progress(progress: Option<&Arc<Progress>>) {
    if let Some(progress) = progress {
        progress.finish();
    }
}

fn status_name(proof: &Result<Proof, VerifyError>) -> &'static str {
    proof.as_ref().map_or("refused", |proof| proof.verdict.name())
}

/// Returns success only for a tool that passed.
fn exit_for_proof(proof: &Proof) -> Exit {
    match proof.verdict {
        ProofStatus::Passed => Exit::Done,
        ProofStatus::Failed | ProofStatus::Unproven => Exit::ToolFailed,
    }
}
