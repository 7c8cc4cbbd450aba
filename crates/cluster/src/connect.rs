//! The engines that URLs name, as the commands of `toolcell` use them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolcell::store::{Appended, Blobs, Histories, HistoryKey, SharedError};
use toolcell_cli::{EngineUrls, LibraryEngine, LibraryError, NodeReports, SharedCounts, Wire};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message, msgid};

use crate::nats::{Nats, NatsCredentials, NatsWire};
use crate::object_place::{BESIDE, PlacedBlobs};
use crate::postgres::{ANSWER_LIMIT, Listening, Postgres};
use crate::s3::S3;

/// The environment variable that says how long an answer of an engine is waited for, in milliseconds.
const LIMIT_VARIABLE: &str = "TOOLCELL_SHARED_TIMEOUT_MS";
/// What it may say.
const LIMITS: std::ops::RangeInclusive<u64> = 50..=60_000;
/// The parameter of the URL of NATS servers with the number of replicas, and its default.
const REPLICAS: (&str, usize) = ("replicas=", 3);
/// The maximum size of a file with credentials, in bytes.
const MAX_CREDENTIALS_BYTES: u64 = 64 << 10;

/// The engine of the histories, which may have all else, too.
struct Truth {
    histories: Arc<dyn Histories>,
    blobs: Arc<dyn Blobs>,
    reports: Arc<dyn NodeReports>,
    counts: Arc<dyn SharedCounts>,
    wait: Box<dyn Fn(Duration) + Send + Sync>,
}

impl Truth {
    fn new<E: Histories + Blobs + NodeReports + SharedCounts + 'static>(
        engine: E,
        wait: impl Fn(&E, Duration) + Send + Sync + 'static,
    ) -> Self {
        let engine = Arc::new(engine);
        let waiting = Arc::clone(&engine);
        Self {
            histories: Arc::<E>::clone(&engine),
            blobs: Arc::<E>::clone(&engine),
            reports: Arc::<E>::clone(&engine),
            counts: engine,
            wait: Box::new(move |patience| wait(&waiting, patience)),
        }
    }
}

/// Connects to the engines of a library. Passwords may be in the variables `PGPASSWORD`, `NATS_USER` and `NATS_PASSWORD`, and in the file
/// that `NATS_CREDS` names; the credentials of S3 are in those of AWS.
///
/// # Errors
/// `request-invalid` for a URL or a variable, and `shared-invalid` if an engine cannot be used.
pub fn connect(urls: &EngineUrls) -> Result<LibraryEngine, LibraryError> {
    let limit = answer_limit()?;
    let is_nats = ["nats://", "tls://"].iter().any(|scheme| urls.shared.starts_with(scheme));
    // The variables may be there for another program.
    let credentials = if is_nats || urls.wire.is_some() { nats_credentials()? } else { None };
    let wire = urls.wire.as_deref().map(|url| NatsWire::connect(url, credentials.as_ref(), limit)).transpose();
    let wire = wire.map_err(|error| library_error(error.code(), error.localize(), error.hint()))?.map(Arc::new);
    let truth = if is_nats {
        let (url, replicas) = split_replicas(&urls.shared)?;
        let engine = Nats::connect(&url, credentials.as_ref(), replicas, limit);
        let engine = engine.map_err(|error| library_error(error.code(), error.localize(), error.hint()))?;
        Truth::new(engine, Nats::wait_for_change)
    } else {
        let password = std::env::var_os("PGPASSWORD");
        let password = password.as_ref().map(|password| password.as_encoded_bytes());
        let listening = if wire.is_some() { Listening::No } else { Listening::Yes };
        let engine = Postgres::connect(&urls.shared, password, limit, listening);
        let engine = engine.map_err(|error| library_error(error.code(), error.localize(), error.hint()))?;
        Truth::new(engine, Postgres::wait_for_change)
    };
    let (blobs, place) = match &urls.blobs {
        Some(url) => {
            let store = S3::connect(url, variable, limit);
            let store = store.map_err(|error| library_error(error.code(), error.localize(), error.hint()))?;
            let place = store.place();
            (Arc::new(store) as Arc<dyn Blobs>, place)
        }
        None => (truth.blobs, BESIDE.to_owned()),
    };
    let placed = PlacedBlobs::new(Arc::clone(&truth.histories), blobs, place)
        .map_err(|error| library_error(error.code(), error.localize(), error.hint()))?;
    // If an engine cannot be reached, it is checked with the first object.
    if let Err(error @ SharedError::Invalid { .. }) = placed.check() {
        return Err(library_error(error.code(), error.localize(), error.hint()));
    }
    let (histories, wait) = match &wire {
        Some(wire) => told_over(truth.histories, wire),
        None => (truth.histories, truth.wait),
    };
    Ok(LibraryEngine {
        histories,
        blobs: Arc::new(placed),
        reports: truth.reports,
        counts: truth.counts,
        wire: wire.map(|wire| -> Arc<dyn Wire> { wire }),
        wait,
    })
}

