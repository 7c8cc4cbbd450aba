//! What the machine gives to a sandbox, beyond what an image needs.
//!
//! Invariant: looking changes nothing, and never fails.

use wasmtime::PoolingAllocationConfig;

/// Whether the kernel says which pages a cell has written (`PAGEMAP_SCAN`, Linux 6.7, through `/proc/self/pagemap`), so that
/// only those are put back in order after a call. Only the roomy image makes use of it.
///
/// # Examples
/// ```
/// // Where it cannot be had, calls work as well, and take longer.
/// let _: bool = toolcell_host::pagemap_scan();
/// ```
#[must_use]
pub fn pagemap_scan() -> bool {
    PoolingAllocationConfig::is_pagemap_scan_available()
}
