//! The server: answers the requests of every principal, each from a toolbox of its own.
//!
//! Invariant: a request is answered for the principal that its transport names, and nothing of a request outlives it but
//! what the store keeps, a task, and who listens for changes. So both eras of the protocol are one server: whoever has a
//! session is told nothing that whoever has none is not.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use toolcell::store::Store;
use toolcell::{Lang, Toolbox, ToolboxError};

use crate::calls::Calls;
use crate::principal::Principal;
use crate::redact::Redaction;
use crate::tenant::Tenant;

/// What a server is made with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The language of answers.
    pub lang: Lang,
    /// How many approved tools are tools of their own; none by default.
    pub publish: usize,
    /// How many runs of a principal go on at once, where nothing else is said of it. Without this: as
    /// many as the sandbox takes.
    pub share: Option<NonZeroUsize>,
    /// What is said of single principals.
    pub shares: HashMap<Principal, NonZeroUsize>,
    /// How many runs of a principal wait for their turn at most.
    pub waiting: usize,
    /// How often a client that asked for progress hears of a run that says nothing.
    pub heartbeat: Duration,
    /// For how long somebody may think about a question.
    pub patience: Duration,
    /// Paths of the host that no client over HTTP is told: directories of stores, policy files, the working directory.
    pub private: Vec<PathBuf>,
}

impl Default for Settings {
    /// English, no tool of its own, 256 runs that wait, a heartbeat every 5 s, 15 minutes for a question.
    fn default() -> Self {
        Self {
            lang: Lang::En,
            publish: 0,
            share: None,
            shares: HashMap::new(),
            waiting: 256,
            heartbeat: Duration::from_secs(5),
            patience: Duration::from_mins(15),
            private: Vec::new(),
        }
    }
}

/// Why a principal has no toolbox.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OpenFailure {
    /// The stable code.
    pub code: &'static str,
    /// Why.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

impl From<ToolboxError> for OpenFailure {
    fn from(error: ToolboxError) -> Self {
        Self { code: error.code(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

/// Opens the toolbox of a principal; once for each.
pub type Open = dyn Fn(&Principal) -> Result<Arc<Toolbox>, OpenFailure> + Send + Sync;

/// Answers requests. A copy is the same server.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    settings: Settings,
    open: Box<Open>,
    tenants: Mutex<HashMap<Principal, Arc<OnceCell<Arc<Tenant>>>>>,
    calls: Calls,
    redaction: Redaction,
}

impl Server {
    /// A server that opens toolboxes when they are needed first.
    pub fn new(
        settings: Settings,
        open: impl Fn(&Principal) -> Result<Arc<Toolbox>, OpenFailure> + Send + Sync + 'static,
    ) -> Self {
        let (tenants, calls, redaction) = (Mutex::default(), Calls::default(), Redaction::new(&settings.private));
        Self(Arc::new(Inner { settings, open: Box::new(open), tenants, calls, redaction }))
    }

    /// What is under way.
    #[must_use]
    pub fn calls(&self) -> &Calls {
        &self.0.calls
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// What clients over HTTP are not told.
    pub(crate) fn redaction(&self) -> &Redaction {
        &self.0.redaction
    }

    /// Whether requests can be answered: the stores that are open answer. Who asks has shown no token, and is told no more than
    /// a code.
    pub(crate) fn is_ready(&self) -> Result<(), String> {
        let tenants: Vec<Arc<Tenant>> = {
            let tenants = self.0.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            tenants.values().filter_map(|cell| cell.get().cloned()).collect()
        };
        let asked = tenants.iter().filter_map(|tenant| tenant.toolbox.store());
        let answered = asked.map(Store::generation).collect::<Result<Vec<_>, _>>();
        answered.map(drop).map_err(|fault| {
            tracing::warn!(code = fault.code(), "a store does not answer: {fault}");
            format!("a store does not answer ({})", fault.code())
        })
    }

    /// The toolbox of a principal, and what else is its own.
    pub(crate) async fn tenant(&self, principal: &Principal) -> Result<Arc<Tenant>, OpenFailure> {
        let cell = {
            let mut tenants = self.0.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            match tenants.get(principal) {
                Some(cell) => Arc::clone(cell),
                None => Arc::clone(tenants.entry(principal.clone()).or_default()),
            }
        };
        if let Some(tenant) = cell.get() {
            return Ok(Arc::clone(tenant));
        }
        let opened = cell.get_or_try_init(|| async {
            let (server, name) = (self.clone(), principal.clone());
            let opened = tokio::task::spawn_blocking(move || (server.0.open)(&name)).await;
            let toolbox = opened.unwrap_or_else(|error| Err(ended(&error)))?;
            Ok(Arc::new(Tenant::new(principal.clone(), toolbox, self.settings())))
        });
        opened.await.map(Arc::clone)
    }
}

/// Opening panicked, or the runtime ends.
fn ended(error: &tokio::task::JoinError) -> OpenFailure {
    OpenFailure {
        code: "bug",
        message: format!("the store was not opened: {error}"),
        hint: "this is a bug of Toolcell; please report it with the log of the server".to_owned(),
    }
}
