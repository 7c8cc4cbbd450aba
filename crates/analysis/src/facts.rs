//! What a source does, noted in one walk: uses of things, calls, writes, texts, patterns.
//!
//! Invariant: an expression in a type, and a name that only types use, is in no list.

mod direct;
mod prefix;
mod walk;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::Program;
use swc_ecma_visit::VisitWith;

use crate::imports::Imports;
use crate::names::Names;
use crate::value::{Key, Root, Thing, Value};
pub(crate) use prefix::prefix;
use walk::Walk;

/// How a thing is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    Called,
    /// Given a name: what is done with the name is noted where it is done.
    Named,
    /// Asked about without being used: `typeof fetch`, `x instanceof Function`.
    AskedAbout,
}

/// A thing, where it is used as a whole: of `a.b.c` that is `a.b.c`, not `a.b`.
pub(crate) struct Use {
    pub(crate) thing: Rc<Thing>,
    pub(crate) role: Role,
    pub(crate) span: Span,
}

/// A call, whatever road it takes: `f(x)`, `new F(x)`, `f.call(_, x)`, `Reflect.apply(f, _, [x])`, a tagged template.
pub(crate) struct Call {
    pub(crate) callee: Value,
    pub(crate) args: Vec<Value>,
    /// The text that each of the first arguments certainly begins with.
    pub(crate) prefixes: Vec<String>,
    pub(crate) new: bool,
    pub(crate) span: Span,
}

/// A write to a member.
pub(crate) struct Write {
    pub(crate) target: Value,
    pub(crate) span: Span,
}

/// A literal text and the name that it is given.
pub(crate) struct Text {
    pub(crate) value: Atom,
    /// As it is written, with its escapes.
    pub(crate) raw: Atom,
    /// The variable, property or parameter that it becomes the value of.
    pub(crate) name: Option<Atom>,
    pub(crate) span: Span,
}

/// A computed member whose name is put together: `x["ev" + "al"]`.
pub(crate) struct Assembled {
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// Everything that was noted.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) uses: Vec<Use>,
    /// Uses of what calls of things gave: `(await open(path)).write`.
    pub(crate) results: Vec<Use>,
    pub(crate) calls: Vec<Call>,
    pub(crate) writes: Vec<Write>,
    pub(crate) texts: Vec<Text>,
    pub(crate) patterns: Vec<(Atom, Atom, Span)>,
    pub(crate) modules: Vec<(String, Span)>,
    pub(crate) assembled: Vec<Assembled>,
    pub(crate) import_meta: Vec<Span>,
    /// Members of the global object whose name is not written out.
    pub(crate) global_lookups: Vec<Span>,
    pub(crate) idents: Vec<(Atom, Span)>,
    pub(crate) with_statements: Vec<Span>,
    /// The uses of each global, by its name.
    of_global: FxHashMap<Atom, Vec<usize>>,
}

impl Facts {
    /// Walks a program.
    pub(crate) fn of(program: &Program, imports: &Imports, names: &Names<'_>) -> Self {
        let mut walk = Walk::new(names, imports);
        program.visit_with(&mut walk);
        let mut facts = walk.facts;
        for (index, used) in facts.uses.iter().enumerate() {
            if let (Root::Global, Some(Key::Name(name))) = (&used.thing.root, used.thing.path.first()) {
                facts.of_global.entry(name.clone()).or_default().push(index);
            }
        }
        facts
    }

    /// The uses of globals below a path, asked-about ones left out.
    pub(crate) fn globals<'a>(&'a self, path: &'a [&'a str]) -> impl Iterator<Item = &'a Use> {
        let uses =
            path.first().and_then(|name| self.of_global.get(&Atom::from(*name))).map(Vec::as_slice).unwrap_or_default();
        uses.iter()
            .map(|index| &self.uses[*index])
            .filter(move |used| used.role != Role::AskedAbout && used.thing.is_global_below(path))
    }
}
