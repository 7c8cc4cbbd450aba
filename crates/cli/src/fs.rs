//! Output files: how they are checked and replaced, and the errors of writing them.
//!
//! Invariant: only a regular file is replaced. Replacing a device or a symlink by name would remove
//! it for everybody.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use toolcell_error::ErrorCode;
use toolcell_i18n::{message, msgid};

use crate::error::{CliError, io_reason};

/// Checks that a path is free or a regular file.
pub(crate) fn check_replaceable(path: &Path) -> Result<(), CliError> {
    match path.symlink_metadata() {
        Ok(there) if !there.is_file() => {
            let message = message!("{path} exists and is not a regular file", path = path.display());
            Err(CliError::coded(
                ErrorCode::FileExists,
                message,
                msgid!("choose another file: the output would replace this one"),
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
            ErrorKind::NotFound => (
                ErrorCode::FileNotFound,
                message!("the folder does not exist"),
                msgid!("choose a path in an existing folder"),
            ),
            ErrorKind::StorageFull => {
                (ErrorCode::DiskFull, io_reason(&error), msgid!("free some disk space, and retry"))
            }
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => (
                ErrorCode::FileUnwritable,
                message!("a part of the path is not a folder"),
                msgid!("choose another path"),
            ),
            _ => (ErrorCode::FileUnwritable, io_reason(&error), msgid!("choose a writable path")),
        };
        CliError::coded(code, message!("{path} cannot be written: {reason}", path = path.display(), reason), hint)
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
