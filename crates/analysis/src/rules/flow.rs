//! Where values go: through names, fields, calls, returns and callbacks.
//!
//! [`Flow::of`] lowers a program to a list of nodes, each after those that it is made of; [`Flow::solve`] carries the
//! marks of a rule along it until nothing changes. It knows no order of time: what a name may hold at some moment, it
//! holds.
//!
//! Invariant: a round takes time in proportion to the nodes, and the rounds are few.

mod declare;
mod lower;
mod readers;

use std::cell::{Cell, OnceCell};

use rustc_hash::{FxHashMap, FxHashSet};
use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::Id;

use crate::names::Names;
use crate::value::Value;
use readers::{Lists, Readers};

/// How often marks are carried on: longer chains are not followed to their end.
const ROUNDS: u8 = 12;

/// How many places one question looks at, through names that have many values.
const PLACES: u32 = 200;

/// How far a callee is looked for through names.
const STEPS: u32 = 6;

/// A name as it is written.
pub(super) type Name = Atom;

/// The index of a node.
pub(super) type At = usize;

/// A place that holds values: a name, or the fields of one name on whatever object.
pub(super) type Slot = usize;

/// What an expression, or the value that a pattern takes, is made of.
pub(super) struct Node {
    pub(super) kind: Kind,
    /// What it stands for, where a name, member, call or text says so.
    pub(super) value: Value,
    pub(super) span: Span,
    /// The function that it is in.
    pub(super) inside: Option<usize>,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// A constant, or something of which nothing is known.
    Opaque,
    Name(Slot),
    This,
    Member(At, Key),
    /// Set apart, as it is four times as large as all others.
    Call(Box<Call>),
    Object(Vec<(Key, At)>),
    List(Vec<At>),
    Function(usize),
    /// One of these.
    Either(Vec<At>),
    /// A text of these.
    Joined(Vec<At>),
    /// Something worked out from these that is none of them: a comparison, a sum.
    Computed,
    /// What a loop takes of a list.
    Element(At),
    /// What `for (const key in object)` takes.
    KeyOf(At),
    /// What destructuring leaves.
    Rest(At, Vec<Name>),
    /// A parameter: what calls put in.
    Param(usize, Vec<At>),
}

#[derive(Debug, Clone)]
pub(super) enum Key {
    Named(Name),
    Computed(At),
    Spread,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) callee: At,
    pub(super) receiver: Option<At>,
    pub(super) method: Option<Name>,
    pub(super) args: Vec<At>,
    pub(super) new: bool,
    /// What the functions of the source that it calls return.
    pub(super) returns: Vec<At>,
    /// What the functions that are given to it return.
    pub(super) callbacks: Vec<At>,
    /// The functions of the source that it calls.
    pub(super) functions: Vec<usize>,
}

/// A function of the source.
#[derive(Default)]
pub(super) struct Func {
    params: Vec<At>,
    returns: Vec<At>,
    /// Whether something in the source calls it, or is given it.
    used: bool,
}

/// A value that is written to a slot.
pub(super) struct Bind {
    pub(super) to: Slot,
    pub(super) from: At,
    /// Whether the slot becomes the value, or holds it somewhere inside.
    pub(super) holds: bool,
}

/// A write to a member.
pub(super) struct Write {
    pub(super) object: At,
    pub(super) key: Key,
    pub(super) value: At,
    pub(super) span: Span,
    pub(super) inside: Option<usize>,
}

/// A program as nodes.
pub(super) struct Flow<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) nodes: Vec<Node>,
    pub(super) binds: Vec<Bind>,
    pub(super) writes: Vec<Write>,
    /// What is compared with what.
    pub(super) compared: Vec<(At, At)>,
    /// The keys of members in brackets.
    pub(super) computed: Vec<At>,
    /// Names that are reckoned with, and so are numbers.
    pub(super) numeric: FxHashSet<Slot>,
    /// Names that a type says are numbers, or lists.
    pub(super) typed: FxHashSet<Name>,
    /// Names of objects that something is deleted from.
    pub(super) deleted: FxHashSet<Slot>,
    functions: Vec<Func>,
    slots: FxHashMap<Id, Slot>,
    fields: FxHashMap<Name, Slot>,
    /// The symbol of each slot.
    pub(super) symbols: Vec<Name>,
    /// What is written to each slot.
    by_slot: Lists,
    readers: OnceCell<Readers>,
    /// How many places the question that is asked may still look at.
    left: Cell<u32>,
}

