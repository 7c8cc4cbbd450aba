//! `retire` and `deprecate`: tools in whose place others are to be used, or none.

use std::path::Path;

use serde_json::{Value, json};
use toolcell::store::Entry;
use toolcell::{Deprecated, Lang, Reason, RetireTools, Retirement, deprecated_text};

use crate::args::{DeprecateArgs, RetireArgs, SandboxArgs, days};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rules::Rules;
use crate::screen::Screen;
use crate::table::{Column, Fit, Table, TooLong};
use crate::{Streams, open, person};

/// The command that shows all columns.
const ALL_OF_IT: &str = "toolcell retire --dry-run --json";

pub(crate) fn run(
    args: &RetireArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let toolbox = open::existing(dir, SandboxArgs::one_call(), rules)?;
    let request = RetireTools { unused_days: Some(days(args.unused)), confirm: args.confirm };
    if args.dry_run {
        return propose(&toolbox.retirements(&request)?, json, lang, streams);
    }
    let mut shown = None;
    if !request.confirm && streams.somebody_is_there() {
        let retirements = toolbox.retirements(&request)?;
        let count = retirements.iter().filter(|it| it.is_left()).count();
        if count == 0 {
            print(&retirements, lang, streams)?;
        } else {
            let width = Screen::from_terminal(std::io::stderr()).columns();
            let lines = table(&retirements, lang).lines(width, TooLong::Wrap, ALL_OF_IT);
            if person::confirms(&lines, &question(count, lang), lang)? {
                shown = Some(retirements);
            }
        }
    }
    let retired = match shown {
        Some(retirements) => toolbox.retire_shown(retirements)?,
        None => toolbox.retire(&request)?,
    };
    if json {
        writeln!(streams.output, "{}", in_json(&retired, false))?;
        return Ok(Exit::Done);
    }
    let (left, gone): (Vec<Retirement>, Vec<Retirement>) = retired.into_iter().partition(Retirement::is_left);
    if left.is_empty() {
        say_that_there_is_nothing(streams)?;
    }
    for Retirement { tool, successor, .. } in left {
        let done = Deprecated { tool: tool.id, name: tool.name, before: tool.status, successor };
        writeln!(streams.output, "{}", deprecated_text(&done, lang))?;
    }
    for Retirement { tool, .. } in gone {
        let name = &tool.name;
        writeln!(streams.errors, "hint: `{name}` is superseded: `toolcell delete {name}` takes its name away")?;
    }
    Ok(Exit::Done)
}

fn question(count: usize, lang: Lang) -> String {
    match lang {
        Lang::En => format!("Retire {count} tools?"),
        Lang::Ja => format!("{count}件のツールを非推奨にしますか?"),
        Lang::Zh => format!("确定要弃用 {count} 个工具吗？"),
    }
}

fn propose(retirements: &[Retirement], json: bool, lang: Lang, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    if json {
        writeln!(streams.output, "{}", in_json(retirements, true))?;
        return Ok(Exit::Done);
    }
    if retirements.is_empty() {
        say_that_there_is_nothing(streams)?;
    } else {
        print(retirements, lang, streams)?;
        writeln!(streams.errors, "hint: `toolcell retire --confirm` deprecates them; they go on to work")?;
    }
    Ok(Exit::Done)
}

fn say_that_there_is_nothing(streams: &mut Streams<'_>) -> std::io::Result<()> {
    writeln!(streams.errors, "note: there is nothing to retire")
}

/// A table of what should be retired.
fn print(retirements: &[Retirement], lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    table(retirements, lang).print(TooLong::Wrap, ALL_OF_IT, streams)
}

fn table(retirements: &[Retirement], lang: Lang) -> Table {
    let titles = match lang {
        Lang::En => ["name", "id", "status", "successor", "why"],
        Lang::Ja => ["名前", "ID", "検証状態", "後継", "理由"],
        Lang::Zh => ["名称", "ID", "状态", "后继", "理由"],
    };
    let fits = [(Fit::Text(12), 0), (Fit::Whole, 2), (Fit::Whole, 1), (Fit::Text(8), 0), (Fit::Text(24), 0)];
    let columns = titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, spare });
    let mut table = Table::new(columns.collect());
    for Retirement { tool, reasons, successor } in retirements {
        let why: Vec<String> = reasons.iter().map(|reason| reason.to_text(lang)).collect();
        let successor = successor.as_ref().map_or_else(|| "-".to_owned(), |entry| entry.name.to_string());
        let separator = match lang {
            Lang::En => "; ",
            Lang::Ja => "、",
            Lang::Zh => "；",
        };
        table.row([tool.name.to_string(), tool.id.short(), tool.status.to_string(), successor, why.join(separator)]);
    }
    table
}

fn in_json(retirements: &[Retirement], dry_run: bool) -> Value {
    let tools: Vec<Value> = retirements
        .iter()
        .map(|it| {
            json!({
                "id": it.tool.id.to_string(),
                "name": it.tool.name.as_str(),
                "verificationStatus": it.tool.status.name(),
                "reasons": it.reasons.iter().map(reason).collect::<Vec<_>>(),
                "successor": it.successor.as_ref().map(named),
                "retired": !dry_run && it.is_left(),
            })
        })
        .collect();
    json!({ "dryRun": dry_run, "tools": tools })
}

fn reason(reason: &Reason) -> Value {
    let mut fields = match reason {
        Reason::Failing { runs, failures } => json!({ "runs": runs, "failures": failures }),
        Reason::Duplicate { of } => json!({ "of": of.as_str() }),
        Reason::Superseded { by } => json!({ "by": by.as_str() }),
        Reason::Unused { since } => json!({ "since": since.to_string() }),
        _ => json!({}),
    };
    if let Value::Object(fields) = &mut fields {
        fields.shift_insert(0, "reason".to_owned(), reason.name().into());
        fields.insert("text".to_owned(), reason.to_text(Lang::En).into());
    }
    fields
}

fn named(entry: &Entry) -> Value {
    json!({ "id": entry.id.to_string(), "name": entry.name.as_str() })
}

pub(crate) fn deprecate(
    args: &DeprecateArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let toolbox = open::existing(dir, SandboxArgs::one_call(), rules)?;
    let done = toolbox.deprecate(&args.tool, args.successor.as_deref())?;
    if json {
        let fields = json!({
            "id": done.tool.to_string(),
            "name": done.name.as_str(),
            "before": done.before.name(),
            "successor": done.successor.as_ref().map(named),
        });
        writeln!(streams.output, "{fields}")?;
    } else {
        writeln!(streams.output, "{}", deprecated_text(&done, lang))?;
    }
    Ok(Exit::Done)
}
