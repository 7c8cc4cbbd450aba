//! Host operations on behalf of tools: HTTP requests, and files in granted folders.
//!
//! Invariant: nothing happens that a grant does not name, and every error reports whether the
//! operation took effect.

mod files;
mod meters;
#[cfg(feature = "net")]
mod net;
mod roots;

pub use files::{
    DirEntry, FILE_LIMIT, FileKind, Files, FilesConfig, FolderError, LIST_LIMIT, PATH_LIMIT, ProtectedPath, Stat,
    folder_refusal,
};
pub use meters::Meters;
#[cfg(feature = "net")]
pub use net::{
    Body, Net, NetConfig, NetSession, NetSessionConfig, ObservedRequest, Redactor, RedactorError, Request,
    RequestObserver, Resolve, Response, RootsError, Secret, SecretError, SystemResolver,
};
pub use roots::Roots;
pub use toolcell_protocol::{Effects, OperationError, Redirect, WriteMode};
