//! The types of a tool's source, checked against what its cell has and what it declares.
//!
//! Invariant: a check changes nothing but the findings that are told.

use serde_json::Value;
use toolcell_analysis::{Capabilities, Finding};
use toolcell_i18n::Message;
use toolcell_tool::Draft;

use crate::parts::Parts;
use crate::type_check::TypeCheckRequest;
use crate::vet::VettedTool;

/// Checks the types of a tool with the schemas of its parameters and of its result.
pub(crate) fn check_types(
    parts: &Parts,
    tool: &VettedTool,
    parameters: Option<&Value>,
    returns: Option<&Value>,
) -> Vec<Finding> {
    let Some(types) = &parts.types else { return Vec::new() };
    let capabilities = tool.requested_capabilities();
    let found = types.check(&TypeCheckRequest {
        source: tool.spec().source(),
        entry_point: Some(tool.entry_point()),
        capabilities,
        parameters,
        returns,
        servers: &declare_servers(parts, capabilities),
    });
    found_or_logged(found)
}

/// Checks the types of code that is not stored, which has what the policy grants to drafts.
pub(crate) fn check_draft(parts: &Parts, draft: &Draft) -> Vec<Finding> {
    check_code(parts, draft, &Capabilities::unscoped(parts.admission.policy().draft_grants().capabilities()))
}

/// Checks the types of code that is not stored, which has these capabilities.
pub(crate) fn check_code(parts: &Parts, draft: &Draft, capabilities: &Capabilities) -> Vec<Finding> {
    let Some(types) = &parts.types else { return Vec::new() };
    let Ok(analysis) = toolcell_analysis::analyze(draft.source(), draft.language(), None) else { return Vec::new() };
    let found = types.check(&TypeCheckRequest {
        source: draft.source(),
        entry_point: analysis.entry_point,
        capabilities,
        parameters: None,
        returns: None,
        servers: &declare_servers(parts, capabilities),
    });
    found_or_logged(found)
}

/// Returns the findings; empty if the program fails, which is logged: the author of a source cannot change that.
fn found_or_logged(found: Result<Vec<Finding>, Message>) -> Vec<Finding> {
    found.unwrap_or_else(|why| {
        tracing::warn!(%why, "types are not checked");
        Vec::new()
    })
}

/// Declares the tools of servers that a person trusted, without asking any server.
#[cfg(feature = "servers")]
fn declare_servers(parts: &Parts, capabilities: &Capabilities) -> String {
    use toolcell_analysis::Capability;

    if !capabilities.has(Capability::Servers) {
        return String::new();
    }
    super::servers::declare_trusted(parts).unwrap_or_default()
}

#[cfg(not(feature = "servers"))]
fn declare_servers(_parts: &Parts, _capabilities: &Capabilities) -> String {
    String::new()
}
