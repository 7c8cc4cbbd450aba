//! `module-loading`: loading of code from outside of the source.

use toolcell_i18n::{message, msgid};

use super::{Findings, Rule, RuleContext, display_path};
use crate::report::finding::{RuleId, Severity};

pub(super) const RULE: Rule = Rule {
    id: RuleId("module-loading"),
    max_severity: Severity::Critical,
    docs: include_str!("module_loading.md"),
    check,
};

const SUGGESTION: &str =
    msgid!("include the code in the tool: a tool is one file that may import only types and schema builders");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    for (module, span) in &source.facts.modules {
        findings.add(Severity::Critical, *span, message!("loads the module `{name}`", name = module), SUGGESTION);
    }
    for path in [
        &["require"] as &[&str],
        &["module", "require"],
        &["module", "constructor"],
        &["importScripts"],
        &["process", "getBuiltinModule"],
        &["process", "mainModule"],
        &["System", "import"],
        &["Worker"],
        &["SharedWorker"],
    ] {
        for used in source.facts.uses_of_global(path) {
            let message = message!("loads modules: `{path}`", path = display_path(used));
            findings.add(Severity::Critical, used.span, message, SUGGESTION);
        }
    }
    for used in &source.facts.uses {
        if used.path.module_name() == Some("module") {
            let message = message!("loads modules: `{path}`", path = display_path(used));
            findings.add(Severity::Critical, used.span, message, SUGGESTION);
        }
    }
}
