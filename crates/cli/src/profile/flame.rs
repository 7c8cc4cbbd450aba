//! Draws flame graphs (Gregg, "The Flame Graph", 2016), as SVG.
//!
//! Invariant: a file is there whole or not at all, and that it can be written is known before the tool runs, which may do what
//! cannot be done twice. The same profile gives the same bytes.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use inferno::flamegraph::{self, Options};
use toolcell::{Profile, visible};

use crate::failure::Failure;
use crate::output::{replaceable, unwritable};

/// A file that a flame graph is going to be in.
pub(super) struct Drawing<'a> {
    path: &'a Path,
    part: PathBuf,
    file: File,
}

impl<'a> Drawing<'a> {
    /// Makes sure that the file can be written.
    pub(super) fn begin(path: &'a Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            let message = "a flame graph is not written to standard output, where the profile is".to_owned();
            return Err(Failure::Typed { message, hint: "name a file: --svg profile.svg" });
        }
        replaceable(path)?;
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        let file = File::create_new(&part).map_err(unwritable(path))?;
        Ok(Self { path, part, file })
    }

    /// Draws it.
    pub(super) fn finish(self, profile: &Profile) -> Result<(), Failure> {
        let folded: Vec<String> = profile.folded().iter().map(|line| drawn(line)).collect();
        if folded.is_empty() {
            let message = format!("{} burned no fuel, so there is nothing to draw", profile.tool);
            return Err(Failure::said("profile-empty", message, "see why it does not load"));
        }
        let mut options = Options::default();
        options.title = format!("{}: {} fuel", drawn(&profile.tool), profile.fuel);
        "fuel".clone_into(&mut options.count_name);
        options.deterministic = true;
        let mut writer = BufWriter::new(&self.file);
        let drawn = flamegraph::from_lines(&mut options, folded.iter().map(String::as_str), &mut writer);
        drawn.and_then(|()| writer.flush()).map_err(unwritable(self.path))?;
        drop(writer);
        self.file.sync_all().and_then(|()| fs::rename(&self.part, self.path)).map_err(unwritable(self.path))
    }
}

impl Drop for Drawing<'_> {
    /// What was not finished is of no use to anybody.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

/// Text as XML can hold it.
fn drawn(text: &str) -> String {
    visible(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
