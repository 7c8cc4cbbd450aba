//! The directory of a store: the only place where a path becomes a capability.
//!
//! ```text
//! toolcell-store   the format file: `toolcell store, format N`
//! objects/ab/cd…   immutable objects, stored under their blake3 hash
//! index.sqlite     the index: mutable state and fast lookups
//! logs/            the audit log
//! keys/            public keys whose bundle signatures are trusted
//! secret           the store key, created on first use
//! running/         run journals: started and unfinished runs, one file per process
//! quarantine/      damaged files
//! tmp/             temporary files
//! reserve          disk space released when the disk is full, so that deletions still work
//! lock, writer     lock files: of the open store, and of the writer
//! ```
//!
//! Invariant: everything in the store is reached through a [`Dir`], and no symlink on the way is
//! followed. The exception is the index, because SQLite opens paths; SQLite itself refuses
//! symlinks.

use std::fs::TryLockError;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, MetadataExt as _, OpenOptions, OpenOptionsExt as _};

use toolcell_i18n::{Message, message};

use crate::error::{Fault, Reason};

/// The store format that this version reads and writes. Older formats are upgraded if the store can
/// be written.
pub(crate) const FORMAT: u32 = 10;
const FORMAT_FILE: &str = "toolcell-store";
const FORMAT_WORDS: &str = "toolcell store, format ";
/// Only the owner reads what tools and their users wrote.
const PRIVATE_DIR_MODE: u32 = 0o700;
pub(crate) const PRIVATE_FILE_MODE: u32 = 0o600;

/// The access to an open store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreAccess {
    /// Full access.
    Full,
    /// Read-only: the directory cannot be written. Tools can be looked up and read, and nothing is
    /// recorded.
    ReadOnly,
}

/// What to do if there is no store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnMissing {
    /// Create one.
    Create,
    /// Fail.
    Refuse,
}

/// The directory of an open store.
pub(crate) struct Directory {
    root: Dir,
    path: PathBuf,
    access: StoreAccess,
    /// The format that the format file stated when the store was opened.
    format: u32,
    /// Locked shared while the store is open, so that no repair replaces the index under it.
    lock: std::fs::File,
}

