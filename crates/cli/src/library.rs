//! The shared library of a node: its engine, and the stores of the principals as copies of it.
//!
//! Invariant: the secret of a library is read from a private file, or from the environment. It is never shown, and never given to an
//! engine.

use std::fmt;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolcell::store::{Blobs, Histories, HistoryKey, LIBRARY_SECRET_BYTES, Replication, Settings, SharedError, Store};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, msgid};
use toolcell_mcp::Principal;
use toolcell_mcp::http::{RateLease, SharedRates};
use toolcell_mcp::telemetry::{measure_blobs, measure_histories};

use crate::environment;
use crate::error::CliError;
use crate::input;
use crate::node_report::{KnownNode, NodeReport, NodeReports, ReportSeal};
use crate::wire::Wire;

/// The environment variable with the URL of the database.
pub(crate) const URL_VARIABLE: &str = "TOOLCELL_SHARED";
/// The environment variables with the URLs of the messages between nodes and of the store of objects.
pub(crate) const WIRE_VARIABLE: &str = "TOOLCELL_SHARED_WIRE";
pub(crate) const BLOBS_VARIABLE: &str = "TOOLCELL_SHARED_BLOBS";
/// The environment variable with the secret of the library.
const SECRET_VARIABLE: &str = "TOOLCELL_SHARED_SECRET";
/// The maximum size of the file with the secret, in bytes.
const MAX_SECRET_BYTES: u64 = 1 << 10;

/// Counts that nodes share. Each begins anew with each minute of the engine's clock.
pub trait SharedCounts: Send + Sync {
    /// Takes up to `amount` of what is left of `limit` in this minute, and returns what was taken, with the time until the minute ends.
    ///
    /// # Errors
    /// [`SharedError::Unreachable`] and [`SharedError::Invalid`].
    fn take(&self, key: &str, amount: u32, limit: u32) -> Result<(u32, Duration), SharedError>;
}

/// The request rates of principals, as counts that nodes share.
struct CountedRates(Arc<dyn SharedCounts>);

impl fmt::Debug for CountedRates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CountedRates").finish_non_exhaustive()
    }
}

impl SharedRates for CountedRates {
    fn take(&self, principal: &Principal, amount: NonZeroU32, limit: NonZeroU32) -> Option<RateLease> {
        let taken = self.0.take(&format!("rate/{principal}"), amount.get(), limit.get());
        let taken = taken.inspect_err(|error| tracing::debug!(%error, "the rate limits are those of this node alone"));
        taken.ok().map(|(granted, lapses_after)| RateLease { granted, lapses_after })
    }
}

/// Where the engines of a shared library are.
#[derive(Clone, PartialEq, Eq)]
pub struct EngineUrls {
    /// The engine of the histories.
    pub shared: String,
    /// The server of messages between nodes; `None` if the engine of the histories tells of changes.
    pub wire: Option<String>,
    /// The store of the objects; `None` if the engine of the histories has them.
    pub blobs: Option<String>,
}

/// Connects to the engines that URLs name.
pub type ConnectLibrary = fn(&EngineUrls) -> Result<LibraryEngine, LibraryError>;

/// The clients of what nodes share.
pub struct LibraryEngine {
    /// The histories of libraries.
    pub histories: Arc<dyn Histories>,
    /// The objects of libraries.
    pub blobs: Arc<dyn Blobs>,
    /// What the nodes tell of themselves.
    pub reports: Arc<dyn NodeReports>,
    /// Counts for rate limits.
    pub counts: Arc<dyn SharedCounts>,
    /// Messages between nodes, if there is a server for them.
    pub wire: Option<Arc<dyn Wire>>,
    /// Waits until a history may have changed, at most as long as said.
    pub wait: Box<dyn Fn(Duration) + Send + Sync>,
}

/// An engine that cannot be used.
pub struct LibraryError {
    /// The stable code.
    pub code: ErrorCode,
    /// What is wrong.
    pub message: Message,
    /// What to do.
    pub hint: &'static str,
}

/// The shared library of a node.
pub(crate) struct NodeLibrary {
    engine: LibraryEngine,
    secret: [u8; LIBRARY_SECRET_BYTES],
    seal: ReportSeal,
    offline_limit: Option<Duration>,
}

