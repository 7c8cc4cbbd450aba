//! The operations as a host embeds them. Example: `ToolboxFixture::with_policy("[store]\ntools =
//! 1").run("sum", &json!({ "a": 1, "b": 2 }))`.
//!
//! A `Row N` comment beside a test names the row of the feature table whose acceptance test it is.

mod architecture;
mod async_run;
mod attempts;
mod compose;
mod concurrency;
mod create;
mod delete;
mod duplicates;
mod effects;
mod flows;
mod grants;
mod hooks;
mod host_calls;
mod list;
pub(crate) mod loopback;
mod parameters;
mod receipts;
mod records;
mod reflect;
mod retire;
mod run;
mod search;
mod server_login;
mod server_questions;
mod servers;
mod suspend;
mod verify;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::hook::{HookEvent, HookTrust};
use toolcell::jail::Program;
use toolcell::policy::Layer;
use toolcell::store::audit::{AuditFilter, AuditLine, AuditOrder};
use toolcell::store::{Durability, Settings, Store, VersionCommit};
use toolcell::{
    CreateError, CreateResult, DeleteError, HookVerdict, Hooks, HostFunctions, Policy, PolicyFile, RunError,
    RunOptions, RunRecord, RunResult, SandboxConfig, ToolList, Toolbox, ToolboxConfig, read_request,
};

use crate::mcp::server::binary;

/// A policy that lets every tool run.
pub(crate) const AUTO: &str = "[approval]\nmode = \"auto\"";

/// A toolbox with its own store and a constant clock.
pub(crate) struct ToolboxFixture {
    folder: TempDir,
    config: ToolboxConfig,
    toolbox: Option<Arc<Toolbox>>,
}

/// The constant time of every fixture.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_771_405_200).unwrap()
}

/// Parses a request with the contract's field names.
pub(crate) fn request<T: DeserializeOwned>(fields: &Value) -> T {
    read_request(&fields.to_string()).unwrap()
}

/// Returns the value that a tool returned.
pub(crate) fn returned_value(ran: &RunResult) -> Value {
    ran.value().unwrap().map_or(Value::Null, |json| serde_json::from_str(json.as_str()).unwrap())
}

/// Returns the code and the message of a run that did not start.
#[track_caller]
pub(crate) fn refusal(ran: Result<RunResult, RunError>) -> (&'static str, String) {
    let error = ran.unwrap_err();
    (error.code().as_str(), error.to_string())
}

impl ToolboxFixture {
    /// Creates a toolbox without a policy file and without hooks.
    pub(crate) fn new() -> Self {
        Self::with_hooks("", Hooks::default())
    }

    /// Creates a toolbox with this user policy file.
    pub(crate) fn with_policy(policy: &str) -> Self {
        Self::with_hooks(policy, Hooks::default())
    }

    /// Creates a toolbox with a pre-run hook.
    pub(crate) fn with_hook(hook: impl Fn(&HookEvent) -> HookVerdict + Send + Sync + 'static) -> Self {
        let mut hooks = Hooks::default();
        hooks.before("rules", hook);
        Self::with_hooks("", hooks)
    }

    /// Creates a toolbox with this user policy file, and with these hooks beside the file's.
    pub(crate) fn with_hooks(policy: &str, mut hooks: Hooks) -> Self {
        let file = PolicyFile::parse(Layer::User, policy, Path::new("toolcell.toml")).unwrap();
        // These tests pass with the jail too: `make jailed`.
        let jail = std::env::var_os("TOOLCELL_TEST_JAIL").map(|_| Program::Other(binary()));
        let sandbox = SandboxConfig { slots: 4, jail, ..SandboxConfig::default() };
        let policy = Policy::from_layers([file]).unwrap();
        hooks.add_policy(&policy, |_| HookTrust::Trusted).unwrap();
        let config = ToolboxConfig { sandbox, policy, hooks, clock: now, ..ToolboxConfig::default() };
        let mut host = Self { folder: tempfile::tempdir().unwrap(), config, toolbox: None };
        host.reopen();
        host
    }

