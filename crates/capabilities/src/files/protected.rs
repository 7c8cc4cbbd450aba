//! Protected paths: files and folders that decide what tools may do, so no tool may change them.
//! Those that hold secrets may not be read either.
//!
//! Examples are policies, the programs of hooks, the list of trusted files, and stores: a tool that
//! can write one of them can escalate its own privileges.
//!
//! Invariant: files are identified by device and inode, looked up when a granted folder is opened.
//! So no spelling of a path, no symlink and no bind mount bypasses the check. If a lookup fails,
//! access is refused; only a path that this user cannot reach at all needs no protection.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use rustix::fs::{AtFlags, Stat, statat};
use toolcell_i18n::{Message, message};
use toolcell_tool::Access;

/// The maximum number of symlinks that are followed to resolve one protected path (`MAXSYMLINKS` of
/// Linux).
const MAX_SYMLINKS: usize = 40;
/// The maximum number of ancestors of a granted folder: more than any path can name.
const MAX_ANCESTORS: usize = 4_096;

/// A file or a folder that no tool may change.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Files, ProtectedPath, FilesConfig};
/// use toolcell_tool::{Access, FilesGrant, FolderName};
///
/// let folder = tempfile::tempdir()?;
/// let protected = [ProtectedPath::file("the policy", folder.path().join("toolcell.toml"))];
/// let grant = FilesGrant::new(FolderName::parse("all")?, folder.path().to_owned());
/// let writing = FilesGrant { access: Access::Write, ..grant.clone() };
/// let open = |grant| Files::open(&FilesConfig { grants: &[grant], protected: &protected, ..FilesConfig::default() });
/// assert_eq!(open(writing).err().map(|error| error.code().as_str()), Some("files-protected"));
/// assert!(open(grant).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProtectedPath {
    what: Message,
    path: PathBuf,
    scope: Scope,
}

/// The extent of the protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    /// The entry itself.
    EntryOnly,
    /// A folder with everything below it.
    Recursive,
    /// A file, or a folder with everything below it, which may not be read either.
    Hidden,
}

impl ProtectedPath {
    /// Protects a file, or a folder without its content. If the path does not exist, no tool may
    /// create it. `what` is used in messages, such as `the user's policy`.
    #[must_use]
    pub fn file(what: impl Into<Message>, path: impl Into<PathBuf>) -> Self {
        Self { what: what.into(), path: path.into(), scope: Scope::EntryOnly }
    }

    /// Protects a folder with everything below it.
    #[must_use]
    pub fn folder(what: impl Into<Message>, path: impl Into<PathBuf>) -> Self {
        Self { what: what.into(), path: path.into(), scope: Scope::Recursive }
    }

    /// Protects a file, or a folder with everything below it, also against reading. A folder that
    /// contains it cannot be granted at all.
    #[must_use]
    pub fn hidden(what: impl Into<Message>, path: impl Into<PathBuf>) -> Self {
        Self { what: what.into(), path: path.into(), scope: Scope::Hidden }
    }

    fn describe(&self) -> Message {
        let path = self.path.display().to_string();
        message!("{what} ({path})", what = self.what, path = path.escape_debug())
    }
}

/// Device and inode numbers.
type FileId = (u64, u64);

/// A snapshot of the protected files and folders, by device and inode.
#[derive(Debug, Default)]
pub(super) struct ProtectedSet {
    /// The folders on the way to a protected path, including those that its symlinks lead through.
    ancestors: BTreeMap<FileId, ProtectedEntry>,
    /// The folders that are protected with everything below them.
    folders: BTreeMap<FileId, ProtectedEntry>,
    /// The protected files.
    files: BTreeMap<FileId, ProtectedEntry>,
}

#[derive(Debug, Clone)]
struct ProtectedEntry {
    description: Arc<Message>,
    hidden: bool,
}

impl ProtectedSet {
    /// Looks up the protected paths.
    pub(super) fn new(protected: &[ProtectedPath]) -> Result<Self, Error> {
        let mut guard = Self::default();
        for one in protected {
            let entry = ProtectedEntry { description: one.describe().into(), hidden: one.scope == Scope::Hidden };
            let put = |entries: &mut BTreeMap<FileId, ProtectedEntry>, id| {
                let known = entries.entry(id).or_insert_with(|| entry.clone());
                // Hidden entries take precedence over those that are only protected against
                // changes.
                if entry.hidden && !known.hidden {
                    *known = entry.clone();
                }
            };
            let end = walk(&one.path, &mut |id| put(&mut guard.ancestors, id))?;
            match end {
                Some(PathEnd::File(id)) => put(&mut guard.files, id),
                Some(PathEnd::Folder(id)) if one.scope != Scope::EntryOnly => put(&mut guard.folders, id),
                Some(PathEnd::Folder(_)) | None => {}
            }
        }
        Ok(guard)
    }

