//! Errors of file access: folders that cannot be opened, and operations that fail.
//!
//! Invariant: each message names the path as the tool wrote it, with control characters escaped,
//! and suggests a next step. A tool never learns where a granted folder is on this machine.

use std::io::{Error, ErrorKind};

use rustix::io::Errno;
use toolcell_i18n::Message;
use toolcell_protocol::OperationError;
use toolcell_tool::{FilesGrant, FolderName};

use crate::files::FileKind;
use crate::files::path::{ToolPath, escape_for_display, invalid_path};

/// The names of JavaScript errors that tools see.
const TYPE_ERROR: &str = "TypeError";
const NOT_ALLOWED_ERROR: &str = "NotAllowedError";
const QUOTA_ERROR: &str = "QuotaExceededError";

/// The error of opening a granted folder.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum FolderError {
    /// The path does not exist or is not a folder.
    #[error("there is no folder `{name}` at {path}: {source}")]
    #[code(FilesMissing)]
    #[hint("create the folder, or correct its `path` in the policy")]
    Missing {
        /// The name of the folder in the grant.
        name: FolderName,
        /// The path that was expected to be a folder.
        path: String,
        /// The operating system's error.
        source: Error,
    },
    /// The folder cannot be opened.
    #[error("the folder `{name}` at {path} cannot be opened: {source}")]
    #[code(FilesDenied)]
    #[hint("give this user permission to open it, or set another `path` in the policy")]
    Denied {
        /// The name of the folder in the grant.
        name: FolderName,
        /// The path of the folder.
        path: String,
        /// The operating system's error.
        source: Error,
    },
    /// The folder contains a protected path or is inside one.
    #[error("the folder `{name}` at {path} cannot be granted: {why}")]
    #[code(FilesProtected)]
    #[hint("set a `path` in the policy apart from it; if only changes are refused, set `access = \"read\"`")]
    Protected {
        /// The name of the folder in the grant.
        name: FolderName,
        /// The path of the folder.
        path: String,
        /// The protected path, how the folder relates to it, and what no tool may do with it.
        why: Message,
    },
}

impl FolderError {
    pub(super) fn from_io(grant: &FilesGrant, source: Error) -> Self {
        let (name, path) = (grant.name.clone(), grant.path.display().to_string().escape_debug().to_string());
        match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Missing { name, path, source },
            _ => Self::Denied { name, path, source },
        }
    }

    pub(super) fn protected(grant: &FilesGrant, why: Message) -> Self {
        let path = grant.path.display().to_string().escape_debug().to_string();
        Self::Protected { name: grant.name.clone(), path, why }
    }

    /// Returns the message for the tool, which does not reveal paths of this machine.
    #[must_use]
    pub fn message_for_tool(&self) -> String {
        match self {
            Self::Missing { name, .. } => format!("the granted folder `{name}` does not exist"),
            Self::Denied { name, .. } => format!("the granted folder `{name}` cannot be opened"),
            Self::Protected { name, .. } => format!("the granted folder `{name}` is protected"),
        }
    }
}

/// No folder of this name is granted.
pub(super) fn folder_not_granted<'a>(
    place: &ToolPath<'_>,
    granted: impl Iterator<Item = &'a String>,
) -> OperationError {
    let name = escape_for_display(place.folder);
    let granted = granted.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let granted = if granted.is_empty() { "granted: none".to_owned() } else { format!("granted: {granted}") };
    let line = match FolderName::parse(place.folder) {
        Ok(_) => format!("grant it in the policy: `[[grants.tools.TOOL.files]] name = \"{name}\", path = \"…\"`"),
        Err(_) => "a path must start with the name of a granted folder".to_owned(),
    };
    OperationError::without_effects(
        NOT_ALLOWED_ERROR,
        "files-not-granted",
        format!("no folder `{name}` is granted ({granted}); {line}"),
    )
}

/// The folder is granted for reading only.
pub(super) fn read_only(place: &ToolPath<'_>) -> OperationError {
    let message = format!(
        "`{}` cannot be changed: the folder `{}` is granted read-only; set `access = \"write\"` in its grant",
        place.escape_for_display(),
        place.folder
    );
    OperationError::without_effects(NOT_ALLOWED_ERROR, "files-not-granted", message)
}

/// The path is protected: it decides what tools may do.
pub(super) fn protected(place: &ToolPath<'_>) -> OperationError {
    let message = format!(
        "`{}` cannot be changed: it controls what tools may do, or leads to a file that does; write to another path",
        place.escape_for_display()
    );
    OperationError::without_effects(NOT_ALLOWED_ERROR, "files-protected", message)
}

