//! Access paths: a root, and a sequence of member keys.

use std::cell::RefCell;
use std::rc::Rc;

use smallvec::SmallVec;
use swc_atoms::Atom;

use super::Value;

/// The key that stands for a call.
pub(super) const CALL_STEP: &str = "()";

/// The keys from the root: rarely more than two.
pub(crate) type KeyPath = SmallVec<[Key; 2]>;

/// Returns a path extended by one key.
pub(crate) fn append_key(path: &[Key], key: Key) -> KeyPath {
    path.iter().cloned().chain([key]).collect()
}

/// An access path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AccessPath {
    pub(crate) root: Root,
    pub(crate) keys: KeyPath,
    /// The allocation of the source at the root of the path.
    pub(crate) allocation: Option<Allocation>,
}

/// An allocation of the source, by its number in [`Bindings`](crate::semantics::bindings::Bindings).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Allocation {
    Function(u32),
    Object(u32),
    Class(u32),
    Instance(u32),
    /// An object that was built during the evaluation of a call.
    Evaluated(Rc<EvaluatedObject>),
    /// An instance of a built-in class: `new TextDecoder()`.
    Builtin(Atom),
}

/// The properties of an object that was built during evaluation.
#[derive(Debug, Default)]
pub(crate) struct EvaluatedObject {
    pub(crate) class: Option<u32>,
    pub(crate) props: RefCell<Vec<(Atom, Value)>>,
}

impl PartialEq for EvaluatedObject {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// The root of an access path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Root {
    /// The global object: the keys of `fetch` are `[fetch]`, those of `globalThis` are empty.
    Global,
    /// A required or imported module.
    Module(Atom),
    /// A literal: function, class, object, array, text.
    Literal(Literal),
    /// `this` outside of a class and of an object's method.
    This,
    /// The parameters of a tool.
    Params,
    /// Anything else, such as a local variable that is assigned twice.
    Unknown,
}

/// The kind of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literal {
    Function,
    Class,
    Object,
    Other,
}

/// A key of an access path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Name(Atom),
    /// A computed key with an unknown value.
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

impl AccessPath {
    /// Returns the names of the keys, if all are known.
    pub(crate) fn names(&self) -> Option<SmallVec<[&str; 6]>> {
        self.keys.iter().map(Key::name).collect()
    }

    /// Returns whether this is the global at a path such as `["process", "env"]`, or a member below
    /// it.
    pub(crate) fn is_global_below(&self, path: &[&str]) -> bool {
        self.root == Root::Global
            && self.keys.len() >= path.len()
            && self.keys.iter().zip(path).all(|(key, name)| key.name() == Some(name))
    }

    /// Returns whether this is a global at one of these paths, or a member below one.
    pub(crate) fn is_global_below_any(&self, paths: &[&[&str]]) -> bool {
        let (Root::Global, Some(first)) = (&self.root, self.keys.first().and_then(Key::name)) else { return false };
        paths.iter().any(|path| path.first() == Some(&first) && self.is_global_below(path))
    }

    /// Returns the name of the module at the root, without `node:`.
    pub(crate) fn module_name(&self) -> Option<&str> {
        match &self.root {
            Root::Module(name) => Some(name.strip_prefix("node:").unwrap_or(name)),
            _ => None,
        }
    }

    /// Returns whether this is a call result, or a member of one.
    pub(crate) fn is_result(&self) -> bool {
        self.keys.iter().any(|key| key.name() == Some(CALL_STEP))
    }

    /// Returns the last key, if it is known.
    pub(crate) fn last_name(&self) -> Option<&str> {
        self.keys.last().and_then(Key::name)
    }

    /// Returns the path as source text.
    pub(crate) fn to_source(&self) -> String {
        let mut shown = match &self.root {
            Root::Global if self.keys.is_empty() => "globalThis".to_owned(),
            Root::Global => String::new(),
            Root::Module(name) => name.to_string(),
            Root::Literal(Literal::Function) => "(function)".to_owned(),
            Root::Literal(_) | Root::Unknown => "…".to_owned(),
            Root::This => "this".to_owned(),
            Root::Params => "params".to_owned(),
        };
        for key in &self.keys {
            match key {
                Key::Name(name) if shown.is_empty() || &**name == CALL_STEP => shown.push_str(name),
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
