//! The open store: looks tools up and reads them back.
//!
//! Invariant: every object read from disk is checked against its hash, and every tool against its
//! identifier.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};
use toolcell_tool::{IdPrefix, Status, ToolId, ToolMetadata, ToolName, ToolSpec};

use crate::audit::{Audit, AuditConfig};
use crate::directory::{Directory, OnMissing, OpenError, StoreAccess};
use crate::error::Fault;
use crate::find::{FindError, ToolRef};
use crate::flush::FlushQueue;
use crate::group_commit::QueuedWrite;
use crate::index::{Durability, Index};
use crate::journal::Journal;
use crate::notice::{self, Notice};
use crate::objects::{ObjectState, Objects};
use crate::outbox::Outbox;
use crate::rebuild::REBUILD_MARKER;
use crate::reserve;
use crate::store_key::StoreKey;
use crate::version::{Scores, Version};

/// The settings of a store.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The failures that acknowledged changes survive.
    pub durability: Durability,
    /// The maximum number of tools with a name at any one time; `None` means no limit.
    pub tool_limit: Option<u64>,
    /// The settings of the audit log.
    pub audit: AuditConfig,
}

/// A store of tools. Threads share one value; several processes may open the same directory.
///
/// # Examples
/// ```
/// use toolcell_store::{NewTool, OnConflict, Scores, Settings, Store, ToolRef};
/// use toolcell_tool::{Draft, ToolMetadata, ToolName, ToolSpec};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), &Settings::default())?;
/// let draft = Draft::from_bytes("twice.ts", b"const execute = ({ n }) => 2 * n")?;
/// let spec = ToolSpec::new(ToolName::parse("twice")?, &draft, serde_json::Value::Null, serde_json::Value::Null)?;
/// let metadata = ToolMetadata::new("Doubles a number")?;
/// let scores = Scores { safety: 1.0, quality: 0.9 };
/// store.insert(&NewTool { spec: &spec, metadata: &metadata, scores, at: jiff::Timestamp::UNIX_EPOCH }, OnConflict::Refuse)?;
///
/// let entry = store.find(&ToolRef::parse("twice")?)?;
/// assert_eq!(entry.id, spec.id());
/// assert_eq!(store.spec(&entry)?, spec);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    pub(crate) directory: Directory,
    pub(crate) objects: Objects,
    pub(crate) index: Index,
    pub(crate) audit: Audit,
    pub(crate) settings: Settings,
    pub(crate) write_queue: Mutex<Vec<QueuedWrite>>,
    pub(crate) flush_queue: FlushQueue,
    /// The run journal of this process, created with the first run.
    pub(crate) journal: Mutex<Option<Arc<Journal>>>,
    /// The key of this store, read or created on first use.
    pub(crate) own_key: OnceLock<StoreKey>,
    pub(crate) outbox: Mutex<Outbox>,
    /// Whether the audit line of the last run could not be appended yet.
    pub(crate) is_log_behind: AtomicBool,
}

/// The index entry of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The identifier of the tool.
    pub id: ToolId,
    /// The name of the tool.
    pub name: ToolName,
    /// Whether the name resolves to this tool, that is, the tool was neither deleted nor replaced.
    pub current: bool,
    /// The description of the tool.
    pub description: String,
    /// The tags of the tool, sorted.
    pub tags: Vec<String>,
    /// The scores that the analysis gave the tool when it was stored.
    pub scores: Scores,
    /// The confidence from past runs, 0.1 to 1.0; it starts at the lower of the two scores.
    pub confidence: f64,
    /// The trust status of the tool.
    pub status: Status,
    /// The tool to use instead, if this one is deprecated and a successor was named.
    pub successor: Option<ToolId>,
    /// When the identifier was first stored.
    pub created_at: Timestamp,
    /// When a version of the tool was last committed.
    pub updated_at: Timestamp,
    /// The number of runs.
    pub runs: u64,
    /// The number of successful runs.
    pub successes: u64,
    /// When the tool last ran.
    pub last_used_at: Option<Timestamp>,
    /// Whether a person approved or refused the tool, with any set of grants.
    pub has_decision: bool,
    pub(crate) num: i64,
    pub(crate) version: Hash,
    pub(crate) source: Hash,
}

