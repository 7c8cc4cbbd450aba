//! `retire`: deprecates unused, failing, superseded and duplicate tools.

use serde_json::{Value, json};
use toolcell::{DeprecateResult, Lang, RetireReason, RetireTools, Retirement, deprecated_text};
use toolcell_i18n::{message, tr};

use super::deprecate::entry_reference;
use crate::args::{RetireArgs, SandboxArgs, days};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::prompt;
use crate::render::table::{Column, Fit, Overflow, Table};
use crate::screen::Screen;
use crate::streams::Streams;

/// The command that shows all columns.
const FULL_COMMAND: &str = "toolcell retire --dry-run --json";

pub(crate) fn run(args: &RetireArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_existing_toolbox(SandboxArgs::config_from_environment()?)?;
    let request = RetireTools { unused_days: Some(days(args.unused)), confirm: args.confirm };
    if args.dry_run {
        return print_proposal(&toolbox.retirements(&request)?, context);
    }
    let Context { ref mut streams, format, lang, .. } = *context;
    let mut shown = None;
    if !request.confirm && streams.is_interactive() {
        let retirements = toolbox.retirements(&request)?;
        let count = retirements.iter().filter(|it| it.is_pending()).count();
        if count == 0 {
            print(&retirements, lang, streams)?;
        } else {
            let width = Screen::from_terminal(std::io::stderr()).columns();
            let lines = build_table(&retirements, lang).lines(width, Overflow::Wrap, FULL_COMMAND, lang);
            let question = match count {
                1 => tr!(lang, "Retire 1 tool?").to_owned(),
                _ => tr!(lang, "Retire {count} tools?", count),
            };
            if prompt::confirm(&lines, &question, lang)? {
                shown = Some(retirements);
            }
        }
    }
    let retired = match shown {
        Some(retirements) => toolbox.retire_listed(retirements)?,
        None => toolbox.retire(&request)?,
    };
    if format.is_json() {
        writeln!(streams.output, "{}", retirements_to_json(&retired, false))?;
        return Ok(Exit::Done);
    }
    let (retired_now, superseded): (Vec<Retirement>, Vec<Retirement>) =
        retired.into_iter().partition(Retirement::is_pending);
    if retired_now.is_empty() {
        print_nothing_to_retire(lang, streams)?;
    }
    for Retirement { tool, successor, .. } in retired_now {
        let done = DeprecateResult { tool: tool.id, name: tool.name, previous_status: tool.status, successor };
        writeln!(streams.output, "{}", deprecated_text(&done, lang))?;
    }
    for Retirement { tool, .. } in superseded {
        let hint = message!("`{name}` is superseded: delete it with `toolcell delete {name}`", name = tool.name);
        streams.print_hint(&hint, lang)?;
    }
    Ok(Exit::Done)
}

fn print_proposal(retirements: &[Retirement], context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        writeln!(streams.output, "{}", retirements_to_json(retirements, true))?;
        return Ok(Exit::Done);
    }
    if retirements.is_empty() {
        print_nothing_to_retire(lang, streams)?;
    } else {
        print(retirements, lang, streams)?;
        let hint = message!("`toolcell retire --confirm` marks them as deprecated; they still run");
        streams.print_hint(&hint, lang)?;
    }
    Ok(Exit::Done)
}

fn print_nothing_to_retire(lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    streams.print_note(&message!("nothing to retire"), lang)
}

/// Prints the tools to retire as a table.
fn print(retirements: &[Retirement], lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    build_table(retirements, lang).print(Overflow::Wrap, FULL_COMMAND, lang, streams)
}

fn build_table(retirements: &[Retirement], lang: Lang) -> Table {
    let titles = [
        tr!(lang, "column" => "name"),
        tr!(lang, "column" => "id"),
        tr!(lang, "column" => "status"),
        tr!(lang, "column" => "successor"),
        tr!(lang, "column" => "why"),
    ];
    let fits = [(Fit::Text(12), 0), (Fit::Whole, 2), (Fit::Whole, 1), (Fit::Text(8), 0), (Fit::Text(24), 0)];
    let columns = titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, drop_order: spare });
    let mut table = Table::new(columns.collect());
    for Retirement { tool, reasons, successor } in retirements {
        let why: Vec<String> = reasons.iter().map(|reason| reason.to_text(lang)).collect();
        let successor = successor.as_ref().map_or_else(|| "-".to_owned(), |entry| entry.name.to_string());
        let separator = tr!(lang, "separator" => "; ");
        table.add_row([
            tool.name.to_string(),
            tool.id.short(),
            tool.status.to_string(),
            successor,
            why.join(separator),
        ]);
    }
    table
}

fn retirements_to_json(retirements: &[Retirement], dry_run: bool) -> Value {
    let tools: Vec<Value> = retirements
        .iter()
        .map(|it| {
            json!({
                "id": it.tool.id.to_string(),
                "name": it.tool.name.as_str(),
                "verificationStatus": it.tool.status.name(),
                "reasons": it.reasons.iter().map(reason_to_json).collect::<Vec<_>>(),
                "successor": it.successor.as_ref().map(entry_reference),
                "retired": !dry_run && it.is_pending(),
            })
        })
        .collect();
    json!({ "dryRun": dry_run, "tools": tools })
}

fn reason_to_json(reason: &RetireReason) -> Value {
    let mut fields = match reason {
        RetireReason::Failing { runs, failures } => json!({ "runs": runs, "failures": failures }),
        RetireReason::Duplicate { of } => json!({ "of": of.as_str() }),
        RetireReason::Superseded { by } => json!({ "by": by.as_str() }),
        RetireReason::Unused { since } => json!({ "since": since.to_string() }),
        _ => json!({}),
    };
    if let Value::Object(fields) = &mut fields {
        fields.shift_insert(0, "reason".to_owned(), reason.name().into());
        fields.insert("text".to_owned(), reason.to_text(Lang::En).into());
    }
    fields
}
