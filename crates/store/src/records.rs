//! Run records and receipts, by hash.
//!
//! Invariant: a record has the hash it is asked for by, or it is damage.

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::OptionalExtension as _;
use toolcell_tool::ToolId;

use crate::error::Fault;
use crate::index::Durability;
use crate::store::{Store, time};

/// What happened in a run, or what proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it is, such as `run` or `receipt`.
    pub kind: String,
    /// The tool it is about.
    pub tool: ToolId,
    /// When it happened.
    pub at: Timestamp,
    /// What it says.
    pub body: Vec<u8>,
}

impl Store {
    /// Keeps a record, once, and gives its hash. It outlasts the process at once, and a loss of power with the next
    /// change of a tool.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn keep_record(&self, record: &Record) -> Result<Hash, Fault> {
        let hash = blake3::hash(&record.body);
        self.index.write(Durability::Unsynced, |transaction| {
            let sql = "INSERT OR IGNORE INTO record (hash, kind, tool, at, body) VALUES (?, ?, ?, ?, ?)";
            let (tool, at) = (record.tool.as_bytes(), record.at.as_millisecond());
            transaction.prepare_cached(sql)?.execute((hash.as_bytes(), &record.kind, tool, at, &record.body))?;
            Ok(hash)
        })
    }

    /// The record with a hash.
    ///
    /// # Errors
    /// `integrity` where it is not what its hash says, and those of the disk.
    pub fn record(&self, hash: Hash) -> Result<Option<Record>, Fault> {
        let record: Option<Record> = self.index.read(|transaction| {
            let sql = "SELECT kind, tool, at, body FROM record WHERE hash = ?";
            let mut statement = transaction.prepare_cached(sql)?;
            let row = statement.query_row([hash.as_bytes()], |row| {
                let tool = ToolId::from_bytes(row.get(1)?);
                Ok(Record { kind: row.get(0)?, tool, at: time(row, 2)?, body: row.get(3)? })
            });
            Ok::<_, Fault>(row.optional()?)
        })?;
        match record {
            Some(record) if blake3::hash(&record.body) != hash => {
                Err(Fault::object(hash, "is a record whose bytes have another hash"))
            }
            other => Ok(other),
        }
    }

    /// The hashes of the records of a tool, the newest first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn records(&self, tool: ToolId, limit: usize) -> Result<Vec<Hash>, Fault> {
        self.index.read(|transaction| {
            let sql = "SELECT hash FROM record WHERE tool = ? ORDER BY num DESC LIMIT ?";
            let mut statement = transaction.prepare_cached(sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map((tool.as_bytes(), limit), |row| row.get(0).map(Hash::from_bytes))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
