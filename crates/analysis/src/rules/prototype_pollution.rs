//! `prototype-pollution`: writes that reach the objects behind all others.
//!
//! Either the path that is written names the prototype, or a key from outside may lead there (`keys`). Built-ins
//! themselves are shared as well: every later call of a replaced `JSON.stringify` runs the replacement.

mod guards;
mod keys;

use super::{Findings, Rule, Source};
use crate::finding::{RuleId, Severity};
use crate::value::{Key, Root, Thing, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("prototype-pollution"),
    worst: Severity::High,
    page: include_str!("prototype_pollution.md"),
    check,
};

const SUGGESTION: &str =
    "skip the keys `__proto__`, `constructor` and `prototype`, or collect into a Map or `Object.create(null)`";

const OWN: &str =
    "write a function of your own and call it: a built-in that is replaced changes for all code that runs after it";

/// Functions, classes and namespaces that the language or the host provides.
const BUILT_INS: [&str; 90] = [
    "AbortController",
    "AbortSignal",
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "Atomics",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Blob",
    "Boolean",
    "Buffer",
    "DOMException",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "EvalError",
    "Event",
    "EventTarget",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "FormData",
    "Function",
    "Headers",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "InternalError",
    "Intl",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReadableStream",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Request",
    "Response",
    "Set",
    "SharedArrayBuffer",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "Temporal",
    "TextDecoder",
    "TextEncoder",
    "TypeError",
    "URIError",
    "URL",
    "URLSearchParams",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "atob",
    "btoa",
    "clearInterval",
    "clearTimeout",
    "console",
    "crypto",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "fetch",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "performance",
    "queueMicrotask",
    "setInterval",
    "setTimeout",
    "structuredClone",
    "unescape",
];

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    for write in &source.facts.writes {
        let Some(thing) = write.target.as_thing() else { continue };
        if reaches_prototype(thing) {
            let message = format!("writes to a prototype that others share: `{}`", thing.shown());
            findings.add(Severity::High, write.span, message, SUGGESTION);
        } else if is_built_in(thing) {
            findings.add(Severity::Medium, write.span, format!("replaces a built-in: `{}`", thing.shown()), OWN);
        }
    }
    for call in &source.facts.calls {
        let Some(thing) = call.callee.as_thing() else { continue };
        let names = thing.names().unwrap_or_default();
        let writes = thing.root == Root::Global
            && matches!(
                names.as_slice(),
                ["Object", "defineProperty" | "defineProperties" | "assign" | "setPrototypeOf"]
                    | ["Reflect", "set" | "defineProperty" | "setPrototypeOf" | "deleteProperty"]
            );
        let shared = call.args.first().and_then(Value::as_thing).is_some_and(is_shared_prototype);
        let through_key = call.args.get(1).and_then(Value::as_text) == Some("__proto__");
        let own = matches!(names.last(), Some(&("__defineGetter__" | "__defineSetter__")));
        let object = &thing.path[..thing.path.len().saturating_sub(1)];
        let of_shared = || is_shared(&thing.root, object);
        if writes && (shared || through_key) || own && (of_shared() || through_first(&call.args)) {
            let message = format!("writes to a prototype that others share: `{}`", thing.shown());
            findings.add(Severity::High, call.span, message, SUGGESTION);
        } else if writes && let Some(built_in) = built_in_written(&call.args) {
            findings.add(Severity::Medium, call.span, format!("replaces a built-in: `{built_in}`"), OWN);
        } else if own {
            let message = format!("defines an accessor the old way: `{}`", thing.shown());
            findings.add(Severity::High, call.span, message, "write `get name() { … }` in the object");
        }
    }
    for (span, message) in keys::writes(source) {
        findings.add(Severity::High, span, message.to_owned(), SUGGESTION);
    }
}

fn through_first(args: &[Value]) -> bool {
    args.first().and_then(Value::as_text) == Some("__proto__")
}

/// Whether a written path leads to or through a prototype that others share.
fn reaches_prototype(thing: &Thing) -> bool {
    let Some((_, object)) = thing.path.split_last() else { return false };
    if thing.last() == Some("__proto__") {
        return true;
    }
    is_shared(&thing.root, object)
}

/// Whether this is a built-in, or a member of one. How long and of what kind stack traces are is a setting, not a function.
fn is_built_in(thing: &Thing) -> bool {
    let name = thing.path.first().and_then(Key::name);
    let is_setting = thing.is_global_below_any(&[&["Error", "stackTraceLimit"], &["Error", "prepareStackTrace"]]);
    thing.root == Root::Global && name.is_some_and(|name| BUILT_INS.contains(&name)) && !is_setting
}

/// The built-in that `Object.assign(Math, …)` and `Object.defineProperty(globalThis, "parseInt", …)` write to.
fn built_in_written(args: &[Value]) -> Option<String> {
    let object = args.first()?;
    let target = match args.get(1) {
        Some(key) if object.as_thing()?.path.is_empty() => object.member(key),
        _ => object.clone(),
    };
    target.as_thing().filter(|thing| is_built_in(thing)).map(Thing::shown)
}

/// Whether an object is a prototype that others share.
fn is_shared_prototype(thing: &Thing) -> bool {
    is_shared(&thing.root, &thing.path)
}

fn is_shared(root: &Root, path: &[Key]) -> bool {
    let at = |wanted: &str| path.iter().position(|key| key.name() == Some(wanted));
    if at("__proto__").is_some() {
        return true;
    }
    let Some(prototype) = at("prototype") else { return false };
    // `Array.prototype`, but not that of a class of the source.
    *root == Root::Global && prototype == 1 || at("constructor").is_some_and(|at| at < prototype)
}