    /// Returns why a folder cannot be granted: the protected path that it contains or is inside of,
    /// and what no tool may do with that path.
    pub(super) fn refusal(&self, dir: &Dir, access: Access) -> Result<Option<Message>, Error> {
        if self.ancestors.is_empty() {
            return Ok(None);
        }
        let counts = |entry: &&ProtectedEntry| access == Access::Write || entry.hidden;
        let own = file_id(&dir.dir_metadata()?);
        if let Some(entry) = self.ancestors.get(&own).filter(counts) {
            return Ok(Some(entry.inside_folder()));
        }
        let mut above = String::from(".");
        let mut last = None;
        for _ in 0..MAX_ANCESTORS {
            let stat = statat(dir, above.as_str(), AtFlags::empty()).map_err(Error::from)?;
            let id = (device(&stat), stat.st_ino);
            if let Some(entry) = self.folders.get(&id).filter(counts) {
                return Ok(Some(entry.around_folder()));
            }
            // The parent of the root is the root itself.
            if last.replace(id) == Some(id) {
                return Ok(None);
            }
            above.push_str("/..");
        }
        Err(Error::from(ErrorKind::InvalidFilename))
    }

    /// Returns the protected path for a folder on the way to an entry that will be changed. Such a
    /// folder is reached through a bind mount, or it was moved after the grant was opened.
    pub(super) fn protected_folder(&self, dir: &Dir) -> Result<Option<&Message>, Error> {
        if self.ancestors.is_empty() {
            return Ok(None);
        }
        let id = file_id(&dir.dir_metadata()?);
        Ok(self.ancestors.get(&id).or_else(|| self.folders.get(&id)).map(|entry| &*entry.description))
    }

    /// Returns whether a file is protected, under any of its names.
    pub(super) fn is_protected_file(&self, metadata: &Metadata) -> bool {
        self.files.contains_key(&file_id(metadata))
    }

    /// Returns whether a file may not be read, under any of its names.
    pub(super) fn is_hidden_file(&self, metadata: &Metadata) -> bool {
        self.files.get(&file_id(metadata)).is_some_and(|entry| entry.hidden)
    }
}

impl ProtectedEntry {
    /// Returns why a folder that contains the path cannot be granted.
    fn inside_folder(&self) -> Message {
        let path = &self.description;
        if self.hidden {
            message!("it contains {path}, which no tool may read or change", path)
        } else {
            message!("it contains {path}, which no tool may change", path)
        }
    }

    /// Returns why a folder inside the path cannot be granted.
    fn around_folder(&self) -> Message {
        let path = &self.description;
        if self.hidden {
            message!("it is inside {path}, which no tool may read or change", path)
        } else {
            message!("it is inside {path}, which no tool may change", path)
        }
    }
}

/// Returns the device number of a file, as the standard library gives it.
#[cfg(target_vendor = "apple")]
fn device(stat: &Stat) -> u64 {
    i64::from(stat.st_dev).cast_unsigned()
}

#[cfg(not(target_vendor = "apple"))]
const fn device(stat: &Stat) -> u64 {
    stat.st_dev
}

fn file_id(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// The entry at the end of a path.
enum PathEnd {
    File(FileId),
    Folder(FileId),
}

/// Resolves a path component by component and visits every folder on the way, including the ways of
/// symlinks. Returns `None` if the path does not lead to an entry, or not for this user.
fn walk(path: &Path, visit: &mut impl FnMut(FileId)) -> Result<Option<PathEnd>, Error> {
    let whole = std::path::absolute(path)?;
    let mut rest: Vec<PathBuf> = components_reversed(&whole);
    let mut at = PathBuf::from("/");
    let mut last = std_file_id(&std::fs::symlink_metadata(&at)?);
    visit(last);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == Path::new("..") {
            // `at` contains no symlinks here, so its parent is the lexical one.
            at.pop();
            last = std_file_id(&std::fs::symlink_metadata(&at)?);
            continue;
        }
        let next = at.join(&part);
        let metadata = match std::fs::symlink_metadata(&next) {
            // A path that this user cannot access is not accessible to tools either.
            Err(error) if is_unreachable(&error) => return Ok(None),
            other => other?,
        };
        if metadata.is_symlink() {
            links += 1;
            if links > MAX_SYMLINKS {
                // The kernel fails with ELOOP here, so the path cannot be resolved at all.
                return Ok(None);
            }
            let target = std::fs::read_link(&next)?;
            if target.has_root() {
                at = PathBuf::from("/");
            }
            rest.extend(components_reversed(&target));
        } else if metadata.is_dir() {
            at = next;
            last = std_file_id(&metadata);
            visit(last);
        } else if rest.is_empty() {
            return Ok(Some(PathEnd::File(std_file_id(&metadata))));
        } else {
            return Ok(None);
        }
    }
    Ok(Some(PathEnd::Folder(last)))
}

fn is_unreachable(error: &Error) -> bool {
    use ErrorKind::{InvalidFilename, NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied | InvalidFilename)
}

/// Returns the components of a path in reverse order.
fn components_reversed(path: &Path) -> Vec<PathBuf> {
    let plain = |part: Component<'_>| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    let mut parts: Vec<PathBuf> = path.components().filter_map(plain).collect();
    parts.reverse();
    parts
}

fn std_file_id(metadata: &std::fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}
