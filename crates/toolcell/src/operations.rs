//! What the host does for a tool while it waits: what its grants give, and nothing else.
//!
//! ```text
//! a tool asks → under way: a timer here, a request in the background, a file or a pair of a space aside → inbox → the tool goes on
//! ```
//!
//! Invariant: an operation is begun once and ends once. What a run has under way ends with it, and how far each got is known.

mod background;
mod done;
mod failure;
mod fetch;
mod files;
mod inbox;
mod pairs;
mod pending;
mod plan;
mod protected;
mod reach;
pub(crate) mod tools;
mod under_way;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use toolcell_capabilities::{Files, Meters, NetRun};
use toolcell_host::{Grant, Operations, OperationsOfCall};
use toolcell_store::Store;
use toolcell_tool::{Grants, KvGrant, ToolId};

pub use done::{BodyEnd, Done, Effect, Received};
pub use plan::{Choice, Held, HeldBody, Planner};
pub use reach::{ReachError, SecretSource};

pub(crate) use background::Background;
pub(crate) use done::Ledger;
pub(crate) use pending::{Pending, Ticketed};
pub(crate) use plan::{Links, Nobody, Place, PlanChain};

use crate::run::{RunOptions, Within};
use crate::toolbox::Toolbox;

use under_way::UnderWay;

/// What one run is handed.
pub(crate) struct Given<'a> {
    toolbox: &'a Toolbox,
    /// The tool.
    id: ToolId,
    /// The name of the tool.
    name: String,
    /// How many tools wait for it, one for the other.
    depth: u32,
    /// The plan that it has with all of these, where what they do is held.
    pub(crate) plan: Option<Arc<PlanChain>>,
    /// What all runs of its tree have used.
    meters: Meters,
    /// As its run was asked for, or that of the first of the tools that wait for it.
    pub(crate) options: &'a RunOptions,
    /// What the tool is told that its call is called.
    pub(crate) call_id: String,
    /// All that it is granted.
    full: Grants,
    /// What of that exists in its cell.
    grants: Vec<Grant>,
    net: Option<Arc<NetRun>>,
    files: Option<Arc<Files>>,
    space: Option<Space>,
    background: &'a Background,
    /// What was done for the tool.
    pub(crate) ledger: Ledger,
    /// What the run waits for when it wakes up, and what it waits for when it falls asleep.
    pending: Mutex<Pending>,
}

/// Where a run stands among those that wait for each other.
pub(crate) struct Nesting<'a> {
    /// The call by which another tool waits for it.
    pub(crate) within: Option<&'a Within<'a>>,
    /// The plan that it has with all that wait for each other, where what they do is held.
    pub(crate) plan: Option<Arc<PlanChain>>,
}

/// A space of keys and values, and what may be done with it.
#[derive(Clone)]
struct Space {
    store: Arc<Store>,
    grant: Arc<KvGrant>,
    now: fn() -> Timestamp,
}

impl Operations for Given<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.grants.clone()
    }

    fn start(&self) -> Box<dyn OperationsOfCall + '_> {
        Box::new(UnderWay::new(self))
    }
}

impl Given<'_> {
    /// What the run waits for while it sleeps.
    pub(crate) fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What exists in a cell with these grants.
fn visible(grants: &Grants) -> Vec<Grant> {
    let secrets = || grants.secrets.iter().map(|secret| secret.name.to_string()).collect();
    [
        (grants.timers, Grant::Timers),
        (!grants.net.is_empty(), Grant::Net),
        (grants.kv.is_some(), Grant::Kv),
        (!grants.files.is_empty(), Grant::Files),
        (!grants.secrets.is_empty(), Grant::Secrets { names: secrets() }),
        (!grants.tools.is_empty(), Grant::Tools),
    ]
    .into_iter()
    .filter_map(|(granted, grant)| granted.then_some(grant))
    .collect()
}
