//! Keys that lead to a prototype: an object that was reached through a dynamic key is written at
//! another dynamic key.
//!
//! Merges, path setters and two-level tables have this in common: with `__proto__` as the first
//! key, the object is the prototype, and the second key names the property that is set.
//!
//! Invariant: nothing is reported in a source with a guard, or for an object without a prototype.

use rustc_hash::FxHashSet;
use swc_common::Span;
use toolcell_i18n::msgid;

use super::guards::has_guard;
use crate::rules::RuleContext;
use crate::semantics::dataflow::{Call, DataFlow, MemberKey, Name, Node, NodeId, NodeKind, Taint, VarId};
use crate::semantics::facts::UseKind;
use crate::semantics::value::{AccessPath, Key as Step, Root, Value};

/// The value may be any text or tree from outside.
const DATA: u8 = 1;
/// The value may be an object that was reached through a dynamic key.
const REACHED: u8 = 2;
/// A list, a `Map`, or an object without a prototype.
const SAFE: u8 = 4;
/// The value contains objects that were reached.
const HOLDS: u8 = 8;
/// The value is a shared prototype.
const SHARED: u8 = 16;
/// The value is a built-in class, or a list of such.
const BUILTIN: u8 = 32;

const MERGES: &str = msgid!("merges keys into an object without excluding `__proto__`");
const INSTALLS: &str = msgid!("writes to a shared prototype under another name");
const SETS: &str = msgid!("sets a value at a path of keys without excluding `__proto__`");

/// Returns the writes whose key may lead to a prototype.
pub(super) fn find_writes(source: &RuleContext<'_>) -> Vec<(Span, &'static str)> {
    if !has_dynamic_writes(source) {
        return Vec::new();
    }
    let flow = source.dataflow();
    let mut keys = KeyAnalysis { checked_keys: FxHashSet::default(), owned_objects: FxHashSet::default(), flow };
    keys.note_checks();
    let marks = flow.propagate(
        own_marks,
        |marks, at| keys.mark(marks, at),
        |mark| if mark & (REACHED | HOLDS) == 0 { 0 } else { HOLDS },
    );
    let mut found = keys.prototype_writes(&marks);
    if !has_guard(flow, source) {
        found.extend(keys.reached_writes(&marks));
    }
    found
}

/// Returns whether anything is written at an unknown key; otherwise no data flow is needed.
fn has_dynamic_writes(source: &RuleContext<'_>) -> bool {
    let open = |value: &Value| match value.as_path() {
        Some(thing) => thing.keys.last().is_some_and(|key| key.name().is_none()),
        None => *value == Value::Unknown,
    };
    let prototype =
        |thing: &AccessPath| thing.keys.iter().any(|key| matches!(key.name(), Some("prototype" | "__proto__")));
    source.facts.writes.iter().any(|write| open(&write.target) || write.target.as_path().is_some_and(prototype))
        || source.facts.uses.iter().any(|used| used.kind != UseKind::Called && super::is_shared_prototype(&used.path))
        || source.facts.calls.iter().any(|call| {
            let names = call.callee.as_path().filter(|thing| thing.root == Root::Global).and_then(AccessPath::names);
            matches!(
                names.as_deref(),
                Some(
                    ["Reflect", "set" | "defineProperty"]
                        | ["Object", "assign" | "defineProperty" | "defineProperties"]
                )
            )
        })
}

/// Returns the marks of a node by itself.
fn own_marks(node: &Node) -> u8 {
    match node.value.as_path() {
        Some(thing) if super::is_shared_prototype(thing) => SHARED,
        Some(AccessPath { root: Root::Global, keys: path, .. }) => match path.as_slice() {
            [Step::Name(name)] if name.starts_with(|first: char| first.is_ascii_uppercase()) => BUILTIN,
            _ => 0,
        },
        _ => 0,
    }
}

struct KeyAnalysis<'a> {
    flow: &'a DataFlow<'a>,
    /// Variables of keys that are looked up in a constant table before they are used.
    checked_keys: FxHashSet<VarId>,
    /// Variables of objects whose own keys are tested.
    owned_objects: FxHashSet<VarId>,
}

