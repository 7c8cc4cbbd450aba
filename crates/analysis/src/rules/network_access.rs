//! `network-access`: communication with other machines.

use toolcell_i18n::{message, msgid};

use super::{Findings, Rule, RuleContext, display_path};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::facts::UseKind;
use crate::semantics::network::{NETWORK_GLOBALS, is_network};
use crate::semantics::quickjs::{self, Reach};

pub(super) const RULE: Rule =
    Rule { id: RuleId("network-access"), max_severity: Severity::High, docs: include_str!("network_access.md"), check };

const SUGGESTION: &str =
    msgid!("ask for the capability `net` with the hosts that it needs, or take the data as a parameter");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    for path in NETWORK_GLOBALS {
        for used in source.facts.uses_of_global(path) {
            let message = message!("reaches the network: `{path}`", path = display_path(used));
            findings.add(Severity::High, used.span, message, SUGGESTION);
        }
    }
    for (module, span) in &source.facts.modules {
        if is_network(module) {
            let message = message!("loads `{name}`, which reaches the network", name = module);
            findings.add(Severity::High, *span, message, SUGGESTION);
        }
    }
    // Navigating to another page is a request as well.
    for write in &source.facts.writes {
        let goes = |path: &[&str]| write.target.as_path().is_some_and(|thing| thing.is_global_below(path));
        if goes(&["location"]) || goes(&["document", "location"]) {
            let message = message!("navigates to another page: `location`");
            findings.add(Severity::High, write.span, message, SUGGESTION);
        }
    }
    for used in &source.facts.uses {
        let of_engine = quickjs::reach_of(&used.path) == Some(Reach::Network) && used.kind != UseKind::TypeTested;
        if of_engine || used.path.module_name().is_some_and(is_network) {
            let message = message!("reaches the network: `{path}`", path = display_path(used));
            findings.add(Severity::High, used.span, message, SUGGESTION);
        }
    }
}
