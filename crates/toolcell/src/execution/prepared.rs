//! Evaluated scripts.

use std::sync::Arc;

use super::backend::PreparedScript;

/// An evaluated script with the mapping back to the author's source.
pub(crate) struct PreparedTool {
    pub(super) prepared: PreparedScript,
    pub(super) script: toolcell_analysis::Script,
    /// The name of the tool, if a factory creates several.
    pub(super) tool: Option<String>,
}

/// The code of a call.
pub(crate) enum ToolCode<'a> {
    /// A script that was evaluated before.
    Prepared(Arc<PreparedTool>),
    /// A script that must be evaluated first.
    Script(&'a toolcell_analysis::Script),
}

impl PreparedTool {
    /// Returns the memory that caching it takes, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.prepared.held_bytes() + self.script.code().len()
    }

    /// Returns the manifest, in which the script describes its tools.
    pub(crate) fn manifest(&self) -> &toolcell_host::Json {
        self.prepared.manifest()
    }
}
