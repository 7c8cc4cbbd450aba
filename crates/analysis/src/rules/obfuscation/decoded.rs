//! Decoded constants that are used as a name, code, a module or an address.
//!
//! Invariant: decoding the parameters is a tool's work, and is not reported.

use swc_common::Span;
use toolcell_i18n::msgid;

use crate::rules::RuleContext;
use crate::semantics::dataflow::{Call, DataFlow, MemberKey, NodeId, NodeKind, Taint};
use crate::semantics::network::NETWORK_GLOBALS;
use crate::semantics::value::{AccessPath, Root, Value};

/// The value was decoded, or assembled letter by letter.
const DECODED: u8 = 1;
/// The value comes from the parameters.
const FROM_PARAMS: u8 = 2;
/// A list of numbers, or an element of one.
const NUMBERS: u8 = 4;

/// Names that no honest code assembles.
const SUSPICIOUS_NAMES: [&str; 24] = [
    "eval",
    "Function",
    "constructor",
    "require",
    "process",
    "child_process",
    "exec",
    "execSync",
    "spawn",
    "env",
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "document",
    "cookie",
    "localStorage",
    "importScripts",
    "Deno",
    "Bun",
    "mainModule",
    "fs",
    "__proto__",
    "prototype",
    "globalThis",
];

/// Returns the places where something decoded is used as a name, code, module or address.
///
/// Also returns the left operands of operators with an operand from the parameters, which a tool
/// may transform freely.
pub(super) fn find_uses(source: &RuleContext<'_>) -> (Vec<(Span, &'static str)>, Vec<Span>) {
    if !may_decode(source) {
        return (Vec::new(), Vec::new());
    }
    let flow = source.dataflow();
    let marks = flow.propagate(|_| 0, |marks, at| mark(flow, marks, at), |mark| mark & (DECODED | FROM_PARAMS));
    let decoded = |at: NodeId| marks.nodes[at] & (DECODED | FROM_PARAMS) == DECODED;
    let mut found = Vec::new();
    for at in flow.computed_keys.iter().filter(|at| decoded(**at)) {
        found.push((flow.nodes[*at].span, msgid!("accesses a member by a decoded or assembled name")));
    }
    for (at, call) in flow.calls() {
        let first = call.args.iter().any(|arg| decoded(*arg));
        if first && flow.callee_path(call).is_some_and(runs_or_loads) {
            found.push((flow.nodes[at].span, msgid!("runs, loads or requests a decoded string")));
        }
    }
    let mut radix = flow.calls().filter(|(_, call)| is_radix_trick(flow, call)).map(|(at, _)| flow.nodes[at].span);
    if let (Some(span), Some(_)) = (radix.next(), radix.next()) {
        found.push((span, msgid!("writes letters as numbers in another base")));
    }
    let given =
        flow.comparisons.iter().filter(|(left, right)| (marks.nodes[*left] | marks.nodes[*right]) & FROM_PARAMS != 0);
    (found, given.take(400).map(|(left, _)| flow.nodes[*left].span).collect())
}

/// Returns whether the source decodes anything, or uses a suspicious global; otherwise no data flow
/// is needed.
fn may_decode(source: &RuleContext<'_>) -> bool {
    source.facts.calls.iter().any(|call| {
        call.callee.as_path().is_some_and(|thing| {
            matches!(
                thing.last_name(),
                Some(
                    "atob" | "fromCharCode" | "fromCodePoint" | "unescape" | "reverse" | "toReversed" | "reduceRight" | "from"
                        | "replace" | "replaceAll" | "join" | "toString" | "decodeURIComponent" | "decode"
                )
            )
        })
    }) || source.facts.uses.iter().any(|used| {
        matches!(used.path.names().as_deref(), Some([name]) if used.path.root == Root::Global && SUSPICIOUS_NAMES.contains(name))
    })
}

fn runs_or_loads(thing: &AccessPath) -> bool {
    if thing.root != Root::Global {
        return false;
    }
    let names = thing.names().unwrap_or_default();
    matches!(names.as_slice(), ["eval" | "Function" | "require" | "setTimeout" | "setInterval"] | ["Reflect", "get"])
        || NETWORK_GLOBALS.contains(&names.as_slice())
}

/// Returns whether a call is `(27).toString(36)`.
fn is_radix_trick(flow: &DataFlow<'_>, call: &Call) -> bool {
    let number = |at: Option<NodeId>| at.and_then(|at| flow.nodes[at].value.as_number());
    call.method.as_deref() == Some("toString")
        && number(call.receiver).is_some()
        && number(call.args.first().copied()).is_some_and(|radix| radix > 16.0)
}

