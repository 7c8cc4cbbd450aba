//! What an expression stands for, as far as it can be known without running it.
//!
//! A value is a constant, or a thing with a path: `fs["r" + "m"]` is the member `rm` of the module `fs`, whatever it is
//! written as. Constant folding is that of ECMA-262 for strings and small numbers.
//!
//! Invariant: what is not certain is [`Value::Unknown`]; a thing's path never claims a member that is not there.

mod thing;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use swc_atoms::Atom;

use thing::RESULT;
pub(crate) use thing::{Key, Known, Literal, Made, Path, Root, Thing, below};

/// The longest text that is folded, in bytes.
const TEXT: usize = 8 << 10;

/// The longest list that is followed.
const LIST: usize = 2000;

/// The most parts, in lists within lists, that a text is made of.
const PARTS: u32 = 4096;

/// What an expression stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Unknown,
    Text(Atom),
    Number(f64),
    Bool(bool),
    Null,
    Undefined,
    /// A regular expression: its pattern and flags.
    Pattern(Atom, Atom),
    /// A list whose members are known.
    List(Rc<[Value]>),
    Thing(Rc<Thing>),
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        if text.len() > TEXT { Self::Unknown } else { Self::Text(text.into()) }
    }

    /// A name or text of the source.
    pub(crate) fn name(name: &Atom) -> Self {
        if name.len() > TEXT { Self::Unknown } else { Self::Text(name.clone()) }
    }

    pub(crate) fn thing(root: Root, path: Path) -> Self {
        Self::Thing(Rc::new(Thing { root, path, known: None }))
    }

    /// What paths start at.
    pub(crate) fn root(root: Root) -> Self {
        Self::thing(root, Path::new())
    }

    /// Something that the source makes.
    pub(crate) fn known(literal: Literal, known: Known) -> Self {
        Self::Thing(Rc::new(Thing { root: Root::Literal(literal), path: Path::new(), known: Some(known) }))
    }

    /// An object with these properties.
    pub(crate) fn made(props: Vec<(Atom, Self)>) -> Self {
        Self::known(Literal::Object, Known::Made(Rc::new(Made { class: None, props: RefCell::new(props) })))
    }

    /// What the source makes, if this is it and no member of it.
    pub(crate) fn as_known(&self) -> Option<&Known> {
        self.as_thing().filter(|thing| thing.path.is_empty()).and_then(|thing| thing.known.as_ref())
    }

    /// Whether anything is known of it that a function could make something of.
    pub(crate) fn is_known(&self) -> bool {
        match self {
            Self::Unknown | Self::Undefined => false,
            Self::Thing(thing) => matches!(thing.root, Root::Global | Root::Module(_)) || thing.known.is_some(),
            _ => true,
        }
    }

    /// Of a value that may be another one, what matters is whether it may be a global or a module.
    pub(crate) fn reached(self) -> Self {
        match self {
            Self::Thing(thing) if matches!(thing.root, Root::Global | Root::Module(_)) => Self::Thing(thing),
            _ => Self::Unknown,
        }
    }

    pub(crate) fn global(name: &str) -> Self {
        match name {
            "undefined" => Self::Undefined,
            "NaN" => Self::Number(f64::NAN),
            "Infinity" => Self::Number(f64::INFINITY),
            // The names by which the global object is reached.
            "globalThis" | "window" | "self" | "global" | "frames" => Self::root(Root::Global),
            _ => Self::thing(Root::Global, Path::from_iter([Key::Name(name.into())])),
        }
    }

    /// What a module gives. Some are globals by another name.
    pub(crate) fn module(name: &str, path: Path) -> Self {
        let global = match name.strip_prefix("node:").unwrap_or(name) {
            "bun" => "Bun",
            "process" => "process",
            _ => return Self::thing(Root::Module(name.into()), path),
        };
        let path = path.into_iter().filter(|key| key.name() != Some("default"));
        Self::thing(Root::Global, std::iter::once(Key::Name(global.into())).chain(path).collect())
    }

    /// What a call of this thing gives: a file, a connection.
    pub(crate) fn result(&self) -> Self {
        match self {
            Self::Thing(thing) if thing.root != Root::Somewhere && thing.path.len() < 16 => {
                Self::thing(thing.root.clone(), below(&thing.path, Key::Name(RESULT.into())))
            }
            _ => Self::root(Root::Somewhere),
        }
    }

    pub(crate) fn as_thing(&self) -> Option<&Thing> {
        match self {
            Self::Thing(thing) => Some(thing),
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

    /// Whether a condition with this value holds.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Text(text) => Some(!text.is_empty()),
            Self::Number(number) => Some(*number != 0.0 && !number.is_nan()),
            Self::Bool(value) => Some(*value),
            Self::Null | Self::Undefined => Some(false),
            Self::Pattern(..) | Self::List(_) => Some(true),
            Self::Thing(thing) => match &thing.root {
                Root::Literal(_) if thing.path.is_empty() => Some(true),
                _ => None,
            },
        }
    }

    /// A list, unless it is so long that it is data.
    pub(crate) fn list(list: Vec<Self>) -> Self {
        if list.len() > LIST { Self::root(Root::Literal(Literal::Other)) } else { Self::List(list.into()) }
    }

    /// The text that `String(value)` gives.
    pub(crate) fn string(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.to_string()),
            value => {
                let mut text = String::new();
                value.write(&mut text, ",", &mut PARTS.clone()).map(|()| text)
            }
        }
    }

    /// The key of the member that `object[value]` is.
    pub(crate) fn as_key(&self) -> Key {
        match self {
            // As the parser interned it.
            Self::Text(name) => Key::Name(name.clone()),
            value => value.string().map_or(Key::Dynamic, |name| Key::Name(name.into())),
        }
    }

    /// Appends the text of this value; lists within lists are as long as they are written out.
    fn write(&self, text: &mut String, between: &str, parts: &mut u32) -> Option<()> {
        *parts = parts.checked_sub(1)?;
        match self {
            Self::Text(more) => text.push_str(more),
            Self::Number(number) => text.push_str(&number_text(*number)?),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Null => text.push_str("null"),
            Self::Undefined => text.push_str("undefined"),
            Self::List(list) => {
                for (index, value) in list.iter().enumerate() {
                    if index > 0 {
                        text.push_str(between);
                    }
                    if !matches!(value, Self::Null | Self::Undefined) {
                        value.write(text, ",", parts)?;
                    }
                }
            }
            Self::Thing(thing) => match (&thing.root, thing.path.as_slice()) {
                (Root::Literal(Literal::Object), []) => text.push_str("[object Object]"),
                // A method of a list or a text, as every engine begins to write it.
                (Root::Literal(Literal::Other), [Key::Name(name)]) => {
                    let _ = write!(text, "function {name}() {{ [native code] }}");
                }
                _ => return None,
            },
            Self::Unknown | Self::Pattern(..) => return None,
        }
        (text.len() <= TEXT).then_some(())
    }

    /// The number that `Number(value)` gives.
    pub(crate) fn number(&self) -> Option<f64> {
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
                [one] => one.number(),
                _ => Some(f64::NAN),
            },
            _ => None,
        }
    }

    /// `left + right`.
    pub(crate) fn plus(&self, right: &Self) -> Self {
        let texts = |value: &Self| matches!(value, Self::Text(_) | Self::List(_) | Self::Thing(_));
        if texts(self) || texts(right) {
            return match (self.string(), right.string()) {
                (Some(left), Some(right)) => Self::text(&(left + &right)),
                _ => Self::Unknown,
            };
        }
        match (self.number(), right.number()) {
            (Some(left), Some(right)) => Self::Number(left + right),
            _ => Self::Unknown,
        }
    }

    /// `self[key]`.
    pub(crate) fn member(&self, key: &Self) -> Self {
        match self {
            Self::List(list) => match key {
                Self::Number(index) => {
                    whole(*index).map_or(Self::Unknown, |index| list.get(index).cloned().unwrap_or(Self::Undefined))
                }
                Self::Text(name) if &**name == "length" => Self::Number(length(list.len())),
                Self::Text(name) => match name.parse::<usize>() {
                    Ok(index) => list.get(index).cloned().unwrap_or(Self::Undefined),
                    Err(_) if name.is_empty() => Self::Undefined,
                    Err(_) => Self::member_of(Root::Literal(Literal::Other), key),
                },
                Self::Unknown | Self::Thing(_) => Self::Unknown,
                key => match key.string() {
                    Some(name) => self.member(&Self::text(&name)),
                    None => Self::Unknown,
                },
            },
            Self::Text(text) => match key {
                Self::Number(index) => whole(*index)
                    .and_then(|index| text.chars().nth(index))
                    .map_or(Self::Undefined, |letter| Self::text(letter.encode_utf8(&mut [0; 4]))),
                Self::Text(name) if &**name == "length" => Self::Number(length(text.encode_utf16().count())),
                _ => Self::member_of(Root::Literal(Literal::Other), key),
            },
            Self::Number(_) | Self::Bool(_) | Self::Pattern(..) => Self::member_of(Root::Literal(Literal::Other), key),
            Self::Thing(_) => self.step(key),
            Self::Unknown => Self::member_of(Root::Somewhere, key),
            Self::Null | Self::Undefined => Self::Unknown,
        }
    }

    fn member_of(root: Root, key: &Self) -> Self {
        Self::thing(root, Path::from_iter([key.as_key()]))
    }

    fn step(&self, key: &Self) -> Self {
        let Some(thing) = self.as_thing() else { return Self::Unknown };
        let key = key.as_key();
        // `globalThis.window` is the global object again.
        if thing.root == Root::Global && thing.path.is_empty() && key != Key::Dynamic {
            return Self::global(key.name().unwrap_or_default());
        }
        if thing.path.len() >= 16 {
            return Self::Unknown;
        }
        let path = below(&thing.path, key);
        Self::Thing(Rc::new(Thing { root: thing.root.clone(), path, known: thing.known.clone() }))
    }
}

/// The members as text with something between them.
pub(crate) fn joined(list: &Rc<[Value]>, between: &str) -> Option<String> {
    let mut text = String::new();
    Value::List(Rc::clone(list)).write(&mut text, between, &mut PARTS.clone()).map(|()| text)
}

/// A number as JavaScript writes it, for whole numbers.
fn number_text(number: f64) -> Option<String> {
    if number.is_nan() {
        return Some("NaN".to_owned());
    }
    if number.is_infinite() {
        return Some(if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned());
    }
    (number.abs() < 1e21).then(|| number.to_string())
}

/// A whole number that can be an index.
pub(crate) fn whole(number: f64) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range, as was just checked")]
    ((0.0..=1e6).contains(&number) && number.fract() == 0.0).then_some(number as usize)
}

pub(crate) fn length(len: usize) -> f64 {
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
        assert_eq!(fetch.as_thing().unwrap().shown(), "fetch");
    }
}
