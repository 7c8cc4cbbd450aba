//! What is a principal's own: a toolbox, a share of the machine, tasks, and who listens.
//!
//! Invariant: nothing of one principal is reached through another, and nothing of a principal is done on a blocking thread
//! without a turn of its share.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::RequestContext;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolcell::Toolbox;

use crate::changes::Changes;
use crate::handler::entry;
use crate::principal::Principal;
use crate::seal::Seal;
use crate::server::Settings;
use crate::share::{Entry, Full, Kind, Share, Turn};
use crate::task::Tasks;

pub(crate) struct Tenant {
    pub(crate) principal: Principal,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) share: Share,
    pub(crate) tasks: Tasks,
    pub(crate) changes: Changes,
    pub(crate) seal: Seal,
}

/// What ends the wait for a turn.
#[derive(Clone)]
pub(crate) struct Patience {
    /// Cancelled where the client gives its request up.
    pub(crate) request: CancellationToken,
    /// Cancelled where the server stops.
    pub(crate) stopping: CancellationToken,
    /// What the request holds meanwhile, where it came over HTTP.
    pub(crate) entry: Option<Entry>,
}

/// Why a verb was not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotBegun {
    #[error(transparent)]
    Full(#[from] Full),
    #[error("the request was cancelled while it waited for its turn")]
    Cancelled,
}

impl NotBegun {
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Full(_) => Full::CODE,
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Full(_) => Full::HINT,
            Self::Cancelled => "send the request again if that was not meant",
        }
    }

    /// The error of the protocol, for requests that are no calls of tools.
    pub(crate) fn to_error(self) -> ErrorData {
        let mut data = json!({"code": self.code(), "hint": self.hint()});
        if let Self::Full(_) = self {
            data["retryAfterMs"] = json!(Full::RETRY.as_millis());
        }
        ErrorData::new(BUSY, self.to_string(), Some(data))
    }
}

/// A server error of JSON-RPC: the request may be sent again.
const BUSY: ErrorCode = ErrorCode(-32_000);

impl Tenant {
    pub(crate) fn new(principal: Principal, toolbox: Arc<Toolbox>, settings: &Settings) -> Self {
        let said = settings.shares.get(&principal).copied().or(settings.share);
        let share = Share::new(said.map_or_else(|| toolbox.slots(), Into::into), settings.waiting);
        let changes = Changes::of(&toolbox);
        Self { principal, toolbox, share, tasks: Tasks::default(), changes, seal: Seal::default() }
    }

    /// Whom the record names.
    pub(crate) fn caller(&self) -> String {
        if self.principal.is_local() { "mcp".to_owned() } else { format!("mcp {}", self.principal) }
    }

    /// Does a verb that is no run on a blocking thread, when its turn has come, and gives the turn as well. It does not end before
    /// the work, even where the request is given up.
    ///
    /// # Errors
    /// `busy`, `cancelled`
    pub(crate) async fn verb<T: Send + 'static>(
        &self,
        patience: &Patience,
        work: impl FnOnce(&Toolbox) -> T + Send + 'static,
    ) -> Result<(T, Turn), NotBegun> {
        let turn = self.turn(patience).await?;
        let work = move |toolbox: &Toolbox| (work(toolbox), turn);
        Ok(self.toolbox.off_thread(work).await)
    }

    /// Waits for a turn of a verb that is no run.
    ///
    /// # Errors
    /// `busy`, `cancelled`
    pub(crate) async fn turn(&self, patience: &Patience) -> Result<Turn, NotBegun> {
        if let Some(entry) = &patience.entry {
            entry.waits();
        }
        tokio::select! {
            biased;
            turn = self.share.turn(Kind::Verb) => Ok(turn?),
            () = patience.ends() => Err(NotBegun::Cancelled),
        }
    }

    /// Records a request that no verb gets to see. One line is written at a time.
    pub(crate) async fn turn_away(
        &self,
        operation: Option<&'static str>,
        tool: Option<String>,
        code: &'static str,
        message: String,
    ) {
        let permit = self.share.recorder().await;
        let recorded = self.toolbox.off_thread(move |toolbox| {
            let _permit = permit;
            toolbox.turn_away(operation, tool.as_deref(), code, message)
        });
        if let Err(fault) = recorded.await {
            tracing::warn!(code = fault.code(), "a request that was turned away is not recorded: {fault}");
        }
    }
}

