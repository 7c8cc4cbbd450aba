//! The toolbox: the façade that hosts hold.
//!
//! Invariant: a verb delegates to its operation and decides nothing itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use toolcell_analysis::Finding;
use toolcell_capabilities::{ProtectedPath, Roots};
use toolcell_error::ErrorCode;
use toolcell_host::{Budget, CallContext, ImageKind, Interruption, Params, Report, StartError};
use toolcell_i18n::{Localize as _, Message};
use toolcell_policy::{Policy, PolicyError};
use toolcell_store::audit::AuditConfig;
use toolcell_store::{
    Approval, Entry, Fault, Filter, ImportError, ImportReport, ListError, Notice, OnConflict, OpenError, Order,
    PAGE_LIMIT, RecordError, RunId, Settings, Store, ToolRef, VersionCommit,
};
use toolcell_tool::{Draft, ToolId, ToolName};

use crate::admission::AdmissionControl;
use crate::admission::hook::{ApprovalPrompt, ExternalCall, ExternalDecision, Hooks};
use crate::clock;
use crate::execution::suspend::{ResumeRequest, RunSuspendError, SuspendedRunDetails, SuspendedRunInfo};
use crate::execution::{RunOptions, Runtime, SandboxConfig};
#[cfg(feature = "servers")]
use crate::host_calls::ServerReview;
use crate::host_calls::{HeldEffect, HostFunctions, Resources, ResourcesConfig, SecretSource};
use crate::jail::Confinement;
use crate::operations::adopt::{self, AdoptError, AdoptedTool};
use crate::operations::approvals::{self, ApprovalError, ApprovalResult, ApprovedRuns, PendingTool};
use crate::operations::async_run::{self, RunHandle};
use crate::operations::call_graph::{self, CallGraph};
use crate::operations::cost_report::{self, CostReportLine};
use crate::operations::create::{self, CreateError, CreateResult};
use crate::operations::decide::{self, DecideOptions};
use crate::operations::delete::{self, DeleteError};
use crate::operations::deprecate::{self, DeprecateError, DeprecateResult};
use crate::operations::exchange;
use crate::operations::exec::{self, CodeResult, ExecError, ExecOptions, Precheck};
use crate::operations::flows::{self, FlowExplanation};
use crate::operations::list::{self, ListToolsError, ToolList};
use crate::operations::lookup::{self, FindToolError};
use crate::operations::plans::{self, PlanError};
use crate::operations::profile::{self, Profile};
#[cfg(feature = "reflection")]
use crate::operations::reflect::{self, ReflectError, ReflectOnTask, ReflectResult};
#[cfg(feature = "proof")]
use crate::operations::retire::{self, RetireError, Retirement};
use crate::operations::review::{self, ReviewDecision, ReviewError};
use crate::operations::run::{self, Explanation, RunError, RunResult};
use crate::operations::runs::{self, ListRuns, RunList};
#[cfg(feature = "reflection")]
use crate::operations::search::{self, Hit, SearchError};
#[cfg(feature = "servers")]
use crate::operations::servers::{self, ServerError, ServerLogin, ServerLoginState, ServerLogout};
use crate::operations::show::{self, ShowError, ToolDetails};
use crate::operations::suspend::{self, RunOutcome};
use crate::operations::types;
#[cfg(feature = "proof")]
use crate::operations::verify::{self, VerifyError, VerifyOptions, VerifyProgress, VerifyResult};
use crate::parts::Parts;
use crate::receipt::{Receipt, ReceiptKey, ReplayError, ReplayOptions, ReplayResult, replay, signer_of};
use crate::records::{Recorder, RunRecord};
#[cfg(feature = "proof")]
use crate::request::RetireTools;
use crate::request::{CreateTool, DeleteTool, ListTools, RunCode, RunTool};
use crate::type_check::{TypeChecker, TypeCheckerProgram};
use crate::verification::proof::Proof;

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
    /// The program that checks the types of sources. The default checks none.
    pub type_checker: Option<TypeCheckerProgram>,
}

impl Default for ToolboxConfig {
    /// The built-in policy without hooks.
    fn default() -> Self {
        Self {
            sandbox: SandboxConfig::default(),
            policy: Policy::default(),
            hooks: Hooks::default(),
            clock: clock::now,
            // Hooks get an empty path if the directory no longer exists.
            cwd: std::env::current_dir().unwrap_or_default(),
            secrets: Arc::new(|_| None),
            functions: HostFunctions::default(),
            roots: Roots::System,
            protected: Vec::new(),
            type_checker: None,
        }
    }
}

impl ToolboxConfig {
    /// Returns the settings of a store under the policy, for a host that opens the store itself.
    #[must_use]
    pub fn store_settings(&self) -> Settings {
        let audit = AuditConfig { contents: self.policy.contents(), ..AuditConfig::default() };
        Settings { tool_limit: Some(self.policy.tools_limit()), audit, ..Settings::default() }
    }
}

/// Creates, runs, lists and deletes tools.
pub struct Toolbox {
    parts: Parts,
}

