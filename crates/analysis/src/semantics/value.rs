//! Constant values of expressions, as far as they are known without running the source.
//!
//! A value is a constant, or an access path: `fs["r" + "m"]` is the member `rm` of the module `fs`,
//! in whatever form it is written. Constant folding follows ECMA-262 for strings and small numbers.
//!
//! Invariant: an uncertain value is [`Value::Unknown`]; an access path never has a key that the
//! source does not read.

mod access_path;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use swc_atoms::Atom;

use access_path::CALL_STEP;
pub(crate) use access_path::{AccessPath, Allocation, EvaluatedObject, Key, KeyPath, Literal, Root, append_key};

/// The maximum length of a folded text, in bytes.
const MAX_TEXT_BYTES: usize = 8 << 10;

/// The maximum length of a list that is tracked.
const MAX_LIST_LEN: usize = 2000;

/// The maximum number of parts, in nested lists, of a text.
const MAX_TEXT_PARTS: u32 = 4096;

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Unknown,
    Text(Atom),
    Number(f64),
    Bool(bool),
    Null,
    Undefined,
    /// A regular expression: pattern and flags.
    Pattern(Atom, Atom),
    /// A list with known elements.
    List(Rc<[Value]>),
    Path(Rc<AccessPath>),
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        if text.len() > MAX_TEXT_BYTES { Self::Unknown } else { Self::Text(text.into()) }
    }

    /// Creates a text from an interned name or text of the source.
    pub(crate) fn name(name: &Atom) -> Self {
        if name.len() > MAX_TEXT_BYTES { Self::Unknown } else { Self::Text(name.clone()) }
    }

    pub(crate) fn path(root: Root, path: KeyPath) -> Self {
        Self::Path(Rc::new(AccessPath { root, keys: path, allocation: None }))
    }

    /// Creates a path without keys.
    pub(crate) fn root(root: Root) -> Self {
        Self::path(root, KeyPath::new())
    }

    /// Creates a value that the source allocates.
    pub(crate) fn allocated(literal: Literal, known: Allocation) -> Self {
        Self::Path(Rc::new(AccessPath { root: Root::Literal(literal), keys: KeyPath::new(), allocation: Some(known) }))
    }

    /// Creates an object with properties.
    pub(crate) fn from_props(props: Vec<(Atom, Self)>) -> Self {
        Self::allocated(
            Literal::Object,
            Allocation::Evaluated(Rc::new(EvaluatedObject { class: None, props: RefCell::new(props) })),
        )
    }

    /// Returns what the source allocated, if this is the allocation itself and not a member of it.
    pub(crate) fn as_allocation(&self) -> Option<&Allocation> {
        self.as_path().filter(|thing| thing.keys.is_empty()).and_then(|thing| thing.allocation.as_ref())
    }

    /// Returns whether enough is known of the value for a function to compute something with it.
    pub(crate) fn is_known(&self) -> bool {
        match self {
            Self::Unknown | Self::Undefined => false,
            Self::Path(thing) => matches!(thing.root, Root::Global | Root::Module(_)) || thing.allocation.is_some(),
            _ => true,
        }
    }

    /// Returns the value if it is rooted at a global or a module, else [`Value::Unknown`]. Used for
    /// values that are only possible.
    pub(crate) fn external_or_unknown(self) -> Self {
        match self {
            Self::Path(thing) if matches!(thing.root, Root::Global | Root::Module(_)) => Self::Path(thing),
            _ => Self::Unknown,
        }
    }

    pub(crate) fn global(name: &str) -> Self {
        match name {
            "undefined" => Self::Undefined,
            "NaN" => Self::Number(f64::NAN),
            "Infinity" => Self::Number(f64::INFINITY),
            // The names of the global object.
            "globalThis" | "window" | "self" | "global" | "frames" => Self::root(Root::Global),
            _ => Self::path(Root::Global, KeyPath::from_iter([Key::Name(name.into())])),
        }
    }

    /// Creates the value of a module's export. Some modules are globals under another name.
    pub(crate) fn module(name: &str, path: KeyPath) -> Self {
        let global = match name.strip_prefix("node:").unwrap_or(name) {
            "bun" => "Bun",
            "process" => "process",
            _ => return Self::path(Root::Module(name.into()), path),
        };
        let path = path.into_iter().filter(|key| key.name() != Some("default"));
        Self::path(Root::Global, std::iter::once(Key::Name(global.into())).chain(path).collect())
    }

    /// Returns the result of a call of this value: a file, a connection.
    pub(crate) fn call_result(&self) -> Self {
        match self {
            Self::Path(thing) if thing.root != Root::Unknown && thing.keys.len() < 16 => {
                Self::path(thing.root.clone(), append_key(&thing.keys, Key::Name(CALL_STEP.into())))
            }
            _ => Self::root(Root::Unknown),
        }
    }

    pub(crate) fn as_path(&self) -> Option<&AccessPath> {
        match self {
            Self::Path(thing) => Some(thing),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn into_text(self) -> Option<Atom> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Converts the value to a boolean (ECMA-262 `ToBoolean`).
    pub(crate) fn to_boolean(&self) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Text(text) => Some(!text.is_empty()),
            Self::Number(number) => Some(*number != 0.0 && !number.is_nan()),
            Self::Bool(value) => Some(*value),
            Self::Null | Self::Undefined => Some(false),
            Self::Pattern(..) | Self::List(_) => Some(true),
            Self::Path(thing) => match &thing.root {
                Root::Literal(_) if thing.keys.is_empty() => Some(true),
                _ => None,
            },
        }
    }

    /// Creates a list; a very long one is data, and becomes an opaque literal.
    pub(crate) fn list(list: Vec<Self>) -> Self {
        if list.len() > MAX_LIST_LEN { Self::root(Root::Literal(Literal::Other)) } else { Self::List(list.into()) }
    }

    /// Converts the value to text, as `String(value)`.
    pub(crate) fn to_js_string(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.to_string()),
            value => {
                let mut text = String::new();
                value.write_js_string(&mut text, ",", &mut MAX_TEXT_PARTS.clone()).map(|()| text)
            }
        }
    }

    /// Returns the key of `object[value]`.
    pub(crate) fn as_key(&self) -> Key {
        match self {
            // The text as interned by the parser.
            Self::Text(name) => Key::Name(name.clone()),
            value => value.to_js_string().map_or(Key::Dynamic, |name| Key::Name(name.into())),
        }
    }

    /// Appends the text of the value; nested lists are flattened.
    fn write_js_string(&self, text: &mut String, between: &str, parts: &mut u32) -> Option<()> {
        *parts = parts.checked_sub(1)?;
        match self {
            Self::Text(more) => text.push_str(more),
            Self::Number(number) => text.push_str(&number_to_string(*number)?),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Null => text.push_str("null"),
            Self::Undefined => text.push_str("undefined"),
            Self::List(list) => {
                for (index, value) in list.iter().enumerate() {
                    if index > 0 {
                        text.push_str(between);
                    }
                    if !matches!(value, Self::Null | Self::Undefined) {
                        value.write_js_string(text, ",", parts)?;
                    }
                }
            }
            Self::Path(thing) => match (&thing.root, thing.keys.as_slice()) {
                (Root::Literal(Literal::Object), []) => text.push_str("[object Object]"),
                // A method of a list or a text, with the start that every engine prints.
                (Root::Literal(Literal::Other), [Key::Name(name)]) => {
                    let _ = write!(text, "function {name}() {{ [native code] }}");
                }
                _ => return None,
            },
            Self::Unknown | Self::Pattern(..) => return None,
        }
        (text.len() <= MAX_TEXT_BYTES).then_some(())
    }

    /// Converts the value to a number, as `Number(value)`.
    pub(crate) fn to_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            Self::Null => Some(0.0),
            Self::Undefined => Some(f64::NAN),
            Self::Text(text) => {
                let text = text.trim();
                if text.is_empty() { Some(0.0) } else { text.parse().ok() }
            }
            Self::List(list) => match &**list {
                [] => Some(0.0),
                [one] => one.to_number(),
                _ => Some(f64::NAN),
            },
            _ => None,
        }
    }

    /// Evaluates `self + right`.
    pub(crate) fn plus(&self, right: &Self) -> Self {
        let texts = |value: &Self| matches!(value, Self::Text(_) | Self::List(_) | Self::Path(_));
        if texts(self) || texts(right) {
            return match (self.to_js_string(), right.to_js_string()) {
                (Some(left), Some(right)) => Self::text(&(left + &right)),
                _ => Self::Unknown,
            };
        }
        match (self.to_number(), right.to_number()) {
            (Some(left), Some(right)) => Self::Number(left + right),
            _ => Self::Unknown,
        }
    }

    /// Evaluates `self[key]`.
    pub(crate) fn member(&self, key: &Self) -> Self {
        match self {
            Self::List(list) => match key {
                Self::Number(index) => {
                    as_index(*index).map_or(Self::Unknown, |index| list.get(index).cloned().unwrap_or(Self::Undefined))
                }
                Self::Text(name) if &**name == "length" => Self::Number(len_to_number(list.len())),
                Self::Text(name) => match name.parse::<usize>() {
                    Ok(index) => list.get(index).cloned().unwrap_or(Self::Undefined),
                    Err(_) if name.is_empty() => Self::Undefined,
                    Err(_) => Self::member_of(Root::Literal(Literal::Other), key),
                },
                Self::Unknown | Self::Path(_) => Self::Unknown,
                key => match key.to_js_string() {
                    Some(name) => self.member(&Self::text(&name)),
                    None => Self::Unknown,
                },
            },
            Self::Text(text) => match key {
                Self::Number(index) => as_index(*index)
                    .and_then(|index| text.chars().nth(index))
                    .map_or(Self::Undefined, |letter| Self::text(letter.encode_utf8(&mut [0; 4]))),
                Self::Text(name) if &**name == "length" => Self::Number(len_to_number(text.encode_utf16().count())),
                _ => Self::member_of(Root::Literal(Literal::Other), key),
            },
            Self::Number(_) | Self::Bool(_) | Self::Pattern(..) => Self::member_of(Root::Literal(Literal::Other), key),
            Self::Path(_) => self.append_key(key),
            Self::Unknown => Self::member_of(Root::Unknown, key),
            Self::Null | Self::Undefined => Self::Unknown,
        }
    }

    fn member_of(root: Root, key: &Self) -> Self {
        Self::path(root, KeyPath::from_iter([key.as_key()]))
    }

    fn append_key(&self, key: &Self) -> Self {
        let Some(thing) = self.as_path() else { return Self::Unknown };
        let key = key.as_key();
        // `globalThis.window` is the global object again.
        if thing.root == Root::Global && thing.keys.is_empty() && key != Key::Dynamic {
            return Self::global(key.name().unwrap_or_default());
        }
        if thing.keys.len() >= 16 {
            return Self::Unknown;
        }
        let path = append_key(&thing.keys, key);
        Self::Path(Rc::new(AccessPath { root: thing.root.clone(), keys: path, allocation: thing.allocation.clone() }))
    }
}

