//! Output files: how they are checked and replaced, and the errors of writing them.
//!
//! Invariant: only a regular file is replaced. Replacing a device or a symlink by name would remove
//! it for everybody.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use toolcell_error::ErrorCode;

use crate::error::{CliError, io_reason};

/// Checks that a path is free or a regular file.
pub(crate) fn check_replaceable(path: &Path) -> Result<(), CliError> {
    match path.symlink_metadata() {
        Ok(there) if !there.is_file() => {
            let message = format!("{} exists and is not a regular file", path.display());
            Err(CliError::coded(
                ErrorCode::FileExists,
                message,
                "choose another file: the output would replace this one",
            ))
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
                (ErrorCode::FileNotFound, "the folder does not exist".to_owned(), "choose a path in an existing folder")
            }
            ErrorKind::StorageFull => (ErrorCode::DiskFull, io_reason(&error), "free some disk space, and retry"),
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                (ErrorCode::FileUnwritable, "a part of the path is not a folder".to_owned(), "choose another path")
            }
            _ => (ErrorCode::FileUnwritable, io_reason(&error), "choose a writable path"),
        };
        CliError::coded(code, format!("{} cannot be written: {reason}", path.display()), hint)
    }
}

/// Replaces a file atomically, or leaves the old one.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    check_replaceable(path)?;
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        // An unfinished file is of no use.
        let _ = fs::remove_file(&part);
        write_error(path)(error)
    })
}
