//! The sessions of clients that speak the protocol of 2025-11-25 or before, and whose they are.
//!
//! Such a session is the library's; here it gets an owner, and an end. The protocol lets a client that lost its connection
//! come back for the rest of an answer, so a request goes on without a listener for a while; then it is cancelled.
//!
//! Invariant: a session is known to the principal that made it and to nobody else, and there is a bounded number: of the
//! principal that has the most, the one that was used least recently makes room.

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

use crate::principal::Principal;

/// The longest request that begins a session, in bytes. What a client says of itself is kept as long as its session.
pub(super) const OPENING_LIMIT: usize = 64 << 10;

tokio::task_local! {
    /// Whose request it is that the library answers just now.
    pub(super) static CALLER: Caller;
}

/// Whose a request is, and how long.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) principal: Principal,
    pub(super) bytes: usize,
}

/// The sessions of all principals. A copy is about the same ones.
#[derive(Clone)]
pub(super) struct Sessions {
    library: Arc<LocalSessionManager>,
    book: Arc<Mutex<Book>>,
    /// How many there may be.
    limit: usize,
    /// How long a request goes on that nobody listens to.
    unheard: Duration,
}

#[derive(Default)]
struct Book {
    owners: HashMap<SessionId, Owner>,
    listeners: HashMap<Stretch, Listener>,
}

struct Owner {
    principal: Principal,
    used: Instant,
}

/// A request as the library numbers it: within a session.
type Stretch = (SessionId, u64);

/// Who listens to what comes of a request.
struct Listener {
    request: RequestId,
    /// How many listened.
    turns: u64,
}

/// Whose a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Theirs who ask.
    Own,
    /// Somebody else's.
    Foreign,
    /// Nobody's: there is none.
    Unknown,
}

/// Why a session does not do what it should.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("a session is made by a principal")]
    Nobody,
    #[error("what begins the session is longer than {OPENING_LIMIT} bytes")]
    Opening,
    #[error(transparent)]
    Session(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(limit: usize, idle: Duration, unheard: Duration) -> Self {
        let mut library = LocalSessionManager::default();
        library.session_config.keep_alive = Some(idle);
        Self { library: Arc::new(library), book: Arc::default(), limit, unheard }
    }

    /// Whose a session is, as a principal sees it. Says that it is used where it is theirs.
    pub(super) fn whose(&self, session: &str, principal: &Principal) -> Whose {
        match self.book().owners.get_mut(session) {
            Some(owner) if owner.principal == *principal => {
                owner.used = Instant::now();
                Whose::Own
            }
            Some(_) => Whose::Foreign,
            None => Whose::Unknown,
        }
    }

    /// The session that has to make room for another one.
    fn surplus(&self) -> Option<SessionId> {
        let book = self.book();
        if book.owners.len() < self.limit {
            return None;
        }
        let mut counts: HashMap<&Principal, usize> = HashMap::new();
        for owner in book.owners.values() {
            *counts.entry(&owner.principal).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(principal, _)| principal)?;
        let theirs = book.owners.iter().filter(|(_, owner)| owner.principal == *most);
        theirs.min_by_key(|(_, owner)| owner.used).map(|(session, _)| Arc::clone(session))
    }

    fn forget(&self, session: &SessionId) {
        let mut book = self.book();
        book.owners.remove(session);
        book.listeners.retain(|(other, _), _| other != session);
    }

    /// Cancels a request if nobody comes back for its answer.
    async fn give_up(self, session: SessionId, request: RequestId, left: Option<(u64, u64)>) {
        if let Some((number, turns)) = left {
            tokio::time::sleep(self.unheard).await;
            let stretch = (Arc::clone(&session), number);
            if self.book().listeners.get(&stretch).is_none_or(|listener| listener.turns != turns) {
                return;
            }
            self.book().listeners.remove(&stretch);
        }
        let about = CancelledNotificationParam::new(Some(request), Some("nobody listens to its answer".to_owned()));
        let cancelled = ClientNotification::CancelledNotification(CancelledNotification::new(about));
        // Where the session is gone, so is the request.
        let _ = self.library.accept_message(&session, ClientJsonRpcMessage::notification(cancelled)).await;
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let Caller { principal, bytes } = CALLER.try_with(Caller::clone).map_err(|_| SessionsError::Nobody)?;
        if bytes > OPENING_LIMIT {
            return Err(SessionsError::Opening);
        }
        while let Some(surplus) = self.surplus() {
            self.close_session(&surplus).await?;
        }
        let (session, transport) = self.library.create_session().await?;
        self.book().owners.insert(Arc::clone(&session), Owner { principal, used: Instant::now() });
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
        Ok(Heard::new(self.clone(), Arc::clone(id), request, stream))
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
        let number = numbered(&last_event_id);
        let stream = self.library.resume(id, last_event_id).await?;
        let request = number.and_then(|number| {
            let mut book = self.book();
            let listener = book.listeners.get_mut(&(Arc::clone(id), number))?;
            listener.turns += 1;
            Some(listener.request.clone())
        });
        Ok(Heard::new(self.clone(), Arc::clone(id), request, stream))
    }
}

/// What comes of a request, as somebody listens to it.
struct Heard {
    sessions: Sessions,
    session: SessionId,
    /// Nothing where the answer came, or there is none to come.
    request: Option<RequestId>,
    /// The number that the library gives the request, and how many listened before, as soon as they are known.
    turn: Option<(u64, u64)>,
    stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
}

impl Heard {
    fn new(
        sessions: Sessions,
        session: SessionId,
        request: Option<RequestId>,
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> Self {
        Self { sessions, session, request, turn: None, stream: Box::pin(stream) }
    }

    fn hear(&mut self, event: &ServerSseMessage) {
        let Some(request) = &self.request else { return };
        if let (None, Some(number)) = (self.turn, event.event_id.as_deref().and_then(numbered)) {
            let mut book = self.sessions.book();
            let first = || Listener { request: request.clone(), turns: 0 };
            let listener = book.listeners.entry((Arc::clone(&self.session), number)).or_insert_with(first);
            self.turn = Some((number, listener.turns));
        }
        if let Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)) = event.message.as_deref() {
            self.end();
        }
    }

    fn end(&mut self) {
        self.request = None;
        if let Some((number, _)) = self.turn {
            self.sessions.book().listeners.remove(&(Arc::clone(&self.session), number));
        }
    }
}

impl Stream for Heard {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let next = self.stream.as_mut().poll_next(cx);
        match &next {
            Poll::Ready(Some(event)) => self.hear(event),
            // It ended, or somebody else listens now.
            Poll::Ready(None) => self.request = None,
            Poll::Pending => {}
        }
        next
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        if let (Some(request), Ok(runtime)) = (self.request.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(self.sessions.clone().give_up(Arc::clone(&self.session), request, self.turn));
        }
    }
}

/// The number of a request in the identity of an event of its stream: `index/number`.
fn numbered(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}
