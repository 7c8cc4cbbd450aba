//! `prototype-pollution`: writes to shared prototypes.
//!
//! Either the written path names the prototype, or a key from the caller may lead to it (`keys`).
//! Built-ins are shared as well: every later call of a replaced `JSON.stringify` runs the
//! replacement.

mod guards;
mod keys;

use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::value::{AccessPath, Key, Root, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("prototype-pollution"),
    max_severity: Severity::High,
    docs: include_str!("prototype_pollution.md"),
    check,
};

const SUGGESTION: &str =
    msgid!("skip the keys `__proto__`, `constructor` and `prototype`, or collect into a Map or `Object.create(null)`");

const BUILT_IN_SUGGESTION: &str =
    msgid!("write your own function and call it: replacing a built-in affects all code that runs after it");

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

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    for write in &source.facts.writes {
        let Some(thing) = write.target.as_path() else { continue };
        if reaches_prototype(thing) {
            let message = message!("writes to a shared prototype: `{path}`", path = thing.to_source());
            findings.add(Severity::High, write.span, message, SUGGESTION);
        } else if is_built_in(thing) {
            findings.add(
                Severity::Medium,
                write.span,
                message!("replaces a built-in: `{path}`", path = thing.to_source()),
                BUILT_IN_SUGGESTION,
            );
        }
    }
    for call in &source.facts.calls {
        let Some(thing) = call.callee.as_path() else { continue };
        let names = thing.names().unwrap_or_default();
        let writes = thing.root == Root::Global
            && matches!(
                names.as_slice(),
                ["Object", "defineProperty" | "defineProperties" | "assign" | "setPrototypeOf"]
                    | ["Reflect", "set" | "defineProperty" | "setPrototypeOf" | "deleteProperty"]
            );
        let shared = call.args.first().and_then(Value::as_path).is_some_and(is_shared_prototype);
        let through_key = call.args.get(1).and_then(Value::as_text) == Some("__proto__");
        let own = matches!(names.last(), Some(&("__defineGetter__" | "__defineSetter__")));
        let object = &thing.keys[..thing.keys.len().saturating_sub(1)];
        let of_shared = || is_shared(&thing.root, object);
        if writes && (shared || through_key) || own && (of_shared() || first_arg_is_proto(&call.args)) {
            let message = message!("writes to a shared prototype: `{path}`", path = thing.to_source());
            findings.add(Severity::High, call.span, message, SUGGESTION);
        } else if writes && let Some(built_in) = written_built_in(&call.args) {
            findings.add(
                Severity::Medium,
                call.span,
                message!("replaces a built-in: `{path}`", path = built_in),
                BUILT_IN_SUGGESTION,
            );
        } else if own {
            let message = message!("defines an accessor with a legacy method: `{path}`", path = thing.to_source());
            findings.add(Severity::High, call.span, message, msgid!("write `get name() { … }` in the object"));
        }
    }
    for (span, message) in keys::find_writes(source) {
        findings.add(Severity::High, span, Message::from(message), SUGGESTION);
    }
}

fn first_arg_is_proto(args: &[Value]) -> bool {
    args.first().and_then(Value::as_text) == Some("__proto__")
}

/// Returns whether a written path leads to or through a shared prototype.
fn reaches_prototype(thing: &AccessPath) -> bool {
    let Some((_, object)) = thing.keys.split_last() else { return false };
    if thing.last_name() == Some("__proto__") {
        return true;
    }
    is_shared(&thing.root, object)
}

/// Returns whether this is a built-in, or a member of one. The settings of stack traces are not
/// functions, and are excluded.
fn is_built_in(thing: &AccessPath) -> bool {
    let name = thing.keys.first().and_then(Key::name);
    let is_setting = thing.is_global_below_any(&[&["Error", "stackTraceLimit"], &["Error", "prepareStackTrace"]]);
    thing.root == Root::Global && name.is_some_and(|name| BUILT_INS.contains(&name)) && !is_setting
}

/// Returns the built-in that `Object.assign(Math, …)` or
/// `Object.defineProperty(globalThis, "parseInt", …)` writes to.
fn written_built_in(args: &[Value]) -> Option<String> {
    let object = args.first()?;
    let target = match args.get(1) {
        Some(key) if object.as_path()?.keys.is_empty() => object.member(key),
        _ => object.clone(),
    };
    target.as_path().filter(|thing| is_built_in(thing)).map(AccessPath::to_source)
}

/// Returns whether an object is a shared prototype.
fn is_shared_prototype(thing: &AccessPath) -> bool {
    is_shared(&thing.root, &thing.keys)
}

fn is_shared(root: &Root, path: &[Key]) -> bool {
    let at = |wanted: &str| path.iter().position(|key| key.name() == Some(wanted));
    if at("__proto__").is_some() {
        return true;
    }
    let Some(prototype) = at("prototype") else { return false };
    // `Array.prototype`, but not the prototype of a source class.
    *root == Root::Global && prototype == 1 || at("constructor").is_some_and(|at| at < prototype)
}
