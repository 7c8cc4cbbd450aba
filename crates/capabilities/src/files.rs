//! File access in granted folders, for one run of a tool.
//!
//! Invariant: a granted folder is opened once, and every operation is relative to that handle. No
//! path and no symlink leads out of it, and nothing is written through a symlink. Bytes are counted
//! against the quotas before they are read or written, so concurrent calls cannot exceed a quota
//! together. Only regular files are read, and opening a pipe never blocks.

mod dir;
mod error;
mod path;
mod protected;
mod quota;
mod read;
mod remove;
mod write;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};
use toolcell_i18n::Message;
use toolcell_protocol::{OperationError, WriteMode};
use toolcell_tool::{Access, FilesGrant};

use crate::meters::Meters;
use dir::GrantedDir;
use path::ToolPath;
use protected::ProtectedSet;

pub use error::FolderError;
pub use path::PATH_LIMIT;
pub use protected::ProtectedPath;
pub use read::{FILE_LIMIT, LIST_LIMIT};

/// The type of a file-system entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symlink, pipe, socket or device, or an entry whose name cannot appear in a tool's path.
    Other,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DirEntry {
    /// The name.
    pub name: String,
    /// The type. Symlinks are not followed.
    pub kind: FileKind,
}

/// The metadata of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stat {
    /// The type. A symlink that stays in the folder is followed.
    pub kind: FileKind,
    /// The size of a regular file, in bytes; 0 for other types.
    pub size: u64,
    /// The time of the last modification, in milliseconds since the Unix epoch.
    pub modified_ms: i64,
}

/// The granted folders of a run, with the bytes it has read and written so far. The methods block
/// and may be called from several threads at once.
///
/// A path is `FOLDER/rest/of/path`: the name of a granted folder, then a relative path in it. Its
/// components are not empty, `.` or `..`, and contain no NUL and no backslash.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Files, FilesConfig, WriteMode};
/// use toolcell_tool::{Access, FilesGrant, FolderName};
///
/// let folder = tempfile::tempdir()?;
/// let grant = FilesGrant {
///     access: Access::Write,
///     bytes: 10,
///     ..FilesGrant::new(FolderName::parse("notes")?, folder.path().to_owned())
/// };
/// let files = Files::open(&FilesConfig { grants: &[grant], ..FilesConfig::default() })?;
/// files.write("notes/today", b"rain", WriteMode::Create)?;
/// files.write("notes/today", b", sun", WriteMode::Append)?;
/// assert_eq!(files.read("notes/today")?, b"rain, sun");
///
/// let failure = files.write("notes/today", b"snow", WriteMode::Replace).unwrap_err();
/// assert_eq!((&*failure.code, &*failure.name), ("files-quota", "QuotaExceededError"));
/// assert_eq!(files.read("notes/../today").unwrap_err().code, "files-path");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Files {
    /// The folders by name.
    folders: BTreeMap<String, GrantedDir>,
}

/// The configuration of the file access of a run.
#[derive(Clone, Default)]
pub struct FilesConfig<'a> {
    /// The identifier of the tool. All runs of a tool in the same run tree share their counters.
    pub tool: &'a str,
    /// The granted folders.
    pub grants: &'a [FilesGrant],
    /// The paths that no tool may change, regardless of its grants.
    pub protected: &'a [ProtectedPath],
    /// The usage counters of the run tree.
    pub meters: Meters,
    /// The folders of the calling run, if this run is nested.
    pub caller: Option<&'a Files>,
}

/// Returns why a folder would not be granted: it contains a protected path or is inside one.
/// Returns `None` if it would be granted or cannot be opened.
///
/// # Errors
/// The operating system's error, if the identity of a protected path or of the folder cannot be
/// determined.
pub fn folder_refusal(path: &Path, access: Access, protected: &[ProtectedPath]) -> std::io::Result<Option<Message>> {
    let Ok(dir) = Dir::open_ambient_dir(path, cap_std::ambient_authority()) else { return Ok(None) };
    ProtectedSet::new(protected)?.refusal(&dir, access)
}

