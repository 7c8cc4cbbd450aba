//! The toolbox: a sandbox, a store, the policy, and the cache of prepared scripts.
//!
//! Invariant: cache keys hash every input, so a hit is always identical to recomputing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use toolcell_capabilities::{Net, ProtectedPath, Roots};
use toolcell_host::{ImageKind, Interruption, StartError};
use toolcell_jail::Confinement;
use toolcell_store::audit::{AuditConfig, AuditEvent};
use toolcell_store::{Entry, Fault, Notice, OpenError, RecordError, Settings, Store, StoreAccess};

use crate::admission::hook::Hooks;
use crate::execution::backend::{SandboxBackend, SandboxConfig};
use crate::execution::cache::Cache;
use crate::execution::execute::PreparedTool;
use crate::host_calls::functions::HostFunctions;
use crate::host_calls::{BackgroundRuntime, SecretSource};
use crate::policy::{Policy, PolicyError};
use crate::records::flusher::RunFlusher;
use crate::records::interrupted;
use crate::schema::{Schema, SchemaError};
use crate::vet::{Refusal, VettedTool, vet};

/// The configuration of a [`Toolbox`].
#[derive(Clone)]
pub struct ToolboxConfig {
    /// The sandbox.
    pub sandbox: SandboxConfig,
    /// The policy that tools run under.
    pub policy: Policy,
    /// The hooks that run before and after each call.
    pub hooks: Hooks,
    /// The clock.
    pub clock: fn() -> Timestamp,
    /// The working directory that hooks are given.
    pub cwd: PathBuf,
    /// Resolves the values of granted secrets. The default resolves none.
    pub secrets: SecretSource,
    /// Host functions that tools can call, in addition to stored tools. A host function takes
    /// precedence over a stored tool of the same name.
    pub functions: HostFunctions,
    /// The root certificates that tools' requests trust. The default is the system's.
    pub roots: Roots,
    /// Paths that no tool may change, whatever it is granted, in addition to the store, the policy,
    /// the programs of its hooks and this program.
    pub protected: Vec<ProtectedPath>,
}

impl Default for ToolboxConfig {
    /// The built-in policy without hooks.
    fn default() -> Self {
        Self {
            sandbox: SandboxConfig::default(),
            policy: Policy::default(),
            hooks: Hooks::default(),
            clock: now,
            // Hooks get an empty path if the directory no longer exists.
            cwd: std::env::current_dir().unwrap_or_default(),
            secrets: Arc::new(|_| None),
            functions: HostFunctions::default(),
            roots: Roots::System,
            protected: Vec::new(),
        }
    }
}

/// Creates, runs, lists and deletes tools.
pub struct Toolbox {
    pub(crate) sandbox: Arc<SandboxBackend>,
    /// The interpreter that verification compares with; created on first use.
    interpreter: Arc<OnceLock<Result<SandboxBackend, String>>>,
    pub(crate) store: Option<Arc<Store>>,
    pub(crate) flusher: RunFlusher,
    pub(crate) policy: Policy,
    pub(crate) hooks: Hooks,
    pub(crate) clock: fn() -> Timestamp,
    pub(crate) cwd: String,
    pub(crate) secrets: SecretSource,
    pub(crate) functions: HostFunctions,
    pub(crate) roots: Roots,
    pub(crate) protected: Vec<ProtectedPath>,
    pub(crate) net: OnceLock<Net>,
    pub(crate) background: BackgroundRuntime,
    /// The schema of drafts, which declare no parameters.
    pub(crate) any_schema: Schema,
    cache: Cache,
}

/// A stored tool that was loaded and analysed.
pub(crate) struct LoadedTool {
    /// The compiled schema of its parameters, or why it does not compile.
    pub(crate) schema: Result<Schema, SchemaError>,
    /// The vetted tool, or why it is refused.
    pub(crate) vetted: Result<VettedTool, Refusal>,
}

/// The error of opening a toolbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolboxError {
    /// The sandbox failed to start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The store failed to open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal of a killed process cannot be read.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// An interrupted run cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The policy grants a folder that must not be granted.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl ToolboxError {
    /// Returns the stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Start(error) => error.code(),
            Self::Open(error) => error.code(),
            Self::Fault(error) => error.code(),
            Self::Record(error) => error.code(),
            Self::Policy(error) => error.code(),
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Start(error) => error.hint(),
            Self::Open(error) => error.hint(),
            Self::Fault(error) => error.hint(),
            Self::Record(error) => error.hint(),
            Self::Policy(error) => error.hint(),
        }
    }
}

impl LoadedTool {
    /// Returns the schema of the tool's parameters.
    pub(crate) fn schema(&self) -> Result<&Schema, SchemaError> {
        self.schema.as_ref().map_err(Clone::clone)
    }

