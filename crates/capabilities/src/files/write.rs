//! Writing files.
//!
//! Invariant: a file that is made or replaced is written beside its place, synced, and put there in one step, so nobody reads
//! half of it and a full disk leaves what was there. Where that step was taken, a failure says `committed`; only appending can
//! break in the middle, and says `started` then.

use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{Error, ErrorKind, Write as _};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _};
use rustix::fs::{FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

use crate::failure::{Effects, Failure};
use crate::files::error::{exists, failed, no_file, protected, through_link, too_much};
use crate::files::folder::{Folder, kind, sync, unhurried};
use crate::files::place::{Place, UNFINISHED};
use crate::files::quota::Taken;
use crate::files::{FileKind, WriteMode};

/// Who may do what with a file that is made, but for what the process takes away from everything that it makes.
const MODE: u32 = 0o666;
/// What of the mode of a file goes over to the one that replaces it.
const PERMISSIONS: u32 = 0o777;
/// The cap of a grant that counts here.
const CAP: &str = "bytes";

impl Folder {
    pub(super) fn write(&self, place: &Place<'_>, content: &[u8], mode: WriteMode) -> Result<(), Failure> {
        self.must_be_writable(place)?;
        let (parent, name) = self.parent(place, "written")?;
        let there = self.there(place, &parent, name)?;
        if mode == WriteMode::Create && there.is_some() {
            return Err(exists(place));
        }
        let permissions = match there {
            None => None,
            Some(There::Link) => return Err(through_link(place)),
            Some(There::File { permissions }) => Some(permissions),
            Some(There::Else(kind)) => return Err(no_file(place, kind)),
        };
        let bytes = content.len() as u64;
        let taken = self.written.take(bytes).map_err(|left| too_much(place, bytes, left, self.written.most(), CAP))?;
        match mode {
            WriteMode::Append => self.append(place, &parent, name, content, taken),
            WriteMode::Replace | WriteMode::Create => {
                let (unfinished, file) = beside(&parent, permissions).map_err(|error| failed(place, &error))?;
                // From here on there is content on the disk, also where it is taken away again.
                taken.keep();
                let put = fill(file, content, permissions).and_then(|()| match mode {
                    WriteMode::Create => put_first(&parent, &unfinished, name),
                    WriteMode::Replace | WriteMode::Append => parent.rename(&unfinished, &parent, name),
                });
                put.map_err(|error| {
                    // Where it stays it is seen by nobody.
                    let _ = parent.remove_file(&unfinished);
                    failed(place, &error)
                })?;
                sync(&parent).map_err(|error| failed(place, &error).with(Effects::Committed))
            }
        }
    }

    fn there(&self, place: &Place<'_>, parent: &Dir, name: &str) -> Result<Option<There>, Failure> {
        let metadata = match parent.symlink_metadata(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|error| failed(place, &error))?,
        };
        Ok(Some(match kind(metadata.file_type()) {
            FileKind::File if self.guard.holds_file(&metadata) => return Err(protected(place)),
            FileKind::File => There::File { permissions: metadata.mode() & PERMISSIONS },
            FileKind::Other if metadata.is_symlink() => There::Link,
            other => There::Else(other),
        }))
    }

    fn append(
        &self,
        place: &Place<'_>,
        parent: &Dir,
        name: &str,
        content: &[u8],
        taken: Taken<'_>,
    ) -> Result<(), Failure> {
        let (mut file, made) = open_end(parent, name).map_err(|error| failed(place, &error))?;
        let begun = if made { Effects::Started } else { Effects::None };
        let metadata = file.metadata().map_err(|error| failed(place, &error).with(begun))?;
        if !metadata.is_file() {
            return Err(no_file(place, kind(metadata.file_type())));
        }
        // What was opened may be another file than what was looked at.
        if self.guard.holds_file(&metadata) {
            return Err(protected(place));
        }
        taken.keep();
        let mut rest = content;
        while !rest.is_empty() {
            match file.write(rest) {
                Ok(written @ 1..) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => {
                    let error = other.err().unwrap_or_else(|| Error::from(ErrorKind::WriteZero));
                    let effects = if rest.len() < content.len() { Effects::Started } else { begun };
                    return Err(failed(place, &error).with(effects));
                }
            }
        }
        let synced = file.sync_all().and_then(|()| if made { sync(parent) } else { Ok(()) });
        synced.map_err(|error| failed(place, &error).with(Effects::Started))
    }
}

/// What is in the place of a file that is to be written.
enum There {
    Link,
    File { permissions: u32 },
    Else(FileKind),
}

/// A new file in a folder, under a name that nobody else takes.
fn beside(parent: &Dir, permissions: Option<u32>) -> std::io::Result<(String, File)> {
    loop {
        // Keys of the standard library's hash maps come from the system's random numbers.
        let number = std::collections::hash_map::RandomState::new().build_hasher().finish();
        let name = format!("{UNFINISHED}{number:016x}");
        let mut options = OpenOptions::new();
        match parent.open_with(&name, options.write(true).create_new(true).mode(permissions.unwrap_or(MODE))) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => {
                let file = other?;
                // Who finds it locked leaves it alone. Where nothing can be locked, nobody takes it away.
                let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
                return Ok((name, file));
            }
        }
    }
}

fn fill(mut file: File, content: &[u8], permissions: Option<u32>) -> std::io::Result<()> {
    if let Some(permissions) = permissions {
        file.set_permissions(Permissions::from_mode(permissions))?;
    }
    file.write_all(content)?;
    file.sync_all()
}

/// Puts a file in its place, unless something is there.
fn put_first(parent: &Dir, unfinished: &str, name: &str) -> std::io::Result<()> {
    match renameat_with(parent, unfinished, parent, name, RenameFlags::NOREPLACE) {
        // Not every file system can; each that cannot gives a file two names, or says so.
        Err(Errno::INVAL | Errno::NOSYS) => {
            parent.hard_link(unfinished, parent, name)?;
            // Where the other name stays it is seen by nobody.
            let _ = parent.remove_file(unfinished);
            Ok(())
        }
        other => Ok(other?),
    }
}

/// Opens a file to write at its end, and says whether it was made.
fn open_end(parent: &Dir, name: &str) -> std::io::Result<(File, bool)> {
    let mut options = unhurried();
    options.append(true).follow(FollowSymlinks::No);
    match parent.open_with(name, &options) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        other => return other.map(|file| (file, false)),
    }
    match parent.open_with(name, options.clone().create_new(true).mode(MODE)) {
        // Somebody else made it just now.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            parent.open_with(name, &options).map(|file| (file, false))
        }
        other => other.map(|file| (file, true)),
    }
}