/// Joins the texts of the elements.
pub(crate) fn join_list(list: &Rc<[Value]>, between: &str) -> Option<String> {
    let mut text = String::new();
    Value::List(Rc::clone(list)).write_js_string(&mut text, between, &mut MAX_TEXT_PARTS.clone()).map(|()| text)
}

/// Returns a number as JavaScript prints it, if it is below 1e21.
fn number_to_string(number: f64) -> Option<String> {
    if number.is_nan() {
        return Some("NaN".to_owned());
    }
    if number.is_infinite() {
        return Some(if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned());
    }
    (number.abs() < 1e21).then(|| number.to_string())
}

/// Returns a number as an index, if it is a whole number of at most 1e6.
pub(crate) fn as_index(number: f64) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range, as was just checked")]
    ((0.0..=1e6).contains(&number) && number.fract() == 0.0).then_some(number as usize)
}

pub(crate) fn len_to_number(len: usize) -> f64 {
    f64::from(u32::try_from(len).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_as_javascript_does() {
        assert_eq!(Value::text("a").plus(&Value::Number(1.0)), Value::text("a1"));
        assert_eq!(Value::Number(1.0).plus(&Value::Bool(true)), Value::Number(2.0));
        assert_eq!(Value::List(Rc::new([])).plus(&Value::Bool(false)), Value::text("false"));
        assert_eq!(Value::text("false").member(&Value::Number(1.0)), Value::text("a"));
        assert_eq!(Value::Unknown.plus(&Value::text("a")), Value::Unknown);
    }

    #[test]
    fn the_global_object_is_one_whatever_it_is_called() {
        let fetch = Value::global("globalThis").member(&Value::text("window")).member(&Value::text("fetch"));
        assert_eq!(fetch, Value::global("fetch"));
        assert_eq!(fetch.as_path().unwrap().to_source(), "fetch");
    }
}
