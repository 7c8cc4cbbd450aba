//! Keys that lead to a prototype: an object that was reached through a key from outside is written at another such key.
//!
//! That is what merges, path setters and tables of two levels have in common, however they are written: `__proto__` as
//! the first key reaches the prototype, the second one is what is set there.
//!
//! Invariant: nothing is found in a source that tells the dangerous keys apart, or in an object that has no prototype.

use rustc_hash::FxHashSet;
use swc_common::Span;

use super::guards::guards;
use crate::facts::Role;
use crate::rules::Source;
use crate::rules::flow::{At, Call, Flow, Key, Kind, Marks, Name, Node, Slot};
use crate::value::{Key as Step, Root, Thing, Value};

/// May be any text or tree from outside.
const DATA: u8 = 1;
/// May be an object that was reached through a key from outside.
const REACHED: u8 = 2;
/// A list, a `Map`, or an object without a prototype.
const SAFE: u8 = 4;
/// Holds objects that were reached.
const HOLDS: u8 = 8;
/// Is a prototype that others share.
const SHARED: u8 = 16;
/// Is a class of the language, or a list of such.
const BUILTIN: u8 = 32;

const MERGES: &str = "merges keys into an object without leaving out `__proto__`";
const INSTALLS: &str = "writes to a prototype that others share, under another name";
const SETS: &str = "sets a value at a path of keys without leaving out `__proto__`";

/// The writes that a key may lead to a prototype.
pub(super) fn writes(source: &Source<'_>) -> Vec<(Span, &'static str)> {
    if !writes_at_keys(source) {
        return Vec::new();
    }
    let flow = source.flow();
    let mut keys = Keys { checked: FxHashSet::default(), owned: FxHashSet::default(), flow };
    keys.note_checks();
    let marks =
        flow.solve(own, |marks, at| keys.mark(marks, at), |mark| if mark & (REACHED | HOLDS) == 0 { 0 } else { HOLDS });
    let mut found = keys.installed(&marks);
    if !guards(flow, source) {
        found.extend(keys.found(&marks));
    }
    found
}

/// Whether anything is written at a key that is not known; else nothing needs to be followed.
fn writes_at_keys(source: &Source<'_>) -> bool {
    let open = |value: &Value| match value.as_thing() {
        Some(thing) => thing.path.last().is_some_and(|key| key.name().is_none()),
        None => *value == Value::Unknown,
    };
    let prototype = |thing: &Thing| thing.path.iter().any(|key| matches!(key.name(), Some("prototype" | "__proto__")));
    source.facts.writes.iter().any(|write| open(&write.target) || write.target.as_thing().is_some_and(prototype))
        || source.facts.uses.iter().any(|used| used.role != Role::Called && super::is_shared_prototype(&used.thing))
        || source.facts.calls.iter().any(|call| {
            let names = call.callee.as_thing().filter(|thing| thing.root == Root::Global).and_then(Thing::names);
            matches!(
                names.as_deref(),
                Some(
                    ["Reflect", "set" | "defineProperty"]
                        | ["Object", "assign" | "defineProperty" | "defineProperties"]
                )
            )
        })
}

/// What a node is by itself.
fn own(node: &Node) -> u8 {
    match node.value.as_thing() {
        Some(thing) if super::is_shared_prototype(thing) => SHARED,
        Some(Thing { root: Root::Global, path, .. }) => match path.as_slice() {
            [Step::Name(name)] if name.starts_with(|first: char| first.is_ascii_uppercase()) => BUILTIN,
            _ => 0,
        },
        _ => 0,
    }
}

struct Keys<'a> {
    flow: &'a Flow<'a>,
    /// Names of keys that are looked up in something fixed before they are used.
    checked: FxHashSet<Slot>,
    /// Names of objects that are asked whether they have a key of their own.
    owned: FxHashSet<Slot>,
}

