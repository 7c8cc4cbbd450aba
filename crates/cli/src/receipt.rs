//! Writes receipts.
//!
//! Invariant: a file is there whole or not at all, and none that was there before is touched. That one can be written is known
//! before the tool runs, which may do what cannot be done twice.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use toolcell::{Lang, Receipt};

use crate::Streams;
use crate::failure::Failure;
use crate::output::unwritable;

/// Where a receipt is going to be.
pub(crate) struct Place<'a> {
    path: &'a Path,
    part: PathBuf,
    file: File,
}

impl<'a> Place<'a> {
    /// Makes sure that a file can be written that is not there yet.
    pub(crate) fn reserve(path: &'a Path) -> Result<Self, Failure> {
        if path.symlink_metadata().is_ok() {
            return Err(taken(path));
        }
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        let mut options = OpenOptions::new();
        // It has in it what the tool was given and saw.
        let opened = options.write(true).create_new(true).mode(0o600).open(&part);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => taken(&part),
            _ => unwritable(path)(error),
        })?;
        Ok(Self { path, part, file })
    }

    /// Writes it.
    pub(crate) fn keep(mut self, receipt: &Receipt, lang: Lang, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let text = receipt.to_text();
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(unwritable(self.path))?;
        // A link, unlike a new name, never takes the place of a file that came there meanwhile.
        fs::hard_link(&self.part, self.path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => taken(self.path),
            _ => unwritable(self.path)(error),
        })?;
        if !receipt.has_journal() {
            let (word, text) = match lang {
                Lang::En => ("warning", "the run read more than a receipt holds; it cannot be replayed"),
                Lang::Ja => ("警告", "実行が読み取った量がレシートの上限を超えたため、再現できません"),
                Lang::Zh => ("警告", "运行读取的内容超过回执的上限，无法重放"),
            };
            writeln!(streams.errors, "{word}{}{text}", lang.colon())?;
        }
        Ok(())
    }
}

impl Drop for Place<'_> {
    /// What was not linked is of no use to anybody.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

fn taken(path: &Path) -> Failure {
    let message = format!("{} is there already", path.display());
    Failure::said("file-exists", message, "name another file: receipts are not overwritten")
}
