//! `list`: the tools that names lead to.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcell::store::{Entry, PAGE_LIMIT};
use toolcell::{Lang, ListTools, Listed, ToolBody, ToolName, Toolbox};

use crate::args::{ListArgs, SandboxArgs, days};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rules::Rules;
use crate::table::{Column, Fit, Table, TooLong};
use crate::{Streams, open};

pub(crate) fn run(
    args: &ListArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let listed = if dir.exists() {
        listed(args, &open::existing(dir, SandboxArgs::one_call(), rules)?)?
    } else {
        // A store that nobody made yet has nothing in it.
        Listed { tools: Vec::new(), total: 0, more: 0, next: None, successors: BTreeMap::new() }
    };
    if json {
        let in_json = |tool: &Entry| entry(tool, listed.successors.get(&tool.id));
        let tools: Vec<Value> = listed.tools.iter().map(in_json).collect();
        let next = listed.next.as_ref().map(ToString::to_string);
        writeln!(
            streams.output,
            "{}",
            json!({"tools": tools, "total": listed.total, "more": listed.more, "next": next})
        )?;
        return Ok(Exit::Done);
    }
    if args.text {
        let text = streams.shown(&listed.to_text(lang));
        writeln!(streams.output, "{text}")?;
        return Ok(Exit::Done);
    }
    if listed.tools.is_empty() {
        say_that_there_is_none(dir, streams)?;
        return Ok(Exit::Done);
    }
    print(&listed, lang, streams)?;
    Ok(Exit::Done)
}

fn listed(args: &ListArgs, toolbox: &Toolbox) -> Result<Listed, Failure> {
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
    while let Some(next) = listed.next.as_ref().filter(|_| args.all) {
        request.cursor = Some(next.to_string());
        let page = toolbox.list(&request)?;
        listed.tools.extend(page.tools);
        listed.successors.extend(page.successors);
        (listed.more, listed.next) = (page.more, page.next);
    }
    Ok(listed)
}

pub(crate) fn say_that_there_is_none(dir: &Path, streams: &mut Streams<'_>) -> std::io::Result<()> {
    if dir.exists() {
        writeln!(streams.errors, "note: there is no such tool")
    } else {
        writeln!(streams.errors, "note: there is no store in {} yet; `toolcell create` makes one", dir.display())
    }
}

/// The table, and what it does not show.
fn print(listed: &Listed, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let now = toolcell::now();
    let mut table = Table::new(columns(lang));
    for entry in &listed.tools {
        table.row([
            entry.name.to_string(),
            entry.id.short(),
            status(entry, listed.successors.get(&entry.id)),
            format!("{:.2}", entry.scores.safety),
            format!("{:.2}", entry.confidence),
            entry.runs.to_string(),
            used(entry, now, streams),
            entry.tags.join(","),
            entry.description.clone(),
        ]);
    }
    table.print(TooLong::Cut, "toolcell list --text", streams)?;
    if let Some(next) = &listed.next {
        let more = listed.more;
        writeln!(streams.errors, "note: {more} more: go on with `--cursor {next}`, or print all with `--all`")?;
    }
    Ok(())
}

/// The status of a tool, with what is to be used in its place.
pub(crate) fn status(entry: &Entry, successor: Option<&ToolName>) -> String {
    successor.map_or_else(|| entry.status.to_string(), |name| format!("{}: use {name}", entry.status))
}

/// When a tool was used last.
pub(crate) fn used(entry: &Entry, now: Timestamp, streams: &Streams<'_>) -> String {
    match entry.last_used_at {
        None => "-".to_owned(),
        Some(at) if streams.output_is_terminal => ago(at, now),
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
    titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, spare }).collect()
}

/// How long ago something was: `3m`.
fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// What the index keeps about a tool, in JSON.
pub(crate) fn entry(entry: &Entry, successor: Option<&ToolName>) -> Value {
    // Texts, numbers and times: there is nothing in it that cannot be written.
    serde_json::to_value(ToolBody::of(entry, successor)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_unit_that_fits() {
        let at = Timestamp::UNIX_EPOCH;
        let check = |seconds: i64, expect: &str| {
            assert_eq!(ago(at, Timestamp::from_second(seconds).unwrap()), expect);
        };
        check(-5, "0s");
        check(59, "59s");
        check(61, "1m");
        check(7_300, "2h");
        check(86_400 * 40, "40d");
    }
}
