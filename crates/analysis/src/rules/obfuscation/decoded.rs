//! Texts that are decoded from the source itself and then become a name, code, a module or an address.
//!
//! Invariant: what is decoded out of parameters is the tool's work, and is not found.

use swc_common::Span;

use crate::rules::Source;
use crate::rules::flow::{At, Call, Flow, Key, Kind, Marks};
use crate::rules::network_access::GLOBALS;
use crate::value::{Root, Thing, Value};

/// Was decoded, or put together letter by letter.
const DECODED: u8 = 1;
/// Comes from the parameters.
const GIVEN: u8 = 2;
/// A list of numbers, or one of them.
const NUMBERS: u8 = 4;

/// Names that nobody has a reason to put together.
const HIDDEN: [&str; 24] = [
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

/// Where something decoded is used as a name, code, module or address.
///
/// Beside that, the calls that make letters of what the parameters give, which is a tool's work.
pub(super) fn uses(source: &Source<'_>) -> (Vec<(Span, &'static str)>, Vec<Span>) {
    if !decodes(source) {
        return (Vec::new(), Vec::new());
    }
    let flow = source.flow();
    let marks = flow.solve(|_| 0, |marks, at| mark(flow, marks, at), |mark| mark & (DECODED | GIVEN));
    let decoded = |at: At| marks.nodes[at] & (DECODED | GIVEN) == DECODED;
    let mut found = Vec::new();
    for at in flow.computed.iter().filter(|at| decoded(**at)) {
        found.push((flow.nodes[*at].span, "takes a member by a name that is decoded or put together"));
    }
    for (at, call) in flow.calls() {
        let first = call.args.iter().any(|arg| decoded(*arg));
        if first && flow.callee(call).is_some_and(runs_or_loads) {
            found.push((flow.nodes[at].span, "runs, loads or asks for a text that is decoded"));
        }
    }
    let mut radix = flow.calls().filter(|(_, call)| is_radix_trick(flow, call)).map(|(at, _)| flow.nodes[at].span);
    if let (Some(span), Some(_)) = (radix.next(), radix.next()) {
        found.push((span, "writes letters as numbers in another base"));
    }
    let given = flow.compared.iter().filter(|(left, right)| (marks.nodes[*left] | marks.nodes[*right]) & GIVEN != 0);
    (found, given.take(400).map(|(left, _)| flow.nodes[*left].span).collect())
}

/// Whether anything decodes, or is taken by a name that is not written out.
fn decodes(source: &Source<'_>) -> bool {
    source.facts.calls.iter().any(|call| {
        call.callee.as_thing().is_some_and(|thing| {
            matches!(
                thing.last(),
                Some(
                    "atob" | "fromCharCode" | "fromCodePoint" | "unescape" | "reverse" | "toReversed" | "reduceRight" | "from"
                        | "replace" | "replaceAll" | "join" | "toString" | "decodeURIComponent" | "decode"
                )
            )
        })
    }) || source.facts.uses.iter().any(|used| {
        matches!(used.thing.names().as_deref(), Some([name]) if used.thing.root == Root::Global && HIDDEN.contains(name))
    })
}

fn runs_or_loads(thing: &Thing) -> bool {
    if thing.root != Root::Global {
        return false;
    }
    let names = thing.names().unwrap_or_default();
    matches!(names.as_slice(), ["eval" | "Function" | "require" | "setTimeout" | "setInterval"] | ["Reflect", "get"])
        || GLOBALS.contains(&names.as_slice())
}

/// `(27).toString(36)`.
fn is_radix_trick(flow: &Flow<'_>, call: &Call) -> bool {
    let number = |at: Option<At>| at.and_then(|at| flow.nodes[at].value.as_number());
    call.method.as_deref() == Some("toString")
        && number(call.receiver).is_some()
        && number(call.args.first().copied()).is_some_and(|radix| radix > 16.0)
}

fn mark(flow: &Flow<'_>, marks: &Marks, at: At) -> u8 {
    let of = |at: At| marks.nodes[at];
    let all = |places: &[At]| places.iter().fold(0, |mark, at| mark | of(*at));
    let node = &flow.nodes[at];
    match &node.kind {
        Kind::Opaque | Kind::Computed | Kind::Function(_) | Kind::This | Kind::KeyOf(_) => 0,
        Kind::Name(slot) => marks.slots[*slot],
        Kind::Param(function, inputs) => all(inputs) | if flow.is_entry(*function) { GIVEN } else { 0 },
        Kind::Element(list) | Kind::Rest(list, _) => of(*list),
        Kind::Member(object, key) => {
            let field = match key {
                Key::Named(name) => flow.field(name).map_or(0, |slot| marks.slots[slot]),
                _ => 0,
            };
            // What a key from outside finds in something decoded is decoded as well.
            of(*object) | field & DECODED
        }
        Kind::Object(props) => props.iter().fold(0, |mark, (_, value)| mark | of(*value) & (DECODED | GIVEN)),
        Kind::List(elems) => {
            let numbers = elems.len() >= 3 && elems.iter().all(|elem| flow.nodes[*elem].value.as_number().is_some());
            all(elems) | if numbers { NUMBERS } else { 0 }
        }
        Kind::Either(parts) => all(parts),
        Kind::Joined(parts) => {
            let letter = |at: &At| matches!(&flow.nodes[*at].kind, Kind::Member(_, Key::Named(name)) if name.parse::<u32>().is_ok());
            let hidden = node.value.as_text().is_some_and(|text| HIDDEN.contains(&text) || parts.iter().any(letter));
            all(parts) & (DECODED | GIVEN) | if hidden { DECODED } else { 0 }
        }
        Kind::Call(call) => {
            let given = call.receiver.map_or(0, of) | all(&call.args);
            if !call.functions.is_empty() {
                return all(&call.returns) | given & GIVEN & all(&call.returns);
            }
            let passed = given & (DECODED | GIVEN) | all(&call.callbacks) & (DECODED | GIVEN);
            let numbers = given & NUMBERS;
            passed | numbers | if opens(flow, call, &node.value, given) { DECODED } else { 0 }
        }
    }
}

/// Whether a call decodes something that the source has in it.
fn opens(flow: &Flow<'_>, call: &Call, value: &Value, given: u8) -> bool {
    let thing = flow.callee(call).filter(|thing| thing.root == Root::Global);
    let text = |at: Option<&At>| at.and_then(|at| flow.nodes[*at].value.as_text());
    match thing.and_then(Thing::names).as_deref() {
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
            Kind::Call(inner) => inner.method.as_deref().is_some_and(|method| methods.contains(&method)),
            _ => false,
        })
    };
    match call.method.as_deref() {
        Some("join") => {
            value.as_text().is_some_and(|text| HIDDEN.contains(&text))
                || value.as_text().is_some() && made_by(&["map"])
                || made_by(&["reverse", "toReversed"]) && given & GIVEN == 0
        }
        Some("reduceRight") => value.as_text().is_some(),
        Some("replace" | "replaceAll" | "slice" | "substring" | "substr" | "concat") => {
            constant && value.as_text().is_some_and(|text| HIDDEN.contains(&text))
        }
        _ => false,
    }
}
