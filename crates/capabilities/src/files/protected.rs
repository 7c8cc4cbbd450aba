//! Files and folders that no tool may change: those that decide what tools may do. Of these, no tool reads those that hold secrets.
//!
//! A policy, the program of a hook, the list of trusted files, a store: a tool that can write one of them gives itself what it was
//! not granted.
//!
//! Invariant: identity is device and inode, and it is looked up when a granted folder is opened, so that no spelling of a path, no
//! symlink and no bind mount leads around it. What cannot be looked up is refused.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use rustix::fs::{AtFlags, statat};
use toolcell_tool::Access;

/// The most symlinks that are followed on the way to one protected path (`MAXSYMLINKS` of Linux).
const LINKS: usize = 40;
/// The most folders above a granted one: more than any path can name.
const ABOVE: usize = 4_096;

/// A file or a folder that no tool may change.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Files, Protected, RunFiles};
/// use toolcell_tool::{Access, FilesGrant, FolderName};
///
/// let folder = tempfile::tempdir()?;
/// let protected = [Protected::file("the policy", folder.path().join("toolcell.toml"))];
/// let grant = FilesGrant::to(FolderName::parse("all")?, folder.path().to_owned());
/// let writing = FilesGrant { access: Access::Write, ..grant.clone() };
/// let open = |grant| Files::open(&RunFiles { grants: &[grant], protected: &protected, ..RunFiles::default() });
/// assert_eq!(open(writing).err().map(|error| error.code()), Some("files-protected"));
/// assert!(open(grant).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Protected {
    what: String,
    path: PathBuf,
    scope: Scope,
}

/// How much is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    /// The file or the folder itself.
    Itself,
    /// A folder with all that is below of it.
    Whole,
    /// A file, or a folder with all that is below of it, and nothing of it is read either.
    Hidden,
}

impl Protected {
    /// A file, or a folder of which only the entries matter. It need not exist: then nothing may create it. `what` is for
    /// messages: `the user's policy`.
    #[must_use]
    pub fn file(what: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { what: what.into(), path: path.into(), scope: Scope::Itself }
    }

    /// A folder with all that is below of it.
    #[must_use]
    pub fn folder(what: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { what: what.into(), path: path.into(), scope: Scope::Whole }
    }

    /// A file that no tool reads either, or a folder with all that is below of it. A folder that it is in is not granted for
    /// reading.
    #[must_use]
    pub fn hidden(what: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { what: what.into(), path: path.into(), scope: Scope::Hidden }
    }

    fn shown(&self) -> String {
        format!("{} ({})", self.what, self.path.display().to_string().escape_debug())
    }
}

/// Device and inode.
type Id = (u64, u64);

/// Protected files and folders by device and inode, as they are at one moment.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// The folders on the way to something protected, symlinks on that way included.
    around: BTreeMap<Id, Entry>,
    /// The protected folders, with all that is below of them.
    whole: BTreeMap<Id, Entry>,
    /// The protected files.
    files: BTreeMap<Id, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    shown: Arc<str>,
    hidden: bool,
}

impl Guard {
    /// Looks up what is protected.
    pub(super) fn new(protected: &[Protected]) -> Result<Self, Error> {
        let mut guard = Self::default();
        for one in protected {
            let entry = Entry { shown: one.shown().into(), hidden: one.scope == Scope::Hidden };
            let put = |entries: &mut BTreeMap<Id, Entry>, id| {
                let known = entries.entry(id).or_insert_with(|| entry.clone());
                // What hides something goes before what only protects it.
                if entry.hidden && !known.hidden {
                    *known = entry.clone();
                }
            };
            let end = walk(&one.path, &mut |id| put(&mut guard.around, id))?;
            match end {
                Some(End::File(id)) => put(&mut guard.files, id),
                Some(End::Folder(id)) if one.scope != Scope::Itself => put(&mut guard.whole, id),
                Some(End::Folder(_)) | None => {}
            }
        }
        Ok(guard)
    }