impl Store {
    /// Opens a store and creates it if the directory holds none.
    ///
    /// # Errors
    /// `store-owner`, `store-newer`, `store-invalid`, `store-busy`, `integrity` if the index is
    /// damaged, or another [`Fault`].
    pub fn open(path: &Path, settings: &Settings) -> Result<Self, OpenError> {
        Self::open_directory(Directory::open(path, OnMissing::Create)?, settings)
    }

    /// Opens an existing store.
    ///
    /// # Errors
    /// Same as [`Store::open`], and `store-invalid` if there is no store.
    pub fn open_existing(path: &Path, settings: &Settings) -> Result<Self, OpenError> {
        Self::open_directory(Directory::open(path, OnMissing::Refuse)?, settings)
    }

    fn open_directory(directory: Directory, settings: &Settings) -> Result<Self, OpenError> {
        if directory.root().symlink_metadata(REBUILD_MARKER).is_ok() {
            return Err(OpenError::RepairInterrupted { path: directory.path().display().to_string() });
        }
        let objects = Objects::open(&directory)?;
        let index = Index::open(&directory)?;
        let audit = Audit::open(&directory, settings.audit)?;
        reserve::allocate(&directory);
        let store = Self {
            directory,
            objects,
            index,
            audit,
            settings: settings.clone(),
            write_queue: Mutex::default(),
            flush_queue: FlushQueue::default(),
            journal: Mutex::default(),
            own_key: OnceLock::new(),
            outbox: Mutex::default(),
            is_log_behind: AtomicBool::new(false),
        };
        if let Err(fault) = store.recover_outbox() {
            // Not fatal: the next process that can append these lines does so.
            notice::emit_notice(&Notice::Delayed { action: "earlier changes", why: &fault.to_string() });
        }
        Ok(store)
    }

    /// The path of the store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Whether the store can be written or only read.
    #[must_use]
    pub fn access(&self) -> StoreAccess {
        self.directory.access()
    }

    /// The audit log.
    #[must_use]
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Resolves a name, or an identifier, to a tool.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`
    pub fn find(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        self.flush_before_read();
        let mut entry = self.find_for_run(reference)?;
        self.flag_damaged(std::slice::from_mut(&mut entry))?;
        Ok(entry)
    }

    /// Resolves a tool that is about to run. Unlike [`Store::find`] it does not flush first, so the
    /// entry may lack the results of the latest runs.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`
    pub fn find_for_run(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        self.index.read(|transaction| match reference {
            ToolRef::Name(name) => {
                let found = by_name(transaction, name).map_err(Fault::from)?;
                found.ok_or_else(|| FindError::Unknown(name.to_string()))
            }
            ToolRef::Id(prefix) => by_prefix(transaction, prefix, true),
        })
    }

    /// Looks up a tool by identifier, even if its name was deleted or now resolves to another tool.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`
    pub fn find_any(&self, prefix: &IdPrefix) -> Result<Entry, FindError> {
        self.flush_before_read();
        let mut entry = self.index.read(|transaction| by_prefix(transaction, prefix, false))?;
        self.flag_damaged(std::slice::from_mut(&mut entry))?;
        Ok(entry)
    }

