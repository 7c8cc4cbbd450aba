//! The runtime: the sandbox, and the cache of loaded tools and prepared scripts.
//!
//! Invariant: cache keys hash every input, so a hit is always identical to recomputing.

use std::sync::{Arc, OnceLock};

use toolcell_host::{ImageKind, Interruption, StartError};
use toolcell_schema::Schema;
use toolcell_store::{Entry, Fault, Store};
use toolcell_tool::{ToolId, ToolSpec};

use super::backend::{SandboxBackend, SandboxConfig};
use super::cache::Cache;
use super::loaded::LoadedTool;
use super::prepared::PreparedTool;
use crate::jail::{Confinement, Program};
use crate::vet::{Refusal, vet};

/// The sandbox of a toolbox, and the cache of what runs in it.
pub(crate) struct Runtime {
    pub(super) sandbox: Arc<SandboxBackend>,
    /// The interpreter that verification compares with; created on first use.
    interpreter: Arc<OnceLock<Result<SandboxBackend, String>>>,
    cache: Cache,
    /// The schema of drafts, which declare no parameters.
    any_schema: Schema,
}

impl Runtime {
    /// Starts a sandbox.
    ///
    /// # Errors
    /// `integrity`, `no-image`, `no-worker`, `limit-invalid`.
    pub(crate) fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        let sandbox = SandboxBackend::new(config)?;
        Ok(Self {
            sandbox: Arc::new(sandbox),
            interpreter: Arc::default(),
            cache: Cache::new(),
            any_schema: Schema::any(),
        })
    }

    /// Creates a runtime that shares the sandbox, the interpreter and the memory of the cache, but
    /// no cached tool.
    pub(crate) fn sibling(&self) -> Self {
        Self {
            sandbox: Arc::clone(&self.sandbox),
            interpreter: Arc::clone(&self.interpreter),
            cache: self.cache.sibling(),
            any_schema: Schema::any(),
        }
    }

    /// Returns the guest image in use.
    pub(crate) fn image(&self) -> ImageKind {
        self.sandbox.image()
    }

    /// Returns the images that were rejected before this one, and why.
    pub(crate) fn rejected_images(&self) -> &[(ImageKind, String)] {
        self.sandbox.rejected_images()
    }

    /// Returns how calls are interrupted at their deadline and on cancellation.
    pub(crate) fn interruption(&self) -> Interruption {
        self.sandbox.interruption()
    }

    /// Returns the confinement of the worker processes, if there are any.
    pub(crate) fn confinement(&self) -> Option<Confinement> {
        self.sandbox.confinement()
    }

    /// Returns the program of the worker processes, if there are any.
    pub(crate) fn worker_program(&self) -> Option<&Program> {
        self.sandbox.program()
    }

    /// Returns the maximum number of concurrent calls.
    pub(crate) fn slots(&self) -> usize {
        self.sandbox.slots()
    }

    /// Returns the interpreter, which is created on first use.
    pub(crate) fn interpreter(&self) -> Result<&SandboxBackend, &str> {
        let made = self.interpreter.get_or_init(|| {
            let jail = self.sandbox.program().cloned();
            let config = SandboxConfig { images: vec![ImageKind::Interpreted], slots: self.slots(), jail };
            SandboxBackend::new(&config).map_err(|error| error.to_string())
        });
        made.as_ref().map_err(String::as_str)
    }

    /// Returns the schema of drafts, which declare no parameters.
    pub(crate) fn any_schema(&self) -> &Schema {
        &self.any_schema
    }

    /// Loads a stored tool, checks it against its identifier, and analyses it; once in this
    /// process.
    pub(crate) fn load_tool(&self, store: &Store, entry: &Entry) -> Result<Arc<LoadedTool>, Fault> {
        if let Some(ready) = self.cache.tool(&entry.id) {
            return Ok(ready);
        }
        Ok(self.load_spec(entry.id, store.catalog().spec(entry)?))
    }

    /// Returns whether a tool is loaded and analysed.
    pub(crate) fn has_tool(&self, id: &ToolId) -> bool {
        self.cache.tool(id).is_some()
    }

    /// Analyses a tool that is not stored; once in this process, as long as there is room.
    pub(crate) fn load_code(&self, spec: ToolSpec) -> Arc<LoadedTool> {
        let id = spec.id();
        self.cache.tool(&id).unwrap_or_else(|| self.load_spec(id, spec))
    }

    fn load_spec(&self, id: ToolId, spec: ToolSpec) -> Arc<LoadedTool> {
        let schema = Schema::compile(spec.parameters());
        let ready = Arc::new(LoadedTool { schema, vetted: vet(spec) });
        // A refusal for lack of memory or threads is not cached: the next attempt may succeed.
        if !ready.vetted.as_ref().is_err_and(Refusal::is_transient) {
            self.cache.insert_tool(id, Arc::clone(&ready));
        }
        ready
    }

    /// Returns the prepared script with this key, if it is cached.
    pub(crate) fn cached_script(&self, key: &blake3::Hash) -> Option<Arc<PreparedTool>> {
        self.cache.script(key)
    }

    /// Caches a prepared script, as long as there is room.
    pub(super) fn cache_script(&self, key: blake3::Hash, kept: PreparedTool) -> Arc<PreparedTool> {
        let kept = Arc::new(kept);
        self.cache.insert_script(key, Arc::clone(&kept));
        kept
    }

    /// Whether both run in the same sandbox.
    #[cfg(test)]
    pub(crate) fn shares_sandbox_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.sandbox, &other.sandbox)
    }

    /// Returns the cached tool with this identifier.
    #[cfg(test)]
    pub(crate) fn cached_tool(&self, id: &ToolId) -> Option<Arc<LoadedTool>> {
        self.cache.tool(id)
    }
}
