//! The WASI preview 1 functions that the guest imports, except for the clock: streams that discard
//! their data, apart from the guest's own panic message; an empty environment; a constant source of
//! randomness; and an exit.
//!
//! They replace the context of wasmtime-wasi, which would bring files, sockets and polling into
//! every process, and start threads for waiting.
//!
//! Invariant: recorded data is bounded, and no function blocks.

use wasmtime::{Caller, Extern, Linker, Result};
use wasmtime_wasi::{Deterministic, I32Exit, Rng as _};

use crate::instance::HostState;

/// The module name of WASI preview 1.
pub(super) const WASI: &str = "wasi_snapshot_preview1";

/// WASI error numbers: success, bad address (`EFAULT`), and bad file descriptor (`EBADF`).
pub(super) const SUCCESS: i32 = 0;
pub(super) const FAULT: i32 = 21;
const BADF: i32 = 8;

/// The maximum size of the guest's panic message in bytes.
const MAX_PANIC_BYTES: usize = 4096;
/// The maximum number of buffers that are searched for one that is not empty.
const MAX_IOVECS: usize = 16;

const STDOUT: i32 = 1;
const STDERR: i32 = 2;

pub(super) fn add_to(linker: &mut Linker<HostState>) -> Result<()> {
    linker.func_wrap(WASI, "environ_get", |_: i32, _: i32| SUCCESS)?;
    linker.func_wrap(WASI, "environ_sizes_get", environ_sizes_get)?;
    linker.func_wrap(WASI, "fd_close", |_: i32| BADF)?;
    linker.func_wrap(WASI, "fd_fdstat_get", |_: i32, _: i32| BADF)?;
    linker.func_wrap(WASI, "fd_read", |_: i32, _: i32, _: i32, _: i32| BADF)?;
    linker.func_wrap(WASI, "fd_seek", |_: i32, _: i64, _: i32, _: i32| BADF)?;
    linker.func_wrap(WASI, "fd_write", fd_write)?;
    linker.func_wrap(WASI, "proc_exit", |status: i32| -> Result<()> { Err(I32Exit(status).into()) })?;
    linker.func_wrap(WASI, "random_get", random_get)?;
    Ok(())
}

/// Reports zero environment variables, in zero bytes.
fn environ_sizes_get(mut caller: Caller<'_, HostState>, count: i32, size: i32) -> i32 {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return FAULT };
    let none = 0_u32.to_le_bytes();
    let written = [count, size].map(|at| memory.write(&mut caller, at.cast_unsigned() as usize, &none));
    if written.iter().all(Result::is_ok) { SUCCESS } else { FAULT }
}

/// Fills a buffer with constant bytes. They seed the hash maps of the guest's own code, so they
/// must not vary.
fn random_get(mut caller: Caller<'_, HostState>, at: i32, size: i32) -> i32 {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return FAULT };
    let (at, size) = (at.cast_unsigned() as usize, size.cast_unsigned() as usize);
    let Some(bytes) = memory.data_mut(&mut caller).get_mut(at..at + size) else { return FAULT };
    Deterministic::new(vec![0]).fill_bytes(bytes);
    SUCCESS
}

/// Takes the first buffer that is not empty.
fn fd_write(mut caller: Caller<'_, HostState>, stream: i32, pieces: i32, count: i32, written: i32) -> i32 {
    if stream != STDOUT && stream != STDERR {
        return BADF;
    }
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return FAULT };
    let (bytes, inside) = memory.data_and_store_mut(&mut caller);
    let count = usize::try_from(count.cast_unsigned()).unwrap_or(usize::MAX).min(MAX_IOVECS);
    let mut pieces = (0..count).map(|at| read_iovec(bytes, pieces.cast_unsigned() as usize + 8 * at));
    let first = pieces.find(|piece| piece.is_none_or(|piece| !piece.is_empty()));
    let Some(first) = first.unwrap_or(Some(&[])) else { return FAULT };
    if stream == STDERR {
        let room = MAX_PANIC_BYTES - inside.panic.len();
        inside.panic.extend_from_slice(&first[..first.len().min(room)]);
    }
    let length = u32::try_from(first.len()).unwrap_or(u32::MAX).to_le_bytes();
    let at = written.cast_unsigned() as usize;
    let Some(place) = bytes.get_mut(at..at + length.len()) else { return FAULT };
    place.copy_from_slice(&length);
    SUCCESS
}

/// Reads the I/O vector at `at` and returns its buffer.
fn read_iovec(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let number = |at: usize| {
        let number = bytes.get(at..at + 4)?.first_chunk()?;
        usize::try_from(u32::from_le_bytes(*number)).ok()
    };
    let (start, length) = (number(at)?, number(at + 4)?);
    bytes.get(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_where_it_is_said_to_be_or_nowhere() {
        let mut memory = vec![0; 32];
        memory[0..8].copy_from_slice(&[16, 0, 0, 0, 3, 0, 0, 0]);
        memory[8..16].copy_from_slice(&[31, 0, 0, 0, 2, 0, 0, 0]);
        memory[16..19].copy_from_slice(b"abc");
        assert_eq!(read_iovec(&memory, 0), Some(&b"abc"[..]));
        assert_eq!(read_iovec(&memory, 20), Some(&b""[..]));
        // The vector or its buffer lies beyond the end of memory.
        assert_eq!([8, 28, 30, 4_000_000_000].map(|at| read_iovec(&memory, at)), [None; 4]);
    }
}
