//! `module-loading`: code from outside of the source.

use super::{Findings, Rule, Source, shown};
use crate::finding::{RuleId, Severity};

pub(super) const RULE: Rule =
    Rule { id: RuleId("module-loading"), worst: Severity::Critical, page: include_str!("module_loading.md"), check };

const SUGGESTION: &str =
    "write what it needs into the tool: a tool is one file that imports types alone, and `@sinclair/typebox`";

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    for (module, span) in &source.facts.modules {
        findings.add(Severity::Critical, *span, format!("loads the module `{module}`"), SUGGESTION);
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
        for used in source.facts.globals(path) {
            findings.add(Severity::Critical, used.span, format!("loads modules: `{}`", shown(used)), SUGGESTION);
        }
    }
    for used in &source.facts.uses {
        if used.thing.module() == Some("module") {
            findings.add(Severity::Critical, used.span, format!("loads modules: `{}`", shown(used)), SUGGESTION);
        }
    }
}
