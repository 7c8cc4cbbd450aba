//! A stack that is large enough for any source.
//!
//! Parsers, visitors and destructors of trees recurse, and a stack overflow ends the process. So
//! everything that touches a tree runs on a thread whose stack a source at the size limit cannot
//! overflow.
//!
//! Invariant: no tree lives outside of a closure that is passed to [`on_large_stack`] or
//! [`join_on_large_stack`].

use crate::syntax::error::AnalysisError;

/// The sizes of stacks, in MiB. A source gets the smallest sufficient one, because a machine with
/// little address space does not provide them all. Only the used part of a stack takes memory.
const STACK_SIZES_MIB: [usize; 4] = [24, 64, 128, 512];

/// Bytes of stack for one byte of source. The worst known case takes 1,700 in an optimised build.
const STACK_BYTES_PER_SOURCE_BYTE: usize = 8 << 10;

/// Bytes of address space to leave beside a stack: a process that cannot allocate a tree ends at
/// once.
const RESERVED_BYTES: usize = 32 << 20;

/// Runs `work` for a source of `len` bytes on a thread with enough stack.
pub(crate) fn on_large_stack<T: Send>(len: usize, work: impl FnOnce() -> T + Send) -> Result<T, AnalysisError> {
    let no_room = || {
        let smaller = STACK_SIZES_MIB
            .map(|mib| (mib << 20) / STACK_BYTES_PER_SOURCE_BYTE)
            .into_iter()
            .rfind(|limit| *limit < len);
        AnalysisError::InsufficientAddressSpace { limit: smaller.unwrap_or(0) }
    };
    let size = stack_size_for(len).ok_or_else(no_room)?;
    let joined = std::thread::scope(|scope| {
        let left = reserve_address_space(RESERVED_BYTES).ok_or_else(no_room)?;
        let thread = std::thread::Builder::new().name("toolcell-analysis".to_owned()).stack_size(size);
        let run = move || {
            drop(left);
            work()
        };
        let spawned = thread.spawn_scoped(scope, run).map_err(|error| {
            // The system reports EAGAIN both for too little memory for a stack and for too many
            // threads.
            match std::thread::Builder::new().spawn(|| ()) {
                Ok(_) => no_room(),
                Err(_) => AnalysisError::NoThread { cause: error.to_string() },
            }
        })?;
        Ok(spawned.join())
    })?;
    joined.map_err(|panic| std::panic::resume_unwind(panic))
}

/// Returns the size of the smallest sufficient stack for a source of `len` bytes.
fn stack_size_for(len: usize) -> Option<usize> {
    STACK_SIZES_MIB.map(|mib| mib << 20).into_iter().find(|size| size / STACK_BYTES_PER_SOURCE_BYTE >= len)
}

/// Reserves address space until it is dropped. None of it is touched.
fn reserve_address_space(bytes: usize) -> Option<Vec<u8>> {
    let mut aside = Vec::new();
    aside.try_reserve_exact(bytes).ok()?;
    // The optimizer may remove an allocation that is never observed.
    Some(std::hint::black_box(aside))
}

/// Runs `here`, and `beside` in parallel on a thread with as much stack, or afterwards if no thread
/// starts.
pub(crate) fn join_on_large_stack<T: Send, U>(
    len: usize,
    beside: impl Fn() -> T + Sync,
    here: impl FnOnce() -> U,
) -> (T, U) {
    let size = stack_size_for(len);
    let (done, value) = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("toolcell-script".to_owned());
        let thread = size.and_then(|size| thread.stack_size(size).spawn_scoped(scope, &beside).ok());
        let value = here();
        (thread.map(std::thread::ScopedJoinHandle::join), value)
    });
    match done {
        Some(Ok(done)) => (done, value),
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => (beside(), value),
    }
}
