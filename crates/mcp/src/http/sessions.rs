//! Sessions of clients that speak protocol revision 2025-11-25 or earlier.
//!
//! `rmcp` implements them. Its `LocalSessionManager` knows no principals, has no bound on the number
//! of sessions, and does not cancel a request whose client is gone. This module wraps it: it gives
//! each session an owner and bounds their number and lifetime. The protocol lets a client reconnect
//! and read the rest of a response, so a request continues for a while after its client has
//! disconnected; then it is cancelled.
//!
//! Invariant: a session is visible only to the principal that created it, and the number of
//! sessions is bounded: the least recently used session of the principal that has the most is
//! evicted.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::time::Instant;

use super::tokens::TokenScope;
use crate::principal::Principal;

/// The longest `initialize` request, in bytes. The client information in it is kept as long as the
/// session.
pub(super) const MAX_INITIALIZE_BYTES: usize = 64 << 10;

tokio::task_local! {
    /// The caller of the request that `rmcp` is handling on this task.
    pub(super) static CALLER: Caller;
}

/// The principal of a request, what its token allows, and the size of the request.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) principal: Principal,
    pub(super) scope: TokenScope,
    pub(super) bytes: usize,
}

/// The sessions of all principals. Clones share the same sessions.
#[derive(Clone)]
pub(super) struct Sessions {
    library: Arc<LocalSessionManager>,
    table: Arc<Mutex<SessionTable>>,
    /// The most sessions.
    limit: usize,
    /// How long a request continues after its client has disconnected.
    orphan_timeout: Duration,
}

#[derive(Default)]
struct SessionTable {
    owners: HashMap<SessionId, OwnedSession>,
    listeners: HashMap<RequestKey, RequestListener>,
}

struct OwnedSession {
    principal: Principal,
    scope: TokenScope,
    last_used: Instant,
}

/// A request, as `rmcp` numbers it within its session.
type RequestKey = (SessionId, u64);

/// The client connections that read the response of a request.
struct RequestListener {
    request: RequestId,
    /// How many connections have been attached before.
    attach_count: u64,
}

/// The owner of a session, as seen by a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionOwner {
    /// The principal itself, with the same kind of token.
    Own,
    /// Another principal, or another kind of token: a session of the host shows what its person is
    /// asked.
    Foreign,
    /// The session does not exist.
    Unknown,
}

