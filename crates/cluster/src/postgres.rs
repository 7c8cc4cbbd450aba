//! Histories, objects and the reports of nodes in PostgreSQL.
//!
//! ```text
//! toolcell.format  (one row)            the format of the tables
//! toolcell.history (key, n) → entry     an entry of a history: of all who insert (key, n), the primary key lets one
//! toolcell.blob    hash → bytes         an object
//! toolcell.node    node → report, at    what a node last told of itself, and when
//! toolcell.count   key → minute, taken  what all nodes together took of a limit in this minute
//! ```
//!
//! An append is one statement, and so one transaction: PostgreSQL answers once it is on disk (`synchronous_commit = on`). Where the
//! connection is lost before the answer, the same append is sent again over a new one: either it is made now, or the primary key says
//! that there is an entry, and its bytes say whose.
//!
//! Up to three connections are kept: for histories, for objects and reports, and to listen. Reads see every append that was answered, because they go
//! to the primary, never to a standby (`target_session_attrs`).
//!
//! Invariant: each method returns within a little more than twice the time that an answer may take, and the time that its bytes need over
//! a slow network, also if the server was stopped or the network drops all packets. While the server fails, callers get the failure at
//! once, so that they do not queue up for a server that is gone.

mod connection;
mod notifications;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use blake3::Hash;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row};
use toolcell::store::{Appended, Blobs, Histories, HistoryKey, SharedError};
use toolcell_cli::{NodeReports, PublishedReport, SharedCounts};
use toolcell_i18n::{Message, message};

use self::connection::{CONNECT_LIMIT, Connection, Failure, ServerState, tls_connector};
use self::notifications::Notifications;
use crate::client_threads::{ClientThreads, NoTurn, transfer_time};
use crate::tls::is_loopback;

/// How long an answer of the server is waited for by default.
pub const ANSWER_LIMIT: Duration = Duration::from_millis(700);
/// The bytes of entries that one answer has, about. One entry may be larger.
const READ_BYTES: u64 = 192 << 10;
/// The maximum size of an object, in bytes.
const MAX_OBJECT_BYTES: u64 = 256 << 20;
/// How long a lost connection goes unnoticed while nothing is asked: after which time it is checked, how often, and how many checks fail.
const KEEPALIVES: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(5), 3);

/// Appends an entry if the one before it is there, and tells those that listen.
const APPEND: &str = "WITH added AS (INSERT INTO toolcell.history (key, n, entry) SELECT $1::text, $2::bigint, $3::bytea \
     WHERE $2 = 1 OR EXISTS (SELECT FROM toolcell.history WHERE key = $1 AND n = $2 - 1) RETURNING key) \
     SELECT pg_notify('toolcell', key) FROM added";
/// Reads entries: the first, and those that begin within 128 KiB after it, so that the answer comes in time over a slow network.
/// No node makes one that is larger than 128 KiB: that is not sent.
const READ: &str = "SELECT n, CASE WHEN octet_length(entry) <= 131072 THEN entry END FROM (SELECT n, entry, sum(octet_length(entry)) OVER (ORDER BY n) - octet_length(entry) AS before \
     FROM (SELECT n, entry FROM toolcell.history WHERE key = $1 AND n > $2 ORDER BY n LIMIT $3) AS entries) AS summed \
     WHERE before < 131072 ORDER BY n";
/// The numbers of entries of histories, in the order of their keys.
const LENGTHS: &str = "SELECT coalesce((SELECT n FROM toolcell.history WHERE key = asked.key ORDER BY n DESC LIMIT 1), 0) \
     FROM unnest($1::text[]) WITH ORDINALITY AS asked (key, place) ORDER BY place";
const LENGTH: &str = "SELECT octet_length(bytes) FROM toolcell.blob WHERE hash = $1";
const PUT: &str = "INSERT INTO toolcell.blob (hash, bytes) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
const GET: &str = "SELECT bytes FROM toolcell.blob WHERE hash = $1";
/// Stores a report, and removes those of nodes that told nothing for a day.
const PUBLISH: &str = "WITH gone AS (DELETE FROM toolcell.node WHERE at < clock_timestamp() - interval '1 day' AND node <> $1) \
     INSERT INTO toolcell.node (node, report, at) VALUES ($1, $2, clock_timestamp()) \
     ON CONFLICT (node) DO UPDATE SET report = excluded.report, at = excluded.at";