    /// Replaces the user's policy file and reopens the toolbox.
    pub(crate) fn set_policy(&mut self, policy: &str) {
        let file = PolicyFile::parse(Layer::User, policy, Path::new("toolcell.toml")).unwrap();
        self.config.policy = Policy::from_layers([file]).unwrap();
        self.reopen();
    }

    /// Sets the number of call slots.
    pub(crate) fn with_slots(mut self, slots: usize) -> Self {
        self.config.sandbox.slots = slots;
        self.reopen();
        self
    }

    /// Runs the calls in the jail.
    pub(crate) fn in_jail(mut self) -> Self {
        self.config.sandbox.jail = Some(Program::Other(binary()));
        self.reopen();
        self
    }

    /// Sets a secret of the host.
    pub(crate) fn set_secret(&mut self, name: &'static str, value: &'static str) {
        self.config.secrets = Arc::new(move |asked| (asked.as_str() == name).then(|| value.to_owned()));
        self.reopen();
    }

    /// Registers host functions for tools.
    pub(crate) fn set_functions(&mut self, functions: HostFunctions) {
        self.config.functions = functions;
        self.reopen();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn toolbox(&self) -> &Arc<Toolbox> {
        self.toolbox.as_ref().unwrap()
    }

    pub(crate) fn store(&self) -> &Store {
        self.toolbox().store().unwrap()
    }

    /// Opens another toolbox on the same directory. It does not sync: these tests cut no power.
    pub(crate) fn second_toolbox(&self) -> Toolbox {
        let tool_limit = Some(self.config.policy.tools_limit());
        let settings = Settings { durability: Durability::Unsynced, tool_limit, ..Settings::default() };
        Toolbox::with_store(Store::open(self.path(), &settings).unwrap(), self.config.clone()).unwrap()
    }

    /// Closes and reopens the toolbox.
    pub(crate) fn reopen(&mut self) {
        self.toolbox = None;
        self.toolbox = Some(Arc::new(self.second_toolbox()));
    }

    pub(crate) fn create(&self, fields: &Value) -> Result<CreateResult, CreateError> {
        self.toolbox().create(&request(fields))
    }

    /// Creates a tool without parameters.
    pub(crate) fn tool(&self, name: &str, code: &str) -> CreateResult {
        self.create(&json!({ "name": name, "description": "a tool", "code": code })).unwrap()
    }

    /// Creates a tool that declares these parameters and returns its arguments.
    pub(crate) fn create_echo(&self, parameters: &Value) -> CreateResult {
        let code = "const execute = (params) => params";
        let fields = json!({ "name": "echo", "description": "a tool", "code": code, "parameters": parameters });
        self.create(&fields).unwrap()
    }

    pub(crate) fn run(&self, tool: &str, parameters: &Value) -> Result<RunResult, RunError> {
        self.run_with(&json!({ "tool_name": tool, "parameters": parameters }), &RunOptions::default())
    }

    pub(crate) fn run_with(&self, fields: &Value, options: &RunOptions) -> Result<RunResult, RunError> {
        self.toolbox().run(&request(fields), options)
    }

    pub(crate) fn list(&self, fields: &Value) -> ToolList {
        self.toolbox().list(&request(fields)).unwrap()
    }

    /// Returns the names of the listed tools.
    pub(crate) fn names(&self, fields: &Value) -> Vec<String> {
        self.list(fields).tools.into_iter().map(|tool| tool.name.to_string()).collect()
    }

    pub(crate) fn delete(&self, fields: &Value) -> Result<VersionCommit, DeleteError> {
        self.toolbox().delete(&request(fields))
    }

    /// Returns the lines of the audit log, in order.
    pub(crate) fn audit_lines(&self) -> Vec<AuditLine> {
        let lines = self.store().audit().query(AuditFilter::default(), AuditOrder::OldestFirst).unwrap();
        lines.map(Result::unwrap).collect()
    }

    /// Returns the record of the run that an audit line is about, if any.
    pub(crate) fn record(&self, line: &AuditLine) -> Option<RunRecord> {
        let run = line.details.get("run")?.as_str().unwrap().parse().unwrap();
        let record = self.store().runs().record_of_run(run).unwrap().unwrap();
        Some(serde_json::from_slice(&record.body).unwrap())
    }
}
