//! `list`: lists the stored tools.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolcell::store::{Entry, PAGE_LIMIT};
use toolcell::{Lang, ListTools, ToolList, Toolbox};
use toolcell_i18n::{message, tr};

use crate::args::{ListArgs, SandboxArgs, Sort, days};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::table::{Column, Fit, Overflow, Table};
use crate::render::tools::{entry_to_json, last_used_text, print_no_tools, status_text};
use crate::streams::Streams;

pub(crate) fn run(args: &ListArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let dir = context.store_dir()?.to_owned();
    let listed = if dir.exists() {
        fetch_tools(args, &context.open_existing_toolbox(SandboxArgs::single_call_config())?)?
    } else {
        // A store that does not exist yet is empty.
        ToolList { tools: Vec::new(), total: 0, remaining: 0, next_cursor: None, successors: BTreeMap::new() }
    };
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
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
        print_no_tools(&dir, lang, streams)?;
        return Ok(Exit::Done);
    }
    print(&listed, lang, streams)?;
    Ok(Exit::Done)
}

/// Returns all stored tools, by name.
pub(super) fn fetch_all(toolbox: &Toolbox) -> Result<Vec<Entry>, CliError> {
    let sort = Some(Sort::Name.name().to_owned());
    let request = ListTools { limit: Some(PAGE_LIMIT as u64), sort, ..ListTools::default() };
    Ok(fetch_all_pages(request, toolbox)?.tools)
}

fn fetch_tools(args: &ListArgs, toolbox: &Toolbox) -> Result<ToolList, CliError> {
    let request = ListTools {
        name: args.name.clone(),
        tags: args.tags.clone(),
        min_safety_score: args.min_safety,
        limit: if args.all { Some(PAGE_LIMIT as u64) } else { args.limit },
        cursor: args.cursor.clone(),
        status: args.status.clone(),
        unused_days: args.unused.map(days),
        sort: Some(args.sort.name().to_owned()),
    };
    if args.all { fetch_all_pages(request, toolbox) } else { Ok(toolbox.list(&request)?) }
}

fn fetch_all_pages(mut request: ListTools, toolbox: &Toolbox) -> Result<ToolList, CliError> {
    let mut listed = toolbox.list(&request)?;
    while let Some(next) = &listed.next_cursor {
        request.cursor = Some(next.to_string());
        let page = toolbox.list(&request)?;
        listed.tools.extend(page.tools);
        listed.successors.extend(page.successors);
        (listed.remaining, listed.next_cursor) = (page.remaining, page.next_cursor);
    }
    Ok(listed)
}

/// Prints the table, and a note on further pages.
fn print(listed: &ToolList, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let now = toolcell::now();
    let mut table = Table::new(columns(lang));
    for entry in &listed.tools {
        table.add_row([
            entry.name.to_string(),
            entry.id.short(),
            status_text(entry, listed.successors.get(&entry.id), lang),
            format!("{:.2}", entry.scores.safety),
            format!("{:.2}", entry.confidence),
            entry.runs.to_string(),
            last_used_text(entry, now, streams),
            entry.tags.join(","),
            entry.description.clone(),
        ]);
    }
    table.print(Overflow::Truncate, "toolcell list --text", lang, streams)?;
    if let Some(next) = &listed.next_cursor {
        let more = message!(
            "{count} more: continue with `--cursor {cursor}`, or list all with `--all`",
            count = listed.remaining,
            cursor = next
        );
        streams.print_note(&more, lang)?;
    }
    Ok(())
}

fn columns(lang: Lang) -> Vec<Column> {
    let titles = [
        tr!(lang, "column" => "name"),
        tr!(lang, "column" => "id"),
        tr!(lang, "column" => "status"),
        tr!(lang, "column" => "safety"),
        tr!(lang, "column" => "confidence"),
        tr!(lang, "column" => "runs"),
        tr!(lang, "column" => "used"),
        tr!(lang, "column" => "tags"),
        tr!(lang, "column" => "description"),
    ];
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
