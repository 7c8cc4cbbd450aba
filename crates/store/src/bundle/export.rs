//! Export of tools into a bundle.
//!
//! Invariant: the same tools give the same bytes, and a bundle never contains half of a tool.

use std::io::Write;

use serde::Serialize;
use toolcell_tool::{Status, canonical_json};

use crate::catalog::{Filter, FindError, ListError, Order, PAGE_LIMIT, ToolRef};
use crate::entry::{Entry, by_id};
use crate::error::Fault;

use super::Bundles;
use super::format::{BundleLine, BundledTool, EarlierTool, Header, KIND};

/// Whether earlier tools of a name are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HistoryScope {
    /// Only the tool that the name resolves to.
    #[default]
    Latest,
    /// Earlier tools of the name as well.
    All,
}

/// An export that failed.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum ExportError {
    /// There is no such tool.
    #[error(transparent)]
    #[coded(transparent)]
    Find(#[from] FindError),
    /// The output cannot be written.
    #[error("the bundle cannot be written: {0}")]
    #[code(DiskFailed)]
    Write(#[from] std::io::Error),
    /// The disk or the index failed.
    #[error(transparent)]
    #[coded(transparent)]
    Fault(#[from] Fault),
}

impl ExportError {
    /// What the user can do next, if anything.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Find(error) => Some(error.hint()),
            Self::Write(_) => None,
            Self::Fault(fault) => Some(fault.hint()),
        }
    }
}

impl Bundles<'_> {
    /// Writes tools into a bundle, each once and sorted by name, and returns their number.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `integrity`, `disk-failed` if `out` cannot be written, or
    /// another [`Fault`].
    pub fn export(
        &self,
        references: &[ToolRef],
        history: HistoryScope,
        out: &mut dyn Write,
    ) -> Result<u64, ExportError> {
        let mut entries = Vec::new();
        for reference in references {
            entries.push(self.catalog.find(reference)?);
        }
        entries.sort_by_key(|entry| entry.name.case_folded());
        entries.dedup_by_key(|entry| entry.id);
        self.write_bundle(&entries, history, out)
    }

    /// Writes all tools that names resolve to into a bundle, except quarantined ones, which must
    /// not run anywhere.
    ///
    /// # Errors
    /// `integrity`, `disk-failed` if `out` cannot be written, or another [`Fault`].
    pub fn export_all(&self, history: HistoryScope, out: &mut dyn Write) -> Result<u64, ExportError> {
        let mut entries = Vec::new();
        let mut filter = Filter { order: Order::Name, limit: PAGE_LIMIT, ..Filter::default() };
        loop {
            let page = self.catalog.list(&filter).map_err(|error| match error {
                ListError::Fault(fault) => fault,
                other => Fault::Index { source: other.into() },
            })?;
            entries.extend(page.entries.into_iter().filter(|entry| entry.status != Status::Quarantined));
            filter.after = page.next;
            if filter.after.is_none() {
                break;
            }
        }
        self.write_bundle(&entries, history, out)
    }

    fn write_bundle(&self, entries: &[Entry], history: HistoryScope, out: &mut dyn Write) -> Result<u64, ExportError> {
        let count = entries.len() as u64;
        write_line(out, &Header { tools: count, kind: KIND.to_owned() })?;
        for entry in entries {
            let earlier = match history {
                HistoryScope::Latest => Vec::new(),
                HistoryScope::All => self.earlier_tools(entry)?,
            };
            let tool = self.bundled_tool(entry)?;
            write_line(out, &BundleLine { name: entry.name.to_string(), tool, earlier })?;
        }
        out.flush()?;
        Ok(count)
    }

    fn bundled_tool(&self, entry: &Entry) -> Result<BundledTool, Fault> {
        Ok(BundledTool::new(&self.catalog.spec(entry)?, &self.catalog.metadata(entry)?))
    }

    /// The earlier tools of a name, each once, oldest first.
    fn earlier_tools(&self, entry: &Entry) -> Result<Vec<EarlierTool>, Fault> {
        let mut seen = vec![entry.id];
        let mut earlier = Vec::new();
        for past in self.catalog.history(&entry.name)? {
            if !seen.contains(&past.id) {
                seen.push(past.id);
                let known = self.db.index.read(|transaction| by_id(transaction, past.id).map_err(Fault::from))?;
                if let Some(known) = known {
                    earlier.push(EarlierTool { name: known.name.to_string(), tool: self.bundled_tool(&known)? });
                }
            }
        }
        Ok(earlier)
    }
}

fn write_line(out: &mut dyn Write, value: &impl Serialize) -> Result<(), ExportError> {
    let mut bytes = canonical_json(value).map_err(std::io::Error::other)?;
    bytes.push(b'\n');
    Ok(out.write_all(&bytes)?)
}
