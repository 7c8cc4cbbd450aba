//! A stack that outlasts any source.
//!
//! Parsers, visitors and destructors of trees recurse, and a stack that overflows ends the process. So everything that
//! touches a tree runs on a thread with so much stack that a source at the size limit cannot overflow it.
//!
//! Invariant: no tree lives outside of a closure that is given to [`with_room`].

use std::sync::PoisonError;

use crate::error::Rejection;

/// Stacks that are tried, in MiB, the largest first: a machine with little address space does not give them all. The
/// memory of a stack is only used where the stack is.
const STACKS: [usize; 4] = [512, 128, 64, 24];

/// Bytes of stack for one byte of source. The worst shape known takes 1,700 in an optimised build.
const STACK_BYTES: usize = 8 << 10;

/// Runs `work` for a source of `len` bytes on a thread with enough stack.
pub(crate) fn with_room<T: Send>(len: usize, work: impl FnOnce() -> T + Send) -> Result<T, Rejection> {
    // Taken only once a thread runs, so that it is still there where one could not be started.
    let work = std::sync::Mutex::new(Some(work));
    let enough = STACKS.map(|mib| mib << 20).into_iter().filter(|size| size / STACK_BYTES >= len);
    for size in enough {
        let done = std::thread::scope(|scope| {
            let run = || work.lock().unwrap_or_else(PoisonError::into_inner).take().map(|work| work());
            let thread = std::thread::Builder::new().name("toolcell-analysis".to_owned()).stack_size(size);
            thread.spawn_scoped(scope, run).ok().map(std::thread::ScopedJoinHandle::join)
        });
        match done {
            None => {}
            Some(Ok(Some(value))) => return Ok(value),
            Some(Ok(None)) => break,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
    let smaller = STACKS.map(|mib| (mib << 20) / STACK_BYTES).into_iter().find(|limit| *limit < len);
    Err(Rejection::NoRoom { limit: smaller.unwrap_or(0) })
}

/// Runs `here`, and `beside` at the same time on a thread with as much stack, or afterwards where there is none.
pub(crate) fn with_room_beside<T: Send, U>(
    len: usize,
    beside: impl Fn() -> T + Sync,
    here: impl FnOnce() -> U,
) -> (T, U) {
    let size = STACKS.map(|mib| mib << 20).into_iter().rev().find(|size| size / STACK_BYTES >= len);
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