fn mark(flow: &DataFlow<'_>, marks: &Taint, at: NodeId) -> u8 {
    let of = |at: NodeId| marks.nodes[at];
    let all = |places: &[NodeId]| places.iter().fold(0, |mark, at| mark | of(*at));
    let node = &flow.nodes[at];
    match &node.kind {
        NodeKind::Opaque | NodeKind::Computed | NodeKind::Function(_) | NodeKind::This | NodeKind::KeyOf(_) => 0,
        NodeKind::Name(slot) => marks.vars[*slot],
        NodeKind::Param(function, inputs) => {
            all(inputs) | if flow.is_called_externally(*function) { FROM_PARAMS } else { 0 }
        }
        NodeKind::Element(list) | NodeKind::Rest(list, _) => of(*list),
        NodeKind::Member(object, key) => {
            let field = match key {
                MemberKey::Named(name) => flow.field_var(name).map_or(0, |slot| marks.vars[slot]),
                _ => 0,
            };
            // A field of something decoded is decoded as well, even if the key comes from the
            // caller.
            of(*object) | field & DECODED
        }
        NodeKind::Object(props) => props.iter().fold(0, |mark, (_, value)| mark | of(*value) & (DECODED | FROM_PARAMS)),
        NodeKind::List(elems) => {
            let numbers = elems.len() >= 3 && elems.iter().all(|elem| flow.nodes[*elem].value.as_number().is_some());
            all(elems) | if numbers { NUMBERS } else { 0 }
        }
        NodeKind::OneOf(parts) => all(parts),
        NodeKind::Concat(parts) => {
            let letter = |at: &NodeId| matches!(&flow.nodes[*at].kind, NodeKind::Member(_, MemberKey::Named(name)) if name.parse::<u32>().is_ok());
            let hidden =
                node.value.as_text().is_some_and(|text| SUSPICIOUS_NAMES.contains(&text) || parts.iter().any(letter));
            all(parts) & (DECODED | FROM_PARAMS) | if hidden { DECODED } else { 0 }
        }
        NodeKind::Call(call) => {
            let given = call.receiver.map_or(0, of) | all(&call.args);
            if !call.functions.is_empty() {
                return all(&call.returns) | given & FROM_PARAMS & all(&call.returns);
            }
            let passed = given & (DECODED | FROM_PARAMS) | all(&call.callbacks) & (DECODED | FROM_PARAMS);
            let numbers = given & NUMBERS;
            passed | numbers | if decodes_constant(flow, call, &node.value, given) { DECODED } else { 0 }
        }
    }
}

/// Returns whether a call decodes a constant of the source.
fn decodes_constant(flow: &DataFlow<'_>, call: &Call, value: &Value, given: u8) -> bool {
    let thing = flow.callee_path(call).filter(|thing| thing.root == Root::Global);
    let text = |at: Option<&NodeId>| at.and_then(|at| flow.nodes[*at].value.as_text());
    match thing.and_then(AccessPath::names).as_deref() {
        Some(["atob" | "unescape"]) => return true,
        Some(["decodeURIComponent" | "decodeURI"]) => {
            return text(call.args.first()).is_some_and(|text| text.contains('%'));
        }
        Some(["String", "fromCharCode" | "fromCodePoint"]) => return given & NUMBERS != 0 || call.args.len() >= 3,
        Some(["Buffer", "from"]) => {
            return given & NUMBERS != 0 || matches!(text(call.args.get(1)), Some("base64" | "hex" | "base64url"));
        }
        _ => {}
    }
    let constant = call.receiver.is_some_and(|at| flow.nodes[at].value.as_text().is_some());
    let made_by = |methods: &[&str]| {
        call.receiver.is_some_and(|at| match &flow.nodes[at].kind {
            NodeKind::Call(inner) => inner.method.as_deref().is_some_and(|method| methods.contains(&method)),
            _ => false,
        })
    };
    match call.method.as_deref() {
        Some("join") => {
            value.as_text().is_some_and(|text| SUSPICIOUS_NAMES.contains(&text))
                || value.as_text().is_some() && made_by(&["map"])
                || made_by(&["reverse", "toReversed"]) && given & FROM_PARAMS == 0
        }
        Some("reduceRight") => value.as_text().is_some(),
        Some("replace" | "replaceAll" | "slice" | "substring" | "substr" | "concat") => {
            constant && value.as_text().is_some_and(|text| SUSPICIOUS_NAMES.contains(&text))
        }
        _ => false,
    }
}
