//! How a process locks itself in: what it has open, what it may open, how much it may map, what it may ask the kernel for.
//!
//! Invariant: a process is locked in, or this is an error. What Landlock adds is best effort, because old kernels do not have it,
//! and whoever asks is told how far it holds; the filter of system calls alone refuses all that it would.

use std::os::fd::RawFd;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetError,
    RulesetStatus, Scope,
};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};
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
    /// The capabilities of the process cannot be dropped.
    #[error("the capabilities of the process (capabilities(7)) cannot be dropped: {0}")]
    Capabilities(#[source] std::io::Error),
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

/// Bytes of address space that a worker may map beside what it has when it locks itself in: the memory of a call at its limit of 1 GiB,
/// twice while it moves because it grows; its frames, where it is put to sleep; its stack.
const ADDRESS_SPACE: u64 = 8 << 30;
/// Bytes of address space that a worker may map where it cannot be seen how many it has: the pool of one slot takes some 20 GiB.
const ADDRESS_SPACE_UNSEEN: u64 = 64 << 30;

/// Locks this process in, for good: it keeps its memory and what it has open, can send and receive through the socket `pipe`, and
/// nothing else. What else it tries to do ends it.
///
/// # Errors
/// [`LockError`] where the kernel does not do its part; the process may then be locked in by half and should end.
pub fn lock_in(pipe: RawFd) -> Result<Walls, LockError> {
    // This stands in a file, which cannot be opened any more when Landlock holds.
    let mapped = address_space();
    // Landlock takes a descriptor, which there are none of afterwards.
    let landlock = shut_out()?;
    drop_capabilities().map_err(|error| LockError::Capabilities(error.into()))?;
    limit(mapped).map_err(|error| LockError::Limit(error.into()))?;
    seccompiler::apply_filter_all_threads(&filter::program(pipe, SeccompAction::KillProcess)?)?;
    Ok(Walls { landlock })
}

/// Leaves nothing behind, opens nothing, starts nothing, and cannot be looked into by other processes of the same user.
fn limit(mapped: Option<u64>) -> rustix::io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    for resource in [Resource::Core, Resource::Fsize, Resource::Nofile, Resource::Nproc, Resource::Memlock] {
        setrlimit(resource, none)?;
    }
    let most = mapped.map_or(ADDRESS_SPACE_UNSEEN, |mapped| mapped.saturating_add(ADDRESS_SPACE));
    // A limit that is there already may be tighter, and is never raised.
    let Rlimit { current, maximum } = getrlimit(Resource::As);
    let most = [current, maximum].into_iter().flatten().fold(most, u64::min);
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) })?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Bytes of address space that this process has mapped: see `proc_pid_statm(5)`.
#[expect(clippy::disallowed_methods, reason = "how much is mapped stands in a file")]
fn address_space() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split(' ').next()?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}

/// Gives up all capabilities, and the way to get one back: those of `root`, or those that a service manager or a container gave. Where
/// the process has none, there is nothing to do.
fn drop_capabilities() -> rustix::io::Result<()> {
    let had = capabilities(None)?;
    if had.effective.contains(CapabilitySet::SETPCAP) {
        // Also those that are newer than the list of names.
        for number in 0..u64::BITS {
            match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
                Ok(()) => {}
                // The last one was the last that the kernel knows.
                Err(Errno::INVAL) => break,
                Err(error) => return Err(error),
            }
        }
    }
    if !had.permitted.is_empty() || !had.inheritable.is_empty() {
        match clear_ambient_capability_set() {
            // Linux before 4.3 has no such set.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(error) => return Err(error),
        }
        let none = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    }
    Ok(())
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