/// What a rule has noted at each node and slot.
pub(super) struct Marks {
    pub(super) nodes: Vec<u8>,
    pub(super) slots: Vec<u8>,
}

impl Flow<'_> {
    /// Begins a question that looks through names: it may look at so many places.
    pub(super) fn ask(&self) {
        self.left.set(PLACES);
    }

    /// Whether the question that was begun may look at one more place.
    pub(super) fn looks(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// The slot of the fields of a name, if anything writes one.
    pub(super) fn field(&self, name: &Name) -> Option<Slot> {
        self.fields.get(name).copied()
    }

    /// Whether a parameter's function is called by whoever runs the tool.
    pub(super) fn is_entry(&self, function: usize) -> bool {
        self.functions.get(function).is_none_or(|function| !function.used)
    }

    /// What was written to a slot.
    pub(super) fn origins(&self, slot: Slot) -> impl Iterator<Item = At> {
        self.by_slot.get(slot).iter().copied()
    }

    /// The path of a global that is called, or of a member of a module.
    pub(super) fn callee(&self, call: &Call) -> Option<&crate::value::Thing> {
        self.nodes[call.callee].value.as_thing()
    }

    /// Whether a call is of the global of this path.
    pub(super) fn calls_global(&self, call: &Call, path: &[&str]) -> bool {
        self.callee(call).is_some_and(|thing| thing.path.len() == path.len() && thing.is_global_below(path))
    }

    /// The calls of a program, each with its place.
    pub(super) fn calls(&self) -> impl Iterator<Item = (At, &Call)> {
        self.nodes.iter().enumerate().filter_map(|(at, node)| match &node.kind {
            Kind::Call(call) => Some((at, &**call)),
            _ => None,
        })
    }

    /// Carries marks on. `own` says which a node has by itself, `of` which it has from others, and `held` what of them
    /// a container gets.
    pub(super) fn solve(
        &self,
        own: impl Fn(&Node) -> u8,
        of: impl Fn(&Marks, At) -> u8,
        held: impl Fn(u8) -> u8,
    ) -> Marks {
        let mut marks = Marks { nodes: self.nodes.iter().map(own).collect(), slots: vec![0; self.symbols.len()] };
        let readers = self.readers.get_or_init(|| Readers::of(self));
        // What has to be looked at, at first and again: where a mark of a part has changed.
        let mut stirred = vec![true; self.nodes.len()];
        for _ in 0..ROUNDS {
            let mut changed = false;
            for at in 0..self.nodes.len() {
                if !std::mem::take(&mut stirred[at]) {
                    continue;
                }
                let (before, mark) = (marks.nodes[at], of(&marks, at) | marks.nodes[at]);
                marks.nodes[at] = mark;
                if mark != before {
                    changed = true;
                    readers.of_nodes.each(at, |reader| stirred[reader] = true);
                }
                readers.binds.each(at, |bind| {
                    let bind = &self.binds[bind];
                    let mark = if bind.holds { held(mark) } else { mark } | marks.slots[bind.to];
                    if mark != marks.slots[bind.to] {
                        changed = true;
                        marks.slots[bind.to] = mark;
                        readers.of_slots.each(bind.to, |reader| stirred[reader] = true);
                    }
                });
            }
            if !changed {
                break;
            }
        }
        marks
    }

    /// Joins calls with the functions that they call or are given.
    fn link(&mut self) {
        let written: Vec<_> = self.binds.iter().filter(|bind| !bind.holds).map(|bind| (bind.to, bind.from)).collect();
        self.by_slot = Lists::of(&written, self.symbols.len());
        let calls: Vec<At> = self.calls().map(|(at, _)| at).collect();
        // Twice, since what is called may be a parameter that the first time has filled.
        for _ in 0..2 {
            for &at in &calls {
                // While a call is linked, nothing is known of what it gives.
                let mut kind = std::mem::replace(&mut self.nodes[at].kind, Kind::Opaque);
                if let Kind::Call(call) = &mut kind
                    && call.functions.is_empty()
                    && call.callbacks.is_empty()
                {
                    self.link_call(call);
                }
                self.nodes[at].kind = kind;
            }
        }
    }

    fn link_call(&mut self, call: &mut Call) {
        let (receiver, method) = (call.receiver, call.method.as_deref());
        let mut functions = Vec::new();
        self.ask();
        self.functions_of(call.callee, STEPS, &mut functions);
        if matches!(method, Some("call" | "bind")) && functions.is_empty() {
            // The receiver of `call` is the function, and the first argument is its `this`.
            if let Some(receiver) = receiver {
                self.functions_of(receiver, STEPS, &mut functions);
            }
            return self.join(call, functions, 1);
        }
        if !functions.is_empty() {
            return self.join(call, functions, 0);
        }
        let from = self.calls_global(call, &["Array", "from"]);
        for arg in &call.args {
            let mut given = Vec::new();
            self.functions_of(*arg, 2, &mut given);
            for function in given {
                self.functions[function].used = true;
                let params = self.functions[function].params.clone();
                let returns = self.functions[function].returns.clone();
                let list = if from { call.args.first().copied() } else { receiver };
                match method {
                    Some("reduce" | "reduceRight") => {
                        let start = call.args.get(1).copied().into_iter().chain(returns.iter().copied());
                        self.put(params.first().copied(), &start.collect::<Vec<_>>());
                        let element = list.map(|list| self.element(list));
                        self.put(params.get(1).copied(), &Vec::from_iter(element));
                    }
                    Some("then" | "finally" | "replace" | "replaceAll") => {
                        self.put(params.first().copied(), &Vec::from_iter(list));
                    }
                    Some("sort" | "toSorted") => {}
                    _ => {
                        let element = list.map(|list| self.element(list));
                        self.put(params.first().copied(), &Vec::from_iter(element));
                    }
                }
                call.callbacks.extend(returns);
            }
        }
    }

    /// A new node for what a list has in it.
    fn element(&mut self, list: At) -> At {
        let (span, inside) = (self.nodes[list].span, self.nodes[list].inside);
        self.nodes.push(Node { kind: Kind::Element(list), value: Value::Unknown, span, inside });
        self.nodes.len() - 1
    }

    fn put(&mut self, param: Option<At>, values: &[At]) {
        if let Some(param) = param
            && let Kind::Param(_, inputs) = &mut self.nodes[param].kind
        {
            inputs.extend(values);
        }
    }

    /// Joins a call with the functions that it calls; their parameters are its arguments from this one on.
    fn join(&mut self, call: &mut Call, functions: Vec<usize>, first: usize) {
        for &function in &functions {
            let function = &mut self.functions[function];
            function.used = true;
            call.returns.extend(&function.returns);
            for (param, arg) in function.params.iter().zip(call.args.iter().skip(first)) {
                if let Kind::Param(_, inputs) = &mut self.nodes[*param].kind {
                    inputs.push(*arg);
                }
            }
        }
        call.functions = functions;
    }

    /// The functions that a node may be.
    fn functions_of(&self, at: At, steps: u32, found: &mut Vec<usize>) {
        if steps == 0 || found.len() >= 8 || !self.looks() {
            return;
        }
        let each = |places: &mut dyn Iterator<Item = At>, found: &mut Vec<usize>| {
            places.take(8).for_each(|place| self.functions_of(place, steps - 1, found));
        };
        match &self.nodes[at].kind {
            Kind::Function(function) if !found.contains(function) => found.push(*function),
            Kind::Name(slot) => each(&mut self.origins(*slot), found),
            Kind::Either(of) => each(&mut of.iter().copied(), found),
            Kind::Param(_, inputs) => each(&mut inputs.iter().copied(), found),
            // What is returned by a function that is called first: `wrap(x)()`.
            Kind::Call(call) => each(&mut call.returns.iter().copied(), found),
            Kind::Member(_, Key::Named(name)) => {
                if let Some(slot) = self.field(name) {
                    each(&mut self.origins(slot), found);
                }
            }
            _ => {}
        }
    }
}
