//! Histories, objects, the reports of nodes and counts in NATS `JetStream`; and the messages that tell nodes of changes.
//!
//! ```text
//! stream            subject                     messages
//! toolcell-history  toolcell.history.KEY.N      entry N of a history: of all who publish it, the server lets one
//! toolcell-blob     toolcell.blob.HASH.N        part N of an object
//! toolcell-node     toolcell.node.NODE          what a node last told of itself; removed after a day
//! toolcell-count    toolcell.count.KEY          what all nodes together took of a limit, and in which minute
//!                   toolcell.changed            a history has another entry (not stored)
//! ```
//!
//! An append is one message that expects its subject to have none (`Nats-Expected-Last-Subject-Sequence: 0`), sent after the entry before it
//! was seen. Where the answer is lost, the same message is sent again: either it is stored now, or the subject has a message, and its bytes say
//! whose.
//!
//! Reads are answered by the leader of a stream (`allow_direct` is off). A leader that is cut off from the other servers, or was stopped
//! and goes on, answers with what it knows until it notices that another one leads, which takes up to 10 seconds; a client that is
//! connected on its side may miss the last entries for this time. It cannot append meanwhile: that needs a majority.
//!
//! NATS acknowledges a message before it is synced to disk, unless the server is configured with `sync_interval: always`. Without it, a power
//! failure of the server, or of a majority of the replicas, loses messages that were acknowledged.
//!
//! Invariant: each method returns within a little more than twice the time that an answer may take, and the time that its bytes need over
//! a slow network, also if the server was stopped or the network drops all packets. While the server fails, callers get the failure at
//! once.

mod address;
mod answers;
mod calls;
mod connection;
mod counts;
mod failure;
mod histories;
mod notifications;
mod objects;
mod reports;
mod streams;
mod subject;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use toolcell::store::{HistoryKey, SharedError};
use toolcell_i18n::{Message, message};

pub use self::address::NatsCredentials;
use self::address::NatsServers;
use self::connection::{Connection, Session};
use self::failure::{Failure, ServerFailure};
use self::notifications::ChangeMessages;
use self::streams::{StreamKind, Streams};
use crate::client_threads::{ClientThreads, NoTurn, transfer_time};

/// NATS cannot be used.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum NatsError {
    /// The URL is malformed, or there cannot be that many replicas.
    #[error("the URL of the NATS server is invalid: {reason}")]
    #[code(RequestInvalid)]
    #[hint("write it as nats://HOST:PORT, or with several servers as nats://HOST:PORT,HOST:PORT")]
    Url {
        /// What is wrong.
        reason: Message,
    },
    /// The thread that talks to the server cannot be started.
    #[error("the client of the NATS server cannot be started: {reason}")]
    #[code(SharedUnreachable)]
    #[hint("check the limits of this process, and the certificates of the system or of SSL_CERT_FILE")]
    Start {
        /// What is wrong.
        reason: Message,
    },
    /// The server cannot be used as it is.
    #[error("the NATS server cannot be used: {reason}")]
    #[code(SharedInvalid)]
    #[hint(
        "check the credentials and their rights, the settings of the server and of its streams, and `tls` in the URL"
    )]
    Unusable {
        /// What the server says.
        reason: Message,
    },
    /// The server failed.
    #[error(transparent)]
    #[coded(transparent)]
    Shared(#[from] SharedError),
}

/// The messages by which nodes tell each other of changes, over a NATS server. Another engine holds the histories.
pub struct NatsWire {
    messages: ChangeMessages,
    /// They listen until it is dropped.
    _threads: ClientThreads,
}

/// NATS servers that hold shared libraries, in `JetStream`.
pub struct Nats {
    histories: Arc<Connection>,
    blobs: Arc<Connection>,
    messages: ChangeMessages,
    answer_limit: Duration,
    threads: ClientThreads,
}

impl NatsWire {
    /// Connects to one of the servers of a URL. If none can be reached within `answer_limit`, that is no error: it is tried again until one
    /// can. `credentials` are for a URL without.
    ///
    /// A server on another machine is reached over TLS only, and its certificate is checked against the system's roots, or those of
    /// the file that `SSL_CERT_FILE` names; `?tls=disable` in the URL does without.
    ///
    /// # Errors
    /// `request-invalid` for the URL, and `shared-invalid` if the server refuses the credentials, or its certificate is not trusted.
    pub fn connect(
        url: &str,
        credentials: Option<&NatsCredentials>,
        answer_limit: Duration,
    ) -> Result<Self, NatsError> {
        let servers = NatsServers::parse(url, credentials)?.with_tls().map_err(start_error)?;
        let threads = start_threads()?;
        let (messages, first) = ChangeMessages::start(servers, answer_limit, threads.handle());
        let wire = Self { messages, _threads: threads };
        match first.recv_timeout(answer_limit) {
            Ok(Some(ServerFailure { reason, is_final: true })) => Err(NatsError::Unusable { reason }),
            _ => Ok(wire),
        }
    }

