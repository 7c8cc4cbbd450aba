//! `data-exfiltration`: sensitive data that is sent to an address in the source.
//!
//! A taint analysis: sensitive values (`sources`) are followed through names, lists, calls and
//! callbacks to network operations (`sinks`) whose address is a constant of the source.
//!
//! Invariant: the length, a comparison or a hash of a secret is not a secret.

mod sinks;
mod sources;

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::dataflow::{Call, DataFlow, MemberKey, Name, Node, NodeId, NodeKind, Taint, VarId};
use crate::semantics::network::is_network;
use crate::semantics::value::{AccessPath, Root, Value};
use sinks::{is_literal_address, is_network_sink, names_destination};
use sources::{is_harmless_member, is_secret_name, is_sensitive, reads_file};

pub(super) const RULE: Rule = Rule {
    id: RuleId("data-exfiltration"),
    max_severity: Severity::Critical,
    docs: include_str!("data_exfiltration.md"),
    check,
};

const SUGGESTION: &str = msgid!("send secrets only to a host that the caller names, through the capability `secrets`");

/// The maximum number of findings of one source.
const MAX_FINDINGS: usize = 32;

/// The value is sensitive.
const SENSITIVE: u8 = 1;
/// The value contains something sensitive.
const HOLDS: u8 = 2;
/// The value sends its arguments to an address in the source: a socket, an open request.
const SENDER: u8 = 4;
/// The value reaches the network, such as `fetch`.
const NETWORK: u8 = 8;
/// Mark of a value that is, or contains, something sensitive.
const ANY_SECRET: u8 = SENSITIVE | HOLDS;

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let facts = source.facts;
    let leaves = |thing: &AccessPath| {
        is_network_sink(thing) || ["document", "location", "open"].iter().any(|name| thing.is_global_below(&[name]))
    };
    if !facts.uses.iter().any(|used| leaves(&used.path))
        && !facts.modules.iter().any(|(module, _)| is_network(module))
        && !facts.writes.iter().any(|write| write.target.as_path().is_some_and(leaves))
    {
        return;
    }
    let flow = source.dataflow();
    let taint = SecretFlow::new(flow);
    let marks = flow.propagate(
        own_marks,
        |marks, at| taint.mark(marks, at),
        |mark| if mark & ANY_SECRET == 0 { 0 } else { HOLDS },
    );
    for (at, sent) in taint.find_sent(&marks).into_iter().take(MAX_FINDINGS) {
        let label = taint.label(&marks, sent, 24, &mut FxHashSet::default());
        let data = label.map_or_else(|| message!("a secret"), Message::verbatim);
        let message = message!("sends sensitive data ({data}) to another machine", data);
        findings.add(Severity::Critical, flow.nodes[at].span, message, SUGGESTION);
    }
}

/// Returns the marks of a node by itself.
fn own_marks(node: &Node) -> u8 {
    node.value.as_path().map_or(0, |thing| {
        let is = if is_sensitive(thing) { SENSITIVE } else { 0 };
        is | if is_network_sink(thing) { NETWORK } else { 0 }
    })
}

struct SecretFlow<'a> {
    flow: &'a DataFlow<'a>,
    /// A cache: whether a name denotes a secret.
    secret_names: RefCell<FxHashMap<Name, bool>>,
    /// Names of whole parameters from which something secret is read.
    secret_params: FxHashSet<VarId>,
    /// Whether a request is opened at an address in the source.
    opens_named_address: bool,
}

impl<'a> SecretFlow<'a> {
    fn is_secret_name(&self, name: &Name) -> bool {
        if let Some(known) = self.secret_names.borrow().get(name) {
            return *known;
        }
        let secret = is_secret_name(name);
        self.secret_names.borrow_mut().insert(Name::clone(name), secret);
        secret
    }

