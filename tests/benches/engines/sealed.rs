//! A tool in the sandbox: prepared once, each call in an instance of its own.

use toolcell_host::{Budget, Loaded, Outcome, Params, Prepared, Run, Sandbox, Script};

/// A prepared tool and the sandbox that it is called in.
pub(crate) struct Sealed<'a> {
    sandbox: &'a Sandbox,
    prepared: Prepared,
    budget: Budget,
}

impl<'a> Sealed<'a> {
    /// Prepares a tool.
    pub(crate) fn new(sandbox: &'a Sandbox, source: &str, budget: Budget) -> Self {
        let script = Script { name: "tool.js", source };
        match sandbox.prepare(&script, &budget, &Run::default()).unwrap() {
            Loaded::Ready(prepared) => Self { sandbox, prepared, budget },
            Loaded::Ended(report) => unreachable!("the tool does not load: {:?}", report.outcome),
        }
    }

    /// A call from nothing: parameters checked, instance made, tool restored and called, instance thrown away.
    pub(crate) fn call(&self, params: &str) -> Option<String> {
        self.run(params, &Run::default())
    }

    /// The same call, which is given this.
    pub(crate) fn run(&self, params: &str, run: &Run<'_>) -> Option<String> {
        let params = Params::parse(params).unwrap();
        let report = self.sandbox.call(&self.prepared, &params, &self.budget, run).unwrap();
        match report.outcome {
            Outcome::Returned(value) => value.map(toolcell_host::Json::into_string),
            other => unreachable!("the tool does not return: {other:?}"),
        }
    }
}
