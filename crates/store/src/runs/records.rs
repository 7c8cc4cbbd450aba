//! Run records and receipts, looked up by hash, by run or by tool.
//!
//! Invariant: a record that does not match its hash is reported as damage. A run has exactly one
//! record.

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, Row};
use toolcell_i18n::message;
use toolcell_tool::ToolId;

use crate::db::sql::read_time;
use crate::durability::Durability;
use crate::error::Fault;

use super::Runs;
use super::run_id::RunId;

/// The kind of run records. `gc` collects old run records with their receipts, and old plans; records of
/// other kinds stay.
pub const RUN_KIND: &str = "run";
/// The kind of plans: the side effects shown to a person, who can approve them by the hash of the
/// plan.
pub const PLAN_KIND: &str = "plan";

/// The kind of receipts that the store keeps of runs.
pub const RECEIPT_KIND: &str = "run-receipt";

/// How many receipts a store keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptLimits {
    /// The maximum number.
    pub count: u64,
    /// The maximum size of all together, in bytes.
    pub bytes: u64,
}

/// A stored record: what happened in a run, or evidence of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The kind of record: [`RUN_KIND`], or another word.
    pub kind: String,
    /// The tool; `None` if no tool was found.
    pub tool: Option<ToolId>,
    /// When it happened.
    pub at: Timestamp,
    /// The content.
    pub body: Vec<u8>,
}

/// A record to be inserted, with its hash.
pub(crate) struct HashedRecord {
    pub(crate) hash: Hash,
    pub(crate) run: Option<RunId>,
    pub(crate) record: Record,
}

/// A position in the list of all records; later records have greater positions. A rebuild of the index renumbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordPosition(i64);

impl RecordPosition {
    /// Returns the position with this number.
    #[must_use]
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> i64 {
        self.0
    }
}

/// A record in a list.
#[derive(Debug)]
pub struct ListedRecord {
    /// The position.
    pub position: RecordPosition,
    /// The record, or the damage: it does not match its hash.
    pub record: Result<Record, Fault>,
}

/// The columns of a [`Record`], and its hash.
const COLUMNS: &str = "kind, tool, at, body, hash";

