//! An entry in a file of JSON, which may have comments and trailing commas.
//!
//! Invariant: what is put in can be told from what was there. An object that was empty is filled right after its brace; an
//! object that is made has white space on both sides. So taking out finds what was made for the entry alone.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::entry::{Entry, Field, Found};
use super::render::{Layout, UNIT, nested, object, property, render};
use super::splice::{Splice, apply, has_newline, indent, newline, place};
use super::{ClientError, WhenForeign};

/// The file that has the entry and nothing else.
pub(super) fn snippet(key: &str, name: &str, fields: &[Field]) -> String {
    let root = nested(key, nested(name, object(fields)));
    format!("{}\n", render(&root, &Layout::Lines { newline: "\n", unit: UNIT, indent: String::new() }))
}

pub(super) fn put(
    text: &str,
    key: &str,
    entry: &Entry,
    fields: &[Field],
    foreign: WhenForeign,
) -> Result<String, ClientError> {
    let file = File::parse(text)?;
    let Some(root) = file.root()? else {
        return Ok(file.with_root(&nested(key, nested(entry.name(), object(fields)))));
    };
    let splices = match file.only(root, key)? {
        None => file.insert(root, key, &nested(entry.name(), object(fields))),
        Some(at) => {
            let servers = file.object(&root.properties[at].value, key)?;
            match file.only(servers, entry.name())? {
                None => file.insert(servers, entry.name(), &object(fields)),
                Some(at) => {
                    let there = &servers.properties[at].value;
                    let found = found_in(there);
                    match there.as_object() {
                        Some(_) if entry.owns(&found) => return updated(text, key, entry.name(), fields),
                        _ if foreign == WhenForeign::Replace => file.replace(there, &object(fields)),
                        _ => return Err(file.taken(there, entry, &found)),
                    }
                }
            }
        }
    };
    Ok(apply(text, splices))
}

pub(super) fn take(text: &str, key: &str, entry: &Entry, foreign: WhenForeign) -> Result<String, ClientError> {
    let file = File::parse(text)?;
    let Some(root) = file.root()? else { return Ok(text.to_owned()) };
    let Some(at_key) = file.only(root, key)? else { return Ok(text.to_owned()) };
    let servers = file.object(&root.properties[at_key].value, key)?;
    let Some(at) = file.only(servers, entry.name())? else { return Ok(text.to_owned()) };
    let there = &servers.properties[at].value;
    let found = found_in(there);
    if foreign == WhenForeign::Refuse && !entry.owns(&found) {
        return Err(file.taken(there, entry, &found));
    }
    let splices = if !file.is_made_for(servers, at) {
        file.remove(servers, at)
    } else if !file.is_made_for(root, at_key) {
        file.remove(root, at_key)
    } else {
        file.remove_root(root)
    };
    Ok(apply(text, splices))
}

/// What a text has under the name.
pub(super) fn found(text: &str, key: &str, name: &str) -> Result<Option<Found>, ClientError> {
    let file = File::parse(text)?;
    let Some(root) = file.root()? else { return Ok(None) };
    let Some(at) = file.only(root, key)? else { return Ok(None) };
    let servers = file.object(&root.properties[at].value, key)?;
    Ok(file.only(servers, name)?.map(|at| found_in(&servers.properties[at].value)))
}

/// The text with the fields of an entry of ours as they should be. What else it has stays, and where it is.
fn updated(text: &str, key: &str, name: &str, fields: &[Field]) -> Result<String, ClientError> {
    let mut text = text.to_owned();
    // Each step is one field, so that there are as many as fields that are not right.
    loop {
        let file = File::parse(&text)?;
        let Some(entry) = file.below(key, name)? else { return Err(ClientError::closed(key)) };
        let found = Found::new(entry_fields(entry));
        let splices = if let Some((field, value)) = found.wanting(fields).first() {
            match file.only(entry, field)? {
                Some(at) => file.replace(&entry.properties[at].value, value),
                None => file.insert(entry, field, value),
            }
        } else if let Some(field) = found.stale(fields).first() {
            match file.only(entry, field)? {
                Some(at) => file.remove(entry, at),
                None => return Err(ClientError::closed(key)),
            }
        } else {
            return Ok(text);
        };
        text = apply(&text, splices);
    }
}

/// What a value says of a server.
fn found_in(value: &Node<'_>) -> Found {
    value.as_object().map(|object| Found::new(entry_fields(object))).unwrap_or_default()
}

fn entry_fields(object: &Object<'_>) -> Vec<(String, Value)> {
    let field = |property: &jsonc_parser::ast::ObjectProp<'_>| (name(property).to_owned(), value(&property.value));
    object.properties.iter().map(field).collect()
}

fn name<'a>(property: &'a jsonc_parser::ast::ObjectProp<'a>) -> &'a str {
    property.name.as_str()
}