/// The error of opening a toolbox.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ToolboxError {
    /// The sandbox failed to start.
    #[error(transparent)]
    #[coded(transparent)]
    Start(#[from] StartError),
    /// The store failed to open.
    #[error(transparent)]
    #[coded(transparent)]
    Open(#[from] OpenError),
    /// The journal of a killed process cannot be read.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
    /// An interrupted run cannot be recorded.
    #[error(transparent)]
    #[coded(transparent)]
    Record(#[from] RecordError),
    /// The policy grants a folder that must not be granted.
    #[error(transparent)]
    #[coded(transparent)]
    Policy(#[from] PolicyError),
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
        let runtime = Runtime::new(&config.sandbox)?;
        Ok(Self { parts: build_parts(runtime, None, config, Resources::new) })
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
        Self::with_store(Store::open(path, &config.store_settings())?, config)
    }

    /// Opens a toolbox with the store in an existing directory.
    ///
    /// # Errors
    /// As [`Store::open_existing`] and [`Toolbox::new`].
    pub fn open_existing(path: &Path, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        Self::with_store(Store::open_existing(path, &config.store_settings())?, config)
    }

    /// Creates a toolbox with an open store. The store keeps the tool limit and the audit settings
    /// that it was opened with.
    ///
    /// # Errors
    /// As [`Toolbox::new`], and the store's I/O errors.
    pub fn with_store(store: Store, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        let runtime = Runtime::new(&config.sandbox)?;
        attach_store(build_parts(runtime, Some(store), config, Resources::new))
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
        self.sibling_with_store(Store::open(path, &config.store_settings())?, config)
    }

    /// Opens a sibling toolbox with an open store, as [`Toolbox::with_store`].
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn sibling_with_store(&self, store: Store, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        let runtime = self.parts.runtime.sibling();
        attach_store(build_parts(runtime, Some(store), config, |config| self.parts.resources.sibling(config)))
    }

    /// Returns the guest image in use.
    #[must_use]
    pub fn image(&self) -> ImageKind {
        self.parts.runtime.image()
    }

    /// Returns the images that were rejected before this one, and why.
    #[must_use]
    pub fn rejected_images(&self) -> &[(ImageKind, String)] {
        self.parts.runtime.rejected_images()
    }

    /// Returns how calls are interrupted at their deadline and on cancellation. This starts the
    /// thread that the mechanism needs, if it can.
    #[must_use]
    pub fn interruption(&self) -> Interruption {
        self.parts.runtime.interruption()
    }

    /// Returns the confinement of the worker processes; `None` if tools run in this process.
    #[must_use]
    pub fn confinement(&self) -> Option<Confinement> {
        self.parts.runtime.confinement()
    }

    /// Returns the maximum number of concurrent calls.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.parts.runtime.slots()
    }

    /// Returns the store, if there is one.
    #[must_use]
    pub fn store(&self) -> Option<&Store> {
        self.parts.store.as_deref()
    }

    /// Asks an MCP server of the policy for its tools, and compares them with those that a person trusted. The server is
    /// started if it does not run.
    ///
    /// # Errors
    /// `server-unknown`, `server-failed`.
    #[cfg(feature = "servers")]
    pub fn review_server(&self, name: &str) -> Result<ServerReview, ServerError> {
        servers::review(&self.parts, name)
    }

    /// Returns the TypeScript declaration of a tool of an MCP server, as a person trusted it, by its name in code; `None` if
    /// none of that name was trusted. The server is not asked.
    ///
    /// # Errors
    /// `server-unknown`; `server-failed`: the store cannot be read.
    #[cfg(feature = "servers")]
    pub fn server_tool_declaration(&self, server: &str, tool: &str) -> Result<Option<String>, ServerError> {
        servers::tool_declaration(&self.parts, server, tool)
    }

    /// Starts a sign-in to an MCP server that the policy reaches with OAuth.
    ///
    /// # Errors
    /// `server-unknown`; `server-failed`: the policy does not reach the server with OAuth, its authorization server cannot be
    /// used, or there is no store.
    #[cfg(feature = "servers")]
    pub fn login_server(&self, name: &str) -> Result<ServerLogin, ServerError> {
        servers::login(&self.parts, name)
    }

    /// Deletes the tokens of an MCP server, and has its authorization server revoke them. Who did it is logged as `by`.
    ///
    /// # Errors
    /// `server-unknown`; `server-failed`: the policy does not reach the server with OAuth, or the store cannot be written.
    #[cfg(feature = "servers")]
    pub fn logout_server(&self, name: &str, by: &str) -> Result<ServerLogout, ServerError> {
        servers::logout(&self.parts, name, by)
    }

    /// Whether a person is signed in to an MCP server, as far as is known here. The server is not asked.
    ///
    /// # Errors
    /// `server-unknown`; `server-failed`: a secret is missing, or the tokens that are kept cannot be read.
    #[cfg(feature = "servers")]
    pub fn server_login_state(&self, name: &str) -> Result<ServerLoginState, ServerError> {
        servers::login_state(&self.parts, name)
    }

    /// Puts the trusted tools of the policy's MCP servers into TypeScript declarations, such as those of
    /// [`type_declarations`](Self::type_declarations), in place of the declaration that admits any. All servers are asked.
    ///
    /// # Errors
    /// `server-failed`: a server cannot be reached.
    #[cfg(feature = "servers")]
    pub fn declare_servers(&self, declarations: &str) -> Result<String, ServerError> {
        servers::declare(&self.parts, declarations)
    }

    /// Trusts the tools of an MCP server as a review showed them. Those that it does not show are no longer trusted.
    ///
    /// # Errors
    /// `server-failed`: the store cannot be written.
    #[cfg(feature = "servers")]
    pub fn trust_server(&self, review: &ServerReview, by: &str) -> Result<(), ServerError> {
        servers::trust(&self.parts, review, by)
    }

    /// Loads and analyses tools ahead of their first call, which then need not wait for that: of those in an order the first `count`, for
    /// as long as `time`. Nothing of a tool runs. Returns the number of tools that were loaded.
    ///
    /// # Errors
    /// `store-missing`, and the store's I/O errors.
    pub fn load_ahead(&self, order: Order, count: usize, time: Duration) -> Result<usize, ListError> {
        let (started, mut loaded) = (Instant::now(), 0);
        let filter = Filter { order, limit: count.min(PAGE_LIMIT), ..Filter::default() };
        for entry in self.parts.require_store()?.catalog().list(&filter)?.entries {
            if started.elapsed() >= time {
                break;
            }
            if !self.parts.runtime.has_tool(&entry.id) {
                // A tool that cannot be loaded tells its caller so.
                loaded += usize::from(self.parts.load_tool(&entry).is_ok());
            }
        }
        Ok(loaded)
    }

    /// Explains which flows of data a tool may cause with its grants, and what the policy's rules say of them. `tool` is
    /// an identifier or a name.
    ///
    /// # Errors
    /// The codes of [`run`](Self::run) for a tool that is not found or cannot be loaded.
    pub fn explain_flows(&self, tool: &str) -> Result<FlowExplanation, RunError> {
        flows::explain_flows(&self.parts, tool)
    }

    /// Returns where the data came from that callers were told and that spaces, folders and sources of tools may hold, by
    /// names such as `caller:cli`, `kv:notes`, `files:/srv/data` and `tool:dt_…`.
    ///
    /// # Errors
    /// `store-missing`, and the store's I/O errors.
    pub fn flow_labels(&self) -> Result<BTreeMap<String, Vec<String>>, Fault> {
        flows::flow_labels(&self.parts)
    }

    /// Forgets what one of [`flow_labels`](Self::flow_labels) holds. A person decides that.
    ///
    /// # Errors
    /// `store-missing`, and the store's I/O errors.
    pub fn clear_flow_label(&self, holder: &str) -> Result<(), Fault> {
        flows::clear_flow_label(&self.parts, holder)
    }

    /// Returns the policy that tools run under.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        self.parts.admission.policy()
    }

    /// Creates a tool from a draft and stores it.
    ///
    /// # Errors
    /// `request-invalid`, `mode-unsupported`, `name-required`, `name-invalid`, `name-reserved`,
    /// `name-taken`, `source-too-large`, `source-invalid`, `syntax-error`, `syntax-unsupported`,
    /// `parameters-invalid`, `capabilities-invalid`, `notes-invalid`, `critical-risk`,
    /// `tool-missing`, `tool-limit-reached`, and the store's I/O errors.
    pub fn create(&self, request: &CreateTool) -> Result<CreateResult, CreateError> {
        create::create(&self.parts, request)
    }

    /// Stores each tool of a file that was written for another host, such as a custom tool of
    /// oh-my-pi or an extension of pi, under the name, the description and the parameters that the
    /// file declares. A tool that is stored already is left as it is; `replace` creates a new
    /// version of a tool whose name is taken by another one.
    ///
    /// The file is loaded in a cell without grants. A tool that cannot be stored does not keep the
    /// others from being stored.
    ///
    /// # Errors
    /// `source-too-large`, `source-invalid`, `syntax-error`, `syntax-unsupported`, `critical-risk`,
    /// `tool-missing` (no tool, or one without a name), `tool-failed` (the file cannot be loaded),
    /// `tool-limit-reached` (more than 256 tools).
    ///
    /// # Examples
    /// ```
    /// use toolcell::{Adoption, Draft, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// let source = br#"export default (pi) => ({
    ///     name: "hello",
    ///     description: "Greets",
    ///     parameters: pi.zod.object({ name: pi.zod.string() }),
    ///     execute: (id, { name }) => ({ content: [{ type: "text", text: `Hello, ${name}!` }] }),
    /// })"#;
    /// let adopted = toolbox.adopt(&Draft::from_bytes("hello.ts", source)?, false)?;
    /// assert_eq!(adopted[0].name, "hello");
    /// assert!(matches!(adopted[0].result, Ok(Adoption::Created(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn adopt(&self, file: &Draft, replace: bool) -> Result<Vec<AdoptedTool>, AdoptError> {
        adopt::adopt(&self.parts, file, replace)
    }

    /// Runs a stored tool.
    ///
    /// A failure of the tool is part of the result; an error means that the run did not take place.
    ///
    /// # Errors
    /// `tool-not-found`, `tool-mismatch`, `id-ambiguous`, `parameters-missing`, `parameters-invalid`,
    /// `safety-check-failed`, `permission-denied`, `limit-invalid`, `receipt-no-key`, `integrity`,
    /// `busy`, and the store's I/O errors.
    pub fn run(&self, request: &RunTool, options: &RunOptions) -> Result<RunResult, RunError> {
        run::run(&self.parts, request, options)
    }

    /// Explains, step by step, how a run would be decided, and runs nothing. Hooks are asked and
    /// reported; the approver is not.
    ///
    /// # Errors
    /// None; the answer contains why a tool would not run.
    pub fn explain(&self, request: &RunTool, options: &RunOptions) -> Explanation {
        run::explain(&self.parts, request, options)
    }

    /// Decides about a call of a tool that Toolcell does not run, such as the shell tool of an
    /// agent: by the `external_tools` of the policy, then the hooks, then the approver. Without an
    /// approver the decision may be `Ask`, which the caller resolves.
    ///
    /// Whatever cannot decide denies: there is no error.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    /// use serde_json::json;
    /// use toolcell::hook::{CallerClaims, ExternalCall};
    /// use toolcell::policy::Layer;
    /// use toolcell::{DecideOptions, Policy, PolicyFile, Toolbox, ToolboxConfig};
    ///
    /// let rules = r#"
    ///     [external_tools]
    ///     default = "ask"
    ///     [[external_tools.rules]]
    ///     tools = ["bash"]
    ///     args = { command = ["git status*", "ls *"] }
    ///     decision = "allow"
    /// "#;
    /// let policy = Policy::from_layers([PolicyFile::parse(Layer::User, rules, Path::new("toolcell.toml"))?])?;
    /// let toolbox = Toolbox::without_store(ToolboxConfig { policy, ..ToolboxConfig::default() })?;
    /// let decide = |command: &str| {
    ///     let call = ExternalCall::new("bash", json!({ "command": command }), None, CallerClaims::default());
    ///     call.map(|call| toolbox.decide(&call, &DecideOptions::default()).permission())
    /// };
    /// assert_eq!(decide("ls -l")?, Some("allow"));
    /// assert_eq!(decide("ls -l; rm -r .")?, Some("ask"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decide(&self, call: &ExternalCall, options: &DecideOptions<'_>) -> ExternalDecision {
        decide::decide(&self.parts, call, options)
    }

    /// Starts a run on a blocking thread of the current Tokio runtime.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # let folder = tempfile::tempdir()?;
    /// let toolbox = Arc::new(Toolbox::open(folder.path(), ToolboxConfig::default())?);
    /// let (name, description) = ("count".to_owned(), "Counts to three".to_owned());
    /// let code = "export default (pi) => ({ name: 'count', description: 'Counts', parameters: {},
    ///     execute(id, params, onUpdate) { for (const n of [1, 2, 3]) onUpdate(n); return 'done' } })".to_owned();
    /// toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;
    /// runtime.block_on(async {
    ///     let mut run = toolbox.start(RunTool::new("count", Params::default()), RunOptions::default());
    ///     let mut updates = Vec::new();
    ///     while let Some(update) = run.next_update().await {
    ///         updates.push(update.to_string());
    ///     }
    ///     assert_eq!(updates, ["1", "2", "3"]);
    ///     assert_eq!(run.wait().await?.value()?.unwrap().as_str(), "\"done\"");
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "dropping the handle cancels the run"]
    pub fn start(self: &Arc<Self>, request: RunTool, options: RunOptions) -> RunHandle {
        let toolbox = Arc::clone(self);
        async_run::start(options, move |options| toolbox.run(&request, options))
    }

    /// Runs a stored tool without blocking the thread; as [`Toolbox::run`]. Dropping the future
    /// cancels the run.
    ///
    /// # Errors
    /// As [`Toolbox::run`].
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub async fn run_async(self: &Arc<Self>, request: RunTool, options: RunOptions) -> Result<RunResult, RunError> {
        self.start(request, options).wait_or_cancel().await
    }

    /// Runs a closure with the toolbox on a blocking thread:
    /// `toolbox.spawn_blocking(|toolbox| toolbox.list(&request)).await`.
    ///
    /// # Panics
    /// Outside of a Tokio runtime, if `work` panics, and if the runtime shuts down before `work`
    /// starts.
    pub async fn spawn_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let toolbox = Arc::clone(self);
        async_run::run_blocking(move || work(&toolbox)).await
    }

    /// Runs a stored tool as [`Toolbox::run`] does, and suspends the run when everything that it
    /// waits for takes time: an effect that the effect approver
    /// [defers](crate::EffectDecision::Defer), or a host function that answers later.
    /// [`Toolbox::resume`] resumes it.
    ///
    /// Tools that it calls are not suspended: for them, deferring means refusing. A suspendable run
    /// gets no receipt.
    ///
    /// # Errors
    /// Those of [`Toolbox::run`], and `too-large-to-sleep`: the run has ended in that case.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use toolcell::policy::Layer;
    /// use toolcell::{
    ///     CreateTool, EffectApprover, EffectDecision, HeldEffect, Params, Policy, PolicyFile, ResumeRequest,
    ///     RunOptions, RunOutcome, RunTool, Toolbox, ToolboxConfig,
    /// };
    ///
    /// struct Always(EffectDecision);
    /// impl EffectApprover for Always {
    ///     fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
    ///         vec![self.0; held.len()]
    ///     }
    /// }
    /// let deciding = |decision| RunOptions { effect_approver: Some(Arc::new(Always(decision))), ..RunOptions::default() };
    ///
    /// let rules = "[approval]\nmode = \"auto\"\n[grants.default.kv]\nspace = \"notes\"";
    /// let rules = PolicyFile::parse(Layer::User, rules, "toolcell.toml".as_ref())?;
    /// let config = ToolboxConfig { policy: Policy::from_layers([rules])?, ..ToolboxConfig::default() };
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), config)?;
    /// toolbox.create(&CreateTool {
    ///     name: "note".to_owned(),
    ///     description: "Keeps a note".to_owned(),
    ///     code: "const execute = async ({ text }) => { await kv.set('note', text); return kv.get('note') }".to_owned(),
    ///     capabilities: serde_json::json!(["kv"]),
    ///     ..CreateTool::default()
    /// })?;
    /// let request = RunTool::new("note", Params::parse(r#"{"text": "milk"}"#)?);
    /// let RunOutcome::Suspended(suspended) = toolbox.run_suspendable(&request, &deciding(EffectDecision::Defer))?
    /// else {
    ///     panic!("the run is not suspended")
    /// };
    /// assert_eq!(suspended.held[0].kind, "kv.commit");
    /// // Possibly in another process, a day later:
    /// let resumed = toolbox.resume(&ResumeRequest::new(suspended.run), &deciding(EffectDecision::Perform))?;
    /// let RunOutcome::Finished(ran) = resumed else { panic!("every effect was decided") };
    /// assert_eq!(ran.value()?.unwrap().as_str(), "\"milk\"");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_suspendable(&self, request: &RunTool, options: &RunOptions) -> Result<RunOutcome, RunError> {
        suspend::run_suspendable(&self.parts, request, options)
    }

    /// Resumes a suspended run until it finishes or is suspended again. The options' effect
    /// approver decides about the held effects; without one, they stay undecided and the run is
    /// suspended again. The limits are those of the original run.
    ///
    /// The pre-run hooks run again, and a tool whose approval was revoked is not resumed.
    ///
    /// # Errors
    /// `run-not-asleep`, `asleep-principal`, `asleep-grants-changed`, `asleep-guest`,
    /// `asleep-tool`, `ticket-unknown`, `integrity`, `tool-not-found`, `permission-denied`: a
    /// suspended run stays suspended. `too-large-to-sleep`, and the store's I/O errors.
    pub fn resume(&self, request: &ResumeRequest, options: &RunOptions) -> Result<RunOutcome, RunError> {
        suspend::resume(&self.parts, request, options)
    }

    /// Returns all suspended runs, the oldest first.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn suspended_runs(&self) -> Result<Vec<SuspendedRunInfo>, Fault> {
        suspend::suspended_runs(&self.parts)
    }

    /// Returns what a suspended run waits for: its held effects, and the functions that have not answered yet. It changes
    /// nothing.
    ///
    /// # Errors
    /// `run-not-asleep`, `asleep-guest`, `integrity`, and the store's I/O errors.
    pub fn suspended_run(&self, run: &str) -> Result<SuspendedRunDetails, RunSuspendError> {
        suspend::suspended_run(&self.parts, run)
    }

    /// Returns a page of the tools that match a filter. An empty page is not an error.
    ///
    /// # Errors
    /// `filter-invalid`, `cursor-invalid`, and the store's I/O errors.
    pub fn list(&self, request: &ListTools) -> Result<ToolList, ListToolsError> {
        list::list(&self.parts, request)
    }

    /// Finds a tool by its name, its identifier, or a prefix of the identifier with at least 8
    /// digits.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, and the store's I/O errors.
    pub fn find(&self, called: &str) -> Result<Entry, FindToolError> {
        lookup::find(&self.parts, called)
    }

    /// Returns the details of a tool, or of an earlier version of a name. A tool that was deleted
    /// or replaced is found by its identifier.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `version-not-found`, `integrity`, and the store's I/O errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, ApprovalState, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// let (name, description) = ("twice".to_owned(), "Doubles".to_owned());
    /// let code = "const execute = ({ n }) => 2 * n".to_owned();
    /// toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;
    /// let shown = toolbox.show("twice", None)?;
    /// assert_eq!((shown.usage.runs, shown.history.len()), (0, 1));
    /// assert!(matches!(shown.approval_state, ApprovalState::NotRequired));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn show(&self, called: &str, version: Option<u64>) -> Result<ToolDetails, ShowError> {
        show::show(&self.parts, called, version)
    }

    /// Deletes the name of a tool. The tool itself stays in the store until garbage collection
    /// removes it.
    ///
    /// # Errors
    /// `confirm-required`, `tool-not-found`, `tool-mismatch`, `id-ambiguous`, and the store's I/O
    /// errors.
    pub fn delete(&self, request: &DeleteTool) -> Result<VersionCommit, DeleteError> {
        delete::delete(&self.parts, request)
    }

    /// Restores a deleted name.
    ///
    /// # Errors
    /// `not-deleted`, `tool-not-found`, `id-ambiguous`, `integrity`, and the store's I/O errors.
    pub fn undelete(&self, reference: &ToolRef) -> Result<VersionCommit, DeleteError> {
        delete::undelete(&self.parts, reference)
    }

    /// Makes a name refer to the tool of an earlier step of its history.
    ///
    /// # Errors
    /// `tool-not-found`, `version-not-found`, `integrity`, and the store's I/O errors.
    pub fn roll_back(&self, name: &ToolName, number: u64) -> Result<VersionCommit, DeleteError> {
        delete::roll_back(&self.parts, name, number)
    }

    /// Deprecates a tool, optionally in favour of a successor. The tool keeps working, and its
    /// responses name the successor. Deprecated tools are not exported in bundles. Both tools are
    /// given by name or by identifier.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `successor-invalid`, `status-illegal`, and the store's I/O
    /// errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// for (name, code) in [("old", "const execute = () => 1"), ("new", "const execute = () => 2")] {
    ///     let (name, code, description) = (name.to_owned(), code.to_owned(), "a number".to_owned());
    ///     toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;
    /// }
    /// toolbox.deprecate("old", Some("new"))?;
    /// let ran = toolbox.run(&RunTool::new("old", Params::default()), &RunOptions::default())?;
    /// assert_eq!(ran.value()?.unwrap().as_str(), "1");
    /// assert_eq!(ran.deprecated.unwrap().successor.unwrap().as_str(), "new");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deprecate(&self, tool: &str, successor: Option<&str>) -> Result<DeprecateResult, DeprecateError> {
        deprecate::deprecate(&self.parts, tool, successor)
    }

    /// Returns the current replacement of a deprecated tool.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn replacement_for(&self, tool: &Entry) -> Result<Option<Entry>, Fault> {
        deprecate::replacement_for(&self.parts, tool)
    }

    /// Returns the tools that should be retired, with the reasons, the worst first. Changes
    /// nothing.
    ///
    /// # Errors
    /// `filter-invalid`, and the store's I/O errors.
    #[cfg(feature = "proof")]
    pub fn retirements(&self, request: &RetireTools) -> Result<Vec<Retirement>, RetireError> {
        retire::retirements(&self.parts, request)
    }

    /// Deprecates the tools that should be retired, and returns them.
    ///
    /// # Errors
    /// `confirm-required` if there are tools to retire and the request does not confirm it,
    /// `filter-invalid`, and the store's I/O errors.
    #[cfg(feature = "proof")]
    pub fn retire(&self, request: &RetireTools) -> Result<Vec<Retirement>, RetireError> {
        retire::retire(&self.parts, request)
    }

    /// Deprecates exactly these tools, which the user confirmed.
    ///
    /// # Errors
    /// `status-illegal` if the status of a tool has changed, and the store's I/O errors.
    #[cfg(feature = "proof")]
    pub fn retire_listed(&self, retirements: Vec<Retirement>) -> Result<Vec<Retirement>, RetireError> {
        retire::retire_listed(&self.parts, retirements)
    }

    /// Runs the tool in a draft. Its outcome is in the report. A draft that was run before is not
    /// evaluated again.
    ///
    /// The caller has approved the draft, and its grants, by passing them: hooks run, but no approver
    /// is asked. Without grants, the draft's host calls are those of `run`. Its limits are at most
    /// those of the policy. [`Policy::draft_grants`] are what the policy grants to drafts.
    ///
    /// # Errors
    /// `syntax-error`, `syntax-unsupported`, the codes of grants that cannot be opened, `safety-check-failed` (a critical finding),
    /// `permission-denied`, `parameters-invalid` (a hook changed them), `limit-invalid`, `busy`,
    /// `no-instance`, and the store's I/O errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{Budget, Draft, Outcome, Params, Precheck, CallContext, SandboxConfig, Toolbox};
    ///
    /// let toolbox = Toolbox::new(&SandboxConfig::default())?;
    /// let draft = Draft::from_bytes(
    ///     "average.ts",
    ///     b"const execute = ({ xs }: { xs: number[] }) => xs.reduce((a, b) => a + b) / xs.length",
    /// )?;
    /// let params = Params::parse(r#"{"xs": [1, 2, 4.5]}"#)?;
    /// let report = toolbox.exec(&draft, &params, &Budget::default(), &CallContext::default(), Precheck::Critical)?;
    /// assert!(matches!(report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "2.5"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn exec(
        &self,
        draft: &Draft,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
        options: impl Into<ExecOptions>,
    ) -> Result<Report, ExecError> {
        exec::exec(&self.parts, draft, params, budget, run, &options.into())
    }

    /// Runs code of a model once, and stores nothing but the record of the run.
    ///
    /// The code gets what the policy grants to drafts. The analysis rejects what it rejects of a tool.
    /// If the policy asks a person about every tool, the code is denied.
    ///
    /// # Errors
    /// As [`Toolbox::exec`], and `source-invalid`, `source-too-large`, `tool-missing`,
    /// `critical-risk`.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{Outcome, RunCode, RunOptions, SandboxConfig, Toolbox, read_request};
    ///
    /// let toolbox = Toolbox::new(&SandboxConfig::default())?;
    /// let request: RunCode = read_request(r#"{"code": "const execute = ({ n }) => 2 * n", "parameters": {"n": 21}}"#)?;
    /// let ran = toolbox.run_code(&request, &RunOptions::default())?;
    /// assert!(matches!(ran.report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "42"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_code(&self, request: &RunCode, options: &RunOptions) -> Result<CodeResult, ExecError> {
        exec::run_code(&self.parts, request, options)
    }

    /// Returns the prompts that an approver would get before this code runs: those of hooks. Hooks are
    /// asked, and nothing runs.
    ///
    /// # Errors
    /// As [`Toolbox::run_code`]: the code would not run, whatever a person answers.
    pub fn code_prompts(&self, request: &RunCode, options: &RunOptions) -> Result<Vec<ApprovalPrompt>, ExecError> {
        exec::code_prompts(&self.parts, request, options)
    }

    /// Starts code of a model without blocking the thread; as [`Toolbox::run_code`].
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    #[must_use = "dropping the handle cancels the run"]
    pub fn start_code(self: &Arc<Self>, request: RunCode, options: RunOptions) -> RunHandle<CodeResult, ExecError> {
        let toolbox = Arc::clone(self);
        async_run::start(options, move |options| toolbox.run_code(&request, options))
    }

    /// Returns the signature of a stored tool, such as `average(xs: number[]) → number`: its name
    /// and, in the notation of TypeScript, its parameters and the result that it declares.
    ///
    /// # Errors
    /// The store's I/O errors, and `integrity`: the stored tool is damaged.
    pub fn signature(&self, entry: &Entry) -> Result<String, Fault> {
        show::signature_of(&self.parts, entry)
    }

    /// Returns TypeScript declarations of what the code of a tool sees, in which `tools.call` takes the
    /// names of these stored tools, with the types of their parameters and results. Without tools,
    /// it takes any name, as in [`TYPE_DECLARATIONS`](crate::TYPE_DECLARATIONS).
    ///
    /// # Errors
    /// The store's I/O errors, and `integrity`: a stored tool is damaged.
    pub fn type_declarations(&self, entries: &[Entry]) -> Result<String, Fault> {
        show::type_declarations(&self.parts, entries)
    }

    /// Compares the value of a run with the result that the tool declares (`returns`), and returns
    /// how it differs. A run that did not return a value is not compared.
    #[must_use]
    pub fn result_problem(&self, ran: &RunResult) -> Option<Message> {
        run::result_problem(&self.parts, ran)
    }

    /// Recommends whether to create a tool for a task, and proposes one.
    ///
    /// # Errors
    /// `request-invalid`, and the store's I/O errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{ReflectOnTask, SandboxConfig, Toolbox, read_request};
    ///
    /// let toolbox = Toolbox::new(&SandboxConfig::default())?;
    /// let text = r#"{"task_description": "Convert these CSV files to JSON", "last_tool_result": "a.csv read"}"#;
    /// let reflected = toolbox.reflect(&read_request::<ReflectOnTask>(text)?)?;
    /// assert_eq!(reflected.body().decision, "create");
    /// assert_eq!(reflected.proposal.unwrap().name, "csv_to_json");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "reflection")]
    pub fn reflect(&self, request: &ReflectOnTask) -> Result<ReflectResult, ReflectError> {
        reflect::reflect_on_task(&self.parts, request)
    }

    /// Returns the tools that match a text, the best first, at most `limit`: by name, tags,
    /// description and parameters. No match is an empty list.
    ///
    /// # Errors
    /// `filter-invalid`, `store-read-only` if tools are not indexed, `integrity`, and the store's
    /// I/O errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// let (name, description) = ("totals".to_owned(), "Adds up the sales of each region".to_owned());
    /// let code = "const execute = ({ rows }) => rows.length".to_owned();
    /// toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;
    /// let hits = toolbox.search("sales region", 5)?;
    /// assert_eq!((hits.len(), hits[0].entry.name.as_str()), (1, "totals"));
    /// assert!(hits[0].coverage > 0.99);
    /// assert!(toolbox.search("wind and weather", 5)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "reflection")]
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, SearchError> {
        search::search(&self.parts, query, limit)
    }

    /// Verifies a tool: its examples, its determinism, its headroom in the limits, the enforcement
    /// of its parameters, and generated inputs. The result is stored and sets the tool's status.
    ///
    /// The hooks run once, with the parameters of the first example, as for a run; generated inputs
    /// are not approved one by one.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `parameters-invalid` (of the declaration), `safety-check-failed`,
    /// `permission-denied`, `status-illegal`, `cancelled`, `integrity`, `busy`, and the store's I/O
    /// errors.
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell::proof::ProofStatus;
    /// use toolcell::{CreateTool, Toolbox, ToolboxConfig, VerifyOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.create(&CreateTool {
    ///     name: "first".to_owned(),
    ///     description: "The first item".to_owned(),
    ///     code: "const execute = ({ items }) => items[0].toFixed(1)".to_owned(),
    ///     parameters: json!({ "items": { "type": "array", "items": { "type": "number" }, "required": true } }),
    ///     examples: vec![json!({ "parameters": { "items": [1, 2] }, "result": "1.0" })],
    ///     ..CreateTool::default()
    /// })?;
    /// let proof = toolbox.verify("first", &VerifyOptions::default())?;
    /// assert_eq!(proof.verdict, ProofStatus::Failed);
    /// assert_eq!(proof.counterexample.unwrap().parameters, json!({ "items": [] }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "proof")]
    pub fn verify(&self, tool: &str, options: &VerifyOptions) -> Result<Proof, VerifyError> {
        verify::verify(&self.parts, tool, options)
    }

    /// Verifies all named tools in parallel, up to the number of cores and the call limit, and
    /// reports each one to `tell`. Deprecated and quarantined tools are skipped.
    ///
    /// # Errors
    /// The store's I/O errors; the result contains why a tool could not be verified.
    #[cfg(feature = "proof")]
    pub fn verify_all(
        &self,
        options: &VerifyOptions,
        tell: &(dyn Fn(VerifyProgress<'_>) + Sync),
    ) -> Result<Vec<VerifyResult>, Fault> {
        verify::verify_all(&self.parts, options, tell)
    }

    /// Returns the last proof of a tool.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn proof(&self, entry: &Entry) -> Result<Option<Proof>, Fault> {
        show::last_proof(&self.parts, entry)
    }

    /// Returns the public key of this toolbox's receipts; `None` if it has no store.
    ///
    /// # Errors
    /// `store-read-only` if there is no key yet and none can be stored, and the store's I/O errors.
    pub fn receipt_key(&self) -> Result<Option<ReceiptKey>, Fault> {
        Ok(signer_of(self.store())?.map(|signer| signer.public_key()))
    }

    /// Replays a run and reports the differences. It needs no store and no policy: no host call is
    /// performed, and no hook runs. The limits are those of the run, except for a deadline of 10
    /// minutes.
    ///
    /// # Errors
    /// `receipt-guest`, `receipt-engine` (unless that is only noted), `receipt-not-repeatable` (the
    /// run reached its deadline or was cancelled), `receipt-too-large` (there is no trace),
    /// `receipt-changed` (the source is that of another tool), `syntax-error`, `limit-invalid`,
    /// `busy`, `no-instance`.
    pub fn replay(&self, receipt: &Receipt, options: &ReplayOptions) -> Result<ReplayResult, ReplayError> {
        replay(&self.parts.runtime, receipt, options)
    }

    /// Replays a run as [`Toolbox::replay`] does, and returns its fuel profile.
    ///
    /// # Errors
    /// As [`Toolbox::replay`].
    pub fn profile_replay(
        &self,
        receipt: &Receipt,
        options: &ReplayOptions,
    ) -> Result<(ReplayResult, Profile), ReplayError> {
        profile::profile_replay(&self.parts, receipt, options)
    }

    /// Returns the receipt that the store keeps of a run, if the policy says so (`audit.receipts`).
    ///
    /// # Errors
    /// The store's I/O errors, and `integrity`: the receipt is damaged.
    pub fn receipt_of_run(&self, run: RunId) -> Result<Option<Receipt>, Fault> {
        runs::receipt(&self.parts, run)
    }

    /// Runs a stored tool as [`Toolbox::run`] does, and returns its fuel profile.
    ///
    /// # Errors
    /// As [`Toolbox::run`].
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.create(&CreateTool {
    ///     name: "sum".to_owned(),
    ///     description: "Adds numbers up".to_owned(),
    ///     code: "function execute({ n }) {\n  let s = 0;\n  for (let i = 0; i < n; i++) s += i;\n  return s;\n}".to_owned(),
    ///     ..CreateTool::default()
    /// })?;
    /// let request = RunTool::new("sum", Params::parse(r#"{"n": 10000}"#)?);
    /// let (ran, profile) = toolbox.profile(&request, &RunOptions::default())?;
    /// assert_eq!(profile.fuel, ran.report.usage.fuel);
    /// assert_eq!(profile.functions[0].name, "execute");
    /// let hottest = profile.lines.iter().max_by_key(|line| line.own).unwrap();
    /// assert_eq!(hottest.line, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn profile(&self, request: &RunTool, options: &RunOptions) -> Result<(RunResult, Profile), RunError> {
        profile::profile(&self.parts, request, options)
    }

    /// Runs code as [`Toolbox::run_code`] does, and returns its fuel profile.
    ///
    /// # Errors
    /// As [`Toolbox::run_code`].
    pub fn profile_code(&self, request: &RunCode, options: &RunOptions) -> Result<(CodeResult, Profile), ExecError> {
        profile::profile_code(&self.parts, request, options)
    }

    /// Runs a draft as [`Toolbox::exec`] does, and returns its fuel profile.
    ///
    /// # Errors
    /// As [`Toolbox::exec`].
    pub fn profile_draft(
        &self,
        draft: &Draft,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
        precheck: Precheck,
    ) -> Result<(Report, Profile), ExecError> {
        profile::profile_draft(&self.parts, draft, params, budget, run, precheck)
    }

    /// Returns what a type checker says about code that is not stored, which may use what the policy grants to drafts. Without a type
    /// checker, that is nothing.
    pub fn type_errors(&self, draft: &Draft) -> Vec<Finding> {
        types::check_draft(&self.parts, draft)
    }

    /// Returns the costs and savings of each tool that a name refers to, oldest first. The cost of
    /// a tool is part of its metadata, and unknown if that is damaged.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn cost_report(&self) -> Result<Vec<CostReportLine>, Fault> {
        cost_report::cost_report(&self.parts)
    }

    /// Returns the costs and savings of one tool.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn cost_report_of(&self, tool: &Entry) -> Result<CostReportLine, Fault> {
        cost_report::cost_report_of(&self.parts, tool)
    }

    /// Returns who called a tool, and which tools it called, in its latest runs.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn call_graph(&self, tool: ToolId) -> Result<CallGraph, Fault> {
        call_graph::call_graph(&self.parts, tool)
    }

    /// Returns the pending approvals, newest first.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn pending_approvals(&self, limit: usize) -> Result<Vec<PendingTool>, Fault> {
        approvals::pending_approvals(&self.parts, limit)
    }

    /// Returns the decisions about tools that a name refers to, newest first.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn decisions(&self, limit: usize) -> Result<Vec<(Entry, Approval)>, Fault> {
        approvals::decisions(&self.parts, limit)
    }

    /// Returns the facts needed to decide about a tool: its source, its findings, the capabilities
    /// it requests, and the grants it would get now. The tool is given by its name, its identifier,
    /// or a prefix of the identifier.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `safety-check-failed`, `integrity`, and the store's I/O
    /// errors.
    pub fn approval_prompt(&self, tool: &str) -> Result<ApprovalPrompt, ApprovalError> {
        approvals::approval_prompt(&self.parts, tool)
    }

    /// Approves the tool of a prompt with the grants of that prompt. `by` names the approver.
    ///
    /// # Errors
    /// `approval-changed`: the policy would now grant something else than was shown.
    /// `tool-not-found`, `safety-check-failed`, `store-read-only`, `integrity`, and those of the
    /// disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.create(&CreateTool {
    ///     name: "later".to_owned(),
    ///     description: "Waits a while".to_owned(),
    ///     code: "const execute = ({ ms }) => new Promise((done) => setTimeout(done, ms))".to_owned(),
    ///     ..CreateTool::default()
    /// })?;
    /// assert_eq!(toolbox.pending_approvals(10)?.len(), 1);
    /// let question = toolbox.approval_prompt("later")?;
    /// // After a person has seen the prompt and approved it:
    /// toolbox.approve(&question, "alice")?;
    /// assert_eq!((toolbox.pending_approvals(10)?.len(), toolbox.decisions(10)?.len()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn approve(&self, shown: &ApprovalPrompt, by: &str) -> Result<ApprovalResult, ApprovalError> {
        approvals::approve(&self.parts, shown, ApprovedRuns::All, by)
    }

    /// Approves one run of the tool of a prompt with the grants of that prompt: the next one, within a day. `by` names the approver.
    ///
    /// # Errors
    /// As [`Toolbox::approve`].
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    ///
    /// use toolcell::policy::Layer;
    /// use toolcell::{CreateTool, Params, Policy, PolicyFile, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let rules = "[grants.default]\ntimers = true\n";
    /// let policy = Policy::from_layers([PolicyFile::parse(Layer::User, rules, Path::new("toolcell.toml"))?])?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig { policy, ..ToolboxConfig::default() })?;
    /// toolbox.create(&CreateTool {
    ///     name: "later".to_owned(),
    ///     description: "Waits a while".to_owned(),
    ///     code: "const execute = () => new Promise((done) => setTimeout(() => done(1), 1))".to_owned(),
    ///     ..CreateTool::default()
    /// })?;
    /// toolbox.approve_once(&toolbox.approval_prompt("later")?, "alice")?;
    /// let run = || toolbox.run(&RunTool::new("later", Params::default()), &RunOptions::default());
    /// assert!(run().is_ok());
    /// assert_eq!(run().unwrap_err().code(), "permission-denied");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn approve_once(&self, shown: &ApprovalPrompt, by: &str) -> Result<ApprovalResult, ApprovalError> {
        approvals::approve(&self.parts, shown, ApprovedRuns::One, by)
    }

    /// Refuses a tool, whatever the policy grants it now or later. `by` names the approver.
    /// [`Toolbox::approve`] and [`Toolbox::revoke`] reverse it.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `store-read-only`, `integrity`, and the store's I/O
    /// errors.
    pub fn refuse(&self, tool: &str, by: &str) -> Result<ApprovalResult, ApprovalError> {
        approvals::refuse(&self.parts, tool, by)
    }

    /// Revokes the decisions about a tool, and returns how many there were. The next run asks for
    /// an approval again.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `store-read-only`, and the store's I/O errors.
    pub fn revoke(&self, tool: &str, by: &str) -> Result<(Entry, usize), ApprovalError> {
        approvals::revoke(&self.parts, tool, by)
    }

    /// Decides about a tool that a person reviewed, if it is still as it was shown. Decisions of several threads are made one
    /// after the other, so that the second of two people is told that the first one decided.
    ///
    /// # Errors
    /// `approval-changed`: the tool, its grants or the decisions about it are not what was shown. `tool-not-found`,
    /// `safety-check-failed`, `store-read-only`, `integrity`, and the store's I/O errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, ReviewAction, ReviewDecision, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.create(&CreateTool {
    ///     name: "later".to_owned(),
    ///     description: "Waits a while".to_owned(),
    ///     code: "const execute = ({ ms }) => new Promise((done) => setTimeout(done, ms))".to_owned(),
    ///     ..CreateTool::default()
    /// })?;
    /// let (id, shown) = (toolbox.find("later")?.id.to_string(), toolbox.show("later", None)?.review_digest());
    /// let approve = |by| toolbox.decide_review(&ReviewDecision { tool: &id, shown: &shown, action: ReviewAction::Approve, by });
    /// approve("alice")?;
    /// assert_eq!(approve("bob").unwrap_err().code(), "approval-changed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decide_review(&self, decision: &ReviewDecision<'_>) -> Result<(), ReviewError> {
        review::decide(&self.parts, decision)
    }

    /// Returns a page of the records of runs, newest first. It changes nothing, and leaves no audit line.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn runs(&self, request: &ListRuns) -> Result<RunList, Fault> {
        runs::list(&self.parts, request)
    }

    /// Returns the record of a run, if there is one.
    ///
    /// # Errors
    /// `integrity` if it is damaged, and the store's I/O errors.
    pub fn run_record(&self, run: RunId) -> Result<Option<RunRecord>, Fault> {
        runs::find(&self.parts, run)
    }

    /// Stores the digests of held effects that are shown to the user, and returns the hash that
    /// approves all of them. Returns `None` if no effect is held or the store is read-only.
    ///
    /// # Errors
    /// The store's I/O errors.
    pub fn store_plan(&self, tool: ToolId, lines: &[HeldEffect]) -> Result<Option<blake3::Hash>, Fault> {
        plans::store_plan(&self.parts, tool, lines)
    }

    /// Returns the digests of the plan with this hash, 64 hexadecimal digits.
    ///
    /// # Errors
    /// `plan-unknown`, `integrity`, and the store's I/O errors.
    pub fn plan_digests(&self, digest: &str) -> Result<Vec<String>, PlanError> {
        plans::plan_digests(&self.parts, digest)
    }

    /// Imports the tools of a bundle as [`import`](crate::import) does, under the rules of this toolbox: refuses
    /// reserved names, duplicates if the policy refuses them, and more tools than the store may
    /// hold.
    ///
    /// # Errors
    /// As [`import`](crate::import), `name-reserved`, and `tool-duplicate`: nothing is imported.
    pub fn import(&self, bundle: &[u8], when_taken: OnConflict) -> Result<ImportReport, ImportError> {
        exchange::import_under_policy(&self.parts, bundle, when_taken)
    }

    /// Records a request that was rejected before an operation started. `operation` is the name of
    /// the operation, if it is known, and `tool` the tool that the caller named.
    ///
    /// # Errors
    /// The store's I/O errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::store::audit::{AuditFilter, AuditOrder};
    /// use toolcell::{ErrorCode, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.record_rejected(Some("create_tool"), None, ErrorCode::RequestInvalid, "there is no `nam`".to_owned())?;
    /// let line = toolbox.store().unwrap().audit().query(AuditFilter::default(), AuditOrder::NewestFirst)?.next().unwrap()?;
    /// assert_eq!((line.action.as_str(), line.error.as_deref()), ("create_tool", Some("request-invalid")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record_rejected(
        &self,
        operation: Option<&str>,
        tool: Option<&str>,
        code: ErrorCode,
        message: String,
    ) -> Result<(), Fault> {
        self.parts.recorder.record_rejected(operation, tool, code, message)
    }
}

