//! Bundles: tools exported into one file.
//!
//! ```text
//! {"tools":1,"type":"toolcell.bundle.v1"}
//! {"capabilities":null,"code":"…","description":"…",…,"id":"dt_…","name":"average","parameters":{…},"tags":["math"]}
//! ```
//!
//! One line of canonical JSON (RFC 8785) per tool, sorted by name. A bundle can be read, compared
//! and version-controlled, and the same tools give the same bytes. It is not compressed, so it
//! cannot expand when it is read.
//!
//! Invariant: a bundle contains tools but no trust: no status, usage or approvals. Nor does it
//! contain key-value spaces, which are local to the store.

use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_tool::{Draft, Postconditions, Status, ToolId, ToolMetadata, ToolName, ToolSpec, canonical_json};

use crate::error::Fault;
use crate::find::{FindError, ToolRef};
use crate::list::{Filter, Order, PAGE_LIMIT};
use crate::store::{Entry, Store, by_id};

/// The format identifier in the header.
pub(crate) const KIND: &str = "toolcell.bundle.v1";
/// The maximum size of a bundle, in bytes.
pub const BUNDLE_LIMIT: u64 = 512 << 20;

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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The output cannot be written.
    #[error("the bundle cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// The disk or the index failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl ExportError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Find(error) => error.code(),
            Self::Write(_) => "disk-failed",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What the user can do next, if anything.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Find(error) => Some(error.hint()),
            Self::Write(_) => None,
            Self::Fault(fault) => Some(fault.hint()),
        }
    }
}

/// The header, in the first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) tools: u64,
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

/// A tool, in one line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BundleLine {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) tool: BundledTool,
    /// Earlier tools of the name, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<EarlierTool>,
}

/// An earlier tool of the name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EarlierTool {
    /// The spelling of the name at that time.
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) tool: BundledTool,
}

/// The exported data of a tool.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BundledTool {
    pub(crate) id: ToolId,
    code: String,
    parameters: Value,
    capabilities: Value,
    description: String,
    tags: Vec<String>,
    generated_from: Option<String>,
    examples: Vec<Value>,
    #[serde(default, skip_serializing_if = "Postconditions::is_empty")]
    claims: Postconditions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
}

impl BundledTool {
    fn new(spec: &ToolSpec, notes: &ToolMetadata) -> Self {
        Self {
            id: spec.id(),
            code: spec.source().to_owned(),
            parameters: spec.parameters().clone(),
            capabilities: spec.capabilities().clone(),
            description: notes.description().to_owned(),
            tags: notes.tags().to_vec(),
            generated_from: notes.generated_from().map(str::to_owned),
            examples: notes.examples().to_vec(),
            claims: notes.postconditions().clone(),
            cost: notes.cost(),
        }
    }

    /// Builds the tool and checks it against the identifier in the bundle.
    pub(crate) fn verify(self, name: &ToolName) -> Result<(ToolSpec, ToolMetadata), String> {
        let draft = Draft::from_bytes(name.as_str(), self.code.as_bytes()).map_err(|error| error.to_string())?;
        let spec = ToolSpec::new(name.clone(), &draft, self.parameters, self.capabilities);
        let spec = spec.map_err(|error| error.to_string())?;
        if spec.id() != self.id {
            return Err(format!("`{name}` claims to be {}, but is {}", self.id, spec.id()));
        }
        let notes = ToolMetadata::from_parts(self.description, self.tags, self.generated_from, self.examples);
        let notes =
            notes.and_then(|notes| notes.with_postconditions(self.claims)).and_then(|notes| notes.with_cost(self.cost));
        Ok((spec, notes.map_err(|error| error.to_string())?))
    }
}

impl Store {
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
            entries.push(self.find(reference)?);
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
            let page = self.list(&filter).map_err(|error| match error {
                crate::ListError::Fault(fault) => fault,
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
        Ok(BundledTool::new(&self.spec(entry)?, &self.metadata(entry)?))
    }

    /// The earlier tools of a name, each once, oldest first.
    fn earlier_tools(&self, entry: &Entry) -> Result<Vec<EarlierTool>, Fault> {
        let mut seen = vec![entry.id];
        let mut earlier = Vec::new();
        for past in self.history(&entry.name)? {
            if !seen.contains(&past.id) {
                seen.push(past.id);
                let known = self.index.read(|transaction| by_id(transaction, past.id).map_err(Fault::from))?;
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