    fn new(flow: &'a DataFlow<'a>) -> Self {
        let mut taint = Self {
            flow,
            secret_names: RefCell::default(),
            secret_params: FxHashSet::default(),
            opens_named_address: false,
        };
        for node in &flow.nodes {
            if let NodeKind::Member(object, MemberKey::Named(name)) = &node.kind
                && taint.is_secret_name(name)
                && let NodeKind::Name(slot) = flow.nodes[*object].kind
                && flow
                    .assigned_values(slot)
                    .any(|from| matches!(flow.nodes[from].kind, NodeKind::Param(function, _) if flow.is_called_externally(function)))
            {
                taint.secret_params.insert(slot);
            }
        }
        taint.opens_named_address = flow.calls().any(|(_, call)| {
            call.method.as_deref() == Some("open")
                && call.args.get(1).is_some_and(|place| is_literal_address(flow, *place))
        });
        taint
    }

    fn mark(&self, marks: &Taint, at: NodeId) -> u8 {
        let of = |at: NodeId| marks.nodes[at];
        let node = &self.flow.nodes[at];
        match &node.kind {
            NodeKind::Opaque | NodeKind::Computed | NodeKind::Function(_) | NodeKind::This | NodeKind::KeyOf(_) => 0,
            NodeKind::Name(slot) => {
                let mark = marks.vars[*slot] | if self.secret_params.contains(slot) { HOLDS } else { 0 };
                let named = self.is_secret_name(&self.flow.var_names[*slot])
                    && self.flow.assigned_values(*slot).any(|from| {
                        matches!(self.flow.nodes[from].kind, NodeKind::Param(function, _) if self.flow.is_called_externally(function))
                    });
                let mark = mark | if named { SENSITIVE } else { 0 };
                if self.flow.deleted_vars.contains(slot) { mark & !HOLDS } else { mark }
            }
            NodeKind::Param(_, inputs) => inputs.iter().fold(0, |mark, input| mark | of(*input)),
            NodeKind::Element(list) => element_mark(of(*list)),
            NodeKind::Rest(object, taken) => {
                let left_out = taken.iter().any(|name| {
                    self.is_secret_name(name)
                        || self.flow.field_var(name).is_some_and(|slot| marks.vars[slot] & ANY_SECRET != 0)
                });
                if left_out { 0 } else { of(*object) & ANY_SECRET }
            }
            NodeKind::Member(_, MemberKey::Named(name)) if is_harmless_member(name) => 0,
            NodeKind::Member(object, MemberKey::Named(name)) => {
                let index = if name.parse::<u32>().is_ok() { element_mark(of(*object)) } else { 0 };
                let given = node.value.as_path().is_some_and(|thing| thing.root == Root::Params);
                let field = self.flow.field_var(name).filter(|_| !given).map_or(0, |slot| marks.vars[slot]);
                let whole = matches!(&**name, "searchParams" | "href" | "search" | "body") && of(*object) & HOLDS != 0;
                let named = of(*object) & HOLDS != 0 && self.is_secret_name(name);
                let text = if whole || named { SENSITIVE } else { 0 };
                of(*object) & SENSITIVE | index | field | text | of(*object) & SENDER
            }
            NodeKind::Member(object, _) => element_mark(of(*object)),
            NodeKind::Object(props) => {
                let masked = props.iter().any(|(key, value)| {
                    matches!(key, MemberKey::Named(name) if self.is_secret_name(name)) && of(*value) & ANY_SECRET == 0
                });
                props.iter().fold(0, |mark, (key, value)| match key {
                    MemberKey::Spread if masked => mark,
                    MemberKey::Spread => mark | of(*value) & ANY_SECRET,
                    _ => mark | container_mark(of(*value)),
                })
            }
            NodeKind::List(elems) => elems.iter().fold(0, |mark, elem| mark | container_mark(of(*elem))),
            NodeKind::OneOf(parts) => parts.iter().fold(0, |mark, part| mark | of(*part)),
            NodeKind::Concat(parts) => {
                if parts.iter().any(|part| of(*part) & ANY_SECRET != 0) {
                    SENSITIVE
                } else {
                    0
                }
            }
            NodeKind::Call(call) => self.call(marks, call),
        }
    }

