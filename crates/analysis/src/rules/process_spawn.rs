//! `process-spawn`: starting of other programs.

use toolcell_i18n::{message, msgid};

use super::{Findings, Rule, RuleContext, display_path};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::facts::UseKind;
use crate::semantics::quickjs::{self, Reach};

pub(super) const RULE: Rule = Rule {
    id: RuleId("process-spawn"),
    max_severity: Severity::Critical,
    docs: include_str!("process_spawn.md"),
    check,
};

const SUGGESTION: &str = msgid!("compute the result in the tool itself: a cell has no processes");

/// Modules that start processes.
const MODULES: [&str; 12] = [
    "child_process",
    "cluster",
    "worker_threads",
    "execa",
    "shelljs",
    "zx",
    "cross-spawn",
    "node-pty",
    "tinyexec",
    "nano-spawn",
    "sudo-prompt",
    "piscina",
];
const GLOBALS: [&[&str]; 8] = [
    &["Deno", "Command"],
    &["Deno", "run"],
    &["Bun", "spawn"],
    &["Bun", "spawnSync"],
    &["Bun", "$"],
    &["process", "binding"],
    &["process", "_linkedBinding"],
    &["process", "dlopen"],
];

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    for used in &source.facts.uses {
        let of_engine = quickjs::reach_of(&used.path) == Some(Reach::Process) && used.kind != UseKind::TypeTested;
        if of_engine || used.path.module_name().is_some_and(|module| MODULES.contains(&module)) {
            let message = message!("starts other programs: `{path}`", path = display_path(used));
            findings.add(Severity::Critical, used.span, message, SUGGESTION);
        }
    }
    for (module, span) in &source.facts.modules {
        if MODULES.contains(&module.strip_prefix("node:").unwrap_or(module)) {
            findings.add(
                Severity::Critical,
                *span,
                message!("loads `{name}`, which starts other programs", name = module),
                SUGGESTION,
            );
        }
    }
    for path in GLOBALS {
        for used in source.facts.uses_of_global(path) {
            let message = message!("starts other programs: `{path}`", path = display_path(used));
            findings.add(Severity::Critical, used.span, message, SUGGESTION);
        }
    }
}
