//! Draws flame graphs (Gregg, "The Flame Graph", 2016) as SVG.
//!
//! Invariant: the file is written atomically, and it is created before the tool runs, because a run
//! may have effects that cannot be repeated. The same profile yields the same bytes.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use inferno::flamegraph::{self, Options};
use toolcell::{Profile, escape_control_chars};
use toolcell_error::ErrorCode;
use toolcell_i18n::{message, msgid};

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
    pub(crate) fn finish(self, profile: &Profile) -> Result<(), CliError> {
        let folded: Vec<String> = profile.folded_stacks().iter().map(|line| escape_for_xml(line)).collect();
        if folded.is_empty() {
            let message = message!("{tool} used no fuel, so there is nothing to draw", tool = profile.tool);
            return Err(CliError::coded(ErrorCode::ProfileEmpty, message, msgid!("check why the tool does not load")));
        }
        let mut options = Options::default();
        options.title = format!("{}: {} fuel", escape_for_xml(&profile.tool), profile.fuel);
        "fuel".clone_into(&mut options.count_name);
        options.deterministic = true;
        let mut writer = BufWriter::new(&self.file);
        let drawn = flamegraph::from_lines(&mut options, folded.iter().map(String::as_str), &mut writer);
        drawn.and_then(|()| writer.flush()).map_err(write_error(self.path))?;
        drop(writer);
        self.file.sync_all().and_then(|()| fs::rename(&self.part, self.path)).map_err(write_error(self.path))
    }
}

impl Drop for FlameGraphFile<'_> {
    /// Removes an unfinished file.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

/// Replaces characters that XML cannot represent.
fn escape_for_xml(text: &str) -> String {
    escape_control_chars(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
