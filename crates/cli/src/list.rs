//! `list`: lists the stored tools.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcell::store::{Entry, PAGE_LIMIT};
use toolcell::{Lang, ListTools, ToolList, ToolName, ToolResponse, Toolbox};

use crate::args::{ListArgs, SandboxArgs, days};
use crate::error::CliError;
use crate::exit::Exit;
use crate::policy_files::PolicyFiles;
use crate::table::{Column, Fit, Overflow, Table};
use crate::{Streams, toolbox};

pub(crate) fn run(
    args: &ListArgs,
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let listed = if dir.exists() {
        fetch_tools(args, &toolbox::open_existing(dir, SandboxArgs::single_call_config(), rules)?)?
    } else {
        // A store that does not exist yet is empty.
        ToolList { tools: Vec::new(), total: 0, remaining: 0, next_cursor: None, successors: BTreeMap::new() }
    };
    if json {
        let in_json = |tool: &Entry| entry_to_json(tool, listed.successors.get(&tool.id));
        let tools: Vec<Value> = listed.tools.iter().map(in_json).collect();
        let next = listed.next_cursor.as_ref().map(ToString::to_string);
        writeln!(
            streams.output,
            "{}",
            json!({"tools": tools, "total": listed.total, "more": listed.remaining, "next": next})
        )?;
        return Ok(Exit::Done);
    }
    if args.text {
        let text = streams.escape_for_output(&listed.to_text(lang));
        writeln!(streams.output, "{text}")?;
        return Ok(Exit::Done);
    }
    if listed.tools.is_empty() {
        print_no_tools(dir, streams)?;
        return Ok(Exit::Done);
    }
    print(&listed, lang, streams)?;
    Ok(Exit::Done)
}

fn fetch_tools(args: &ListArgs, toolbox: &Toolbox) -> Result<ToolList, CliError> {
    let mut request = ListTools {
        name: args.name.clone(),
        tags: args.tags.clone(),
        min_safety_score: args.min_safety,
        limit: if args.all { Some(PAGE_LIMIT as u64) } else { args.limit },
        cursor: args.cursor.clone(),
        status: args.status.clone(),
        unused_days: args.unused.map(days),
        sort: Some(args.sort.name().to_owned()),
    };
    let mut listed = toolbox.list(&request)?;
    while let Some(next) = listed.next_cursor.as_ref().filter(|_| args.all) {
        request.cursor = Some(next.to_string());
        let page = toolbox.list(&request)?;
        listed.tools.extend(page.tools);
        listed.successors.extend(page.successors);
        (listed.remaining, listed.next_cursor) = (page.remaining, page.next_cursor);
    }
    Ok(listed)
}

pub(crate) fn print_no_tools(dir: &Path, streams: &mut Streams<'_>) -> std::io::Result<()> {
    if dir.exists() {
        writeln!(streams.errors, "note: no tools found")
    } else {
        writeln!(streams.errors, "note: no store in {} yet; `toolcell create` creates one", dir.display())
    }
}

/// Prints the table, and a note on further pages.
fn print(listed: &ToolList, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let now = toolcell::now();
    let mut table = Table::new(columns(lang));
    for entry in &listed.tools {
        table.add_row([
            entry.name.to_string(),
            entry.id.short(),
            status_text(entry, listed.successors.get(&entry.id)),
            format!("{:.2}", entry.scores.safety),
            format!("{:.2}", entry.confidence),
            entry.runs.to_string(),
            last_used_text(entry, now, streams),
            entry.tags.join(","),
            entry.description.clone(),
        ]);
    }
    table.print(Overflow::Truncate, "toolcell list --text", streams)?;
    if let Some(next) = &listed.next_cursor {
        let more = listed.remaining;
        writeln!(streams.errors, "note: {more} more: continue with `--cursor {next}`, or list all with `--all`")?;
    }
    Ok(())
}

/// Returns the status of a tool, with its successor if it has one.
pub(crate) fn status_text(entry: &Entry, successor: Option<&ToolName>) -> String {
    successor.map_or_else(|| entry.status.to_string(), |name| format!("{}: use {name}", entry.status))
}

/// Returns the time of a tool's last use: its age on a terminal, else a timestamp.
pub(crate) fn last_used_text(entry: &Entry, now: Timestamp, streams: &Streams<'_>) -> String {
    match entry.last_used_at {
        None => "-".to_owned(),
        Some(at) if streams.output_is_terminal => format_age(at, now),
        Some(at) => at.to_string(),
    }
}

fn columns(lang: Lang) -> Vec<Column> {
    let titles = match lang {
        Lang::En => ["name", "id", "status", "safety", "confidence", "runs", "used", "tags", "description"],
        Lang::Ja => ["名前", "ID", "検証状態", "安全性", "信頼度", "実行", "最終使用", "タグ", "説明"],
        Lang::Zh => ["名称", "ID", "验证状态", "安全性", "置信度", "次数", "上次使用", "标签", "描述"],
    };
    let fits = [
        (Fit::Text(12), 0),
        (Fit::Whole, 0),
        (Fit::Whole, 1),
        (Fit::Number, 3),
        (Fit::Number, 4),
        (Fit::Number, 2),
        (Fit::Number, 5),
        (Fit::Text(8), 6),
        (Fit::Text(24), 0),
    ];
    titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, drop_order: spare }).collect()
}

/// Formats the age of a timestamp, such as `3m`.
fn format_age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Converts an index entry to JSON.
pub(crate) fn entry_to_json(entry: &Entry, successor: Option<&ToolName>) -> Value {
    // Serialization cannot fail: the fields are text, numbers and timestamps.
    serde_json::to_value(ToolResponse::from_entry(entry, successor)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_unit_that_fits() {
        let at = Timestamp::UNIX_EPOCH;
        let check = |seconds: i64, expect: &str| {
            assert_eq!(format_age(at, Timestamp::from_second(seconds).unwrap()), expect);
        };
        check(-5, "0s");
        check(59, "59s");
        check(61, "1m");
        check(7_300, "2h");
        check(86_400 * 40, "40d");
    }
}
