//! What is a principal's own: a toolbox, a share of the machine, tasks, and who listens.
//!
//! Invariant: nothing of one principal is reached through another.

use std::sync::Arc;

use rmcp::task_manager::TaskManager;
use toolcell::Toolbox;

use crate::changes::Changes;
use crate::principal::Principal;
use crate::seal::Seal;
use crate::server::Settings;
use crate::share::Share;

pub(crate) struct Tenant {
    pub(crate) principal: Principal,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) share: Share,
    pub(crate) tasks: TaskManager,
    pub(crate) changes: Changes,
    pub(crate) seal: Seal,
}

impl Tenant {
    pub(crate) fn new(principal: Principal, toolbox: Arc<Toolbox>, settings: &Settings) -> Self {
        let said = settings.shares.get(&principal).copied().or(settings.share);
        let share = Share::new(said.map_or_else(|| toolbox.slots(), Into::into), settings.waiting);
        let changes = Changes::of(&toolbox);
        Self { principal, toolbox, share, tasks: TaskManager::new(), changes, seal: Seal::default() }
    }

    /// Whom the record names.
    pub(crate) fn caller(&self) -> String {
        if self.principal.is_local() { "mcp".to_owned() } else { format!("mcp {}", self.principal) }
    }
}
