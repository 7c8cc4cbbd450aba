//! Stored tools that were loaded and analyzed.

use toolcell_schema::{Schema, SchemaError};

use crate::vet::{Refusal, VettedTool};

/// A stored tool that was loaded and analysed.
pub(crate) struct LoadedTool {
    /// The compiled schema of its parameters, or why it does not compile.
    pub(crate) schema: Result<Schema, SchemaError>,
    /// The vetted tool, or why it is refused.
    pub(crate) vetted: Result<VettedTool, Refusal>,
}

impl LoadedTool {
    /// Returns the schema of the tool's parameters.
    pub(crate) fn schema(&self) -> Result<&Schema, SchemaError> {
        self.schema.as_ref().map_err(Clone::clone)
    }

    /// Returns the approximate size in memory, in bytes: the analysis takes a few times the size of
    /// the source.
    pub(super) fn approximate_bytes(&self) -> usize {
        let text = self.vetted.as_ref().map_or(0, |tool| {
            let spec = tool.spec();
            spec.source().len() + tool.script().code().len() + 2 * spec.parameters().to_string().len()
        });
        (4 << 10) + 4 * text
    }
}
