//! The index entry of a tool.
//!
//! Invariant: an entry is the one that was looked up, even if the index is damaged.

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row};
use toolcell_tool::{Status, ToolId, ToolName};

use crate::db::sql::{decode_column, read_time};
use crate::version::Scores;

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

    /// The hash of the source. Tools with the same source differ only in name, parameters or
    /// capabilities.
    #[must_use]
    pub fn source_hash(&self) -> Hash {
        self.source
    }

    /// Checks that the row is the one that was looked up: a damaged index may return another.
    pub(crate) fn verify_lookup(self, is_sought: impl Fn(&Self) -> bool) -> rusqlite::Result<Self> {
        if is_sought(&self) { Ok(self) } else { decode_column(1, Err("is of another tool than the one looked up")) }
    }
}

/// Joins tags into one column value, each between line feeds, so that `instr` finds whole tags. A
/// tag contains no line feed.
pub(crate) fn join_tags(tags: &[String]) -> String {
    tags.iter().fold("\n".to_owned(), |joined, tag| joined + tag + "\n")
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

/// The tool that a name resolves to.
pub(crate) fn by_name(transaction: &Connection, name: &ToolName) -> rusqlite::Result<Option<Entry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE folded = ? AND current = 1");
    let folded = name.case_folded();
    let found = transaction.prepare_cached(&sql)?.query_row([&folded], Entry::from_row).optional()?;
    found.map(|entry| entry.verify_lookup(|entry| entry.name.case_folded() == folded)).transpose()
}

/// The tool with an identifier, even if no name resolves to it.
pub(crate) fn by_id(transaction: &Connection, id: ToolId) -> rusqlite::Result<Option<Entry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE id = ?");
    let found = transaction.prepare_cached(&sql)?.query_row([id.as_bytes()], Entry::from_row).optional()?;
    found.map(|entry| entry.verify_lookup(|entry| entry.id == id)).transpose()
}
