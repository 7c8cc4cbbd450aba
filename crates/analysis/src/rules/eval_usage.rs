//! `eval-usage`: evaluation of text as code. Such code was not analysed.

use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext, display_path};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::facts::{Use, UseKind};
use crate::semantics::quickjs::{self, Reach};
use crate::semantics::value::{AccessPath, Key, Literal, Root, Value};

pub(super) const RULE: Rule =
    Rule { id: RuleId("eval-usage"), max_severity: Severity::Critical, docs: include_str!("eval_usage.md"), check };

const SUGGESTION: &str =
    msgid!("write the code out, or choose between functions by name; code from strings never runs in a cell");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let mut critical = |span, message| findings.add(Severity::Critical, span, message, SUGGESTION);
    for used in source.facts.uses_of_global(&["eval"]) {
        critical(used.span, run_message("eval"));
    }
    for name in ["AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction"] {
        for used in source.facts.uses_of_global(&[name]) {
            critical(used.span, run_message(name));
        }
    }
    for used in source.facts.uses_of_global(&["Function"]) {
        if !is_harmless_member_of_function(used) {
            critical(used.span, message!("compiles a string to a function: `Function`"));
        }
    }
    for used in &source.facts.uses {
        if is_function_constructor(&used.path) {
            critical(used.span, constructor_message(&used.path));
        }
        let of_engine = quickjs::reach_of(&used.path) == Some(Reach::Code) && used.kind != UseKind::TypeTested;
        if of_engine || used.path.module_name() == Some("vm") {
            critical(used.span, run_message(&display_path(used)));
        }
    }
    for name in ["ShadowRealm", "WebAssembly"] {
        for used in source.facts.uses_of_global(&[name]) {
            critical(used.span, message!("runs code that is not in the source: `{name}`", name));
        }
    }
    for (module, span) in &source.facts.modules {
        if module.starts_with("data:") || module.starts_with("blob:") {
            critical(*span, message!("imports a string as code"));
        }
    }
    let mut timers = Vec::new();
    for call in &source.facts.calls {
        let Some(thing) = call.callee.as_path() else { continue };
        if thing.is_global_below(&["document", "createElement"])
            && call.args.first().and_then(Value::as_text).is_some_and(|name| name.eq_ignore_ascii_case("script"))
        {
            critical(call.span, message!("creates a script element"));
        }
        if calls_constructor_with_text(call) {
            critical(call.span, message!("calls the constructor of a value with code"));
        }
        if is_function_constructor(thing) {
            critical(call.span, constructor_message(thing));
        }
        for timer in ["setTimeout", "setInterval", "setImmediate"] {
            let text = call.args.first().is_some_and(|first| matches!(first, Value::Text(_)) || is_code_param(first))
                || call.prefixes.first().is_some_and(|prefix| !prefix.is_empty());
            if thing.is_global_below(&[timer]) && text {
                let message = message!("runs a string as code: `{name}` with a string", name = timer);
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
            let message = message!("loads `vm`, which runs strings as code");
            findings.add(Severity::Critical, *span, message, SUGGESTION);
        }
    }
    for span in &source.facts.with_statements {
        let message = message!("`with` makes names ambiguous");
        findings.add(Severity::High, *span, message, msgid!("name the object: `object.property`"));
    }
}

fn run_message(name: &str) -> Message {
    message!("runs a string as code: `{name}`", name)
}

fn constructor_message(path: &AccessPath) -> Message {
    message!("reaches the `Function` constructor: `{path}`", path = path.to_source())
}

/// Returns whether this is a member of `Function` that compiles nothing.
///
/// `Function.call` is `Function.prototype.call`: called as a member, it runs `Function` itself. Any
/// other use, such as `Function.call.bind(f)`, needs a function, and passing `Function` as that
/// function is a use of its own.
fn is_harmless_member_of_function(used: &Use) -> bool {
    match used.path.keys.as_slice() {
        [_, Key::Name(member)] if matches!(&**member, "call" | "apply" | "bind") => used.kind != UseKind::Called,
        [_, Key::Name(member), ..] => {
            matches!(&**member, "call" | "apply" | "bind" | "toString" | "name" | "length" | "prototype")
                && !is_function_constructor(&used.path)
        }
        _ => false,
    }
}

/// Returns whether a value is a parameter that holds code.
fn is_code_param(value: &Value) -> bool {
    value.as_path().is_some_and(|thing| {
        thing.root == Root::Params
            && matches!(thing.last_name(), Some("code" | "script" | "source" | "expression" | "snippet"))
    })
}

/// Returns whether a constructor is called with a text that is code.
pub(super) fn calls_constructor_with_text(call: &crate::semantics::facts::Call) -> bool {
    let constructor = call.callee.as_path().is_some_and(|thing| thing.last_name() == Some("constructor"));
    constructor && call.args.iter().any(|arg| arg.as_text().is_some_and(|text| text.contains("return")))
}

/// Returns whether an access path is the function constructor: `f.constructor`,
/// `[].map.constructor`, `x.constructor.constructor`.
pub(super) fn is_function_constructor(thing: &AccessPath) -> bool {
    // A shortcut, since every use is checked, and hardly any has such a key.
    if thing.keys.iter().all(|key| key.name() != Some("constructor")) {
        return false;
    }
    let names: Vec<&str> = thing.keys.iter().map(|key| key.name().unwrap_or("…")).collect();
    // Climbing prototypes changes nothing: the constructor of a function's prototype creates
    // functions as well.
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
        // The constructor of a function itself.
        Root::Literal(Literal::Function | Literal::Class) => before.is_empty() && !names.contains(&"prototype"),
        // The constructor of a method of a literal.
        Root::Literal(Literal::Other) => before.len() == 1,
        Root::Literal(Literal::Object) => before.len() == 1 && is_builtin_method(before[0]),
        Root::Global => is_constructor_of_global_function(&names),
        _ => before.last().is_some_and(|name| is_builtin_method(name)),
    }
}

/// Returns whether this is the constructor of a built-in function: `Math.max.constructor`,
/// `[].map.constructor`. The constructor of a prototype is the class itself:
/// `Array.prototype.constructor` is `Array`, and `Function.prototype.constructor` creates
/// functions.
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

/// Returns whether every object, array or text has this method.
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