/// An error of session management.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
pub(super) enum SessionError {
    #[error("a session requires a principal")]
    NoPrincipal,
    #[error("the `initialize` request is longer than {MAX_INITIALIZE_BYTES} bytes")]
    InitializeTooLong,
    #[error(transparent)]
    Session(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(limit: usize, idle: Duration, unheard: Duration) -> Self {
        let mut library = LocalSessionManager::default();
        library.session_config.keep_alive = Some(idle);
        Self { library: Arc::new(library), table: Arc::default(), limit, orphan_timeout: unheard }
    }

    /// Returns the owner of a session as seen by a principal, and marks an own session as used.
    pub(super) fn owner_of(&self, session: &str, principal: &Principal, scope: TokenScope) -> SessionOwner {
        match self.lock_table().owners.get_mut(session) {
            Some(owner) if owner.principal == *principal && owner.scope == scope => {
                owner.last_used = Instant::now();
                SessionOwner::Own
            }
            Some(_) => SessionOwner::Foreign,
            None => SessionOwner::Unknown,
        }
    }

    /// The session to evict before another one is created.
    fn eviction_candidate(&self) -> Option<SessionId> {
        let book = self.lock_table();
        if book.owners.len() < self.limit {
            return None;
        }
        let mut counts: HashMap<&Principal, usize> = HashMap::new();
        for owner in book.owners.values() {
            *counts.entry(&owner.principal).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(principal, _)| principal)?;
        let theirs = book.owners.iter().filter(|(_, owner)| owner.principal == *most);
        theirs.min_by_key(|(_, owner)| owner.last_used).map(|(session, _)| Arc::clone(session))
    }

    fn forget(&self, session: &SessionId) {
        let mut book = self.lock_table();
        book.owners.remove(session);
        book.listeners.retain(|(other, _), _| other != session);
    }

    /// Cancels a request unless a client reconnects for its response.
    async fn cancel_orphan(self, session: SessionId, request: RequestId, left: Option<(u64, u64)>) {
        if let Some((number, turns)) = left {
            tokio::time::sleep(self.orphan_timeout).await;
            let stretch = (Arc::clone(&session), number);
            if self.lock_table().listeners.get(&stretch).is_none_or(|listener| listener.attach_count != turns) {
                return;
            }
            self.lock_table().listeners.remove(&stretch);
        }
        let about = CancelledNotificationParam::new(Some(request), Some("the client disconnected".to_owned()));
        let cancelled = ClientNotification::CancelledNotification(CancelledNotification::new(about));
        // If the session is gone, so is the request.
        let _ = self.library.accept_message(&session, ClientJsonRpcMessage::notification(cancelled)).await;
    }

    fn lock_table(&self) -> MutexGuard<'_, SessionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let Caller { principal, scope, bytes } =
            CALLER.try_with(Caller::clone).map_err(|_| SessionError::NoPrincipal)?;
        if bytes > MAX_INITIALIZE_BYTES {
            return Err(SessionError::InitializeTooLong);
        }
        while let Some(surplus) = self.eviction_candidate() {
            self.close_session(&surplus).await?;
        }
        let (session, transport) = self.library.create_session().await?;
        self.lock_table()
            .owners
            .insert(Arc::clone(&session), OwnedSession { principal, scope, last_used: Instant::now() });
        Ok((session, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.library.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.library.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.forget(id);
        Ok(self.library.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let stream = self.library.create_stream(id, message).await?;
        Ok(TrackedStream::new(self.clone(), Arc::clone(id), request, stream))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        Ok(self.library.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.library.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let number = request_number(&last_event_id);
        let stream = self.library.resume(id, last_event_id).await?;
        let request = number.and_then(|number| {
            let mut book = self.lock_table();
            let listener = book.listeners.get_mut(&(Arc::clone(id), number))?;
            listener.attach_count += 1;
            Some(listener.request.clone())
        });
        Ok(TrackedStream::new(self.clone(), Arc::clone(id), request, stream))
    }
}

/// The response stream of a request, which notices when its client disconnects.
struct TrackedStream {
    sessions: Sessions,
    session: SessionId,
    /// `None` after the response was sent, or if no response is due.
    request: Option<RequestId>,
    /// The number that `rmcp` gives the request, and the attach count of this stream, once they are
    /// known.
    attachment: Option<(u64, u64)>,
    stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
}

impl TrackedStream {
    fn new(
        sessions: Sessions,
        session: SessionId,
        request: Option<RequestId>,
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> Self {
        Self { sessions, session, request, attachment: None, stream: Box::pin(stream) }
    }

    fn observe(&mut self, event: &ServerSseMessage) {
        let Some(request) = &self.request else { return };
        if let (None, Some(number)) = (self.attachment, event.event_id.as_deref().and_then(request_number)) {
            let mut book = self.sessions.lock_table();
            let first = || RequestListener { request: request.clone(), attach_count: 0 };
            let listener = book.listeners.entry((Arc::clone(&self.session), number)).or_insert_with(first);
            self.attachment = Some((number, listener.attach_count));
        }
        if let Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)) = event.message.as_deref() {
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.request = None;
        if let Some((number, _)) = self.attachment {
            self.sessions.lock_table().listeners.remove(&(Arc::clone(&self.session), number));
        }
    }
}

impl Stream for TrackedStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let next = self.stream.as_mut().poll_next(cx);
        match &next {
            Poll::Ready(Some(event)) => self.observe(event),
            // The stream ended, or another connection took over.
            Poll::Ready(None) => self.request = None,
            Poll::Pending => {}
        }
        next
    }
}

impl Drop for TrackedStream {
    fn drop(&mut self) {
        if let (Some(request), Ok(runtime)) = (self.request.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(self.sessions.clone().cancel_orphan(Arc::clone(&self.session), request, self.attachment));
        }
    }
}

/// Parses the request number of an SSE event id, `index/number`.
fn request_number(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}