/// Takes a part of what is left in this minute. `granted` is what the last one got.
const TAKE: &str = "INSERT INTO toolcell.count AS known (key, minute, taken, granted) \
     SELECT $1, floor(extract(epoch FROM clock_timestamp()) / 60)::bigint, least($2::bigint, $3::bigint), least($2, $3) \
     ON CONFLICT (key) DO UPDATE SET \
       granted = CASE WHEN known.minute >= excluded.minute THEN greatest(0, least($2, $3 - known.taken)) ELSE excluded.granted END, \
       taken = CASE WHEN known.minute >= excluded.minute THEN greatest(known.taken, least($3, known.taken + $2)) ELSE excluded.taken END, \
       minute = greatest(known.minute, excluded.minute) \
     RETURNING granted, greatest(0, (minute + 1) * 60 - extract(epoch FROM clock_timestamp()))::float8";
const REMOVE: &str = "DELETE FROM toolcell.node WHERE node = $1";
/// Lists reports. Those of a size that no report has are left out.
const LIST: &str = "SELECT node, greatest(0, extract(epoch FROM clock_timestamp() - at))::float8, report FROM toolcell.node \
     WHERE at > clock_timestamp() - interval '1 day' AND octet_length(report) <= 4096 AND octet_length(node) <= 64 \
     ORDER BY node LIMIT 10000";

/// The URL of a database is invalid.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum PostgresError {
    /// The URL is malformed.
    #[error("the URL of the database is invalid: {reason}")]
    #[code(RequestInvalid)]
    #[hint("write it as postgres://USER@HOST:PORT/DATABASE")]
    Url {
        /// What is wrong.
        reason: Message,
    },
    /// The thread that talks to the server cannot be started, or the certificates of the system cannot be read.
    #[error("the client of the database cannot be started: {reason}")]
    #[code(SharedUnreachable)]
    #[hint("check the limits of this process, and the certificates of the system or of SSL_CERT_FILE")]
    Start {
        /// What is wrong.
        reason: Message,
    },
    /// The database cannot be used as it is.
    #[error("the database cannot be used: {reason}")]
    #[code(SharedInvalid)]
    #[hint("check the user, the database and the rights in it, the password (PGPASSWORD), and `sslmode` in the URL")]
    Unusable {
        /// What the server says.
        reason: Message,
    },
    /// The database failed.
    #[error(transparent)]
    #[coded(transparent)]
    Shared(#[from] SharedError),
}

/// Whether a client listens to what the database tells of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listening {
    /// It does, over a connection of its own.
    Yes,
    /// It hears of changes otherwise.
    No,
}

/// A PostgreSQL database that holds shared libraries.
pub struct Postgres {
    histories: Arc<Connection>,
    blobs: Arc<Connection>,
    notifications: Arc<Notifications>,
    answer_limit: Duration,
    threads: ClientThreads,
}

impl Postgres {
    /// Connects to a database, and creates the tables if it has none. `password` is for a URL without one. Each answer is waited for as
    /// long as `answer_limit`, such as [`ANSWER_LIMIT`]. If the database cannot be reached, that is no error yet: it is tried again until
    /// it can.
    ///
    /// A server on another machine is reached over TLS only, and its certificate is checked against the system's roots, or those of
    /// the file that `SSL_CERT_FILE` names; `sslmode=disable` in the URL does without.
    ///
    /// # Errors
    /// `request-invalid` for the URL, and `shared-invalid` if the database refuses the user, or a newer version made the tables.
    pub fn connect(
        url: &str,
        password: Option<&[u8]>,
        answer_limit: Duration,
        listening: Listening,
    ) -> Result<Self, PostgresError> {
        let config = parse_url(url, password)?;
        let start = |reason: String| PostgresError::Start { reason: Message::verbatim(reason) };
        let tls = tls_connector().map_err(start)?;
        let threads = ClientThreads::start("toolcell-postgres", 1).map_err(|error| start(error.to_string()))?;
        let server = Arc::new(ServerState::default());
        let connection = || Arc::new(Connection::new(config.clone(), tls.clone(), answer_limit, Arc::clone(&server)));
        let notifications = Arc::new(Notifications::default());
        if listening == Listening::Yes {
            threads.handle().spawn(notifications::listen(
                config.clone(),
                tls.clone(),
                answer_limit,
                Arc::clone(&notifications),
            ));
        }
        let (histories, blobs) = (connection(), connection());
        let engine = Self { histories, blobs, notifications, answer_limit, threads };
        let connection = Arc::clone(&engine.histories);
        match engine.ask(answer_limit, async move { connection.session().await.map(drop) })? {
            // It is tried again in the background.
            Ok(()) | Err(Failure::NotSent(_) | Failure::Lost(_)) => Ok(engine),
            Err(Failure::Unusable(reason)) => Err(PostgresError::Unusable { reason }),
            Err(failure @ Failure::Refused(_)) => Err(failure.into_unchanged().into()),
        }
    }

