//! A connection that is made again after it was lost.
//!
//! Invariant: of each query it is known whether the server may have run it. It was not sent, or refused by the server, or it is lost.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::error::Severity;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;
use toolcell_i18n::{Message, message};

use crate::tls::{client_config, is_untrusted};

/// The format of the tables.
const FORMAT: i32 = 1;
/// The pause before a connection is tried again. It doubles with each failure, up to the second one.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));
/// How long a connection is waited for in the background, where no caller waits, for each host of the URL: to a server far away it takes
/// a dozen round trips.
pub(crate) const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The maximum length of a text of the server that is passed on, in characters.
const MAX_TEXT_CHARS: usize = 200;
/// The number of the lock under which the tables are made.
const CREATE_LOCK: i64 = 0x746f_6f6c_6365_6c6c;
/// Settings of each connection: an acknowledged append is on disk, and a statement that hangs ends at the server, too.
const SETTINGS: &str = "SET synchronous_commit = on; SET statement_timeout = '10s'; SET lock_timeout = '5s'; \
     SET idle_in_transaction_session_timeout = '5s'; SET client_min_messages = warning";
const TABLES: &str = "CREATE SCHEMA IF NOT EXISTS toolcell; \
     CREATE TABLE IF NOT EXISTS toolcell.format (one boolean PRIMARY KEY DEFAULT true CHECK (one), format integer NOT NULL); \
     CREATE TABLE IF NOT EXISTS toolcell.history (key text NOT NULL, n bigint NOT NULL CHECK (n > 0), entry bytea NOT NULL, \
       at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (key, n)); \
     CREATE TABLE IF NOT EXISTS toolcell.blob (hash bytea PRIMARY KEY CHECK (length(hash) = 32), bytes bytea NOT NULL, \
       at timestamptz NOT NULL DEFAULT now()); \
     CREATE TABLE IF NOT EXISTS toolcell.node (node text PRIMARY KEY, report bytea NOT NULL, at timestamptz NOT NULL); \
     CREATE TABLE IF NOT EXISTS toolcell.count (key text PRIMARY KEY, minute bigint NOT NULL, taken bigint NOT NULL, granted bigint NOT NULL); \
     INSERT INTO toolcell.format (format) VALUES (1) ON CONFLICT DO NOTHING";

/// A query that failed.
pub(crate) enum Failure {
    /// It was not sent: there is no connection.
    NotSent(Message),
    /// The server refused it, so nothing was changed.
    Refused(Error),
    /// There was no answer: the server may have run it, or may still.
    Lost(Message),
    /// The database is not one that this version can work with.
    Unusable(Message),
}

/// A connection to the server.
pub(crate) struct Connection {
    config: Config,
    tls: MakeRustlsConnect,
    answer_limit: Duration,
    session: Mutex<Option<Arc<Session>>>,
    server: Arc<ServerState>,
}

/// What is known of the server. All connections to it share this.
#[derive(Default)]
pub(crate) struct ServerState {
    /// How it fails, until it was reached again.
    failure: std::sync::Mutex<Option<ServerFailure>>,
    /// Whether the tables are there, and of the right format.
    has_tables: AtomicBool,
}

/// Why there is no connection.
#[derive(Clone)]
struct ServerFailure {
    reason: Message,
    /// Whether a person has to change something.
    is_final: bool,
}

/// A connection that is open, with its prepared statements.
pub(crate) struct Session {
    client: OpenClient,
    statements: Mutex<Vec<(&'static str, Statement)>>,
}

/// A client, with the task that reads from the socket. Both end together, also while the server does not answer.
struct OpenClient {
    client: Client,
    reader: JoinHandle<()>,
}

impl Drop for OpenClient {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Connection {
    /// Answers are waited for as long as `answer_limit`.
    pub(crate) fn new(
        config: Config,
        tls: MakeRustlsConnect,
        answer_limit: Duration,
        server: Arc<ServerState>,
    ) -> Self {
        Self { config, tls, answer_limit, session: Mutex::default(), server }
    }