/// A store that could not be opened.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum OpenError {
    /// Another user owns the directory.
    #[error("{path} belongs to user {owner}, but this process runs as user {user}")]
    #[code(StoreOwner)]
    #[hint("choose another directory with --dir, or run as its owner")]
    Owner {
        /// The directory.
        path: String,
        /// The owner of the directory.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// A newer version wrote the store.
    #[error("{path} was written by a newer version: it has format {format}, this version reads format {FORMAT}")]
    #[code(StoreNewer)]
    #[hint("use the version that wrote it, or a newer one")]
    Newer {
        /// The directory.
        path: String,
        /// The format of the store.
        format: u32,
    },
    /// An older version wrote the store, and it cannot be upgraded because it is read-only.
    #[error("{path} was written by an older version: it has format {format}, this version reads format {FORMAT}")]
    #[code(StoreOlder)]
    #[hint("open it once with write access to upgrade it")]
    Older {
        /// The directory.
        path: String,
        /// The format of the store.
        format: u32,
    },
    /// The directory is not a store, or its format file is damaged.
    #[error("{path} is not a store: {reason}")]
    #[code(StoreInvalid)]
    #[hint("`toolcell create` creates a store; --dir names the directory of another one")]
    NotAStore {
        /// The directory.
        path: String,
        /// Why it is not a store.
        reason: Message,
    },
    /// The index is being rebuilt.
    #[error("{path} is being repaired")]
    #[code(StoreBusy)]
    #[hint("wait until `toolcell fsck --repair` has finished")]
    BeingRepaired {
        /// The directory.
        path: String,
    },
    /// The store is to be repaired while other processes have it open.
    #[error("{path} is in use")]
    #[code(StoreBusy)]
    #[hint("stop the processes that use the store, then try again")]
    InUse {
        /// The directory.
        path: String,
    },
    /// A rebuild of the index was interrupted.
    #[error("a repair of {path} was interrupted")]
    #[code(Integrity)]
    #[hint("run `toolcell fsck --repair` to finish it")]
    RepairInterrupted {
        /// The directory.
        path: String,
    },
    /// A version to be adopted does not exist.
    #[error("no history step `{step}` is missing from the index")]
    #[code(StepNotFound)]
    #[hint("`toolcell fsck` lists the history steps missing from the index")]
    UnknownStep {
        /// The hash prefix or name that was given.
        step: String,
    },
    /// The disk or the index failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl Directory {
    /// Opens a store's directory.
    pub(crate) fn open(path: &Path, when_missing: OnMissing) -> Result<Self, OpenError> {
        let shown = path.display().to_string();
        let disk = || Fault::disk(shown.clone());
        if when_missing == OnMissing::Create {
            let mut builder = std::fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), PRIVATE_DIR_MODE);
            match builder.create(path) {
                // An existing directory that cannot be written is opened read-only.
                Err(error) if !path.is_dir() => return Err(disk()(error).into()),
                _ => {}
            }
        }
        let path = match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(OpenError::NotAStore { path: shown, reason: message!("there is no such directory") });
            }
            other => other.map_err(disk())?,
        };
        let root = Dir::open_ambient_dir(&path, cap_std::ambient_authority()).map_err(disk())?;
        let (owner, user) = (root.dir_metadata().map_err(disk())?.uid(), rustix::process::geteuid().as_raw());
        if owner != user {
            return Err(OpenError::Owner { path: shown, owner, user });
        }
        let format = read_format(&root, &shown)?;
        let known = format.is_some();
        if !known && when_missing == OnMissing::Refuse {
            return Err(OpenError::NotAStore {
                path: shown,
                reason: message!("it has no file `{file}`", file = FORMAT_FILE),
            });
        }
        let (access, lock) = match prepare_writable(&root, known) {
            Ok(lock) => (StoreAccess::Full, lock),
            Err(error) if known && is_denied(&error) => {
                (StoreAccess::ReadOnly, open_lock_read_only(&root).map_err(disk())?)
            }
            Err(error) => return Err(disk()(error).into()),
        };
        match lock.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::BeingRepaired { path: shown }),
            Err(TryLockError::Error(error)) => return Err(disk()(error).into()),
        }
        Ok(Self { root, path, access, format: format.unwrap_or(FORMAT), lock })
    }

    /// Whether the format file states an older format.
    pub(crate) fn is_older(&self) -> bool {
        self.format < FORMAT
    }

    /// Updates the format file if it states an older format.
    pub(crate) fn update_format(&self) -> Result<(), Fault> {
        if self.is_older() { write_format(&self.root).map_err(Fault::disk(FORMAT_FILE)) } else { Ok(()) }
    }

    /// Checks that a file can be written now.
    pub(crate) fn probe_write(&self) -> Result<(), Fault> {
        static CHECKS: AtomicU64 = AtomicU64::new(0);
        self.check_writable()?;
        let name = format!("tmp/check.{}.{}", std::process::id(), CHECKS.fetch_add(1, Ordering::Relaxed));
        let mut options = private_options();
        let written = self.root.open_with(&name, options.create_new(true).write(true)).and_then(|mut file| {
            file.write_all(b"\n")?;
            file.sync_all()?;
            self.root.remove_file(&name)
        });
        written.map_err(Fault::disk(&name))
    }

    /// The path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The access to the store.
    pub(crate) fn access(&self) -> StoreAccess {
        self.access
    }

    /// Fails if the store is read-only.
    pub(crate) fn check_writable(&self) -> Result<(), Fault> {
        match self.access {
            StoreAccess::Full => Ok(()),
            StoreAccess::ReadOnly => Err(Fault::ReadOnly { path: Message::verbatim(self.path.display().to_string()) }),
        }
    }

    /// Opens a folder of the store, and creates it if it is missing and the store can be written. A
    /// symlink in its place is refused.
    pub(crate) fn open_folder(&self, name: &str) -> Result<Dir, Fault> {
        let open = || self.root.open_dir_nofollow(name);
        let opened = match open() {
            Err(error) if error.kind() == ErrorKind::NotFound && self.access == StoreAccess::Full => {
                create_folder(&self.root, name).and_then(|()| open())
            }
            other => other,
        };
        opened.map_err(Fault::disk(name))
    }

    /// Opens a file that is used only as a lock.
    pub(crate) fn open_lock_file(&self, name: &str) -> Result<std::fs::File, Fault> {
        let mut options = private_options();
        options.create(true).write(true);
        open_regular(&self.root, name, &options).map(cap_std::fs::File::into_std).map_err(Fault::disk(name))
    }

    /// Locks the store exclusively; false if another process has it open.
    pub(crate) fn lock_exclusive(&self) -> Result<bool, Fault> {
        match self.lock.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(Fault::disk("lock")(error)),
        }
    }

    /// Goes back to the shared lock.
    pub(crate) fn lock_shared(&self) -> Result<(), Fault> {
        self.lock.lock_shared().map_err(Fault::disk("lock"))
    }

    /// The root of the directory, the only way to its content.
    pub(crate) fn root(&self) -> &Dir {
        &self.root
    }
}

