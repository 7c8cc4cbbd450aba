//! The directory of a store: the one place where a path becomes an authority.
//!
//! ```text
//! toolcell-store   the format, in words: `toolcell store, format 5`
//! objects/ab/cd…   immutable blobs under their blake3 hash
//! index.sqlite     what changes, and what finds things fast
//! logs/            the audit log
//! keys/            public keys of those whose bundles are trusted
//! secret           what only those know who open the store, once somebody asked for it
//! running/         runs that were begun and not ended yet, a file for each process that has some
//! quarantine/      what was found to be wrong
//! tmp/             what is being written
//! reserve          space that is given up where the disk is full, so that what makes space goes on to work
//! lock, writer     locks: of the store while it is open, and of who writes
//! ```
//!
//! Invariant: everything in the store is reached through a [`Dir`], and no link is followed on the way. The index is
//! the exception, because SQLite opens paths; it refuses links itself.

use std::fs::TryLockError;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, MetadataExt as _, OpenOptions, OpenOptionsExt as _};

use crate::error::Fault;

/// The format that this version reads and writes. Older ones are upgraded where the store can be written.
pub(crate) const FORMAT: u32 = 5;
const FORMAT_FILE: &str = "toolcell-store";
const FORMAT_WORDS: &str = "toolcell store, format ";
/// Nobody else reads what tools and their users wrote.
const PRIVATE_FOLDER: u32 = 0o700;
pub(crate) const PRIVATE_FILE: u32 = 0o600;

/// What can be done with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    Full,
    /// Its directory cannot be written: tools are found and read, and nothing is recorded.
    ReadOnly,
}

/// What to do where there is no store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenMissing {
    /// Make one.
    Make,
    /// Refuse.
    Refuse,
}

/// An open store's directory.
pub(crate) struct Directory {
    root: Dir,
    path: PathBuf,
    access: Access,
    /// The format that it said to have.
    format: u32,
    /// Shared while the store is open, so that nobody replaces the index under it.
    lock: std::fs::File,
}

