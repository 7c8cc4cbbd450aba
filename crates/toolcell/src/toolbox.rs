//! The toolbox: a sandbox, a store, the rules under which tools run, and what was prepared for their runs.
//!
//! Invariant: what is kept in memory is kept under the hash of everything that went into it, so a kept one is never another
//! than a new one would be.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use toolcell_capabilities::{Net, Protected, Roots};
use toolcell_host::{Interruption, Kind, StartError};
use toolcell_jail::Walls;
use toolcell_store::audit::{Attempt, AuditConfig};
use toolcell_store::{Access, Entry, Fault, Notice, OpenError, RecordError, Settings, Store};

use crate::cache::Cache;
use crate::cell::Kept;
use crate::cells::{Cells, SandboxConfig};
use crate::function::Functions;
use crate::gate::Gates;
use crate::keeper::Keeper;
use crate::operations::{Background, SecretSource};
use crate::params::{Schema, SchemaError};
use crate::policy::{Policy, PolicyError};
use crate::record;
use crate::vet::{Refusal, VettedTool, vet};

/// What a toolbox is made with.
#[derive(Clone)]
pub struct ToolboxConfig {
    /// The sandbox.
    pub sandbox: SandboxConfig,
    /// The rules under which tools run.
    pub policy: Policy,
    /// Who is asked before and after each run.
    pub gates: Gates,
    /// What time it is.
    pub clock: fn() -> Timestamp,
    /// The working directory that gates are told.
    pub cwd: PathBuf,
    /// Where the values of secrets come from, for tools that are granted them. From nowhere unless said.
    pub secrets: SecretSource,
    /// What the host lends to tools, beside those of the store. What is called so in the store is not called by tools.
    pub functions: Functions,
    /// Whose certificates are believed, where tools make requests. Those that this machine believes unless said.
    pub roots: Roots,
    /// What no tool may change, whatever it is granted, beside the store, the policy, the programs of its gates and this program.
    pub protected: Vec<Protected>,
}

impl Default for ToolboxConfig {
    /// The built-in policy, and no gates.
    fn default() -> Self {
        Self {
            sandbox: SandboxConfig::default(),
            policy: Policy::default(),
            gates: Gates::default(),
            clock: now,
            // Gates are told nothing where the directory is gone.
            cwd: std::env::current_dir().unwrap_or_default(),
            secrets: Arc::new(|_| None),
            functions: Functions::default(),
            roots: Roots::System,
            protected: Vec::new(),
        }
    }
}

/// Makes, runs, lists and deletes tools.
pub struct Toolbox {
    pub(crate) sandbox: Arc<Cells>,
    /// The interpreter, which proofs compare with.
    interpreter: Arc<OnceLock<Result<Cells, String>>>,
    pub(crate) store: Option<Arc<Store>>,
    pub(crate) keeper: Keeper,
    pub(crate) policy: Policy,
    pub(crate) gates: Gates,
    pub(crate) clock: fn() -> Timestamp,
    pub(crate) cwd: String,
    pub(crate) secrets: SecretSource,
    pub(crate) functions: Functions,
    pub(crate) roots: Roots,
    pub(crate) protected: Vec<Protected>,
    pub(crate) net: OnceLock<Net>,
    pub(crate) background: Background,
    /// What a draft declares that it takes.
    pub(crate) anything: Schema,
    cache: Cache,
}

/// A stored tool that was read, and what was found out about it.
pub(crate) struct Ready {
    /// What it declares that it takes; why not, where that cannot be.
    pub(crate) schema: Result<Schema, SchemaError>,
    /// The tool, or why it does not run.
    pub(crate) vetted: Result<VettedTool, Refusal>,
}

/// A toolbox does not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolboxError {
    /// The sandbox does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The store does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// What a process that died left behind cannot be read.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// It cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The policy grants a folder that it may not.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl ToolboxError {
    /// The stable code of this error.
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

    /// What to do next.
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

impl Ready {
    /// What the tool takes.
    pub(crate) fn schema(&self) -> Result<&Schema, SchemaError> {
        self.schema.as_ref().map_err(Clone::clone)
    }

    /// How many bytes keeping it takes, more or less: what it is analysed to is a few times its text.
    pub(crate) fn size(&self) -> usize {
        let text = self.vetted.as_ref().map_or(0, |tool| {
            let spec = tool.spec();
            spec.source().len() + tool.script().code().len() + 2 * spec.parameters().to_string().len()
        });
        (4 << 10) + 4 * text
    }
}

