//! A data flow graph: values through names, fields, calls, returns and callbacks.
//!
//! [`DataFlow::lower`] lowers a program to a list of nodes, each after its operands;
//! [`DataFlow::propagate`] propagates the marks of a rule until a fixed point. The analysis is
//! flow-insensitive: a name holds every value that is ever assigned to it.
//!
//! Invariant: a round takes time linear in the number of nodes, and the number of rounds is
//! bounded.

mod def_use;
mod lower;

use std::cell::{Cell, OnceCell};

use rustc_hash::{FxHashMap, FxHashSet};
use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::Id;

use crate::semantics::bindings::Bindings;
use crate::semantics::value::Value;
use def_use::{DefUse, IndexLists};

/// The maximum number of rounds of the propagation: longer chains are not followed to their end.
const MAX_ROUNDS: u8 = 12;

/// The maximum number of nodes that one query visits, through names with many values.
const MAX_QUERY_STEPS: u32 = 200;

/// The maximum number of names through which a callee is resolved.
const MAX_CALLEE_STEPS: u32 = 6;

/// A name as written.
pub(crate) type Name = Atom;

/// The index of a node.
pub(crate) type NodeId = usize;

/// The index of a variable: a name, or all fields of one name, of any object.
pub(crate) type VarId = usize;

/// An expression, or the part of a value that a pattern takes.
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// Its constant value, for a name, member, call or text.
    pub(crate) value: Value,
    pub(crate) span: Span,
    /// The enclosing function.
    pub(crate) function: Option<usize>,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    /// A constant, or an unknown value.
    Opaque,
    Name(VarId),
    This,
    Member(NodeId, MemberKey),
    /// A call; boxed, because it is four times as large as all others.
    Call(Box<Call>),
    Object(Vec<(MemberKey, NodeId)>),
    List(Vec<NodeId>),
    Function(usize),
    /// One of these values.
    OneOf(Vec<NodeId>),
    /// The concatenation of these values.
    Concat(Vec<NodeId>),
    /// A result that none of the operands flows into: a comparison, an arithmetic result.
    Computed,
    /// An element of a list, in a loop.
    Element(NodeId),
    /// A key of an object, in `for (const key in object)`.
    KeyOf(NodeId),
    /// The rest of a destructured value, without these names.
    Rest(NodeId, Vec<Name>),
    /// A parameter of a function, with the arguments of its calls.
    Param(usize, Vec<NodeId>),
}

#[derive(Debug, Clone)]
pub(crate) enum MemberKey {
    Named(Name),
    Computed(NodeId),
    Spread,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) callee: NodeId,
    pub(crate) receiver: Option<NodeId>,
    pub(crate) method: Option<Name>,
    pub(crate) args: Vec<NodeId>,
    pub(crate) is_new: bool,
    /// The values that the called functions of the source return.
    pub(crate) returns: Vec<NodeId>,
    /// The values that the functions passed as arguments return.
    pub(crate) callbacks: Vec<NodeId>,
    /// The called functions of the source.
    pub(crate) functions: Vec<usize>,
}

/// A function of the source.
#[derive(Default)]
pub(crate) struct FlowFunction {
    params: Vec<NodeId>,
    returns: Vec<NodeId>,
    /// Whether the source calls it, or passes it as a callback.
    is_used: bool,
}

/// A value that is assigned to a variable.
pub(crate) struct Assign {
    pub(crate) to: VarId,
    pub(crate) from: NodeId,
    /// Whether the variable contains the value, instead of being it.
    pub(crate) is_contained: bool,
}

/// A write to a member.
pub(crate) struct Write {
    pub(crate) object: NodeId,
    pub(crate) key: MemberKey,
    pub(crate) value: NodeId,
    pub(crate) span: Span,
    pub(crate) function: Option<usize>,
}

/// The data flow graph of a program.
pub(crate) struct DataFlow<'a> {
    pub(crate) names: &'a Bindings<'a>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) assigns: Vec<Assign>,
    pub(crate) writes: Vec<Write>,
    /// The operands of comparisons and of arithmetic.
    pub(crate) comparisons: Vec<(NodeId, NodeId)>,
    /// The keys of computed members.
    pub(crate) computed_keys: Vec<NodeId>,
    /// Variables that are operands of arithmetic, and so are numbers.
    pub(crate) numeric_vars: FxHashSet<VarId>,
    /// Names with a number or list type annotation, or fields that are operands of arithmetic.
    pub(crate) typed_names: FxHashSet<Name>,
    /// Variables of objects from which something is deleted.
    pub(crate) deleted_vars: FxHashSet<VarId>,
    functions: Vec<FlowFunction>,
    vars: FxHashMap<Id, VarId>,
    fields: FxHashMap<Name, VarId>,
    /// The name of each variable.
    pub(crate) var_names: Vec<Name>,
    /// The values assigned to each variable.
    values_by_var: IndexLists,
    def_use: OnceCell<DefUse>,
    /// The number of nodes that the current query may still visit.
    query_steps: Cell<u32>,
}

