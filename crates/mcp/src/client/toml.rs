//! An entry in a file of TOML: a table of its own at the end of the file.
//!
//! Invariant: the parser says where things are, and the text is cut there: a library that writes a whole file would write
//! other ends of lines.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Document, Item, Table, TableLike};

use super::entry::{Entry, Field, Found};
use super::splice::{Splice, apply, line_end, line_start, newline, place, without_newline};
use super::{ClientError, WhenForeign};

/// The file that has the entry and nothing else.
pub(super) fn snippet(key: &str, name: &str, fields: &[Field]) -> String {
    format!("{}\n", block(key, name, fields, "\n"))
}

pub(super) fn put(
    text: &str,
    key: &str,
    entry: &Entry,
    fields: &[Field],
    foreign: WhenForeign,
) -> Result<String, ClientError> {
    let file = parse(text)?;
    let Some(there) = below(text, &file, key, entry.name())? else { return Ok(with_block(text, key, entry, fields)) };
    let found = found_in(there);
    if entry.owns(&found) {
        let table = own_table(text, there, entry)?;
        return Ok(apply(text, updates(text, table, &found, fields)));
    }
    if foreign == WhenForeign::Refuse {
        return Err(taken(text, there, entry, &found));
    }
    let without = take(text, key, entry, foreign)?;
    Ok(with_block(&without, key, entry, fields))
}

pub(super) fn take(text: &str, key: &str, entry: &Entry, foreign: WhenForeign) -> Result<String, ClientError> {
    let file = parse(text)?;
    let Some(there) = below(text, &file, key, entry.name())? else { return Ok(text.to_owned()) };
    let found = found_in(there);
    if foreign == WhenForeign::Refuse && !entry.owns(&found) {
        return Err(taken(text, there, entry, &found));
    }
    own_table(text, there, entry)?;
    let mut tables = Vec::new();
    blocks(there, &mut tables);
    // What two of them have between them is taken out with the second.
    Ok(apply(text, tables.into_iter().map(|table| Splice::remove(with_lines(text, table))).collect()))
}

/// What a text has under the name.
pub(super) fn found(text: &str, key: &str, name: &str) -> Result<Option<Found>, ClientError> {
    Ok(below(text, &parse(text)?, key, name)?.map(found_in))
}

fn parse(text: &str) -> Result<Document<&str>, ClientError> {
    Document::parse(text).map_err(|error| {
        let (line, column) = place(text, error.span().unwrap_or_default().start);
        ClientError::Invalid { line, column, what: error.message().to_owned() }
    })
}

/// What is under the name, where the file has a table of servers or none.
fn below<'d>(text: &str, file: &'d Document<&str>, key: &str, name: &str) -> Result<Option<&'d Item>, ClientError> {
    match file.as_table().get(key) {
        None => Ok(None),
        Some(Item::Table(servers)) => Ok(servers.get(name)),
        Some(other) => {
            let (line, _) = place(text, other.span().unwrap_or_default().start);
            let kind = if other.is_inline_table() { "an inline table" } else { other.type_name() };
            Err(ClientError::Shape { line, what: format!("`{key}` is {kind}, and not a table of its own") })
        }
    }
}

fn found_in(item: &Item) -> Found {
    item.as_table_like().map(|table| Found::new(fields_of(table))).unwrap_or_default()
}

fn fields_of(table: &dyn TableLike) -> Vec<(String, Value)> {
    table.iter().map(|(key, item)| (key.to_owned(), value(item.as_value()))).collect()
}

/// What a value is, as far as it can be compared.
fn value(value_there: Option<&toml_edit::Value>) -> Value {
    match value_there {
        Some(toml_edit::Value::String(text)) => Value::String(text.value().clone()),
        Some(toml_edit::Value::Array(items)) => Value::Array(items.iter().map(|item| value(Some(item))).collect()),
        _ => Value::Null,
    }
}

fn taken(text: &str, there: &Item, entry: &Entry, found: &Found) -> ClientError {
    let (line, _) = place(text, start_of(there));
    ClientError::Taken { line, name: entry.name().to_owned(), leads_to: found.told() }
}

/// The table that an entry is, if it has a header.
fn own_table<'d>(text: &str, there: &'d Item, entry: &Entry) -> Result<&'d Table, ClientError> {
    there.as_table().filter(|table| !table.is_dotted()).ok_or_else(|| {
        let (line, _) = place(text, start_of(there));
        ClientError::Shape { line, what: format!("`{}` has no table of its own", entry.name()) }
    })
}

