//! Reading files, listing folders, and metadata.
//!
//! Invariant: the type of a file is checked before it is opened and again on the open handle, so no
//! pipe or device is read even if the entry is swapped in between (TOCTOU). A file that exceeds the
//! remaining quota is not read; if it grows during the read, the growth is counted too.

use std::io::{ErrorKind, Read as _};

use cap_std::fs::{File, Metadata};
use toolcell_protocol::OperationError;

use crate::files::dir::{GrantedDir, file_kind, nonblocking_options};
use crate::files::error::{from_io, hidden, not_a_file, quota_exceeded, too_large};
use crate::files::path::{TEMP_FILE_PREFIX, ToolPath};
use crate::files::quota::Reservation;
use crate::files::{DirEntry, FileKind, Stat};

/// The maximum size of a file that can be read, in bytes. A file is passed to the tool as a whole.
pub const FILE_LIMIT: u64 = 256 << 20;
/// The maximum number of entries that a folder listing returns.
pub const LIST_LIMIT: usize = 10_000;
/// The number of bytes read at once from a file that grew after its size was taken.
const CHUNK_BYTES: u64 = 64 << 10;
/// The limit in the grant that applies here, for messages.
const CAP: &str = "read_bytes";

impl GrantedDir {
    pub(super) fn read(&self, place: &ToolPath<'_>) -> Result<Vec<u8>, OperationError> {
        if place.parts.is_empty() {
            return Err(not_a_file(place, FileKind::Folder));
        }
        let below = place.relative();
        check_file(place, &self.dir.metadata(&below).map_err(|error| from_io(place, &error))?)?;
        let file =
            self.dir.open_with(&below, nonblocking_options().read(true)).map_err(|error| from_io(place, &error))?;
        let metadata = file.metadata().map_err(|error| from_io(place, &error))?;
        check_file(place, &metadata)?;
        // The check uses the open handle, whatever name led to it.
        if self.guard.is_hidden_file(&metadata) {
            return Err(hidden(place));
        }
        let size = metadata.len();
        let taken =
            self.read.reserve(size).map_err(|left| quota_exceeded(place, size, left, self.read.limit(), CAP))?;
        if size > FILE_LIMIT {
            return Err(too_large(place, "bytes", FILE_LIMIT));
        }
        self.read_from(place, file, size, taken)
    }

    /// Reads a file whose initial size was already reserved from the quota.
    fn read_from(
        &self,
        place: &ToolPath<'_>,
        file: File,
        size: u64,
        mut taken: Reservation<'_>,
    ) -> Result<Vec<u8>, OperationError> {
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let mut file = file.take(size);
        file.read_to_end(&mut content).map_err(|error| from_io(place, &error))?;
        loop {
            file.set_limit(CHUNK_BYTES);
            let before = content.len();
            file.read_to_end(&mut content).map_err(|error| from_io(place, &error))?;
            let grown = (content.len() - before) as u64;
            if grown == 0 {
                taken.commit_partial(content.len() as u64);
                return Ok(content);
            }
            let most = self.read.limit();
            taken.extend(grown).map_err(|left| quota_exceeded(place, content.len() as u64, left, most, CAP))?;
            if content.len() as u64 > FILE_LIMIT {
                return Err(too_large(place, "bytes", FILE_LIMIT));
            }
        }
    }

    pub(super) fn list(&self, place: &ToolPath<'_>) -> Result<Vec<DirEntry>, OperationError> {
        let said = |error: std::io::Error| from_io(place, &error);
        let entries = match &*place.relative() {
            "" => self.dir.entries(),
            below => self.dir.open_dir(below).and_then(|dir| dir.entries()),
        };
        let mut all = Vec::new();
        for entry in entries.map_err(said)? {
            let entry = entry.map_err(said)?;
            let name = entry.file_name();
            let kind = match entry.file_type() {
                // The entry was removed during the listing.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                other => file_kind(other.map_err(said)?),
            };
            let listed = match name.into_string() {
                Ok(name) if name.starts_with(TEMP_FILE_PREFIX) => continue,
                Ok(name) if !name.contains('\\') => DirEntry { name, kind },
                // A tool's path cannot contain such names.
                Ok(name) => DirEntry { name, kind: FileKind::Other },
                Err(name) => DirEntry { name: name.to_string_lossy().into_owned(), kind: FileKind::Other },
            };
            if all.len() == LIST_LIMIT {
                return Err(too_large(place, "entries", LIST_LIMIT as u64));
            }
            all.push(listed);
        }
        all.sort_by(|one, two| one.name.cmp(&two.name));
        Ok(all)
    }

    pub(super) fn stat(&self, place: &ToolPath<'_>) -> Result<Option<Stat>, OperationError> {
        let metadata = match &*place.relative() {
            "" => self.dir.dir_metadata(),
            below => self.dir.metadata(below),
        };
        let metadata = match metadata {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            other => other.map_err(|error| from_io(place, &error))?,
        };
        let kind = file_kind(metadata.file_type());
        let size = if kind == FileKind::File { metadata.len() } else { 0 };
        Ok(Some(Stat { kind, size, modified_ms: modified_ms(&metadata) }))
    }
}

fn check_file(place: &ToolPath<'_>, metadata: &Metadata) -> Result<(), OperationError> {
    match file_kind(metadata.file_type()) {
        FileKind::File => Ok(()),
        other => Err(not_a_file(place, other)),
    }
}

/// Returns the time of the last modification, in milliseconds since the Unix epoch; 0 if the system
/// does not know it.
fn modified_ms(metadata: &Metadata) -> i64 {
    let epoch = std::time::SystemTime::UNIX_EPOCH;
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.into_std().duration_since(epoch) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |before| -before),
    }
}