impl NodeLibrary {
    /// Connects to the engines of a library. Runs go on for `offline_limit` while it cannot be reached; `None` means for ever.
    pub(crate) fn connect(
        connect: ConnectLibrary,
        urls: &EngineUrls,
        secret: Option<&Path>,
        offline_limit: Option<Duration>,
    ) -> Result<Self, CliError> {
        let secret = read_secret(secret)?;
        let engine = connect(urls).map_err(|error| CliError::coded(error.code, error.message, error.hint))?;
        let engine = LibraryEngine {
            histories: measure_histories(engine.histories),
            blobs: measure_blobs(engine.blobs),
            ..engine
        };
        Ok(Self { engine, secret, seal: ReportSeal::new(&secret), offline_limit })
    }

    /// The library of a principal.
    ///
    /// # Errors
    /// `shared-invalid`: the name of the principal is not one that a key may have.
    pub(crate) fn replication(&self, principal: &Principal) -> Result<Replication, SharedError> {
        Ok(self.replication_of(HistoryKey::parse(&format!("library/{principal}"))?))
    }

    fn replication_of(&self, library: HistoryKey) -> Replication {
        Replication {
            histories: Arc::clone(&self.engine.histories),
            blobs: Arc::clone(&self.engine.blobs),
            library,
            secret: self.secret,
            offline_limit: self.offline_limit,
        }
    }

    /// The request rates of principals, over all nodes.
    pub(crate) fn rates(&self) -> Arc<dyn SharedRates> {
        Arc::new(CountedRates(Arc::clone(&self.engine.counts)))
    }

    /// The messages between nodes, and the secret that authenticates them; `None` if there is no server for messages.
    pub(crate) fn wire(&self) -> Option<(Arc<dyn Wire>, &[u8; LIBRARY_SECRET_BYTES])> {
        self.engine.wire.as_ref().map(|wire| (Arc::clone(wire), &self.secret))
    }

    /// Whether the server of messages can be reached; `None` without `--wire`.
    pub(crate) fn is_wire_connected(&self) -> Option<bool> {
        self.engine.wire.as_ref().map(|wire| wire.is_connected())
    }

    /// How long runs go on while the library cannot be reached; `None` means for ever.
    pub(crate) fn offline_limit(&self) -> Option<Duration> {
        self.offline_limit
    }

    /// Tells the other nodes what this one does.
    pub(crate) fn publish(&self, node: &str, report: &NodeReport) -> Result<(), SharedError> {
        let sealed = self.seal.seal(node, report);
        let sealed = sealed.map_err(|error| SharedError::Invalid { reason: Message::verbatim(error.to_string()) })?;
        self.engine.reports.publish(node, &sealed)
    }

    /// Tells the other nodes that this one has ended.
    pub(crate) fn leave(&self, node: &str) -> Result<(), SharedError> {
        self.engine.reports.remove(node)
    }

    /// Returns what the nodes told of themselves.
    pub(crate) fn nodes(&self) -> Result<Vec<KnownNode>, SharedError> {
        let reports = self.engine.reports.list()?.into_iter();
        Ok(reports
            .map(|found| KnownNode {
                report: self.seal.open(&found.node, &found.report),
                node: found.node,
                age: found.age,
            })
            .collect())
    }

    /// Returns the numbers of entries of libraries.
    pub(crate) fn lengths(&self, libraries: &[HistoryKey]) -> Result<Vec<u64>, SharedError> {
        self.engine.histories.lengths(libraries)
    }

    /// Waits until a history may have changed.
    pub(crate) fn wait(&self, patience: Duration) {
        (self.engine.wait)(patience);
    }
}

/// The clients of the engines, if this program has them.
static ENGINES: OnceLock<ConnectLibrary> = OnceLock::new();

/// Sets the clients of the engines. They can be set once per process, at its start.
pub(crate) fn set_engines(connect: ConnectLibrary) {
    // A second value would be the same.
    let _ = ENGINES.set(connect);
}

/// The clients of the engines, if this program has them.
pub(crate) fn engines() -> Option<ConnectLibrary> {
    ENGINES.get().copied()
}

