//! A granted folder that was opened.
//!
//! Invariant: who goes on to change something goes down part by part and follows no link, so what is changed is where the path
//! says, whatever others put in the way meanwhile.

use std::io::ErrorKind;
use std::sync::Arc;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, FileType, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use toolcell_tool::{Access, FilesGrant};

use crate::failure::Failure;
use crate::files::FileKind;
use crate::files::error::{FolderError, failed, folder_itself, is_loop, protected, read_only, through_link};
use crate::files::place::Place;
use crate::files::protected::Guard;
use crate::files::quota::Quota;
use crate::meters::Meter;

/// A folder, and what a run may still do in it.
pub(super) struct Folder {
    pub(super) dir: Dir,
    access: Access,
    pub(super) written: Quota,
    pub(super) read: Quota,
    pub(super) guard: Arc<Guard>,
}

impl Folder {
    /// Opens a folder, unless something that is protected is in it, or around it. What it takes counts with the caller's.
    pub(super) fn open(
        grant: &FilesGrant,
        guard: &Arc<Guard>,
        meter: &Meter,
        caller: Option<&Self>,
    ) -> Result<Self, FolderError> {
        let opened = Dir::open_ambient_dir(&grant.path, cap_std::ambient_authority());
        let dir = opened.map_err(|source| FolderError::of(grant, source))?;
        // What was opened is what is looked at, whatever the path leads to by now.
        match guard.refuses(&dir, grant.access) {
            Ok(None) => {}
            Ok(Some(why)) => return Err(FolderError::protected(grant, why)),
            Err(source) => return Err(FolderError::of(grant, source)),
        }
        let taken = meter.folder(grant);
        let written = Quota::new(grant.bytes, taken.written, caller.map(|caller| &caller.written));
        let read = Quota::new(grant.read_bytes, taken.read, caller.map(|caller| &caller.read));
        Ok(Self { dir, access: grant.access, written, read, guard: Arc::clone(guard) })
    }

    /// Refuses where the folder is granted for reading.
    pub(super) fn must_be_writable(&self, place: &Place<'_>) -> Result<(), Failure> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(read_only(place)),
        }
    }

    /// The folder that something is in which is to be changed, and its name there. `what` cannot be done to the granted
    /// folder itself.
    pub(super) fn parent<'a>(&self, place: &Place<'a>, what: &str) -> Result<(Dir, &'a str), Failure> {
        let Some((name, above)) = place.parts.split_last() else { return Err(folder_itself(place, what)) };
        let mut dir = self.dir.try_clone().map_err(|error| failed(place, &error))?;
        for part in above {
            dir = down(&dir, part).map_err(|error| no_way(place, &dir, part, &error))?;
            self.must_be_unprotected(place, &dir)?;
        }
        Ok((dir, name))
    }

    /// Refuses a folder on the way down that holds something protected.
    pub(super) fn must_be_unprotected(&self, place: &Place<'_>, dir: &Dir) -> Result<(), Failure> {
        match self.guard.holds_folder(dir) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(protected(place)),
            Err(error) => Err(failed(place, &error)),
        }
    }
}

/// A folder in a folder, and no link to one.
pub(super) fn down(dir: &Dir, part: &str) -> std::io::Result<Dir> {
    dir.open_dir_nofollow(part)
}

/// Why there is no way down.
pub(super) fn no_way(place: &Place<'_>, dir: &Dir, part: &str, error: &std::io::Error) -> Failure {
    // A folder that was none a moment ago was a link then.
    let was_link = || dir.symlink_metadata(part).is_ok_and(|metadata| metadata.is_symlink() || metadata.is_dir());
    let is_none = error.kind() == ErrorKind::NotADirectory;
    if is_loop(error) || is_none && was_link() { through_link(place) } else { failed(place, error) }
}

/// What was found.
pub(super) fn kind(file_type: FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Other
    }
}

/// A file that nobody waits at, should it turn out to be a pipe or a terminal.
pub(super) fn unhurried() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    options
}

/// Makes what was done to the names in a folder outlast a loss of power.
pub(super) fn sync(dir: &Dir) -> std::io::Result<()> {
    dir.open(".")?.sync_all()
}
