//! The candidates for an equivalence test: stored tools with a similar topic or the same signature.
//!
//! Invariant: the number of candidates is bounded, whatever the number of stored tools.

use toolcell_store::{Entry, Fault};
use toolcell_tool::ToolSpec;

use crate::operations::search::SearchError;
use crate::schema::Schema;
use crate::toolbox::Toolbox;

/// The maximum number of candidates with a similar topic.
const MAX_SIMILAR: usize = 12;
/// The maximum number of candidates with the same signature.
const MAX_SAME_SIGNATURE: usize = 36;

/// Returns the search term of a schema's parameter types, whatever their names; `None` if there are
/// no parameters.
pub(crate) fn signature(schema: &Schema) -> Option<String> {
    let mut kinds: Vec<&str> = schema.parameters().iter().map(|parameter| normalized_kind(&parameter.kind)).collect();
    kinds.sort_unstable();
    (!kinds.is_empty()).then(|| format!("~takes:{}", kinds.join("+").replace(char::is_whitespace, "")))
}

/// Maps `integer` to `number`.
pub(crate) fn normalized_kind(kind: &str) -> &str {
    if kind == "integer" { "number" } else { kind }
}

impl Toolbox {
    /// Returns the stored tools to compare a tool with, those with a similar topic first.
    pub(crate) fn candidates(&self, spec: &ToolSpec, about: &str, schema: &Schema) -> Result<Vec<Entry>, Fault> {
        let Some(signature) = signature(schema) else { return Ok(Vec::new()) };
        let hits = match self.search(&format!("{} {about}", spec.name()), MAX_SIMILAR) {
            Ok(hits) => hits,
            Err(SearchError::Fault(fault)) => return Err(fault),
            // A store that cannot be searched has no candidates.
            Err(_) => return Ok(Vec::new()),
        };
        let mut found: Vec<Entry> = hits.into_iter().map(|hit| hit.entry).collect();
        for hit in self.require_store()?.search(&[vec![signature]], MAX_SAME_SIGNATURE)? {
            if found.iter().all(|known| known.id != hit.entry.id) {
                found.push(hit.entry);
            }
        }
        Ok(found)
    }
}
