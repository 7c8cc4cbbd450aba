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
            let message = format!("{} exists and is not a regular file", path.display());
            Err(CliError::coded("file-exists", message, "choose another file: the output would replace this one"))
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
                ("file-not-found", "the folder does not exist".to_owned(), "choose a path in an existing folder")
            }
            ErrorKind::StorageFull => ("disk-full", io_reason(&error), "free some disk space, and retry"),
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                ("file-unwritable", "a part of the path is not a folder".to_owned(), "choose another path")
            }
            _ => ("file-unwritable", io_reason(&error), "choose a writable path"),
        };
        CliError::coded(code, format!("{} cannot be written: {reason}", path.display()), hint)
    }
}
