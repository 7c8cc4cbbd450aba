//! One heap for all threads, where the address space is limited.
//!
//! The GNU C library gives each thread a heap of its own, with 64 MiB of addresses that it keeps. Where a process has 256 MiB
//! of them, those are missing for the stack and the memory of a cell.
//!
//! Invariant: before the first thread is started, or not at all; where nothing limits the address space, nothing is changed.

/// Has threads share one heap, where the address space is limited.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn share_where_space_is_short() {
    use rustix::process::{Resource, getrlimit};

    if getrlimit(Resource::As).current.is_none() {
        return;
    }
    // SAFETY: `mallopt` sets a number of the allocator, under the allocator's own lock, and takes no pointer.
    #[expect(unsafe_code, reason = "no library has this call, and the environment of this process is set already")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Other C libraries have one heap.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_where_space_is_short() {}
