//! The parts of a toolbox, as its operations use them.
//!
//! Invariant: only operations take all parts. A part owns its own state and takes what it needs of another part as an argument.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use toolcell_i18n::message;
use toolcell_store::{Entry, Fault, Store};

use crate::admission::AdmissionControl;
use crate::clock::Clock;
use crate::execution::{LoadedTool, Runtime};
use crate::host_calls::{ResourceContext, Resources};
use crate::records::Recorder;
use crate::type_check::TypeChecker;

/// The parts of a toolbox.
pub(crate) struct Parts {
    /// The store of the tools, if there is one.
    pub(crate) store: Option<Arc<Store>>,
    /// The sandbox, and the cache of loaded tools and evaluated scripts.
    pub(crate) runtime: Runtime,
    /// The policy, the hooks and the approvals.
    pub(crate) admission: AdmissionControl,
    /// The resources that grants give tools access to.
    pub(crate) resources: Resources,
    /// The records of attempts.
    pub(crate) recorder: Recorder,
    /// The clock.
    pub(crate) clock: Clock,
    /// Checks types, if the host has a program for that.
    pub(crate) types: Option<TypeChecker>,
    /// Held while a reviewed tool is decided about.
    pub(crate) review_lock: Mutex<()>,
}

impl Parts {
    /// Returns the store, or an error if the toolbox has none.
    pub(crate) fn require_store(&self) -> Result<&Store, Fault> {
        self.store.as_deref().ok_or_else(|| Fault::ReadOnly { path: message!("a toolbox without a store") })
    }

    /// Whether the store keeps a receipt of each run.
    pub(crate) fn keeps_receipts(&self) -> bool {
        self.store.is_some() && self.admission.policy().keeps_receipts()
    }

    /// Loads a stored tool, checks it against its identifier, and analyses it; once in this process.
    pub(crate) fn load_tool(&self, entry: &Entry) -> Result<Arc<LoadedTool>, Fault> {
        self.runtime.load_tool(self.require_store()?, entry)
    }

    /// Returns the current time of the toolbox's clock.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Returns the parts that decide which resources may be opened.
    pub(crate) fn resource_context(&self) -> ResourceContext<'_> {
        ResourceContext {
            store: self.store.as_ref(),
            admission: &self.admission,
            worker_program: self.runtime.worker_program(),
        }
    }
}
