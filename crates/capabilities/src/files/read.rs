//! Reading, listing, and looking.
//!
//! Invariant: a file is looked at before it is opened, and again once it is open, so no pipe and no device is read whatever was
//! put in its place between. Nothing larger than what is left is read, and what grows meanwhile is counted on.

use std::io::{ErrorKind, Read as _};

use cap_std::fs::{File, Metadata};

use crate::failure::Failure;
use crate::files::error::{failed, hidden, no_file, too_large, too_much};
use crate::files::folder::{Folder, kind, unhurried};
use crate::files::place::{Place, UNFINISHED};
use crate::files::quota::Taken;
use crate::files::{FileKind, Listed, Stat};

/// The largest file that is read, in bytes: it is handed over as a whole.
pub const FILE_LIMIT: u64 = 256 << 20;
/// The most names of a folder that are listed.
pub const LIST_LIMIT: usize = 10_000;
/// How much is read at once of what came after a file was looked at.
const PIECE: u64 = 64 << 10;
/// The cap of a grant that counts here.
const CAP: &str = "read_bytes";

impl Folder {
    pub(super) fn read(&self, place: &Place<'_>) -> Result<Vec<u8>, Failure> {
        if place.parts.is_empty() {
            return Err(no_file(place, FileKind::Folder));
        }
        let below = place.below();
        must_be_file(place, &self.dir.metadata(&below).map_err(|error| failed(place, &error))?)?;
        let file = self.dir.open_with(&below, unhurried().read(true)).map_err(|error| failed(place, &error))?;
        let metadata = file.metadata().map_err(|error| failed(place, &error))?;
        must_be_file(place, &metadata)?;
        // What was opened counts, whatever name it has here.
        if self.guard.hides_file(&metadata) {
            return Err(hidden(place));
        }
        let size = metadata.len();
        let taken = self.read.take(size).map_err(|left| too_much(place, size, left, self.read.most(), CAP))?;
        if size > FILE_LIMIT {
            return Err(too_large(place, "bytes", FILE_LIMIT));
        }
        self.read_from(place, file, size, taken)
    }

    /// Reads a file that had so many bytes, which were taken from the quota already.
    fn read_from(&self, place: &Place<'_>, file: File, size: u64, mut taken: Taken<'_>) -> Result<Vec<u8>, Failure> {
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let mut file = file.take(size);
        file.read_to_end(&mut content).map_err(|error| failed(place, &error))?;
        loop {
            file.set_limit(PIECE);
            let before = content.len();
            file.read_to_end(&mut content).map_err(|error| failed(place, &error))?;
            let grown = (content.len() - before) as u64;
            if grown == 0 {
                taken.keep_only(content.len() as u64);
                return Ok(content);
            }
            let most = self.read.most();
            taken.more(grown).map_err(|left| too_much(place, content.len() as u64, left, most, CAP))?;
            if content.len() as u64 > FILE_LIMIT {
                return Err(too_large(place, "bytes", FILE_LIMIT));
            }
        }
    }

    pub(super) fn list(&self, place: &Place<'_>) -> Result<Vec<Listed>, Failure> {
        let said = |error: std::io::Error| failed(place, &error);
        let entries = match &*place.below() {
            "" => self.dir.entries(),
            below => self.dir.open_dir(below).and_then(|dir| dir.entries()),
        };
        let mut all = Vec::new();
        for entry in entries.map_err(said)? {
            let entry = entry.map_err(said)?;
            let name = entry.file_name();
            let kind = match entry.file_type() {
                // It is gone by now.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                other => kind(other.map_err(said)?),
            };
            let listed = match name.into_string() {
                Ok(name) if name.starts_with(UNFINISHED) => continue,
                Ok(name) if !name.contains('\\') => Listed { name, kind },
                // No path can say these.
                Ok(name) => Listed { name, kind: FileKind::Other },
                Err(name) => Listed { name: name.to_string_lossy().into_owned(), kind: FileKind::Other },
            };
            if all.len() == LIST_LIMIT {
                return Err(too_large(place, "names in it", LIST_LIMIT as u64));
            }
            all.push(listed);
        }
        all.sort_by(|one, two| one.name.cmp(&two.name));
        Ok(all)
    }

    pub(super) fn stat(&self, place: &Place<'_>) -> Result<Option<Stat>, Failure> {
        let metadata = match &*place.below() {
            "" => self.dir.dir_metadata(),
            below => self.dir.metadata(below),
        };
        let metadata = match metadata {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            other => other.map_err(|error| failed(place, &error))?,
        };
        let kind = kind(metadata.file_type());
        let size = if kind == FileKind::File { metadata.len() } else { 0 };
        Ok(Some(Stat { kind, size, modified_ms: modified_ms(&metadata) }))
    }
}

fn must_be_file(place: &Place<'_>, metadata: &Metadata) -> Result<(), Failure> {
    match kind(metadata.file_type()) {
        FileKind::File => Ok(()),
        other => Err(no_file(place, other)),
    }
}

/// When something was changed; 0 where the system does not know.
fn modified_ms(metadata: &Metadata) -> i64 {
    let epoch = std::time::SystemTime::UNIX_EPOCH;
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.into_std().duration_since(epoch) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |before| -before),
    }
}
