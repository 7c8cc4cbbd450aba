//! Crash consistency: a store loses nothing when its process is killed at any write, when any write
//! fails, on a full disk, with many processes at once, or when its directory was tampered with.
//!
//! `make torture` runs the long form of these tests: more orders, more tools, and every fault at
//! every point.
#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    expect(dead_code, reason = "what is traced is left out")
)]

mod model;
mod process;
mod scripts;
mod start;

mod concurrent;
mod damage;
mod maintenance;
mod names;
mod places;
mod planted;
mod scale;
#[cfg(target_os = "linux")]
mod space;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod traced;

/// Whether the long form was requested.
fn torture() -> bool {
    std::env::var_os("TOOLCELL_TORTURE").is_some()
}

/// Creates a temporary folder, in memory if possible: disks are slow, and none of these tests cuts
/// the power.
fn scratch() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}