/// Where an item begins. A table that is only there for others has no place but theirs.
fn start_of(item: &Item) -> usize {
    fn known(item: &Item) -> Option<usize> {
        let own = item.span().filter(|span| !span.is_empty());
        let below = || item.as_table_like()?.iter().filter_map(|(_, item)| known(item)).min();
        own.map(|span| span.start).or_else(below)
    }
    known(item).unwrap_or_default()
}

/// The table of an entry, without what ends its last line.
fn block(key: &str, name: &str, fields: &[Field], newline: &str) -> String {
    let lines = fields.iter().map(|(key, value)| format!("{newline}{key} = {}", rendered(value)));
    format!("[{key}.{name}]{}", lines.collect::<String>())
}

/// The text with a table at its end, after an empty line.
fn with_block(text: &str, key: &str, entry: &Entry, fields: &[Field]) -> String {
    let newline = newline(text);
    let block = block(key, entry.name(), fields, newline);
    match text {
        "" => format!("{block}{newline}"),
        _ if text.ends_with('\n') => format!("{text}{newline}{block}{newline}"),
        _ => format!("{text}{newline}{newline}{block}"),
    }
}

fn rendered(value: &Value) -> String {
    to_toml(value).decorated("", "").to_string()
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Array(items) => items.iter().map(to_toml).collect(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// What brings an entry of ours up to date.
fn updates(text: &str, table: &Table, found: &Found, fields: &[Field]) -> Vec<Splice> {
    let newline = newline(text);
    // New keys stand below the header.
    let below_header = line_end(text, table.span().unwrap_or_default().end);
    let mut splices = Vec::new();
    for (key, value) in found.wanting(fields) {
        splices.push(match table.get(key).and_then(Item::span) {
            Some(span) => Splice::replace(span, rendered(value)),
            None => Splice::insert(below_header, format!("{newline}{key} = {}", rendered(value))),
        });
    }
    for key in found.stale(fields) {
        let (first, last) = (table.key(key).and_then(toml_edit::Key::span), table.get(key).and_then(Item::span));
        if let (Some(first), Some(last)) = (first, last) {
            let (start, end) = (line_start(text, first.start), line_end(text, last.end));
            let after = &text[end..];
            let end = end + after.len() - after.strip_prefix(newline).unwrap_or(after).len();
            splices.push(Splice::remove(start..end));
        }
    }
    splices
}

/// The tables with a header that an entry has, each from its header to its last value.
fn blocks(item: &Item, found: &mut Vec<Range<usize>>) {
    match item {
        Item::Table(table) => {
            if !table.is_implicit()
                && !table.is_dotted()
                && let Some(header) = table.span()
            {
                found.push(header.start..last_value(table).max(header.end));
            }
            table.iter().for_each(|(_, item)| blocks(item, found));
        }
        Item::ArrayOfTables(tables) => {
            for table in tables {
                found.extend(table.span().map(|header| header.start..last_value(table).max(header.end)));
                table.iter().for_each(|(_, item)| blocks(item, found));
            }
        }
        Item::Value(_) | Item::None => (),
    }
}

/// Where the last value ends that stands below the header of a table.
fn last_value(table: &Table) -> usize {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map_or(0, |span| span.end),
        Item::Table(table) if table.is_dotted() => last_value(table),
        _ => 0,
    };
    table.iter().map(|(_, item)| end(item)).max().unwrap_or_default()
}

/// A part of a text with the rest of its lines, and the empty line before it.
fn with_lines(text: &str, part: Range<usize>) -> Range<usize> {
    let (start, end) = (line_start(text, part.start), line_end(text, part.end));
    let before = &text[..start];
    let newline_after = text[end..].len() - strip_newline(&text[end..]).len();
    if newline_after == 0 {
        // Then there was none at the end either.
        return without_newline(without_newline(before)).len()..end;
    }
    let without_empty_line = without_newline(before);
    let is_empty_line = without_empty_line.ends_with('\n') || without_empty_line.is_empty();
    let start = if is_empty_line { without_empty_line.len() } else { start };
    start..end + newline_after
}

fn strip_newline(text: &str) -> &str {
    let rest = text.strip_prefix('\r').unwrap_or(text);
    rest.strip_prefix('\n').unwrap_or(text)
}
