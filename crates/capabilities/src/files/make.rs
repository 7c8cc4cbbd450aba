//! Making folders, and removing what is there.
//!
//! Invariant: only regular files and empty folders are removed; what else lies in a folder no tool has made. Where something
//! happened before a failure, the failure says so.

use std::io::ErrorKind;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, flock};

use crate::failure::{Effects, Failure};
use crate::files::FileKind;
use crate::files::error::{failed, through_link, wrong_kind};
use crate::files::folder::{Folder, down, kind, no_way, sync, unhurried};
use crate::files::place::{Place, UNFINISHED};

impl Folder {
    pub(super) fn remove(&self, place: &Place<'_>) -> Result<(), Failure> {
        self.must_be_writable(place)?;
        let (parent, name) = self.parent(place, "removed")?;
        let metadata = parent.symlink_metadata(name).map_err(|error| failed(place, &error))?;
        let removed = match kind(metadata.file_type()) {
            FileKind::File => parent.remove_file(name),
            FileKind::Folder => remove_folder(&parent, name),
            FileKind::Other if metadata.is_symlink() => return Err(through_link(place)),
            FileKind::Other => return Err(wrong_kind(place, "is neither a file nor a folder, and is not removed")),
        };
        removed.map_err(|error| failed(place, &error))?;
        sync(&parent).map_err(|error| failed(place, &error).with(Effects::Committed))
    }

    pub(super) fn make_folder(&self, place: &Place<'_>) -> Result<(), Failure> {
        self.must_be_writable(place)?;
        let mut effects = Effects::None;
        let mut dir = self.dir.try_clone().map_err(|error| failed(place, &error))?;
        for part in &place.parts {
            let below = match down(&dir, part) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let made = match dir.create_dir(part) {
                        // Somebody else made it just now.
                        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
                        Ok(()) => {
                            effects = Effects::Started;
                            sync(&dir)
                        }
                        other => other,
                    };
                    made.map_err(|error| failed(place, &error).with(effects))?;
                    down(&dir, part)
                }
                other => other,
            };
            dir = below.map_err(|error| no_way(place, &dir, part, &error).with(effects))?;
            self.must_be_unprotected(place, &dir).map_err(|failure| failure.with(effects))?;
        }
        Ok(())
    }
}

/// Removes a folder that nothing is in but files that nobody finished writing: no tool sees those, so none could remove them.
fn remove_folder(parent: &Dir, name: &str) -> std::io::Result<()> {
    match parent.remove_dir(name) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
            remove_unfinished(&down(parent, name)?)?;
            parent.remove_dir(name)
        }
        other => other,
    }
}

/// Removes the files that somebody was writing who is gone: who still is has them locked.
fn remove_unfinished(dir: &Dir) -> std::io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) || !entry.file_type()?.is_file() {
            continue;
        }
        let file = dir.open_with(&name, unhurried().read(true).follow(FollowSymlinks::No))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            dir.remove_file(&name)?;
        }
    }
    Ok(())
}
