//! Runs a draft once and stores nothing.

use toolcell_host::{Budget, CallError, Loaded, Params, Report, Run, Script};
use toolcell_tool::Draft;

use crate::toolbox::{self, Toolbox};

/// A draft was not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The sandbox did not take the call.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl ExecError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Call(error) => error.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Call(error) => error.hint(),
        }
    }
}

impl Toolbox {
    /// Runs the tool in a draft. What it does is in the report; a draft that was run before is not evaluated again.
    ///
    /// # Errors
    /// `limit-invalid`, `busy`, `no-instance`.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{Budget, Draft, Outcome, Params, Run, SandboxConfig, Toolbox};
    ///
    /// let toolbox = Toolbox::new(&SandboxConfig::default())?;
    /// let draft = Draft::from_bytes("average.js", b"const execute = ({ xs }) => xs.reduce((a, b) => a + b) / xs.length")?;
    /// let params = Params::parse(r#"{"xs": [1, 2, 4.5]}"#)?;
    /// let report = toolbox.exec(&draft, &params, &Budget::default(), &Run::default())?;
    /// assert!(matches!(report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "2.5"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn exec(&self, draft: &Draft, params: &Params, budget: &Budget, run: &Run<'_>) -> Result<Report, ExecError> {
        let key = toolbox::key(draft.name(), draft.source(), &run.operations.grants());
        let prepared = if let Some(prepared) = self.kept(&key) {
            prepared
        } else {
            let script = Script { name: draft.name(), source: draft.source() };
            match self.sandbox.prepare(&script, budget, run)? {
                Loaded::Ended(report) => return Ok(report),
                Loaded::Ready(prepared) => self.keep(key, prepared),
            }
        };
        Ok(self.sandbox.call(&prepared, params, budget, run)?)
    }
}
