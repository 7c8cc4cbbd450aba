//! Lookup of tools by name and by identifier.
//!
//! Invariant: a prefix of an identifier resolves to a tool only if no other tool has it.

use rusqlite::Connection;
use toolcell_tool::{IdPrefix, NameError, ToolName, ToolSpec};

use crate::entry::{ENTRY_COLUMNS, ENTRY_TABLES, Entry, by_name};
use crate::error::Fault;

use super::Catalog;
use super::error::FindError;

/// A reference to a tool: its name, or a prefix of its identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolRef {
    /// An identifier, or a prefix of one.
    Id(IdPrefix),
    /// A name.
    Name(ToolName),
}

impl ToolRef {
    /// Parses a reference.
    ///
    /// # Errors
    /// Same as [`ToolName::parse`].
    pub fn parse(text: &str) -> Result<Self, NameError> {
        match IdPrefix::parse(text) {
            Ok(prefix) => Ok(Self::Id(prefix)),
            Err(_) => ToolName::parse(text).map(Self::Name),
        }
    }
}

impl std::fmt::Display for ToolRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(prefix) => prefix.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl Catalog<'_> {
    /// Resolves a name, or an identifier, to a tool.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`
    pub fn find(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        self.runs.flush_before_read();
        let mut entry = self.find_for_run(reference)?;
        self.flag_damaged(std::slice::from_mut(&mut entry))?;
        Ok(entry)
    }

    /// Resolves a tool that is about to run. Unlike [`Catalog::find`] it does not flush first, so the
    /// entry may lack the results of the latest runs.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`
    pub fn find_for_run(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        match self.find_current(reference) {
            // Another node may just have created it. The thread that follows the library may have applied that meanwhile.
            Err(FindError::Unknown(_)) if self.db.is_node() => {
                self.db.follow()?;
                self.find_current(reference)
            }
            found => found,
        }
    }

    fn find_current(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        self.db.index.read(|transaction| match reference {
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
        self.runs.flush_before_read();
        let mut entry = self.db.index.read(|transaction| by_prefix(transaction, prefix, false))?;
        self.flag_damaged(std::slice::from_mut(&mut entry))?;
        Ok(entry)
    }

    /// Current tools with the same source as `spec` but another identifier, at most ten.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn find_same_source(&self, spec: &ToolSpec) -> Result<Vec<Entry>, Fault> {
        let source = blake3::hash(spec.source().as_bytes());
        self.db.index.read(|transaction| {
            let sql = format!(
                "SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE source = ? AND id <> ? AND current = 1 LIMIT 10"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map((source.as_bytes(), spec.id().as_bytes()), Entry::from_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
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
