//! The handle of a granted folder.
//!
//! Invariant: an operation that changes something opens the path component by component without
//! following symlinks. So the change happens where the path says, even if other processes replace
//! components meanwhile.

use std::io::ErrorKind;
use std::sync::Arc;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, FileType, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use toolcell_protocol::OperationError;
use toolcell_tool::{Access, FilesGrant};

use crate::files::FileKind;
use crate::files::error::{
    FolderError, from_io, granted_folder_itself, is_symlink_error, protected, read_only, symlink_refused,
};
use crate::files::path::ToolPath;
use crate::files::protected::ProtectedSet;
use crate::files::quota::Quota;
use crate::meters::Meter;

/// An opened folder with the remaining quotas of a run.
pub(super) struct GrantedDir {
    pub(super) dir: Dir,
    access: Access,
    pub(super) written: Quota,
    pub(super) read: Quota,
    pub(super) guard: Arc<ProtectedSet>,
}

impl GrantedDir {
    /// Opens a folder, unless it contains a protected path or is inside one. Usage also counts
    /// against the caller's quotas.
    pub(super) fn open(
        grant: &FilesGrant,
        guard: &Arc<ProtectedSet>,
        meter: &Meter,
        caller: Option<&Self>,
    ) -> Result<Self, FolderError> {
        let opened = Dir::open_ambient_dir(&grant.path, cap_std::ambient_authority());
        let dir = opened.map_err(|source| FolderError::from_io(grant, source))?;
        // The check examines the opened handle, since the path may lead elsewhere by now.
        match guard.refusal(&dir, grant.access) {
            Ok(None) => {}
            Ok(Some(why)) => return Err(FolderError::protected(grant, why)),
            Err(source) => return Err(FolderError::from_io(grant, source)),
        }
        let taken = meter.folder(grant);
        let written = Quota::new(grant.bytes, taken.written, caller.map(|caller| &caller.written));
        let read = Quota::new(grant.read_bytes, taken.read, caller.map(|caller| &caller.read));
        Ok(Self { dir, access: grant.access, written, read, guard: Arc::clone(guard) })
    }

    /// Fails if the folder is granted for reading only.
    pub(super) fn check_writable(&self, place: &ToolPath<'_>) -> Result<(), OperationError> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(read_only(place)),
        }
    }

    /// Opens the parent folder of an entry that will be changed, and returns it with the entry's
    /// name. `what` names the operation, for the error if the path is the granted folder itself.
    pub(super) fn open_parent<'a>(&self, place: &ToolPath<'a>, what: &str) -> Result<(Dir, &'a str), OperationError> {
        let Some((name, above)) = place.parts.split_last() else { return Err(granted_folder_itself(place, what)) };
        let mut dir = self.dir.try_clone().map_err(|error| from_io(place, &error))?;
        for part in above {
            dir = open_subdir_nofollow(&dir, part).map_err(|error| traversal_error(place, &dir, part, &error))?;
            self.check_unprotected(place, &dir)?;
        }
        Ok((dir, name))
    }

    /// Fails if a folder on the path is protected or contains a protected path.
    pub(super) fn check_unprotected(&self, place: &ToolPath<'_>, dir: &Dir) -> Result<(), OperationError> {
        match self.guard.protected_folder(dir) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(protected(place)),
            Err(error) => Err(from_io(place, &error)),
        }
    }
}

/// Opens a subfolder without following a symlink.
pub(super) fn open_subdir_nofollow(dir: &Dir, part: &str) -> std::io::Result<Dir> {
    dir.open_dir_nofollow(part)
}

/// Returns the error for a component of a path that cannot be opened.
pub(super) fn traversal_error(place: &ToolPath<'_>, dir: &Dir, part: &str, error: &std::io::Error) -> OperationError {
    // Opening failed with ENOTDIR, but the entry is a symlink or a folder now: it was a symlink,
    // which the traversal does not follow.
    let was_link = || dir.symlink_metadata(part).is_ok_and(|metadata| metadata.is_symlink() || metadata.is_dir());
    let is_none = error.kind() == ErrorKind::NotADirectory;
    if is_symlink_error(error) || is_none && was_link() { symlink_refused(place) } else { from_io(place, error) }
}

/// Converts a file type.
pub(super) fn file_kind(file_type: FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Other
    }
}

/// Returns options for opening a file without blocking, in case it is a pipe or a terminal.
pub(super) fn nonblocking_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    options
}

/// Syncs the entries of a folder to disk, so that they survive a power failure.
pub(super) fn sync_dir(dir: &Dir) -> std::io::Result<()> {
    dir.open(".")?.sync_all()
}
