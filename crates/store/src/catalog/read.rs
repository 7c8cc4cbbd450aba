//! Tools as read back from their objects, and the damage that shows.
//!
//! Invariant: a tool is checked against its identifier on every read. A list shows tools as
//! quarantined whose damage was detected before or whose objects are missing. For that it reads the
//! index and checks that the files exist; it reads objects only of tools that are marked as damaged,
//! to see whether they are intact again.

use std::collections::HashSet;

use rusqlite::Connection;
use toolcell_i18n::message;
use toolcell_tool::{Status, ToolMetadata, ToolSpec};

use crate::directory::StoreAccess;
use crate::durability::Durability;
use crate::entry::Entry;
use crate::error::Fault;
use crate::version::read_version;

use super::Catalog;

impl Catalog<'_> {
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
        let version = read_version(self.db, entry.version)?;
        let spec = version.spec(&self.db.read_object(entry.source)?);
        let spec = spec.map_err(|reason| Fault::object(entry.version, reason))?;
        if spec.id() == entry.id {
            Ok(spec)
        } else {
            let what = message!("is a version of {actual}, not of {expected}", actual = spec.id(), expected = entry.id);
            Err(Fault::object(entry.version, what))
        }
    }

    /// Reads the metadata of a tool.
    ///
    /// # Errors
    /// `integrity`, or another [`Fault`].
    pub fn metadata(&self, entry: &Entry) -> Result<ToolMetadata, Fault> {
        read_version(self.db, entry.version)?.metadata().map_err(|reason| Fault::object(entry.version, reason))
    }

    /// Marks a tool as damaged in the index, for later lists. A failure to do so is only logged.
    pub(crate) fn mark_damaged(&self, entry: &Entry) {
        let is_marked =
            self.db.index.read(|transaction| Ok::<_, Fault>(damaged_tools(transaction)?.contains(&entry.num)));
        if self.db.access() == StoreAccess::ReadOnly || is_marked.unwrap_or(true) {
            return;
        }
        let noted = self.db.index.write_soon(Durability::Unsynced, |transaction| {
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
        let marked = self.db.index.read(|transaction| Ok::<_, Fault>(damaged_tools(transaction)?))?;
        for entry in entries {
            let is_damaged = if marked.contains(&entry.num) {
                let is_whole = self.spec(entry).is_ok();
                if is_whole && self.db.access() == StoreAccess::Full {
                    self.db.index.write_soon(Durability::Unsynced, |transaction| {
                        transaction.prepare_cached("DELETE FROM damaged WHERE tool = ?")?.execute([entry.num])?;
                        Ok::<_, Fault>(())
                    })?;
                }
                !is_whole
            } else {
                self.db.is_missing(entry.version)? || self.db.is_missing(entry.source)?
            };
            if is_damaged {
                entry.status = Status::Quarantined;
            }
        }
        Ok(())
    }
}

/// The tools marked as damaged, by row number.
fn damaged_tools(transaction: &Connection) -> rusqlite::Result<HashSet<i64>> {
    let mut statement = transaction.prepare_cached("SELECT tool FROM damaged")?;
    statement.query_map([], |row| row.get(0))?.collect()
}
