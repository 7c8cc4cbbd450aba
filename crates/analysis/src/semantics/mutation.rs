//! The mutations of names, for rules that decide whether a loop can end.
//!
//! They are collected in one visit, in source order, so the mutations inside of a loop are a range
//! that a binary search finds.
//!
//! Invariant: a change that is not understood is [`MutationKind::Other`] or
//! [`MutationKind::Mutated`], never omitted.

mod collect;
mod kinds;

use rustc_hash::{FxHashMap, FxHashSet};
use swc_atoms::Atom;
use swc_ecma_ast::{Expr, Id, Program};
use swc_ecma_visit::VisitWith;

use crate::semantics::bindings::Bindings;
use crate::syntax::expr::peel_parens;
pub(crate) use kinds::{
    Mutation, MutationKind, SourceRange, is_callback_free_method, is_nonmutating_method, static_key,
};

/// The mutations of all names.
pub(crate) struct Mutations {
    writes: FxHashMap<Id, Vec<Mutation>>,
    contents: FxHashMap<Id, Vec<Mutation>>,
    /// Writes to members, by key.
    member_writes: FxHashMap<Atom, Vec<Mutation>>,
    /// The positions of writes to unknown keys.
    dynamic_key_writes: Vec<u32>,
    /// The positions of all changes of some content.
    content_changes: Vec<u32>,
    /// The positions where other code may run: calls that are not known to be harmless, `await`,
    /// `yield`.
    effects: Vec<u32>,
    /// The function that declares each name, and whether its initial value is not shared.
    declared: FxHashMap<Id, (u32, bool)>,
    /// The names of getters.
    pub(crate) getters: FxHashSet<Atom>,
    /// Functions that may throw, by name.
    pub(crate) throwing_functions: FxHashSet<Atom>,
    /// Whether the source mentions a function that stops timers.
    pub(crate) clears_timers: bool,
}

impl Mutations {
    pub(crate) fn collect(program: &Program, names: &Bindings) -> Self {
        let uses = Self {
            writes: FxHashMap::default(),
            contents: FxHashMap::default(),
            member_writes: FxHashMap::default(),
            dynamic_key_writes: Vec::new(),
            content_changes: Vec::new(),
            effects: Vec::new(),
            declared: FxHashMap::default(),
            getters: FxHashSet::default(),
            throwing_functions: FxHashSet::default(),
            clears_timers: false,
        };
        let mut noting = collect::MutationCollector::new(uses, names);
        program.visit_with(&mut noting);
        let mut uses = noting.mutations;
        // Some children are visited out of source order.
        uses.writes
            .values_mut()
            .chain(uses.contents.values_mut())
            .for_each(|list| list.sort_by_key(|one| one.position));
        uses.member_writes.values_mut().for_each(|list| list.sort_by_key(|one| one.position));
        for list in [&mut uses.dynamic_key_writes, &mut uses.content_changes, &mut uses.effects] {
            list.sort_unstable();
        }
        uses
    }

    /// Returns the mutations of a name within a range; `None` if there are too many to inspect.
    pub(crate) fn writes_in(&self, id: &Id, range: SourceRange) -> Option<&[Mutation]> {
        slice_in(self.writes.get(id), range)
    }

    /// Returns the mutations of the content of a name's value within a range; `None` if there are
    /// too many.
    pub(crate) fn contents_in(&self, id: &Id, range: SourceRange) -> Option<&[Mutation]> {
        slice_in(self.contents.get(id), range)
    }

    /// Returns all mutations of a name.
    pub(crate) fn writes(&self, id: &Id) -> &[Mutation] {
        self.writes.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns whether unknown code may run within a range.
    pub(crate) fn has_unknown_effects(&self, range: SourceRange) -> bool {
        any_in(&self.effects, range)
    }

    /// Returns whether a name can be changed within a range only by the code there.
    pub(crate) fn is_changed_only_here(&self, id: &Id, range: SourceRange) -> bool {
        let Some((home, _)) = self.declared.get(id) else { return false };
        if !self.has_unknown_effects(range) {
            return true;
        }
        if self.writes(id).len() > 256 {
            return false;
        }
        let foreign = |one: &Mutation| one.function != range.function || *home != range.function;
        self.writes(id).iter().all(|one| {
            matches!(one.kind, MutationKind::Declared | MutationKind::DeclaredNumber(_) | MutationKind::DeclaredBigInt)
                || range.contains(one.position)
                || !foreign(one)
        })
    }

    /// Returns whether a name keeps its value within a range.
    pub(crate) fn is_unchanged(&self, id: &Id, range: SourceRange) -> bool {
        self.writes_in(id, range).is_some_and(<[Mutation]>::is_empty) && self.is_changed_only_here(id, range)
    }

    /// Returns whether a list, map or text keeps its content within a range.
    pub(crate) fn is_content_unchanged(&self, id: &Id, range: SourceRange) -> bool {
        if !self.is_unchanged(id, range) || !self.contents_in(id, range).is_some_and(<[Mutation]>::is_empty) {
            return false;
        }
        let fresh = self.declared.get(id).is_some_and(|(_, fresh)| *fresh);
        let everywhere = self.contents.get(id).map_or(&[][..], Vec::as_slice);
        let alone = fresh && !everywhere.iter().any(|one| one.kind == MutationKind::Escaped);
        if self.has_unknown_effects(range) {
            return alone && everywhere.iter().all(|one| one.function == range.function);
        }
        alone || !any_in(&self.content_changes, range)
    }

    /// Returns whether no member of this name, of any object, is changed within a range.
    pub(crate) fn is_key_unchanged(&self, key: &Atom, range: SourceRange) -> bool {
        let writes = self.member_writes.get(key).map_or(&[][..], Vec::as_slice);
        let inside = |at: u32| range.contains(at);
        if self.getters.contains(key)
            || any_in(&self.dynamic_key_writes, range)
            || writes.iter().take(64).any(|one| inside(one.position))
        {
            return false;
        }
        !self.has_unknown_effects(range)
            || (writes.iter().all(|one| one.kind == MutationKind::Declared) && self.dynamic_key_writes.is_empty())
    }

    /// Returns whether the value of a name is not shared with code outside of the source.
    pub(crate) fn is_fresh(&self, id: &Id) -> bool {
        self.declared.get(id).is_some_and(|(_, fresh)| *fresh)
    }
}

fn slice_in(list: Option<&Vec<Mutation>>, range: SourceRange) -> Option<&[Mutation]> {
    let list = list.map_or(&[][..], Vec::as_slice);
    let start = list.partition_point(|one| one.position < range.start);
    let end = list.partition_point(|one| one.position < range.end);
    list.get(start..end).filter(|found| found.len() <= 64)
}

fn any_in(list: &[u32], range: SourceRange) -> bool {
    list.get(list.partition_point(|at| *at < range.start)).is_some_and(|at| *at < range.end)
}

/// Returns the name at the start of a member chain.
pub(crate) fn root_variable(expr: &Expr) -> Option<Id> {
    let mut at = peel_parens(expr);
    loop {
        match at {
            Expr::Ident(ident) => return Some(ident.to_id()),
            Expr::Member(member) => at = peel_parens(&member.obj),
            _ => return None,
        }
    }
}