    fn call(&self, marks: &Taint, call: &Call) -> u8 {
        let of = |at: NodeId| marks.nodes[at];
        let all = |places: &[NodeId]| places.iter().fold(0, |mark, at| mark | of(*at));
        let thing = self.flow.callee_path(call);
        if !call.functions.is_empty() && !call.is_new {
            return all(&call.returns);
        }
        if let Some(thing) = thing {
            if reads_file(thing) {
                return SENSITIVE;
            }
            if is_network_sink(thing) {
                let sends = if thing.is_global_below(&["XMLHttpRequest"]) {
                    self.opens_named_address
                } else {
                    thing.is_global_below(&["Image"])
                        || thing.module_name().is_some_and(|module| matches!(module, "net" | "tls" | "dgram"))
                        || names_destination(
                            self.flow,
                            call,
                            thing.module_name().is_some() || thing.is_global_below(&["axios"]),
                        )
                };
                return if sends { SENDER } else { 0 };
            }
        }
        let receiver = call.receiver.map_or(0, of);
        if receiver & SENDER != 0 && receiver & ANY_SECRET == 0 {
            return SENDER;
        }
        let names = thing.filter(|thing| thing.root == Root::Global).and_then(AccessPath::names).unwrap_or_default();
        let args = all(&call.args);
        let text = |mark: u8| if mark & ANY_SECRET == 0 { 0 } else { SENSITIVE };
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
            ["Object", "values" | "entries" | "assign" | "fromEntries" | "freeze"] => return args & ANY_SECRET,
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
                    receiver & ANY_SECRET
                } else {
                    container_mark(all(&call.callbacks))
                }
            }
            Some("then" | "finally") => all(&call.callbacks),
            Some("reduce" | "reduceRight") => {
                let text = all(&call.callbacks) & ANY_SECRET;
                text | call.args.get(1).map_or(0, |start| of(*start)) & ANY_SECRET
            }
            Some("replace" | "replaceAll") if self.is_masking(call) => 0,
            Some("slice" | "substr") if self.is_tail(call) => 0,
            Some("filter" | "slice" | "concat" | "reverse" | "sort" | "flat" | "splice" | "toReversed" | "split") => {
                receiver & ANY_SECRET | container_mark(args)
            }
            Some("pop" | "shift" | "at" | "find" | "get" | "values" | "entries") => element_mark(receiver),
            _ => text(receiver | args | all(&call.callbacks)) | if call.is_new { container_mark(args) } else { 0 },
        }
    }

    /// Returns whether a replacement removes everything: `token.replace(/./g, "*")`.
    fn is_masking(&self, call: &Call) -> bool {
        let text = call.args.get(1).and_then(|arg| self.flow.nodes[*arg].value.as_text());
        let pattern = call.args.first().map(|arg| &self.flow.nodes[*arg].value);
        text.is_some_and(|text| {
            text.chars().all(|letter| "*•●xX#█".contains(letter)) && !text.is_empty()
                || text.to_lowercase().contains("redacted")
        }) && matches!(pattern, Some(Value::Pattern(..)))
    }

    /// Returns whether only the last few characters are taken.
    fn is_tail(&self, call: &Call) -> bool {
        let first = call.args.first().and_then(|arg| self.flow.nodes[*arg].value.as_number());
        first.is_some_and(|first| (-4.0..0.0).contains(&first))
    }

    /// Returns the nodes that send something, each with the value that is sent.
    fn find_sent(&self, marks: &Taint) -> Vec<(NodeId, NodeId)> {
        let flow = self.flow;
        let secret = |at: &NodeId| marks.nodes[*at] & ANY_SECRET != 0;
        let mut sent = Vec::new();
        for (at, call) in flow.calls() {
            let thing = flow.callee_path(call);
            let way_out = marks.nodes[call.callee] & NETWORK != 0;
            let module = thing.is_some_and(|thing| thing.module_name().is_some() || thing.is_global_below(&["axios"]));
            let applied = flow.is_call_of_global(call, &["Reflect", "apply"])
                && call.args.first().is_some_and(|arg| marks.nodes[*arg] & NETWORK != 0);
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
                || way_out && names_destination(flow, call, module)
                || (applied || way_out) && call.args.iter().any(|arg| list_starts_with_address(flow, *arg))
                || self.navigates(call) && call.args.first().is_some_and(|arg| is_literal_address(flow, *arg))
                || self.writes_html_address(call);
            if named && let Some(arg) = call.args.iter().find(|arg| secret(arg)) {
                sent.push((at, *arg));
            }
        }
        for write in &flow.writes {
            let MemberKey::Named(name) = &write.key else { continue };
            let leads = match &**name {
                "src" | "srcset" => is_literal_address(flow, write.value),
                "href" | "location" | "action" => {
                    is_literal_address(flow, write.value)
                        && (&**name != "href"
                            || flow.nodes[write.object]
                                .value
                                .as_path()
                                .is_some_and(|thing| thing.last_name() == Some("location")))
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

    /// Returns whether a call navigates the browser to an address.
    fn navigates(&self, call: &Call) -> bool {
        [&["location", "assign"] as &[&str], &["location", "replace"], &["open"]]
            .iter()
            .any(|path| self.flow.is_call_of_global(call, path))
    }

    /// Returns whether a call writes HTML that loads something from an address.
    fn writes_html_address(&self, call: &Call) -> bool {
        let written = self.flow.is_call_of_global(call, &["document", "write"])
            || matches!(call.method.as_deref(), Some("insertAdjacentHTML"));
        written && call.args.iter().any(|arg| self.has_address(*arg))
    }

    fn has_address(&self, at: NodeId) -> bool {
        match &self.flow.nodes[at].kind {
            NodeKind::Concat(parts) => parts.iter().any(|part| self.has_address(*part)),
            _ => self.flow.nodes[at].value.as_text().is_some_and(|text| text.contains("://")),
        }
    }

    /// Returns a label for a sensitive value: an access path, or a name.
    fn label(&self, marks: &Taint, at: NodeId, steps: u32, seen: &mut FxHashSet<NodeId>) -> Option<String> {
        let node = &self.flow.nodes[at];
        if steps == 0 || marks.nodes[at] & ANY_SECRET == 0 || !seen.insert(at) || seen.len() > 400 {
            return None;
        }
        if let Some(thing) = node.value.as_path().filter(|thing| is_sensitive(thing)) {
            return Some(format!("`{}`", thing.to_source()));
        }
        let mut parts: Vec<NodeId> = match &node.kind {
            NodeKind::Name(slot) => self
                .flow
                .assigned_values(*slot)
                .chain(self.flow.assigns.iter().filter(|bind| bind.to == *slot).map(|bind| bind.from))
                .collect(),
            NodeKind::Member(object, MemberKey::Named(name)) => {
                let slot = self.flow.field_var(name);
                std::iter::once(*object)
                    .chain(slot.into_iter().flat_map(|slot| self.flow.assigned_values(slot)))
                    .collect()
            }
            NodeKind::Member(object, _) | NodeKind::Element(object) | NodeKind::Rest(object, _) => vec![*object],
            NodeKind::Call(call) => {
                if let Some(thing) = self.flow.callee_path(call).filter(|thing| reads_file(thing)) {
                    return Some(format!("`{}`", thing.to_source()));
                }
                call.returns.iter().chain(&call.callbacks).chain(&call.receiver).chain(&call.args).copied().collect()
            }
            NodeKind::Object(props) => props.iter().map(|(_, value)| *value).collect(),
            NodeKind::List(parts) | NodeKind::OneOf(parts) | NodeKind::Concat(parts) | NodeKind::Param(_, parts) => {
                parts.clone()
            }
            _ => Vec::new(),
        };
        parts.truncate(32);
        let name =
            if let NodeKind::Name(slot) = node.kind { Some(format!("`{}`", self.flow.var_names[slot])) } else { None };
        parts.into_iter().find_map(|part| self.label(marks, part, steps - 1, seen)).or(name)
    }
}

/// Returns whether an argument list starts with an address in the source.
fn list_starts_with_address(flow: &DataFlow<'_>, at: NodeId) -> bool {
    matches!(&flow.nodes[at].kind, NodeKind::List(elems) if elems.first().is_some_and(|first| is_literal_address(flow, *first)))
}

/// Returns the mark of a container for the mark of its content.
fn container_mark(mark: u8) -> u8 {
    if mark & ANY_SECRET == 0 { 0 } else { HOLDS }
}

/// Returns the mark of an element for the mark of its list.
fn element_mark(mark: u8) -> u8 {
    mark & SENDER | if mark & ANY_SECRET == 0 { 0 } else { ANY_SECRET }
}