    /// Why a folder is not granted: what is in it, or what it is in, and what no tool may do with that.
    pub(super) fn refuses(&self, dir: &Dir, access: Access) -> Result<Option<String>, Error> {
        if self.around.is_empty() {
            return Ok(None);
        }
        let counts = |entry: &&Entry| access == Access::Write || entry.hidden;
        let own = id(&dir.dir_metadata()?);
        if let Some(entry) = self.around.get(&own).filter(counts) {
            return Ok(Some(format!("{} is in it, and {}", entry.shown, entry.rule())));
        }
        let mut above = String::from(".");
        let mut last = None;
        for _ in 0..ABOVE {
            let stat = statat(dir, above.as_str(), AtFlags::empty()).map_err(Error::from)?;
            let id = (stat.st_dev, stat.st_ino);
            if let Some(entry) = self.whole.get(&id).filter(counts) {
                return Ok(Some(format!("it is in {}, and {}", entry.shown, entry.rule())));
            }
            // The root is above itself.
            if last.replace(id) == Some(id) {
                return Ok(None);
            }
            above.push_str("/..");
        }
        Err(Error::from(ErrorKind::InvalidFilename))
    }

    /// What is protected of a folder on the way down to something that is to be changed. A bind mount leads there, or a folder that
    /// was moved since.
    pub(super) fn holds_folder(&self, dir: &Dir) -> Result<Option<&str>, Error> {
        if self.around.is_empty() {
            return Ok(None);
        }
        let id = id(&dir.dir_metadata()?);
        Ok(self.around.get(&id).or_else(|| self.whole.get(&id)).map(|entry| &*entry.shown))
    }

    /// Whether a file is a protected one, under whatever name.
    pub(super) fn holds_file(&self, metadata: &Metadata) -> bool {
        self.files.contains_key(&id(metadata))
    }

    /// Whether a file is one that no tool reads, under whatever name.
    pub(super) fn hides_file(&self, metadata: &Metadata) -> bool {
        self.files.get(&id(metadata)).is_some_and(|entry| entry.hidden)
    }
}

impl Entry {
    const fn rule(&self) -> &'static str {
        if self.hidden { "no tool may read or change that" } else { "no tool may change that" }
    }
}

fn id(metadata: &Metadata) -> Id {
    (metadata.dev(), metadata.ino())
}

/// What is at the end of a path.
enum End {
    File(Id),
    Folder(Id),
}

/// Goes to the end of a path, component by component, and tells each folder on the way, also that of each symlink. Where something
/// on the way is not there, the way ends.
fn walk(path: &Path, visit: &mut impl FnMut(Id)) -> Result<Option<End>, Error> {
    let whole = std::path::absolute(path)?;
    let mut rest: Vec<PathBuf> = parts(&whole);
    let mut at = PathBuf::from("/");
    let mut last = id_of(&std::fs::symlink_metadata(&at)?);
    visit(last);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == Path::new("..") {
            // No symlink is in what was gone so far.
            at.pop();
            last = id_of(&std::fs::symlink_metadata(&at)?);
            continue;
        }
        let next = at.join(&part);
        let metadata = match std::fs::symlink_metadata(&next) {
            // What this user cannot get at, no tool gets at.
            Err(error) if is_barred(&error) => return Ok(None),
            other => other?,
        };
        if metadata.is_symlink() {
            links += 1;
            if links > LINKS {
                // Nobody gets through there.
                return Ok(None);
            }
            let target = std::fs::read_link(&next)?;
            if target.has_root() {
                at = PathBuf::from("/");
            }
            rest.extend(parts(&target));
        } else if metadata.is_dir() {
            at = next;
            last = id_of(&metadata);
            visit(last);
        } else if rest.is_empty() {
            return Ok(Some(End::File(id_of(&metadata))));
        } else {
            return Ok(None);
        }
    }
    Ok(Some(End::Folder(last)))
}

fn is_barred(error: &Error) -> bool {
    use ErrorKind::{InvalidFilename, NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied | InvalidFilename)
}

/// The components of a path, the last one first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let plain = |part: Component<'_>| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    let mut parts: Vec<PathBuf> = path.components().filter_map(plain).collect();
    parts.reverse();
    parts
}

fn id_of(metadata: &std::fs::Metadata) -> Id {
    (metadata.dev(), metadata.ino())
}