impl Patience {
    pub(crate) fn of(context: &RequestContext<RoleServer>, stopping: &CancellationToken) -> Self {
        Self { request: context.ct.clone(), stopping: stopping.clone(), entry: entry(&context.extensions) }
    }

    /// Keeps a turn until the answer is made; see [`Entry::keep`].
    pub(crate) fn keep(&self, turn: Turn) {
        if let Some(entry) = &self.entry {
            entry.keep(turn);
        }
    }

    async fn ends(&self) {
        tokio::select! {
            () = self.request.cancelled() => {}
            () = self.stopping.cancelled() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::mpsc::channel;
    use std::sync::{Mutex, PoisonError};

    use toolcell::SandboxConfig;

    use super::*;

    #[tokio::test]
    async fn sixty_four_requests_of_one_tenant_leave_the_next_turn_to_another() {
        let toolbox = Arc::new(Toolbox::new(&SandboxConfig::default()).unwrap());
        let settings = Settings { share: Some(NonZeroUsize::MIN), ..Settings::default() };
        let [alice, bob] = ["alice", "bob"]
            .map(|name| Arc::new(Tenant::new(Principal::parse(name).unwrap(), Arc::clone(&toolbox), &settings)));
        let patience = Patience { request: CancellationToken::new(), stopping: CancellationToken::new(), entry: None };
        let order = Arc::new(Mutex::new(Vec::new()));
        let (release, held) = channel::<()>();
        let (began, begins) = tokio::sync::oneshot::channel();
        let work = |tenant: &Arc<Tenant>, act: Box<dyn FnOnce() + Send>| {
            let (tenant, patience, order) = (Arc::clone(tenant), patience.clone(), Arc::clone(&order));
            tokio::spawn(async move {
                let name = tenant.principal.clone();
                let done = tenant.verb(&patience, move |_| {
                    act();
                    order.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_string());
                });
                drop(done.await.unwrap());
            })
        };
        let first = work(
            &alice,
            Box::new(move || {
                began.send(()).unwrap();
                held.recv().unwrap();
            }),
        );
        begins.await.unwrap();
        let queue: Vec<_> = (0..64).map(|_| work(&alice, Box::new(|| ()))).collect();
        work(&bob, Box::new(|| ())).await.unwrap();
        assert_eq!(*order.lock().unwrap(), ["bob"]);
        release.send(()).unwrap();
        first.await.unwrap();
        for request in queue {
            request.await.unwrap();
        }
        assert_eq!(order.lock().unwrap().iter().filter(|name| *name == "alice").count(), 65);
    }

    #[tokio::test]
    async fn a_request_that_is_given_up_waits_no_longer_for_its_turn() {
        let toolbox = Arc::new(Toolbox::new(&SandboxConfig::default()).unwrap());
        let settings = Settings { share: Some(NonZeroUsize::MIN), waiting: 1, ..Settings::default() };
        let tenant = Tenant::new(Principal::local(), toolbox, &settings);
        let patience = Patience { request: CancellationToken::new(), stopping: CancellationToken::new(), entry: None };
        let turn = tenant.turn(&patience).await.unwrap();
        patience.request.cancel();
        let error = tenant.verb(&patience, |_| ()).await.unwrap_err();
        assert_eq!((error, error.code()), (NotBegun::Cancelled, "cancelled"));
        drop(turn);
        assert!(tenant.turn(&patience).await.is_ok());
    }
}
