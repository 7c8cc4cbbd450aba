//! A store loses nothing: not when it is killed at any of its writes, not when any of them fails, not on a full disk, in
//! a crowd, or in a directory that somebody has been at.
//!
//! `make torture` takes the long form of these tests: more orders, more tools, and every fault at every point.
#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    expect(dead_code, reason = "what is traced is left out")
)]

mod model;
mod process;
mod scripts;
mod start;

mod crowd;
mod damage;
mod names;
mod places;
mod planted;
mod scale;
#[cfg(target_os = "linux")]
mod space;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod traced;
mod upkeep;

/// Whether the long form was asked for.
fn torture() -> bool {
    std::env::var_os("TOOLCELL_TORTURE").is_some()
}

/// A folder that goes with the test. It is in memory, where there is such a place: disks are slow, and none of these tests
/// cuts the power.
fn scratch() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}
