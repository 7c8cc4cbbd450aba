//! Files in granted folders, for one run of a tool.
//!
//! Invariant: a folder is opened once, and all that is done is done below what was opened: no path leads out of it, no link is
//! followed out of it, and nothing is written through a link. What a run reads and writes is counted before it happens, so
//! calls at the same time never pass a quota together. Only regular files are read, and nobody waits at a pipe.

mod error;
mod folder;
mod make;
mod place;
mod protected;
mod quota;
mod read;
mod write;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};
use toolcell_tool::{Access, FilesGrant};

use crate::failure::Failure;
use crate::meters::Meters;
use folder::Folder;
use place::Place;
use protected::Guard;

pub use error::FolderError;
pub use place::PATH_LIMIT;
pub use protected::Protected;
pub use read::{FILE_LIMIT, LIST_LIMIT};

/// What is to be done where a file is there already, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteMode {
    /// It has this content from then on, made or replaced in one step: who reads it meanwhile sees the old or the new one.
    Replace,
    /// It is made in one step, and must not be there.
    Create,
    /// The content comes after what is in it; it is made where it is not there.
    Append,
}

/// What there is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a socket, a device, or what has a name that no path can say.
    Other,
}

/// What is in a folder under a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Listed {
    /// The name.
    pub name: String,
    /// What it is; a link is not followed.
    pub kind: FileKind,
}

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stat {
    /// What is there; a link that stays in the folder is followed.
    pub kind: FileKind,
    /// How many bytes a file has; 0 for what is no file.
    pub size: u64,
    /// When it was changed last, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// The granted folders of one run, and what it has read and written so far. Its calls block, and many threads may make some
/// at once.
///
/// A path is `FOLDER/rest/of/path`: the name of a granted folder, and what is below of it. No part of it is empty, `.` or
/// `..`, and no NUL and no backslash is in it.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Files, RunFiles, WriteMode};
/// use toolcell_tool::{Access, FilesGrant, FolderName};
///
/// let folder = tempfile::tempdir()?;
/// let grant = FilesGrant {
///     access: Access::Write,
///     bytes: 10,
///     ..FilesGrant::to(FolderName::parse("notes")?, folder.path().to_owned())
/// };
/// let files = Files::open(&RunFiles { grants: &[grant], ..RunFiles::default() })?;
/// files.write("notes/today", b"rain", WriteMode::Create)?;
/// files.write("notes/today", b", sun", WriteMode::Append)?;
/// assert_eq!(files.read("notes/today")?, b"rain, sun");
///
/// let failure = files.write("notes/today", b"snow", WriteMode::Replace).unwrap_err();
/// assert_eq!((failure.code, failure.name), ("files-quota", "QuotaExceededError"));
/// assert_eq!(files.read("notes/../today").unwrap_err().code, "files-path");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Files {
    /// By their names.
    folders: BTreeMap<String, Folder>,
}

/// The folders of one run.
#[derive(Clone, Default)]
pub struct RunFiles<'a> {
    /// Which tool this is: what is counted by, with all of its runs in the same tree.
    pub tool: &'a str,
    /// The folders.
    pub grants: &'a [FilesGrant],
    /// What no tool may change, whatever is granted.
    pub protected: &'a [Protected],
    /// The counters of the tree of runs.
    pub meters: Meters,
    /// The folders of the run that it is called within.
    pub caller: Option<&'a Files>,
}

/// Why a folder would not be granted: something protected that is in it, or that it is in. Nothing where it would be, or does not
/// open.
///
/// # Errors
/// What the system says where that cannot be told.
pub fn refused_folder(path: &Path, access: Access, protected: &[Protected]) -> std::io::Result<Option<String>> {
    let Ok(dir) = Dir::open_ambient_dir(path, cap_std::ambient_authority()) else { return Ok(None) };
    Guard::new(protected)?.refuses(&dir, access)
}

impl Files {
    /// Opens the granted folders. Each is looked at as it was opened: where something protected is in a folder that may be changed,
    /// or around it, no folder is opened.
    ///
    /// # Errors
    /// `files-missing` where a folder is not there or is none, `files-denied` where it cannot be opened, `files-protected` where
    /// something protected is in it, or around it.
    pub fn open(run: &RunFiles<'_>) -> Result<Self, FolderError> {
        let Some(first) = run.grants.first() else { return Ok(Self { folders: BTreeMap::new() }) };
        let guard = Arc::new(Guard::new(run.protected).map_err(|source| FolderError::of(first, source))?);
        let meter = run.meters.of(run.tool);
        let opened = run.grants.iter().map(|grant| {
            let name = grant.name.as_str();
            let caller = run.caller.and_then(|caller| caller.folders.get(name));
            Ok((name.to_owned(), Folder::open(grant, &guard, &meter, caller)?))
        });
        Ok(Self { folders: opened.collect::<Result<_, _>>()? })
    }

    /// The content of a file.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-missing`, `files-kind` where it is no regular file, `files-too-large` where it
    /// is larger than all that a run may read, `files-quota` where it is larger than what is left of that, `files-denied`,
    /// `files-disk`.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let (folder, place) = self.at(path)?;
        folder.read(&place)
    }

    /// Writes a file. The folder that it is in must be there.
    ///
    /// # Errors
    /// As [`Files::read`], with what a run may write; `files-not-granted` also where a folder is granted for reading only,
    /// `files-denied` also where a link is on the way, `files-exists` where a file is to be made that is there. The effects are
    /// `started` where something may have been appended, and `committed` where the file has its content and only that it
    /// outlasts a loss of power is not known.
    pub fn write(&self, path: &str, content: &[u8], mode: WriteMode) -> Result<(), Failure> {
        let (folder, place) = self.at(path)?;
        folder.write(&place, content, mode)
    }

    /// What is in a folder, in the order of the names' bytes. Files that are being written are not in it.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-missing`, `files-kind` where it is no folder, `files-too-large` where more than
    /// [`LIST_LIMIT`] names are in it, `files-denied`, `files-disk`.
    pub fn list(&self, path: &str) -> Result<Vec<Listed>, Failure> {
        let (folder, place) = self.at(path)?;
        folder.list(&place)
    }

    /// What is known of a path; nothing where nothing is there.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-denied`, `files-disk`.
    pub fn stat(&self, path: &str) -> Result<Option<Stat>, Failure> {
        let (folder, place) = self.at(path)?;
        folder.stat(&place)
    }

    /// Removes a file, or an empty folder.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-missing`, `files-kind` where it is neither, or a folder with something in it,
    /// `files-denied` also where a link is on the way, `files-disk`.
    pub fn remove(&self, path: &str) -> Result<(), Failure> {
        let (folder, place) = self.at(path)?;
        folder.remove(&place)
    }

    /// Makes a folder, and those that it is in. That it is there already is fine.
    ///
    /// # Errors
    /// `files-path`, `files-not-granted`, `files-kind` where something else has the name, `files-denied` also where a link is
    /// on the way, `files-disk`. The effects are `started` where some of the folders were made.
    pub fn make_folder(&self, path: &str) -> Result<(), Failure> {
        let (folder, place) = self.at(path)?;
        folder.make_folder(&place)
    }

    fn at<'a>(&self, path: &'a str) -> Result<(&Folder, Place<'a>), Failure> {
        let place = Place::parse(path)?;
        let folder = self.folders.get(place.folder).ok_or_else(|| error::no_folder(&place, self.folders.keys()))?;
        Ok((folder, place))
    }
}
