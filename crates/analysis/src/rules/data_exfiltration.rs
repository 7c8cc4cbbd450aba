//! `data-exfiltration`: something sensitive that is sent to a place that the source names.
//!
//! What is sensitive by itself (`secrets`) is followed through names, lists, calls and callbacks to what sends it, and
//! that counts where the source says where it goes (`places`).
//!
//! Invariant: a length, a comparison or a hash of a secret is none.

mod places;
mod secrets;

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{At, Call, Flow, Key, Kind, Marks, Name, Node, Slot};
use super::{Findings, Rule, Source};
use crate::finding::{RuleId, Severity};
use crate::value::{Root, Thing, Value};
use places::{is_named, is_way_out, names_place};
use secrets::{is_secret_name, reads, says_nothing, sensitive};

pub(super) const RULE: Rule = Rule {
    id: RuleId("data-exfiltration"),
    worst: Severity::Critical,
    page: include_str!("data_exfiltration.md"),
    check,
};

const SUGGESTION: &str = "send secrets only where the caller says, through the capability `secrets`";

/// How many are told of one source.
const MOST: usize = 32;

/// Is sensitive.
const IS: u8 = 1;
/// Has something sensitive in it.
const HOLDS: u8 = 2;
/// Sends what it is given to a place that the source names: a socket, a request that is under way.
const SENDER: u8 = 4;
/// Is what reaches the network, such as `fetch`.
const WAY_OUT: u8 = 8;
/// What a value is, rather than what it has.
const SECRET: u8 = IS | HOLDS;

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    let facts = source.facts;
    let leaves = |thing: &Thing| {
        is_way_out(thing) || ["document", "location", "open"].iter().any(|name| thing.is_global_below(&[name]))
    };
    if !facts.uses.iter().any(|used| leaves(&used.thing))
        && !facts.modules.iter().any(|(module, _)| super::network_access::is_network(module))
        && !facts.writes.iter().any(|write| write.target.as_thing().is_some_and(leaves))
    {
        return;
    }
    let flow = source.flow();
    let taint = Taint::of(flow);
    let marks = flow.solve(own, |marks, at| taint.mark(marks, at), |mark| if mark & SECRET == 0 { 0 } else { HOLDS });
    for (at, sent) in taint.sent(&marks).into_iter().take(MOST) {
        let what = taint.label(&marks, sent, 24, &mut FxHashSet::default()).unwrap_or_else(|| "a secret".to_owned());
        let message = format!("sends something sensitive ({what}) to another machine");
        findings.add(Severity::Critical, flow.nodes[at].span, message, SUGGESTION);
    }
}

/// What a node is by itself.
fn own(node: &Node) -> u8 {
    node.value.as_thing().map_or(0, |thing| {
        let is = if sensitive(thing) { IS } else { 0 };
        is | if is_way_out(thing) { WAY_OUT } else { 0 }
    })
}

struct Taint<'a> {
    flow: &'a Flow<'a>,
    /// Which names say that something is secret.
    secret: RefCell<FxHashMap<Name, bool>>,
    /// Names of whole parameters that something secret is taken from.
    wholes: FxHashSet<Slot>,
    /// Whether a request is opened at a place that the source names.
    opened: bool,
}

impl<'a> Taint<'a> {
    fn is_secret_name(&self, name: &Name) -> bool {
        if let Some(known) = self.secret.borrow().get(name) {
            return *known;
        }
        let secret = is_secret_name(name);
        self.secret.borrow_mut().insert(Name::clone(name), secret);
        secret
    }

    fn of(flow: &'a Flow<'a>) -> Self {
        let mut taint = Self { flow, secret: RefCell::default(), wholes: FxHashSet::default(), opened: false };
        for node in &flow.nodes {
            if let Kind::Member(object, Key::Named(name)) = &node.kind
                && taint.is_secret_name(name)
                && let Kind::Name(slot) = flow.nodes[*object].kind
                && flow
                    .origins(slot)
                    .any(|from| matches!(flow.nodes[from].kind, Kind::Param(function, _) if flow.is_entry(function)))
            {
                taint.wholes.insert(slot);
            }
        }
        taint.opened = flow.calls().any(|(_, call)| {
            call.method.as_deref() == Some("open") && call.args.get(1).is_some_and(|place| is_named(flow, *place))
        });
        taint
    }

