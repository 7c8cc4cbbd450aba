//! A stack that outlasts any source.
//!
//! Parsers, visitors and destructors of trees recurse, and a stack that overflows ends the process. So everything that
//! touches a tree runs on a thread with so much stack that a source at the size limit cannot overflow it.
//!
//! Invariant: no tree lives outside of a closure that is given to [`with_room`].

use crate::error::Rejection;

/// Sizes of stacks, in MiB: a source gets the smallest that is enough for it, because a machine with little address space
/// does not give them all. The memory of a stack is only used where the stack is.
const STACKS: [usize; 4] = [24, 64, 128, 512];

/// Bytes of stack for one byte of source. The worst shape known takes 1,700 in an optimised build.
const STACK_BYTES: usize = 8 << 10;

/// Bytes of address space that have to be left beside a stack: a process that cannot allocate a tree ends at once.
const LEFT: usize = 32 << 20;

/// Runs `work` for a source of `len` bytes on a thread with enough stack.
pub(crate) fn with_room<T: Send>(len: usize, work: impl FnOnce() -> T + Send) -> Result<T, Rejection> {
    let no_room = || {
        let smaller = STACKS.map(|mib| (mib << 20) / STACK_BYTES).into_iter().rfind(|limit| *limit < len);
        Rejection::NoRoom { limit: smaller.unwrap_or(0) }
    };
    let size = enough_for(len).ok_or_else(no_room)?;
    let joined = std::thread::scope(|scope| {
        let left = set_aside(LEFT).ok_or_else(no_room)?;
        let thread = std::thread::Builder::new().name("toolcell-analysis".to_owned()).stack_size(size);
        let run = move || {
            drop(left);
            work()
        };
        let spawned = thread.spawn_scoped(scope, run).map_err(|error| {
            // The system says the same (EAGAIN) where there is no room for a stack and where there may be no more threads.
            match std::thread::Builder::new().spawn(|| ()) {
                Ok(_) => no_room(),
                Err(_) => Rejection::NoThread { cause: error.to_string() },
            }
        })?;
        Ok(spawned.join())
    })?;
    joined.map_err(|panic| std::panic::resume_unwind(panic))
}

/// The size of the smallest stack that is enough for a source of `len` bytes.
fn enough_for(len: usize) -> Option<usize> {
    STACKS.map(|mib| mib << 20).into_iter().find(|size| size / STACK_BYTES >= len)
}

/// Address space that nobody else takes until it is dropped. None of it is used.
fn set_aside(bytes: usize) -> Option<Vec<u8>> {
    let mut aside = Vec::new();
    aside.try_reserve_exact(bytes).ok()?;
    // An allocation that nobody looks at need not be made at all.
    Some(std::hint::black_box(aside))
}

/// Runs `here`, and `beside` at the same time on a thread with as much stack, or afterwards where there is none.
pub(crate) fn with_room_beside<T: Send, U>(
    len: usize,
    beside: impl Fn() -> T + Sync,
    here: impl FnOnce() -> U,
) -> (T, U) {
    let size = enough_for(len);
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
