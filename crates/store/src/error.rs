//! What can go wrong with the disk and the index below every verb.
//!
//! Invariant: a [`Fault`] says which file it was about and what to do. What callers do wrong is in the errors of the
//! verbs, and each of those can be a fault as well.

use std::io::ErrorKind;

/// The cause of a fault, as the library below tells it.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The disk or the index does not do what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// No space is left, or a quota is used up.
    #[error("no space is left for {path}")]
    Full {
        /// What was being written, below the store's directory.
        path: String,
        /// What the system said.
        source: Cause,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Disk {
        /// Which one, below the store's directory.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store cannot be written, and something was to be kept.
    #[error("{path} is read-only")]
    ReadOnly {
        /// Its directory, or what of it.
        path: String,
    },
    /// Others hold a lock for too long.
    #[error("another process has locked {what}, and does not unlock it")]
    Busy {
        /// What is locked.
        what: String,
    },
    /// The file of an object cannot be read.
    #[error("the object {hash} cannot be read: {source}")]
    Unreadable {
        /// The hash that it is stored under.
        hash: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// An object is not what its name says.
    #[error("the object {hash} {what}")]
    Object {
        /// The hash that it is stored under.
        hash: String,
        /// What is wrong with it.
        what: String,
    },
    /// The index cannot be read.
    #[error("the index is damaged: {source}")]
    Index {
        /// What SQLite said.
        source: Cause,
    },
}

impl Fault {
    /// The stable code of this fault.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Full { .. } => "disk-full",
            Self::Disk { .. } | Self::Unreadable { .. } => "disk-failed",
            Self::ReadOnly { .. } => "store-read-only",
            Self::Busy { .. } => "store-busy",
            Self::Object { .. } | Self::Index { .. } => "integrity",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Full { .. } => "make space and try again; what was acknowledged before is kept",
            Self::Disk { .. } => "see to the disk and the permissions, then try again",
            Self::Unreadable { .. } => {
                "see to the disk and the permissions, then try again; where it stays unreadable, `toolcell fsck --repair` puts it \
                 aside"
            }
            Self::ReadOnly { .. } => {
                "reading works; write to a store in another directory with --dir, or let tools run without a record: \
                 `audit.required = false` in the policy"
            }
            Self::Busy { .. } => "look for a process that was stopped or hangs, end it, and try again",
            Self::Object { .. } => "`toolcell fsck --repair` puts it aside; then create or import the tool again",
            Self::Index { .. } => "`toolcell fsck --repair` makes it anew from the objects",
        }
    }

    /// A fault of the file system with the file that it is about.
    pub(crate) fn disk(path: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full { path, source: source.into() }
            }
            ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            // Only a lock is ever waited for.
            ErrorKind::WouldBlock => Self::Busy { what: locked(&path).to_owned() },
            _ => Self::Disk { path, source },
        }
    }

    /// The same, where an index that SQLite calls damaged turns out to be one that cannot be read.
    pub(crate) fn judged(self, path: &std::path::Path) -> Self {
        // What SQLite says more exactly, it found in what it read.
        let is_damage = |source: &Cause| {
            let code = source.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error);
            let codes = [rusqlite::ffi::SQLITE_CORRUPT, rusqlite::ffi::SQLITE_NOTADB];
            code.is_some_and(|code| codes.contains(&code.extended_code))
        };
        match &self {
            Self::Index { source } if is_damage(source) => match crate::index::read_error(path) {
                Some(source) => Self::Disk { path: "the index".to_owned(), source },
                None => self,
            },
            _ => self,
        }
    }

    /// An object that is not what its name says.
    pub(crate) fn object(hash: blake3::Hash, what: impl Into<String>) -> Self {
        Self::Object { hash: hash.to_hex().to_string(), what: what.into() }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        // SQLite does not say why it cannot make its shared memory larger; that takes space and nothing else.
        let no_room = error.sqlite_error().is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        match error.sqlite_error_code() {
            Some(Code::SystemIoFailure) if no_room => Self::Full { path: "the index".to_owned(), source: error.into() },
            Some(Code::DiskFull) => Self::Full { path: "the index".to_owned(), source: error.into() },
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy { what: locked("writer").to_owned() },
            Some(Code::ReadOnly) => Self::ReadOnly { path: "the index".to_owned() },
            Some(Code::SystemIoFailure | Code::CannotOpen | Code::PermissionDenied | Code::OutOfMemory) => {
                Self::Disk { path: "the index".to_owned(), source: std::io::Error::other(error) }
            }
            _ => Self::Index { source: error.into() },
        }
    }
}

/// What the lock in a file is of.
pub(crate) fn locked(path: &str) -> &str {
    match path {
        "writer" => "the index",
        path if path.starts_with("logs/") => "the audit log",
        path => path,
    }
}

/// An error that may be a fault.
pub(crate) trait OfFault: From<Fault> {
    /// The fault, or the error that is none.
    ///
    /// # Errors
    /// The error, where it is no fault.
    fn into_fault(self) -> Result<Fault, Self>;

    /// The same, which says of an index that cannot be read whether it is damaged.
    fn judged(self, path: &std::path::Path) -> Self {
        match self.into_fault() {
            Ok(fault) => fault.judged(path).into(),
            Err(other) => other,
        }
    }
}

impl OfFault for Fault {
    fn into_fault(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// The errors of the verbs have their fault in a variant of that name.
macro_rules! of_fault {
    ($($error:ty),*) => {$(
        impl OfFault for $error {
            fn into_fault(self) -> Result<Fault, Self> {
                match self {
                    Self::Fault(fault) => Ok(fault),
                    other => Err(other),
                }
            }
        }
    )*};
}

of_fault!(
    crate::deprecate::DeprecateError,
    crate::find::FindError,
    crate::import::ImportError,
    crate::list::ListError,
    crate::names::NameStepError,
    crate::sleeping::SleepError,
    crate::spaces::SpaceError,
    crate::trust::StatusError
);
