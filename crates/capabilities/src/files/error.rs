//! What is said where a folder does not open, and where something in it is not done.
//!
//! Invariant: each message names the path as the tool said it, with nothing in it that a terminal would obey, and says what to
//! do. Where a folder is on this machine no tool is told.

use std::io::{Error, ErrorKind};

use rustix::io::Errno;
use toolcell_tool::{FilesGrant, FolderName};

use crate::failure::Failure;
use crate::files::FileKind;
use crate::files::place::Place;

/// The names of errors, as tools see them.
const TYPE: &str = "TypeError";
const DENIED: &str = "NotAllowedError";
const QUOTA: &str = "QuotaExceededError";
/// How much of a path is shown, in characters.
const SHOWN: usize = 200;

/// Why a granted folder does not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It is not there, or it is no folder.
    #[error("the folder `{name}` is not at {path}: {source}")]
    Missing {
        /// What it is called.
        name: FolderName,
        /// Where it should be.
        path: String,
        /// What the system said.
        source: Error,
    },
    /// It cannot be opened.
    #[error("the folder `{name}` at {path} cannot be opened: {source}")]
    Denied {
        /// What it is called.
        name: FolderName,
        /// Where it is.
        path: String,
        /// What the system said.
        source: Error,
    },
    /// Something that decides what tools may do is in it, or around it.
    #[error("the folder `{name}` at {path} is not granted: {why}")]
    Protected {
        /// What it is called.
        name: FolderName,
        /// Where it is.
        path: String,
        /// What is in it, or what it is in, and what no tool may do with that.
        why: String,
    },
}

impl FolderError {
    pub(super) fn of(grant: &FilesGrant, source: Error) -> Self {
        let (name, path) = (grant.name.clone(), grant.path.display().to_string().escape_debug().to_string());
        match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Missing { name, path, source },
            _ => Self::Denied { name, path, source },
        }
    }

    pub(super) fn protected(grant: &FilesGrant, why: String) -> Self {
        let path = grant.path.display().to_string().escape_debug().to_string();
        Self::Protected { name: grant.name.clone(), path, why }
    }

    /// What a tool is told: not where folders are on this machine.
    #[must_use]
    pub fn to_tool(&self) -> String {
        match self {
            Self::Missing { name, .. } => format!("the folder `{name}` that it is granted is not there"),
            Self::Denied { name, .. } => format!("the folder `{name}` that it is granted cannot be opened"),
            Self::Protected { name, .. } => format!("the folder `{name}` that it is granted is protected"),
        }
    }

    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "files-missing",
            Self::Denied { .. } => "files-denied",
            Self::Protected { .. } => "files-protected",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "make the folder, or correct its `path` in the policy",
            Self::Denied { .. } => "give this user the permission to open it, or name another `path` in the policy",
            Self::Protected { .. } => {
                "name a `path` in the policy that is apart from it; where only changing is refused, `access = \"read\"` will do"
            }
        }
    }
}

/// A text in one line, and not too much of it.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

pub(super) fn wrong_path(path: &str, why: &str) -> Failure {
    Failure::nothing_done(TYPE, "files-path", format!("`{}` is no path of a file: {why}", shown(path)))
}

/// No folder of this name is granted.
pub(super) fn no_folder<'a>(place: &Place<'_>, granted: impl Iterator<Item = &'a String>) -> Failure {
    let name = shown(place.folder);
    let granted = granted.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let granted = if granted.is_empty() { "none is".to_owned() } else { format!("granted: {granted}") };
    let line = match FolderName::parse(place.folder) {
        Ok(_) => format!("`[[grants.tools.TOOL.files]] name = \"{name}\", path = \"…\"` in a policy grants it"),
        Err(_) => "a path starts with the name of a granted folder".to_owned(),
    };
    Failure::nothing_done(DENIED, "files-not-granted", format!("no folder `{name}` is granted ({granted}); {line}"))
}

/// The folder is granted for reading only.
pub(super) fn read_only(place: &Place<'_>) -> Failure {
    let message = format!(
        "`{}` cannot be changed: the folder `{}` is granted for reading; `access = \"write\"` in its grant lets a tool \
         change it",
        place.shown(),
        place.folder
    );
    Failure::nothing_done(DENIED, "files-not-granted", message)
}

