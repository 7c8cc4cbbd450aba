//! Usage counters of a run tree: a run, the runs of the tools that it calls, and so on.
//!
//! Invariant: usage counts against the grants of the run itself and of every run that it is nested
//! in. All runs of one tool in a tree share their counters, so nesting cannot multiply a limit.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use toolcell_tool::{FilesGrant, FolderName};

/// The usage counters of a run tree. Clones share their counters.
///
/// # Examples
/// ```
/// use toolcell_capabilities::{Files, Meters, FilesConfig, WriteMode};
/// use toolcell_tool::{Access, FilesGrant, FolderName};
///
/// let folder = tempfile::tempdir()?;
/// let grant = FilesGrant::new(FolderName::parse("notes")?, folder.path().to_owned());
/// let grants = [FilesGrant { access: Access::Write, bytes: 10, ..grant }];
/// let meters = Meters::default();
/// let run = || Files::open(&FilesConfig { tool: "dt_1", grants: &grants, meters: meters.clone(), ..FilesConfig::default() });
/// run()?.write("notes/one", b"1234567", WriteMode::Create)?;
/// assert_eq!(run()?.write("notes/two", b"1234567", WriteMode::Create).unwrap_err().code, "files-quota");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Meters(Arc<Mutex<BTreeMap<String, Arc<Meter>>>>);

/// The counters of all runs of one tool in a tree.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// The number of requests made.
    #[cfg(feature = "net")]
    pub(crate) calls: std::sync::atomic::AtomicU32,
    folders: Mutex<BTreeMap<(FolderName, PathBuf), FolderMeter>>,
}

/// The number of bytes used of a folder's quotas.
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderMeter {
    pub(crate) written: Arc<AtomicU64>,
    pub(crate) read: Arc<AtomicU64>,
}

impl Meters {
    /// Returns the counters of a tool.
    pub(crate) fn for_tool(&self, tool: &str) -> Arc<Meter> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(tool.to_owned()).or_default())
    }
}

impl Meter {
    /// Returns the counters of a folder.
    pub(crate) fn folder(&self, grant: &FilesGrant) -> FolderMeter {
        let mut all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((grant.name.clone(), grant.path.clone())).or_default().clone()
    }
}
