//! `environment-access`: access to the environment of the process.

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

const SUGGESTION: &str = "take the value as a parameter, or ask for the capability `secrets`";

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
            let whole = format!("reads the environment of the process: `{}`", display_path(used));
            findings.add(severity, used.span, whole, SUGGESTION);
        }
    }
    for used in &source.facts.uses {
        let of_engine = quickjs::reach_of(&used.path) == Some(Reach::Environment) && used.kind != UseKind::TypeTested;
        if of_engine || matches!(used.path.module_name(), Some("os" | "dotenv")) {
            let message = format!("reads the environment of the process: `{}`", display_path(used));
            findings.add(Severity::High, used.span, message, SUGGESTION);
        }
    }
    for (module, span) in &source.facts.modules {
        if module == "dotenv" || module == "dotenv/config" {
            findings.add(
                Severity::High,
                *span,
                format!("reads the environment of the process: `{module}`"),
                SUGGESTION,
            );
        }
    }
    for span in &source.facts.import_meta {
        let message = "reads the environment of the process: `import.meta`".to_owned();
        findings.add(Severity::Medium, *span, message, SUGGESTION);
    }
}