/// What is there decides what tools may do.
pub(super) fn protected(place: &Place<'_>) -> Failure {
    let message = format!(
        "`{}` cannot be changed: it decides what tools may do, or leads to what does; write to another path",
        place.shown()
    );
    Failure::nothing_done(DENIED, "files-protected", message)
}

/// What is there holds secrets.
pub(super) fn hidden(place: &Place<'_>) -> Failure {
    let message =
        format!("`{}` cannot be read: it holds secrets that no tool may see; read another file", place.shown());
    Failure::nothing_done(DENIED, "files-protected", message)
}

/// What is there is not of the kind that it would have to be.
pub(super) fn wrong_kind(place: &Place<'_>, why: &str) -> Failure {
    Failure::nothing_done(TYPE, "files-kind", format!("`{}` {why}", place.shown()))
}

/// What there is instead of a regular file.
pub(super) fn no_file(place: &Place<'_>, kind: FileKind) -> Failure {
    wrong_kind(
        place,
        match kind {
            FileKind::Folder => "is a folder; name a file in it",
            FileKind::File | FileKind::Other => "is no regular file; name one that is",
        },
    )
}

/// Something is there that must not be.
pub(super) fn exists(place: &Place<'_>) -> Failure {
    let message = format!("`{}` is there already; write with the mode `replace`, or take another name", place.shown());
    Failure::nothing_done("Error", "files-exists", message)
}

/// A link is where nothing is done through a link.
pub(super) fn through_link(place: &Place<'_>) -> Failure {
    let message = format!("`{}` is or goes through a link; name what it leads to", place.shown());
    Failure::nothing_done(DENIED, "files-denied", message)
}

/// The folder itself is neither removed nor written.
pub(super) fn folder_itself(place: &Place<'_>, what: &str) -> Failure {
    wrong_kind(place, &format!("is the granted folder itself and cannot be {what}; name something in it"))
}

/// More bytes than there may be, ever or by now.
pub(super) fn too_much(place: &Place<'_>, bytes: u64, left: u64, most: u64, cap: &str) -> Failure {
    let of = format!("`{cap}` in the grant of `{}` says how many bytes a run may take", place.folder);
    let shown = place.shown();
    if bytes > most {
        let message = format!("`{shown}` would take {bytes} bytes, the limit is {most}; {of}");
        Failure::nothing_done(QUOTA, "files-too-large", message)
    } else {
        let message = format!("`{shown}` would take {bytes} bytes, and {left} of {most} are left; {of}");
        Failure::nothing_done(QUOTA, "files-quota", message)
    }
}

/// More than is ever handed over at once.
pub(super) fn too_large(place: &Place<'_>, what: &str, limit: u64) -> Failure {
    let message = format!("`{}` has more than {limit} {what}, which is the limit; make it smaller", place.shown());
    Failure::nothing_done(QUOTA, "files-too-large", message)
}

/// What the system says, in the words of a tool.
pub(super) fn failed(place: &Place<'_>, error: &Error) -> Failure {
    let path = place.shown();
    let not_allowed = |message| Failure::nothing_done(DENIED, "files-denied", message);
    let disk = |message| Failure::nothing_done("Error", "files-disk", message);
    match error.kind() {
        ErrorKind::NotFound => {
            let message = format!("`{path}` is not there; list the folder that it should be in");
            Failure::nothing_done("NotFoundError", "files-missing", message)
        }
        ErrorKind::AlreadyExists => exists(place),
        ErrorKind::NotADirectory => wrong_kind(place, "is no folder, or goes through what is none; list the one above"),
        ErrorKind::IsADirectory => no_file(place, FileKind::Folder),
        ErrorKind::DirectoryNotEmpty => wrong_kind(place, "is not empty; remove what is in it first"),
        // The library finds that itself, so there is no number of an error.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            not_allowed(format!("`{path}` leads out of the folder `{}`; name what is in it", place.folder))
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            not_allowed(format!("this is not permitted to the host at `{path}` ({error}); see to the permissions"))
        }
        ErrorKind::InvalidFilename => wrong_path(place.text, "a part of it is too long for the disk; shorten it"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            disk(format!("no space is left for `{path}` ({error}); make space and try again"))
        }
        _ if is_loop(error) => through_link(place),
        _ => disk(format!("the disk fails at `{path}` ({error}); try again, and see to the disk")),
    }
}

/// Whether a link was met where none is followed, or too many were.
pub(super) fn is_loop(error: &Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::LOOP)
}
