//! `verify`: verifies stored tools with examples and generated inputs.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcell::proof::ProofStatus;
use toolcell::{Lang, Proof, Toolbox, VerifyError, VerifyOptions, escape_control_chars, single_line};
use toolcell_i18n::tr;

use crate::args::VerifyArgs;
use crate::commands::CLI_CALLER;
use crate::context::Context;
use crate::error::{CliError, exit_for_code};
use crate::exit::Exit;
use crate::render::progress::{Progress, finish_progress};
use crate::render::table::{Column, Fit, Overflow, Table};

pub(crate) fn run(args: &VerifyArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_existing_toolbox(args.sandbox.config()?)?;
    let progress =
        context.streams.errors_are_terminal.then(|| Progress::start(tr!(context.lang, "progress" => "verify")));
    let mut options = VerifyOptions {
        caller: CLI_CALLER.to_owned(),
        cases: args.cases,
        seed: args.seed,
        cancel: Some(context.cancel.clone()),
        approver: None,
    };
    let Some(tool) = &args.tool else {
        return verify_all(&toolbox, &options, progress.as_ref(), context);
    };
    options.approver = context.approver(progress.as_ref());
    let proof = toolbox.verify(tool, &options);
    finish_progress(progress.as_ref());
    let proof = proof?;
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
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
    context: &mut Context<'_>,
) -> Result<Exit, CliError> {
    let lang = context.lang;
    let done = toolbox.verify_all(options, &|proved| {
        if let Some(progress) = progress {
            progress.set_message(&tr!(
                lang,
                "{done} of {all}: {name} {status}",
                done = proved.done,
                all = proved.all,
                name = proved.entry.name,
                status = status_name(proved.proof)
            ));
        }
    });
    finish_progress(progress);
    let done = done?;
    let Context { ref mut streams, format, .. } = *context;
    let mut exit = Exit::Done;
    for (_, proof) in &done {
        exit = match proof {
            Ok(proof) if exit == Exit::Done => exit_for_proof(proof),
            Err(error) if exit == Exit::Done || exit == Exit::ToolFailed => exit_for_code(error.code()),
            _ => exit,
        };
    }
    if format.is_json() {
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
        Column { title: tr!(lang, "column" => "tool"), fit: Fit::Text(12), drop_order: 0 },
        Column { title: tr!(lang, "column" => "verdict"), fit: Fit::Whole, drop_order: 0 },
        Column { title: tr!(lang, "column" => "what"), fit: Fit::Text(30), drop_order: 0 },
    ]);
    for (entry, proof) in &done {
        table.add_row([
            entry.name.to_string(),
            status_name(proof).to_owned(),
            single_line(&escape_control_chars(&describe(proof, lang))),
        ]);
    }
    table.print(Overflow::Truncate, "toolcell verify --all --json", lang, streams)?;
    Ok(exit)
}

/// Describes what a verification found: the counterexample, the checks that passed, or the error.
fn describe(proof: &Result<Proof, VerifyError>, lang: Lang) -> String {
    match proof {
        Ok(Proof { counterexample: Some(found), .. }) => {
            tr!(lang, "{message} with {parameters}", message = found.message, parameters = found.parameters)
        }
        Ok(proof) => {
            let checks = proof.checks.iter().map(|check| check.says.to_text(lang));
            let type_error = proof
                .type_errors
                .first()
                .map(|error| format!("{}{}{}", tr!(lang, "type error"), lang.colon(), error.to_text(lang)));
            let checks: Vec<String> = checks.chain(type_error).collect();
            checks.join(tr!(lang, "separator" => "; "))
        }
        Err(error) => tr!(lang, "{error}; {hint}", error, hint = error.hint()),
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