/// Builds the parts of a toolbox.
fn build_parts(
    runtime: Runtime,
    store: Option<Store>,
    config: ToolboxConfig,
    resources: impl FnOnce(ResourcesConfig) -> Resources,
) -> Parts {
    let ToolboxConfig { sandbox: _, policy, hooks, clock, cwd, secrets, functions, roots, protected, type_checker } =
        config;
    let store = store.map(Arc::new);
    Parts {
        runtime,
        recorder: Recorder::new(store.clone(), &policy, clock),
        admission: AdmissionControl::new(policy, hooks, &cwd, clock),
        resources: resources(ResourcesConfig { secrets, functions, roots, protected, clock }),
        store,
        clock,
        types: type_checker.map(TypeChecker::new),
        review_lock: Mutex::default(),
    }
}

/// Opens a toolbox with a store: checks the granted folders, and records interrupted runs.
fn attach_store(parts: Parts) -> Result<Toolbox, ToolboxError> {
    if let Some(store) = &parts.store {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        parts.admission.policy().excludes_path(store.path(), real)?;
    }
    parts.resources.check_granted_folders(parts.resource_context())?;
    if let Err(error) = parts.recorder.close_interrupted() {
        // The runs stay in their journals, and the next process that opens the store retries.
        // The caller's operation does not have to fail.
        toolcell_store::emit_notice(&Notice::Unclosed { why: &error.localize() });
    }
    Ok(Toolbox { parts })
}

#[cfg(test)]
mod tests;