    /// Returns the approximate size in memory, in bytes: the analysis takes a few times the size of
    /// the source.
    pub(crate) fn approximate_bytes(&self) -> usize {
        let text = self.vetted.as_ref().map_or(0, |tool| {
            let spec = tool.spec();
            spec.source().len() + tool.script().code().len() + 2 * spec.parameters().to_string().len()
        });
        (4 << 10) + 4 * text
    }
}

impl Toolbox {
    /// Creates a toolbox that runs drafts, and stores and records nothing.
    ///
    /// # Errors
    /// `integrity`, `no-image`, `no-worker`, `limit-invalid`.
    pub fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        Self::without_store(ToolboxConfig { sandbox: config.clone(), ..ToolboxConfig::default() })
    }

    /// Creates a toolbox that runs drafts under this configuration, and stores and records nothing.
    ///
    /// # Errors
    /// `integrity`, `no-image`, `no-worker`, `limit-invalid`.
    pub fn without_store(config: ToolboxConfig) -> Result<Self, StartError> {
        let sandbox = SandboxBackend::new(&config.sandbox)?;
        Ok(Self::from_parts(Arc::new(sandbox), Arc::default(), Cache::new(), BackgroundRuntime::default(), config))
    }

    fn from_parts(
        sandbox: Arc<SandboxBackend>,
        interpreter: Arc<OnceLock<Result<SandboxBackend, String>>>,
        cache: Cache,
        background: BackgroundRuntime,
        config: ToolboxConfig,
    ) -> Self {
        Self {
            sandbox,
            interpreter,
            store: None,
            flusher: RunFlusher::default(),
            policy: config.policy,
            hooks: config.hooks,
            clock: config.clock,
            cwd: config.cwd.display().to_string(),
            secrets: config.secrets,
            functions: config.functions,
            roots: config.roots,
            protected: config.protected,
            net: OnceLock::new(),
            background,
            any_schema: Schema::any(),
            cache,
        }
    }

    /// Opens a toolbox with the store in a directory, which is created if it does not exist.
    ///
    /// Unfinished runs of a killed process are recorded as interrupted.
    ///
    /// # Errors
    /// As [`Store::open`] and [`Toolbox::new`].
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.create(&CreateTool {
    ///     name: "twice".to_owned(),
    ///     description: "Doubles a number".to_owned(),
    ///     code: "const execute = ({ n }) => 2 * n".to_owned(),
    ///     ..CreateTool::default()
    /// })?;
    /// let request = RunTool::new("twice", Params::parse(r#"{"n": 21}"#)?);
    /// let ran = toolbox.run(&request, &RunOptions::default())?;
    /// assert_eq!(ran.value()?.unwrap().as_str(), "42");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: &Path, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        Self::with_store(Store::open(path, &store_settings(&config.policy))?, config)
    }

    /// Opens a toolbox with the store in an existing directory.
    ///
    /// # Errors
    /// As [`Store::open_existing`] and [`Toolbox::new`].
    pub fn open_existing(path: &Path, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        Self::with_store(Store::open_existing(path, &store_settings(&config.policy))?, config)
    }

    /// Creates a toolbox with an open store. The store keeps the tool limit and the audit settings
    /// that it was opened with.
    ///
    /// # Errors
    /// As [`Toolbox::new`], and the store's I/O errors.
    pub fn with_store(store: Store, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        Self::without_store(config)?.attach_store(store)
    }

    /// Opens another toolbox with its own configuration and with the store in another directory,
    /// which is created if it does not exist. It shares the sandbox of this toolbox, including its
    /// call limit and its memory, and the interpreter; the sandbox settings in `config` are
    /// ignored.
    ///
    /// Tools and their prepared scripts are not shared. All sibling toolboxes together cache at
    /// most 256 MiB.
    ///
    /// # Errors
    /// As [`Store::open`], and the store's I/O errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let ours = Toolbox::open(&folder.path().join("ours"), ToolboxConfig::default())?;
    /// let theirs = ours.sibling(&folder.path().join("theirs"), ToolboxConfig::default())?;
    /// let (name, code) = ("one".to_owned(), "const execute = () => 1".to_owned());
    /// ours.create(&CreateTool { name, description: "One".to_owned(), code, ..CreateTool::default() })?;
    /// let run = |toolbox: &Toolbox| toolbox.run(&RunTool::new("one", Params::default()), &RunOptions::default());
    /// assert_eq!(run(&ours)?.value()?.unwrap().as_str(), "1");
    /// assert_eq!(run(&theirs).unwrap_err().code(), "tool-not-found");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sibling(&self, path: &Path, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        self.sibling_with_store(Store::open(path, &store_settings(&config.policy))?, config)
    }

    /// Opens a sibling toolbox with an open store, as [`Toolbox::with_store`].
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn sibling_with_store(&self, store: Store, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        let (sandbox, interpreter) = (Arc::clone(&self.sandbox), Arc::clone(&self.interpreter));
        let (cache, background) = (self.cache.sibling(), self.background.clone());
        Self::from_parts(sandbox, interpreter, cache, background, config).attach_store(store)
    }

    /// Adds the store, checks the granted folders, and records interrupted runs.
    fn attach_store(self, store: Store) -> Result<Self, ToolboxError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        self.policy.excludes_path(store.path(), real)?;
        let toolbox = Self { store: Some(Arc::new(store)), ..self };
        toolbox.check_granted_folders()?;
        if let Err(error) = interrupted::close_interrupted(&toolbox) {
            // The runs stay in their journals, and the next process that opens the store retries.
            // The caller's operation does not have to fail.
            toolcell_store::emit_notice(&Notice::Unclosed { why: &error.to_string() });
        }
        Ok(toolbox)
    }

    /// Returns the guest image in use.
    #[must_use]
    pub fn image(&self) -> ImageKind {
        self.sandbox.image()
    }

    /// Returns the images that were rejected before this one, and why.
    #[must_use]
    pub fn rejected_images(&self) -> &[(ImageKind, String)] {
        self.sandbox.rejected_images()
    }

    /// Returns how calls are interrupted at their deadline and on cancellation. This starts the
    /// thread that the mechanism needs, if it can.
    #[must_use]
    pub fn interruption(&self) -> Interruption {
        self.sandbox.interruption()
    }

    /// Returns the confinement of the worker processes; `None` if tools run in this process.
    #[must_use]
    pub fn confinement(&self) -> Option<Confinement> {
        self.sandbox.confinement()
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

    /// Returns the maximum number of concurrent calls.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.sandbox.slots()
    }

    /// Returns the store, if there is one.
    #[must_use]
    pub fn store(&self) -> Option<&Store> {
        self.store.as_deref()
    }

    /// Returns the policy that tools run under.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the current time of the toolbox's clock.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Returns the store, or an error if the toolbox has none.
    pub(crate) fn require_store(&self) -> Result<&Store, Fault> {
        self.store.as_deref().ok_or_else(|| Fault::ReadOnly { path: "a toolbox without a store".to_owned() })
    }

    /// Returns the store if attempts are recorded in it: it is writable, or the policy requires
    /// records.
    pub(crate) fn audited_store(&self) -> Option<&Store> {
        self.store.as_deref().filter(|store| store.access() == StoreAccess::Full || self.policy.is_audit_required())
    }

    /// Writes the audit line of an attempt that changed nothing. If that fails, the store emits a
    /// notice and the operation still succeeds.
    pub(crate) fn log_attempt(&self, attempt: &AuditEvent<'_>) {
        if let Some(store) = self.store.as_deref().filter(|store| store.access() == StoreAccess::Full) {
            // The store reports a failure as a notice.
            let _ = store.log(attempt);
        }
    }

    /// Loads a stored tool, checks it against its identifier, and analyses it; once in this
    /// process.
    pub(crate) fn load_tool(&self, entry: &Entry) -> Result<Arc<LoadedTool>, Fault> {
        if let Some(ready) = self.cache.tool(&entry.id) {
            return Ok(ready);
        }
        let spec = self.require_store()?.spec(entry)?;
        let schema = Schema::compile(spec.parameters());
        let ready = Arc::new(LoadedTool { schema, vetted: vet(spec) });
        // A refusal for lack of memory or threads is not cached: the next attempt may succeed.
        if !ready.vetted.as_ref().is_err_and(Refusal::is_transient) {
            self.cache.insert_tool(entry.id, Arc::clone(&ready));
        }
        Ok(ready)
    }

    /// Returns the prepared script with this key, if it is cached.
    pub(crate) fn cached_script(&self, key: &blake3::Hash) -> Option<Arc<PreparedTool>> {
        self.cache.script(key)
    }

    /// Caches a prepared script, as long as there is room.
    pub(crate) fn cache_script(&self, key: blake3::Hash, kept: PreparedTool) -> Arc<PreparedTool> {
        let kept = Arc::new(kept);
        self.cache.insert_script(key, Arc::clone(&kept));
        kept
    }
}

/// Returns the current time, clamped to the store's calendar, which ends with the year 9999.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock that others are handed; that of the library panics at the end"
)]
pub fn now() -> Timestamp {
    clamp_to_calendar(std::time::SystemTime::now())
}

/// Converts a system time, clamped to [`MAX_TIMESTAMP`].
fn clamp_to_calendar(time: std::time::SystemTime) -> Timestamp {
    Timestamp::try_from(time).map_or(MAX_TIMESTAMP, |time| time.min(MAX_TIMESTAMP))
}

/// The latest time that a store can represent.
const MAX_TIMESTAMP: Timestamp = Timestamp::constant(253_402_207_200, 0);

/// Returns the store settings of a policy.
fn store_settings(policy: &Policy) -> Settings {
    let audit = AuditConfig { contents: policy.contents(), ..AuditConfig::default() };
    Settings { tool_limit: Some(policy.tools_limit()), audit, ..Settings::default() }
}

#[cfg(test)]
mod tests;