impl Runs<'_> {
    /// Inserts a record, unless it is already there, and returns its hash. It survives a crash of
    /// the process at once, and a power failure after the next change of a tool.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn insert_record(&self, record: &Record) -> Result<Hash, Fault> {
        let hash = blake3::hash(&record.body);
        let record = HashedRecord { hash, run: None, record: record.clone() };
        self.db.index.write(Durability::Unsynced, |transaction| insert(transaction, &record).map(|_| hash))
    }

    /// Keeps a receipt, and deletes the oldest ones beyond the limits. Returns its hash.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn keep_receipt(&self, receipt: &Record, limits: ReceiptLimits) -> Result<Hash, Fault> {
        let hash = blake3::hash(&receipt.body);
        let record = HashedRecord { hash, run: None, record: receipt.clone() };
        self.db.index.write(Durability::Unsynced, |transaction| {
            insert(transaction, &record)?;
            delete_oldest_receipts(transaction, limits)?;
            Ok(hash)
        })
    }

    /// Looks a record up by hash.
    ///
    /// # Errors
    /// `integrity` if the record does not match its hash, or another [`Fault`].
    pub fn record(&self, hash: Hash) -> Result<Option<Record>, Fault> {
        let found = self.query_records(&format!("SELECT {COLUMNS} FROM record WHERE hash = ?"), (hash.as_bytes(),))?;
        match found.into_iter().next() {
            Some((actual, _)) if actual != hash => Err(damaged_record(hash)),
            other => Ok(other.map(|(_, record)| record)),
        }
    }

    /// Looks the record of a run up.
    ///
    /// # Errors
    /// `integrity` if the record does not match its hash, or another [`Fault`].
    pub fn record_of_run(&self, run: RunId) -> Result<Option<Record>, Fault> {
        let found = self.query_records(&format!("SELECT {COLUMNS} FROM record WHERE run = ?"), (run.to_bytes(),))?;
        Ok(found.into_iter().next().map(|(_, record)| record))
    }

    /// The hashes of a tool's records, newest first.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn records(&self, tool: ToolId, limit: usize) -> Result<Vec<Hash>, Fault> {
        self.flush_before_read();
        self.db.index.read(|transaction| {
            let sql = "SELECT hash FROM record WHERE tool = ? ORDER BY num DESC LIMIT ?";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows =
                statement.query_map((tool.as_bytes(), sql_limit(limit)), |row| row.get(0).map(Hash::from_bytes))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// A tool's records of one kind, with their hashes, newest first.
    ///
    /// # Errors
    /// `integrity` if a record does not match its hash, or another [`Fault`].
    pub fn records_of_kind(&self, tool: ToolId, kind: &str, limit: usize) -> Result<Vec<(Hash, Record)>, Fault> {
        let sql = format!("SELECT {COLUMNS} FROM record WHERE tool = ? AND kind = ? ORDER BY num DESC LIMIT ?");
        self.query_records(&sql, (tool.as_bytes(), kind, sql_limit(limit)))
    }

    /// The run records of one tool or of all tools, newest first, at most `limit`, before a position if one is given. A damaged
    /// record does not hide the others.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn newest_runs(
        &self,
        tool: Option<ToolId>,
        before: Option<RecordPosition>,
        limit: usize,
    ) -> Result<Vec<ListedRecord>, Fault> {
        self.flush_before_read();
        let before = before.map_or(i64::MAX, |position| position.0);
        self.db.index.read(|transaction| {
            let of_tool = if tool.is_some() { "tool = ?4 AND" } else { "?4 IS NULL AND" };
            let sql = format!(
                "SELECT {COLUMNS}, num FROM record WHERE {of_tool} kind = ?1 AND num < ?2 ORDER BY num DESC LIMIT ?3"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let tool = tool.as_ref().map(ToolId::as_bytes);
            let rows = statement.query_map((RUN_KIND, before, sql_limit(limit), tool), |row| {
                let (hash, record) = record_from_row(row)?;
                let intact = blake3::hash(&record.body) == hash;
                let record = if intact { Ok(record) } else { Err(damaged_record(hash)) };
                Ok(ListedRecord { position: RecordPosition(row.get(5)?), record })
            })?;
            Ok::<_, Fault>(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Runs a query for records and checks their hashes.
    fn query_records(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<(Hash, Record)>, Fault> {
        self.flush_before_read();
        let found: Vec<(Hash, Record)> = self.db.index.read(|transaction| {
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map(params, record_from_row)?;
            Ok::<_, Fault>(rows.collect::<Result<_, _>>()?)
        })?;
        match found.iter().find(|(hash, record)| blake3::hash(&record.body) != *hash) {
            Some((hash, _)) => Err(damaged_record(*hash)),
            None => Ok(found),
        }
    }
}

/// Inserts a record; false if it is already there.
pub(crate) fn insert(
    transaction: &Connection,
    HashedRecord { hash, run, record }: &HashedRecord,
) -> Result<bool, Fault> {
    let sql = "INSERT OR IGNORE INTO record (hash, kind, tool, at, body, run) VALUES (?, ?, ?, ?, ?, ?)";
    let tool = record.tool.as_ref().map(ToolId::as_bytes);
    let run = run.map(RunId::to_bytes);
    let row = (hash.as_bytes(), &record.kind, tool, record.at.as_millisecond(), &record.body, run);
    Ok(transaction.prepare_cached(sql)?.execute(row)? > 0)
}

/// Deletes the oldest receipts beyond the limits.
fn delete_oldest_receipts(transaction: &Connection, limits: ReceiptLimits) -> rusqlite::Result<()> {
    let sql = "SELECT num, octet_length(body) FROM record WHERE kind = 'run-receipt' ORDER BY num DESC";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let (mut count, mut bytes) = (0, 0_u64);
    while let Some(row) = rows.next()? {
        (count, bytes) = (count + 1, bytes.saturating_add(row.get(1)?));
        if count > limits.count || bytes > limits.bytes {
            let num: i64 = row.get(0)?;
            let sql = "DELETE FROM record WHERE kind = 'run-receipt' AND num <= ?";
            return transaction.prepare_cached(sql)?.execute([num]).map(|_| ());
        }
    }
    Ok(())
}

fn record_from_row(row: &Row<'_>) -> rusqlite::Result<(Hash, Record)> {
    let tool = row.get::<_, Option<[u8; 32]>>(1)?.map(ToolId::from_bytes);
    let record = Record { kind: row.get(0)?, tool, at: read_time(row, 2)?, body: row.get(3)? };
    Ok((Hash::from_bytes(row.get(4)?), record))
}

fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn damaged_record(hash: Hash) -> Fault {
    Fault::object(hash, message!("is a record that does not match its hash"))
}
