//! Which stored tools may do the same: those that are about the same, and those that take the same.
//!
//! Invariant: however many tools there are, a bounded number is compared.

use toolcell_store::{Entry, Fault};
use toolcell_tool::ToolSpec;

use crate::params::Schema;
use crate::search::SearchError;
use crate::toolbox::Toolbox;

/// How many tools are compared that are about the same.
const ABOUT: usize = 12;
/// How many that take the same.
const TAKE: usize = 36;

/// What a tool is found by that takes parameters of these kinds, whatever they are called; nothing where it takes none.
pub(crate) fn signature(schema: &Schema) -> Option<String> {
    let mut kinds: Vec<&str> = schema.parameters().iter().map(|parameter| kind(&parameter.kind)).collect();
    kinds.sort_unstable();
    (!kinds.is_empty()).then(|| format!("~takes:{}", kinds.join("+").replace(char::is_whitespace, "")))
}

/// A whole number is a number, whichever was declared.
pub(super) fn kind(kind: &str) -> &str {
    if kind == "integer" { "number" } else { kind }
}

impl Toolbox {
    /// The stored tools to compare one with, those that are about the same first.
    pub(super) fn candidates(&self, spec: &ToolSpec, about: &str, schema: &Schema) -> Result<Vec<Entry>, Fault> {
        let Some(signature) = signature(schema) else { return Ok(Vec::new()) };
        let hits = match self.search(&format!("{} {about}", spec.name()), ABOUT) {
            Ok(hits) => hits,
            Err(SearchError::Fault(fault)) => return Err(fault),
            // A store that cannot be searched has nothing to compare with.
            Err(_) => return Ok(Vec::new()),
        };
        let mut found: Vec<Entry> = hits.into_iter().map(|hit| hit.entry).collect();
        for hit in self.shelf()?.search(&[vec![signature]], TAKE)? {
            if found.iter().all(|known| known.id != hit.entry.id) {
                found.push(hit.entry);
            }
        }
        Ok(found)
    }
}