/// Connects a store that is the copy of a shared library to that library, if the environment names its database. Without it, the copy
/// can be read.
///
/// # Errors
/// Those of [`NodeLibrary::connect`], and of a store that does not open.
pub(crate) fn attach(dir: &Path) -> Result<Option<Replication>, CliError> {
    let Some(connect) = engines() else { return Ok(None) };
    let Some(shared) = url_from_environment(URL_VARIABLE)? else { return Ok(None) };
    let (wire, blobs) = (url_from_environment(WIRE_VARIABLE)?, url_from_environment(BLOBS_VARIABLE)?);
    if !dir.join("index.sqlite").exists() {
        return Err(CliError::usage(
            message!(
                "{variable} is set, and {path} has no copy of a shared library",
                variable = URL_VARIABLE,
                path = dir.display().to_string()
            ),
            message!("start a node with this directory first, or unset {variable}", variable = URL_VARIABLE),
        ));
    }
    let Some(library) = Store::open_existing(dir, &Settings::default())?.library() else { return Ok(None) };
    // A command is not told how old its view may be.
    let urls = EngineUrls { shared, wire, blobs };
    let node = NodeLibrary::connect(connect, &urls, None, Some(Duration::ZERO))?;
    Ok(Some(node.replication_of(library)))
}

/// Reads a file with credentials of an engine, which has to be private, and at most so many bytes long.
///
/// # Errors
/// `secret-invalid` if other users can read it, and the system's errors.
pub fn read_private_file(path: &Path, limit: u64) -> Result<String, LibraryError> {
    let hint = msgid!("give it a file that only you can read: chmod 600");
    input::read_secret_file(path, limit, ErrorCode::SecretInvalid).map_err(|error| LibraryError {
        code: error.code(),
        message: error.message(),
        hint,
    })
}

/// Reads the URL in a variable of the environment; `None` if it is not set, or empty.
pub(crate) fn url_from_environment(variable: &'static str) -> Result<Option<String>, CliError> {
    Ok(environment::text(variable)?.filter(|url| !url.is_empty()))
}

/// Reads the secret: 64 hexadecimal digits.
fn read_secret(file: Option<&Path>) -> Result<[u8; LIBRARY_SECRET_BYTES], CliError> {
    let variable = environment::text(SECRET_VARIABLE)?;
    let (text, place) = match (file, variable) {
        (Some(path), None) => {
            let text = input::read_secret_file(path, MAX_SECRET_BYTES, ErrorCode::SecretInvalid)?;
            (text, path.display().to_string())
        }
        (None, Some(text)) => (text, SECRET_VARIABLE.to_owned()),
        (None, None) => {
            return Err(CliError::usage(
                message!("the secret of the shared library is missing"),
                message!(
                    "make one with `openssl rand -hex 32`, keep it in a file of mode 600, and give the same to all nodes: `--secret FILE` of \
                     `toolcell node`, or {variable}",
                    variable = SECRET_VARIABLE
                ),
            ));
        }
        (Some(_), Some(_)) => {
            return Err(CliError::usage(
                message!("--secret is given, and {variable} is set too", variable = SECRET_VARIABLE),
                msgid!("unset the variable, or omit --secret"),
            ));
        }
    };
    let parsed = parse_hex(text.trim());
    parsed.ok_or_else(|| {
        CliError::coded(
            ErrorCode::SecretInvalid,
            message!(
                "{place}: the secret is not {digits} hexadecimal digits",
                place,
                digits = 2 * LIBRARY_SECRET_BYTES
            ),
            msgid!("make one with `openssl rand -hex 32`"),
        )
    })
}

fn parse_hex(text: &str) -> Option<[u8; LIBRARY_SECRET_BYTES]> {
    blake3::Hash::from_hex(text).ok().map(|bytes| *bytes.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_64_hexadecimal_digits() {
        assert_eq!(parse_hex(&"0a".repeat(32)), Some([10; 32]));
        assert_eq!(parse_hex(&"0A".repeat(32)), Some([10; 32]));
        for wrong in ["", "0a", &"0a".repeat(33), &"0g".repeat(32)] {
            assert_eq!(parse_hex(wrong), None, "{wrong}");
        }
    }
}
