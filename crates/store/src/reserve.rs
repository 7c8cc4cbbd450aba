//! Space that is set aside, so that what makes space goes on to work on a full disk: to delete, to revoke and to collect takes
//! some pages of the index's log before anything becomes free.
//!
//! Invariant: it is a file of no use, and whoever needs its space gives it up whole. It is made again when there is space.

use std::io::{ErrorKind, Write as _};

use crate::directory::{Access, Directory, private};
use crate::error::{Fault, OfFault};
use crate::store::Store;

/// The file.
const FILE: &str = "reserve";
/// How large it is, in bytes.
const LEN: usize = 64 << 10;

impl Store {
    /// Does something that makes space, where no space is left with what is set aside.
    pub(crate) fn with_reserve<T, E: OfFault>(&self, work: impl Fn() -> Result<T, E>) -> Result<T, E> {
        let error = match work() {
            Err(error) => error,
            done => return done,
        };
        match error.into_fault() {
            Ok(Fault::Full { .. }) if give_up(&self.directory) => work(),
            Ok(fault) => Err(fault.into()),
            Err(other) => Err(other),
        }
    }
}

/// Sets space aside, where none is. That there is none to be had is found where it is needed.
pub(crate) fn keep(directory: &Directory) {
    let root = directory.root();
    if directory.access() == Access::ReadOnly || root.symlink_metadata(FILE).is_ok() {
        return;
    }
    let mut options = private();
    let made = root.open_with(FILE, options.create_new(true).write(true)).and_then(|mut file| {
        // Zeros would take no space in a file system that compresses.
        let mut noise = vec![0; LEN];
        blake3::Hasher::new().update(FILE.as_bytes()).finalize_xof().fill(&mut noise);
        file.write_all(&noise)
    });
    if made.is_err_and(|error| error.kind() != ErrorKind::AlreadyExists) {
        let _ = root.remove_file(FILE);
    }
}

/// Gives up what is set aside, and says whether there was something.
fn give_up(directory: &Directory) -> bool {
    let held = directory.root().symlink_metadata(FILE).is_ok_and(|metadata| metadata.len() > 0);
    held && directory.root().remove_file(FILE).is_ok()
}
