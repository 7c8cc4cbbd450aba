//! Limits glibc to one malloc arena if the address space is limited.
//!
//! The GNU C library reserves 64 MiB of address space per thread for an arena. In a process limited
//! to 256 MiB, the stack and the memory of an instance would lack that space.
//!
//! Invariant: this runs before the first thread starts, or has no effect; without an address-space
//! limit nothing changes.

/// Makes all threads share one malloc arena if the address space is limited.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn limit_arenas() {
    use rustix::process::{Resource, getrlimit};

    if getrlimit(Resource::As).current.is_none() {
        return;
    }
    // SAFETY: `mallopt` sets a number of the allocator, under the allocator's own lock, and takes no pointer.
    #[expect(unsafe_code, reason = "no safe wrapper exists, and the environment variable is read before main")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Other C libraries have a single heap.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn limit_arenas() {}