/// Why a store does not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another user owns the directory.
    #[error("{path} belongs to user {owner}, and this is user {user}")]
    Owner {
        /// The directory.
        path: String,
        /// Who owns it.
        owner: u32,
        /// Who asks.
        user: u32,
    },
    /// A newer version wrote it.
    #[error("{path} was written by a newer version: it has format {format}, and this one reads format {FORMAT}")]
    Newer {
        /// The directory.
        path: String,
        /// Its format.
        format: u32,
    },
    /// An older version wrote it, and it cannot be upgraded because it cannot be written.
    #[error("{path} was written by an older version: it has format {format}, and this one reads format {FORMAT}")]
    Older {
        /// The directory.
        path: String,
        /// Its format.
        format: u32,
    },
    /// It is no store, or what says so is damaged.
    #[error("{path} is no store: {reason}")]
    NoStore {
        /// The directory.
        path: String,
        /// What is there instead.
        reason: String,
    },
    /// Its index is being made anew.
    #[error("{path} is being repaired")]
    Repaired {
        /// The directory.
        path: String,
    },
    /// Others have it open, and it is to be repaired.
    #[error("{path} is in use")]
    InUse {
        /// The directory.
        path: String,
    },
    /// Somebody broke off the repair of its index.
    #[error("{path} was being repaired, and that was broken off")]
    Unfinished {
        /// The directory.
        path: String,
    },
    /// A step was to be taken in that is not there.
    #[error("there is no step `{step}` that the index does not know")]
    NoStep {
        /// What was asked for.
        step: String,
    },
    /// The disk or the index fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl OpenError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Owner { .. } => "store-owner",
            Self::Newer { .. } => "store-newer",
            Self::Older { .. } => "store-older",
            Self::NoStore { .. } => "store-invalid",
            Self::Repaired { .. } | Self::InUse { .. } => "store-busy",
            Self::Unfinished { .. } => "integrity",
            Self::NoStep { .. } => "step-not-found",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Owner { .. } => "take another directory with --dir, or run as its owner",
            Self::Newer { .. } => "use the version that wrote it, or a newer one",
            Self::Older { .. } => "open it once where it can be written: it is upgraded then",
            Self::NoStore { .. } => "name the directory of a store with --dir",
            Self::Repaired { .. } => "wait until `toolcell fsck --repair` has ended",
            Self::InUse { .. } => "end what uses the store, then try again",
            Self::Unfinished { .. } => "`toolcell fsck --repair` finishes it",
            Self::NoStep { .. } => "`toolcell fsck` names the steps that the index does not know",
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Directory {
    /// Opens a store's directory.
    pub(crate) fn open(path: &Path, when_missing: WhenMissing) -> Result<Self, OpenError> {
        let shown = path.display().to_string();
        let disk = || Fault::disk(shown.clone());
        if when_missing == WhenMissing::Make {
            let mut builder = std::fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), PRIVATE_FOLDER);
            match builder.create(path) {
                // A directory that is there and cannot be written is read.
                Err(error) if !path.is_dir() => return Err(disk()(error).into()),
                _ => {}
            }
        }
        let path = match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(OpenError::NoStore { path: shown, reason: "there is no such directory".to_owned() });
            }
            other => other.map_err(disk())?,
        };
        let root = Dir::open_ambient_dir(&path, cap_std::ambient_authority()).map_err(disk())?;
        let (owner, user) = (root.dir_metadata().map_err(disk())?.uid(), rustix::process::geteuid().as_raw());
        if owner != user {
            return Err(OpenError::Owner { path: shown, owner, user });
        }
        let format = format_of(&root, &shown)?;
        let known = format.is_some();
        if !known && when_missing == WhenMissing::Refuse {
            return Err(OpenError::NoStore { path: shown, reason: format!("there is no `{FORMAT_FILE}` in it") });
        }
        let (access, lock) = match writable(&root, known) {
            Ok(lock) => (Access::Full, lock),
            Err(error) if known && denied(&error) => (Access::ReadOnly, read_lock(&root).map_err(disk())?),
            Err(error) => return Err(disk()(error).into()),
        };
        match lock.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::Repaired { path: shown }),
            Err(TryLockError::Error(error)) => return Err(disk()(error).into()),
        }
        Ok(Self { root, path, access, format: format.unwrap_or(FORMAT), lock })
    }

    /// Whether it said that it has an older format.
    pub(crate) fn is_older(&self) -> bool {
        self.format < FORMAT
    }

    /// Says that it has this format, where it said that it has an older one.
    pub(crate) fn say_format(&self) -> Result<(), Fault> {
        if self.is_older() { say_format(&self.root).map_err(Fault::disk(FORMAT_FILE)) } else { Ok(()) }
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What can be done with it.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// Refuses where nothing can be written.
    pub(crate) fn must_be_writable(&self) -> Result<(), Fault> {
        match self.access {
            Access::Full => Ok(()),
            Access::ReadOnly => Err(Fault::ReadOnly { path: self.path.display().to_string() }),
        }
    }

    /// A folder of the store, made where it is missing and can be; a link in its place is refused.
    pub(crate) fn folder(&self, name: &str) -> Result<Dir, Fault> {
        let open = || self.root.open_dir_nofollow(name);
        let opened = match open() {
            Err(error) if error.kind() == ErrorKind::NotFound && self.access == Access::Full => {
                make_folder(&self.root, name).and_then(|()| open())
            }
            other => other,
        };
        opened.map_err(Fault::disk(name))
    }

    /// A file that serves as a lock only.
    pub(crate) fn lock_file(&self, name: &str) -> Result<std::fs::File, Fault> {
        let mut options = private();
        options.create(true).write(true);
        open_regular(&self.root, name, &options).map(cap_std::fs::File::into_std).map_err(Fault::disk(name))
    }

    /// Keeps everybody else out, until the store is opened again. False where somebody is in.
    pub(crate) fn exclude_others(&self) -> Result<bool, Fault> {
        match self.lock.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(Fault::disk("lock")(error)),
        }
    }

    /// Lets others in again.
    pub(crate) fn admit_others(&self) -> Result<(), Fault> {
        self.lock.lock_shared().map_err(Fault::disk("lock"))
    }

    /// Everything at the top of the directory, by this way only.
    pub(crate) fn root(&self) -> &Dir {
        &self.root
    }
}

