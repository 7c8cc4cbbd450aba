//! Checks and errors for output files.
//!
//! Invariant: only a regular file is replaced. Replacing a device or a symlink by name would remove
//! it for everybody.

use std::io::{Error, ErrorKind};
use std::path::Path;

use crate::error::{CliError, io_reason};

/// Checks that a path is free or a regular file.
pub(crate) fn check_replaceable(path: &Path) -> Result<(), CliError> {
    match path.symlink_metadata() {
        Ok(there) if !there.is_file() => {
            let message = format!("{} is there, and is no plain file", path.display());
            Err(CliError::coded("file-exists", message, "name another file: what is written takes its place"))
        }
        _ => Ok(()),
    }
}

/// Returns a conversion from I/O errors to the error of writing this file, or a file in this
/// folder.
pub(crate) fn write_error(path: &Path) -> impl Fn(Error) -> CliError {
    |error| {
        let (code, reason, hint) = match error.kind() {
            ErrorKind::NotFound => {
                ("file-not-found", "there is no such folder".to_owned(), "name a place in a folder that is there")
            }
            ErrorKind::StorageFull => ("disk-full", io_reason(&error), "make room, and do it again"),
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                ("file-unwritable", "a part of the path is a file, and no folder".to_owned(), "name another place")
            }
            _ => ("file-unwritable", io_reason(&error), "name a place that can be written to"),
        };
        CliError::coded(code, format!("{} cannot be written: {reason}", path.display()), hint)
    }
}
