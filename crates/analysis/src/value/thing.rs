//! Things: what is reached from somewhere by a path of members.

use std::cell::RefCell;
use std::rc::Rc;

use smallvec::SmallVec;
use swc_atoms::Atom;

use super::Value;

/// The step of a path that is a call.
pub(super) const RESULT: &str = "()";

/// The steps from where a thing starts: rarely more than two.
pub(crate) type Path = SmallVec<[Key; 2]>;

/// A path, and one step more.
pub(crate) fn below(path: &[Key], key: Key) -> Path {
    path.iter().cloned().chain([key]).collect()
}

/// Something that is reached from somewhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Thing {
    pub(crate) root: Root,
    pub(crate) path: Path,
    /// What the source says of what the path starts at.
    pub(crate) known: Option<Known>,
}

/// Something that the source makes, by its number in [`Names`](crate::names::Names).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Known {
    Function(u32),
    Object(u32),
    Class(u32),
    Instance(u32),
    /// An object that was put together while a function was worked out.
    Made(Rc<Made>),
    /// `new Map(…)`, `new TextDecoder()`: what a class of the language makes.
    Builtin(Atom),
}

/// The properties of an object that was put together.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) class: Option<u32>,
    pub(crate) props: RefCell<Vec<(Atom, Value)>>,
}

impl PartialEq for Made {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// Where a path starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Root {
    /// The global object: the path of `fetch` is `[fetch]`, that of `globalThis` is empty.
    Global,
    /// A module that is required or imported.
    Module(Atom),
    /// A literal: function, class, object, array, text.
    Literal(Literal),
    /// `this` outside of a class and of an object's method.
    This,
    /// The parameters of a tool.
    Params,
    /// Anything else, such as a local variable that is assigned twice.
    Somewhere,
}

/// What kind of literal a path starts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literal {
    Function,
    Class,
    Object,
    Other,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Name(Atom),
    /// A member that is computed from something that is not known.
    Dynamic,
}

impl Key {
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Dynamic => None,
        }
    }
}

impl Thing {
    /// The names of the path, if all are known.
    pub(crate) fn names(&self) -> Option<SmallVec<[&str; 6]>> {
        self.path.iter().map(Key::name).collect()
    }

    /// Whether this is the global of this path: `["process", "env"]`, or something below it.
    pub(crate) fn is_global_below(&self, path: &[&str]) -> bool {
        self.root == Root::Global
            && self.path.len() >= path.len()
            && self.path.iter().zip(path).all(|(key, name)| key.name() == Some(name))
    }

    /// Whether this is one of the globals of these paths, or something below one.
    pub(crate) fn is_global_below_any(&self, paths: &[&[&str]]) -> bool {
        let (Root::Global, Some(first)) = (&self.root, self.path.first().and_then(Key::name)) else { return false };
        paths.iter().any(|path| path.first() == Some(&first) && self.is_global_below(path))
    }

    /// The module and the names below it.
    pub(crate) fn module(&self) -> Option<&str> {
        match &self.root {
            Root::Module(name) => Some(name.strip_prefix("node:").unwrap_or(name)),
            _ => None,
        }
    }

    /// Whether this is something that a call gave, or a member of that.
    pub(crate) fn is_result(&self) -> bool {
        self.path.iter().any(|key| key.name() == Some(RESULT))
    }

    /// The last name of the path.
    pub(crate) fn last(&self) -> Option<&str> {
        self.path.last().and_then(Key::name)
    }

    /// The path as it would be written.
    pub(crate) fn shown(&self) -> String {
        let mut shown = match &self.root {
            Root::Global if self.path.is_empty() => "globalThis".to_owned(),
            Root::Global => String::new(),
            Root::Module(name) => name.to_string(),
            Root::Literal(Literal::Function) => "(function)".to_owned(),
            Root::Literal(_) | Root::Somewhere => "…".to_owned(),
            Root::This => "this".to_owned(),
            Root::Params => "params".to_owned(),
        };
        for key in &self.path {
            match key {
                Key::Name(name) if shown.is_empty() || &**name == RESULT => shown.push_str(name),
                Key::Name(name) => {
                    shown.push('.');
                    shown.push_str(name);
                }
                Key::Dynamic => shown.push_str("[…]"),
            }
        }
        shown
    }
}