    fn mark(&self, marks: &Marks, at: At) -> u8 {
        let of = |at: At| marks.nodes[at];
        let node = &self.flow.nodes[at];
        match &node.kind {
            Kind::Opaque | Kind::Computed | Kind::Function(_) | Kind::This | Kind::KeyOf(_) => 0,
            Kind::Name(slot) => {
                let mark = marks.slots[*slot] | if self.wholes.contains(slot) { HOLDS } else { 0 };
                let named = self.is_secret_name(&self.flow.symbols[*slot])
                    && self.flow.origins(*slot).any(|from| {
                        matches!(self.flow.nodes[from].kind, Kind::Param(function, _) if self.flow.is_entry(function))
                    });
                let mark = mark | if named { IS } else { 0 };
                if self.flow.deleted.contains(slot) { mark & !HOLDS } else { mark }
            }
            Kind::Param(_, inputs) => inputs.iter().fold(0, |mark, input| mark | of(*input)),
            Kind::Element(list) => inner(of(*list)),
            Kind::Rest(object, taken) => {
                let left_out = taken.iter().any(|name| {
                    self.is_secret_name(name)
                        || self.flow.field(name).is_some_and(|slot| marks.slots[slot] & SECRET != 0)
                });
                if left_out { 0 } else { of(*object) & SECRET }
            }
            Kind::Member(_, Key::Named(name)) if says_nothing(name) => 0,
            Kind::Member(object, Key::Named(name)) => {
                let index = if name.parse::<u32>().is_ok() { inner(of(*object)) } else { 0 };
                let given = node.value.as_thing().is_some_and(|thing| thing.root == Root::Params);
                let field = self.flow.field(name).filter(|_| !given).map_or(0, |slot| marks.slots[slot]);
                let whole = matches!(&**name, "searchParams" | "href" | "search" | "body") && of(*object) & HOLDS != 0;
                let named = of(*object) & HOLDS != 0 && self.is_secret_name(name);
                let text = if whole || named { IS } else { 0 };
                of(*object) & IS | index | field | text | of(*object) & SENDER
            }
            Kind::Member(object, _) => inner(of(*object)),
            Kind::Object(props) => {
                let masked = props.iter().any(|(key, value)| {
                    matches!(key, Key::Named(name) if self.is_secret_name(name)) && of(*value) & SECRET == 0
                });
                props.iter().fold(0, |mark, (key, value)| match key {
                    Key::Spread if masked => mark,
                    Key::Spread => mark | of(*value) & SECRET,
                    _ => mark | held(of(*value)),
                })
            }
            Kind::List(elems) => elems.iter().fold(0, |mark, elem| mark | held(of(*elem))),
            Kind::Either(parts) => parts.iter().fold(0, |mark, part| mark | of(*part)),
            Kind::Joined(parts) => {
                if parts.iter().any(|part| of(*part) & SECRET != 0) {
                    IS
                } else {
                    0
                }
            }
            Kind::Call(call) => self.call(marks, call),
        }
    }

