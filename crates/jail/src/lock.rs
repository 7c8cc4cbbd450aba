//! How a process locks itself in: what it has open, what it may open, what it may ask the kernel for.
//!
//! Invariant: a process is locked in, or this is an error. What Landlock adds is best effort, because old kernels do not have it,
//! and whoever asks is told how far it holds; the filter of system calls alone refuses all that it would.

use std::os::fd::RawFd;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetError,
    RulesetStatus, Scope,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit, setrlimit};
use seccompiler::{BackendError, SeccompAction};
use serde::{Deserialize, Serialize};

use crate::filter;

/// What is between a worker and the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Walls {
    /// No file, no connection and no signal to another process, said by Landlock. (The filter of system calls says the same, and
    /// more, everywhere.)
    pub landlock: Landlock,
}

/// How much of that the kernel knows: see `landlock(7)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Landlock {
    /// All of it.
    Full,
    /// Some of it: files, in any case.
    Part,
    /// None of it.
    Missing,
}

impl Landlock {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Part => "part",
            Self::Missing => "missing",
        }
    }
}

/// A process cannot lock itself in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// A limit of the process cannot be set.
    #[error("a limit of the process cannot be set: {0}")]
    Limit(#[source] std::io::Error),
    /// Landlock is there, and fails.
    #[error("Landlock fails: {0}")]
    Landlock(#[from] RulesetError),
    /// There is no filter for this machine.
    #[error("there is no filter of system calls for this machine: {0}")]
    Machine(#[from] BackendError),
    /// The kernel does not take the filter.
    #[error("the kernel does not take the filter of system calls: {0}")]
    Filter(#[from] seccompiler::Error),
}

/// The newest version of Landlock whose rules are known here. Those that a kernel does not know are left out.
const NEWEST: ABI = ABI::V6;

/// Locks this process in, for good: it keeps its memory and what it has open, can send and receive through the socket `pipe`, and
/// nothing else. What else it tries to do ends it.
///
/// # Errors
/// [`LockError`] where the kernel does not do its part; the process may then be locked in by half and should end.
pub fn lock_in(pipe: RawFd) -> Result<Walls, LockError> {
    // Landlock takes a descriptor, which there are none of afterwards.
    let landlock = shut_out()?;
    limit().map_err(|error| LockError::Limit(error.into()))?;
    seccompiler::apply_filter_all_threads(&filter::program(pipe, SeccompAction::KillProcess)?)?;
    Ok(Walls { landlock })
}

/// Leaves nothing behind, opens nothing, starts nothing, and cannot be looked into by other processes of the same user.
fn limit() -> rustix::io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    for resource in [Resource::Core, Resource::Fsize, Resource::Nofile, Resource::Nproc, Resource::Memlock] {
        setrlimit(resource, none)?;
    }
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

fn shut_out() -> Result<Landlock, RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    Ok(match rules.create()?.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => Landlock::Full,
        RulesetStatus::PartiallyEnforced => Landlock::Part,
        RulesetStatus::NotEnforced => Landlock::Missing,
    })
}
