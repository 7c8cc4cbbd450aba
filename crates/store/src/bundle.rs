//! Tools in one file, to take elsewhere.
//!
//! ```text
//! {"tools":1,"type":"toolcell.bundle.v1"}
//! {"capabilities":null,"code":"…","description":"…",…,"id":"dt_…","name":"average","parameters":{…},"tags":["math"]}
//! ```
//!
//! A line of canonical JSON (RFC 8785) for each tool, in the order of their names: it can be read, compared and kept
//! under version control, and the same tools give the same bytes. Nothing of it is compressed, so it is never larger than
//! it looks.
//!
//! Invariant: a bundle says what tools are, not how far they are trusted: no status, no usage, no approval is in it. Nor is
//! what they keep in spaces of keys and values: that is of this store.

use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_tool::{Claims, Draft, Notes, Status, ToolId, ToolName, ToolSpec, canonical};

use crate::error::Fault;
use crate::find::{FindError, ToolRef};
use crate::list::{Filter, Order, PAGE_LIMIT};
use crate::store::{Entry, Store, by_id};

/// What a bundle says that it is.
pub(crate) const KIND: &str = "toolcell.bundle.v1";
/// The largest bundle that is read, in bytes.
pub const BUNDLE_LIMIT: u64 = 512 << 20;

/// Whether the earlier tools of a name go along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum History {
    /// Only what the name leads to.
    #[default]
    Last,
    /// What it led to before as well.
    All,
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindError),
    /// It cannot be written where it was to go.
    #[error("the bundle cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// The disk or the index fails.
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

    /// What to do next, where there is something.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Find(error) => Some(error.hint()),
            Self::Write(_) => None,
            Self::Fault(fault) => Some(fault.hint()),
        }
    }
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) tools: u64,
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

/// A tool, in a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) tool: Tool,
    /// What the name led to before, the first tool first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<Earlier>,
}

/// A tool that the name led to before.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Earlier {
    /// The name as it was written then.
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) tool: Tool,
}

/// What a bundle says about a tool.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Tool {
    pub(crate) id: ToolId,
    code: String,
    parameters: Value,
    capabilities: Value,
    description: String,
    tags: Vec<String>,
    generated_from: Option<String>,
    examples: Vec<Value>,
    #[serde(default, skip_serializing_if = "Claims::is_empty")]
    claims: Claims,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
}

impl Tool {
    fn new(spec: &ToolSpec, notes: &Notes) -> Self {
        Self {
            id: spec.id(),
            code: spec.source().to_owned(),
            parameters: spec.parameters().clone(),
            capabilities: spec.capabilities().clone(),
            description: notes.description().to_owned(),
            tags: notes.tags().to_vec(),
            generated_from: notes.generated_from().map(str::to_owned),
            examples: notes.examples().to_vec(),
            claims: notes.claims().clone(),
            cost: notes.cost(),
        }
    }

    /// What the tool is, checked against what it says it is.
    pub(crate) fn read(self, name: &ToolName) -> Result<(ToolSpec, Notes), String> {
        let draft = Draft::from_bytes(name.as_str(), self.code.as_bytes()).map_err(|error| error.to_string())?;
        let spec = ToolSpec::new(name.clone(), &draft, self.parameters, self.capabilities);
        let spec = spec.map_err(|error| error.to_string())?;
        if spec.id() != self.id {
            return Err(format!("`{name}` says that it is {}, and is {}", self.id, spec.id()));
        }
        let notes = Notes::from_parts(self.description, self.tags, self.generated_from, self.examples);
        let notes = notes.and_then(|notes| notes.with_claims(self.claims)).and_then(|notes| notes.with_cost(self.cost));
        Ok((spec, notes.map_err(|error| error.to_string())?))
    }
}

impl Store {
    /// Writes tools into a bundle, each once, in the order of their names, and says how many they are.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `integrity`, and those of the disks.
    pub fn export(&self, references: &[ToolRef], history: History, out: &mut dyn Write) -> Result<u64, ExportError> {
        let mut entries = Vec::new();
        for reference in references {
            entries.push(self.find(reference)?);
        }
        entries.sort_by_key(|entry| entry.name.folded());
        entries.dedup_by_key(|entry| entry.id);
        self.write_bundle(&entries, history, out)
    }

    /// Writes all tools that names lead to into a bundle, but those in quarantine: what must not run here is not for
    /// anywhere else.
    ///
    /// # Errors
    /// `integrity`, and those of the disks.
    pub fn export_all(&self, history: History, out: &mut dyn Write) -> Result<u64, ExportError> {
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

    fn write_bundle(&self, entries: &[Entry], history: History, out: &mut dyn Write) -> Result<u64, ExportError> {
        let count = entries.len() as u64;
        line(out, &Header { tools: count, kind: KIND.to_owned() })?;
        for entry in entries {
            let earlier = match history {
                History::Last => Vec::new(),
                History::All => self.earlier(entry)?,
            };
            let tool = self.tool(entry)?;
            line(out, &Line { name: entry.name.to_string(), tool, earlier })?;
        }
        out.flush()?;
        Ok(count)
    }

    fn tool(&self, entry: &Entry) -> Result<Tool, Fault> {
        Ok(Tool::new(&self.spec(entry)?, &self.notes(entry)?))
    }

    /// The tools that a name led to before, each once, the first one first.
    fn earlier(&self, entry: &Entry) -> Result<Vec<Earlier>, Fault> {
        let mut seen = vec![entry.id];
        let mut earlier = Vec::new();
        for past in self.history(&entry.name)? {
            if !seen.contains(&past.id) {
                seen.push(past.id);
                let known = self.index.read(|transaction| by_id(transaction, past.id).map_err(Fault::from))?;
                if let Some(known) = known {
                    earlier.push(Earlier { name: known.name.to_string(), tool: self.tool(&known)? });
                }
            }
        }
        Ok(earlier)
    }
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> Result<(), ExportError> {
    let mut bytes = canonical(value).map_err(std::io::Error::other)?;
    bytes.push(b'\n');
    Ok(out.write_all(&bytes)?)
}
