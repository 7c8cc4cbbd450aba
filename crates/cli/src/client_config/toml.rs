//! Entries in TOML files: a table at the end of the file.
//!
//! Invariant: the parser reports positions, and the text is edited there. A library that rewrites
//! the whole file would change line endings.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Document, Item, Table, TableLike};
use toolcell_i18n::{Message, message};

use super::entry::{ClientEntry, Field, FoundEntry};
use super::text_edit::{TextEdit, apply, line_and_column, line_end, line_ending, line_start, strip_final_newline};
use super::{ClientError, OnForeignEntry};

/// A file that contains only the entry.
pub(super) fn snippet(key: &str, name: &str, fields: &[Field]) -> String {
    format!("{}\n", render_table(key, name, fields, "\n"))
}

pub(super) fn upsert(
    text: &str,
    key: &str,
    entry: &ClientEntry,
    fields: &[Field],
    foreign: OnForeignEntry,
) -> Result<String, ClientError> {
    let file = parse(text)?;
    let Some(there) = find_entry(text, &file, key, entry.name())? else {
        return Ok(append_table(text, key, entry, fields));
    };
    let found = read_entry(there);
    if entry.is_ours(&found) {
        let table = expect_table(text, there, entry)?;
        return Ok(apply(text, update_edits(text, table, &found, fields)));
    }
    if foreign == OnForeignEntry::Refuse {
        return Err(taken_error(text, there, entry, &found));
    }
    let without = remove(text, key, entry, foreign)?;
    Ok(append_table(&without, key, entry, fields))
}

pub(super) fn remove(
    text: &str,
    key: &str,
    entry: &ClientEntry,
    foreign: OnForeignEntry,
) -> Result<String, ClientError> {
    let file = parse(text)?;
    let Some(there) = find_entry(text, &file, key, entry.name())? else { return Ok(text.to_owned()) };
    let found = read_entry(there);
    if foreign == OnForeignEntry::Refuse && !entry.is_ours(&found) {
        return Err(taken_error(text, there, entry, &found));
    }
    expect_table(text, there, entry)?;
    let mut tables = Vec::new();
    collect_tables(there, &mut tables);
    // A blank line between two tables is removed with the second one.
    Ok(apply(text, tables.into_iter().map(|table| TextEdit::remove(full_lines(text, table))).collect()))
}

/// Looks up the entry with this name.
pub(super) fn find(text: &str, key: &str, name: &str) -> Result<Option<FoundEntry>, ClientError> {
    Ok(find_entry(text, &parse(text)?, key, name)?.map(read_entry))
}

fn parse(text: &str) -> Result<Document<&str>, ClientError> {
    Document::parse(text).map_err(|error| {
        let (line, column) = line_and_column(text, error.span().unwrap_or_default().start);
        ClientError::Invalid { line, column, what: Message::verbatim(error.message().to_owned()) }
    })
}

/// Looks up the item with this name, if the file's servers are a table or missing.
fn find_entry<'d>(
    text: &str,
    file: &'d Document<&str>,
    key: &str,
    name: &str,
) -> Result<Option<&'d Item>, ClientError> {
    match file.as_table().get(key) {
        None => Ok(None),
        Some(Item::Table(servers)) => Ok(servers.get(name)),
        Some(other) => {
            let (line, _) = line_and_column(text, other.span().unwrap_or_default().start);
            let kind = if other.is_inline_table() {
                message!("an inline table")
            } else {
                Message::verbatim(other.type_name().to_owned())
            };
            Err(ClientError::Shape {
                line,
                what: message!("`{key}` is {kind}, not a table with its own header", key, kind),
            })
        }
    }
}

fn read_entry(item: &Item) -> FoundEntry {
    item.as_table_like().map(|table| FoundEntry::new(table_fields(table))).unwrap_or_default()
}

fn table_fields(table: &dyn TableLike) -> Vec<(String, Value)> {
    table.iter().map(|(key, item)| (key.to_owned(), comparable_value(item.as_value()))).collect()
}

/// Converts a value into a comparable one.
fn comparable_value(value_there: Option<&toml_edit::Value>) -> Value {
    match value_there {
        Some(toml_edit::Value::String(text)) => Value::String(text.value().clone()),
        Some(toml_edit::Value::Array(items)) => {
            Value::Array(items.iter().map(|item| comparable_value(Some(item))).collect())
        }
        _ => Value::Null,
    }
}

fn taken_error(text: &str, there: &Item, entry: &ClientEntry, found: &FoundEntry) -> ClientError {
    let (line, _) = line_and_column(text, item_start(there));
    ClientError::Taken { line, name: entry.name().to_owned(), leads_to: found.describe() }
}

