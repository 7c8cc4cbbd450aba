//! `eval-usage`: running text as code. What was analysed would no longer be what runs.

use super::quickjs::{self, Reach};
use super::{Findings, Rule, Source, shown};
use crate::facts::{Role, Use};
use crate::finding::{RuleId, Severity};
use crate::value::{Key, Literal, Root, Thing, Value};

pub(super) const RULE: Rule =
    Rule { id: RuleId("eval-usage"), worst: Severity::Critical, page: include_str!("eval_usage.md"), check };

const SUGGESTION: &str =
    "write the code out, or choose between functions by name; code from strings never runs in a cell";

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    let mut critical = |span, message| findings.add(Severity::Critical, span, message, SUGGESTION);
    for used in source.facts.globals(&["eval"]) {
        critical(used.span, "runs text as code: `eval`".to_owned());
    }
    for name in ["AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction"] {
        for used in source.facts.globals(&[name]) {
            critical(used.span, format!("runs text as code: `{name}`"));
        }
    }
    for used in source.facts.globals(&["Function"]) {
        if !is_harmless_member_of_function(used) {
            critical(used.span, "makes a function of text: `Function`".to_owned());
        }
    }
    for used in &source.facts.uses {
        if is_function_constructor(&used.thing) {
            critical(used.span, format!("reaches the constructor of functions: `{}`", shown(used)));
        }
        let of_engine = quickjs::reach(&used.thing) == Some(Reach::Code) && used.role != Role::AskedAbout;
        if of_engine || used.thing.module() == Some("vm") {
            critical(used.span, format!("runs text as code: `{}`", shown(used)));
        }
    }
    for name in ["ShadowRealm", "WebAssembly"] {
        for used in source.facts.globals(&[name]) {
            critical(used.span, format!("runs code that is not in the source: `{name}`"));
        }
    }
    for (module, span) in &source.facts.modules {
        if module.starts_with("data:") || module.starts_with("blob:") {
            critical(*span, "imports text as code".to_owned());
        }
    }
    let mut timers = Vec::new();
    for call in &source.facts.calls {
        let Some(thing) = call.callee.as_thing() else { continue };
        if thing.is_global_below(&["document", "createElement"])
            && call.args.first().and_then(Value::as_text).is_some_and(|name| name.eq_ignore_ascii_case("script"))
        {
            critical(call.span, "makes a script element".to_owned());
        }
        if calls_constructor_with_text(call) {
            critical(call.span, "calls the constructor of something with code".to_owned());
        }
        if is_function_constructor(thing) {
            critical(call.span, format!("reaches the constructor of functions: `{}`", thing.shown()));
        }
        for timer in ["setTimeout", "setInterval", "setImmediate"] {
            let text = call.args.first().is_some_and(|first| matches!(first, Value::Text(_)) || is_code(first))
                || call.prefixes.first().is_some_and(|prefix| !prefix.is_empty());
            if thing.is_global_below(&[timer]) && text {
                let message = format!("runs text as code: `{timer}` with a string");
                timers.push((call.span, message));
                break;
            }
        }
    }
    for (span, message) in timers {
        findings.add(Severity::High, span, message, SUGGESTION);
    }
    for (module, span) in &source.facts.modules {
        if module.strip_prefix("node:").unwrap_or(module) == "vm" {
            findings.add(Severity::Critical, *span, "loads `vm`, which runs text as code".to_owned(), SUGGESTION);
        }
    }
    for span in &source.facts.with_statements {
        let message = "`with` hides which names are meant".to_owned();
        findings.add(Severity::High, *span, message, "name the object: `object.property`");
    }
}