/// The file holds secrets, so no tool may read it.
pub(super) fn hidden(place: &ToolPath<'_>) -> OperationError {
    let message = format!(
        "`{}` cannot be read: it holds secrets that no tool may see; read another file",
        place.escape_for_display()
    );
    OperationError::without_effects(NOT_ALLOWED_ERROR, "files-protected", message)
}

/// The entry does not have the required type.
pub(super) fn wrong_kind(place: &ToolPath<'_>, why: &str) -> OperationError {
    OperationError::without_effects(TYPE_ERROR, "files-kind", format!("`{}` {why}", place.escape_for_display()))
}

/// The entry is not a regular file.
pub(super) fn not_a_file(place: &ToolPath<'_>, kind: FileKind) -> OperationError {
    wrong_kind(
        place,
        match kind {
            FileKind::Folder => "is a folder; name a file in it",
            FileKind::File | FileKind::Other => "is not a regular file; name a regular file",
        },
    )
}

/// The entry exists already.
pub(super) fn already_exists(place: &ToolPath<'_>) -> OperationError {
    let message = format!(
        "`{}` already exists; write with the mode `replace`, or choose another name",
        place.escape_for_display()
    );
    OperationError::without_effects("Error", "files-exists", message)
}

/// A component of the path is a symlink, in an operation that follows none.
pub(super) fn symlink_refused(place: &ToolPath<'_>) -> OperationError {
    let message = format!("`{}` is or goes through a symlink; name its target", place.escape_for_display());
    OperationError::without_effects(NOT_ALLOWED_ERROR, "files-denied", message)
}

/// The granted folder itself can be neither removed nor written.
pub(super) fn granted_folder_itself(place: &ToolPath<'_>, what: &str) -> OperationError {
    wrong_kind(place, &format!("is the granted folder itself and cannot be {what}; name something in it"))
}

/// The operation exceeds the quota: the total of it, or the rest.
pub(super) fn quota_exceeded(place: &ToolPath<'_>, bytes: u64, left: u64, most: u64, cap: &str) -> OperationError {
    let of = format!("`{cap}` in the grant of `{}` limits the bytes per run", place.folder);
    let shown = place.escape_for_display();
    if bytes > most {
        let message = format!("`{shown}` would take {bytes} bytes, the limit is {most}; {of}");
        OperationError::without_effects(QUOTA_ERROR, "files-too-large", message)
    } else {
        let message = format!("`{shown}` would take {bytes} bytes, but only {left} of {most} are left; {of}");
        OperationError::without_effects(QUOTA_ERROR, "files-quota", message)
    }
}

/// The file or folder exceeds the limit for a single operation.
pub(super) fn too_large(place: &ToolPath<'_>, what: &str, limit: u64) -> OperationError {
    let message =
        format!("`{}` has more than {limit} {what}, which is the limit; make it smaller", place.escape_for_display());
    OperationError::without_effects(QUOTA_ERROR, "files-too-large", message)
}

/// Translates an operating system error for the tool.
pub(super) fn from_io(place: &ToolPath<'_>, error: &Error) -> OperationError {
    let path = place.escape_for_display();
    let not_allowed = |message| OperationError::without_effects(NOT_ALLOWED_ERROR, "files-denied", message);
    let disk = |message| OperationError::without_effects("Error", "files-disk", message);
    match error.kind() {
        ErrorKind::NotFound => {
            let message = format!("`{path}` does not exist; list its parent");
            OperationError::without_effects("NotFoundError", "files-missing", message)
        }
        ErrorKind::AlreadyExists => already_exists(place),
        ErrorKind::NotADirectory => wrong_kind(place, "is not a folder, or goes through a file; list its parent"),
        ErrorKind::IsADirectory => not_a_file(place, FileKind::Folder),
        ErrorKind::DirectoryNotEmpty => wrong_kind(place, "is not empty; remove its contents first"),
        // cap-std reports an escape from the folder without an OS error number.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            not_allowed(format!("`{path}` leads outside the folder `{}`; name a path inside it", place.folder))
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            not_allowed(format!("the host is not permitted to do this at `{path}` ({error}); check the permissions"))
        }
        ErrorKind::InvalidFilename => invalid_path(place.text, "a component is too long for the disk; shorten it"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            disk(format!("no space is left for `{path}` ({error}); free some space and try again"))
        }
        _ if is_symlink_error(error) => symlink_refused(place),
        _ => disk(format!("the disk failed at `{path}` ({error}); try again, and check the disk")),
    }
}

/// Returns whether the error is `ELOOP`: a symlink where none is followed, or too many of them.
pub(super) fn is_symlink_error(error: &Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::LOOP)
}