/// What a value is, as far as it can be compared: numbers are their text.
fn value(node: &Node<'_>) -> Value {
    match node {
        Node::StringLit(text) => Value::String(text.value.to_string()),
        Node::NumberLit(number) => Value::String(number.value.to_owned()),
        Node::BooleanLit(yes) => Value::Bool(yes.value),
        Node::Object(object) => Value::Object(entry_fields(object).into_iter().collect()),
        Node::Array(array) => Value::Array(array.elements.iter().map(value).collect()),
        Node::NullKeyword(_) => Value::Null,
    }
}

/// A text, what it says, and where.
struct File<'a> {
    text: &'a str,
    root: Option<Node<'a>>,
    tokens: Vec<(Range<usize>, Mark)>,
}

/// What an edit has to know of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Comma,
    /// A comment to the end of its line.
    LineComment,
    Comment,
    Other,
}

impl<'a> File<'a> {
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
            let (line, column) = place(text, error.range().start);
            ClientError::Invalid { line, column, what: error.kind().to_string().to_lowercase() }
        })?;
        let mark = |token: &Token<'_>| match token {
            Token::Comma => Mark::Comma,
            Token::CommentLine(_) => Mark::LineComment,
            Token::CommentBlock(_) => Mark::Comment,
            _ => Mark::Other,
        };
        let tokens = parsed.tokens.into_iter().flatten().map(|token| (token.start()..token.end(), mark(&token.token)));
        Ok(Self { text, root: parsed.value, tokens: tokens.collect() })
    }

    /// The object that the file is; nothing where there is none yet.
    fn root(&self) -> Result<Option<&Object<'a>>, ClientError> {
        self.root.as_ref().map(|root| self.object(root, "the file")).transpose()
    }

    fn object<'v>(&self, value: &'v Node<'a>, what: &str) -> Result<&'v Object<'a>, ClientError> {
        let kind = match value {
            Node::Object(object) => return Ok(object),
            Node::Array(_) => "a list",
            Node::StringLit(_) => "a text",
            Node::NumberLit(_) => "a number",
            Node::BooleanLit(_) => "true or false",
            Node::NullKeyword(_) => "null",
        };
        let what = if what.contains(' ') { what.to_owned() } else { format!("`{what}`") };
        let (line, _) = place(self.text, value.start());
        Err(ClientError::Shape { line, what: format!("{what} is {kind}, and not an object") })
    }

    /// Which property is called so. Of two, a client would take one, and nobody knows which.
    fn only(&self, object: &Object<'_>, key: &str) -> Result<Option<usize>, ClientError> {
        let mut found = object.properties.iter().enumerate().filter(|(_, property)| name(property) == key);
        match (found.next(), found.next()) {
            (None, _) => Ok(None),
            (Some((at, _)), None) => Ok(Some(at)),
            (Some((_, first)), Some((_, second))) => {
                let (first, _) = place(self.text, first.start());
                let (line, column) = place(self.text, second.start());
                let what = format!("`{key}` is there already, in line {first}");
                Err(ClientError::Invalid { line, column, what })
            }
        }
    }

    /// The object at the end of two keys.
    fn below(&self, key: &str, name: &str) -> Result<Option<&Object<'a>>, ClientError> {
        let Some(root) = self.root()? else { return Ok(None) };
        let Some(at) = self.only(root, key)? else { return Ok(None) };
        let servers = self.object(&root.properties[at].value, key)?;
        let Some(at) = self.only(servers, name)? else { return Ok(None) };
        self.object(&servers.properties[at].value, name).map(Some)
    }

    fn taken(&self, value: &Node<'_>, entry: &Entry, found: &Found) -> ClientError {
        let (line, _) = place(self.text, value.start());
        ClientError::Taken { line, name: entry.name().to_owned(), leads_to: found.told() }
    }

    /// The tokens that end before a place, the nearest first.
    fn before(&self, at: usize) -> impl Iterator<Item = &(Range<usize>, Mark)> {
        self.tokens[..self.tokens.partition_point(|(range, _)| range.end <= at)].iter().rev()
    }

    /// The tokens that begin after a place.
    fn after(&self, at: usize) -> &[(Range<usize>, Mark)] {
        &self.tokens[self.tokens.partition_point(|(range, _)| range.start < at)..]
    }

    /// The comma after a property, where there is one.
    fn comma_after(&self, at: usize) -> Option<&Range<usize>> {
        let next = self.after(at).iter().find(|(_, mark)| !matches!(mark, Mark::Comment | Mark::LineComment));
        next.filter(|(_, mark)| *mark == Mark::Comma).map(|(range, _)| range)
    }

    /// Whether a property begins a line.
    fn begins_line(&self, start: usize) -> bool {
        let before = self.before(start).find(|(_, mark)| !matches!(mark, Mark::Comment | Mark::LineComment));
        before.is_some_and(|(range, _)| has_newline(&self.text[range.end..start]))
    }

    fn lines(&self, indent: String) -> Layout<'_> {
        Layout::Lines { newline: newline(self.text), unit: self.unit(), indent }
    }

    /// What a level is moved in by.
    fn unit(&self) -> &str {
        let first = self.root.as_ref().and_then(Node::as_object).and_then(|root| root.properties.first());
        let first = first.filter(|first| self.begins_line(first.start()));
        first.map(|first| indent(self.text, first.start())).filter(|unit| !unit.is_empty()).unwrap_or(UNIT)
    }

    /// The text with a value where it has none.
    fn with_root(&self, value: &Value) -> String {
        let (text, newline) = (self.text, newline(self.text));
        let root = render(value, &self.lines(String::new()));
        if text.is_empty() || text.ends_with('\n') {
            format!("{text}{root}{newline}")
        } else {
            format!("{text}{newline}{root}")
        }
    }

    /// Adds a property behind the others.
    fn insert(&self, object: &Object<'_>, key: &str, value: &Value) -> Vec<Splice> {
        let Some(last) = object.properties.last() else {
            let at = object.start() + 1;
            let layout = self.lines(indent(self.text, at).to_owned());
            return vec![Splice::insert(at, property(key, value, &layout))];
        };
        let comma = self.comma_after(last.end());
        let mut at = comma.map_or(last.end(), |comma| comma.end);
        let mut is_line = self.begins_line(last.start());
        // What is said beside the last one stays beside it.
        for (range, mark) in self.after(at) {
            if !matches!(mark, Mark::Comment | Mark::LineComment) || has_newline(&self.text[at..range.start]) {
                break;
            }
            at = range.end;
            is_line = is_line || *mark == Mark::LineComment;
        }
        let (separator, layout) = if is_line {
            let indent = indent(self.text, last.start()).to_owned();
            (format!("{}{indent}", newline(self.text)), self.lines(indent))
        } else {
            (" ".to_owned(), Layout::Line)
        };
        let property = property(key, value, &layout);
        if comma.is_some() {
            return vec![Splice::insert(at, format!("{separator}{property},"))];
        }
        vec![Splice::insert(last.end(), ",".to_owned()), Splice::insert(at, format!("{separator}{property}"))]
    }

    /// Puts another value in the place of one.
    fn replace(&self, old: &Node<'_>, value: &Value) -> Vec<Splice> {
        let layout = match old {
            Node::Object(_) if has_newline(old.text(self.text)) => {
                self.lines(indent(self.text, old.start()).to_owned())
            }
            _ => Layout::Line,
        };
        vec![Splice::replace(old.start()..old.end(), render(value, &layout))]
    }

    /// Whether an object has been made for this property: it has nothing else in it, and white space on both sides.
    fn is_made_for(&self, object: &Object<'_>, at: usize) -> bool {
        let property = &object.properties[at];
        let before = &self.text[object.start() + 1..property.start()];
        let after = &self.text[property.end()..object.end() - 1];
        let is_space = |text: &str| !text.is_empty() && text.trim().is_empty();
        object.properties.len() == 1 && is_space(before) && is_space(after)
    }

    fn remove(&self, object: &Object<'_>, at: usize) -> Vec<Splice> {
        let property = &object.properties[at];
        let (start, end) = (property.start(), property.end());
        let blank = |at: usize| at + self.text[at..].len() - self.text[at..].trim_start_matches([' ', '\t']).len();
        let (before, mark) = self.before(start).next().map_or((start, Mark::Other), |(range, mark)| (range.end, *mark));
        let comma = self.comma_after(end);
        if let Some(comma) = comma
            && at + 1 < object.properties.len()
            && !has_newline(&self.text[before..start])
        {
            // The next one takes its place in the line.
            return vec![Splice::remove(start..end), Splice::remove(comma.start..blank(comma.end))];
        }
        let last = comma.map_or(end, |comma| comma.end);
        // What follows a comment to the end of the line would become a part of it.
        let swallowed = mark == Mark::LineComment && !self.text[blank(last)..].starts_with(['\n', '\r']);
        let entry = Splice::remove(if swallowed { start } else { before }..end);
        match comma {
            Some(comma) => vec![entry, Splice::remove(comma.clone())],
            // Then it was put in with it.
            None if at > 0 => {
                let comma = self.before(start).find(|(_, mark)| *mark == Mark::Comma);
                comma.map(|(range, _)| Splice::remove(range.clone())).into_iter().chain([entry]).collect()
            }
            None => vec![entry],
        }
    }

    /// Takes the object out that the file is, and what ended its line.
    fn remove_root(&self, root: &Object<'_>) -> Vec<Splice> {
        let newline = newline(self.text);
        let (start, end) = (root.start(), root.end());
        if self.text[end..].starts_with(newline) {
            return vec![Splice::remove(start..end + newline.len())];
        }
        let before = self.text[..start].strip_suffix(newline).map_or(start, str::len);
        vec![Splice::remove(before..end)]
    }
}
