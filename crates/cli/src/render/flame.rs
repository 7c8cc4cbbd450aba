//! Writes the flame graphs of profiles to files.
//!
//! Invariant: the file is written atomically, and it is created before the tool runs, because a run
//! may have effects that cannot be repeated.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use toolcell::Profile;
use toolcell_i18n::msgid;

use crate::error::CliError;
use crate::fs::{check_replaceable, write_error};

/// An SVG file to be written after the run.
pub(crate) struct FlameGraphFile<'a> {
    path: &'a Path,
    part: PathBuf,
    file: File,
}

impl<'a> FlameGraphFile<'a> {
    /// Creates the temporary file, to fail early if the path is not writable.
    pub(crate) fn create(path: &'a Path) -> Result<Self, CliError> {
        if path == Path::new("-") {
            return Err(CliError::usage(
                msgid!("the flame graph cannot be written to standard output, which has the profile"),
                msgid!("pass a file: --svg profile.svg"),
            ));
        }
        check_replaceable(path)?;
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        let file = File::create_new(&part).map_err(write_error(path))?;
        Ok(Self { path, part, file })
    }

    /// Draws the flame graph and moves the file into place.
    pub(crate) fn finish(mut self, profile: &Profile) -> Result<(), CliError> {
        let drawn = profile.flame_graph()?;
        let written = self.file.write_all(drawn.as_bytes()).and_then(|()| self.file.sync_all());
        written.and_then(|()| fs::rename(&self.part, self.path)).map_err(write_error(self.path))
    }
}

impl Drop for FlameGraphFile<'_> {
    /// Removes an unfinished file.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}