    fn call(&self, marks: &Marks, call: &Call) -> u8 {
        let of = |at: At| marks.nodes[at];
        let all = |places: &[At]| places.iter().fold(0, |mark, at| mark | of(*at));
        let thing = self.flow.callee(call);
        if !call.functions.is_empty() && !call.new {
            return all(&call.returns);
        }
        if let Some(thing) = thing {
            if reads(thing) {
                return IS;
            }
            if is_way_out(thing) {
                let sends = if thing.is_global_below(&["XMLHttpRequest"]) {
                    self.opened
                } else {
                    thing.is_global_below(&["Image"])
                        || thing.module().is_some_and(|module| matches!(module, "net" | "tls" | "dgram"))
                        || names_place(self.flow, call, thing.module().is_some() || thing.is_global_below(&["axios"]))
                };
                return if sends { SENDER } else { 0 };
            }
        }
        let receiver = call.receiver.map_or(0, of);
        if receiver & SENDER != 0 && receiver & SECRET == 0 {
            return SENDER;
        }
        let names = thing.filter(|thing| thing.root == Root::Global).and_then(Thing::names).unwrap_or_default();
        let args = all(&call.args);
        let text = |mark: u8| if mark & SECRET == 0 { 0 } else { IS };
        match names.as_slice() {
            ["Boolean" | "isNaN"] | ["Object", "keys" | "hasOwn"] | ["Number" | "Array", ..]
                if names.as_slice() != ["Array", "from"] && names.as_slice() != ["Array", "of"] =>
            {
                return 0;
            }
            ["JSON", "stringify"] => {
                let replaced = call.args.get(1).is_some_and(|arg| self.flow.nodes[*arg].value != Value::Null);
                return if replaced {
                    text(all(&call.callbacks))
                } else {
                    text(call.args.first().map_or(0, |arg| of(*arg)))
                };
            }
            ["Object", "values" | "entries" | "assign" | "fromEntries" | "freeze"] => return args & SECRET,
            ["setTimeout" | "setInterval" | "queueMicrotask" | "console", ..] => return 0,
            _ => {}
        }
        match call.method.as_deref() {
            Some(
                "startsWith" | "endsWith" | "includes" | "test" | "has" | "indexOf" | "lastIndexOf" | "search"
                | "every" | "some" | "localeCompare" | "digest" | "findIndex" | "forEach" | "verify"
                | "timingSafeEqual" | "isArray" | "createHash" | "keys" | "push" | "unshift" | "compare",
            ) => 0,
            Some("map" | "flatMap") => {
                if call.callbacks.is_empty() {
                    receiver & SECRET
                } else {
                    held(all(&call.callbacks))
                }
            }
            Some("then" | "finally") => all(&call.callbacks),
            Some("reduce" | "reduceRight") => {
                let text = all(&call.callbacks) & SECRET;
                text | call.args.get(1).map_or(0, |start| of(*start)) & SECRET
            }
            Some("replace" | "replaceAll") if self.masks(call) => 0,
            Some("slice" | "substr") if self.is_tail(call) => 0,
            Some("filter" | "slice" | "concat" | "reverse" | "sort" | "flat" | "splice" | "toReversed" | "split") => {
                receiver & SECRET | held(args)
            }
            Some("pop" | "shift" | "at" | "find" | "get" | "values" | "entries") => inner(receiver),
            _ => text(receiver | args | all(&call.callbacks)) | if call.new { held(args) } else { 0 },
        }
    }

    /// Whether a replacement leaves nothing: `token.replace(/./g, "*")`.
    fn masks(&self, call: &Call) -> bool {
        let text = call.args.get(1).and_then(|arg| self.flow.nodes[*arg].value.as_text());
        let pattern = call.args.first().map(|arg| &self.flow.nodes[*arg].value);
        text.is_some_and(|text| {
            text.chars().all(|letter| "*•●xX#█".contains(letter)) && !text.is_empty()
                || text.to_lowercase().contains("redacted")
        }) && matches!(pattern, Some(Value::Pattern(..)))
    }

    /// Whether only the last few letters are taken.
    fn is_tail(&self, call: &Call) -> bool {
        let first = call.args.first().and_then(|arg| self.flow.nodes[*arg].value.as_number());
        first.is_some_and(|first| (-4.0..0.0).contains(&first))
    }

    /// What is sent, with the place where it is.
    fn sent(&self, marks: &Marks) -> Vec<(At, At)> {
        let flow = self.flow;
        let secret = |at: &At| marks.nodes[*at] & SECRET != 0;
        let mut sent = Vec::new();
        for (at, call) in flow.calls() {
            let thing = flow.callee(call);
            let way_out = marks.nodes[call.callee] & WAY_OUT != 0;
            let module = thing.is_some_and(|thing| thing.module().is_some() || thing.is_global_below(&["axios"]));
            let applied = flow.calls_global(call, &["Reflect", "apply"])
                && call.args.first().is_some_and(|arg| marks.nodes[*arg] & WAY_OUT != 0);
            let by_sender = call.receiver.is_some_and(|receiver| marks.nodes[receiver] & SENDER != 0)
                && matches!(
                    call.method.as_deref(),
                    Some(
                        "send"
                            | "write"
                            | "end"
                            | "post"
                            | "put"
                            | "patch"
                            | "request"
                            | "setRequestHeader"
                            | "emit"
                            | "get"
                            | "head"
                            | "sendMail"
                            | "setHeader"
                            | "open"
                            | "publish"
                    )
                );
            let named = by_sender
                || way_out && names_place(flow, call, module)
                || (applied || way_out) && call.args.iter().any(|arg| lists_place(flow, *arg))
                || self.navigates(call) && call.args.first().is_some_and(|arg| is_named(flow, *arg))
                || self.shows(call);
            if named && let Some(arg) = call.args.iter().find(|arg| secret(arg)) {
                sent.push((at, *arg));
            }
        }
        for write in &flow.writes {
            let Key::Named(name) = &write.key else { continue };
            let leads = match &**name {
                "src" | "srcset" => is_named(flow, write.value),
                "href" | "location" | "action" => {
                    is_named(flow, write.value)
                        && (&**name != "href"
                            || flow.nodes[write.object]
                                .value
                                .as_thing()
                                .is_some_and(|thing| thing.last() == Some("location")))
                }
                "innerHTML" | "outerHTML" => self.has_address(write.value),
                _ => false,
            };
            if leads && secret(&write.value) {
                sent.push((write.value, write.value));
            }
        }
        sent
    }

