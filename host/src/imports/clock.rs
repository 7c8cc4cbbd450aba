//! The clock and the seed: the inputs of a tool that belong to one run.
//!
//! Invariant: a read marks the state of the guest as specific to its run, so that no snapshot of it
//! is reused.

use wasmtime::{Caller, Extern, Linker, Result};

use super::wasi::{FAULT, SUCCESS, WASI};
use crate::instance::HostState;
use toolcell_protocol::IMPORT_MODULE;

/// WASI's identifier of the clock that counts from 1970.
const REALTIME: i32 = 0;

pub(super) fn add_to(linker: &mut Linker<HostState>) -> Result<()> {
    linker.func_wrap(WASI, "clock_time_get", clock_time_get)?;
    linker.func_wrap(IMPORT_MODULE, "seed", seed)?;
    Ok(())
}

fn clock_time_get(mut caller: Caller<'_, HostState>, clock: i32, _precision: i64, at: i32) -> Result<i32> {
    let left = caller.get_fuel()?;
    let inside = caller.data_mut();
    inside.is_run_specific = true;
    let now = if let Some(now) = inside.read_wall_clock() {
        u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
    } else {
        let ran = inside.nanoseconds_since_refuel(left);
        let since = if clock == REALTIME { inside.clock_nanoseconds } else { 0 };
        since.saturating_add(ran)
    };
    let now = now.to_le_bytes();
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return Ok(FAULT) };
    let written = memory.write(&mut caller, at.cast_unsigned() as usize, &now);
    Ok(if written.is_ok() { SUCCESS } else { FAULT })
}

fn seed(mut caller: Caller<'_, HostState>) -> u64 {
    let inside = caller.data_mut();
    inside.is_run_specific = true;
    inside.seed
}
