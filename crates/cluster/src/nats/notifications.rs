//! The messages that a history has another entry: they are sent, and heard.
//!
//! Invariant: nothing depends on a message. One that is lost costs time, because nodes also look by themselves.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, mpsc as blocking};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use async_nats::{Client, Message as NatsMessage, Subscriber};
use futures_core::Stream as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use toolcell::store::HistoryKey;
use toolcell_i18n::{Message, message};

use super::address::{Health, NatsServers};
use super::answers::{Calls, answer_message};
use super::failure::{ServerFailure, describe, no_answer};
use super::subject;

/// The pause before a lost connection is made again.
const PAUSE: Duration = Duration::from_millis(500);
/// The number of messages that wait until they are sent. Those above it are dropped.
const MAX_WAITING: usize = 1_024;

/// A connection that is open.
#[derive(Clone)]
pub(crate) struct OpenConnection {
    pub(crate) client: Client,
    pub(crate) health: watch::Receiver<Health>,
}

/// Changes that were not looked at yet.
#[derive(Default)]
struct Changes {
    has_news: Mutex<bool>,
    told: Condvar,
    connection: Mutex<Option<OpenConnection>>,
    /// What this node answers, once it answers.
    calls: watch::Sender<Option<Arc<Calls>>>,
}

impl Changes {
    fn set_connection(&self, connection: Option<OpenConnection>) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }

    fn tell(&self) {
        *self.has_news.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
    }
}

/// The sending and the hearing half of the messages.
pub(crate) struct ChangeMessages {
    changes: Arc<Changes>,
    outgoing: mpsc::Sender<String>,
}

/// What becomes of the first connection.
pub(crate) type FirstAttempt = blocking::Receiver<Option<ServerFailure>>;

impl ChangeMessages {
    /// Connects, and listens until the runtime ends.
    pub(crate) fn start(
        servers: NatsServers,
        answer_limit: Duration,
        runtime: &tokio::runtime::Handle,
    ) -> (Self, FirstAttempt) {
        let changes = Arc::<Changes>::default();
        let (outgoing, waiting) = mpsc::channel(MAX_WAITING);
        let (tell, told) = blocking::sync_channel(1);
        runtime.spawn(listen(servers, answer_limit, Arc::clone(&changes), waiting, tell));
        (Self { changes, outgoing }, told)
    }

    /// Tells the other nodes that a history has changed, unless there is no connection.
    pub(crate) fn tell_changed(&self, key: &HistoryKey) {
        if self.is_connected() {
            // If too many wait, the server does not take them.
            let _ = self.outgoing.try_send(key.as_str().to_owned());
        }
    }

    /// Waits for a message.
    pub(crate) fn wait(&self, patience: Duration) {
        let has_news = self.changes.has_news.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changes.told.wait_timeout_while(has_news, patience, |has_news| !*has_news);
        let (mut has_news, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *has_news = false;
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connection().is_some()
    }

    /// The connection to a server, if there is one.
    pub(crate) fn connection(&self) -> Option<OpenConnection> {
        self.changes.connection.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers messages from now on.
    pub(crate) fn serve(&self, calls: Calls) {
        self.changes.calls.send_replace(Some(Arc::new(calls)));
    }
}

async fn listen(
    servers: NatsServers,
    answer_limit: Duration,
    changes: Arc<Changes>,
    mut waiting: mpsc::Receiver<String>,
    first: blocking::SyncSender<Option<ServerFailure>>,
) {
    loop {
        let ended = listen_once(&servers, answer_limit, &changes, &mut waiting, &first).await;
        changes.set_connection(None);
        if let Err(failure) = ended {
            tracing::debug!(error = %failure.reason, "the NATS server cannot tell of changes");
            // Only the first one is waited for.
            let _ = first.try_send(Some(failure));
        }
        sleep(PAUSE).await;
    }
}

async fn listen_once(
    servers: &NatsServers,
    answer_limit: Duration,
    changes: &Changes,
    waiting: &mut mpsc::Receiver<String>,
    first: &blocking::SyncSender<Option<ServerFailure>>,
) -> Result<(), ServerFailure> {
    let (client, mut health) = servers.open().await?;
    let subscribe = async {
        let failed = |error: &dyn std::error::Error| ServerFailure::temporary(Message::verbatim(describe(error)));
        let subscriber = client.subscribe(subject::CHANGED).await.map_err(|error| failed(&error))?;
        client.flush().await.map_err(|error| failed(&error))?;
        Ok(subscriber)
    };
    let unanswered = |_| Err(ServerFailure::temporary(no_answer(answer_limit)));
    let mut subscriber = timeout(answer_limit, subscribe).await.unwrap_or_else(unanswered)?;
    while waiting.try_recv().is_ok() {
        // What was not sent over the connection before is old: others look at all histories when they connect.
    }
    changes.set_connection(Some(OpenConnection { client: client.clone(), health: health.clone() }));
    let mut served = changes.calls.subscribe();
    served.mark_changed();
    let (mut calls, mut messages) = (None, None);
    let _ = first.try_send(None);
    // The server does not tell of what happened before.
    changes.tell();
    loop {
        tokio::select! {
            heard = next(&mut subscriber) => match heard {
                Some(message) if is_key(&message.payload) => changes.tell(),
                Some(_) => {}
                None => return Ok(()),
            },
            key = waiting.recv() => {
                let Some(key) = key else { return Ok(()) };
                let sent = timeout(answer_limit, client.publish(subject::CHANGED, key.into_bytes().into())).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return Err(ServerFailure::temporary(no_answer(answer_limit)));
                }
            }
            _ = served.changed() => {
                calls.clone_from(&served.borrow_and_update());
                let subject = calls.as_ref().map(|calls: &Arc<Calls>| calls.subject.clone());
                messages = match subject {
                    Some(subject) => {
                        let subscribed = client.subscribe(subject).await;
                        Some(subscribed.map_err(|error| ServerFailure::temporary(Message::verbatim(describe(&error))))?)
                    }
                    None => None,
                };
            }
            message = next_of(&mut messages) => {
                let (Some(message), Some(calls)) = (message, &calls) else { return Ok(()) };
                tokio::spawn(answer_message(client.clone(), Arc::clone(calls), message));
            }
            () = Health::lost(&mut health) => {
                return Err(ServerFailure::temporary(message!("the connection to the server was lost")));
            }
        }
    }
}

fn is_key(payload: &[u8]) -> bool {
    std::str::from_utf8(payload).is_ok_and(|text| HistoryKey::parse(text).is_ok())
}

/// The next message of a subscription, if there is one.
async fn next_of(subscriber: &mut Option<Subscriber>) -> Option<NatsMessage> {
    match subscriber {
        Some(subscriber) => next(subscriber).await,
        None => std::future::pending().await,
    }
}

pub(super) async fn next(subscriber: &mut Subscriber) -> Option<NatsMessage> {
    poll_fn(|context| Pin::new(&mut *subscriber).poll_next(context)).await
}
