//! The engine: its configuration, the compiled images of the guest, and the epochs that interrupt
//! calls.
//!
//! Invariant: this module knows nothing of calls. Detecting a feature of the machine has no side
//! effects and never fails.

#[cfg_attr(not(test), expect(dead_code, reason = "the build script packs the images"))]
mod call_targets;
mod config;
mod image;
mod start_error;
mod ticker;

pub use config::ImageKind;
pub(crate) use config::{CONTEXT_GLOBAL, PC_GLOBAL};
pub use image::GUEST_DIGEST;
pub(crate) use image::{
    BLOCK_BYTES, Image, allocation_strategy, discard_pages, fresh_block, is_pooled, prefer_huge_pages,
};
pub use start_error::StartError;
pub use ticker::Interruption;
pub(crate) use ticker::{Watch, interruption, watch};

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