impl Files {
    /// Opens the granted folders. The check for protected paths examines the opened handles. If any
    /// folder contains a protected path or is inside one, no folder is opened; for folders that are
    /// granted for reading, only hidden paths count.
    ///
    /// # Errors
    /// `files-missing` if a path does not exist or is not a folder, `files-denied` if it cannot be
    /// opened, `files-protected` if it contains a protected path or is inside one.
    pub fn open(run: &FilesConfig<'_>) -> Result<Self, FolderError> {
        let Some(first) = run.grants.first() else { return Ok(Self { folders: BTreeMap::new() }) };
        let guard = Arc::new(ProtectedSet::new(run.protected).map_err(|source| FolderError::from_io(first, source))?);
        let meter = run.meters.for_tool(run.tool);
        let opened = run.grants.iter().map(|grant| {
            let name = grant.name.as_str();
            let caller = run.caller.and_then(|caller| caller.folders.get(name));
            Ok((name.to_owned(), GrantedDir::open(grant, &guard, &meter, caller)?))
        });
        Ok(Self { folders: opened.collect::<Result<_, _>>()? })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-missing`, `files-kind` if it is not a regular
    /// file, `files-too-large` if it exceeds the total read quota of a run, `files-quota` if it
    /// exceeds the rest of the quota, `files-protected` if it holds secrets, `files-denied`,
    /// `files-disk`.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, OperationError> {
        let (folder, place) = self.resolve(path)?;
        folder.read(&place)
    }

    /// Writes a file. Its parent folder must exist.
    ///
    /// # Errors
    /// As for [`Files::read`], with the write quota. Also `files-not-granted` if the folder is
    /// granted for reading only, `files-denied` if a component of the path is a symlink,
    /// `files-protected` if the file is a protected path, and `files-exists` if the mode is
    /// [`WriteMode::Create`] and the file exists. The effects are `started` if a part may have been
    /// appended, and `committed` if the content is in place but may not survive a power failure.
    pub fn write(&self, path: &str, content: &[u8], mode: WriteMode) -> Result<(), OperationError> {
        let (folder, place) = self.resolve(path)?;
        folder.write(&place, content, mode)
    }

    /// Lists a folder, sorted by the bytes of the names. Temporary files of unfinished writes are
    /// left out.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-missing`, `files-kind` if it is not a folder,
    /// `files-too-large` if it has more than [`LIST_LIMIT`] entries, `files-denied`, `files-disk`.
    pub fn list(&self, path: &str) -> Result<Vec<DirEntry>, OperationError> {
        let (folder, place) = self.resolve(path)?;
        folder.list(&place)
    }

    /// Returns the metadata of a path, or `None` if it does not exist.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-denied`, `files-disk`.
    pub fn stat(&self, path: &str) -> Result<Option<Stat>, OperationError> {
        let (folder, place) = self.resolve(path)?;
        folder.stat(&place)
    }

    /// Removes a file or an empty folder.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-missing`, `files-kind` if it is neither a file nor
    /// an empty folder, `files-denied` if a component of the path is a symlink or the system denies
    /// it, `files-protected`, `files-disk`.
    pub fn remove(&self, path: &str) -> Result<(), OperationError> {
        let (folder, place) = self.resolve(path)?;
        folder.remove(&place)
    }

    /// Creates a folder and its missing parents. Succeeds if the folder exists.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-kind` if something else has the name,
    /// `files-denied` if a component of the path is a symlink or the system denies it,
    /// `files-protected`, `files-disk`. The effects are `started` if some of the folders were
    /// created.
    pub fn make_folder(&self, path: &str) -> Result<(), OperationError> {
        let (folder, place) = self.resolve(path)?;
        folder.make_folder(&place)
    }

    fn resolve<'a>(&self, path: &'a str) -> Result<(&GrantedDir, ToolPath<'a>), OperationError> {
        let place = ToolPath::parse(path)?;
        let folder =
            self.folders.get(place.folder).ok_or_else(|| error::folder_not_granted(&place, self.folders.keys()))?;
        Ok((folder, place))
    }
}