    /// Waits until a history has changed, or for `patience`. Changes that happened before this call, and after the last, count.
    pub fn wait_for_change(&self, patience: Duration) {
        self.notifications.wait(patience);
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

    /// Sends a query to the server.
    fn query(
        &self,
        connection: &Arc<Connection>,
        statement: &'static str,
        parameters: Vec<Box<dyn ToSql + Sync + Send>>,
        bytes: u64,
    ) -> Result<Result<Vec<Row>, Failure>, SharedError> {
        let connection = Arc::clone(connection);
        let limit = self.answer_limit + transfer_time(bytes);
        self.ask(limit, async move { connection.query(statement, &parameters, limit).await })
    }

    /// Sends a query that changes nothing that matters if it is lost.
    fn query_again(
        &self,
        connection: &Arc<Connection>,
        statement: &'static str,
        parameters: Vec<Box<dyn ToSql + Sync + Send>>,
        bytes: u64,
    ) -> Result<Vec<Row>, SharedError> {
        let answer = self.query(connection, statement, parameters, bytes).map_err(|error| match error {
            SharedError::Unknown { reason } => SharedError::Unreachable { reason },
            other => other,
        });
        answer?.map_err(Failure::into_unchanged)
    }

    /// Finds out what became of an append that was not answered: the same append again is made, or there is an entry already.
    fn resolve(&self, key: &HistoryKey, after: u64, entry: &[u8], lost: &SharedError) -> Result<Appended, SharedError> {
        let deadline = Instant::now() + self.answer_limit;
        loop {
            match self.try_append(key, after, entry)? {
                Ok(Appended::Done) => return Ok(Appended::Done),
                // It may be the entry of the append before.
                Ok(Appended::Taken) => match self.read(key, after, 1) {
                    Ok(entries) if entries.first().is_some_and(|found| found == entry) => return Ok(Appended::Done),
                    Ok(_) => return Ok(Appended::Taken),
                    Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(50)),
                    Err(_) => return Err(lost.clone()),
                },
                // The server says that it does not take it, but not what became of the one before.
                Err(Failure::Refused(_) | Failure::NotSent(_) | Failure::Lost(_)) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(_) => return Err(lost.clone()),
            }
        }
    }

    fn try_append(&self, key: &HistoryKey, after: u64, entry: &[u8]) -> Result<Result<Appended, Failure>, SharedError> {
        let number = number(after + 1)?;
        let parameters: Vec<Box<dyn ToSql + Sync + Send>> =
            vec![Box::new(key.as_str().to_owned()), Box::new(number), Box::new(entry.to_vec())];
        Ok(match self.query(&self.histories, APPEND, parameters, entry.len() as u64)? {
            Ok(rows) if rows.is_empty() => Err(Failure::Unusable(message!(
                "the history `{key}` has fewer than {after} entries: the database was restored from an older backup",
                key = key.to_string(),
                after
            ))),
            Ok(_) => Ok(Appended::Done),
            Err(Failure::Refused(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(Appended::Taken),
            Err(failure) => Err(failure),
        })
    }
}

impl Histories for Postgres {
    fn append(&self, key: &HistoryKey, after: u64, entry: &[u8]) -> Result<Appended, SharedError> {
        match self.try_append(key, after, entry)? {
            Ok(appended) => Ok(appended),
            Err(failure @ Failure::Lost(_)) => self.resolve(key, after, entry, &failure.into_unknown()),
            Err(failure) => Err(failure.into_unchanged()),
        }
    }

    fn read(&self, key: &HistoryKey, after: u64, limit: usize) -> Result<Vec<Vec<u8>>, SharedError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let parameters: Vec<Box<dyn ToSql + Sync + Send>> =
            vec![Box::new(key.as_str().to_owned()), Box::new(number(after)?), Box::new(limit)];
        let rows = self.query_again(&self.histories, READ, parameters, READ_BYTES)?;
        let mut entries = Vec::with_capacity(rows.len());
        for (row, expected) in rows.iter().zip(number(after)? + 1..) {
            let found: i64 = row.try_get(0).map_err(|error| unusable(&error))?;
            let entry: Option<Vec<u8>> = row.try_get(1).map_err(|error| unusable(&error))?;
            let Some(entry) = entry.filter(|_| found == expected) else {
                return Err(SharedError::Invalid {
                    reason: message!(
                        "the history `{key}` has no entry {expected}: the table `toolcell.history` was changed by hand",
                        key = key.to_string(),
                        expected
                    ),
                });
            };
            entries.push(entry);
        }
        Ok(entries)
    }

    fn lengths(&self, keys: &[HistoryKey]) -> Result<Vec<u64>, SharedError> {
        let keys: Vec<String> = keys.iter().map(|key| key.as_str().to_owned()).collect();
        let rows = self.query_again(&self.histories, LENGTHS, vec![Box::new(keys)], READ_BYTES)?;
        let length = |row: &Row| row.try_get(0).map(|length: i64| u64::try_from(length).unwrap_or(0));
        rows.iter().map(|row| length(row).map_err(|error| unusable(&error))).collect()
    }
}

impl Blobs for Postgres {
    fn put(&self, hash: Hash, bytes: &[u8]) -> Result<(), SharedError> {
        let parameters: Vec<Box<dyn ToSql + Sync + Send>> =
            vec![Box::new(hash.as_bytes().to_vec()), Box::new(bytes.to_vec())];
        // Storing again is always right, so nothing has to be found out.
        self.query_again(&self.blobs, PUT, parameters, bytes.len() as u64).map(drop)
    }