    /// Sends a query, whose answer is waited for as long as `limit`.
    pub(crate) async fn query(
        self: &Arc<Self>,
        statement: &'static str,
        parameters: &[Box<dyn ToSql + Sync + Send>],
        limit: Duration,
    ) -> Result<Vec<Row>, Failure> {
        let session = self.session().await?;
        let prepared = self.bounded(&session, self.answer_limit, session.prepare(statement)).await;
        let prepared = prepared.map_err(|failure| match failure {
            // Nothing was run yet.
            Failure::Lost(reason) => Failure::NotSent(reason),
            other => other,
        })?;
        let parameters: Vec<&(dyn ToSql + Sync)> =
            parameters.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        self.bounded(&session, limit, session.client.client.query(&prepared, &parameters)).await
    }

    /// Returns the open connection, or makes one. While the server fails, that is tried in the background, and callers get the failure at
    /// once.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, Failure> {
        let mut open = self.session.lock().await;
        if let Some(session) = open.as_ref().filter(|session| !session.client.client.is_closed()) {
            return Ok(Arc::clone(session));
        }
        *open = None;
        if let Some(failure) = self.server.failure() {
            return Err(failure.into_failure());
        }
        match self.connect(self.answer_limit).await {
            Ok(session) => Ok(Arc::clone(open.insert(session))),
            Err(failure) => {
                self.server.fail(self, failure.clone());
                Err(failure.into_failure())
            }
        }
    }

    /// Makes a connection, and the tables if the database has no tables yet.
    async fn connect(&self, limit: Duration) -> Result<Arc<Session>, ServerFailure> {
        let made = timeout(limit, async {
            let client = connect(&self.config, &self.tls).await?;
            if !self.server.has_tables() {
                create_tables(&client.client).await?;
                self.server.set_tables();
            }
            Ok(Arc::new(Session { client, statements: Mutex::default() }))
        });
        made.await.unwrap_or_else(|_| Err(ServerFailure { reason: no_answer(limit), is_final: false }))
    }

    /// Waits for an answer. After a failure, the connection is not used again.
    async fn bounded<T>(
        self: &Arc<Self>,
        session: &Arc<Session>,
        limit: Duration,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        let (reason, has_ended) = match timeout(limit, answer).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if was_refused(&error) => return Err(Failure::Refused(error)),
            Ok(Err(error)) => (Message::verbatim(describe(&error)), true),
            Err(_) => (no_answer(limit), false),
        };
        let mut open = self.session.lock().await;
        if open.as_ref().is_some_and(|open| Arc::ptr_eq(open, session)) {
            *open = None;
            // A connection that the server has ended is made again by the next caller.
            if !has_ended {
                self.server.fail(self, ServerFailure { reason: reason.clone(), is_final: false });
            }
        }
        Err(Failure::Lost(reason))
    }

    /// Makes a connection as soon as the server can be reached again.
    async fn reconnect(self: Arc<Self>) {
        let hosts = self.config.get_hosts().len().max(self.config.get_hostaddrs().len()).max(1);
        let limit = CONNECT_LIMIT * u32::try_from(hosts).unwrap_or(u32::MAX);
        let mut pause = PAUSES.0;
        loop {
            sleep(pause).await;
            pause = (2 * pause).min(PAUSES.1);
            match self.connect(limit).await {
                Ok(session) => {
                    *self.session.lock().await = Some(session);
                    self.server.set(None);
                    return;
                }
                Err(failure) => self.server.set(Some(failure)),
            }
        }
    }
}

impl ServerState {
    fn failure(&self) -> Option<ServerFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, failure: Option<ServerFailure>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Notes a failure. The first one starts to reconnect.
    fn fail(&self, connection: &Arc<Connection>, failure: ServerFailure) {
        let before = self.failure.lock().unwrap_or_else(PoisonError::into_inner).replace(failure);
        if before.is_none() {
            tokio::spawn(Arc::clone(connection).reconnect());
        }
    }

    fn has_tables(&self) -> bool {
        self.has_tables.load(Ordering::Relaxed)
    }

