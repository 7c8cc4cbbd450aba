//! Entries in JSON files, which may have comments and trailing commas.
//!
//! Invariant: inserted text can be recognised later. An empty object is filled directly after its
//! brace, and an object created for the entry has white space on both sides, so removal finds what
//! was created for the entry alone.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;
use toolcell_i18n::{Message, message};

use super::entry::{ClientEntry, Field, FoundEntry};
use super::json_writer::{DEFAULT_INDENT, Layout, entry_object, property, render, single_key_object};
use super::text_edit::{TextEdit, apply, has_newline, indent, line_and_column, line_ending};
use super::{ClientError, OnForeignEntry};

/// A file that contains only the entry.
pub(super) fn snippet(key: &str, name: &str, fields: &[Field]) -> String {
    let root = single_key_object(key, single_key_object(name, entry_object(fields)));
    format!("{}\n", render(&root, &Layout::Lines { newline: "\n", unit: DEFAULT_INDENT, indent: String::new() }))
}

pub(super) fn upsert(
    text: &str,
    key: &str,
    entry: &ClientEntry,
    fields: &[Field],
    foreign: OnForeignEntry,
) -> Result<String, ClientError> {
    let file = JsonDocument::parse(text)?;
    let Some(root) = file.root()? else {
        return Ok(file.with_root(&single_key_object(key, single_key_object(entry.name(), entry_object(fields)))));
    };
    let splices = match file.find_property(root, key)? {
        None => file.insert(root, key, &single_key_object(entry.name(), entry_object(fields))),
        Some(at) => {
            let servers = file.expect_object(&root.properties[at].value, &quote(key))?;
            match file.find_property(servers, entry.name())? {
                None => file.insert(servers, entry.name(), &entry_object(fields)),
                Some(at) => {
                    let there = &servers.properties[at].value;
                    let found = read_entry(there);
                    match there.as_object() {
                        Some(_) if entry.is_ours(&found) => return update_entry(text, key, entry.name(), fields),
                        _ if foreign == OnForeignEntry::Replace => file.replace(there, &entry_object(fields)),
                        _ => return Err(file.taken_error(there, entry, &found)),
                    }
                }
            }
        }
    };
    Ok(apply(text, splices))
}

pub(super) fn remove(
    text: &str,
    key: &str,
    entry: &ClientEntry,
    foreign: OnForeignEntry,
) -> Result<String, ClientError> {
    let file = JsonDocument::parse(text)?;
    let Some(root) = file.root()? else { return Ok(text.to_owned()) };
    let Some(at_key) = file.find_property(root, key)? else { return Ok(text.to_owned()) };
    let servers = file.expect_object(&root.properties[at_key].value, &quote(key))?;
    let Some(at) = file.find_property(servers, entry.name())? else { return Ok(text.to_owned()) };
    let there = &servers.properties[at].value;
    let found = read_entry(there);
    if foreign == OnForeignEntry::Refuse && !entry.is_ours(&found) {
        return Err(file.taken_error(there, entry, &found));
    }
    let splices = if !file.is_created_for(servers, at) {
        file.remove(servers, at)
    } else if !file.is_created_for(root, at_key) {
        file.remove(root, at_key)
    } else {
        file.remove_root(root)
    };
    Ok(apply(text, splices))
}

/// Looks up the entry with this name.
pub(super) fn find(text: &str, key: &str, name: &str) -> Result<Option<FoundEntry>, ClientError> {
    let file = JsonDocument::parse(text)?;
    let Some(root) = file.root()? else { return Ok(None) };
    let Some(at) = file.find_property(root, key)? else { return Ok(None) };
    let servers = file.expect_object(&root.properties[at].value, &quote(key))?;
    Ok(file.find_property(servers, name)?.map(|at| read_entry(&servers.properties[at].value)))
}