    fn get(&self, hash: Hash) -> Result<Option<Vec<u8>>, SharedError> {
        let parameters = || -> Vec<Box<dyn ToSql + Sync + Send>> { vec![Box::new(hash.as_bytes().to_vec())] };
        let rows = self.query_again(&self.blobs, LENGTH, parameters(), 0)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let length: i32 = row.try_get(0).map_err(|error| unusable(&error))?;
        let length = u64::from(length.unsigned_abs());
        if length > MAX_OBJECT_BYTES {
            return Err(SharedError::Invalid {
                reason: message!(
                    "the object {hash} takes {length} bytes, which no object does",
                    hash = hash.to_hex(),
                    length
                ),
            });
        }
        let rows = self.query_again(&self.blobs, GET, parameters(), length)?;
        rows.first().map(|row| row.try_get(0).map_err(|error| unusable(&error))).transpose()
    }
}

impl NodeReports for Postgres {
    fn publish(&self, node: &str, report: &[u8]) -> Result<(), SharedError> {
        let parameters: Vec<Box<dyn ToSql + Sync + Send>> = vec![Box::new(node.to_owned()), Box::new(report.to_vec())];
        self.query_again(&self.blobs, PUBLISH, parameters, report.len() as u64).map(drop)
    }

    fn remove(&self, node: &str) -> Result<(), SharedError> {
        self.query_again(&self.blobs, REMOVE, vec![Box::new(node.to_owned())], 0).map(drop)
    }

