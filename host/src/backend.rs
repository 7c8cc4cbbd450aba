//! The interface of a sandbox: in this process, or in worker processes.
//!
//! Invariant: a call has the same result and the same fuel in every backend. A prepared script is
//! called by the backend that prepared it.

use toolcell_json::Params;

use crate::context::{CallContext, ScriptSource};
use crate::engine::{ImageKind, Interruption};
use crate::error::CallError;
use crate::limits::Budget;
use crate::outcome::Report;
use crate::prepared::{PrepareResult, PreparedScript};
use crate::suspend::{CallStatus, ResumeError, SuspendedCall};

/// A place in which tools are called: [`Sandbox`](crate::Sandbox) is the one in this process.
pub trait Backend {
    /// A script that this backend has evaluated once.
    type Prepared: PreparedScript;

    /// Evaluates a script once.
    ///
    /// # Errors
    /// Those of [`Sandbox::prepare`](crate::Sandbox::prepare). Faults of the
    /// script are reported as a [`PrepareResult`].
    fn prepare(
        &self,
        script: &ScriptSource<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult<Self::Prepared>, CallError>;

    /// Calls a prepared tool in its own instance.
    ///
    /// # Errors
    /// Those of [`Sandbox::call`](crate::Sandbox::call). Faults of the tool
    /// are reported in the [`Report`].
    fn call(
        &self,
        prepared: &Self::Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError>;

    /// Calls a prepared tool, and suspends the call if its host calls ask for that.
    ///
    /// # Errors
    /// Those of [`Self::call`]. Faults of the tool are reported in the [`CallStatus`].
    fn call_suspendable(
        &self,
        prepared: &Self::Prepared,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError>;

    /// Resumes a suspended call.
    ///
    /// # Errors
    /// Those of [`Sandbox::resume`](crate::Sandbox::resume). Faults of the
    /// tool are reported in the [`CallStatus`].
    fn resume(
        &self,
        suspended: &SuspendedCall,
        script: &ScriptSource<'_>,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError>;

    /// Returns the image in use.
    fn image(&self) -> ImageKind;

    /// Returns the images that were tried before, each with the reason for its failure.
    fn rejected_images(&self) -> &[(ImageKind, String)];

    /// Returns the mechanism that stops calls at their deadline and on cancellation.
    fn interruption(&self) -> Interruption;

    /// Returns the maximum number of concurrent calls.
    fn slots(&self) -> usize;
}