    /// Tells the other nodes that a history has another entry. It does not wait: without a connection, they are not told.
    pub fn tell_changed(&self, key: &HistoryKey) {
        self.messages.tell_changed(key);
    }

    /// Waits until a history may have changed, or for `patience`. Changes that happened before this call, and after the last, count, and so
    /// does a new connection: what happened before it was not heard.
    pub fn wait_for_change(&self, patience: Duration) {
        self.messages.wait(patience);
    }

    /// Whether there is a connection to a server.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.messages.is_connected()
    }
}

impl Nats {
    /// Connects to one of the servers of a URL, and creates the streams that are missing, with this number of replicas: 1, 3 or 5. Streams
    /// that are there may have another number. Each answer is waited for as long as `answer_limit`, such as [`ANSWER_LIMIT`](crate::ANSWER_LIMIT). If no server
    /// can be reached, that is no error yet: it is tried again until one can. `credentials` are for a URL without. Only the servers of the
    /// URL are used, not those that they name.
    ///
    /// A server on another machine is reached over TLS only, and its certificate is checked against the system's roots, or those of
    /// the file that `SSL_CERT_FILE` names; `?tls=disable` in the URL does without.
    ///
    /// # Errors
    /// `request-invalid` for the URL and the replicas, and `shared-invalid` if the server refuses the credentials, a newer version made the
    /// streams, or their settings do not keep all messages.
    pub fn connect(
        url: &str,
        credentials: Option<&NatsCredentials>,
        replicas: usize,
        answer_limit: Duration,
    ) -> Result<Self, NatsError> {
        if ![1, 3, 5].contains(&replicas) {
            return Err(NatsError::Url {
                reason: message!("{replicas} replicas are given, and there can be 1, 3 or 5", replicas),
            });
        }
        let servers = NatsServers::parse(url, credentials)?.with_tls().map_err(start_error)?;
        let threads = start_threads()?;
        let recovered = Arc::default();
        let connection = |kinds| {
            let streams = Streams { kinds, replicas };
            Arc::new(Connection::new(servers.clone(), streams, answer_limit, Arc::clone(&recovered)))
        };
        let histories = connection(&[StreamKind::History]);
        // What is large or does not matter much does not delay the histories.
        let blobs = connection(&[StreamKind::Blob, StreamKind::Node, StreamKind::Count]);
        let (messages, _) = ChangeMessages::start(servers, answer_limit, threads.handle());
        let engine = Self { histories, blobs, messages, answer_limit, threads };
        let (first, second) = (Arc::clone(&engine.histories), Arc::clone(&engine.blobs));
        let connected = engine.ask(2 * answer_limit, async move {
            let (first, second) = tokio::join!(first.session(), second.session());
            first.and(second).map(drop)
        })?;
        match connected {
            Err(Failure::Unusable(reason)) => Err(NatsError::Unusable { reason }),
            // It is tried again in the background.
            _ => Ok(engine),
        }
    }

    /// Waits until a history has changed, or for `patience`. Changes that happened before this call, and after the last, count.
    pub fn wait_for_change(&self, patience: Duration) {
        self.messages.wait(patience);
    }

    /// Runs a future on the thread that talks to the server.
    fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, SharedError> {
        self.threads.ask(limit + 2 * self.answer_limit, future).map_err(|NoTurn| SharedError::Unknown {
            reason: message!("the client of the database did not get its turn on this machine"),
        })
    }

    /// Runs requests that carry about so many bytes.
    fn run<T: Send + 'static, F: Future<Output = Result<T, Failure>> + Send + 'static>(
        &self,
        connection: &Arc<Connection>,
        bytes: u64,
        ask: impl FnOnce(Arc<Session>) -> F + Send + 'static,
    ) -> Result<Result<T, Failure>, SharedError> {
        let limit = self.answer_limit + transfer_time(bytes);
        self.ask(limit, Arc::clone(connection).run(limit, ask))
    }

    /// Runs requests that change nothing that matters if they are lost.
    fn run_again<T: Send + 'static, F: Future<Output = Result<T, Failure>> + Send + 'static>(
        &self,
        connection: &Arc<Connection>,
        bytes: u64,
        ask: impl FnOnce(Arc<Session>) -> F + Send + 'static,
    ) -> Result<T, SharedError> {
        let answer = self.run(connection, bytes, ask).map_err(|error| match error {
            SharedError::Unknown { reason } => SharedError::Unreachable { reason },
            other => other,
        });
        answer?.map_err(Failure::into_unchanged)
    }
}

fn start_error(reason: String) -> NatsError {
    NatsError::Start { reason: Message::verbatim(reason) }
}

fn start_threads() -> Result<ClientThreads, NatsError> {
    ClientThreads::start("toolcell-nats", 1).map_err(|error| start_error(error.to_string()))
}