/// Whether this is a member of `Function` that compiles nothing.
///
/// `Function.call` is `Function.prototype.call`: called as a member, it runs `Function` itself. Anything else that is done
/// with it, such as `Function.call.bind(f)`, needs a function, and `Function` given as that is a use of its own.
fn is_harmless_member_of_function(used: &Use) -> bool {
    match used.thing.path.as_slice() {
        [_, Key::Name(member)] if matches!(&**member, "call" | "apply" | "bind") => used.role != Role::Called,
        [_, Key::Name(member), ..] => {
            matches!(&**member, "call" | "apply" | "bind" | "toString" | "name" | "length" | "prototype")
                && !is_function_constructor(&used.thing)
        }
        _ => false,
    }
}

/// Whether this is what the caller gives as code.
fn is_code(value: &Value) -> bool {
    value.as_thing().is_some_and(|thing| {
        thing.root == Root::Params
            && matches!(thing.last(), Some("code" | "script" | "source" | "expression" | "snippet"))
    })
}

/// Whether the constructor of something is called with a text that is code.
pub(super) fn calls_constructor_with_text(call: &crate::facts::Call) -> bool {
    let constructor = call.callee.as_thing().is_some_and(|thing| thing.last() == Some("constructor"));
    constructor && call.args.iter().any(|arg| arg.as_text().is_some_and(|text| text.contains("return")))
}

/// Whether a thing is the constructor of functions: `f.constructor`, `[].map.constructor`, `x.constructor.constructor`.
pub(super) fn is_function_constructor(thing: &Thing) -> bool {
    // Asked of each thing, and hardly one has such a step at all.
    if thing.path.iter().all(|key| key.name() != Some("constructor")) {
        return false;
    }
    let names: Vec<&str> = thing.path.iter().map(|key| key.name().unwrap_or("…")).collect();
    // Walking up prototypes changes nothing: the constructor of a function's prototype makes functions as well.
    let steps: Vec<&str> = names.iter().copied().filter(|name| !matches!(*name, "__proto__" | "prototype")).collect();
    let Some(at) = steps.iter().position(|name| *name == "constructor") else { return false };
    if steps.get(at + 1) == Some(&"constructor") {
        return true;
    }
    let before = &steps[..at];
    let then = steps.get(at + 1).copied();
    if matches!(then, Some("name" | "length" | "displayName")) {
        return false;
    }
    match &thing.root {
        // A function's own constructor.
        Root::Literal(Literal::Function | Literal::Class) => before.is_empty() && !names.contains(&"prototype"),
        // The constructor of a method of a literal.
        Root::Literal(Literal::Other) => before.len() == 1,
        Root::Literal(Literal::Object) => before.len() == 1 && is_builtin_method(before[0]),
        Root::Global => is_constructor_of_global_function(&names),
        _ => before.last().is_some_and(|name| is_builtin_method(name)),
    }
}

/// Whether this is the constructor of a function of the language: `Math.max.constructor`, `[].map.constructor`. The
/// constructor of a prototype is the class itself: `Array.prototype.constructor` is `Array`, and
/// `Function.prototype.constructor` makes functions.
fn is_constructor_of_global_function(names: &[&str]) -> bool {
    let object = names.split(|name| *name == "constructor").next().unwrap_or_default();
    match object.iter().copied().filter(|name| *name != "__proto__").collect::<Vec<_>>().as_slice() {
        [] => false,
        [class, .., "prototype"] => {
            matches!(*class, "Function" | "AsyncFunction" | "GeneratorFunction" | "AsyncGeneratorFunction")
        }
        _ => true,
    }
}

/// Methods that every object, array or text has.
fn is_builtin_method(name: &str) -> bool {
    matches!(
        name,
        "toString"
            | "valueOf"
            | "hasOwnProperty"
            | "map"
            | "filter"
            | "find"
            | "sort"
            | "at"
            | "flat"
            | "concat"
            | "forEach"
            | "reduce"
            | "slice"
            | "splice"
            | "join"
            | "push"
            | "call"
            | "apply"
            | "bind"
            | "replace"
            | "sub"
            | "trim"
            | "entries"
            | "keys"
            | "values"
            | "fill"
            | "every"
            | "some"
            | "includes"
    )
}
