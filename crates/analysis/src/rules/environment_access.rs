//! `environment-access`: access to the environment of the process.

use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext, display_path};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::facts::UseKind;
use crate::semantics::quickjs::{self, Reach};

pub(super) const RULE: Rule = Rule {
    id: RuleId("environment-access"),
    max_severity: Severity::High,
    docs: include_str!("environment_access.md"),
    check,
};

const SUGGESTION: &str = msgid!("take the value as a parameter, or ask for the capability `secrets`");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let paths: [(&[&str], Severity); 14] = [
        (&["process", "env"], Severity::High),
        (&["process"], Severity::High),
        (&["Deno"], Severity::High),
        (&["Bun", "env"], Severity::High),
        (&["__dirname"], Severity::Medium),
        (&["__filename"], Severity::Medium),
        (&["document", "cookie"], Severity::High),
        (&["localStorage"], Severity::Medium),
        (&["sessionStorage"], Severity::Medium),
        (&["indexedDB"], Severity::Medium),
        (&["navigator"], Severity::Medium),
        (&["location"], Severity::Medium),
        (&["Bun", "argv"], Severity::High),
        (&["require", "main"], Severity::Medium),
    ];
    for (path, severity) in paths {
        for used in source.facts.uses_of_global(path) {
            findings.add(severity, used.span, read_message(&display_path(used)), SUGGESTION);
        }
    }
    for used in &source.facts.uses {
        let of_engine = quickjs::reach_of(&used.path) == Some(Reach::Environment) && used.kind != UseKind::TypeTested;
        if of_engine || matches!(used.path.module_name(), Some("os" | "dotenv")) {
            findings.add(Severity::High, used.span, read_message(&display_path(used)), SUGGESTION);
        }
    }
    for (module, span) in &source.facts.modules {
        if module == "dotenv" || module == "dotenv/config" {
            findings.add(Severity::High, *span, read_message(module), SUGGESTION);
        }
    }
    for span in &source.facts.import_meta {
        findings.add(Severity::Medium, *span, read_message("import.meta"), SUGGESTION);
    }
}

fn read_message(name: &str) -> Message {
    message!("reads the environment of the process: `{name}`", name)
}
