//! The operations as hosts embed them, and the sentence that their tests are written in:
//! `Host::under("[store]\ntools = 1").run("sum", &json!({ "a": 1, "b": 2 }))`.
//!
//! A comment beside a test names the row of the feature table that it is the acceptance test of.

mod attempts;
mod compose;
mod create;
mod delete;
mod duplicates;
mod effects;
mod gates;
mod granted;
mod grants;
mod list;
pub(crate) mod loopback;
mod parameters;
mod receipts;
mod records;
mod reflect;
mod retire;
mod roads;
mod run;
mod running;
mod search;
mod sleep;
mod together;
mod verify;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::gate::{GateCall, Trust};
use toolcell::jail::Program;
use toolcell::policy::Layer;
use toolcell::store::audit::{Filter, Line, Order};
use toolcell::store::{Durability, Settings, Step, Store};
use toolcell::{
    CreateError, Created, DeleteError, Functions, Gates, Listed, Policy, PolicyFile, Ran, RunError, RunOptions,
    RunRecord, SandboxConfig, Toolbox, ToolboxConfig, Verdict, read_request,
};

use crate::mcp::home::binary;

/// The policy of a host that lets every tool run.
pub(crate) const AUTO: &str = "[approval]\nmode = \"auto\"";

/// A host with a store in a folder of its own, at a time that stands still.
pub(crate) struct Host {
    folder: TempDir,
    config: ToolboxConfig,
    toolbox: Option<Arc<Toolbox>>,
}

/// What time it is at every host.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_771_405_200).unwrap()
}

/// A request with the field names of the documents.
pub(crate) fn request<T: DeserializeOwned>(fields: &Value) -> T {
    read_request(&fields.to_string()).unwrap()
}

/// What a tool returned.
pub(crate) fn value(ran: &Ran) -> Value {
    ran.value().unwrap().map_or(Value::Null, |json| serde_json::from_str(json.as_str()).unwrap())
}

/// The code and the message of a run that did not take place.
#[track_caller]
pub(crate) fn refused(ran: Result<Ran, RunError>) -> (&'static str, String) {
    let error = ran.unwrap_err();
    (error.code(), error.to_string())
}

impl Host {
    /// A host without a policy of its own, and without gates.
    pub(crate) fn new() -> Self {
        Self::with("", Gates::default())
    }

    /// A host whose user wrote this policy file.
    pub(crate) fn under(policy: &str) -> Self {
        Self::with(policy, Gates::default())
    }

    /// A host with a function that is asked before runs.
    pub(crate) fn asking(gate: impl Fn(&GateCall) -> Verdict + Send + Sync + 'static) -> Self {
        let mut gates = Gates::default();
        gates.before("rules", gate);
        Self::with("", gates)
    }

    /// A host whose user wrote this policy file, and that has these gates besides those of the file.
    pub(crate) fn with(policy: &str, mut gates: Gates) -> Self {
        let file = PolicyFile::parse(Layer::User, policy, Path::new("toolcell.toml")).unwrap();
        // All of these tests hold in a jail as well: `make jailed`.
        let jail = std::env::var_os("TOOLCELL_TEST_JAIL").map(|_| Program::Other(binary()));
        let sandbox = SandboxConfig { slots: 4, jail, ..SandboxConfig::default() };
        let policy = Policy::layered([file]).unwrap();
        gates.add_policy(&policy, |_| Trust::Yes).unwrap();
        let config = ToolboxConfig { sandbox, policy, gates, clock: now, ..ToolboxConfig::default() };
        let mut host = Self { folder: tempfile::tempdir().unwrap(), config, toolbox: None };
        host.reopen();
        host
    }

    /// Starts the host again under another policy file of its user.
    pub(crate) fn ruled(&mut self, policy: &str) {
        let file = PolicyFile::parse(Layer::User, policy, Path::new("toolcell.toml")).unwrap();
        self.config.policy = Policy::layered([file]).unwrap();
        self.reopen();
    }

    /// With as many calls at once.
    pub(crate) fn slots(mut self, slots: usize) -> Self {
        self.config.sandbox.slots = slots;
        self.reopen();
        self
    }

    /// With its cells in a jail.
    pub(crate) fn jailed(mut self) -> Self {
        self.config.sandbox.jail = Some(Program::Other(binary()));
        self.reopen();
        self
    }

    /// Tells the host a secret.
    pub(crate) fn knows(&mut self, name: &'static str, value: &'static str) {
        self.config.secrets = Arc::new(move |asked| (asked.as_str() == name).then(|| value.to_owned()));
        self.reopen();
    }

    /// Has the host lend functions to tools.
    pub(crate) fn lends(&mut self, functions: Functions) {
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

    /// Another host on the same directory. Nothing of this one is lost that a loss of power would take: tests need no
    /// sync.
    pub(crate) fn another(&self) -> Toolbox {
        let tool_limit = Some(self.config.policy.tools_limit());
        let settings = Settings { durability: Durability::Unsynced, tool_limit, ..Settings::default() };
        Toolbox::with_store(Store::open(self.path(), &settings).unwrap(), self.config.clone()).unwrap()
    }

    /// Ends the host, and starts it again.
    pub(crate) fn reopen(&mut self) {
        self.toolbox = None;
        self.toolbox = Some(Arc::new(self.another()));
    }

    pub(crate) fn create(&self, fields: &Value) -> Result<Created, CreateError> {
        self.toolbox().create(&request(fields))
    }

    /// Makes a tool that declares nothing.
    pub(crate) fn tool(&self, name: &str, code: &str) -> Created {
        self.create(&json!({ "name": name, "description": "a tool", "code": code })).unwrap()
    }

    /// Makes a tool that returns what it gets, and declares this.
    pub(crate) fn declares(&self, parameters: &Value) -> Created {
        let code = "const execute = (params) => params";
        let fields = json!({ "name": "echo", "description": "a tool", "code": code, "parameters": parameters });
        self.create(&fields).unwrap()
    }

    pub(crate) fn run(&self, tool: &str, parameters: &Value) -> Result<Ran, RunError> {
        self.run_as(&json!({ "tool_name": tool, "parameters": parameters }), &RunOptions::default())
    }

    pub(crate) fn run_as(&self, fields: &Value, options: &RunOptions) -> Result<Ran, RunError> {
        self.toolbox().run(&request(fields), options)
    }

    pub(crate) fn list(&self, fields: &Value) -> Listed {
        self.toolbox().list(&request(fields)).unwrap()
    }

    /// The names of the tools that are listed.
    pub(crate) fn names(&self, fields: &Value) -> Vec<String> {
        self.list(fields).tools.into_iter().map(|tool| tool.name.to_string()).collect()
    }

    pub(crate) fn delete(&self, fields: &Value) -> Result<Step, DeleteError> {
        self.toolbox().delete(&request(fields))
    }

    /// The lines of the audit log, in order.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let lines = self.store().audit().query(Filter::default(), Order::OldestFirst).unwrap();
        lines.map(Result::unwrap).collect()
    }

    /// The record of the run that a line is about, if it is about one.
    pub(crate) fn record(&self, line: &Line) -> Option<RunRecord> {
        let run = line.details.get("run")?.as_str().unwrap().parse().unwrap();
        let record = self.store().record_of(run).unwrap().unwrap();
        Some(serde_json::from_slice(&record.body).unwrap())
    }
}
