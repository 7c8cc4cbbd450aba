//! A reserve of disk space, so that deleting, revoking and garbage collection still work on a full
//! disk: they need some pages of the write-ahead log before they free anything.
//!
//! Invariant: the file has no other purpose, and an operation that needs its space deletes it
//! whole. It is created again when there is space.

use std::io::{ErrorKind, Write as _};

use crate::directory::{Directory, StoreAccess, private_options};
use crate::error::{Fault, MaybeFault};

/// The name of the file.
const FILE: &str = "reserve";
/// The size of the file, in bytes.
const RESERVE_BYTES: usize = 64 << 10;

/// Runs an operation that frees space. If the disk is full, the reserve is released and the
/// operation tried once more.
pub(super) fn with_reserve<T, E: MaybeFault>(directory: &Directory, work: impl Fn() -> Result<T, E>) -> Result<T, E> {
    let error = match work() {
        Err(error) => error,
        done => return done,
    };
    match error.into_fault() {
        Ok(Fault::Full { .. }) if release(directory) => work(),
        Ok(fault) => Err(fault.into()),
        Err(other) => Err(other),
    }
}

/// Creates the reserve if it does not exist. If the disk is full, the failure shows only when the
/// reserve is needed.
pub(crate) fn allocate(directory: &Directory) {
    let root = directory.root();
    if directory.access() == StoreAccess::ReadOnly || root.symlink_metadata(FILE).is_ok() {
        return;
    }
    let mut options = private_options();
    let made = root.open_with(FILE, options.create_new(true).write(true)).and_then(|mut file| {
        // Zeros would take no space on a file system that compresses.
        let mut noise = vec![0; RESERVE_BYTES];
        blake3::Hasher::new().update(FILE.as_bytes()).finalize_xof().fill(&mut noise);
        file.write_all(&noise)
    });
    if made.is_err_and(|error| error.kind() != ErrorKind::AlreadyExists) {
        let _ = root.remove_file(FILE);
    }
}

/// Deletes the reserve and returns whether it had any space.
fn release(directory: &Directory) -> bool {
    let held = directory.root().symlink_metadata(FILE).is_ok_and(|metadata| metadata.len() > 0);
    held && directory.root().remove_file(FILE).is_ok()
}
