//! Facts about a source, collected in one visit: uses of access paths, calls, writes, texts,
//! regular expressions.
//!
//! Invariant: expressions in types, and names that only types use, are in no list.

mod collect;
mod desugar_call;
mod prefix;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::Program;
use swc_ecma_visit::VisitWith;

use crate::semantics::bindings::Bindings;
use crate::semantics::value::{AccessPath, Key, Root, Value};
use crate::syntax::imports::Imports;
use collect::FactCollector;
pub(crate) use prefix::known_prefix;

/// The way in which a value is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UseKind {
    Plain,
    Called,
    /// Assigned to a name: uses of the name are recorded where they occur.
    Aliased,
    /// Only tested for its type: `typeof fetch`, `x instanceof Function`.
    TypeTested,
}

/// A use of an access path as a whole: in `a.b.c` that is `a.b.c`, not `a.b`.
pub(crate) struct Use {
    pub(crate) path: Rc<AccessPath>,
    pub(crate) kind: UseKind,
    pub(crate) span: Span,
}

/// A call in any form: `f(x)`, `new F(x)`, `f.call(_, x)`, `Reflect.apply(f, _, [x])`, a tagged
/// template.
pub(crate) struct Call {
    pub(crate) callee: Value,
    pub(crate) args: Vec<Value>,
    /// The known prefix of each of the first arguments.
    pub(crate) prefixes: Vec<String>,
    pub(crate) is_new: bool,
    pub(crate) span: Span,
}

/// A write to a member, or to a global.
pub(crate) struct Write {
    pub(crate) target: Value,
    pub(crate) span: Span,
}

/// A literal text, and the name that it is assigned to.
pub(crate) struct Text {
    pub(crate) value: Atom,
    /// The text as written, with its escapes.
    pub(crate) raw: Atom,
    /// The variable, property or parameter that it is assigned to.
    pub(crate) name: Option<Atom>,
    pub(crate) span: Span,
}

/// A computed member whose name is assembled: `x["ev" + "al"]`.
pub(crate) struct ComputedName {
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// The facts of a source.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) uses: Vec<Use>,
    /// Uses of call results: `(await open(path)).write`.
    pub(crate) result_uses: Vec<Use>,
    pub(crate) calls: Vec<Call>,
    pub(crate) writes: Vec<Write>,
    pub(crate) texts: Vec<Text>,
    pub(crate) regexes: Vec<(Atom, Atom, Span)>,
    pub(crate) modules: Vec<(String, Span)>,
    pub(crate) computed_names: Vec<ComputedName>,
    pub(crate) import_meta: Vec<Span>,
    /// Computed members of the global object.
    pub(crate) global_lookups: Vec<Span>,
    pub(crate) idents: Vec<(Atom, Span)>,
    pub(crate) with_statements: Vec<Span>,
    /// The uses of each global, by its name.
    uses_by_global: FxHashMap<Atom, Vec<usize>>,
}

impl Facts {
    /// Collects the facts of a program.
    pub(crate) fn collect(program: &Program, imports: &Imports, names: &Bindings<'_>) -> Self {
        let mut walk = FactCollector::new(names, imports);
        program.visit_with(&mut walk);
        let mut facts = walk.facts;
        for (index, used) in facts.uses.iter().enumerate() {
            if let (Root::Global, Some(Key::Name(name))) = (&used.path.root, used.path.keys.first()) {
                facts.uses_by_global.entry(name.clone()).or_default().push(index);
            }
        }
        facts
    }

    /// Returns the uses of a global path and of its members, without type tests.
    pub(crate) fn uses_of_global<'a>(&'a self, path: &'a [&'a str]) -> impl Iterator<Item = &'a Use> {
        let uses = path
            .first()
            .and_then(|name| self.uses_by_global.get(&Atom::from(*name)))
            .map(Vec::as_slice)
            .unwrap_or_default();
        uses.iter()
            .map(|index| &self.uses[*index])
            .filter(move |used| used.kind != UseKind::TypeTested && used.path.is_global_below(path))
    }
}
