//! Creating folders and removing entries.
//!
//! Invariant: only regular files and empty folders are removed, because tools cannot create
//! anything else. An error reports the effects of an operation that failed half-way.

use std::io::ErrorKind;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, flock};
use toolcell_protocol::{Effects, OperationError};

use crate::files::FileKind;
use crate::files::dir::{GrantedDir, file_kind, nonblocking_options, open_subdir_nofollow, sync_dir, traversal_error};
use crate::files::error::{from_io, symlink_refused, wrong_kind};
use crate::files::path::{TEMP_FILE_PREFIX, ToolPath};

impl GrantedDir {
    pub(super) fn remove(&self, place: &ToolPath<'_>) -> Result<(), OperationError> {
        self.check_writable(place)?;
        let (parent, name) = self.open_parent(place, "removed")?;
        let metadata = parent.symlink_metadata(name).map_err(|error| from_io(place, &error))?;
        let removed = match file_kind(metadata.file_type()) {
            FileKind::File => parent.remove_file(name),
            FileKind::Folder => remove_empty_folder(&parent, name),
            FileKind::Other if metadata.is_symlink() => return Err(symlink_refused(place)),
            FileKind::Other => return Err(wrong_kind(place, "is neither a file nor a folder and cannot be removed")),
        };
        removed.map_err(|error| from_io(place, &error))?;
        sync_dir(&parent).map_err(|error| from_io(place, &error).with_effects(Effects::Committed))
    }

    pub(super) fn make_folder(&self, place: &ToolPath<'_>) -> Result<(), OperationError> {
        self.check_writable(place)?;
        let mut effects = Effects::None;
        let mut dir = self.dir.try_clone().map_err(|error| from_io(place, &error))?;
        for part in &place.parts {
            let below = match open_subdir_nofollow(&dir, part) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let made = match dir.create_dir(part) {
                        // Another process created it in the meantime.
                        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
                        Ok(()) => {
                            effects = Effects::Started;
                            sync_dir(&dir)
                        }
                        other => other,
                    };
                    made.map_err(|error| from_io(place, &error).with_effects(effects))?;
                    open_subdir_nofollow(&dir, part)
                }
                other => other,
            };
            dir = below.map_err(|error| traversal_error(place, &dir, part, &error).with_effects(effects))?;
            self.check_unprotected(place, &dir).map_err(|failure| failure.with_effects(effects))?;
        }
        Ok(())
    }
}

/// Removes a folder that is empty except for stale temporary files. Tools cannot see those, so no
/// tool could remove them.
fn remove_empty_folder(parent: &Dir, name: &str) -> std::io::Result<()> {
    match parent.remove_dir(name) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
            remove_stale_temp_files(&open_subdir_nofollow(parent, name)?)?;
            parent.remove_dir(name)
        }
        other => other,
    }
}

/// Removes the temporary files of writers that no longer run. A running writer holds a lock on its
/// file.
fn remove_stale_temp_files(dir: &Dir) -> std::io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(TEMP_FILE_PREFIX.as_bytes()) || !entry.file_type()?.is_file() {
            continue;
        }
        let file = dir.open_with(&name, nonblocking_options().read(true).follow(FollowSymlinks::No))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            dir.remove_file(&name)?;
        }
    }
    Ok(())
}