    fn set_tables(&self) {
        self.has_tables.store(true, Ordering::Relaxed);
    }
}

impl ServerFailure {
    /// What a caller gets whose query was not sent.
    fn into_failure(self) -> Failure {
        if self.is_final { Failure::Unusable(self.reason) } else { Failure::NotSent(self.reason) }
    }
}

impl From<Error> for ServerFailure {
    fn from(error: Error) -> Self {
        // A wrong role or password (class 28), a database that does not exist (3D), and missing rights or tables (42): to try again does
        // not help. Nor does it where the password is missing ("invalid configuration"), the server has no TLS, or its certificate is not
        // trusted.
        let is_final = match error.code() {
            Some(code) => ["28", "3D", "42"].iter().any(|class| code.code().starts_with(class)),
            None => {
                ["invalid configuration", "server does not support TLS"]
                    .iter()
                    .any(|what| describe(&error).contains(what))
                    || is_untrusted(&error)
            }
        };
        Self { reason: Message::verbatim(describe(&error)), is_final }
    }
}

impl Session {
    async fn prepare(&self, text: &'static str) -> Result<Statement, Error> {
        let mut statements = self.statements.lock().await;
        if let Some((_, statement)) = statements.iter().find(|(known, _)| *known == text) {
            return Ok(statement.clone());
        }
        let statement = self.client.client.prepare(text).await?;
        statements.push((text, statement.clone()));
        Ok(statement)
    }
}

/// Creates the tables if they are missing, and checks their format.
async fn create_tables(client: &Client) -> Result<(), ServerFailure> {
    let unusable = |reason| Err(ServerFailure { reason, is_final: true });
    let found = client.query_one("SELECT to_regclass('toolcell.format')::text", &[]).await?;
    let known: Option<String> = found.try_get(0)?;
    if known.is_none() {
        let lock = format!("SELECT pg_advisory_xact_lock({CREATE_LOCK})");
        client.batch_execute(&format!("BEGIN; {lock}; {TABLES}; COMMIT")).await?;
    }
    let found = client.query_opt("SELECT format FROM toolcell.format", &[]).await?;
    match found.map(|row| row.try_get::<_, i32>(0)).transpose()? {
        Some(FORMAT) => Ok(()),
        Some(format) => unusable(message!(
            "its tables have format {format}, and this version of Toolcell works with format {known}: update the older one",
            format,
            known = FORMAT
        )),
        None => unusable(message!("the table `toolcell.format` has no row: the database was changed by hand")),
    }
}

/// Connects to the server, and sets up the connection.
async fn connect(config: &Config, tls: &MakeRustlsConnect) -> Result<OpenClient, Error> {
    let (client, connection) = config.connect(tls.clone()).await?;
    let reader = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(error = describe(&error), "the connection to the database was lost");
        }
    });
    let client = OpenClient { client, reader };
    client.client.batch_execute(SETTINGS).await?;
    Ok(client)
}

/// Whether an error is the server's answer that a statement was not run. An error that ends the session may come after it was: the server
/// panics if it cannot write the log in which the commit already is.
fn was_refused(error: &Error) -> bool {
    let ends_session = |code: &str| ["57P", "08", "XX"].iter().any(|class| code.starts_with(class));
    error
        .as_db_error()
        .is_some_and(|error| error.parsed_severity() == Some(Severity::Error) && !ends_session(error.code().code()))
}

/// What an error of the client says, with what the server says. Models read it, and the server may say anything.
pub(crate) fn describe(error: &Error) -> String {
    let text = match error.as_db_error() {
        Some(server) => format!("{} ({})", server.message(), server.code().code()),
        None => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    };
    text.chars().take(MAX_TEXT_CHARS).collect()
}

fn no_answer(limit: Duration) -> Message {
    message!("the database did not answer within {limit} ms", limit = limit.as_millis())
}

/// What makes connections over TLS.
pub(crate) fn tls_connector() -> Result<MakeRustlsConnect, String> {
    client_config().map(MakeRustlsConnect::new)
}