impl Toolbox {
    /// A toolbox that runs drafts, and stores and records nothing.
    ///
    /// # Errors
    /// `integrity`, `no-image`, `no-worker`, `limit-invalid`.
    pub fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        Self::without_store(ToolboxConfig { sandbox: config.clone(), ..ToolboxConfig::default() })
    }

    /// A toolbox that runs drafts under these rules, and stores and records nothing.
    ///
    /// # Errors
    /// `integrity`, `no-image`, `no-worker`, `limit-invalid`.
    pub fn without_store(config: ToolboxConfig) -> Result<Self, StartError> {
        let sandbox = Cells::new(&config.sandbox)?;
        Ok(Self::sharing(Arc::new(sandbox), Arc::default(), Cache::new(), Background::default(), config))
    }

    fn sharing(
        sandbox: Arc<Cells>,
        interpreter: Arc<OnceLock<Result<Cells, String>>>,
        cache: Cache,
        background: Background,
        config: ToolboxConfig,
    ) -> Self {
        Self {
            sandbox,
            interpreter,
            store: None,
            keeper: Keeper::default(),
            policy: config.policy,
            gates: config.gates,
            clock: config.clock,
            cwd: config.cwd.display().to_string(),
            secrets: config.secrets,
            functions: config.functions,
            roots: config.roots,
            protected: config.protected,
            net: OnceLock::new(),
            background,
            anything: Schema::anything(),
            cache,
        }
    }

    /// A toolbox with the store in a directory, which is made where there is none.
    ///
    /// Runs that a process began and did not end, because it was killed, are recorded as interrupted.
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
    /// let request = RunTool::of("twice", Params::parse(r#"{"n": 21}"#)?);
    /// let ran = toolbox.run(&request, &RunOptions::default())?;
    /// assert_eq!(ran.value()?.unwrap().as_str(), "42");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: &Path, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        Self::with_store(Store::open(path, &settings(&config.policy))?, config)
    }

    /// A toolbox with the store in a directory, which has to be there.
    ///
    /// # Errors
    /// As [`Store::open_existing`] and [`Toolbox::new`].
    pub fn open_existing(path: &Path, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        Self::with_store(Store::open_existing(path, &settings(&config.policy))?, config)
    }

    /// A toolbox with a store that is open. How many tools it takes and what its audit log tells is as it was opened.
    ///
    /// # Errors
    /// As [`Toolbox::new`], and those of the disk.
    pub fn with_store(store: Store, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        Self::without_store(config)?.holding(store)
    }

    /// Another toolbox, with the store in another directory, which is made where there is none, and with other rules. It
    /// shares the sandbox of this one, with its slots and its memory, and the interpreter. What it is told of a sandbox
    /// counts for nothing.
    ///
    /// Tools, and what was prepared for their runs, are not shared: each toolbox has its own. What is kept of them in memory
    /// is at most 256 MiB in all.
    ///
    /// # Errors
    /// As [`Store::open`], and those of the disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let ours = Toolbox::open(&folder.path().join("ours"), ToolboxConfig::default())?;
    /// let theirs = ours.beside(&folder.path().join("theirs"), ToolboxConfig::default())?;
    /// let (name, code) = ("one".to_owned(), "const execute = () => 1".to_owned());
    /// ours.create(&CreateTool { name, description: "One".to_owned(), code, ..CreateTool::default() })?;
    /// let run = |toolbox: &Toolbox| toolbox.run(&RunTool::of("one", Params::default()), &RunOptions::default());
    /// assert_eq!(run(&ours)?.value()?.unwrap().as_str(), "1");
    /// assert_eq!(run(&theirs).unwrap_err().code(), "tool-not-found");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn beside(&self, path: &Path, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        self.beside_with(Store::open(path, &settings(&config.policy))?, config)
    }

    /// The same with a store that is open, as [`Toolbox::with_store`].
    ///
    /// # Errors
    /// Those of the disk.
    pub fn beside_with(&self, store: Store, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        let (sandbox, interpreter) = (Arc::clone(&self.sandbox), Arc::clone(&self.interpreter));
        let (cache, background) = (self.cache.beside(), self.background.clone());
        Self::sharing(sandbox, interpreter, cache, background, config).holding(store)
    }

    /// The same with a store.
    fn holding(self, store: Store) -> Result<Self, ToolboxError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        self.policy.is_apart_from(store.path(), real)?;
        let toolbox = Self { store: Some(Arc::new(store)), ..self };
        toolbox.check_folders()?;
        if let Err(error) = record::close_interrupted(&toolbox) {
            // They stay in their journals, and the next who opens the store tries again. What is asked for need not fail for it.
            toolcell_store::tell(&Notice::Unclosed { why: &error.to_string() });
        }
        Ok(toolbox)
    }

    /// The image of the guest that is in use.
    #[must_use]
    pub fn image(&self) -> Kind {
        self.sandbox.image()
    }

    /// The images that were tried before, and why they do not work here.
    #[must_use]
    pub fn passed_over(&self) -> &[(Kind, String)] {
        self.sandbox.passed_over()
    }

    /// How calls are ended at their deadline, and when they are cancelled. This starts the thread that it takes, or tries to.
    #[must_use]
    pub fn interruption(&self) -> Interruption {
        self.sandbox.interruption()
    }

    /// What is between the processes that tools run in and the machine, where they do not run in this one.
    #[must_use]
    pub fn walls(&self) -> Option<Walls> {
        self.sandbox.walls()
    }

    /// The interpreter, made when it is needed first.
    pub(crate) fn interpreter(&self) -> Result<&Cells, &str> {
        let made = self.interpreter.get_or_init(|| {
            let jail = self.sandbox.program().cloned();
            let config = SandboxConfig { images: vec![Kind::Interpreted], slots: self.slots(), jail };
            Cells::new(&config).map_err(|error| error.to_string())
        });
        made.as_ref().map_err(String::as_str)
    }

    /// How many calls run at once.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.sandbox.slots()
    }

    /// The store, where there is one.
    #[must_use]
    pub fn store(&self) -> Option<&Store> {
        self.store.as_deref()
    }

    /// The rules under which tools run.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// The store, where things are kept: not of a toolbox that has none.
    pub(crate) fn shelf(&self) -> Result<&Store, Fault> {
        self.store.as_deref().ok_or_else(|| Fault::ReadOnly { path: "a toolbox without a store".to_owned() })
    }

    /// The store, where what is done is recorded.
    pub(crate) fn recorder(&self) -> Option<&Store> {
        self.store.as_deref().filter(|store| store.access() == Access::Full || self.policy.records_are_required())
    }

    /// Writes the line of an attempt that changed nothing. Where that is not possible it is told, and what was asked for counts.
    pub(crate) fn note(&self, attempt: &Attempt<'_>) {
        if let Some(store) = self.store.as_deref().filter(|store| store.access() == Access::Full) {
            // It is told as a notice.
            let _ = store.log(attempt);
        }
    }

    /// A stored tool, read, checked against its identifier, and analysed; once in this process.
    pub(crate) fn ready(&self, entry: &Entry) -> Result<Arc<Ready>, Fault> {
        if let Some(ready) = self.cache.tool(&entry.id) {
            return Ok(ready);
        }
        let spec = self.shelf()?.spec(entry)?;
        let schema = Schema::compile(spec.parameters());
        let ready = Arc::new(Ready { schema, vetted: vet(spec) });
        // What the machine had no room or thread for may pass the next time.
        if !ready.vetted.as_ref().is_err_and(Refusal::is_of_the_machine) {
            self.cache.keep_tool(entry.id, Arc::clone(&ready));
        }
        Ok(ready)
    }

    /// The script that was prepared under this key, if it is still kept.
    pub(crate) fn kept(&self, key: &blake3::Hash) -> Option<Arc<Kept>> {
        self.cache.script(key)
    }

    /// Keeps a script that was prepared, as long as there is room.
    pub(crate) fn keep(&self, key: blake3::Hash, kept: Kept) -> Arc<Kept> {
        let kept = Arc::new(kept);
        self.cache.keep_script(key, Arc::clone(&kept));
        kept
    }
}

/// What time it is, as far as stores can tell: their calendar ends with the year 9999.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock that others are handed; that of the library panics at the end"
)]
pub fn now() -> Timestamp {
    within_calendar(std::time::SystemTime::now())
}

/// A time of the system's clock, or the latest time that stores read.
fn within_calendar(time: std::time::SystemTime) -> Timestamp {
    Timestamp::try_from(time).map_or(LAST, |time| time.min(LAST))
}

/// The latest time that stores read.
const LAST: Timestamp = Timestamp::constant(253_402_207_200, 0);

/// How a policy wants a store to be kept.
fn settings(policy: &Policy) -> Settings {
    let audit = AuditConfig { contents: policy.contents(), ..AuditConfig::default() };
    Settings { tool_limit: Some(policy.tools_limit()), audit, ..Settings::default() }
}

#[cfg(test)]
mod tests;
