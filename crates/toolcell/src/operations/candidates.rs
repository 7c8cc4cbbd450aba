//! The candidates for an equivalence test: stored tools with a similar topic or the same signature.
//!
//! Invariant: the number of candidates is bounded, whatever the number of stored tools.

use serde_json::Value;
use toolcell_schema::Schema;
use toolcell_store::{Entry, Fault};
use toolcell_tool::ToolSpec;

use super::search::{SearchError, search, signature};
use crate::parts::Parts;
use crate::verification::EquivalentTool;
use crate::verification::equivalence::{CompareError, Comparison};
use crate::vet::VettedTool;

/// The maximum number of candidates with a similar topic.
const MAX_SIMILAR: usize = 12;
/// The maximum number of candidates with the same signature.
const MAX_SAME_SIGNATURE: usize = 36;

/// Finds the stored tools that are equivalent to a stored tool.
pub(super) fn find_equivalent_to_stored(parts: &Parts, entry: &Entry) -> Result<Vec<EquivalentTool>, CompareError> {
    let ready = parts.load_tool(entry)?;
    let (Ok(tool), Ok(schema)) = (&ready.vetted, ready.schema()) else { return Ok(Vec::new()) };
    let notes = parts.require_store()?.catalog().metadata(entry)?;
    find_equivalent(parts, tool, schema, notes.description(), notes.examples())
}

/// Finds the stored tools that are equivalent to a new tool, the most likely first. Tools that need
/// an approval before they run are not compared.
pub(super) fn find_equivalent(
    parts: &Parts,
    tool: &VettedTool,
    schema: &Schema,
    about: &str,
    examples: &[Value],
) -> Result<Vec<EquivalentTool>, CompareError> {
    let comparison = Comparison { runtime: &parts.runtime, admission: &parts.admission, store: parts.require_store()? };
    comparison.find_equivalent(tool, schema, examples, || candidates(parts, tool.spec(), about, schema))
}

/// Returns the stored tools to compare a tool with, those with a similar topic first.
fn candidates(parts: &Parts, spec: &ToolSpec, about: &str, schema: &Schema) -> Result<Vec<Entry>, Fault> {
    let Some(signature) = signature(schema) else { return Ok(Vec::new()) };
    let hits = match search(parts, &format!("{} {about}", spec.name()), MAX_SIMILAR) {
        Ok(hits) => hits,
        Err(SearchError::Fault(fault)) => return Err(fault),
        // A store that cannot be searched has no candidates.
        Err(_) => return Ok(Vec::new()),
    };
    let mut found: Vec<Entry> = hits.into_iter().map(|hit| hit.entry).collect();
    for hit in parts.require_store()?.catalog().search(&[vec![signature]], MAX_SAME_SIGNATURE)? {
        if found.iter().all(|known| known.id != hit.entry.id) {
            found.push(hit.entry);
        }
    }
    Ok(found)
}
