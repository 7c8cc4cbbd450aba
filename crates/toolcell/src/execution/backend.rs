//! The backends of the sandbox: in this process, or in a jail of worker processes.
//!
//! Invariant: a call has the same result in both, and callers of this module cannot tell them
//! apart.

use toolcell_host::{
    Budget, CallContext, CallError, CallStatus, ImageKind, Interruption, Json, Params, Report, ResumeError, Sandbox,
    Script, StartError, SuspendedCall,
};
use toolcell_jail::{self as jail, Confinement, Jail, Program};

/// The configuration of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// The images that may be used, in the order in which they are tried.
    pub images: Vec<ImageKind>,
    /// The maximum number of concurrent calls; further ones wait or are refused
    /// ([`OnOverload`](crate::OnOverload)).
    pub slots: usize,
    /// The program of the worker processes, if calls run in confined worker processes. `None`, the
    /// default, runs calls in this process. A program that serves as its own worker calls
    /// [`serve_if_worker`](jail::serve_if_worker) first in its `main`.
    pub jail: Option<Program>,
}

impl Default for SandboxConfig {
    /// All images, in this process, with twice as many concurrent calls as the machine has cores.
    fn default() -> Self {
        let toolcell_host::SandboxConfig { images, slots } = toolcell_host::SandboxConfig::default();
        Self { images, slots, jail: None }
    }
}

/// The sandbox of a toolbox.
pub(crate) enum SandboxBackend {
    InProcess(Box<Sandbox>),
    Jailed(Box<Jail>),
}

/// A script that was evaluated once.
pub(crate) enum PreparedScript {
    InProcess(toolcell_host::Prepared),
    Jailed(jail::JailedScript),
}

/// The result of evaluating a script.
pub(crate) enum BackendPrepareResult {
    Ready(PreparedScript),
    Failed(Report),
}

impl PreparedScript {
    /// Returns the memory that caching it takes, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            Self::InProcess(prepared) => prepared.held_bytes(),
            Self::Jailed(prepared) => prepared.held_bytes(),
        }
    }

    /// Returns the manifest, in which the script describes its tools.
    pub(crate) fn manifest(&self) -> &Json {
        match self {
            Self::InProcess(prepared) => prepared.manifest(),
            Self::Jailed(prepared) => prepared.manifest(),
        }
    }
}

impl SandboxBackend {
    pub(crate) fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        let SandboxConfig { images, slots, jail } = config;
        let sandbox = toolcell_host::SandboxConfig { images: images.clone(), slots: *slots };
        Ok(match jail {
            None => Self::InProcess(Box::new(Sandbox::new(&sandbox)?)),
            Some(program) => Self::Jailed(Box::new(Jail::new(&sandbox, program.clone())?)),
        })
    }

    pub(crate) fn image(&self) -> ImageKind {
        match self {
            Self::InProcess(sandbox) => sandbox.image(),
            Self::Jailed(jail) => jail.image(),
        }
    }

    pub(crate) fn rejected_images(&self) -> &[(ImageKind, String)] {
        match self {
            Self::InProcess(sandbox) => sandbox.rejected_images(),
            Self::Jailed(jail) => jail.rejected_images(),
        }
    }

    pub(crate) fn interruption(&self) -> Interruption {
        match self {
            Self::InProcess(sandbox) => sandbox.interruption(),
            // A worker has one thread.
            Self::Jailed(_) => Interruption::FuelSlices,
        }
    }

    pub(crate) fn slots(&self) -> usize {
        match self {
            Self::InProcess(sandbox) => sandbox.slots(),
            Self::Jailed(jail) => jail.slots(),
        }
    }

    /// Returns the program of the worker processes, if there are any.
    pub(crate) fn program(&self) -> Option<&Program> {
        match self {
            Self::InProcess(_) => None,
            Self::Jailed(jail) => Some(jail.program()),
        }
    }

    /// Returns the confinement of the worker processes, if there are any.
    pub(crate) fn confinement(&self) -> Option<Confinement> {
        match self {
            Self::InProcess(_) => None,
            Self::Jailed(jail) => Some(jail.confinement()),
        }
    }

    /// Evaluates a script once.
    pub(crate) fn prepare(
        &self,
        script: &Script<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<BackendPrepareResult, CallError> {
        Ok(match self {
            Self::InProcess(sandbox) => match sandbox.prepare(script, budget, run)? {
                toolcell_host::PrepareResult::Ready(prepared) => {
                    BackendPrepareResult::Ready(PreparedScript::InProcess(prepared))
                }
                toolcell_host::PrepareResult::Failed(report) => BackendPrepareResult::Failed(report),
            },
            Self::Jailed(jail) => match jail.prepare(script, budget, run)? {
                jail::JailPrepareResult::Ready(prepared) => {
                    BackendPrepareResult::Ready(PreparedScript::Jailed(prepared))
                }
                jail::JailPrepareResult::Failed(report) => BackendPrepareResult::Failed(report),
            },
        })
    }

    /// Calls a prepared tool.
    pub(crate) fn call(
        &self,
        prepared: &PreparedScript,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<Report, CallError> {
        match (self, prepared) {
            (Self::InProcess(sandbox), PreparedScript::InProcess(prepared)) => {
                sandbox.call(prepared, params, budget, run)
            }
            (Self::Jailed(jail), PreparedScript::Jailed(prepared)) => jail.call(prepared, params, budget, run),
            _ => Err(wrong_backend()),
        }
    }

    /// Calls a prepared tool, and suspends the call where its host calls allow that.
    pub(crate) fn call_suspendable(
        &self,
        prepared: &PreparedScript,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError> {
        match (self, prepared) {
            (Self::InProcess(sandbox), PreparedScript::InProcess(prepared)) => {
                sandbox.call_suspendable(prepared, params, budget, run)
            }
            (Self::Jailed(jail), PreparedScript::Jailed(prepared)) => {
                jail.call_suspendable(prepared, params, budget, run)
            }
            _ => Err(wrong_backend()),
        }
    }

    /// Resumes a suspended call.
    pub(crate) fn resume(
        &self,
        suspended: &SuspendedCall,
        script: &Script<'_>,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError> {
        match self {
            Self::InProcess(sandbox) => sandbox.resume(suspended, script, run),
            Self::Jailed(jail) => jail.resume(suspended, script, run),
        }
    }
}

/// Returns the error for a script that was evaluated by the other backend.
fn wrong_backend() -> CallError {
    CallError::NoInstance("the script was evaluated by another backend".to_owned())
}
