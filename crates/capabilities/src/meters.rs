//! Counters of what the runs of one tree have used: a run, the runs of the tools that it calls, and so on.
//!
//! Invariant: what a run uses counts against its own grants and against those of each run that it is called within. All runs of one
//! tool in a tree count together, so that no number of nested calls multiplies a cap.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

use toolcell_tool::{FilesGrant, FolderName};

/// The counters of one tree of runs. A copy counts together with the original.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Files, Meters, RunFiles, WriteMode};
/// use toolcell_tool::{Access, FilesGrant, FolderName};
///
/// let folder = tempfile::tempdir()?;
/// let grant = FilesGrant::to(FolderName::parse("notes")?, folder.path().to_owned());
/// let grants = [FilesGrant { access: Access::Write, bytes: 10, ..grant }];
/// let meters = Meters::default();
/// let run = || Files::open(&RunFiles { tool: "dt_1", grants: &grants, meters: meters.clone(), ..RunFiles::default() });
/// run()?.write("notes/one", b"1234567", WriteMode::Create)?;
/// assert_eq!(run()?.write("notes/two", b"1234567", WriteMode::Create).unwrap_err().code, "files-quota");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Meters(Arc<Mutex<BTreeMap<String, Arc<Meter>>>>);

/// The counters of all runs of one tool in a tree.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// How many requests were made.
    pub(crate) calls: AtomicU32,
    folders: Mutex<BTreeMap<(FolderName, PathBuf), FolderMeter>>,
}

/// How many bytes of a folder were taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderMeter {
    pub(crate) written: Arc<AtomicU64>,
    pub(crate) read: Arc<AtomicU64>,
}

impl Meters {
    /// The counters of a tool.
    pub(crate) fn of(&self, tool: &str) -> Arc<Meter> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(tool.to_owned()).or_default())
    }
}

impl Meter {
    /// The counters of a folder.
    pub(crate) fn folder(&self, grant: &FilesGrant) -> FolderMeter {
        let mut all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((grant.name.clone(), grant.path.clone())).or_default().clone()
    }
}
