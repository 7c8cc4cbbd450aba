//! Confinement of the current process: its memory, file access (Landlock) and system calls
//! (seccomp), in the manner of `toolcell-jail`, whose workers talk through a socket and need what
//! Wasmtime needs.
//!
//! Invariant: either the process is confined, or this returns an error. Landlock is best effort,
//! because old kernels do not have it; the seccomp filter alone refuses everything that Landlock
//! would.

use std::io;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetError, Scope,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::set_no_new_privs;
use seccompiler::{BackendError, SeccompAction};

use crate::seccomp;

/// An error that prevents the process from confining itself.
#[derive(Debug, thiserror::Error)]
pub enum ConfinementError {
    /// A resource limit of the process cannot be set.
    #[error("a resource limit of the process cannot be set: {0}")]
    Limit(#[source] io::Error),
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

/// Bytes of address space that the process may map after it confines itself. The stack that the compiler
/// insists on is mapped before, and stays untouched.
const EXTRA_ADDRESS_SPACE: u64 = 160 << 20;
/// Bytes of address space in total if the current usage is unknown.
const FALLBACK_ADDRESS_SPACE: u64 = 768 << 20;

/// The newest Landlock version whose rules are used. Rules that the kernel does not know are left
/// out.
const LANDLOCK_ABI: ABI = ABI::V6;

/// Confines this process permanently. It keeps its memory, reads its standard input and writes its
/// standard output. Any other action kills it.
pub(crate) fn confine() -> Result<(), ConfinementError> {
    // This value is in a file, which cannot be opened once Landlock is active.
    let mapped = mapped_bytes();
    // Landlock needs a descriptor, and the limit allows none afterwards.
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(AccessNet::from_all(LANDLOCK_ABI))?
        .scope(Scope::from_all(LANDLOCK_ABI))?;
    rules.create()?.restrict_self()?;
    set_limits(mapped).map_err(|error| ConfinementError::Limit(error.into()))?;
    for filter in seccomp::build_filters(SeccompAction::KillProcess)? {
        seccompiler::apply_filter_all_threads(&filter)?;
    }
    Ok(())
}

/// Sets resource limits: no core dumps, no files, no processes, and bounded memory. Other processes
/// of the same user cannot inspect this one.
fn set_limits(mapped: Option<u64>) -> rustix::io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    for resource in [Resource::Core, Resource::Nofile, Resource::Nproc, Resource::Memlock] {
        setrlimit(resource, none)?;
    }
    let most = mapped.map_or(FALLBACK_ADDRESS_SPACE, |mapped| mapped.saturating_add(EXTRA_ADDRESS_SPACE));
    // An existing limit may be tighter; it is never raised.
    let Rlimit { current, maximum } = getrlimit(Resource::As);
    let most = [current, maximum].into_iter().flatten().fold(most, u64::min);
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) })?;
    set_no_new_privs(true)?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Returns the bytes of address space that this process has mapped: see `proc_pid_statm(5)`.
#[expect(clippy::disallowed_methods, reason = "how much is mapped stands in a file")]
fn mapped_bytes() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split(' ').next()?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}
