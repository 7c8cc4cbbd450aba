//! The sentence that tests are written in:
//! `World::new().script("const execute = ({ a, b }) => a + b").fuel(50_000).run(json!({ "a": 1, "b": 2 }))`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use toolcell_host::{
    Budget, CancelToken, Kind, Loaded, NoOperations, Operations, Outcome, Params, Prepared, Report, Run, Sandbox,
    SandboxConfig, Script, Stop,
};
use toolcell_jail::Jail;

/// The folder of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A file of the project, as text.
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder of the project with this ending, in order.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    files.sort();
    files
}

/// The name of a file without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// One sandbox for all tests of this process: what one of them leaves behind would be seen by the next.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(&SandboxConfig { slots: 8, ..SandboxConfig::default() }).unwrap())
}

/// A sandbox with one image alone.
pub(crate) fn sandbox_with(kind: Kind) -> &'static Sandbox {
    static SANDBOXES: [OnceLock<Sandbox>; 3] = [const { OnceLock::new() }; 3];
    let index = Kind::ALL.iter().position(|other| *other == kind).unwrap();
    SANDBOXES[index].get_or_init(|| Sandbox::new(&SandboxConfig { images: vec![kind], slots: 2 }).unwrap())
}

/// The same without a thread that ends epochs: calls look at their deadline after slices of fuel.
pub(crate) fn without_ticker(kind: Kind) -> &'static Sandbox {
    static SANDBOXES: [OnceLock<Sandbox>; 3] = [const { OnceLock::new() }; 3];
    let index = Kind::ALL.iter().position(|other| *other == kind).unwrap();
    let config = SandboxConfig { images: vec![kind], slots: 2 };
    SANDBOXES[index].get_or_init(|| Sandbox::single_threaded(&config).unwrap())
}

/// A script that is about to run.
pub(crate) struct World<'a> {
    sandbox: &'a Sandbox,
    name: String,
    source: String,
    pub(crate) budget: Budget,
    pub(crate) run: Run<'a>,
}

impl World<'static> {
    /// Nothing granted, the default budget, in the sandbox that all tests share.
    pub(crate) fn new() -> Self {
        let budget = Budget { fuel: 20_000_000_000, ..Budget::default() };
        Self { sandbox: sandbox(), name: "tool.js".to_owned(), source: String::new(), budget, run: Run::default() }
    }
}

impl<'a> World<'a> {
    pub(crate) fn script(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    pub(crate) fn file(mut self, path: &Path) -> Self {
        self.name = path.file_name().unwrap().to_string_lossy().into_owned();
        self.source = std::fs::read_to_string(path).unwrap();
        self
    }

    pub(crate) fn on(mut self, kind: Kind) -> Self {
        self.sandbox = sandbox_with(kind);
        self
    }

    pub(crate) fn on_slices(mut self, kind: Kind) -> Self {
        self.sandbox = without_ticker(kind);
        self
    }

    pub(crate) fn fuel(mut self, fuel: u64) -> Self {
        self.budget.fuel = fuel;
        self
    }

    pub(crate) fn timeout(mut self, milliseconds: u64) -> Self {
        self.budget.deadline = Duration::from_millis(milliseconds);
        self
    }

    pub(crate) fn seed(mut self, seed: u64) -> Self {
        self.run.seed = seed;
        self
    }

    pub(crate) fn started_at(mut self, milliseconds: u64) -> Self {
        self.run.started_at = Duration::from_millis(milliseconds);
        self
    }

    pub(crate) fn operations(mut self, operations: &'a dyn Operations) -> Self {
        self.run.operations = operations;
        self
    }

    pub(crate) fn cancelled_by(mut self, token: &'a CancelToken) -> Self {
        self.run.cancel = Some(token);
        self
    }

    pub(crate) fn prepare(&self) -> Result<Prepared, Box<Report>> {
        let script = Script { name: &self.name, source: &self.source };
        match self.sandbox.prepare(&script, &self.budget, &self.run).unwrap() {
            Loaded::Ready(prepared) => Ok(prepared),
            Loaded::Ended(report) => Err(Box::new(report)),
        }
    }

    pub(crate) fn call(&self, prepared: &Prepared, params: &str) -> Report {
        let params = Params::parse(params).unwrap();
        self.sandbox.call(prepared, &params, &self.budget, &self.run).unwrap()
    }

    /// Prepares and calls once, with parameters as they are written.
    pub(crate) fn run_text(&self, params: &str) -> Report {
        match self.prepare() {
            Ok(prepared) => self.call(&prepared, params),
            Err(report) => *report,
        }
    }

    /// Prepares and calls once.
    pub(crate) fn run(&self, params: &Value) -> Report {
        self.run_text(&params.to_string())
    }

    pub(crate) fn prepare_in(&self, jail: &Jail) -> toolcell_jail::Loaded {
        let script = Script { name: &self.name, source: &self.source };
        jail.prepare(&script, &self.budget, &self.run).unwrap()
    }

    /// Prepares and calls once in a jail.
    pub(crate) fn run_in(&self, jail: &Jail, params: &str) -> Report {
        match self.prepare_in(jail) {
            toolcell_jail::Loaded::Ready(prepared) => {
                jail.call(&prepared, &Params::parse(params).unwrap(), &self.budget, &self.run).unwrap()
            }
            toolcell_jail::Loaded::Ended(report) => report,
        }
    }

    /// Runs without parameters and gives the text of what it returned.
    pub(crate) fn returns(&self) -> String {
        returned(&self.run_text("{}"))
    }

    /// Runs without parameters and gives `NAME: MESSAGE` of what it threw.
    pub(crate) fn throws(&self) -> String {
        match self.run_text("{}").outcome {
            Outcome::Threw(thrown) => format!("{}: {}", thrown.name, thrown.message),
            other => panic!("expected it to throw: {other:?}"),
        }
    }

    /// Runs without parameters and gives why it was stopped.
    pub(crate) fn stops(&self) -> Stop {
        match self.run_text("{}").outcome {
            Outcome::Stopped(stop) => stop,
            other => panic!("expected it to be stopped: {other:?}"),
        }
    }
}

/// The text of what a tool returned; empty for `undefined`.
pub(crate) fn returned(report: &Report) -> String {
    match &report.outcome {
        Outcome::Returned(value) => value.as_ref().map(ToString::to_string).unwrap_or_default(),
        other => panic!("expected it to return: {other:?}"),
    }
}

/// What a script with this expression as its tool's value returns.
pub(crate) fn eval(expression: &str) -> String {
    World::new().script(format!("function execute() {{ return ({expression}); }}")).returns()
}

/// Granting nothing, for runs that say so.
pub(crate) static NOTHING: NoOperations = NoOperations;