impl Keys<'_> {
    fn slot(&self, at: At) -> Option<Slot> {
        match &self.flow.nodes[at].kind {
            Kind::Name(slot) => Some(*slot),
            Kind::Member(_, Key::Named(name)) => self.flow.field(name),
            _ => None,
        }
    }

    /// Whether something is a constant list, set, pattern or table of the source.
    fn is_fixed(&self, at: At, steps: u32) -> bool {
        let node = &self.flow.nodes[at];
        match &node.kind {
            _ if matches!(node.value, Value::Pattern(..) | Value::List(_)) => true,
            Kind::List(_) => true,
            Kind::Object(props) => !props.is_empty(),
            Kind::Call(call) => {
                call.new && ["Set", "Map", "RegExp"].iter().any(|name| self.flow.calls_global(call, &[name]))
                    || self.flow.calls_global(call, &["Object", "freeze"])
                    || self.flow.calls_global(call, &["Object", "keys"])
                        && call.args.iter().any(|arg| steps > 0 && self.is_fixed(*arg, steps - 1))
            }
            _ => {
                steps > 0
                    && self
                        .slot(at)
                        .is_some_and(|slot| self.flow.origins(slot).take(8).any(|at| self.is_fixed(at, steps - 1)))
            }
        }
    }

    /// Notes which keys and objects are asked about, and carries that from helpers to those that call them.
    fn note_checks(&mut self) {
        for (_, call) in self.flow.calls() {
            let names = self.flow.callee(call).and_then(Thing::names).unwrap_or_default();
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
                if self.is_fixed(object, 3) {
                    self.checked.extend(key.and_then(|key| self.slot(*key)));
                }
                self.owned.extend(self.slot(object));
            }
            if let (Some("has" | "includes" | "indexOf" | "test"), Some(receiver)) =
                (call.method.as_deref(), call.receiver)
                && self.is_fixed(receiver, 3)
            {
                self.checked.extend(call.args.first().and_then(|arg| self.slot(*arg)));
            }
        }
        for _ in 0..3 {
            let mut more: (Vec<Slot>, Vec<Slot>) = Default::default();
            for bind in self.flow.binds.iter().filter(|bind| !bind.holds) {
                let (checked, owned) = (self.checked.contains(&bind.to), self.owned.contains(&bind.to));
                match &self.flow.nodes[bind.from].kind {
                    Kind::Param(_, inputs) if checked || owned => {
                        let slots = inputs.iter().filter_map(|input| match &self.flow.nodes[*input].kind {
                            Kind::Element(list) => self.slot(*list),
                            _ => self.slot(*input),
                        });
                        let slots: Vec<Slot> = slots.collect();
                        if checked {
                            more.0.extend(&slots);
                        }
                        if owned {
                            more.1.extend(slots);
                        }
                    }
                    Kind::Element(list) if checked => more.0.extend(self.slot(*list)),
                    Kind::Name(slot) if checked => more.0.push(*slot),
                    _ => {}
                }
            }
            self.checked.extend(more.0);
            self.owned.extend(more.1);
        }
    }

    /// Whether a key may be any text.
    fn is_open(&self, marks: &Marks, at: At) -> bool {
        const LETTERS: [&str; 11] =
            ["c", "ch", "char", "chr", "letter", "character", "digit", "i", "j", "idx", "index"];
        let node = &self.flow.nodes[at];
        if marks.nodes[at] & DATA == 0 || node.value.string().is_some() {
            return false;
        }
        let told = |name: &Name| LETTERS.contains(&&**name) || self.flow.typed.contains(name);
        match &node.kind {
            Kind::Name(slot) => {
                !self.flow.numeric.contains(slot)
                    && !self.checked.contains(slot)
                    && !told(&self.flow.symbols[*slot])
                    // A name that was taken out of something has the type of what it was taken from.
                    && !self.flow.origins(*slot).take(16).any(|from| match &self.flow.nodes[from].kind {
                        Kind::Member(_, Key::Named(name)) => self.flow.typed.contains(name),
                        Kind::Name(other) => self.flow.numeric.contains(other),
                        Kind::Element(list) => self.slot(*list).is_some_and(|slot| self.checked.contains(&slot)),
                        _ => false,
                    })
            }
            Kind::Member(object, Key::Named(name)) => {
                !told(name) && !self.slot(*object).is_some_and(|slot| self.checked.contains(&slot))
            }
            Kind::Member(object, _) => !self.slot(*object).is_some_and(|slot| self.checked.contains(&slot)),
            Kind::Either(of) => of.iter().any(|part| self.is_open(marks, *part)),
            _ => true,
        }
    }

    /// Whether an open key of an object may lead to a prototype.
    fn steps(&self, marks: &Marks, object: At, key: At) -> bool {
        marks.nodes[object] & SAFE == 0
            && !self
                .slot(object)
                .is_some_and(|slot| self.owned.contains(&slot) || self.flow.typed.contains(&self.flow.symbols[slot]))
            && self.is_open(marks, key)
    }

    fn mark(&self, marks: &Marks, at: At) -> u8 {
        let of = |at: At| marks.nodes[at];
        let node = &self.flow.nodes[at];
        match &node.kind {
            Kind::Opaque | Kind::Joined(_) | Kind::Computed | Kind::Function(_) | Kind::This => 0,
            Kind::Name(slot) => marks.slots[*slot],
            Kind::Param(function, inputs) => {
                let data = if self.flow.is_entry(*function) { DATA } else { 0 };
                inputs.iter().fold(data, |mark, input| mark | of(*input))
            }
            Kind::Element(list) => of(*list) & (DATA | BUILTIN) | inner(of(*list)),
            Kind::KeyOf(object) => match &self.flow.nodes[*object].kind {
                Kind::Object(props) if !props.is_empty() => 0,
                _ if of(*object) & (DATA | REACHED) == 0 => 0,
                _ => DATA,
            },
            Kind::Rest(object, _) => of(*object),
            Kind::Member(object, Key::Named(name)) => {
                if matches!(&**name, "length" | "size") {
                    return 0;
                }
                let field = self.flow.field(name).map_or(0, |slot| marks.slots[slot]);
                let index = if name.parse::<u32>().is_ok() { inner(of(*object)) } else { 0 };
                let shared = if &**name == "prototype" && of(*object) & BUILTIN != 0 { SHARED } else { 0 };
                of(*object) & DATA | index | field & !BUILTIN | shared
            }
            Kind::Member(object, Key::Computed(key)) => {
                let step = if self.steps(marks, *object, *key) { REACHED } else { 0 };
                of(*object) & DATA | inner(of(*object)) | step
            }
            Kind::Member(object, Key::Spread) => of(*object) & DATA,
            Kind::Object(props) => props.iter().fold(0, |mark, (key, value)| {
                let held = if of(*value) & (REACHED | HOLDS) == 0 { 0 } else { HOLDS };
                mark | match key {
                    Key::Spread => of(*value) & DATA,
                    Key::Computed(_) => of(*value) & DATA | held,
                    Key::Named(name) if &**name == "__proto__" && self.flow.nodes[*value].value == Value::Null => SAFE,
                    Key::Named(_) => held,
                }
            }),
            Kind::List(elems) => elems.iter().fold(SAFE, |mark, elem| {
                mark | of(*elem) & (DATA | BUILTIN) | if of(*elem) & (REACHED | HOLDS) == 0 { 0 } else { HOLDS }
            }),
            Kind::Either(parts) => parts.iter().fold(0, |mark, part| mark | of(*part)),
            Kind::Call(call) => self.call(marks, call),
        }
    }

    fn call(&self, marks: &Marks, call: &Call) -> u8 {
        let of = |at: At| marks.nodes[at];
        let first = call.args.first().map_or(0, |arg| of(*arg));
        if !call.functions.is_empty() {
            return call.returns.iter().fold(0, |mark, at| mark | of(*at));
        }
        let names = self.flow.callee(call).filter(|thing| thing.root == Root::Global).and_then(Thing::names);
        match names.as_deref() {
            Some(["Reflect", "get"]) => {
                return match call.args.as_slice() {
                    [object, key, ..] if self.steps(marks, *object, *key) => REACHED | of(*object) & DATA,
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
            Some("pop" | "shift" | "at" | "find" | "get" | "values") => receiver & DATA | inner(receiver),
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

    /// The writes to a prototype that was given another name, or to a function.
    fn installed(&self, marks: &Marks) -> Vec<(Span, &'static str)> {
        let flow = self.flow;
        let shared = |at: At| marks.nodes[at] & SHARED != 0;
        let writes = flow.writes.iter().filter(|write| shared(write.object)).map(|write| write.span);
        let calls = flow.calls().filter(|(_, call)| {
            let names = flow.callee(call).filter(|thing| thing.root == Root::Global).and_then(Thing::names);
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

    /// The writes to what was reached.
    fn found(&self, marks: &Marks) -> Vec<(Span, &'static str)> {
        let flow = self.flow;
        let of = |at: At| marks.nodes[at];
        let mut found = Vec::new();
        for write in &flow.writes {
            let Key::Computed(key) = write.key else { continue };
            if of(write.object) & REACHED != 0 && self.steps(marks, write.object, key) {
                found.push((write.span, SETS));
            }
        }
        for (at, call) in flow.calls() {
            let reached = call.args.first().is_some_and(|arg| of(*arg) & (REACHED | SAFE) == REACHED);
            let names = flow.callee(call).filter(|thing| thing.root == Root::Global).and_then(Thing::names);
            let open = |index: usize| call.args.get(index).is_some_and(|arg| self.is_open(marks, *arg));
            let written = match names.as_deref() {
                Some(["Reflect", "set" | "defineProperty"] | ["Object", "defineProperty"]) => {
                    let owned = call.args.first().and_then(|arg| self.slot(*arg));
                    reached && open(1) && !owned.is_some_and(|slot| self.owned.contains(&slot))
                }
                Some(["Object", "assign" | "defineProperties"]) => {
                    reached
                        && call.args.iter().skip(1).any(|arg| match &flow.nodes[*arg].kind {
                            Kind::Object(props) => props.iter().any(|(key, value)| match key {
                                Key::Computed(key) => self.is_open(marks, *key),
                                Key::Spread => of(*value) & DATA != 0,
                                Key::Named(_) => false,
                            }),
                            _ => of(*arg) & DATA != 0,
                        })
                }
                _ => false,
            };
            if written {
                found.push((flow.nodes[at].span, SETS));
            }
            // A merge that goes down both trees at once, and writes what comes back.
            let inside = flow.nodes[at].inside;
            let down = call.args.iter().filter(|arg| of(**arg) & REACHED != 0).count() >= 2;
            if down && inside.is_some_and(|function| call.functions.contains(&function)) {
                let own = flow.writes.iter().find(|write| {
                    write.inside == inside
                        && matches!(write.key, Key::Computed(key) if self.steps(marks, write.object, key))
                });
                found.extend(own.map(|write| (write.span, MERGES)));
            }
            // `JSON.parse(text, function (key, value) { this[key] = value })`
            let reviver = call.args.get(1).map(|arg| &flow.nodes[*arg].kind);
            if let (true, Some(Kind::Function(function))) = (flow.calls_global(call, &["JSON", "parse"]), reviver) {
                let own = flow.writes.iter().find(|write| {
                    write.inside == Some(*function)
                        && matches!(flow.nodes[write.object].kind, Kind::This)
                        && matches!(write.key, Key::Computed(_))
                });
                found.extend(own.map(|write| (write.span, SETS)));
            }
        }
        found
    }
}

/// What an element of a list has of what the list holds.
fn inner(mark: u8) -> u8 {
    if mark & HOLDS == 0 { 0 } else { REACHED | HOLDS }
}
