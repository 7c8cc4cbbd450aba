//! The toolboxes of a server: one for each principal, in a store of its own. All share one sandbox.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use toolcell::{Toolbox, ToolboxConfig, ToolboxError};
use toolcell_mcp::Principal;

/// The folder of the principals' stores.
const PRINCIPALS_FOLDER: &str = "principals";

/// Returns the folder of a principal's store, below the directory of the server; `None` if that is the store.
pub(super) fn folder_of(principal: &Principal) -> Option<PathBuf> {
    (!principal.is_local()).then(|| Path::new(PRINCIPALS_FOLDER).join(principal.as_str()))
}

/// The toolbox of a principal, once it was opened.
type Opened = Arc<Mutex<Option<Arc<Toolbox>>>>;

/// The toolboxes of a server.
pub(super) struct Toolboxes {
    local: Arc<Toolbox>,
    dir: PathBuf,
    config: ToolboxConfig,
    of_principals: Mutex<HashMap<Principal, Opened>>,
}

impl Toolboxes {
    /// Opens the store in the directory itself, which a local client uses.
    ///
    /// # Errors
    /// The errors of [`Toolbox::open`].
    pub(super) fn open_local(dir: &Path, config: ToolboxConfig) -> Result<Self, ToolboxError> {
        let local = Arc::new(Toolbox::open(dir, config.clone())?);
        Ok(Self { local, dir: dir.to_owned(), config, of_principals: Mutex::default() })
    }

    /// Returns the toolbox of a principal, and opens it if necessary. A principal whose store opens slowly keeps no other one waiting.
    ///
    /// # Errors
    /// The errors of [`Toolbox::sibling`].
    pub(super) fn open(&self, principal: &Principal) -> Result<Arc<Toolbox>, ToolboxError> {
        let Some(folder) = folder_of(principal) else { return Ok(Arc::clone(&self.local)) };
        let opened = {
            let mut all = self.of_principals.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(principal.clone()).or_default())
        };
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(toolbox) = &*opened {
            return Ok(Arc::clone(toolbox));
        }
        let toolbox = Arc::new(self.local.sibling(&self.dir.join(folder), self.config.clone())?);
        Ok(Arc::clone(opened.insert(toolbox)))
    }
}