    /// Whether a call goes to an address in the browser.
    fn navigates(&self, call: &Call) -> bool {
        [&["location", "assign"] as &[&str], &["location", "replace"], &["open"]]
            .iter()
            .any(|path| self.flow.calls_global(call, path))
    }

    /// Whether a call writes HTML that loads something from an address.
    fn shows(&self, call: &Call) -> bool {
        let written = self.flow.calls_global(call, &["document", "write"])
            || matches!(call.method.as_deref(), Some("insertAdjacentHTML"));
        written && call.args.iter().any(|arg| self.has_address(*arg))
    }

    fn has_address(&self, at: At) -> bool {
        match &self.flow.nodes[at].kind {
            Kind::Joined(parts) => parts.iter().any(|part| self.has_address(*part)),
            _ => self.flow.nodes[at].value.as_text().is_some_and(|text| text.contains("://")),
        }
    }

    /// What a sensitive value is called.
    fn label(&self, marks: &Marks, at: At, steps: u32, seen: &mut FxHashSet<At>) -> Option<String> {
        let node = &self.flow.nodes[at];
        if steps == 0 || marks.nodes[at] & SECRET == 0 || !seen.insert(at) || seen.len() > 400 {
            return None;
        }
        if let Some(thing) = node.value.as_thing().filter(|thing| sensitive(thing)) {
            return Some(format!("`{}`", thing.shown()));
        }
        let mut parts: Vec<At> = match &node.kind {
            Kind::Name(slot) => self
                .flow
                .origins(*slot)
                .chain(self.flow.binds.iter().filter(|bind| bind.to == *slot).map(|bind| bind.from))
                .collect(),
            Kind::Member(object, Key::Named(name)) => {
                let slot = self.flow.field(name);
                std::iter::once(*object).chain(slot.into_iter().flat_map(|slot| self.flow.origins(slot))).collect()
            }
            Kind::Member(object, _) | Kind::Element(object) | Kind::Rest(object, _) => vec![*object],
            Kind::Call(call) => {
                if let Some(thing) = self.flow.callee(call).filter(|thing| reads(thing)) {
                    return Some(format!("`{}`", thing.shown()));
                }
                call.returns.iter().chain(&call.callbacks).chain(&call.receiver).chain(&call.args).copied().collect()
            }
            Kind::Object(props) => props.iter().map(|(_, value)| *value).collect(),
            Kind::List(parts) | Kind::Either(parts) | Kind::Joined(parts) | Kind::Param(_, parts) => parts.clone(),
            _ => Vec::new(),
        };
        parts.truncate(32);
        let name = if let Kind::Name(slot) = node.kind { Some(format!("`{}`", self.flow.symbols[slot])) } else { None };
        parts.into_iter().find_map(|part| self.label(marks, part, steps - 1, seen)).or(name)
    }
}

/// Whether arguments that are given as a list begin with an address.
fn lists_place(flow: &Flow<'_>, at: At) -> bool {
    matches!(&flow.nodes[at].kind, Kind::List(elems) if elems.first().is_some_and(|first| is_named(flow, *first)))
}

/// What a container gets of what is put in.
fn held(mark: u8) -> u8 {
    if mark & SECRET == 0 { 0 } else { HOLDS }
}

/// What an element has of its list.
fn inner(mark: u8) -> u8 {
    mark & SENDER | if mark & SECRET == 0 { 0 } else { SECRET }
}
