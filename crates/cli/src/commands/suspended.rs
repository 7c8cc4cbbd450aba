//! `suspended`: lists the suspended runs.

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcell::SuspendedRunInfo;
use toolcell_i18n::{message, tr};

use crate::args::SandboxArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::table::{Column, Fit, Overflow, Table};

pub(crate) fn run(context: &mut Context<'_>) -> Result<Exit, CliError> {
    let runs_of_store = if context.store_dir()?.exists() {
        context.open_existing_toolbox(SandboxArgs::single_call_config())?.suspended_runs()?
    } else {
        Vec::new()
    };
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let runs: Vec<Value> = runs_of_store.iter().map(run_to_json).collect();
        writeln!(streams.output, "{}", json!({ "runs": runs }))?;
        return Ok(Exit::Done);
    }
    if runs_of_store.is_empty() {
        streams.print_note(&message!("no run is suspended"), lang)?;
        return Ok(Exit::Done);
    }
    let titles = [
        tr!(lang, "column" => "run"),
        tr!(lang, "column" => "tool"),
        tr!(lang, "column" => "caller"),
        tr!(lang, "column" => "since"),
        tr!(lang, "column" => "bytes"),
    ];
    let fits = [(Fit::Whole, 0), (Fit::Text(12), 0), (Fit::Text(8), 0), (Fit::Whole, 1), (Fit::Number, 2)];
    let columns = titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, drop_order: spare });
    let mut table = Table::new(columns.collect());
    for SuspendedRunInfo { run, name, caller, since, bytes, .. } in &runs_of_store {
        table.add_row([run.to_string(), name.clone(), caller.clone(), format_time(*since), bytes.to_string()]);
    }
    table.print(Overflow::Truncate, "toolcell suspended --json", lang, streams)?;
    Ok(Exit::Done)
}

fn run_to_json(sleeper: &SuspendedRunInfo) -> Value {
    let SuspendedRunInfo { run, tool, name, caller, since, bytes } = sleeper;
    let (run, tool, since) = (run.to_string(), tool.to_string(), since.to_string());
    json!({ "run": run, "tool": tool, "name": name, "caller": caller, "since": since, "bytes": bytes })
}

/// Formats a timestamp with a precision of one second.
fn format_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