/// Options for opening a file without following a symlink; a new file gets mode 0600.
pub(crate) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    // `O_NONBLOCK`: a FIFO in place of the file must not block the open.
    options
        .follow(FollowSymlinks::No)
        .mode(PRIVATE_FILE_MODE)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    options
}

/// Opens a regular file. A FIFO or a device in its place is refused without blocking.
pub(crate) fn open_regular(dir: &Dir, name: &str, options: &OpenOptions) -> std::io::Result<cap_std::fs::File> {
    let file = dir.open_with(name, options)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(Reason::io(ErrorKind::InvalidData, message!("not a regular file")))
    }
}

/// Creates a folder; it may already exist.
pub(crate) fn create_folder(dir: &Dir, name: &str) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.mode(PRIVATE_DIR_MODE);
    match dir.create_dir_with(name, &builder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn is_denied(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// The format of the store, if this version can read it; `None` if there is no format file yet.
fn read_format(root: &Dir, shown: &str) -> Result<Option<u32>, OpenError> {
    let mut text = String::new();
    match open_regular(root, FORMAT_FILE, private_options().read(true)) {
        Ok(file) => file.take(1024).read_to_string(&mut text).map_err(Fault::disk(FORMAT_FILE))?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Fault::disk(FORMAT_FILE)(error).into()),
    };
    match text.trim_end().strip_prefix(FORMAT_WORDS).and_then(|number| number.parse::<u32>().ok()) {
        Some(format @ 1..=FORMAT) => Ok(Some(format)),
        Some(0) => {
            let reason = message!("its file `{file}` names format 0, which no version writes", file = FORMAT_FILE);
            Err(OpenError::NotAStore { path: shown.to_owned(), reason })
        }
        Some(format) => Err(OpenError::Newer { path: shown.to_owned(), format }),
        None => {
            let reason = message!(
                "its file `{file}` does not contain `{words}{format}`",
                file = FORMAT_FILE,
                words = FORMAT_WORDS,
                format = FORMAT
            );
            Err(OpenError::NotAStore { path: shown.to_owned(), reason })
        }
    }
}

/// Creates the files and folders that every store has and returns the lock file. Fails if the
/// directory cannot be written.
fn prepare_writable(root: &Dir, known: bool) -> std::io::Result<std::fs::File> {
    let mut options = private_options();
    let lock = open_regular(root, "lock", options.create(true).write(true))?.into_std();
    for folder in ["objects", "tmp", "logs", "quarantine"] {
        if root.symlink_metadata(folder).is_err() {
            create_folder(root, folder)?;
        }
    }
    // Write permission may have been withdrawn after the lock file was created.
    rustix::fs::accessat(root, "tmp", rustix::fs::Access::WRITE_OK, rustix::fs::AtFlags::EACCESS)?;
    if !known {
        // Last, because the format file marks the directory as a store.
        write_format(root)?;
    }
    Ok(lock)
}

/// Writes the format file atomically. Several threads may create the same store at once, so each
/// writes a file of its own.
fn write_format(root: &Dir) -> std::io::Result<()> {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let (process, write) = (std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
    let name = format!("tmp/{FORMAT_FILE}.{process}.{write}");
    let mut options = private_options();
    let mut file = root.open_with(&name, options.create(true).truncate(true).write(true))?;
    file.write_all(format!("{FORMAT_WORDS}{FORMAT}\n").as_bytes())?;
    file.sync_all()?;
    root.rename(&name, root, FORMAT_FILE)
}

fn open_lock_read_only(root: &Dir) -> std::io::Result<std::fs::File> {
    Ok(open_regular(root, "lock", private_options().read(true))?.into_std())
}
