//! Tools that are listed but cannot run, because their objects are damaged or missing.
//!
//! Invariant: a list shows tools as quarantined whose damage was detected before or whose objects
//! are missing. For that it reads the index and checks that the files exist; it reads objects only
//! of tools that are marked as damaged, to see whether they are intact again.

use std::collections::HashSet;

use blake3::Hash;
use rusqlite::Connection;
use toolcell_tool::Status;

use crate::directory::StoreAccess;
use crate::error::Fault;
use crate::index::Durability;
use crate::store::{Entry, Store, unsynced_bytes};

impl Store {
    /// Marks a tool as damaged in the index, for later lists. A failure to do so is only logged.
    pub(crate) fn mark_damaged(&self, entry: &Entry) {
        let is_marked = self.index.read(|transaction| Ok::<_, Fault>(damaged_tools(transaction)?.contains(&entry.num)));
        if self.access() == StoreAccess::ReadOnly || is_marked.unwrap_or(true) {
            return;
        }
        let noted = self.index.write_soon(Durability::Unsynced, |transaction| {
            let sql = "INSERT OR IGNORE INTO damaged (tool) VALUES (?)";
            transaction.prepare_cached(sql)?.execute([entry.num])?;
            Ok::<_, Fault>(())
        });
        if let Err(fault) = noted {
            tracing::warn!(tool = %entry.id, %fault, "the damage of a tool could not be recorded");
        }
    }

    /// Sets the status of damaged tools to quarantined in `entries`.
    pub(crate) fn flag_damaged(&self, entries: &mut [Entry]) -> Result<(), Fault> {
        let marked = self.index.read(|transaction| Ok::<_, Fault>(damaged_tools(transaction)?))?;
        for entry in entries {
            let is_damaged = if marked.contains(&entry.num) {
                let is_whole = self.spec(entry).is_ok();
                if is_whole && self.access() == StoreAccess::Full {
                    self.index.write_soon(Durability::Unsynced, |transaction| {
                        transaction.prepare_cached("DELETE FROM damaged WHERE tool = ?")?.execute([entry.num])?;
                        Ok::<_, Fault>(())
                    })?;
                }
                !is_whole
            } else {
                self.is_missing(entry.version)? || self.is_missing(entry.source)?
            };
            if is_damaged {
                entry.status = Status::Quarantined;
            }
        }
        Ok(())
    }

    fn is_missing(&self, hash: Hash) -> Result<bool, Fault> {
        if self.objects.exists(hash) {
            return Ok(false);
        }
        let kept = self.index.read(|transaction| unsynced_bytes(transaction, hash).map_err(Fault::from))?;
        Ok(kept.is_none())
    }
}

/// The tools marked as damaged, by row number.
fn damaged_tools(transaction: &Connection) -> rusqlite::Result<HashSet<i64>> {
    let mut statement = transaction.prepare_cached("SELECT tool FROM damaged")?;
    statement.query_map([], |row| row.get(0))?.collect()
}
