//! Optional features of the machine that make a sandbox faster.
//!
//! Invariant: detection has no side effects and never fails.

use wasmtime::PoolingAllocationConfig;

/// Returns whether the kernel can report the pages that a cell has written (`PAGEMAP_SCAN`, Linux
/// 6.7, through `/proc/self/pagemap`), so that only those are reset after a call. Only the roomy
/// image uses this.
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
