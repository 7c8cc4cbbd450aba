//! What is said where a tool needs what it was not granted: which grant that is, and the line of a policy that would give it.
//!
//! Invariant: what is said follows from the tool and the policy. The words of a tool only choose what it is about, and never what
//! it says.

use toolcell_analysis::{Capabilities, Capability};
use toolcell_host::{Outcome, Report};
use toolcell_store::Entry;

use crate::policy::{Grants, Policy, line};
use crate::vet::VettedTool;

/// How an error of the guest begins to say which grant is missing.
const NEEDS: &str = "it needs the grant `";

/// Adds to the error of a tool that failed for want of a grant what would give it.
pub(crate) fn tell(report: &mut Report, entry: &Entry, tool: &VettedTool, grants: &Grants, policy: &Policy) {
    let Outcome::Threw(thrown) = &mut report.outcome else { return };
    let needed = thrown.message.split_once(NEEDS).and_then(|(_, rest)| Capability::named(rest.split_once('`')?.0));
    let Some(capability) = needed.filter(|capability| !grants.has(*capability)) else { return };
    thrown.message = format!("{}; {}", thrown.message, next_step(capability, entry, tool, policy));
}

/// What would give a tool a capability that it needs.
fn next_step(capability: Capability, entry: &Entry, tool: &VettedTool, policy: &Policy) -> String {
    let name = capability.name();
    let Some(need) = tool.asked().need_of(capability) else {
        return format!("the tool does not ask for it: make it anew with `{name}` in its `capabilities`");
    };
    let asked = Capabilities::naming([(capability, need.named.clone())]);
    let ruling = policy.granted_by(entry.id, &entry.name, &entry.tags, &asked);
    let ruling = ruling.first().map(ToString::to_string).unwrap_or_default();
    let need = Some(need).filter(|need| !need.named.is_empty()).or_else(|| tool.uses().need_of(capability));
    format!("{ruling}, and {} in the policy would give it", line(&entry.name, capability, need))
}

/// The lines that would grant what a tool asks for and does not get; nothing where it gets all.
pub(crate) fn lines(entry: &Entry, tool: &VettedTool, grants: &Grants) -> Option<String> {
    let missing = tool.asked().iter().filter(|(capability, _)| !grants.has(*capability));
    let lines = missing.map(|(capability, need)| {
        let need = if need.named.is_empty() { tool.uses().need_of(capability) } else { Some(need) };
        line(&entry.name, capability, need)
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join(" and "))
}
