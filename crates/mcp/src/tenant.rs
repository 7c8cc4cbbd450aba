//! The resources of one principal: a toolbox, a limiter, tasks and subscriptions.
//!
//! Invariant: no resource is shared between principals, and no blocking thread works for a
//! principal without a permit.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolcell::{Policy, Toolbox};
use toolcell_error::ErrorCode;
use toolcell_i18n::msgid;

use crate::change_notifier::ChangeNotifier;
use crate::principal::Principal;
use crate::request_context::permit_holder;
use crate::request_limiter::{Overloaded, PermitHolder, RequestKind, RequestLimiter, RequestPermit};
use crate::request_state::StateCodec;
use crate::result_cache::ResultCache;
use crate::settings::ServerSettings;
use crate::task::Tasks;

pub(crate) struct Tenant {
    pub(crate) principal: Principal,
    pub(crate) toolbox: Arc<Toolbox>,
    /// The policy of the toolbox, for prompts.
    pub(crate) policy: Arc<Policy>,
    pub(crate) limiter: RequestLimiter,
    pub(crate) tasks: Tasks,
    pub(crate) change_notifier: ChangeNotifier,
    pub(crate) request_state: StateCodec,
    pub(crate) results: ResultCache,
}

/// What ends the wait for a permit, and what the request holds meanwhile.
#[derive(Clone)]
pub(crate) struct WaitContext {
    /// Cancelled when the client gives up its request.
    pub(crate) request_cancelled: CancellationToken,
    /// Cancelled when the server stops.
    pub(crate) stopping: CancellationToken,
    /// The permits that the request holds, if it came over HTTP.
    pub(crate) holder: Option<PermitHolder>,
}

/// Why an operation was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
pub(crate) enum NotStarted {
    #[error(transparent)]
    Overloaded(#[from] Overloaded),
    #[error("the request was cancelled while it was queued")]
    Cancelled,
}

impl NotStarted {
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::Overloaded(_) => Overloaded::CODE,
            Self::Cancelled => ErrorCode::Cancelled,
        }
    }

    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Overloaded(_) => Overloaded::HINT,
            Self::Cancelled => msgid!("send the request again if you did not mean to cancel it"),
        }
    }

    /// The protocol error, for requests that are not tool calls.
    pub(crate) fn to_error(self) -> ErrorData {
        let mut data = json!({"code": self.code(), "hint": self.hint()});
        if let Self::Overloaded(_) = self {
            data["retryAfterMs"] = json!(Overloaded::RETRY_AFTER.as_millis());
        }
        ErrorData::new(BUSY, self.to_string(), Some(data))
    }
}

/// A JSON-RPC server error: the request may be sent again.
const BUSY: rmcp::model::ErrorCode = rmcp::model::ErrorCode(-32_000);

impl Tenant {
    pub(crate) fn new(principal: Principal, toolbox: Arc<Toolbox>, settings: &ServerSettings) -> Self {
        let said = settings.concurrent_runs_by_principal.get(&principal).copied().or(settings.concurrent_runs);
        let limiter = RequestLimiter::new(said.map_or_else(|| toolbox.slots(), Into::into), settings.max_waiting);
        let changes = ChangeNotifier::new(&toolbox);
        Self {
            principal,
            policy: Arc::new(toolbox.policy().clone()),
            toolbox,
            limiter,
            tasks: Tasks::default(),
            change_notifier: changes,
            request_state: StateCodec::default(),
            results: ResultCache::default(),
        }
    }

    /// The caller's name in run records.
    pub(crate) fn caller(&self) -> String {
        if self.principal.is_local() { "mcp".to_owned() } else { format!("mcp {}", self.principal) }
    }

