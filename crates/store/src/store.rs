//! The store, opened: finds tools and reads them back.
//!
//! Invariant: what comes off the disk is checked against its hash on every read, and a tool against its identifier.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};
use toolcell_tool::{IdPrefix, Notes, Status, ToolId, ToolName, ToolSpec};

use crate::audit::{Audit, AuditConfig};
use crate::directory::{Access, Directory, OpenError, WhenMissing};
use crate::error::Fault;
use crate::find::{FindError, ToolRef};
use crate::index::{Durability, Index};
use crate::journal::Journal;
use crate::notice::{self, Notice};
use crate::objects::{Found, Objects};
use crate::outbox::Outbox;
use crate::rebuild::MARK;
use crate::reserve;
use crate::secret::Secret;
use crate::settle::Unsettled;
use crate::together::Waiting;
use crate::version::{Scores, Version};

/// How a store is kept.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What acknowledged changes outlast.
    pub durability: Durability,
    /// How many tools may have a name at once; no limit where there is none.
    pub tool_limit: Option<u64>,
    /// How the audit log is kept.
    pub audit: AuditConfig,
}

/// A store of tools. Many threads share one, and many processes open the same directory.
///
/// # Examples
/// ```
/// use toolcell_store::{Registration, Scores, Settings, Store, ToolRef, WhenTaken};
/// use toolcell_tool::{Draft, Notes, ToolName, ToolSpec};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), &Settings::default())?;
/// let draft = Draft::from_bytes("twice.ts", b"const execute = ({ n }) => 2 * n")?;
/// let spec = ToolSpec::new(ToolName::parse("twice")?, &draft, serde_json::Value::Null, serde_json::Value::Null)?;
/// let notes = Notes::new("Doubles a number")?;
/// let scores = Scores { safety: 1.0, quality: 0.9 };
/// store.put(&Registration { spec: &spec, notes: &notes, scores, at: jiff::Timestamp::UNIX_EPOCH }, WhenTaken::Refuse)?;
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
    pub(crate) waiting: Mutex<Vec<Waiting>>,
    pub(crate) unsettled: Unsettled,
    /// The runs of this process, once it has begun one.
    pub(crate) journal: Mutex<Option<Arc<Journal>>>,
    /// Once somebody asked for it.
    pub(crate) secret: OnceLock<Secret>,
    pub(crate) outbox: Mutex<Outbox>,
    /// Whether the line of the last run is not in the log yet.
    pub(crate) is_behind: AtomicBool,
}

/// What the index keeps about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its identifier.
    pub id: ToolId,
    /// Its name.
    pub name: ToolName,
    /// Whether the name leads here: the tool was neither deleted nor replaced.
    pub current: bool,
    /// What it does.
    pub description: String,
    /// Its tags, sorted.
    pub tags: Vec<String>,
    /// What the analysis said when it was stored.
    pub scores: Scores,
    /// How far runs speak for it: 0.1 to 1.0, from the lower of the scores on.
    pub confidence: f64,
    /// How far it is trusted.
    pub status: Status,
    /// What is to be used in its place, where it is deprecated and something is.
    pub successor: Option<ToolId>,
    /// When its identifier was first stored.
    pub created_at: Timestamp,
    /// When something was last said about it.
    pub updated_at: Timestamp,
    /// How often it ran.
    pub runs: u64,
    /// How often that went well.
    pub successes: u64,
    /// When it last ran.
    pub last_used_at: Option<Timestamp>,
    /// Whether somebody approved or refused it, with whatever grants.
    pub judged: bool,
    pub(crate) num: i64,
    pub(crate) version: Hash,
    pub(crate) source: Hash,
}

impl Store {
    /// Opens a store, and makes one where there is none.
    ///
    /// # Errors
    /// `store-owner`, `store-newer`, `store-invalid`, `store-busy`, `integrity` where the index is damaged, and those of
    /// the disk.
    pub fn open(path: &Path, settings: &Settings) -> Result<Self, OpenError> {
        Self::open_directory(Directory::open(path, WhenMissing::Make)?, settings)
    }

    /// Opens a store that is there.
    ///
    /// # Errors
    /// As [`Store::open`], and `store-invalid` where there is none.
    pub fn open_existing(path: &Path, settings: &Settings) -> Result<Self, OpenError> {
        Self::open_directory(Directory::open(path, WhenMissing::Refuse)?, settings)
    }

