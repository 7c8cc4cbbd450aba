//! Run records and receipts, by hash, by run and by tool.
//!
//! Invariant: a record has the hash it is asked for by, or it is damage. A run has one record.

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, Row};
use toolcell_tool::ToolId;

use crate::error::Fault;
use crate::index::Durability;
use crate::run_id::RunId;
use crate::store::{Store, time};

/// The kind of the record of a run. `gc` collects those that are old, and old plans; other kinds stay.
pub const RUN: &str = "run";
/// The kind of a plan that was shown to a person: what can be approved under its hash.
pub const PLAN: &str = "plan";

/// What happened in a run, or what proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it is: [`RUN`], or another word such as `receipt`.
    pub kind: String,
    /// The tool it is about; none where none was found.
    pub tool: Option<ToolId>,
    /// When it happened.
    pub at: Timestamp,
    /// What it says.
    pub body: Vec<u8>,
}

/// A record that is about to be kept, with its hash.
pub(crate) struct RunRecord {
    pub(crate) hash: Hash,
    pub(crate) run: Option<RunId>,
    pub(crate) record: Record,
}

/// The columns of a [`Record`], and its hash.
const COLUMNS: &str = "kind, tool, at, body, hash";

impl Store {
    /// Keeps a record, once, and gives its hash. It outlasts the process at once, and a loss of power with the next
    /// change of a tool.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk.
    pub fn keep_record(&self, record: &Record) -> Result<Hash, Fault> {
        let hash = blake3::hash(&record.body);
        let record = RunRecord { hash, run: None, record: record.clone() };
        self.index.write(Durability::Unsynced, |transaction| insert(transaction, &record).map(|_| hash))
    }

    /// The record with a hash.
    ///
    /// # Errors
    /// `integrity` where it is not what its hash says, and those of the disk.
    pub fn record(&self, hash: Hash) -> Result<Option<Record>, Fault> {
        let found = self.found(&format!("SELECT {COLUMNS} FROM record WHERE hash = ?"), (hash.as_bytes(),))?;
        match found.into_iter().next() {
            Some((actual, _)) if actual != hash => Err(damaged(hash)),
            other => Ok(other.map(|(_, record)| record)),
        }
    }

    /// The record of a run.
    ///
    /// # Errors
    /// `integrity` where it is not what its hash says, and those of the disk.
    pub fn record_of(&self, run: RunId) -> Result<Option<Record>, Fault> {
        let found = self.found(&format!("SELECT {COLUMNS} FROM record WHERE run = ?"), (run.to_bytes(),))?;
        Ok(found.into_iter().next().map(|(_, record)| record))
    }

    /// The hashes of the records of a tool, the newest first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn records(&self, tool: ToolId, limit: usize) -> Result<Vec<Hash>, Fault> {
        self.settle_first();
        self.index.read(|transaction| {
            let sql = "SELECT hash FROM record WHERE tool = ? ORDER BY num DESC LIMIT ?";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows =
                statement.query_map((tool.as_bytes(), at_most(limit)), |row| row.get(0).map(Hash::from_bytes))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The records of a tool that are of one kind, with their hashes, the newest first.
    ///
    /// # Errors
    /// `integrity` where one is not what its hash says, and those of the disk.
    pub fn records_of_kind(&self, tool: ToolId, kind: &str, limit: usize) -> Result<Vec<(Hash, Record)>, Fault> {
        let sql = format!("SELECT {COLUMNS} FROM record WHERE tool = ? AND kind = ? ORDER BY num DESC LIMIT ?");
        self.found(&sql, (tool.as_bytes(), kind, at_most(limit)))
    }

    /// What a query finds, each with its hash.
    fn found(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<(Hash, Record)>, Fault> {
        self.settle_first();
        let found: Vec<(Hash, Record)> = self.index.read(|transaction| {
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map(params, of_row)?;
            Ok::<_, Fault>(rows.collect::<Result<_, _>>()?)
        })?;
        match found.iter().find(|(hash, record)| blake3::hash(&record.body) != *hash) {
            Some((hash, _)) => Err(damaged(*hash)),
            None => Ok(found),
        }
    }
}

/// Writes a record into the index; false where it is there already.
pub(crate) fn insert(transaction: &Connection, RunRecord { hash, run, record }: &RunRecord) -> Result<bool, Fault> {
    let sql = "INSERT OR IGNORE INTO record (hash, kind, tool, at, body, run) VALUES (?, ?, ?, ?, ?, ?)";
    let tool = record.tool.as_ref().map(ToolId::as_bytes);
    let run = run.map(RunId::to_bytes);
    let row = (hash.as_bytes(), &record.kind, tool, record.at.as_millisecond(), &record.body, run);
    Ok(transaction.prepare_cached(sql)?.execute(row)? > 0)
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<(Hash, Record)> {
    let tool = row.get::<_, Option<[u8; 32]>>(1)?.map(ToolId::from_bytes);
    let record = Record { kind: row.get(0)?, tool, at: time(row, 2)?, body: row.get(3)? };
    Ok((Hash::from_bytes(row.get(4)?), record))
}

fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn damaged(hash: Hash) -> Fault {
    Fault::object(hash, "is a record whose bytes have another hash")
}