/// Updates the fields of an entry of ours in place. Everything else in the entry is kept.
fn update_entry(text: &str, key: &str, name: &str, fields: &[Field]) -> Result<String, ClientError> {
    let mut text = text.to_owned();
    // Each iteration fixes one field, so there are as many iterations as wrong fields.
    loop {
        let file = JsonDocument::parse(&text)?;
        let Some(entry) = file.find_entry(key, name)? else { return Err(ClientError::not_editable(key)) };
        let found = FoundEntry::new(entry_fields(entry));
        let splices = if let Some((field, value)) = found.outdated_fields(fields).first() {
            match file.find_property(entry, field)? {
                Some(at) => file.replace(&entry.properties[at].value, value),
                None => file.insert(entry, field, value),
            }
        } else if let Some(field) = found.obsolete_keys(fields).first() {
            match file.find_property(entry, field)? {
                Some(at) => file.remove(entry, at),
                None => return Err(ClientError::not_editable(key)),
            }
        } else {
            return Ok(text);
        };
        text = apply(&text, splices);
    }
}

/// Reads an existing entry from a JSON value.
fn read_entry(value: &Node<'_>) -> FoundEntry {
    value.as_object().map(|object| FoundEntry::new(entry_fields(object))).unwrap_or_default()
}

fn entry_fields(object: &Object<'_>) -> Vec<(String, Value)> {
    let field = |property: &jsonc_parser::ast::ObjectProp<'_>| {
        (property_name(property).to_owned(), comparable_value(&property.value))
    };
    object.properties.iter().map(field).collect()
}

fn property_name<'a>(property: &'a jsonc_parser::ast::ObjectProp<'a>) -> &'a str {
    property.name.as_str()
}

/// Converts a node into a comparable value. Numbers become their text.
fn comparable_value(node: &Node<'_>) -> Value {
    match node {
        Node::StringLit(text) => Value::String(text.value.to_string()),
        Node::NumberLit(number) => Value::String(number.value.to_owned()),
        Node::BooleanLit(yes) => Value::Bool(yes.value),
        Node::Object(object) => Value::Object(entry_fields(object).into_iter().collect()),
        Node::Array(array) => Value::Array(array.elements.iter().map(comparable_value).collect()),
        Node::NullKeyword(_) => Value::Null,
    }
}

/// A parsed JSON file with its tokens.
struct JsonDocument<'a> {
    text: &'a str,
    root: Option<Node<'a>>,
    tokens: Vec<(Range<usize>, TokenKind)>,
}

/// The kinds of tokens that matter for an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Comma,
    /// A comment that extends to the end of the line.
    LineComment,
    Comment,
    Other,
}

