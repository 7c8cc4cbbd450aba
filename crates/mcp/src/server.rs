//! The server, which answers each principal from a toolbox of its own.
//!
//! Invariant: a request is answered for the principal that its transport names. Nothing of a
//! request outlives it except stored data, tasks and subscriptions. One server therefore speaks
//! both the session-based and the stateless revisions of the protocol.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use toolcell::{Localize as _, Message, Toolbox, ToolboxError};
use toolcell_error::ErrorCode;
use toolcell_i18n::message;

use crate::in_flight::CallTracker;
use crate::lent_functions::LentFunctions;
use crate::principal::Principal;
use crate::redact::PathRedactor;
use crate::settings::ServerSettings;
use crate::tenant::Tenant;

/// Why the toolbox of a principal cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
#[error("{message}")]
pub struct OpenFailure {
    /// The stable code.
    pub code: ErrorCode,
    /// The message.
    pub message: Message,
    /// What the operator can do next.
    pub hint: Message,
}

impl From<ToolboxError> for OpenFailure {
    fn from(error: ToolboxError) -> Self {
        Self { code: error.code(), message: error.localize(), hint: error.hint().into() }
    }
}

/// Opens the toolbox of a principal; called until it succeeds once.
pub type OpenToolbox = dyn Fn(&Principal) -> Result<Arc<Toolbox>, OpenFailure> + Send + Sync;

/// The MCP server. Clones share the same server.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    settings: ServerSettings,
    open: Box<OpenToolbox>,
    tenants: Mutex<HashMap<Principal, Arc<OnceCell<Arc<Tenant>>>>>,
    calls: CallTracker,
    path_redactor: PathRedactor,
    policy_redactor: PathRedactor,
    lent_functions: LentFunctions,
}

impl Server {
    /// Creates a server that opens a toolbox when its principal calls first.
    pub fn new(
        settings: ServerSettings,
        open: impl Fn(&Principal) -> Result<Arc<Toolbox>, OpenFailure> + Send + Sync + 'static,
    ) -> Self {
        let [path_redactor, policy_redactor] =
            [&settings.redacted_paths, &settings.policy_files].map(|paths| PathRedactor::new(paths));
        let (tenants, calls, lent_functions) = (Mutex::default(), CallTracker::default(), LentFunctions::default());
        Self(Arc::new(Inner {
            settings,
            open: Box::new(open),
            tenants,
            calls,
            path_redactor,
            policy_redactor,
            lent_functions,
        }))
    }

    /// The calls in flight.
    #[must_use]
    pub fn calls(&self) -> &CallTracker {
        &self.0.calls
    }

    pub(crate) fn settings(&self) -> &ServerSettings {
        &self.0.settings
    }

    /// Redacts paths for remote clients.
    pub(crate) fn path_redactor(&self) -> &PathRedactor {
        &self.0.path_redactor
    }

    /// Redacts the paths of policy files in what a model reads.
    pub(crate) fn policy_redactor(&self) -> &PathRedactor {
        &self.0.policy_redactor
    }

    /// The functions that the host lends, which only one over standard input and output can.
    pub(crate) fn lent_functions(&self) -> &LentFunctions {
        &self.0.lent_functions
    }

    /// Checks that all open stores respond. The caller is not authenticated, so the error reveals
    /// only a code.
    pub(crate) fn check_ready(&self) -> Result<(), String> {
        let tenants: Vec<Arc<Tenant>> = {
            let tenants = self.0.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            tenants.values().filter_map(|cell| cell.get().cloned()).collect()
        };
        let asked = tenants.iter().filter_map(|tenant| tenant.toolbox.store());
        let answered = asked.map(|store| store.catalog().generation()).collect::<Result<Vec<_>, _>>();
        answered.map(drop).map_err(|fault| {
            tracing::warn!(code = fault.code().as_str(), "a store does not respond: {fault}");
            format!("a store does not respond ({})", fault.code())
        })
    }

    /// Returns the tenant of a principal, and opens its toolbox if necessary.
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
            let toolbox = opened.unwrap_or_else(|error| Err(join_failure(&error)))?;
            Ok(Arc::new(Tenant::new(principal.clone(), toolbox, self.settings())))
        });
        opened.await.map(Arc::clone)
    }
}

/// Opening panicked, or the runtime is shutting down.
fn join_failure(error: &tokio::task::JoinError) -> OpenFailure {
    OpenFailure {
        code: ErrorCode::Bug,
        message: message!("the store could not be opened: {error}", error),
        hint: message!("this is a bug in Toolcell; please report it with the server log"),
    }
}