/// Histories whose changes are told over a wire.
struct ToldHistories {
    histories: Arc<dyn Histories>,
    wire: Arc<NatsWire>,
}

impl Histories for ToldHistories {
    fn append(&self, key: &HistoryKey, after: u64, entry: &[u8]) -> Result<Appended, SharedError> {
        let appended = self.histories.append(key, after, entry);
        if matches!(appended, Ok(Appended::Done) | Err(SharedError::Unknown { .. })) {
            self.wire.tell_changed(key);
        }
        appended
    }

    fn read(&self, key: &HistoryKey, after: u64, limit: usize) -> Result<Vec<Vec<u8>>, SharedError> {
        self.histories.read(key, after, limit)
    }

    fn lengths(&self, keys: &[HistoryKey]) -> Result<Vec<u64>, SharedError> {
        self.histories.lengths(keys)
    }
}

type Waiting = Box<dyn Fn(Duration) + Send + Sync>;

/// Tells and hears of changes over a wire.
fn told_over(histories: Arc<dyn Histories>, wire: &Arc<NatsWire>) -> (Arc<dyn Histories>, Waiting) {
    let heard = Arc::clone(wire);
    let told = ToldHistories { histories, wire: Arc::clone(wire) };
    (Arc::new(told), Box::new(move |patience| heard.wait_for_change(patience)))
}

/// Returns how long an answer of an engine is waited for.
fn answer_limit() -> Result<Duration, LibraryError> {
    let Some(text) = std::env::var_os(LIMIT_VARIABLE).filter(|text| !text.is_empty()) else { return Ok(ANSWER_LIMIT) };
    let limit = text.to_str().and_then(|text| text.parse().ok()).filter(|limit| LIMITS.contains(limit));
    limit.map(Duration::from_millis).ok_or_else(|| LibraryError {
        code: ErrorCode::RequestInvalid,
        message: message!(
            "{variable} is not a number of milliseconds from {least} to {most}",
            variable = LIMIT_VARIABLE,
            least = *LIMITS.start(),
            most = *LIMITS.end()
        ),
        hint: msgid!("give it the time that an answer of the database may take, such as 2000, or unset it"),
    })
}

/// Reads a variable of the environment; `None` if it is empty, or no text.
fn variable(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok().filter(|value| !value.is_empty())
}

/// Reads how a client signs in to NATS, from the environment.
fn nats_credentials() -> Result<Option<NatsCredentials>, LibraryError> {
    if let Some(path) = variable("NATS_CREDS") {
        let content = toolcell_cli::read_private_file(Path::new(&path), MAX_CREDENTIALS_BYTES)?;
        return Ok(Some(NatsCredentials::File(content)));
    }
    Ok(match (variable("NATS_USER"), variable("NATS_PASSWORD")) {
        (Some(user), password) => Some(NatsCredentials::Password { user, password: password.unwrap_or_default() }),
        (None, Some(token)) => Some(NatsCredentials::Token(token)),
        (None, None) => None,
    })
}

/// Takes the number of replicas out of the URL of NATS servers.
fn split_replicas(url: &str) -> Result<(String, usize), LibraryError> {
    let (name, default) = REPLICAS;
    let Some((base, query)) = url.split_once('?') else { return Ok((url.to_owned(), default)) };
    let (replicas, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(|pair| pair.starts_with(name));
    let number = replicas.last().map_or(Some(default), |pair| pair[name.len()..].parse().ok());
    let url = if others.is_empty() { base.to_owned() } else { format!("{base}?{}", others.join("&")) };
    number.map(|number| (url, number)).ok_or_else(|| {
        let reason = message!("its number of replicas is not 1, 3 or 5");
        library_error(
            ErrorCode::RequestInvalid,
            message!("the URL of the NATS server is invalid: {reason}", reason),
            msgid!("write it as nats://HOST:PORT?replicas=3"),
        )
    })
}

fn library_error(code: ErrorCode, message: Message, hint: &'static str) -> LibraryError {
    LibraryError { code, message, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_replicas_is_taken_out_of_a_url() {
        for (url, expect) in [
            ("nats://a", Some(("nats://a", 3))),
            ("nats://a?replicas=1", Some(("nats://a", 1))),
            ("nats://a?tls=disable&replicas=5", Some(("nats://a?tls=disable", 5))),
            ("nats://a?tls=disable", Some(("nats://a?tls=disable", 3))),
            ("nats://a?replicas=x", None),
            ("nats://a?replicas=", None),
        ] {
            let split = split_replicas(url).ok();
            assert_eq!(split.as_ref().map(|(url, number)| (url.as_str(), *number)), expect, "{url}");
        }
    }
}