    fn open_directory(directory: Directory, settings: &Settings) -> Result<Self, OpenError> {
        if directory.root().symlink_metadata(MARK).is_ok() {
            return Err(OpenError::Unfinished { path: directory.path().display().to_string() });
        }
        let objects = Objects::open(&directory)?;
        let index = Index::open(&directory)?;
        let audit = Audit::open(&directory, settings.audit)?;
        reserve::keep(&directory);
        let store = Self {
            directory,
            objects,
            index,
            audit,
            settings: settings.clone(),
            waiting: Mutex::default(),
            unsettled: Unsettled::default(),
            journal: Mutex::default(),
            secret: OnceLock::new(),
            outbox: Mutex::default(),
            is_behind: AtomicBool::new(false),
        };
        if let Err(fault) = store.open_outbox() {
            // What waits there is appended by the next who can.
            notice::tell(&Notice::Delayed { action: "earlier changes", why: &fault.to_string() });
        }
        Ok(store)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// What can be done with it.
    #[must_use]
    pub fn access(&self) -> Access {
        self.directory.access()
    }

    /// The audit log.
    #[must_use]
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// The tool that a name leads to, or an identifier.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`
    pub fn find(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        self.settle_first();
        let mut entry = self.find_to_run(reference)?;
        self.show_damage(std::slice::from_mut(&mut entry))?;
        Ok(entry)
    }

    /// The same, where it is to be run: what the last runs showed may be missing in it.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`
    pub fn find_to_run(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        self.index.read(|transaction| match reference {
            ToolRef::Name(name) => {
                let found = by_name(transaction, name).map_err(Fault::from)?;
                found.ok_or_else(|| FindError::Unknown(name.to_string()))
            }
            ToolRef::Id(prefix) => by_prefix(transaction, prefix, true),
        })
    }

    /// The tool of an identifier, also where its name leads elsewhere or was deleted.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`
    pub fn find_any(&self, prefix: &IdPrefix) -> Result<Entry, FindError> {
        self.settle_first();
        let mut entry = self.index.read(|transaction| by_prefix(transaction, prefix, false))?;
        self.show_damage(std::slice::from_mut(&mut entry))?;
        Ok(entry)
    }

    /// Tools with the same source, other than the one that is asked about, at most ten.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn with_same_source(&self, spec: &ToolSpec) -> Result<Vec<Entry>, Fault> {
        let source = blake3::hash(spec.source().as_bytes());
        self.index.read(|transaction| {
            let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE source = ? AND id <> ? AND current = 1 LIMIT 10");
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map((source.as_bytes(), spec.id().as_bytes()), Entry::of_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// What decides how a tool behaves, read from its objects and checked against its identifier.
    ///
    /// # Errors
    /// `integrity`, and those of the disk.
    pub fn spec(&self, entry: &Entry) -> Result<ToolSpec, Fault> {
        let read = self.read_spec(entry);
        if let Err(Fault::Object { .. }) = read {
            self.mark_damaged(entry);
        }
        read
    }

    fn read_spec(&self, entry: &Entry) -> Result<ToolSpec, Fault> {
        let version = self.version(entry.version)?;
        let spec = version.spec(&self.object(entry.source)?);
        let spec = spec.map_err(|reason| Fault::object(entry.version, reason))?;
        if spec.id() == entry.id {
            Ok(spec)
        } else {
            Err(Fault::object(entry.version, format!("is about {} and not about {}", spec.id(), entry.id)))
        }
    }

    /// What is said about a tool.
    ///
    /// # Errors
    /// `integrity`, and those of the disk.
    pub fn notes(&self, entry: &Entry) -> Result<Notes, Fault> {
        self.version(entry.version)?.notes().map_err(|reason| Fault::object(entry.version, reason))
    }

    /// A version, from its object.
    pub(crate) fn version(&self, hash: Hash) -> Result<Version, Fault> {
        Version::from_bytes(&self.object(hash)?).map_err(|reason| Fault::object(hash, reason))
    }

    /// An object, which must be there and have its hash. One that a loss of power took is made again.
    pub(crate) fn object(&self, hash: Hash) -> Result<Vec<u8>, Fault> {
        let wrong = match self.objects.look(hash)? {
            Found::Whole(bytes) => return Ok(bytes),
            Found::Missing => "is missing".to_owned(),
            Found::Damaged(what) => what,
        };
        let kept = self.index.read(|transaction| unsynced(transaction, hash).map_err(Fault::from))?;
        let Some(bytes) = kept.filter(|bytes| blake3::hash(bytes) == hash) else {
            return Err(Fault::object(hash, wrong));
        };
        if self.access() == Access::Full {
            self.objects.write(hash, &bytes)?;
        }
        Ok(bytes)
    }
}

impl Drop for Store {
    /// What has ended gets into the index; where it does not, it is in the journal.
    fn drop(&mut self) {
        self.settle_at_the_end();
        if let Err(fault) = self.close_outbox() {
            // Whoever opens the store next goes on with it.
            tracing::warn!(%fault, "lines of the audit log are not synced yet");
        }
    }
}

/// The latest time that the tables hold, and the latest that is read as it is.
const LAST_TIME: i64 = 253_402_207_200_999;
const LAST_READ: i64 = 253_402_207_200_000;

/// The columns of an [`Entry`].
pub(crate) const COLUMNS: &str = "num, id, name, current, description, tags, safety, quality, confidence, status, \
     created_at, updated_at, runs, successes, last_used_at, version, source, \
     EXISTS (SELECT 1 FROM approval WHERE approval.tool = id AND granted IS NOT NULL), \
     (SELECT successor FROM successor WHERE successor.tool = num AND status = 'deprecated')";
/// Where they are. The second is never searched for the first.
pub(crate) const TABLES: &str = "tool CROSS JOIN about ON about.tool = num";

impl Entry {
    /// Reads a row of [`COLUMNS`]. What no row of ours has in it is damage.
    pub(crate) fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let score = |column: usize| row.get::<_, i64>(column).map(score);
        let last_used: i64 = row.get(14)?;
        Ok(Self {
            num: row.get(0)?,
            id: ToolId::from_bytes(row.get(1)?),
            name: parsed(2, ToolName::parse(row.get_ref(2)?.as_str()?))?,
            current: row.get(3)?,
            description: row.get(4)?,
            tags: row.get_ref(5)?.as_str()?.split_terminator('\n').skip(1).map(str::to_owned).collect(),
            scores: Scores { safety: score(6)?, quality: score(7)? },
            confidence: score(8)?,
            status: parsed(9, Status::named(row.get_ref(9)?.as_str()?).ok_or("no status"))?,
            created_at: time(row, 10)?,
            updated_at: time(row, 11)?,
            runs: row.get(12)?,
            successes: row.get(13)?,
            last_used_at: if last_used == 0 { None } else { Some(time(row, 14)?) },
            version: Hash::from_bytes(row.get(15)?),
            source: Hash::from_bytes(row.get(16)?),
            judged: row.get(17)?,
            successor: row.get::<_, Option<[u8; 32]>>(18)?.map(ToolId::from_bytes),
        })
    }
}

impl Entry {
    /// The hash of its source: tools with the same one differ in name, parameters or capabilities alone.
    #[must_use]
    pub fn source_hash(&self) -> Hash {
        self.source
    }

    /// What was looked for. An index that is damaged may lead elsewhere.
    fn sought(self, is_sought: impl Fn(&Self) -> bool) -> rusqlite::Result<Self> {
        if is_sought(&self) { Ok(self) } else { parsed(1, Err("is of another tool than what led to it")) }
    }
}

/// What cannot be read in a column is a damaged index.
pub(crate) fn parsed<T, E: Into<crate::Cause>>(column: usize, value: Result<T, E>) -> rusqlite::Result<T> {
    value.map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into()))
}

/// Tags as a column holds them, so that each is found with what is around it. No tag has a line feed in it.
pub(crate) fn joined(tags: &[String]) -> String {
    tags.iter().fold("\n".to_owned(), |joined, tag| joined + tag + "\n")
}

/// A column of milliseconds since 1970. In its last second the calendar ends before the tables do.
pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let stored: i64 = row.get(column)?;
    let stored = if (LAST_READ..=LAST_TIME).contains(&stored) { LAST_READ } else { stored };
    parsed(column, Timestamp::from_millisecond(stored))
}