    fn list(&self) -> Result<Vec<PublishedReport>, SharedError> {
        let rows = self.query_again(&self.blobs, LIST, Vec::new(), READ_BYTES)?;
        let read = |row: &Row| {
            let age = Duration::try_from_secs_f64(row.try_get(1)?).unwrap_or(Duration::MAX);
            Ok(PublishedReport { node: row.try_get(0)?, age, report: row.try_get(2)? })
        };
        rows.iter().map(|row| read(row).map_err(|error| unusable(&error))).collect()
    }
}

impl SharedCounts for Postgres {
    fn take(&self, key: &str, amount: u32, limit: u32) -> Result<(u32, Duration), SharedError> {
        let parameters: Vec<Box<dyn ToSql + Sync + Send>> =
            vec![Box::new(key.to_owned()), Box::new(i64::from(amount)), Box::new(i64::from(limit))];
        let rows = self.query_again(&self.blobs, TAKE, parameters, 0)?;
        // The statement returns a row.
        let Some(row) = rows.first() else { return Ok((0, Duration::ZERO)) };
        let granted: i64 = row.try_get(0).map_err(|error| unusable(&error))?;
        let seconds: f64 = row.try_get(1).map_err(|error| unusable(&error))?;
        // A database that lies admits as many as one without the limit.
        let granted = u32::try_from(granted.clamp(0, i64::from(amount))).unwrap_or(0);
        Ok((granted, Duration::try_from_secs_f64(seconds.min(60.0)).unwrap_or(Duration::ZERO)))
    }
}

/// Reads the URL of a database.
fn parse_url(url: &str, password: Option<&[u8]>) -> Result<Config, PostgresError> {
    let invalid = |reason| PostgresError::Url { reason };
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(invalid(message!("it does not start with `postgres://`")));
    }
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        // The library names the option that is wrong, but no value.
        invalid(Message::verbatim(connection::describe(&error)))
    })?;
    if config.get_password().is_none()
        && let Some(password) = password
    {
        config.password(password);
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(invalid(message!("it names no host")));
    }
    if config.get_user().is_none() {
        return Err(invalid(message!("it names no user")));
    }
    let is_near = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => is_loopback(name),
    };
    let are_near =
        config.get_hosts().iter().all(is_near) && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
    if config.get_ssl_mode() == SslMode::Prefer {
        // A server on this machine often has a certificate that no one signed.
        config.ssl_mode(if are_near { SslMode::Disable } else { SslMode::Require });
    }
    let (idle, interval, retries) = KEEPALIVES;
    config
        .application_name("toolcell")
        .connect_timeout(CONNECT_LIMIT / 2)
        .keepalives_idle(idle)
        .keepalives_interval(interval)
        .keepalives_retries(retries)
        .tcp_user_timeout(idle)
        .target_session_attrs(TargetSessionAttrs::ReadWrite);
    Ok(config)
}

fn number(count: u64) -> Result<i64, SharedError> {
    i64::try_from(count).map_err(|_| SharedError::Invalid { reason: message!("the history is too long") })
}

fn unusable(error: &tokio_postgres::Error) -> SharedError {
    SharedError::Invalid { reason: Message::verbatim(error.to_string()) }
}

impl Failure {
    /// What a caller is told of a request that changes nothing if it is not answered.
    fn into_unchanged(self) -> SharedError {
        match self {
            Self::NotSent(reason) | Self::Lost(reason) => SharedError::Unreachable { reason },
            Self::Refused(error) => refused(&error),
            Self::Unusable(reason) => SharedError::Invalid { reason },
        }
    }

    /// What a caller is told of a change that may have been made.
    fn into_unknown(self) -> SharedError {
        match self {
            Self::Lost(reason) => SharedError::Unknown { reason },
            other => other.into_unchanged(),
        }
    }
}

/// What a caller is told of a statement that the server refused: nothing was changed.
fn refused(error: &tokio_postgres::Error) -> SharedError {
    let reason = Message::verbatim(connection::describe(error));
    let is_ours = error.code().is_some_and(|code| {
        // Missing tables, columns and rights (class 42), data of another form (22), and violated constraints (23).
        ["42", "22", "23"].iter().any(|class| code.code().starts_with(class))
    });
    if is_ours { SharedError::Invalid { reason } } else { SharedError::Unreachable { reason } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_cannot_be_right_is_refused_without_a_connection() {
        for (url, reason) in [
            ("mysql://root@localhost/a", "it does not start with `postgres://`"),
            ("postgres:///toolcell?user=a", "it names no host"),
            ("postgres://localhost/a", "it names no user"),
        ] {
            let Err(error) = parse_url(url, None) else { panic!("{url}") };
            assert_eq!(error.to_string(), format!("the URL of the database is invalid: {reason}"));
            assert_eq!(error.code(), toolcell_error::ErrorCode::RequestInvalid);
        }
        let error = parse_url("postgres://a:pass@localhost/a?nothing=1", None).unwrap_err();
        assert!(!error.to_string().contains("pass"), "{error}");
    }

    #[test]
    fn a_server_on_another_machine_is_reached_over_tls() {
        for (url, mode) in [
            ("postgres://a@localhost/a", SslMode::Disable),
            ("postgres://a@127.0.0.1:5433/a", SslMode::Disable),
            ("postgres://a@%2Fvar%2Frun%2Fpostgresql/a", SslMode::Disable),
            ("postgres://a@localhost/a?sslmode=require", SslMode::Require),
            ("postgres://a@db.example/a", SslMode::Require),
            ("postgres://a@localhost,10.0.0.1/a", SslMode::Require),
            ("postgres://a@db.example/a?sslmode=disable", SslMode::Disable),
        ] {
            assert_eq!(parse_url(url, None).unwrap().get_ssl_mode(), mode, "{url}");
        }
    }
}