    /// Current tools with the same source as `spec` but another identifier, at most ten.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn find_same_source(&self, spec: &ToolSpec) -> Result<Vec<Entry>, Fault> {
        let source = blake3::hash(spec.source().as_bytes());
        self.index.read(|transaction| {
            let sql = format!(
                "SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE source = ? AND id <> ? AND current = 1 LIMIT 10"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map((source.as_bytes(), spec.id().as_bytes()), Entry::from_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Reads the specification of a tool from its objects and checks it against the tool's
    /// identifier.
    ///
    /// # Errors
    /// `integrity`, or another [`Fault`].
    pub fn spec(&self, entry: &Entry) -> Result<ToolSpec, Fault> {
        let read = self.read_spec(entry);
        if let Err(Fault::Object { .. }) = read {
            self.mark_damaged(entry);
        }
        read
    }

    fn read_spec(&self, entry: &Entry) -> Result<ToolSpec, Fault> {
        let version = self.read_version(entry.version)?;
        let spec = version.spec(&self.read_object(entry.source)?);
        let spec = spec.map_err(|reason| Fault::object(entry.version, reason))?;
        if spec.id() == entry.id {
            Ok(spec)
        } else {
            Err(Fault::object(entry.version, format!("is a version of {}, not of {}", spec.id(), entry.id)))
        }
    }

    /// Reads the metadata of a tool.
    ///
    /// # Errors
    /// `integrity`, or another [`Fault`].
    pub fn metadata(&self, entry: &Entry) -> Result<ToolMetadata, Fault> {
        self.read_version(entry.version)?.metadata().map_err(|reason| Fault::object(entry.version, reason))
    }

    /// Reads a version from its object.
    pub(crate) fn read_version(&self, hash: Hash) -> Result<Version, Fault> {
        Version::from_bytes(&self.read_object(hash)?).map_err(|reason| Fault::object(hash, reason))
    }

    /// Reads an object, which must exist and match its hash. An object whose file a power failure
    /// took is restored from the index.
    pub(crate) fn read_object(&self, hash: Hash) -> Result<Vec<u8>, Fault> {
        let wrong = match self.objects.read_verified(hash)? {
            ObjectState::Intact(bytes) => return Ok(bytes),
            ObjectState::Missing => "is missing".to_owned(),
            ObjectState::Damaged(what) => what,
        };
        let kept = self.index.read(|transaction| unsynced_bytes(transaction, hash).map_err(Fault::from))?;
        let Some(bytes) = kept.filter(|bytes| blake3::hash(bytes) == hash) else {
            return Err(Fault::object(hash, wrong));
        };
        if self.access() == StoreAccess::Full {
            self.objects.write(hash, &bytes)?;
        }
        Ok(bytes)
    }
}

impl Drop for Store {
    /// Flushes finished runs into the index. Runs that cannot be flushed stay in the journal.
    fn drop(&mut self) {
        self.flush_on_close();
        if let Err(fault) = self.drain_outbox() {
            // The next process that opens the store drains the outbox.
            tracing::warn!(%fault, "lines of the audit log are not synced yet");
        }
    }
}

/// `MAX_STORED_TIME` is the latest time that the tables accept, `MAX_READ_TIME` the latest that is
/// read unchanged.
const MAX_STORED_TIME: i64 = 253_402_207_200_999;
const MAX_READ_TIME: i64 = 253_402_207_200_000;

/// The columns of an [`Entry`].
pub(crate) const ENTRY_COLUMNS: &str = "num, id, name, current, description, tags, safety, quality, confidence, status, \
     created_at, updated_at, runs, successes, last_used_at, version, source, \
     EXISTS (SELECT 1 FROM approval WHERE approval.tool = id AND granted IS NOT NULL), \
     (SELECT successor FROM successor WHERE successor.tool = num AND status = 'deprecated')";
/// The tables of [`ENTRY_COLUMNS`]. `CROSS JOIN` keeps SQLite from scanning `about` to find rows of
/// `tool`.
pub(crate) const ENTRY_TABLES: &str = "tool CROSS JOIN about ON about.tool = num";

impl Entry {
    /// Reads a row of [`ENTRY_COLUMNS`]. A value that the store never writes is reported as damage.
    pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let score = |column: usize| row.get::<_, i64>(column).map(score_from_stored);
        let last_used: i64 = row.get(14)?;
        Ok(Self {
            num: row.get(0)?,
            id: ToolId::from_bytes(row.get(1)?),
            name: decode_column(2, ToolName::parse(row.get_ref(2)?.as_str()?))?,
            current: row.get(3)?,
            description: row.get(4)?,
            tags: row.get_ref(5)?.as_str()?.split_terminator('\n').skip(1).map(str::to_owned).collect(),
            scores: Scores { safety: score(6)?, quality: score(7)? },
            confidence: score(8)?,
            status: decode_column(9, Status::from_name(row.get_ref(9)?.as_str()?).ok_or("no status"))?,
            created_at: read_time(row, 10)?,
            updated_at: read_time(row, 11)?,
            runs: row.get(12)?,
            successes: row.get(13)?,
            last_used_at: if last_used == 0 { None } else { Some(read_time(row, 14)?) },
            version: Hash::from_bytes(row.get(15)?),
            source: Hash::from_bytes(row.get(16)?),
            has_decision: row.get(17)?,
            successor: row.get::<_, Option<[u8; 32]>>(18)?.map(ToolId::from_bytes),
        })
    }
}

impl Entry {
    /// The hash of the source. Tools with the same source differ only in name, parameters or
    /// capabilities.
    #[must_use]
    pub fn source_hash(&self) -> Hash {
        self.source
    }

    /// Checks that the row is the one that was looked up: a damaged index may return another.
    fn verify_lookup(self, is_sought: impl Fn(&Self) -> bool) -> rusqlite::Result<Self> {
        if is_sought(&self) { Ok(self) } else { decode_column(1, Err("is of another tool than the one looked up")) }
    }
}

/// Reports a column value that does not parse as damage of the index.
pub(crate) fn decode_column<T, E: Into<crate::Cause>>(column: usize, value: Result<T, E>) -> rusqlite::Result<T> {
    value.map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into()))
}

/// Joins tags into one column value, each between line feeds, so that `instr` finds whole tags. A
/// tag contains no line feed.
pub(crate) fn join_tags(tags: &[String]) -> String {
    tags.iter().fold("\n".to_owned(), |joined, tag| joined + tag + "\n")
}

/// Reads a column of milliseconds since 1970. Times in the last second of the tables' range are
/// clamped, because the calendar ends before it.
pub(crate) fn read_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let stored: i64 = row.get(column)?;
    let stored = if (MAX_READ_TIME..=MAX_STORED_TIME).contains(&stored) { MAX_READ_TIME } else { stored };
    decode_column(column, Timestamp::from_millisecond(stored))
}

