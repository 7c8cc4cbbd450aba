//! Writes receipts.
//!
//! Invariant: the file is written atomically and never replaces another one. It is created before
//! the tool runs, because a run may have effects that cannot be repeated.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use toolcell::{Lang, Receipt};
use toolcell_error::ErrorCode;
use toolcell_i18n::{message, msgid};

use crate::error::CliError;
use crate::fs::write_error;
use crate::streams::Streams;

/// A receipt file to be written after the run.
pub(crate) struct ReceiptFile<'a> {
    path: &'a Path,
    part: PathBuf,
    file: File,
}

impl<'a> ReceiptFile<'a> {
    /// Creates the temporary file, to fail early if the path exists or is not writable.
    pub(crate) fn create(path: &'a Path) -> Result<Self, CliError> {
        if path.symlink_metadata().is_ok() {
            return Err(already_exists(path));
        }
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        let mut options = OpenOptions::new();
        // A receipt contains the tool's inputs, so only the owner may read it.
        let opened = options.write(true).create_new(true).mode(0o600).open(&part);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => already_exists(&part),
            _ => write_error(path)(error),
        })?;
        Ok(Self { path, part, file })
    }

    /// Writes the receipt and links the file into place.
    pub(crate) fn write(mut self, receipt: &Receipt, lang: Lang, streams: &mut Streams<'_>) -> Result<(), CliError> {
        let text = receipt.to_text();
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(write_error(self.path))?;
        // Unlike a rename, a hard link never replaces a file created since the check.
        fs::hard_link(&self.part, self.path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => already_exists(self.path),
            _ => write_error(self.path)(error),
        })?;
        if !receipt.has_trace() {
            let warning = message!("the run read more data than a receipt can hold; it cannot be replayed");
            streams.print_warning(&warning, lang)?;
        }
        Ok(())
    }
}

impl Drop for ReceiptFile<'_> {
    /// Removes the temporary name.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

fn already_exists(path: &Path) -> CliError {
    let message = message!("{path} already exists", path = path.display());
    CliError::coded(ErrorCode::FileExists, message, msgid!("choose another file: receipts are not overwritten"))
}
