//! Faults of the disk and of the index, which any operation of the store can hit.
//!
//! Invariant: a [`Fault`] names the file and says what to do. Mistakes of callers are in the error
//! types of the operations, each of which can also carry a fault.

use std::io::ErrorKind;

/// The cause of a fault, as reported by the library below.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A failure of the disk or of the index.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum Fault {
    /// The disk is full, or a quota is used up.
    #[error("no space is left for {path}")]
    #[code(DiskFull)]
    #[hint("free some space and try again; acknowledged writes are kept")]
    Full {
        /// The file that was being written, relative to the store's directory.
        path: String,
        /// The error of the system.
        source: Cause,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    #[code(DiskFailed)]
    #[hint("check the disk and the permissions, then try again")]
    Disk {
        /// The file, relative to the store's directory.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The operation writes, and the store is read-only.
    #[error("{path} is read-only")]
    #[code(StoreReadOnly)]
    #[hint(
        "reads work; to write, choose a store in another directory with --dir, or allow runs without a record: \
                 `audit.required = false` in the policy"
    )]
    ReadOnly {
        /// The store's directory, or the file in it.
        path: String,
    },
    /// Another process held a lock until the timeout.
    #[error("timed out: another process holds the lock on {what}")]
    #[code(StoreBusy)]
    #[hint("look for a stopped or hanging process, end it and try again")]
    Busy {
        /// The locked resource.
        what: String,
    },
    /// The file of an object cannot be read.
    #[error("the object {hash} cannot be read: {source}")]
    #[code(DiskFailed)]
    #[hint(
        "check the disk and the permissions, then try again; if it stays unreadable, `toolcell fsck --repair` \
                 quarantines it"
    )]
    Unreadable {
        /// The hash under which the object is stored.
        hash: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// An object does not match its hash, or is not what it should be.
    #[error("the object {hash} {what}")]
    #[code(Integrity)]
    #[hint("`toolcell fsck --repair` quarantines it; then create or import the tool again")]
    Object {
        /// The hash under which the object is stored.
        hash: String,
        /// The defect of the object.
        what: String,
    },
    /// The index is damaged.
    #[error("the index is damaged: {source}")]
    #[code(Integrity)]
    #[hint("`toolcell fsck --repair` rebuilds it from the objects")]
    Index {
        /// The error of SQLite.
        source: Cause,
    },
}

impl Fault {
    /// Wraps an I/O error with the path of the file.
    pub(crate) fn disk(path: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full { path, source: source.into() }
            }
            ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            // The only operation that can block here is taking a lock.
            ErrorKind::WouldBlock => Self::Busy { what: lock_name(&path).to_owned() },
            _ => Self::Disk { path, source },
        }
    }

    /// Whether SQLite reports the index as damaged, which a failed read looks like as well.
    pub(crate) fn is_index_damage(&self) -> bool {
        let Self::Index { source } = self else { return false };
        // An extended code describes content that SQLite did read, so only the plain codes are in
        // doubt.
        let code = source.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error);
        let codes = [rusqlite::ffi::SQLITE_CORRUPT, rusqlite::ffi::SQLITE_NOTADB];
        code.is_some_and(|code| codes.contains(&code.extended_code))
    }

    /// An object that does not match its hash, or is not what it should be.
    pub(crate) fn object(hash: blake3::Hash, what: impl Into<String>) -> Self {
        Self::Object { hash: hash.to_hex().to_string(), what: what.into() }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        // SQLite does not say why it cannot grow its shared memory. Growing takes disk space and
        // nothing else.
        let no_room = error.sqlite_error().is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        match error.sqlite_error_code() {
            Some(Code::SystemIoFailure) if no_room => Self::Full { path: "the index".to_owned(), source: error.into() },
            Some(Code::DiskFull) => Self::Full { path: "the index".to_owned(), source: error.into() },
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy { what: lock_name("writer").to_owned() },
            Some(Code::ReadOnly) => Self::ReadOnly { path: "the index".to_owned() },
            Some(Code::SystemIoFailure | Code::CannotOpen | Code::PermissionDenied | Code::OutOfMemory) => {
                Self::Disk { path: "the index".to_owned(), source: std::io::Error::other(error) }
            }
            _ => Self::Index { source: error.into() },
        }
    }
}

/// What the lock file at `path` protects.
pub(crate) fn lock_name(path: &str) -> &str {
    match path {
        "writer" => "the index",
        path if path.starts_with("logs/") => "the audit log",
        path => path,
    }
}

/// An error type that may carry a [`Fault`].
pub(crate) trait MaybeFault: From<Fault> {
    /// Extracts the fault.
    ///
    /// # Errors
    /// The error itself, if it is not a fault.
    fn into_fault(self) -> Result<Fault, Self>;
}

impl MaybeFault for Fault {
    fn into_fault(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// Implements [`MaybeFault`] for an error type that has a variant `Fault(Fault)`.
macro_rules! impl_maybe_fault {
    ($error:ty) => {
        impl $crate::error::MaybeFault for $error {
            fn into_fault(self) -> Result<$crate::error::Fault, Self> {
                match self {
                    Self::Fault(fault) => Ok(fault),
                    other => Err(other),
                }
            }
        }
    };
}

pub(crate) use impl_maybe_fault;
