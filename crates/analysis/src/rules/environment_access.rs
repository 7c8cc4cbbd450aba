//! `environment-access`: what surrounds the process.

use super::quickjs::{self, Reach};
use super::{Findings, Rule, Source, shown};
use crate::facts::Role;
use crate::finding::{RuleId, Severity};

pub(super) const RULE: Rule = Rule {
    id: RuleId("environment-access"),
    worst: Severity::High,
    page: include_str!("environment_access.md"),
    check,
};

const SUGGESTION: &str = "take the value as a parameter, or ask for the capability `secrets`";

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
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
        for used in source.facts.globals(path) {
            let whole = format!("reads what surrounds the process: `{}`", shown(used));
            findings.add(severity, used.span, whole, SUGGESTION);
        }
    }
    for used in &source.facts.uses {
        let of_engine = quickjs::reach(&used.thing) == Some(Reach::Environment) && used.role != Role::AskedAbout;
        if of_engine || matches!(used.thing.module(), Some("os" | "dotenv")) {
            let message = format!("reads what surrounds the process: `{}`", shown(used));
            findings.add(Severity::High, used.span, message, SUGGESTION);
        }
    }
    for (module, span) in &source.facts.modules {
        if module == "dotenv" || module == "dotenv/config" {
            findings.add(Severity::High, *span, format!("reads what surrounds the process: `{module}`"), SUGGESTION);
        }
    }
    for span in &source.facts.import_meta {
        let message = "reads what surrounds the process: `import.meta`".to_owned();
        findings.add(Severity::Medium, *span, message, SUGGESTION);
    }
}
