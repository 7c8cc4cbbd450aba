//! The settings of a server.
//!
//! Invariant: the settings are plain data and do not change while the server runs.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use toolcell::Lang;

use crate::principal::Principal;

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// The language of results.
    pub lang: Lang,
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
}

impl Default for ServerSettings {
    /// English, no published tools, 256 waiting runs, a heartbeat every 5 s, 15 minutes for a
    /// prompt.
    fn default() -> Self {
        Self {
            lang: Lang::En,
            max_published: 0,
            concurrent_runs: None,
            concurrent_runs_by_principal: HashMap::new(),
            max_waiting: 256,
            heartbeat_interval: Duration::from_secs(5),
            prompt_timeout: Duration::from_mins(15),
            redacted_paths: Vec::new(),
        }
    }
}