/// The marks of a rule at each node and variable.
pub(crate) struct Taint {
    pub(crate) nodes: Vec<u8>,
    pub(crate) vars: Vec<u8>,
}

impl DataFlow<'_> {
    /// Starts a query: it may visit [`MAX_QUERY_STEPS`] nodes.
    pub(crate) fn begin_query(&self) {
        self.query_steps.set(MAX_QUERY_STEPS);
    }

    /// Takes a step of the current query; returns false if none is left.
    pub(crate) fn take_query_step(&self) -> bool {
        let left = self.query_steps.get();
        self.query_steps.set(left.saturating_sub(1));
        left > 0
    }

    /// Returns the variable of the fields of a name, if the source writes one.
    pub(crate) fn field_var(&self, name: &Name) -> Option<VarId> {
        self.fields.get(name).copied()
    }

    /// Returns whether a function is called only from outside of the source, so that its parameters
    /// come from the caller.
    pub(crate) fn is_called_externally(&self, function: usize) -> bool {
        self.functions.get(function).is_none_or(|function| !function.is_used)
    }

    /// Returns the values assigned to a variable.
    pub(crate) fn assigned_values(&self, slot: VarId) -> impl Iterator<Item = NodeId> {
        self.values_by_var.get(slot).iter().copied()
    }

    /// Returns the access path of a callee: a global, or a member of a module.
    pub(crate) fn callee_path(&self, call: &Call) -> Option<&crate::semantics::value::AccessPath> {
        self.nodes[call.callee].value.as_path()
    }

    /// Returns whether a call is one of this global path.
    pub(crate) fn is_call_of_global(&self, call: &Call, path: &[&str]) -> bool {
        self.callee_path(call).is_some_and(|thing| thing.keys.len() == path.len() && thing.is_global_below(path))
    }

    /// Returns the calls of the program, with their nodes.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (NodeId, &Call)> {
        self.nodes.iter().enumerate().filter_map(|(at, node)| match &node.kind {
            NodeKind::Call(call) => Some((at, &**call)),
            _ => None,
        })
    }

    /// Propagates marks. `own` returns the marks of a node by itself, `of` those from its operands,
    /// and `held` those that a container gets from its content.
    pub(crate) fn propagate(
        &self,
        own: impl Fn(&Node) -> u8,
        of: impl Fn(&Taint, NodeId) -> u8,
        held: impl Fn(u8) -> u8,
    ) -> Taint {
        let mut marks = Taint { nodes: self.nodes.iter().map(own).collect(), vars: vec![0; self.var_names.len()] };
        let readers = self.def_use.get_or_init(|| DefUse::new(self));
        // The worklist: all nodes at first, then those with an operand whose mark has changed.
        let mut stirred = vec![true; self.nodes.len()];
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for at in 0..self.nodes.len() {
                if !std::mem::take(&mut stirred[at]) {
                    continue;
                }
                let (before, mark) = (marks.nodes[at], of(&marks, at) | marks.nodes[at]);
                marks.nodes[at] = mark;
                if mark != before {
                    changed = true;
                    readers.node_users.each(at, |reader| stirred[reader] = true);
                }
                readers.assigns.each(at, |bind| {
                    let bind = &self.assigns[bind];
                    let mark = if bind.is_contained { held(mark) } else { mark } | marks.vars[bind.to];
                    if mark != marks.vars[bind.to] {
                        changed = true;
                        marks.vars[bind.to] = mark;
                        readers.var_users.each(bind.to, |reader| stirred[reader] = true);
                    }
                });
            }
            if !changed {
                break;
            }
        }
        marks
    }

    /// Links calls with the functions that they call, or that are passed to them.
    fn link_calls(&mut self) {
        let written: Vec<_> =
            self.assigns.iter().filter(|bind| !bind.is_contained).map(|bind| (bind.to, bind.from)).collect();
        self.values_by_var = IndexLists::from_pairs(&written, self.var_names.len());
        let calls: Vec<NodeId> = self.calls().map(|(at, _)| at).collect();
        // Twice, since a callee may be a parameter whose argument the first pass links.
        for _ in 0..2 {
            for &at in &calls {
                // While a call is linked, its result is unknown.
                let mut kind = std::mem::replace(&mut self.nodes[at].kind, NodeKind::Opaque);
                if let NodeKind::Call(call) = &mut kind
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
        self.begin_query();
        self.functions_at(call.callee, MAX_CALLEE_STEPS, &mut functions);
        if matches!(method, Some("call" | "bind")) && functions.is_empty() {
            // The receiver of `call` is the function, and the first argument is its `this`.
            if let Some(receiver) = receiver {
                self.functions_at(receiver, MAX_CALLEE_STEPS, &mut functions);
            }
            return self.link_callees(call, functions, 1);
        }
        if !functions.is_empty() {
            return self.link_callees(call, functions, 0);
        }
        let from = self.is_call_of_global(call, &["Array", "from"]);
        for arg in &call.args {
            let mut given = Vec::new();
            self.functions_at(*arg, 2, &mut given);
            for function in given {
                self.functions[function].is_used = true;
                let params = self.functions[function].params.clone();
                let returns = self.functions[function].returns.clone();
                let list = if from { call.args.first().copied() } else { receiver };
                match method {
                    Some("reduce" | "reduceRight") => {
                        let start = call.args.get(1).copied().into_iter().chain(returns.iter().copied());
                        self.add_param_inputs(params.first().copied(), &start.collect::<Vec<_>>());
                        let element = list.map(|list| self.add_element(list));
                        self.add_param_inputs(params.get(1).copied(), &Vec::from_iter(element));
                    }
                    Some("then" | "finally" | "replace" | "replaceAll") => {
                        self.add_param_inputs(params.first().copied(), &Vec::from_iter(list));
                    }
                    Some("sort" | "toSorted") => {}
                    _ => {
                        let element = list.map(|list| self.add_element(list));
                        self.add_param_inputs(params.first().copied(), &Vec::from_iter(element));
                    }
                }
                call.callbacks.extend(returns);
            }
        }
    }

    /// Adds a node for an element of a list.
    fn add_element(&mut self, list: NodeId) -> NodeId {
        let (span, inside) = (self.nodes[list].span, self.nodes[list].function);
        self.nodes.push(Node { kind: NodeKind::Element(list), value: Value::Unknown, span, function: inside });
        self.nodes.len() - 1
    }

    fn add_param_inputs(&mut self, param: Option<NodeId>, values: &[NodeId]) {
        if let Some(param) = param
            && let NodeKind::Param(_, inputs) = &mut self.nodes[param].kind
        {
            inputs.extend(values);
        }
    }

    /// Links a call with its callees. Their parameters are its arguments, starting at index
    /// `first`.
    fn link_callees(&mut self, call: &mut Call, functions: Vec<usize>, first: usize) {
        for &function in &functions {
            let function = &mut self.functions[function];
            function.is_used = true;
            call.returns.extend(&function.returns);
            for (param, arg) in function.params.iter().zip(call.args.iter().skip(first)) {
                if let NodeKind::Param(_, inputs) = &mut self.nodes[*param].kind {
                    inputs.push(*arg);
                }
            }
        }
        call.functions = functions;
    }

    /// Collects the functions that a node may be.
    fn functions_at(&self, at: NodeId, steps: u32, found: &mut Vec<usize>) {
        if steps == 0 || found.len() >= 8 || !self.take_query_step() {
            return;
        }
        let each = |places: &mut dyn Iterator<Item = NodeId>, found: &mut Vec<usize>| {
            places.take(8).for_each(|place| self.functions_at(place, steps - 1, found));
        };
        match &self.nodes[at].kind {
            NodeKind::Function(function) if !found.contains(function) => found.push(*function),
            NodeKind::Name(slot) => each(&mut self.assigned_values(*slot), found),
            NodeKind::OneOf(of) => each(&mut of.iter().copied(), found),
            NodeKind::Param(_, inputs) => each(&mut inputs.iter().copied(), found),
            // The result of a returned function: `wrap(x)()`.
            NodeKind::Call(call) => each(&mut call.returns.iter().copied(), found),
            NodeKind::Member(_, MemberKey::Named(name)) => {
                if let Some(slot) = self.field_var(name) {
                    each(&mut self.assigned_values(slot), found);
                }
            }
            _ => {}
        }
    }
}
