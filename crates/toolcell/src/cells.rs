//! Where cells are: in this process, or in a jail.
//!
//! Invariant: a call comes to the same in both, and nobody above this knows which one it is in.

use toolcell_host::{
    Asleep, Budget, CallError, Called, Interruption, Json, Kind, Params, Report, Run, Sandbox, Script, StartError,
    WakeError,
};
use toolcell_jail::{self as jail, Jail, Program, Walls};

/// What the cells of a toolbox are made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Which images may be used, in the order in which they are tried.
    pub images: Vec<Kind>,
    /// How many calls run at once; further ones wait or are refused ([`WhenFull`](crate::WhenFull)).
    pub slots: usize,
    /// Whether calls run in worker processes that are locked in, and which program those run. Not unless said. A program whose
    /// workers run itself calls [`serve_if_worker`](jail::serve_if_worker) first thing in its `main`.
    pub jail: Option<Program>,
}

impl Default for SandboxConfig {
    /// Whatever works, in this process, and twice as many calls as the machine has cores.
    fn default() -> Self {
        let toolcell_host::SandboxConfig { images, slots } = toolcell_host::SandboxConfig::default();
        Self { images, slots, jail: None }
    }
}

/// The cells of a toolbox.
pub(crate) enum Cells {
    Here(Box<Sandbox>),
    Jailed(Box<Jail>),
}

/// A script that was evaluated once.
pub(crate) enum Prepared {
    Here(toolcell_host::Prepared),
    Jailed(jail::Prepared),
}

/// What came of loading a script.
pub(crate) enum Loaded {
    Ready(Prepared),
    Ended(Report),
}

impl Prepared {
    /// How many bytes keeping it takes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Here(prepared) => prepared.size(),
            Self::Jailed(prepared) => prepared.size(),
        }
    }

    /// What the script says of its tools.
    pub(crate) fn manifest(&self) -> &Json {
        match self {
            Self::Here(prepared) => prepared.manifest(),
            Self::Jailed(prepared) => prepared.manifest(),
        }
    }
}

impl Cells {
    pub(crate) fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        let SandboxConfig { images, slots, jail } = config;
        let sandbox = toolcell_host::SandboxConfig { images: images.clone(), slots: *slots };
        Ok(match jail {
            None => Self::Here(Box::new(Sandbox::new(&sandbox)?)),
            Some(program) => Self::Jailed(Box::new(Jail::new(&sandbox, program.clone())?)),
        })
    }

    pub(crate) fn image(&self) -> Kind {
        match self {
            Self::Here(sandbox) => sandbox.image(),
            Self::Jailed(jail) => jail.image(),
        }
    }

    pub(crate) fn passed_over(&self) -> &[(Kind, String)] {
        match self {
            Self::Here(sandbox) => sandbox.passed_over(),
            Self::Jailed(jail) => jail.passed_over(),
        }
    }

    pub(crate) fn interruption(&self) -> Interruption {
        match self {
            Self::Here(sandbox) => sandbox.interruption(),
            // A worker has one thread.
            Self::Jailed(_) => Interruption::FuelSlices,
        }
    }

    pub(crate) fn slots(&self) -> usize {
        match self {
            Self::Here(sandbox) => sandbox.slots(),
            Self::Jailed(jail) => jail.slots(),
        }
    }

    /// The program of its workers, where it has any.
    pub(crate) fn program(&self) -> Option<&Program> {
        match self {
            Self::Here(_) => None,
            Self::Jailed(jail) => Some(jail.program()),
        }
    }

    /// What is between its workers and the machine, where it has any.
    pub(crate) fn walls(&self) -> Option<Walls> {
        match self {
            Self::Here(_) => None,
            Self::Jailed(jail) => Some(jail.walls()),
        }
    }

    /// Evaluates a script once.
    pub(crate) fn prepare(&self, script: &Script<'_>, budget: &Budget, run: &Run<'_>) -> Result<Loaded, CallError> {
        Ok(match self {
            Self::Here(sandbox) => match sandbox.prepare(script, budget, run)? {
                toolcell_host::Loaded::Ready(prepared) => Loaded::Ready(Prepared::Here(prepared)),
                toolcell_host::Loaded::Ended(report) => Loaded::Ended(report),
            },
            Self::Jailed(jail) => match jail.prepare(script, budget, run)? {
                jail::Loaded::Ready(prepared) => Loaded::Ready(Prepared::Jailed(prepared)),
                jail::Loaded::Ended(report) => Loaded::Ended(report),
            },
        })
    }

    /// Calls a prepared tool.
    pub(crate) fn call(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
    ) -> Result<Report, CallError> {
        match (self, prepared) {
            (Self::Here(sandbox), Prepared::Here(prepared)) => sandbox.call(prepared, params, budget, run),
            (Self::Jailed(jail), Prepared::Jailed(prepared)) => jail.call(prepared, params, budget, run),
            _ => Err(elsewhere()),
        }
    }

    /// Calls a prepared tool, and puts the call to sleep where what it waits for says so.
    pub(crate) fn call_or_sleep(
        &self,
        prepared: &Prepared,
        params: &Params,
        budget: &Budget,
        run: &Run<'_>,
    ) -> Result<Called, CallError> {
        match (self, prepared) {
            (Self::Here(sandbox), Prepared::Here(prepared)) => sandbox.call_or_sleep(prepared, params, budget, run),
            (Self::Jailed(jail), Prepared::Jailed(prepared)) => jail.call_or_sleep(prepared, params, budget, run),
            _ => Err(elsewhere()),
        }
    }

    /// Goes on with a call that was put to sleep.
    pub(crate) fn wake(&self, asleep: &Asleep, script: &Script<'_>, run: &Run<'_>) -> Result<Called, WakeError> {
        match self {
            Self::Here(sandbox) => sandbox.wake(asleep, script, run),
            Self::Jailed(jail) => jail.wake(asleep, script, run),
        }
    }
}

/// What is kept of a script is kept beside the cells that it was evaluated in.
fn elsewhere() -> CallError {
    CallError::NoInstance("the script was evaluated elsewhere".to_owned())
}