/// Returns the entry's table if it has a header of its own.
fn expect_table<'d>(text: &str, there: &'d Item, entry: &ClientEntry) -> Result<&'d Table, ClientError> {
    there.as_table().filter(|table| !table.is_dotted()).ok_or_else(|| {
        let (line, _) = line_and_column(text, item_start(there));
        ClientError::Shape { line, what: message!("`{key}` is not a table with its own header", key = entry.name()) }
    })
}

/// The offset at which an item starts. A table without a header of its own starts at its first
/// child.
fn item_start(item: &Item) -> usize {
    fn known(item: &Item) -> Option<usize> {
        let own = item.span().filter(|span| !span.is_empty());
        let below = || item.as_table_like()?.iter().filter_map(|(_, item)| known(item)).min();
        own.map(|span| span.start).or_else(below)
    }
    known(item).unwrap_or_default()
}

/// Renders the entry's table without a final line ending.
fn render_table(key: &str, name: &str, fields: &[Field], newline: &str) -> String {
    let lines = fields.iter().map(|(key, value)| format!("{newline}{key} = {}", render_value(value)));
    format!("[{key}.{name}]{}", lines.collect::<String>())
}

/// Appends a table after a blank line.
fn append_table(text: &str, key: &str, entry: &ClientEntry, fields: &[Field]) -> String {
    let newline = line_ending(text);
    let block = render_table(key, entry.name(), fields, newline);
    match text {
        "" => format!("{block}{newline}"),
        _ if text.ends_with('\n') => format!("{text}{newline}{block}{newline}"),
        _ => format!("{text}{newline}{newline}{block}"),
    }
}

fn render_value(value: &Value) -> String {
    to_toml(value).decorated("", "").to_string()
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Array(items) => items.iter().map(to_toml).collect(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// The edits that bring an entry of ours up to date.
fn update_edits(text: &str, table: &Table, found: &FoundEntry, fields: &[Field]) -> Vec<TextEdit> {
    let newline = line_ending(text);
    // New keys go directly below the header.
    let below_header = line_end(text, table.span().unwrap_or_default().end);
    let mut splices = Vec::new();
    for (key, value) in found.outdated_fields(fields) {
        splices.push(match table.get(key).and_then(Item::span) {
            Some(span) => TextEdit::replace(span, render_value(value)),
            None => TextEdit::insert(below_header, format!("{newline}{key} = {}", render_value(value))),
        });
    }
    for key in found.obsolete_keys(fields) {
        let (first, last) = (table.key(key).and_then(toml_edit::Key::span), table.get(key).and_then(Item::span));
        if let (Some(first), Some(last)) = (first, last) {
            let (start, end) = (line_start(text, first.start), line_end(text, last.end));
            let after = &text[end..];
            let end = end + after.len() - after.strip_prefix(newline).unwrap_or(after).len();
            splices.push(TextEdit::remove(start..end));
        }
    }
    splices
}

/// Collects the tables of an entry that have a header, each from its header to its last value.
fn collect_tables(item: &Item, found: &mut Vec<Range<usize>>) {
    match item {
        Item::Table(table) => {
            if !table.is_implicit()
                && !table.is_dotted()
                && let Some(header) = table.span()
            {
                found.push(header.start..last_value_end(table).max(header.end));
            }
            table.iter().for_each(|(_, item)| collect_tables(item, found));
        }
        Item::ArrayOfTables(tables) => {
            for table in tables {
                found.extend(table.span().map(|header| header.start..last_value_end(table).max(header.end)));
                table.iter().for_each(|(_, item)| collect_tables(item, found));
            }
        }
        Item::Value(_) | Item::None => (),
    }
}

/// The end of the last value below a table's header.
fn last_value_end(table: &Table) -> usize {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map_or(0, |span| span.end),
        Item::Table(table) if table.is_dotted() => last_value_end(table),
        _ => 0,
    };
    table.iter().map(|(_, item)| end(item)).max().unwrap_or_default()
}

/// Extends a range to full lines, including a blank line before it.
fn full_lines(text: &str, part: Range<usize>) -> Range<usize> {
    let (start, end) = (line_start(text, part.start), line_end(text, part.end));
    let before = &text[..start];
    let newline_after = text[end..].len() - strip_newline(&text[end..]).len();
    if newline_after == 0 {
        // The table ends the file without a line ending, as the text did before it was appended.
        return strip_final_newline(strip_final_newline(before)).len()..end;
    }
    let without_empty_line = strip_final_newline(before);
    let is_empty_line = without_empty_line.ends_with('\n') || without_empty_line.is_empty();
    let start = if is_empty_line { without_empty_line.len() } else { start };
    start..end + newline_after
}

fn strip_newline(text: &str) -> &str {
    let rest = text.strip_prefix('\r').unwrap_or(text);
    rest.strip_prefix('\n').unwrap_or(text)
}
