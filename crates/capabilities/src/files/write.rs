//! Writing files.
//!
//! Invariant: a file is created or replaced by writing a temporary file in the same folder, syncing
//! it, and renaming it. So readers never see partial content, and a full disk leaves the old file
//! intact. An error after the rename reports `committed`. Only appending can fail half-way, and
//! then reports `started`.

use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{Error, ErrorKind, Write as _};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _};
use rustix::fs::{FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;
use toolcell_protocol::{Effects, OperationError, WriteMode};

use crate::files::FileKind;
use crate::files::dir::{GrantedDir, file_kind, nonblocking_options, sync_dir};
use crate::files::error::{already_exists, from_io, not_a_file, protected, quota_exceeded, symlink_refused};
use crate::files::path::{TEMP_FILE_PREFIX, ToolPath};
use crate::files::quota::Reservation;

/// The mode of a new file, before the umask applies.
const DEFAULT_MODE: u32 = 0o666;
/// The mode bits that a replacement inherits from the file it replaces.
const PERMISSION_BITS: u32 = 0o777;
/// The limit in the grant that applies here, for messages.
const CAP: &str = "bytes";

impl GrantedDir {
    pub(super) fn write(&self, place: &ToolPath<'_>, content: &[u8], mode: WriteMode) -> Result<(), OperationError> {
        self.check_writable(place)?;
        let (parent, name) = self.open_parent(place, "written")?;
        let there = self.existing_entry(place, &parent, name)?;
        if mode == WriteMode::Create && there.is_some() {
            return Err(already_exists(place));
        }
        let permissions = match there {
            None => None,
            Some(ExistingEntry::Symlink) => return Err(symlink_refused(place)),
            Some(ExistingEntry::File { permissions }) => Some(permissions),
            Some(ExistingEntry::Other(kind)) => return Err(not_a_file(place, kind)),
        };
        let bytes = content.len() as u64;
        let taken = self
            .written
            .reserve(bytes)
            .map_err(|left| quota_exceeded(place, bytes, left, self.written.limit(), CAP))?;
        match mode {
            WriteMode::Append => self.append(place, &parent, name, content, taken),
            WriteMode::Replace | WriteMode::Create => {
                let (unfinished, file) =
                    create_temp_file(&parent, permissions).map_err(|error| from_io(place, &error))?;
                // From here on content reaches the disk, so it counts even if the temporary file is
                // removed again.
                taken.commit();
                let put = write_and_sync(file, content, permissions).and_then(|()| match mode {
                    WriteMode::Create => rename_noreplace(&parent, &unfinished, name),
                    WriteMode::Replace | WriteMode::Append => parent.rename(&unfinished, &parent, name),
                });
                put.map_err(|error| {
                    // If removal fails, the file stays invisible to tools.
                    let _ = parent.remove_file(&unfinished);
                    from_io(place, &error)
                })?;
                sync_dir(&parent).map_err(|error| from_io(place, &error).with_effects(Effects::Committed))
            }
        }
    }

    fn existing_entry(
        &self,
        place: &ToolPath<'_>,
        parent: &Dir,
        name: &str,
    ) -> Result<Option<ExistingEntry>, OperationError> {
        let metadata = match parent.symlink_metadata(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|error| from_io(place, &error))?,
        };
        Ok(Some(match file_kind(metadata.file_type()) {
            FileKind::File if self.guard.is_protected_file(&metadata) => return Err(protected(place)),
            FileKind::File => ExistingEntry::File { permissions: metadata.mode() & PERMISSION_BITS },
            FileKind::Other if metadata.is_symlink() => ExistingEntry::Symlink,
            other => ExistingEntry::Other(other),
        }))
    }

    fn append(
        &self,
        place: &ToolPath<'_>,
        parent: &Dir,
        name: &str,
        content: &[u8],
        taken: Reservation<'_>,
    ) -> Result<(), OperationError> {
        let (mut file, made) = open_append(parent, name).map_err(|error| from_io(place, &error))?;
        let begun = if made { Effects::Started } else { Effects::None };
        let metadata = file.metadata().map_err(|error| from_io(place, &error).with_effects(begun))?;
        if !metadata.is_file() {
            return Err(not_a_file(place, file_kind(metadata.file_type())));
        }
        // The opened file may differ from the one that was checked (TOCTOU).
        if self.guard.is_protected_file(&metadata) {
            return Err(protected(place));
        }
        taken.commit();
        let mut rest = content;
        while !rest.is_empty() {
            match file.write(rest) {
                Ok(written @ 1..) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => {
                    let error = other.err().unwrap_or_else(|| Error::from(ErrorKind::WriteZero));
                    let effects = if rest.len() < content.len() { Effects::Started } else { begun };
                    return Err(from_io(place, &error).with_effects(effects));
                }
            }
        }
        let synced = file.sync_all().and_then(|()| if made { sync_dir(parent) } else { Ok(()) });
        synced.map_err(|error| from_io(place, &error).with_effects(Effects::Started))
    }
}

/// The existing entry at the path of a write.
enum ExistingEntry {
    Symlink,
    File { permissions: u32 },
    Other(FileKind),
}

/// Creates a temporary file with a unique random name in a folder.
fn create_temp_file(parent: &Dir, permissions: Option<u32>) -> std::io::Result<(String, File)> {
    loop {
        // The keys of the standard library's hash maps are seeded from the system's random numbers.
        let number = std::collections::hash_map::RandomState::new().build_hasher().finish();
        let name = format!("{TEMP_FILE_PREFIX}{number:016x}");
        let mut options = OpenOptions::new();
        match parent.open_with(&name, options.write(true).create_new(true).mode(permissions.unwrap_or(DEFAULT_MODE))) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => {
                let file = other?;
                // The lock keeps other processes from removing the file as stale. On file systems
                // without locks, nothing removes it.
                let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
                return Ok((name, file));
            }
        }
    }
}

fn write_and_sync(mut file: File, content: &[u8], permissions: Option<u32>) -> std::io::Result<()> {
    if let Some(permissions) = permissions {
        file.set_permissions(Permissions::from_mode(permissions))?;
    }
    file.write_all(content)?;
    file.sync_all()
}

/// Renames a file to its final name, unless an entry of that name exists.
fn rename_noreplace(parent: &Dir, unfinished: &str, name: &str) -> std::io::Result<()> {
    match renameat_with(parent, unfinished, parent, name, RenameFlags::NOREPLACE) {
        // File systems without RENAME_NOREPLACE: create a hard link instead, which also fails if
        // the name exists.
        Err(Errno::INVAL | Errno::NOSYS) => {
            parent.hard_link(unfinished, parent, name)?;
            // If removal fails, the temporary name stays invisible to tools.
            let _ = parent.remove_file(unfinished);
            Ok(())
        }
        other => Ok(other?),
    }
}

/// Opens a file for appending, and returns whether it was created.
fn open_append(parent: &Dir, name: &str) -> std::io::Result<(File, bool)> {
    let mut options = nonblocking_options();
    options.append(true).follow(FollowSymlinks::No);
    match parent.open_with(name, &options) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        other => return other.map(|file| (file, false)),
    }
    match parent.open_with(name, options.clone().create_new(true).mode(DEFAULT_MODE)) {
        // Another process created it in the meantime.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            parent.open_with(name, &options).map(|file| (file, false))
        }
        other => other.map(|file| (file, true)),
    }
}
