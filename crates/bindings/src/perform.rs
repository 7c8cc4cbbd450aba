//! What a host runs, by its kind.

use crate::failure::Failure;
use crate::run::{CallOptions, CompletedRun, RunControl};
use crate::session::Session;
use crate::suspend::EndedRun;

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    /// A stored tool.
    Tool,
    /// Code that is not stored.
    Code,
    /// A stored tool, whose run may be suspended.
    Suspendable,
    /// A suspended run: its identifier, and the answers of functions instead of parameters.
    Resume,
}

impl RunKind {
    /// Parses the name that packages pass.
    ///
    /// # Errors
    /// `request-invalid`
    pub fn parse(name: &str) -> Result<Self, Failure> {
        match name {
            "tool" => Ok(Self::Tool),
            "code" => Ok(Self::Code),
            "suspendable" => Ok(Self::Suspendable),
            "resume" => Ok(Self::Resume),
            other => Err(Failure::request(format!("there is no kind of run `{}`", other.escape_debug()))),
        }
    }
}

impl Session {
    /// Runs what a host runs, by its kind.
    ///
    /// # Errors
    /// As the method of that kind.
    pub fn perform(
        &self,
        kind: RunKind,
        subject: &str,
        params: &str,
        options: &CallOptions,
        control: RunControl,
    ) -> Result<EndedRun, Failure> {
        let completed = |ran: CompletedRun| EndedRun::Completed(Box::new(ran));
        match kind {
            RunKind::Tool => self.run(subject, params, options, control).map(completed),
            RunKind::Code => self.run_code(subject, params, options, control).map(completed),
            RunKind::Suspendable => self.run_suspendable(subject, params, options, control),
            RunKind::Resume => self.resume(subject, params, options, control),
        }
    }
}
