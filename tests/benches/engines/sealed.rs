//! A tool in the sandbox: prepared once, with an instance per call.

use toolcell_host::{Budget, CallContext, Outcome, Params, PrepareResult, Prepared, Sandbox, ScriptSource};

/// A prepared tool with its sandbox.
pub(crate) struct Sealed<'a> {
    sandbox: &'a Sandbox,
    prepared: Prepared,
    budget: Budget,
}

impl<'a> Sealed<'a> {
    /// Prepares a tool.
    pub(crate) fn new(sandbox: &'a Sandbox, source: &str, budget: Budget) -> Self {
        let script = ScriptSource { name: "tool.js", source };
        match sandbox.prepare(&script, &budget, &CallContext::default()).unwrap() {
            PrepareResult::Ready(prepared) => Self { sandbox, prepared, budget },
            PrepareResult::Failed(report) => unreachable!("the tool does not load: {:?}", report.outcome),
        }
    }

    /// Makes a whole call: validates the parameters, creates an instance, restores and calls the
    /// tool, and discards the instance.
    pub(crate) fn call(&self, params: &str) -> Option<String> {
        self.run(params, &CallContext::default())
    }

    /// Makes a whole call in this context.
    pub(crate) fn run(&self, params: &str, run: &CallContext<'_>) -> Option<String> {
        let params = Params::parse(params).unwrap();
        let report = self.sandbox.call(&self.prepared, &params, &self.budget, run).unwrap();
        match report.outcome {
            Outcome::Returned(value) => value.map(toolcell_host::Json::into_string),
            other => unreachable!("the tool does not return: {other:?}"),
        }
    }
}
