//! `prototype-pollution`: writes that reach the objects behind all others.
//!
//! Either the path that is written names the prototype, or a key from outside may lead there (`keys`).

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

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    for write in &source.facts.writes {
        if let Some(thing) = write.target.as_thing()
            && reaches_prototype(thing)
        {
            let message = format!("writes to a prototype that others share: `{}`", thing.shown());
            findings.add(Severity::High, write.span, message, SUGGESTION);
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