impl KeyAnalysis<'_> {
    fn var_of(&self, at: NodeId) -> Option<VarId> {
        match &self.flow.nodes[at].kind {
            NodeKind::Name(slot) => Some(*slot),
            NodeKind::Member(_, MemberKey::Named(name)) => self.flow.field_var(name),
            _ => None,
        }
    }

    /// Returns whether a node is a constant list, set, pattern or table of the source.
    fn is_constant_table(&self, at: NodeId, steps: u32) -> bool {
        let node = &self.flow.nodes[at];
        match &node.kind {
            _ if matches!(node.value, Value::Pattern(..) | Value::List(_)) => true,
            NodeKind::List(_) => true,
            NodeKind::Object(props) => !props.is_empty(),
            NodeKind::Call(call) => {
                call.is_new && ["Set", "Map", "RegExp"].iter().any(|name| self.flow.is_call_of_global(call, &[name]))
                    || self.flow.is_call_of_global(call, &["Object", "freeze"])
                    || self.flow.is_call_of_global(call, &["Object", "keys"])
                        && call.args.iter().any(|arg| steps > 0 && self.is_constant_table(*arg, steps - 1))
            }
            _ => {
                steps > 0
                    && self.var_of(at).is_some_and(|slot| {
                        self.flow.assigned_values(slot).take(8).any(|at| self.is_constant_table(at, steps - 1))
                    })
            }
        }
    }

    /// Records which keys and objects are tested, and propagates this from helpers to their
    /// callers.
    fn note_checks(&mut self) {
        for (_, call) in self.flow.calls() {
            let names = self.flow.callee_path(call).and_then(AccessPath::names).unwrap_or_default();
            let asked = match names.as_slice() {
                ["Object", "hasOwn"] | [.., "hasOwnProperty", "call"] => {
                    Some((call.args.first().copied(), call.args.get(1)))
                }
                [.., "hasOwnProperty"] => Some((call.receiver, call.args.first())),
                _ if call.method.as_deref() == Some("call") && names.contains(&"hasOwnProperty") => {
                    Some((call.args.first().copied(), call.args.get(1)))
                }
                _ => None,
            };
            if let Some((Some(object), key)) = asked {
                if self.is_constant_table(object, 3) {
                    self.checked_keys.extend(key.and_then(|key| self.var_of(*key)));
                }
                self.owned_objects.extend(self.var_of(object));
            }
            if let (Some("has" | "includes" | "indexOf" | "test"), Some(receiver)) =
                (call.method.as_deref(), call.receiver)
                && self.is_constant_table(receiver, 3)
            {
                self.checked_keys.extend(call.args.first().and_then(|arg| self.var_of(*arg)));
            }
        }
        for _ in 0..3 {
            let mut more: (Vec<VarId>, Vec<VarId>) = Default::default();
            for bind in self.flow.assigns.iter().filter(|bind| !bind.is_contained) {
                let (checked, owned) = (self.checked_keys.contains(&bind.to), self.owned_objects.contains(&bind.to));
                match &self.flow.nodes[bind.from].kind {
                    NodeKind::Param(_, inputs) if checked || owned => {
                        let slots = inputs.iter().filter_map(|input| match &self.flow.nodes[*input].kind {
                            NodeKind::Element(list) => self.var_of(*list),
                            _ => self.var_of(*input),
                        });
                        let slots: Vec<VarId> = slots.collect();
                        if checked {
                            more.0.extend(&slots);
                        }
                        if owned {
                            more.1.extend(slots);
                        }
                    }
                    NodeKind::Element(list) if checked => more.0.extend(self.var_of(*list)),
                    NodeKind::Name(slot) if checked => more.0.push(*slot),
                    _ => {}
                }
            }
            self.checked_keys.extend(more.0);
            self.owned_objects.extend(more.1);
        }
    }

    /// Returns whether a key may be any text.
    fn may_be_any_text(&self, marks: &Taint, at: NodeId) -> bool {
        const LETTERS: [&str; 11] =
            ["c", "ch", "char", "chr", "letter", "character", "digit", "i", "j", "idx", "index"];
        let node = &self.flow.nodes[at];
        if marks.nodes[at] & DATA == 0 || node.value.to_js_string().is_some() {
            return false;
        }
        let told = |name: &Name| LETTERS.contains(&&**name) || self.flow.typed_names.contains(name);
        match &node.kind {
            NodeKind::Name(slot) => {
                !self.flow.numeric_vars.contains(slot)
                    && !self.checked_keys.contains(slot)
                    && !told(&self.flow.var_names[*slot])
                    // A destructured name has the type of the member that it was taken from.
                    && !self.flow.assigned_values(*slot).take(16).any(|from| match &self.flow.nodes[from].kind {
                        NodeKind::Member(_, MemberKey::Named(name)) => self.flow.typed_names.contains(name),
                        NodeKind::Name(other) => self.flow.numeric_vars.contains(other),
                        NodeKind::Element(list) => self.var_of(*list).is_some_and(|slot| self.checked_keys.contains(&slot)),
                        _ => false,
                    })
            }
            NodeKind::Member(object, MemberKey::Named(name)) => {
                !told(name) && !self.var_of(*object).is_some_and(|slot| self.checked_keys.contains(&slot))
            }
            NodeKind::Member(object, _) => !self.var_of(*object).is_some_and(|slot| self.checked_keys.contains(&slot)),
            NodeKind::OneOf(of) => of.iter().any(|part| self.may_be_any_text(marks, *part)),
            _ => true,
        }
    }

    /// Returns whether a key of an object may lead to a prototype.
    fn may_reach_prototype(&self, marks: &Taint, object: NodeId, key: NodeId) -> bool {
        marks.nodes[object] & SAFE == 0
            && !self.var_of(object).is_some_and(|slot| {
                self.owned_objects.contains(&slot) || self.flow.typed_names.contains(&self.flow.var_names[slot])
            })
            && self.may_be_any_text(marks, key)
    }

    fn mark(&self, marks: &Taint, at: NodeId) -> u8 {
        let of = |at: NodeId| marks.nodes[at];
        let node = &self.flow.nodes[at];
        match &node.kind {
            NodeKind::Opaque | NodeKind::Concat(_) | NodeKind::Computed | NodeKind::Function(_) | NodeKind::This => 0,
            NodeKind::Name(slot) => marks.vars[*slot],
            NodeKind::Param(function, inputs) => {
                let data = if self.flow.is_called_externally(*function) { DATA } else { 0 };
                inputs.iter().fold(data, |mark, input| mark | of(*input))
            }
            NodeKind::Element(list) => of(*list) & (DATA | BUILTIN) | element_mark(of(*list)),
            NodeKind::KeyOf(object) => match &self.flow.nodes[*object].kind {
                NodeKind::Object(props) if !props.is_empty() => 0,
                _ if of(*object) & (DATA | REACHED) == 0 => 0,
                _ => DATA,
            },
            NodeKind::Rest(object, _) => of(*object),
            NodeKind::Member(object, MemberKey::Named(name)) => {
                if matches!(&**name, "length" | "size") {
                    return 0;
                }
                let field = self.flow.field_var(name).map_or(0, |slot| marks.vars[slot]);
                let index = if name.parse::<u32>().is_ok() { element_mark(of(*object)) } else { 0 };
                let shared = if &**name == "prototype" && of(*object) & BUILTIN != 0 { SHARED } else { 0 };
                of(*object) & DATA | index | field & !BUILTIN | shared
            }
            NodeKind::Member(object, MemberKey::Computed(key)) => {
                let step = if self.may_reach_prototype(marks, *object, *key) { REACHED } else { 0 };
                of(*object) & DATA | element_mark(of(*object)) | step
            }
            NodeKind::Member(object, MemberKey::Spread) => of(*object) & DATA,
            NodeKind::Object(props) => props.iter().fold(0, |mark, (key, value)| {
                let held = if of(*value) & (REACHED | HOLDS) == 0 { 0 } else { HOLDS };
                mark | match key {
                    MemberKey::Spread => of(*value) & DATA,
                    MemberKey::Computed(_) => of(*value) & DATA | held,
                    MemberKey::Named(name)
                        if &**name == "__proto__" && self.flow.nodes[*value].value == Value::Null =>
                    {
                        SAFE
                    }
                    MemberKey::Named(_) => held,
                }
            }),
            NodeKind::List(elems) => elems.iter().fold(SAFE, |mark, elem| {
                mark | of(*elem) & (DATA | BUILTIN) | if of(*elem) & (REACHED | HOLDS) == 0 { 0 } else { HOLDS }
            }),
            NodeKind::OneOf(parts) => parts.iter().fold(0, |mark, part| mark | of(*part)),
            NodeKind::Call(call) => self.call(marks, call),
        }
    }

    fn call(&self, marks: &Taint, call: &Call) -> u8 {
        let of = |at: NodeId| marks.nodes[at];
        let first = call.args.first().map_or(0, |arg| of(*arg));
        if !call.functions.is_empty() {
            return call.returns.iter().fold(0, |mark, at| mark | of(*at));
        }
        let names = self.flow.callee_path(call).filter(|thing| thing.root == Root::Global).and_then(AccessPath::names);
        match names.as_deref() {
            Some(["Reflect", "get"]) => {
                return match call.args.as_slice() {
                    [object, key, ..] if self.may_reach_prototype(marks, *object, *key) => REACHED | of(*object) & DATA,
                    _ => 0,
                };
            }
            Some(["Object", "keys" | "values" | "entries" | "getOwnPropertyNames"] | ["Reflect", "ownKeys"]) => {
                return SAFE | if first & (DATA | REACHED) == 0 { 0 } else { DATA };
            }
            Some(["Object", "create"]) => {
                let null = call.args.first().is_some_and(|arg| self.flow.nodes[*arg].value == Value::Null);
                return if null { SAFE } else { 0 };
            }
            Some(["Object", "assign" | "freeze" | "seal"]) => return first,
            Some(["JSON", "parse"] | ["URLSearchParams" | "FormData"]) => return DATA,
            Some(["String" | "structuredClone"]) => return first & DATA,
            Some(["Array", "from"]) => {
                let mapped = call.callbacks.iter().fold(0, |mark, at| mark | of(*at) & DATA);
                return SAFE | if call.callbacks.is_empty() { first & DATA } else { mapped };
            }
            Some(["Map" | "Set" | "WeakMap" | "Array"]) => return SAFE | first & DATA,
            _ => {}
        }
        let Some(receiver) = call.receiver.map(of) else { return 0 };
        let back = call.callbacks.iter().fold(0, |mark, at| mark | of(*at));
        match call.method.as_deref() {
            Some("pop" | "shift" | "at" | "find" | "get" | "values") => receiver & DATA | element_mark(receiver),
            Some("map" | "flatMap") => SAFE | back & DATA | if back & (REACHED | HOLDS) == 0 { 0 } else { HOLDS },
            Some("reduce" | "reduceRight") => back | call.args.get(1).map_or(0, |arg| of(*arg)),
            Some(
                "split" | "match" | "matchAll" | "filter" | "slice" | "splice" | "concat" | "reverse" | "sort" | "flat"
                | "toReversed" | "toSorted" | "fill",
            ) => receiver & (DATA | HOLDS) | SAFE,
            Some("exec" | "parse") => first & DATA,
            Some(
                "trim" | "toLowerCase" | "toUpperCase" | "toString" | "substring" | "substr" | "replace" | "replaceAll"
                | "normalize" | "trimStart" | "trimEnd" | "toLocaleLowerCase" | "valueOf" | "next" | "json" | "text",
            ) => receiver & DATA,
            _ => 0,
        }
    }

    /// Returns the writes to a prototype through another name, such as a parameter.
    fn prototype_writes(&self, marks: &Taint) -> Vec<(Span, &'static str)> {
        let flow = self.flow;
        let shared = |at: NodeId| marks.nodes[at] & SHARED != 0;
        let writes = flow.writes.iter().filter(|write| shared(write.object)).map(|write| write.span);
        let calls = flow.calls().filter(|(_, call)| {
            let names = flow.callee_path(call).filter(|thing| thing.root == Root::Global).and_then(AccessPath::names);
            call.args.first().is_some_and(|arg| shared(*arg))
                && matches!(
                    names.as_deref(),
                    Some(
                        ["Object", "assign" | "defineProperty" | "defineProperties" | "setPrototypeOf"]
                            | ["Reflect", "set" | "defineProperty" | "setPrototypeOf"]
                    )
                )
        });
        writes.chain(calls.map(|(at, _)| flow.nodes[at].span)).map(|span| (span, INSTALLS)).collect()
    }

    /// Returns the writes to objects that were reached through a dynamic key.
    fn reached_writes(&self, marks: &Taint) -> Vec<(Span, &'static str)> {
        let flow = self.flow;
        let of = |at: NodeId| marks.nodes[at];
        let mut found = Vec::new();
        for write in &flow.writes {
            let MemberKey::Computed(key) = write.key else { continue };
            if of(write.object) & REACHED != 0 && self.may_reach_prototype(marks, write.object, key) {
                found.push((write.span, SETS));
            }
        }
        for (at, call) in flow.calls() {
            let reached = call.args.first().is_some_and(|arg| of(*arg) & (REACHED | SAFE) == REACHED);
            let names = flow.callee_path(call).filter(|thing| thing.root == Root::Global).and_then(AccessPath::names);
            let open = |index: usize| call.args.get(index).is_some_and(|arg| self.may_be_any_text(marks, *arg));
            let written = match names.as_deref() {
                Some(["Reflect", "set" | "defineProperty"] | ["Object", "defineProperty"]) => {
                    let owned = call.args.first().and_then(|arg| self.var_of(*arg));
                    reached && open(1) && !owned.is_some_and(|slot| self.owned_objects.contains(&slot))
                }
                Some(["Object", "assign" | "defineProperties"]) => {
                    reached
                        && call.args.iter().skip(1).any(|arg| match &flow.nodes[*arg].kind {
                            NodeKind::Object(props) => props.iter().any(|(key, value)| match key {
                                MemberKey::Computed(key) => self.may_be_any_text(marks, *key),
                                MemberKey::Spread => of(*value) & DATA != 0,
                                MemberKey::Named(_) => false,
                            }),
                            _ => of(*arg) & DATA != 0,
                        })
                }
                _ => false,
            };
            if written {
                found.push((flow.nodes[at].span, SETS));
            }
            // A merge that recurses into both trees, and writes the result.
            let inside = flow.nodes[at].function;
            let down = call.args.iter().filter(|arg| of(**arg) & REACHED != 0).count() >= 2;
            if down && inside.is_some_and(|function| call.functions.contains(&function)) {
                let own = flow.writes.iter().find(|write| {
                    write.function == inside
                        && matches!(write.key, MemberKey::Computed(key) if self.may_reach_prototype(marks, write.object, key))
                });
                found.extend(own.map(|write| (write.span, MERGES)));
            }
            // `JSON.parse(text, function (key, value) { this[key] = value })`.
            let reviver = call.args.get(1).map(|arg| &flow.nodes[*arg].kind);
            if let (true, Some(NodeKind::Function(function))) =
                (flow.is_call_of_global(call, &["JSON", "parse"]), reviver)
            {
                let own = flow.writes.iter().find(|write| {
                    write.function == Some(*function)
                        && matches!(flow.nodes[write.object].kind, NodeKind::This)
                        && matches!(write.key, MemberKey::Computed(_))
                });
                found.extend(own.map(|write| (write.span, SETS)));
            }
        }
        found
    }
}

/// Returns the mark of an element for the mark of its list.
fn element_mark(mark: u8) -> u8 {
    if mark & HOLDS == 0 { 0 } else { REACHED | HOLDS }
}
