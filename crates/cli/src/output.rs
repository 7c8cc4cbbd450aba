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

/// A file, or a folder for files, cannot be written.
pub(crate) fn unwritable(path: &Path) -> impl Fn(Error) -> Failure {
    |error| {
        let (code, reason, hint) = match error.kind() {
            ErrorKind::NotFound => {
                ("file-not-found", "there is no such folder".to_owned(), "name a place in a folder that is there")
            }
            ErrorKind::StorageFull => ("disk-full", reason(&error), "make room, and do it again"),
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                ("file-unwritable", "a part of the path is a file, and no folder".to_owned(), "name another place")
            }
            _ => ("file-unwritable", reason(&error), "name a place that can be written to"),
        };
        Failure::said(code, format!("{} cannot be written: {reason}", path.display()), hint)
    }
}
