//! Tools that are listed and cannot be run, because what is stored of them is gone or is something else.
//!
//! Invariant: whoever lists tools sees which of them were found to be damaged, and which have no objects any more. Nothing is read
//! closely for that: a list reads the index, and looks whether files are there.

use std::collections::HashSet;

use blake3::Hash;
use rusqlite::Connection;
use toolcell_tool::Status;

use crate::directory::Access;
use crate::error::Fault;
use crate::index::Durability;
use crate::store::{Entry, Store, unsynced};

impl Store {
    /// Notes that a tool is damaged, for those who list it. That it cannot be noted changes nothing.
    pub(crate) fn mark_damaged(&self, entry: &Entry) {
        let is_marked = self.index.read(|transaction| Ok::<_, Fault>(marked(transaction)?.contains(&entry.num)));
        if self.access() == Access::ReadOnly || is_marked.unwrap_or(true) {
            return;
        }
        let noted = self.index.write_soon(Durability::Unsynced, |transaction| {
            let sql = "INSERT OR IGNORE INTO damaged (tool) VALUES (?)";
            transaction.prepare_cached(sql)?.execute([entry.num])?;
            Ok::<_, Fault>(())
        });
        if let Err(fault) = noted {
            tracing::warn!(tool = %entry.id, %fault, "that a tool is damaged could not be noted");
        }
    }

    /// Shows tools as quarantined that are damaged.
    pub(crate) fn show_damage(&self, entries: &mut [Entry]) -> Result<(), Fault> {
        let marked = self.index.read(|transaction| Ok::<_, Fault>(marked(transaction)?))?;
        for entry in entries {
            let is_damaged = if marked.contains(&entry.num) {
                let is_whole = self.spec(entry).is_ok();
                if is_whole && self.access() == Access::Full {
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
        if self.objects.has(hash) {
            return Ok(false);
        }
        let kept = self.index.read(|transaction| unsynced(transaction, hash).map_err(Fault::from))?;
        Ok(kept.is_none())
    }
}

/// The tools that were found to be damaged.
fn marked(transaction: &Connection) -> rusqlite::Result<HashSet<i64>> {
    let mut statement = transaction.prepare_cached("SELECT tool FROM damaged")?;
    statement.query_map([], |row| row.get(0))?.collect()
}