    /// Performs an operation other than a run on a blocking thread, and returns its result with the
    /// permit. Completes only after the work has, even if the request is cancelled meanwhile.
    ///
    /// # Errors
    /// `busy`, `cancelled`
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        wait: &WaitContext,
        work: impl FnOnce(&Toolbox) -> T + Send + 'static,
    ) -> Result<(T, RequestPermit), NotStarted> {
        let permit = self.acquire_permit(wait).await?;
        let work = move |toolbox: &Toolbox| (work(toolbox), permit);
        Ok(self.toolbox.spawn_blocking(work).await)
    }

    /// Waits for a permit for an operation other than a run.
    ///
    /// # Errors
    /// `busy`, `cancelled`
    pub(crate) async fn acquire_permit(&self, wait: &WaitContext) -> Result<RequestPermit, NotStarted> {
        if let Some(holder) = &wait.holder {
            holder.release_dispatch();
        }
        tokio::select! {
            biased;
            permit = self.limiter.acquire(RequestKind::Other) => Ok(permit?),
            () = wait.cancelled() => Err(NotStarted::Cancelled),
        }
    }

    /// Records a request that no operation sees. One line is written at a time.
    pub(crate) async fn record_rejected(
        &self,
        operation: Option<&'static str>,
        tool: Option<String>,
        code: ErrorCode,
        message: String,
    ) {
        let permit = self.limiter.acquire_audit_permit().await;
        let recorded = self.toolbox.spawn_blocking(move |toolbox| {
            let _permit = permit;
            toolbox.record_rejected(operation, tool.as_deref(), code, message)
        });
        if let Err(fault) = recorded.await {
            tracing::warn!(code = fault.code().as_str(), "a rejected request could not be recorded: {fault}");
        }
    }
}

impl WaitContext {
    pub(crate) fn new(context: &RequestContext<RoleServer>, stopping: &CancellationToken) -> Self {
        Self {
            request_cancelled: context.ct.clone(),
            stopping: stopping.clone(),
            holder: permit_holder(&context.extensions),
        }
    }

    /// Holds a permit until the response is computed; see [`PermitHolder::hold`].
    pub(crate) fn hold(&self, permit: RequestPermit) {
        if let Some(holder) = &self.holder {
            holder.hold(permit);
        }
    }

    async fn cancelled(&self) {
        tokio::select! {
            () = self.request_cancelled.cancelled() => {}
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
        let settings = ServerSettings { concurrent_runs: Some(NonZeroUsize::MIN), ..ServerSettings::default() };
        let [alice, bob] = ["alice", "bob"]
            .map(|name| Arc::new(Tenant::new(Principal::parse(name).unwrap(), Arc::clone(&toolbox), &settings)));
        let wait = WaitContext {
            request_cancelled: CancellationToken::new(),
            stopping: CancellationToken::new(),
            holder: None,
        };
        let order = Arc::new(Mutex::new(Vec::new()));
        let (release, held) = channel::<()>();
        let (began, begins) = tokio::sync::oneshot::channel();
        let work = |tenant: &Arc<Tenant>, act: Box<dyn FnOnce() + Send>| {
            let (tenant, wait, order) = (Arc::clone(tenant), wait.clone(), Arc::clone(&order));
            tokio::spawn(async move {
                let name = tenant.principal.clone();
                let done = tenant.run_blocking(&wait, move |_| {
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
        let settings =
            ServerSettings { concurrent_runs: Some(NonZeroUsize::MIN), max_waiting: 1, ..ServerSettings::default() };
        let tenant = Tenant::new(Principal::local(), toolbox, &settings);
        let wait = WaitContext {
            request_cancelled: CancellationToken::new(),
            stopping: CancellationToken::new(),
            holder: None,
        };
        let permit = tenant.acquire_permit(&wait).await.unwrap();
        wait.request_cancelled.cancel();
        let error = tenant.run_blocking(&wait, |_| ()).await.unwrap_err();
        assert_eq!((error, error.code().as_str()), (NotStarted::Cancelled, "cancelled"));
        drop(permit);
        assert!(tenant.acquire_permit(&wait).await.is_ok());
    }
}
