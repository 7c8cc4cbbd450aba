//! `global-escape`: access to the global object, or to other realms and callers.

use toolcell_i18n::{message, msgid};

use super::eval_usage::is_function_constructor;
use super::{Findings, Rule, RuleContext, display_path};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::value::{Key, Root};

pub(super) const RULE: Rule = Rule {
    id: RuleId("global-escape"),
    max_severity: Severity::Critical,
    docs: include_str!("global_escape.md"),
    check,
};

const SUGGESTION: &str = msgid!("use built-ins by their names; a cell has no other globals");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    for used in source.facts.uses.iter().chain(&source.facts.result_uses) {
        let thing = &used.path;
        let dynamic = thing.keys.first() == Some(&Key::Dynamic);
        if thing.root == Root::Global && dynamic {
            let message = message!("reads a computed member of the global object");
            findings.add(Severity::High, used.span, message, SUGGESTION);
        }
        if thing.root == Root::Global
            && thing.keys.is_empty()
            && used.kind != crate::semantics::facts::UseKind::TypeTested
        {
            let message = message!("passes the global object on");
            findings.add(Severity::High, used.span, message, SUGGESTION);
        }
        if is_function_constructor(thing) {
            let message =
                message!("climbs from a value to the `Function` constructor: `{path}`", path = display_path(used));
            findings.add(Severity::Critical, used.span, message, SUGGESTION);
        }
        let other_realm = matches!(thing.last_name(), Some("contentWindow" | "contentDocument" | "defaultView"))
            || [&["top"] as &[&str], &["parent"], &["opener"], &["ShadowRealm"]]
                .iter()
                .any(|path| thing.is_global_below(path));
        if other_realm && thing.root != Root::Params && used.kind != crate::semantics::facts::UseKind::TypeTested {
            let message = message!("reaches another global object: `{path}`", path = display_path(used));
            findings.add(Severity::High, used.span, message, SUGGESTION);
        }
        let of_arguments = thing.is_global_below(&["arguments", "callee"]);
        let of_function = matches!(thing.root, Root::Literal(_)) && thing.last_name() == Some("caller");
        if of_arguments || of_function {
            let message = message!("inspects its caller: `{path}`", path = display_path(used));
            findings.add(Severity::High, used.span, message, SUGGESTION);
        }
    }
    for span in &source.facts.global_lookups {
        let message = message!("reads a computed member of the global object");
        findings.add(Severity::High, *span, message, SUGGESTION);
    }
    for call in &source.facts.calls {
        if super::eval_usage::calls_constructor_with_text(call) {
            let message = message!("calls the constructor of a value with code");
            findings.add(Severity::Critical, call.span, message, SUGGESTION);
        }
    }
    for write in &source.facts.writes {
        if write.target.as_path().is_some_and(|thing| thing.is_global_below(&["Error", "prepareStackTrace"])) {
            let message = message!("replaces the formatting of stack traces");
            findings.add(Severity::High, write.span, message, SUGGESTION);
        }
    }
    for used in source.facts.uses_of_global(&["Error", "prepareStackTrace"]) {
        let message = message!("replaces the formatting of stack traces");
        findings.add(Severity::High, used.span, message, SUGGESTION);
    }
}
