//! Where each name of a source is changed, and how, for the rules that ask whether a loop can ever end.
//!
//! One pass over the tree. Everything is kept in the order of the source, so that what happens inside of a loop is a
//! range, and asking for it is a binary search.
//!
//! Invariant: a change that is not understood is [`Kind::Other`] or [`Kind::Mutated`], never left out.

mod kinds;
mod noting;

use rustc_hash::{FxHashMap, FxHashSet};
use swc_atoms::Atom;
use swc_ecma_ast::{Expr, Id, Program};
use swc_ecma_visit::VisitWith;

use crate::names::{Names, bare};
pub(super) use kinds::{Kind, Range, Use, harmless_method, own_key, plain_method};

/// Every use of every name.
pub(super) struct Uses {
    writes: FxHashMap<Id, Vec<Use>>,
    contents: FxHashMap<Id, Vec<Use>>,
    /// Writes to members, by the key.
    keys: FxHashMap<Atom, Vec<Use>>,
    /// Writes to members whose key is not known, and all that change some content.
    dynamic: Vec<u32>,
    changing: Vec<u32>,
    /// Where something else may run: calls of what is not known to be harmless, `await`, `yield`.
    effects: Vec<u32>,
    /// In which function each name is declared, and whether with a value that nobody else has.
    declared: FxHashMap<Id, (u32, bool)>,
    pub(super) getters: FxHashSet<Atom>,
    /// Functions that may end with an error of their own, by their name.
    pub(super) throwing: FxHashSet<Atom>,
    /// Names that are called or mentioned at all, of those that stop timers.
    pub(super) clears: bool,
}

impl Uses {
    pub(super) fn of(program: &Program, names: &Names) -> Self {
        let uses = Self {
            writes: FxHashMap::default(),
            contents: FxHashMap::default(),
            keys: FxHashMap::default(),
            dynamic: Vec::new(),
            changing: Vec::new(),
            effects: Vec::new(),
            declared: FxHashMap::default(),
            getters: FxHashSet::default(),
            throwing: FxHashSet::default(),
            clears: false,
        };
        let mut noting = noting::Noting::new(uses, names);
        program.visit_with(&mut noting);
        let mut uses = noting.uses;
        // Children are seen after what is around them here and there.
        uses.writes.values_mut().chain(uses.contents.values_mut()).for_each(|list| list.sort_by_key(|one| one.at));
        uses.keys.values_mut().for_each(|list| list.sort_by_key(|one| one.at));
        for list in [&mut uses.dynamic, &mut uses.changing, &mut uses.effects] {
            list.sort_unstable();
        }
        uses
    }

    /// The changes of a name within a range; `None` where there are too many to look at.
    pub(super) fn writes_in(&self, id: &Id, range: Range) -> Option<&[Use]> {
        within(self.writes.get(id), range)
    }

    /// What happens within a range to what a name stands for.
    pub(super) fn contents_in(&self, id: &Id, range: Range) -> Option<&[Use]> {
        within(self.contents.get(id), range)
    }

    /// All changes of a name.
    pub(super) fn writes(&self, id: &Id) -> &[Use] {
        self.writes.get(id).map_or(&[], Vec::as_slice)
    }

    /// Whether something that is not seen may run within a range.
    pub(super) fn others_run(&self, range: Range) -> bool {
        any(&self.effects, range)
    }

    /// Whether a name can be changed within the range only by what stands there.
    pub(super) fn is_own(&self, id: &Id, range: Range) -> bool {
        let Some((home, _)) = self.declared.get(id) else { return false };
        if !self.others_run(range) {
            return true;
        }
        if self.writes(id).len() > 256 {
            return false;
        }
        let foreign = |one: &Use| one.function != range.function || *home != range.function;
        self.writes(id).iter().all(|one| {
            matches!(one.kind, Kind::Declared | Kind::Begun(_) | Kind::Large) || range.holds(one.at) || !foreign(one)
        })
    }

    /// Whether a name keeps its value within the range.
    pub(super) fn is_fixed(&self, id: &Id, range: Range) -> bool {
        self.writes_in(id, range).is_some_and(<[Use]>::is_empty) && self.is_own(id, range)
    }

    /// Whether a list, map or text keeps its content within the range.
    pub(super) fn is_content_fixed(&self, id: &Id, range: Range) -> bool {
        if !self.is_fixed(id, range) || !self.contents_in(id, range).is_some_and(<[Use]>::is_empty) {
            return false;
        }
        let fresh = self.declared.get(id).is_some_and(|(_, fresh)| *fresh);
        let everywhere = self.contents.get(id).map_or(&[][..], Vec::as_slice);
        let alone = fresh && !everywhere.iter().any(|one| one.kind == Kind::Plain);
        if self.others_run(range) {
            return alone && everywhere.iter().all(|one| one.function == range.function);
        }
        alone || !any(&self.changing, range)
    }

    /// Whether no member of this name is changed within the range, of whatever object.
    pub(super) fn is_key_fixed(&self, key: &Atom, range: Range) -> bool {
        let writes = self.keys.get(key).map_or(&[][..], Vec::as_slice);
        let inside = |at: u32| range.holds(at);
        if self.getters.contains(key) || any(&self.dynamic, range) || writes.iter().take(64).any(|one| inside(one.at)) {
            return false;
        }
        !self.others_run(range) || (writes.iter().all(|one| one.kind == Kind::Declared) && self.dynamic.is_empty())
    }

    /// Whether nobody outside of the source holds what this name stands for.
    pub(super) fn is_fresh(&self, id: &Id) -> bool {
        self.declared.get(id).is_some_and(|(_, fresh)| *fresh)
    }
}

fn within(list: Option<&Vec<Use>>, range: Range) -> Option<&[Use]> {
    let list = list.map_or(&[][..], Vec::as_slice);
    let start = list.partition_point(|one| one.at < range.start);
    let end = list.partition_point(|one| one.at < range.end);
    list.get(start..end).filter(|found| found.len() <= 64)
}

fn any(list: &[u32], range: Range) -> bool {
    list.get(list.partition_point(|at| *at < range.start)).is_some_and(|at| *at < range.end)
}

/// The name at which a chain of members begins.
pub(super) fn root(expr: &Expr) -> Option<Id> {
    let mut at = bare(expr);
    loop {
        match at {
            Expr::Ident(ident) => return Some(ident.to_id()),
            Expr::Member(member) => at = bare(&member.obj),
            _ => return None,
        }
    }
}
