//! Faults of the disk and of the index, which any operation of the store can hit.
//!
//! Invariant: a [`Fault`] names the file and says what to do. Mistakes of callers are in the error
//! types of the operations, each of which can also carry a fault.

use std::io::ErrorKind;

use toolcell_i18n::{Message, message};

use crate::replication::SharedError;

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
        path: Message,
        /// The error of the system.
        source: Cause,
    },
    /// A file cannot be read or written.
    #[error("{path}: {reason}", reason = localize_io_error(source))]
    #[code(DiskFailed)]
    #[hint("check the disk and the permissions, then try again")]
    Disk {
        /// The file, relative to the store's directory.
        path: Message,
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
        path: Message,
    },
    /// Another process held a lock until the timeout.
    #[error("timed out: another process holds the lock on {what}")]
    #[code(StoreBusy)]
    #[hint("look for a stopped or hanging process, end it and try again")]
    Busy {
        /// The locked resource.
        what: Message,
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
        what: Message,
    },
    /// The library that the store is a copy of cannot be used.
    #[error(transparent)]
    #[coded(transparent)]
    Shared(#[from] SharedError),
    /// The index is damaged.
    #[error("the index is damaged: {reason}", reason = localize_error(&**source))]
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
            // The only operation that can block here is taking a lock.
            ErrorKind::WouldBlock => Self::Busy { what: lock_name(&path) },
            _ => Self::disk_of(Message::verbatim(path))(source),
        }
    }

    /// Wraps an I/O error of something that is not a file of the store.
    pub(crate) fn disk_of(path: Message) -> impl FnOnce(std::io::Error) -> Self {
        move |source| match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full { path, source: source.into() }
            }
            ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Disk { path, source },
        }
    }

    /// A damaged index, and how it is damaged.
    pub(crate) fn index(reason: Message) -> Self {
        Self::Index { source: Reason(reason).into() }
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
    pub(crate) fn object(hash: blake3::Hash, what: Message) -> Self {
        Self::Object { hash: hash.to_hex().to_string(), what }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        // SQLite does not say why it cannot grow its shared memory. Growing takes disk space and
        // nothing else.
        let no_room = error.sqlite_error().is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        match error.sqlite_error_code() {
            Some(Code::SystemIoFailure) if no_room => Self::Full { path: message!("the index"), source: error.into() },
            Some(Code::DiskFull) => Self::Full { path: message!("the index"), source: error.into() },
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy { what: lock_name("writer") },
            Some(Code::ReadOnly) => Self::ReadOnly { path: message!("the index") },
            Some(Code::SystemIoFailure | Code::CannotOpen | Code::PermissionDenied | Code::OutOfMemory) => {
                Self::Disk { path: message!("the index"), source: std::io::Error::other(error) }
            }
            _ => Self::Index { source: error.into() },
        }
    }
}

/// What the lock file at `path` protects.
pub(crate) fn lock_name(path: &str) -> Message {
    match path {
        "writer" => message!("the index"),
        path if path.starts_with("credentials/") => message!("the credentials of a server"),
        path if path.starts_with("logs/") => message!("the audit log"),
        path => Message::verbatim(path.to_owned()),
    }
}

/// A reason that this crate gives, in place of an error of a library.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Reason(Message);

impl Reason {
    /// Wraps a reason in an I/O error.
    pub(crate) fn io(kind: ErrorKind, reason: Message) -> std::io::Error {
        std::io::Error::new(kind, Self(reason))
    }
}

/// What an error says: a [`Reason`] of this crate is translated.
pub(crate) fn localize_error(error: &(dyn std::error::Error + 'static)) -> Message {
    let own = error.downcast_ref::<Reason>().map(|own| own.0.clone());
    own.unwrap_or_else(|| Message::verbatim(error.to_string()))
}

/// What an I/O error says.
pub(crate) fn localize_io_error(error: &std::io::Error) -> Message {
    match error.get_ref() {
        Some(inner) => localize_error(inner),
        None => Message::verbatim(error.to_string()),
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

#[cfg(test)]
mod tests {
    use toolcell_i18n::{Lang, Localize as _};

    use super::*;

    #[track_caller]
    fn check(fault: &Fault, [en, ja, zh]: [&str; 3]) {
        assert_eq!(fault.to_string(), en);
        assert_eq!(Lang::ALL.map(|lang| fault.localize().to_text(lang)), [en, ja, zh]);
    }

    #[test]
    fn a_fault_is_explained_in_each_language() {
        check(
            &Fault::disk("writer")(ErrorKind::WouldBlock.into()),
            [
                "timed out: another process holds the lock on the index",
                "タイムアウトしました: 別のプロセスがインデックスのロックを保持しています",
                "超时：另一个进程持有索引的锁",
            ],
        );
        let hash = blake3::Hash::from_bytes([0xab; 32]);
        let (object, hash) = (Fault::object(hash, message!("is missing")), hash.to_hex());
        check(
            &object,
            [
                &format!("the object {hash} is missing"),
                &format!("オブジェクト {hash}: ありません"),
                &format!("对象 {hash}：缺失"),
            ],
        );
    }

    #[test]
    fn a_reason_of_this_crate_is_translated_and_that_of_the_system_is_not() {
        let own = Reason::io(ErrorKind::InvalidData, message!("not a regular file"));
        check(
            &Fault::disk("secret")(own),
            ["secret: not a regular file", "secret: 通常のファイルではありません", "secret：不是普通文件"],
        );
        let theirs = std::io::Error::from_raw_os_error(5);
        let text = theirs.to_string();
        check(
            &Fault::disk("secret")(theirs),
            [&format!("secret: {text}"), &format!("secret: {text}"), &format!("secret：{text}")],
        );
        check(
            &Fault::index(message!("it is empty")),
            ["the index is damaged: it is empty", "インデックスが破損しています: 空です", "索引已损坏：为空"],
        );
    }
}
