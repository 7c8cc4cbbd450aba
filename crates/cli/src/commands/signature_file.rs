//! The files beside a bundle: its signature, and the keys that sign and verify it.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::input::read_up_to;

/// Maximum size of a key file or signature file, in bytes.
const MAX_KEY_BYTES: u64 = 4096;

/// Returns the path of a bundle's signature file.
pub(super) fn signature_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".minisig");
    PathBuf::from(name)
}

/// Reads at most `most` bytes of a file.
pub(super) fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, CliError> {
    File::open(path).and_then(|file| read_up_to(file, most)).map_err(file_error(path))
}

/// Reads a key file or a signature file.
pub(super) fn read_text(path: &Path) -> Result<String, CliError> {
    let bytes = read_file(path, MAX_KEY_BYTES)?;
    String::from_utf8(bytes).map_err(|error| file_error(path)(std::io::Error::other(error)))
}

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> CliError {
    let path = path.display().to_string();
    move |error| CliError::File { path: path.clone(), error }
}