/// Ten-thousandths.
pub(crate) fn score(stored: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "it is at most 10,000")]
    let score = stored as f64;
    score / 1e4
}

/// In ten-thousandths.
pub(crate) fn stored(score: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "it is at most 10,000")]
    let stored = (score.clamp(0.0, 1.0) * 1e4).round() as i64;
    stored
}

pub(crate) fn by_name(transaction: &Connection, name: &ToolName) -> rusqlite::Result<Option<Entry>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE folded = ? AND current = 1");
    let folded = name.folded();
    let found = transaction.prepare_cached(&sql)?.query_row([&folded], Entry::of_row).optional()?;
    found.map(|entry| entry.sought(|entry| entry.name.folded() == folded)).transpose()
}

pub(crate) fn by_id(transaction: &Connection, id: ToolId) -> rusqlite::Result<Option<Entry>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE id = ?");
    let found = transaction.prepare_cached(&sql)?.query_row([id.as_bytes()], Entry::of_row).optional()?;
    found.map(|entry| entry.sought(|entry| entry.id == id)).transpose()
}

fn by_prefix(transaction: &Connection, prefix: &IdPrefix, current: bool) -> Result<Entry, FindError> {
    let (least, greatest) = prefix.range();
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE id BETWEEN ? AND ? AND current >= ? ORDER BY id LIMIT 10");
    let mut statement = transaction.prepare_cached(&sql).map_err(Fault::from)?;
    let range = (least.as_bytes(), greatest.as_bytes(), current);
    let sought = |entry: &Entry| (least..=greatest).contains(&entry.id);
    let rows = statement.query_map(range, |row| Entry::of_row(row)?.sought(sought)).map_err(Fault::from)?;
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

pub(crate) fn unsynced(transaction: &Connection, hash: Hash) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = transaction.prepare_cached("SELECT bytes FROM unsynced WHERE hash = ?")?;
    statement.query_row([hash.as_bytes()], |row| row.get(0)).optional()
}
