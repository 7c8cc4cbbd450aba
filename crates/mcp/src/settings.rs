//! The settings of a server.
//!
//! Invariant: the settings are plain data and do not change while the server runs.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use toolcell::Lang;
use toolcell_model_tools::BuiltinTool;

use crate::principal::Principal;

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// The language of results.
    pub lang: Lang,
    /// The operations that are switched off: they are not listed, and calls of them are refused.
    pub disabled_operations: BTreeSet<BuiltinTool>,
    /// The most approved tools that are published as tools of their own; 0 by default.
    pub max_published: usize,
    /// The default number of concurrent runs per principal. `None` means as many as the sandbox can
    /// run.
    pub concurrent_runs: Option<NonZeroUsize>,
    /// Concurrent runs of single principals.
    pub concurrent_runs_by_principal: HashMap<Principal, NonZeroUsize>,
    /// The most runs of a principal that wait for a permit.
    pub max_waiting: usize,
    /// The interval of progress notifications for a run that reports nothing itself.
    pub heartbeat_interval: Duration,
    /// How long a user may take to answer a prompt.
    pub prompt_timeout: Duration,
    /// Host paths that are redacted for remote clients: store directories, policy files, the
    /// working directory.
    pub redacted_paths: Vec<PathBuf>,
    /// Policy files, whose paths no text for a model contains, also for local clients.
    pub policy_files: Vec<PathBuf>,
}

impl Default for ServerSettings {
    /// English, all operations, no published tools, 256 waiting runs, a heartbeat every 5 s, 15 minutes for a
    /// prompt.
    fn default() -> Self {
        Self {
            lang: Lang::En,
            disabled_operations: BTreeSet::new(),
            max_published: 0,
            concurrent_runs: None,
            concurrent_runs_by_principal: HashMap::new(),
            max_waiting: 256,
            heartbeat_interval: Duration::from_secs(5),
            prompt_timeout: Duration::from_mins(15),
            redacted_paths: Vec::new(),
            policy_files: Vec::new(),
        }
    }
}

impl ServerSettings {
    /// The operations that are switched on, in the order of the list.
    pub(crate) fn operations(&self) -> impl Iterator<Item = BuiltinTool> {
        BuiltinTool::ALL.into_iter().filter(|operation| !self.disabled_operations.contains(operation))
    }

    /// The operation with this name, if it is switched on.
    pub(crate) fn operation(&self, name: &str) -> Option<BuiltinTool> {
        self.operations().find(|operation| operation.name() == name)
    }
}
