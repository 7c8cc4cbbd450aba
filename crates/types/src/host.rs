//! The files that the compiler sees: those of a request, and the libraries of ECMAScript.
//!
//! Invariant: no library of a browser is there, even if a source refers to one, and nothing is read
//! from the disk.

use std::sync::Arc;

use tsr_bundled::BundledFs;
use tsr_jsstring::JsString;
use tsr_vfs::{Entries, Error, FileContent, FileInfo, FileSystem, MemoryBuilder, SnapshotId};

use crate::protocol::TypedFile;

/// Starts the names of libraries whose globals no cell has.
const HIDDEN: [&[u8]; 3] = [b"lib.dom.", b"lib.scripthost.", b"lib.webworker."];

/// The path of a file of a request.
pub(crate) fn path(name: &str) -> JsString {
    JsString::from_bytes(format!("/{name}").into_bytes())
}

/// A file system in memory.
pub(crate) struct Host(BundledFs);

impl Host {
    pub(crate) fn new(files: &[TypedFile]) -> Self {
        let mut memory = MemoryBuilder::new(b"/", true);
        for file in files {
            memory.insert_loaded(path(&file.name).as_bytes(), file.text.as_bytes());
        }
        Self(BundledFs::new(Arc::new(memory.finish())))
    }
}

fn is_hidden(path: &[u8]) -> bool {
    let name = path.strip_prefix(tsr_bundled::LIB_PATH).and_then(|rest| rest.strip_prefix(b"/"));
    name.is_some_and(|name| HIDDEN.iter().any(|start| name.starts_with(start)))
}

impl FileSystem for Host {
    fn use_case_sensitive_file_names(&self) -> bool {
        self.0.use_case_sensitive_file_names()
    }

    fn snapshot_id(&self) -> Option<SnapshotId> {
        self.0.snapshot_id()
    }

    fn read_file(&self, path: &[u8]) -> Result<Option<FileContent>, Error> {
        if is_hidden(path) { Ok(None) } else { self.0.read_file(path) }
    }

    fn stat(&self, path: &[u8]) -> Result<Option<FileInfo>, Error> {
        if is_hidden(path) { Ok(None) } else { self.0.stat(path) }
    }

    fn entries(&self, path: &[u8]) -> Result<Entries, Error> {
        self.0.entries(path)
    }

    fn realpath(&self, path: &[u8]) -> Result<JsString, Error> {
        self.0.realpath(path)
    }
}
