//! Confinement of the current process: its capabilities, resource limits, file access (Landlock)
//! and system calls (seccomp).
//!
//! Invariant: either the process is confined, or this returns an error. Landlock is best effort,
//! because old kernels do not have it, and the result says how far it is enforced; the seccomp
//! filter alone refuses everything that Landlock would.

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

use crate::seccomp;

/// The confinement of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Confinement {
    /// How far Landlock denies files, connections and signals to other processes. (The seccomp
    /// filter denies these and more on every kernel.)
    pub landlock: Landlock,
}

/// The degree of Landlock's enforcement: see `landlock(7)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Landlock {
    /// The kernel enforces all rules.
    Full,
    /// The kernel enforces some rules, at least those for files.
    Part,
    /// The kernel enforces none.
    Missing,
}

impl Landlock {
    /// Returns the name used in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Part => "part",
            Self::Missing => "missing",
        }
    }
}

/// An error that prevents the process from confining itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The capabilities of the process cannot be dropped.
    #[error("the capabilities of the process (capabilities(7)) cannot be dropped: {0}")]
    Capabilities(#[source] std::io::Error),
    /// A resource limit of the process cannot be set.
    #[error("a resource limit of the process cannot be set: {0}")]
    Limit(#[source] std::io::Error),
    /// Landlock exists and fails.
    #[error("Landlock failed: {0}")]
    Landlock(#[from] RulesetError),
    /// There is no seccomp filter for this architecture.
    #[error("there is no seccomp filter for this architecture: {0}")]
    Machine(#[from] BackendError),
    /// The kernel rejects the seccomp filter.
    #[error("the kernel rejected the seccomp filter: {0}")]
    Filter(#[from] seccompiler::Error),
}

/// The newest Landlock version whose rules are used. Rules that the kernel does not know are left
/// out.
const LANDLOCK_ABI: ABI = ABI::V6;

/// Bytes of address space that a worker may map after it confines itself: the memory of a call at
/// its limit of 1 GiB, twice while it moves to grow; its frames when it is suspended; its stack.
const EXTRA_ADDRESS_SPACE: u64 = 8 << 30;
/// Bytes of address space that a worker may map in total if its current usage is unknown: the pool
/// of one slot takes about 20 GiB.
const FALLBACK_ADDRESS_SPACE: u64 = 64 << 30;

/// Confines this process permanently. It keeps its memory and its open descriptors, and can send
/// and receive through the socket `pipe`. Any other action kills it.
///
/// # Errors
/// [`ConfineError`] if the kernel refuses a step. The process may then be partly confined and
/// should exit.
pub fn confine(pipe: RawFd) -> Result<Confinement, ConfineError> {
    // This value is in a file, which cannot be opened once Landlock is active.
    let mapped = mapped_bytes();
    // Landlock needs a descriptor, and the limit allows none afterwards.
    let landlock = apply_landlock()?;
    drop_capabilities().map_err(|error| ConfineError::Capabilities(error.into()))?;
    set_limits(mapped).map_err(|error| ConfineError::Limit(error.into()))?;
    seccompiler::apply_filter_all_threads(&seccomp::build_filter(pipe, SeccompAction::KillProcess)?)?;
    Ok(Confinement { landlock })
}

/// Sets resource limits: no core dumps, no files, no processes, no locked memory, and bounded
/// address space. Other processes of the same user cannot inspect this one.
fn set_limits(mapped: Option<u64>) -> rustix::io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    for resource in [Resource::Core, Resource::Fsize, Resource::Nofile, Resource::Nproc, Resource::Memlock] {
        setrlimit(resource, none)?;
    }
    let most = mapped.map_or(FALLBACK_ADDRESS_SPACE, |mapped| mapped.saturating_add(EXTRA_ADDRESS_SPACE));
    // An existing limit may be tighter; it is never raised.
    let Rlimit { current, maximum } = getrlimit(Resource::As);
    let most = [current, maximum].into_iter().flatten().fold(most, u64::min);
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) })?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Returns the bytes of address space that this process has mapped: see `proc_pid_statm(5)`.
#[expect(clippy::disallowed_methods, reason = "how much is mapped stands in a file")]
fn mapped_bytes() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split(' ').next()?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}

/// Drops all capabilities, and the ability to regain them, whether they come from `root`, a service
/// manager or a container. Does nothing if the process has none.
fn drop_capabilities() -> rustix::io::Result<()> {
    let had = capabilities(None)?;
    if had.effective.contains(CapabilitySet::SETPCAP) {
        // The loop includes capabilities that are newer than the list of names.
        for number in 0..u64::BITS {
            match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
                Ok(()) => {}
                // The previous one was the last that the kernel knows.
                Err(Errno::INVAL) => break,
                Err(error) => return Err(error),
            }
        }
    }
    if !had.permitted.is_empty() || !had.inheritable.is_empty() {
        match clear_ambient_capability_set() {
            // Linux before 4.3 has no ambient set.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(error) => return Err(error),
        }
        let none = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    }
    Ok(())
}

fn apply_landlock() -> Result<Landlock, RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(AccessNet::from_all(LANDLOCK_ABI))?
        .scope(Scope::from_all(LANDLOCK_ABI))?;
    Ok(match rules.create()?.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => Landlock::Full,
        RulesetStatus::PartiallyEnforced => Landlock::Part,
        RulesetStatus::NotEnforced => Landlock::Missing,
    })
}
