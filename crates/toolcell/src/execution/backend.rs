//! The backends of the sandbox: in this process, or in a jail of worker processes.
//!
//! Invariant: a call has the same result in both, and callers of this module cannot tell them
//! apart. A script is called by the backend that evaluated it.

use std::sync::Arc;

use toolcell_host::{
    Backend, Budget, CallContext, CallError, CallStatus, ImageKind, Interruption, Json, Params, PrepareResult, Report,
    ResumeError, Sandbox, ScriptSource, StartError, SuspendedCall,
};

use crate::jail::{Confinement, Jail, Program};

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
    /// `toolcell::jail::serve_if_worker` first in its `main`. Without the feature `jail`, it has no value but `None`.
    pub jail: Option<Program>,
}

impl Default for SandboxConfig {
    /// All images, in this process, with twice as many concurrent calls as the machine has cores.
    fn default() -> Self {
        let toolcell_host::SandboxOptions { images, slots } = toolcell_host::SandboxOptions::default();
        Self { images, slots, jail: None }
    }
}

/// The sandbox of a toolbox.
pub(crate) struct SandboxBackend {
    backend: Arc<dyn ErasedBackend>,
    /// The jail, if the backend is one.
    jail: Option<Arc<Jail>>,
}

/// A script that was evaluated once, with the backend that did.
pub(crate) struct PreparedScript(Box<dyn BoundScript>);

/// A backend of any type.
trait ErasedBackend: Send + Sync {
    fn prepare(
        self: Arc<Self>,
        script: &ScriptSource<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult<PreparedScript>, CallError>;

    fn resume(
        &self,
        suspended: &SuspendedCall,
        script: &ScriptSource<'_>,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError>;

    fn image(&self) -> ImageKind;

    fn rejected_images(&self) -> &[(ImageKind, String)];

    fn interruption(&self) -> Interruption;

    fn slots(&self) -> usize;
}

/// A prepared script of any backend, which calls it.
trait BoundScript: Send + Sync {
    fn held_bytes(&self) -> usize;

    fn manifest(&self) -> &Json;

    fn call(&self, params: &Params, budget: &Budget, run: &CallContext<'_>) -> Result<Report, CallError>;

    fn call_suspendable(
        &self,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError>;
}

struct Bound<B: Backend> {
    backend: Arc<B>,
    prepared: B::Prepared,
}

impl<B> ErasedBackend for B
where
    B: Backend<Prepared: Send + Sync> + Send + Sync + 'static,
{
    fn prepare(
        self: Arc<Self>,
        script: &ScriptSource<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult<PreparedScript>, CallError> {
        Ok(match Backend::prepare(&*self, script, budget, run)? {
            PrepareResult::Ready(prepared) => {
                PrepareResult::Ready(PreparedScript(Box::new(Bound { backend: self, prepared })))
            }
            PrepareResult::Failed(report) => PrepareResult::Failed(report),
        })
    }

    fn resume(
        &self,
        suspended: &SuspendedCall,
        script: &ScriptSource<'_>,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError> {
        Backend::resume(self, suspended, script, run)
    }

    fn image(&self) -> ImageKind {
        Backend::image(self)
    }

    fn rejected_images(&self) -> &[(ImageKind, String)] {
        Backend::rejected_images(self)
    }

    fn interruption(&self) -> Interruption {
        Backend::interruption(self)
    }

    fn slots(&self) -> usize {
        Backend::slots(self)
    }
}

impl<B> BoundScript for Bound<B>
where
    B: Backend<Prepared: Send + Sync> + Send + Sync,
{
    fn held_bytes(&self) -> usize {
        toolcell_host::PreparedScript::held_bytes(&self.prepared)
    }

    fn manifest(&self) -> &Json {
        toolcell_host::PreparedScript::manifest(&self.prepared)
    }

    fn call(&self, params: &Params, budget: &Budget, run: &CallContext<'_>) -> Result<Report, CallError> {
        self.backend.call(&self.prepared, params, budget, run)
    }

    fn call_suspendable(
        &self,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError> {
        self.backend.call_suspendable(&self.prepared, params, budget, run)
    }
}

impl PreparedScript {
    /// Returns the memory that caching it takes, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.held_bytes()
    }

    /// Returns the manifest, in which the script describes its tools.
    pub(crate) fn manifest(&self) -> &Json {
        self.0.manifest()
    }

    /// Calls the tool.
    pub(crate) fn call(&self, params: &Params, budget: &Budget, run: &CallContext<'_>) -> Result<Report, CallError> {
        self.0.call(params, budget, run)
    }

    /// Calls the tool, and suspends the call where its host calls allow that.
    pub(crate) fn call_suspendable(
        &self,
        params: &Params,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, CallError> {
        self.0.call_suspendable(params, budget, run)
    }
}

impl SandboxBackend {
    pub(crate) fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        let SandboxConfig { images, slots, jail } = config;
        let sandbox = toolcell_host::SandboxOptions { images: images.clone(), slots: *slots };
        Ok(match jail {
            None => Self { backend: Arc::new(Sandbox::new(&sandbox)?), jail: None },
            #[cfg(not(feature = "jail"))]
            Some(program) => match *program {},
            #[cfg(feature = "jail")]
            Some(program) => {
                let jail = Arc::new(Jail::new(&sandbox, program.clone())?);
                Self { backend: Arc::clone(&jail) as Arc<dyn ErasedBackend>, jail: Some(jail) }
            }
        })
    }

    pub(crate) fn image(&self) -> ImageKind {
        self.backend.image()
    }

    pub(crate) fn rejected_images(&self) -> &[(ImageKind, String)] {
        self.backend.rejected_images()
    }

    pub(crate) fn interruption(&self) -> Interruption {
        self.backend.interruption()
    }

    pub(crate) fn slots(&self) -> usize {
        self.backend.slots()
    }

    /// Returns the program of the worker processes, if there are any.
    pub(crate) fn program(&self) -> Option<&Program> {
        self.jail.as_deref().map(Jail::program)
    }

    /// Returns the confinement of the worker processes, if there are any.
    pub(crate) fn confinement(&self) -> Option<Confinement> {
        self.jail.as_deref().map(Jail::confinement)
    }

    /// Evaluates a script once.
    pub(crate) fn prepare(
        &self,
        script: &ScriptSource<'_>,
        budget: &Budget,
        run: &CallContext<'_>,
    ) -> Result<PrepareResult<PreparedScript>, CallError> {
        Arc::clone(&self.backend).prepare(script, budget, run)
    }

    /// Resumes a suspended call.
    pub(crate) fn resume(
        &self,
        suspended: &SuspendedCall,
        script: &ScriptSource<'_>,
        run: &CallContext<'_>,
    ) -> Result<CallStatus, ResumeError> {
        self.backend.resume(suspended, script, run)
    }
}
