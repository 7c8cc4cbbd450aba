//! Writing files that a command is told to write.
//!
//! Invariant: a new file takes the place of nothing but a plain file. A device or a link that somebody names would be gone
//! after that, for everybody.

use std::io::{Error, ErrorKind};
use std::path::Path;

use crate::failure::{Failure, reason};

/// Makes sure that what is at a path, if anything is, may be replaced.
pub(crate) fn replaceable(path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(there) if !there.is_file() => {
            let message = format!("{} is there, and is no plain file", path.display());
            Err(Failure::said("file-exists", message, "name another file: what is written takes its place"))
        }
        _ => Ok(()),
    }
}

/// A file cannot be written.
pub(crate) fn unwritable(path: &Path) -> impl Fn(Error) -> Failure {
    |error| {
        let (code, reason) = match error.kind() {
            ErrorKind::NotFound => ("file-not-found", "there is no such folder".to_owned()),
            _ => ("file-unwritable", reason(&error)),
        };
        let message = format!("{} cannot be written: {reason}", path.display());
        Failure::said(code, message, "name a file in a folder that is there and can be written to")
    }
}