impl<'a> JsonDocument<'a> {
    fn parse(text: &'a str) -> Result<Self, ClientError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &collect, &options).map_err(|error| {
            let (line, column) = line_and_column(text, error.range().start);
            ClientError::Invalid { line, column, what: Message::verbatim(error.kind().to_string().to_lowercase()) }
        })?;
        let mark = |token: &Token<'_>| match token {
            Token::Comma => TokenKind::Comma,
            Token::CommentLine(_) => TokenKind::LineComment,
            Token::CommentBlock(_) => TokenKind::Comment,
            _ => TokenKind::Other,
        };
        let tokens = parsed.tokens.into_iter().flatten().map(|token| (token.start()..token.end(), mark(&token.token)));
        Ok(Self { text, root: parsed.value, tokens: tokens.collect() })
    }

    /// The root object; `None` if the file has no value.
    fn root(&self) -> Result<Option<&Object<'a>>, ClientError> {
        self.root.as_ref().map(|root| self.expect_object(root, &message!("the file"))).transpose()
    }

    fn expect_object<'v>(&self, value: &'v Node<'a>, what: &Message) -> Result<&'v Object<'a>, ClientError> {
        let kind = match value {
            Node::Object(object) => return Ok(object),
            Node::Array(_) => message!("an array"),
            Node::StringLit(_) => message!("a string"),
            Node::NumberLit(_) => message!("a number"),
            Node::BooleanLit(_) => message!("a boolean"),
            Node::NullKeyword(_) => Message::verbatim("null".to_owned()),
        };
        let (line, _) = line_and_column(self.text, value.start());
        Err(ClientError::Shape { line, what: message!("{what} is {kind}, not an object", what, kind) })
    }

    /// Returns the index of the property with this key. A duplicate key is an error, because
    /// clients differ in which one they use.
    fn find_property(&self, object: &Object<'_>, key: &str) -> Result<Option<usize>, ClientError> {
        let mut found = object.properties.iter().enumerate().filter(|(_, property)| property_name(property) == key);
        match (found.next(), found.next()) {
            (None, _) => Ok(None),
            (Some((at, _)), None) => Ok(Some(at)),
            (Some((_, first)), Some((_, second))) => {
                let (first, _) = line_and_column(self.text, first.start());
                let (line, column) = line_and_column(self.text, second.start());
                let what = message!("duplicate key `{key}`, first used in line {line}", key, line = first);
                Err(ClientError::Invalid { line, column, what })
            }
        }
    }

    /// Returns the entry's object: `key`, then `name`.
    fn find_entry(&self, key: &str, name: &str) -> Result<Option<&Object<'a>>, ClientError> {
        let Some(root) = self.root()? else { return Ok(None) };
        let Some(at) = self.find_property(root, key)? else { return Ok(None) };
        let servers = self.expect_object(&root.properties[at].value, &quote(key))?;
        let Some(at) = self.find_property(servers, name)? else { return Ok(None) };
        self.expect_object(&servers.properties[at].value, &quote(name)).map(Some)
    }

    fn taken_error(&self, value: &Node<'_>, entry: &ClientEntry, found: &FoundEntry) -> ClientError {
        let (line, _) = line_and_column(self.text, value.start());
        ClientError::Taken { line, name: entry.name().to_owned(), leads_to: found.describe() }
    }

    /// The tokens that end before an offset, the nearest first.
    fn tokens_before(&self, at: usize) -> impl Iterator<Item = &(Range<usize>, TokenKind)> {
        self.tokens[..self.tokens.partition_point(|(range, _)| range.end <= at)].iter().rev()
    }

    /// The tokens that start at or after an offset.
    fn tokens_after(&self, at: usize) -> &[(Range<usize>, TokenKind)] {
        &self.tokens[self.tokens.partition_point(|(range, _)| range.start < at)..]
    }

    /// The comma that follows a property.
    fn comma_after(&self, at: usize) -> Option<&Range<usize>> {
        let next =
            self.tokens_after(at).iter().find(|(_, mark)| !matches!(mark, TokenKind::Comment | TokenKind::LineComment));
        next.filter(|(_, mark)| *mark == TokenKind::Comma).map(|(range, _)| range)
    }

    /// Whether a property is the first one on its line.
    fn is_first_on_line(&self, start: usize) -> bool {
        let before =
            self.tokens_before(start).find(|(_, mark)| !matches!(mark, TokenKind::Comment | TokenKind::LineComment));
        before.is_some_and(|(range, _)| has_newline(&self.text[range.end..start]))
    }

    fn multi_line_layout(&self, indent: String) -> Layout<'_> {
        Layout::Lines { newline: line_ending(self.text), unit: self.indent_unit(), indent }
    }

    /// The indentation of one level.
    fn indent_unit(&self) -> &str {
        let first = self.root.as_ref().and_then(Node::as_object).and_then(|root| root.properties.first());
        let first = first.filter(|first| self.is_first_on_line(first.start()));
        first.map(|first| indent(self.text, first.start())).filter(|unit| !unit.is_empty()).unwrap_or(DEFAULT_INDENT)
    }

    /// Returns the text of a file without a value, with a root value added.
    fn with_root(&self, value: &Value) -> String {
        let (text, newline) = (self.text, line_ending(self.text));
        let root = render(value, &self.multi_line_layout(String::new()));
        if text.is_empty() || text.ends_with('\n') {
            format!("{text}{root}{newline}")
        } else {
            format!("{text}{newline}{root}")
        }
    }

    /// Inserts a property after the others.
    fn insert(&self, object: &Object<'_>, key: &str, value: &Value) -> Vec<TextEdit> {
        let Some(last) = object.properties.last() else {
            let at = object.start() + 1;
            let layout = self.multi_line_layout(indent(self.text, at).to_owned());
            return vec![TextEdit::insert(at, property(key, value, &layout))];
        };
        let comma = self.comma_after(last.end());
        let mut at = comma.map_or(last.end(), |comma| comma.end);
        let mut is_line = self.is_first_on_line(last.start());
        // A comment on the line of the last property stays there.
        for (range, mark) in self.tokens_after(at) {
            if !matches!(mark, TokenKind::Comment | TokenKind::LineComment) || has_newline(&self.text[at..range.start])
            {
                break;
            }
            at = range.end;
            is_line = is_line || *mark == TokenKind::LineComment;
        }
        let (separator, layout) = if is_line {
            let indent = indent(self.text, last.start()).to_owned();
            (format!("{}{indent}", line_ending(self.text)), self.multi_line_layout(indent))
        } else {
            (" ".to_owned(), Layout::Line)
        };
        let property = property(key, value, &layout);
        if comma.is_some() {
            return vec![TextEdit::insert(at, format!("{separator}{property},"))];
        }
        vec![TextEdit::insert(last.end(), ",".to_owned()), TextEdit::insert(at, format!("{separator}{property}"))]
    }

    /// Replaces a value.
    fn replace(&self, old: &Node<'_>, value: &Value) -> Vec<TextEdit> {
        let layout = match old {
            Node::Object(_) if has_newline(old.text(self.text)) => {
                self.multi_line_layout(indent(self.text, old.start()).to_owned())
            }
            _ => Layout::Line,
        };
        vec![TextEdit::replace(old.start()..old.end(), render(value, &layout))]
    }

    /// Whether an object was created for this property: it has no other one, and white space on
    /// both sides.
    fn is_created_for(&self, object: &Object<'_>, at: usize) -> bool {
        let property = &object.properties[at];
        let before = &self.text[object.start() + 1..property.start()];
        let after = &self.text[property.end()..object.end() - 1];
        let is_space = |text: &str| !text.is_empty() && text.trim().is_empty();
        object.properties.len() == 1 && is_space(before) && is_space(after)
    }

    fn remove(&self, object: &Object<'_>, at: usize) -> Vec<TextEdit> {
        let property = &object.properties[at];
        let (start, end) = (property.start(), property.end());
        let blank = |at: usize| at + self.text[at..].len() - self.text[at..].trim_start_matches([' ', '\t']).len();
        let (before, mark) =
            self.tokens_before(start).next().map_or((start, TokenKind::Other), |(range, mark)| (range.end, *mark));
        let comma = self.comma_after(end);
        if let Some(comma) = comma
            && at + 1 < object.properties.len()
            && !has_newline(&self.text[before..start])
        {
            // The next property takes its place on the line.
            return vec![TextEdit::remove(start..end), TextEdit::remove(comma.start..blank(comma.end))];
        }
        let last = comma.map_or(end, |comma| comma.end);
        // Text after a line comment would become a part of the comment.
        let swallowed = mark == TokenKind::LineComment && !self.text[blank(last)..].starts_with(['\n', '\r']);
        let entry = TextEdit::remove(if swallowed { start } else { before }..end);
        match comma {
            Some(comma) => vec![entry, TextEdit::remove(comma.clone())],
            // Without a trailing comma, the one before the property was inserted with it.
            None if at > 0 => {
                let comma = self.tokens_before(start).find(|(_, mark)| *mark == TokenKind::Comma);
                comma.map(|(range, _)| TextEdit::remove(range.clone())).into_iter().chain([entry]).collect()
            }
            None => vec![entry],
        }
    }

    /// Removes the root object and its line ending.
    fn remove_root(&self, root: &Object<'_>) -> Vec<TextEdit> {
        let newline = line_ending(self.text);
        let (start, end) = (root.start(), root.end());
        if self.text[end..].starts_with(newline) {
            return vec![TextEdit::remove(start..end + newline.len())];
        }
        let before = self.text[..start].strip_suffix(newline).map_or(start, str::len);
        vec![TextEdit::remove(before..end)]
    }
}

/// Returns a key as it is shown in an error.
fn quote(key: &str) -> Message {
    Message::verbatim(format!("`{key}`"))
}
