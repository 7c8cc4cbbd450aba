//! What Toolcell does for a tool outside of its cell: requests to other machines, and files in granted folders.
//!
//! Invariant: nothing is done that a grant does not name, and every failure says whether something happened all the same.

mod failure;
mod files;
mod meters;
mod net;

pub use failure::{Effects, Failure};
pub use files::{
    FILE_LIMIT, FileKind, Files, FolderError, LIST_LIMIT, Listed, PATH_LIMIT, Protected, RunFiles, Stat, WriteMode,
    refused_folder,
};
pub use meters::Meters;
pub use net::{
    Body, Net, NetConfig, NetRun, Redirect, Request, Resolve, Response, Roots, RootsError, RunNet, Secret, SecretError,
    SystemResolver,
};
