//! Hints about missing grants: which grant a tool needs, and the policy line or the argument of
//! `toolcell grant` that would give it.
//!
//! Invariant: a hint follows from the tool and the policy. The tool's error message only selects
//! the capability, and never contributes text.

use toolcell_analysis::{Capabilities, Capability};
use toolcell_host::{Outcome, Report};
use toolcell_policy::{Grants, Policy, SuggestedArgument, suggest_arguments, suggest_grant};
use toolcell_store::Entry;

use crate::vet::VettedTool;

/// The text by which a guest error names the missing grant.
const MISSING_GRANT_MARKER: &str = "it needs the grant `";

/// Adds a hint to the error of a tool that failed because of a missing grant.
pub(crate) fn add_grant_hint(report: &mut Report, entry: &Entry, tool: &VettedTool, grants: &Grants, policy: &Policy) {
    let Outcome::Threw(thrown) = &mut report.outcome else { return };
    let Some(capability) = needed_capability(&thrown.message).filter(|capability| !grants.has(*capability)) else {
        return;
    };
    thrown.message = format!("{}; {}", thrown.message, next_step(capability, entry, tool, policy));
}

/// Adds a hint to the error of code that is not stored, if it failed because of a missing grant.
pub(crate) fn add_draft_grant_hint(report: &mut Report, grants: &Grants) {
    let Outcome::Threw(thrown) = &mut report.outcome else { return };
    let Some(capability) = needed_capability(&thrown.message).filter(|capability| !grants.has(*capability)) else {
        return;
    };
    let name = capability.name();
    thrown.message =
        format!("{}; `grants.drafts` in the policy would grant `{name}` to code that is not stored", thrown.message);
}

/// Returns the capability whose grant a call lacked, if it failed because of that.
#[must_use]
pub fn missing_capability(report: &Report) -> Option<Capability> {
    let Outcome::Threw(thrown) = &report.outcome else { return None };
    needed_capability(&thrown.message)
}

/// Returns the capability that an error message of the guest says is missing.
fn needed_capability(message: &str) -> Option<Capability> {
    let (_, rest) = message.split_once(MISSING_GRANT_MARKER)?;
    Capability::from_name(rest.split_once('`')?.0)
}

/// Returns what would give a tool the capability that it needs.
fn next_step(capability: Capability, entry: &Entry, tool: &VettedTool, policy: &Policy) -> String {
    let name = capability.name();
    let Some(need) = tool.requested_capabilities().need_of(capability) else {
        return format!("the tool does not request it: create the tool again with `{name}` in its `capabilities`");
    };
    let asked = Capabilities::scoped([(capability, need.named.clone())]);
    let ruling = policy.grant_decisions(entry.id, &entry.name, &entry.tags, &asked);
    let ruling = ruling.first().map(ToString::to_string).unwrap_or_default();
    let need =
        Some(need).filter(|need| !need.named.is_empty()).or_else(|| tool.used_capabilities().need_of(capability));
    format!("{ruling}; {} in the policy would grant it", suggest_grant(&entry.name, capability, need))
}

/// Returns the arguments of `toolcell grant` for the requested capabilities that are not granted.
pub(crate) fn missing_grants(tool: &VettedTool, grants: &Grants) -> Vec<SuggestedArgument> {
    let missing = tool.requested_capabilities().iter().filter(|(capability, _)| !grants.has(*capability));
    let arguments = missing.flat_map(|(capability, need)| {
        // What the analysis sees of a key-value space is a key, and of a folder a path in it.
        let is_named = !need.named.is_empty() || matches!(capability, Capability::Kv | Capability::Files);
        let need = if is_named { Some(need) } else { tool.used_capabilities().need_of(capability) };
        suggest_arguments(capability, need)
    });
    arguments.collect()
}

/// Returns the arguments of `toolcell grant`, separated by blanks.
pub(super) fn to_words(missing: &[SuggestedArgument]) -> String {
    missing.iter().map(|argument| argument.text.as_str()).collect::<Vec<_>>().join(" ")
}
