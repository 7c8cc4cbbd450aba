//! From types to text.

use std::cell::Cell;

use crate::types::{Field, Keyword, Object, Others, Tuple, Type};
use crate::{is_identifier, literal};

/// The maximum width of a line with an object, in characters.
const MAX_WIDTH: usize = 100;

/// The maximum size of the types of a function in bytes, about: they grow with the schema unless it repeats long names and values.
const MAX_BYTES: usize = 256 << 10;

/// How tightly a type holds together: what is looser needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Union,
    Intersection,
    /// An item of an array.
    Item,
}

/// Returns a line break and the indentation of the next line.
pub(crate) fn new_line(indent: usize) -> String {
    format!("\n{}", "  ".repeat(indent))
}

/// Returns a property name, in quotes unless it is an identifier.
pub(crate) fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { literal(&name.into()) }
}

/// Writes the types of one function, until its room is used up: what comes then is `unknown`.
pub(crate) struct Printer<'n> {
    /// The names of the aliases.
    names: &'n [String],
    /// The number of bytes that may still be written.
    room: Cell<usize>,
}

impl<'n> Printer<'n> {
    pub(crate) const fn new(names: &'n [String]) -> Self {
        Self { names, room: Cell::new(MAX_BYTES) }
    }

    /// Returns the text of a type. `indent` is the indentation of its first line in steps.
    pub(crate) fn print(&self, ty: &Type, indent: usize) -> String {
        self.text(ty, indent, Binding::Union)
    }

    fn text(&self, ty: &Type, indent: usize, at_least: Binding) -> String {
        if self.room.get() == 0 {
            return "unknown".to_owned();
        }
        let (text, binding) = match ty {
            Type::Unknown => ("unknown".to_owned(), Binding::Item),
            Type::Never => ("never".to_owned(), Binding::Item),
            Type::Keyword(keyword) => (keyword.name().to_owned(), Binding::Item),
            Type::Literal(literal) => (self.pay(literal.text.clone()), Binding::Item),
            Type::Alias(alias) => (self.pay(self.names[*alias].clone()), Binding::Item),
            Type::Array(item) => (format!("{}[]", self.text(item, indent, Binding::Item)), Binding::Item),
            Type::Tuple(tuple) => (self.tuple(tuple, indent), Binding::Item),
            Type::Object(object) => (self.object(object, indent), Binding::Item),
            Type::Union(members) => (self.join(members, " | ", indent, Binding::Intersection), Binding::Union),
            Type::Intersection(parts) => (self.join(parts, " & ", indent, Binding::Item), Binding::Intersection),
        };
        if binding < at_least { format!("({text})") } else { text }
    }

    /// Returns the text, and takes its room.
    fn pay(&self, text: String) -> String {
        self.room.set(self.room.get().saturating_sub(text.len()));
        text
    }

    fn join(&self, types: &[Type], separator: &str, indent: usize, at_least: Binding) -> String {
        types.iter().map(|one| self.text(one, indent, at_least)).collect::<Vec<_>>().join(separator)
    }

    fn tuple(&self, tuple: &Tuple, indent: usize) -> String {
        let mut items: Vec<String> = Vec::new();
        for (at, item) in tuple.items.iter().enumerate() {
            if at < tuple.required {
                items.push(self.text(item, indent, Binding::Union));
            } else {
                items.push(format!("{}?", self.text(item, indent, Binding::Item)));
            }
        }
        items.extend(tuple.rest.iter().map(|rest| format!("...{}[]", self.text(rest, indent, Binding::Item))));
        format!("[{}]", items.join(", "))
    }

    fn object(&self, object: &Object, indent: usize) -> String {
        let index = match &object.others {
            Others::Unmentioned if object.fields.is_empty() => return "Record<string, unknown>".to_owned(),
            Others::Forbidden if object.fields.is_empty() => return "Record<string, never>".to_owned(),
            Others::Unmentioned | Others::Forbidden => None,
            // A type may refer to itself in an index signature, and not in the argument of `Record`.
            Others::Typed(value) if object.fields.is_empty() && !value.has_alias() => {
                return format!("Record<string, {}>", self.text(value, indent, Binding::Union));
            }
            Others::Typed(value) if object.fields.is_empty() => Some(self.text(value, indent + 1, Binding::Union)),
            // An index signature holds for the named properties, too.
            Others::Typed(_) => Some("unknown".to_owned()),
        };
        let mut members: Vec<String> = object.fields.iter().map(|field| self.field(field, indent + 1)).collect();
        members.extend(index.map(|value| format!("[key: string]: {value}")));
        let has_comment = object.fields.iter().any(|field| field.comment.is_some());
        let width = members.iter().map(|member| member.chars().count() + 2).sum::<usize>() + 2 * indent;
        if !has_comment && width <= MAX_WIDTH && !members.iter().any(|member| member.contains('\n')) {
            return format!("{{ {} }}", members.join("; "));
        }
        let line = new_line(indent + 1);
        let members: String = members.iter().flat_map(|member| [&line, member.as_str(), ";"]).collect();
        format!("{{{members}{}}}", new_line(indent))
    }

    fn field(&self, field: &Field, indent: usize) -> String {
        let comment = field.comment.as_ref().filter(|_| self.room.get() > 0);
        let comment = comment.map(|comment| format!("/** {comment} */{}", new_line(indent)));
        let mark = if field.is_required { "" } else { "?" };
        let value = self.text(&field.value, indent, Binding::Union);
        let name = self.pay(format!("{}{}", comment.unwrap_or_default(), key(&field.name)));
        self.room.set(self.room.get().saturating_sub(2 * indent));
        format!("{name}{mark}: {value}")
    }
}

impl Keyword {
    const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
        }
    }
}