/// A file that nobody else reads, and no link.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    // A pipe in the place of a file must not make anybody wait.
    options
        .follow(FollowSymlinks::No)
        .mode(PRIVATE_FILE)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    options
}

/// Opens a regular file. A pipe or a device in its place is refused, and nobody waits for whoever is at its other end.
pub(crate) fn open_regular(dir: &Dir, name: &str, options: &OpenOptions) -> std::io::Result<cap_std::fs::File> {
    let file = dir.open_with(name, options)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(std::io::Error::new(ErrorKind::InvalidData, "is no regular file"))
    }
}

/// Makes a folder; that it is there already is fine.
pub(crate) fn make_folder(dir: &Dir, name: &str) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.mode(PRIVATE_FOLDER);
    match dir.create_dir_with(name, &builder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn denied(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// The format of this store, one that we read; none where it is no store yet.
fn format_of(root: &Dir, shown: &str) -> Result<Option<u32>, OpenError> {
    let mut text = String::new();
    match open_regular(root, FORMAT_FILE, private().read(true)) {
        Ok(file) => file.take(1024).read_to_string(&mut text).map_err(Fault::disk(FORMAT_FILE))?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Fault::disk(FORMAT_FILE)(error).into()),
    };
    match text.trim_end().strip_prefix(FORMAT_WORDS).and_then(|number| number.parse::<u32>().ok()) {
        Some(format @ 1..=FORMAT) => Ok(Some(format)),
        Some(0) => {
            let reason = format!("its `{FORMAT_FILE}` says format 0, which no version wrote");
            Err(OpenError::NoStore { path: shown.to_owned(), reason })
        }
        Some(format) => Err(OpenError::Newer { path: shown.to_owned(), format }),
        None => {
            let reason = format!("its `{FORMAT_FILE}` does not say `{FORMAT_WORDS}{FORMAT}`");
            Err(OpenError::NoStore { path: shown.to_owned(), reason })
        }
    }
}

/// Makes what every store has, and gives the lock; an error where the directory cannot be written.
fn writable(root: &Dir, known: bool) -> std::io::Result<std::fs::File> {
    let mut options = private();
    let lock = open_regular(root, "lock", options.create(true).write(true))?.into_std();
    for folder in ["objects", "tmp", "logs", "quarantine"] {
        if root.symlink_metadata(folder).is_err() {
            make_folder(root, folder)?;
        }
    }
    // The permission to write may have gone after the lock was made.
    rustix::fs::accessat(root, "tmp", rustix::fs::Access::WRITE_OK, rustix::fs::AtFlags::EACCESS)?;
    if !known {
        // Last: what says that this is a store.
        say_format(root)?;
    }
    Ok(lock)
}

/// Writes the format, whole or not at all.
fn say_format(root: &Dir) -> std::io::Result<()> {
    let name = format!("tmp/{FORMAT_FILE}.{}", std::process::id());
    let mut options = private();
    let mut file = root.open_with(&name, options.create(true).truncate(true).write(true))?;
    file.write_all(format!("{FORMAT_WORDS}{FORMAT}\n").as_bytes())?;
    file.sync_all()?;
    root.rename(&name, root, FORMAT_FILE)
}

fn read_lock(root: &Dir) -> std::io::Result<std::fs::File> {
    Ok(open_regular(root, "lock", private().read(true))?.into_std())
}
