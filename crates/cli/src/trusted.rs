//! The list of project files whose gates may run: a hash and a path a line, in a file that only its user writes.
//!
//! Invariant: a file is trusted as it is and where it is. A change to it, or another place (from which its commands would
//! be others), is another file. A list that somebody else could have written counts for nothing.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::args::PolicyArgs;
use crate::failure::Failure;
use crate::input;

/// The longest list, in bytes.
const LIMIT: u64 = 16 << 20;

/// Where the list is.
pub(crate) struct Trusted {
    path: Option<PathBuf>,
}

/// A file that is trusted.
pub(crate) struct TrustedFile {
    hash: String,
    path: PathBuf,
}

impl TrustedFile {
    /// Whether it is this one.
    pub(crate) fn is(&self, hash: &impl ToString, path: &Path) -> bool {
        self.hash == hash.to_string() && self.path == path
    }
}

impl Trusted {
    /// The list that is asked for, else that of the user.
    pub(crate) fn at(places: &PolicyArgs) -> Self {
        let in_state = || Some(etcetera::base_strategy::Xdg::new().ok()?.state_dir()?.join("toolcell/trusted"));
        Self { path: places.trusted.clone().or_else(in_state) }
    }

    /// All that is trusted.
    pub(crate) fn read(&self) -> Result<Vec<TrustedFile>, Failure> {
        let Some(path) = &self.path else { return Ok(Vec::new()) };
        let failed = |error| Failure::File { path: path.display().to_string(), error };
        let file = match std::fs::File::open(path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            other => other.map_err(failed)?,
        };
        let metadata = file.metadata().map_err(failed)?;
        let owner = rustix::process::geteuid().as_raw();
        if metadata.uid() != owner || metadata.mode() & 0o022 != 0 {
            let message = format!("{} can be written by others", path.display());
            return Err(Failure::said("trust-unsafe", message, "look through it, and make it yours: chmod 600"));
        }
        let text = String::from_utf8(input::read(file, LIMIT).map_err(failed)?).unwrap_or_default();
        let line = |line: &str| {
            let (hash, path) = line.split_once(' ')?;
            Some(TrustedFile { hash: hash.to_owned(), path: PathBuf::from(path) })
        };
        Ok(text.lines().filter_map(line).collect())
    }

    /// Trusts a file as it is. Another state of it is not trusted any longer.
    pub(crate) fn add(&self, hash: &impl ToString, path: &Path) -> Result<(), Failure> {
        let listed = path.to_str().filter(|path| !path.chars().any(char::is_control)).ok_or_else(|| {
            let message = format!("{} cannot be listed: its path is not plain text", path.display());
            Failure::said("usage", message, "move the project to a folder with a plain name")
        })?;
        let mut files = self.read()?;
        files.retain(|file| file.path != path);
        files.push(TrustedFile { hash: hash.to_string(), path: PathBuf::from(listed) });
        self.write(&files)
    }

    /// Trusts a file no longer, and says whether it was trusted.
    pub(crate) fn remove(&self, path: &Path) -> Result<bool, Failure> {
        let mut files = self.read()?;
        let before = files.len();
        files.retain(|file| file.path != path);
        if files.len() < before {
            self.write(&files)?;
        }
        Ok(files.len() < before)
    }

    /// Writes the list beside the old one, and puts it in its place.
    fn write(&self, files: &[TrustedFile]) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Err(Failure::NoHome) };
        let failed = |error| Failure::File { path: path.display().to_string(), error };
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        }
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(failed)?;
        for TrustedFile { hash, path } in files {
            writeln!(file, "{hash} {}", path.display()).map_err(failed)?;
        }
        file.sync_all().and_then(|()| std::fs::rename(&new, path)).map_err(failed)
    }
}

/// A path that stays the same wherever it is said from: its folder's real one, and the name in it.
pub(crate) fn settled(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| Failure::File { path: path.display().to_string(), error };
    let whole = std::path::absolute(path).map_err(failed)?;
    match (whole.parent(), whole.file_name()) {
        (Some(folder), Some(name)) => match folder.canonicalize() {
            Ok(folder) => Ok(folder.join(name)),
            // What is gone can be untrusted all the same.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(whole),
            Err(error) => Err(failed(error)),
        },
        _ => Ok(whole),
    }
}