/// Converts a stored score, in ten-thousandths, to 0.0 to 1.0.
pub(crate) fn score_from_stored(stored: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "it is at most 10,000")]
    let score = stored as f64;
    score / 1e4
}

/// Converts a score to ten-thousandths, clamped to 0.0 to 1.0.
pub(crate) fn score_to_stored(score: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "it is at most 10,000")]
    let stored = (score.clamp(0.0, 1.0) * 1e4).round() as i64;
    stored
}

pub(crate) fn by_name(transaction: &Connection, name: &ToolName) -> rusqlite::Result<Option<Entry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE folded = ? AND current = 1");
    let folded = name.case_folded();
    let found = transaction.prepare_cached(&sql)?.query_row([&folded], Entry::from_row).optional()?;
    found.map(|entry| entry.verify_lookup(|entry| entry.name.case_folded() == folded)).transpose()
}

pub(crate) fn by_id(transaction: &Connection, id: ToolId) -> rusqlite::Result<Option<Entry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE id = ?");
    let found = transaction.prepare_cached(&sql)?.query_row([id.as_bytes()], Entry::from_row).optional()?;
    found.map(|entry| entry.verify_lookup(|entry| entry.id == id)).transpose()
}

fn by_prefix(transaction: &Connection, prefix: &IdPrefix, current: bool) -> Result<Entry, FindError> {
    let (least, greatest) = prefix.range();
    let sql = format!(
        "SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE id BETWEEN ? AND ? AND current >= ? ORDER BY id LIMIT 10"
    );
    let mut statement = transaction.prepare_cached(&sql).map_err(Fault::from)?;
    let range = (least.as_bytes(), greatest.as_bytes(), current);
    let sought = |entry: &Entry| (least..=greatest).contains(&entry.id);
    let rows = statement.query_map(range, |row| Entry::from_row(row)?.verify_lookup(sought)).map_err(Fault::from)?;
    let mut found: Vec<Entry> = rows.collect::<Result<_, _>>().map_err(Fault::from)?;
    match found.len() {
        0 => Err(FindError::Unknown(prefix.to_string())),
        1 => Ok(found.remove(0)),
        _ => Err(FindError::Ambiguous {
            prefix: prefix.to_string(),
            candidates: found.into_iter().map(|entry| (entry.id, entry.name)).collect(),
        }),
    }
}

pub(crate) fn unsynced_bytes(transaction: &Connection, hash: Hash) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = transaction.prepare_cached("SELECT bytes FROM unsynced WHERE hash = ?")?;
    statement.query_row([hash.as_bytes()], |row| row.get(0)).optional()
}
