//! The fixture of sandbox tests. Example: `SandboxFixture::new().script("const execute = ({ a, b })
//! => a + b").fuel(50_000).run(json!({ "a": 1, "b": 2 }))`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use toolcell_host::{
    Budget, CallContext, CancelToken, HostCalls, ImageKind, NoHostCalls, Outcome, Params, PrepareResult, Prepared,
    Report, Sandbox, SandboxConfig, Script, Stop,
};
use toolcell_jail::Jail;

/// Returns the root folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Reads a file of the repository.
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the files of a folder of the repository with this extension, sorted.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    files.sort();
    files
}

/// Returns the Markdown files of docs/ and of the folders in it, sorted.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Returns the name of a file without its extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Returns the sandbox that all tests of this process share, so that state leaking from one call
/// would show in the next.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(&SandboxConfig { slots: 8, ..SandboxConfig::default() }).unwrap())
}

/// Returns a shared sandbox with one image.
pub(crate) fn sandbox_with(kind: ImageKind) -> &'static Sandbox {
    static SANDBOXES: [OnceLock<Sandbox>; 3] = [const { OnceLock::new() }; 3];
    let index = ImageKind::ALL.iter().position(|other| *other == kind).unwrap();
    SANDBOXES[index].get_or_init(|| Sandbox::new(&SandboxConfig { images: vec![kind], slots: 2 }).unwrap())
}

/// Returns a shared sandbox with one image and no epoch thread: calls check their deadline after
/// fuel slices.
pub(crate) fn sandbox_without_ticker(kind: ImageKind) -> &'static Sandbox {
    static SANDBOXES: [OnceLock<Sandbox>; 3] = [const { OnceLock::new() }; 3];
    let index = ImageKind::ALL.iter().position(|other| *other == kind).unwrap();
    let config = SandboxConfig { images: vec![kind], slots: 2 };
    SANDBOXES[index].get_or_init(|| Sandbox::single_threaded(&config).unwrap())
}

/// A script to run.
pub(crate) struct SandboxFixture<'a> {
    sandbox: &'a Sandbox,
    name: String,
    source: String,
    pub(crate) budget: Budget,
    pub(crate) run: CallContext<'a>,
}

impl SandboxFixture<'static> {
    /// Creates a fixture with the shared sandbox, 20 billion units of fuel, the other default
    /// limits, and no grants.
    pub(crate) fn new() -> Self {
        let budget = Budget { fuel: 20_000_000_000, ..Budget::default() };
        Self {
            sandbox: sandbox(),
            name: "tool.js".to_owned(),
            source: String::new(),
            budget,
            run: CallContext::default(),
        }
    }
}

impl<'a> SandboxFixture<'a> {
    pub(crate) fn script(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    pub(crate) fn file(mut self, path: &Path) -> Self {
        self.name = path.file_name().unwrap().to_string_lossy().into_owned();
        self.source = std::fs::read_to_string(path).unwrap();
        self
    }

    pub(crate) fn on_image(mut self, kind: ImageKind) -> Self {
        self.sandbox = sandbox_with(kind);
        self
    }

    pub(crate) fn on_image_without_ticker(mut self, kind: ImageKind) -> Self {
        self.sandbox = sandbox_without_ticker(kind);
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

    pub(crate) fn operations(mut self, operations: &'a dyn HostCalls) -> Self {
        self.run.host_calls = operations;
        self
    }

    pub(crate) fn cancelled_by(mut self, token: &'a CancelToken) -> Self {
        self.run.cancel = Some(token);
        self
    }

    pub(crate) fn prepare(&self) -> Result<Prepared, Box<Report>> {
        let script = Script { name: &self.name, source: &self.source };
        match self.sandbox.prepare(&script, &self.budget, &self.run).unwrap() {
            PrepareResult::Ready(prepared) => Ok(prepared),
            PrepareResult::Failed(report) => Err(Box::new(report)),
        }
    }

    pub(crate) fn call(&self, prepared: &Prepared, params: &str) -> Report {
        let params = Params::parse(params).unwrap();
        self.sandbox.call(prepared, &params, &self.budget, &self.run).unwrap()
    }

    /// Prepares the script and calls it once, with raw JSON parameters.
    pub(crate) fn run_text(&self, params: &str) -> Report {
        match self.prepare() {
            Ok(prepared) => self.call(&prepared, params),
            Err(report) => *report,
        }
    }

    /// Prepares the script and calls it once.
    pub(crate) fn run(&self, params: &Value) -> Report {
        self.run_text(&params.to_string())
    }

    pub(crate) fn prepare_in(&self, jail: &Jail) -> PrepareResult<toolcell_jail::JailedScript> {
        let script = Script { name: &self.name, source: &self.source };
        jail.prepare(&script, &self.budget, &self.run).unwrap()
    }

    /// Prepares the script and calls it once in the jail.
    pub(crate) fn run_in(&self, jail: &Jail, params: &str) -> Report {
        match self.prepare_in(jail) {
            PrepareResult::Ready(prepared) => {
                jail.call(&prepared, &Params::parse(params).unwrap(), &self.budget, &self.run).unwrap()
            }
            PrepareResult::Failed(report) => report,
        }
    }

    /// Runs without parameters, and returns the result as JSON text.
    pub(crate) fn returns(&self) -> String {
        returned(&self.run_text("{}"))
    }

    /// Runs without parameters, and returns the exception as `NAME: MESSAGE`.
    pub(crate) fn throws(&self) -> String {
        match self.run_text("{}").outcome {
            Outcome::Threw(thrown) => format!("{}: {}", thrown.name, thrown.message),
            other => panic!("expected it to throw: {other:?}"),
        }
    }

    /// Runs without parameters, and returns why the run was stopped.
    pub(crate) fn stops(&self) -> Stop {
        match self.run_text("{}").outcome {
            Outcome::Stopped(stop) => stop,
            other => panic!("expected it to be stopped: {other:?}"),
        }
    }
}

/// Returns the result as JSON text; empty for `undefined`.
pub(crate) fn returned(report: &Report) -> String {
    match &report.outcome {
        Outcome::Returned(value) => value.as_ref().map(ToString::to_string).unwrap_or_default(),
        other => panic!("expected it to return: {other:?}"),
    }
}

/// Evaluates an expression in a tool, and returns its value as JSON text.
pub(crate) fn eval(expression: &str) -> String {
    SandboxFixture::new().script(format!("function execute() {{ return ({expression}); }}")).returns()
}

/// Host calls that grant nothing.
pub(crate) static NO_HOST_CALLS: NoHostCalls = NoHostCalls;
