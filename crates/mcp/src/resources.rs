//! Resources: the sources of tools, what the analysis found in them, the records of runs, and the end of the audit log.
//!
//! ```text
//! toolcell://tools/{id}/source      TypeScript or JavaScript as it was handed in
//! toolcell://tools/{id}/findings    what the analysis says of it, with the field names of the contract
//! toolcell://receipts/{hash}        the record of a run
//! toolcell://audit                  the last lines of the audit log, the newest first, one JSON object a line
//! ```
//!
//! Invariant: what is named by a hash never changes, and says so to whoever keeps copies; nothing else may be kept.

use rmcp::model::{
    CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use toolcell::store::audit::{Filter as Lines, Order as LineOrder};
use toolcell::store::{Cursor, Entry, Fault, Filter, ListError, Store};
use toolcell::{IdPrefix, Language, ShowError, Toolbox, analyze};

const SCHEME: &str = "toolcell://";
const AUDIT: &str = "toolcell://audit";
/// How many resources are on a page.
const PAGE: usize = 100;
/// How many lines of the log are shown.
const TAIL: u64 = 100;
/// The longest name of a resource, in bytes: those that there are have less than 100.
const URI_LIMIT: usize = 1024;
/// For how long what never changes may be kept, in milliseconds: a year.
const FOR_EVER: u64 = 365 * 24 * 60 * 60 * 1000;

/// Why there is no resource.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// There is none of that name.
    Unknown(String),
    /// A page is asked for that there cannot be.
    Cursor,
    /// The store fails, or what it holds is damaged.
    Fault(Fault),
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl ReadError {
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "resource-not-found",
            Self::Cursor => "cursor-invalid",
            Self::Fault(fault) => fault.code(),
        }
    }

    pub(crate) fn to_error(&self) -> ErrorData {
        let data = |uri: Option<&str>| Some(json!({"code": self.code(), "uri": uri}));
        match self {
            Self::Unknown(uri) => {
                let message = format!("there is no resource `{}`", uri.escape_debug());
                ErrorData::resource_not_found(message, data(Some(uri)))
            }
            Self::Cursor => ErrorData::invalid_params("the cursor is none of this list", data(None)),
            Self::Fault(fault) => ErrorData::internal_error(format!("{fault}; {}", fault.hint()), data(None)),
        }
    }
}

/// What is named by a hash, as templates of names (RFC 6570).
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{SCHEME}{uri}"), name).with_description(about).with_mime_type(kind)
    };
    let templates = vec![
        template("tools/{id}/source", "source", "The source of a tool, as it was handed in", "text/plain"),
        template("tools/{id}/findings", "findings", "What the analysis says of a tool", "application/json"),
        template("receipts/{hash}", "receipt", "The record of a run", "application/json"),
    ];
    ListResourceTemplatesResult::with_all_items(templates).with_ttl_ms(FOR_EVER).with_cache_scope(CacheScope::Public)
}

/// A page of what can be read: the log, and the sources of the tools that names lead to.
pub(crate) fn list(toolbox: &Toolbox, cursor: Option<&str>) -> Result<ListResourcesResult, ReadError> {
    let store = store(toolbox)?;
    let after = cursor.map(Cursor::parse).transpose().map_err(|_| ReadError::Cursor)?;
    let first = after.is_none();
    let page = store.list(&Filter { after, limit: PAGE, ..Filter::default() }).map_err(|error| match error {
        ListError::Fault(fault) => ReadError::Fault(fault),
        _ => ReadError::Cursor,
    })?;
    let audit = Resource::new(AUDIT, "audit")
        .with_description("The last lines of the audit log, the newest first")
        .with_mime_type("application/jsonl");
    let resources = first.then_some(audit).into_iter().chain(page.entries.iter().map(source)).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = page.next.map(|next| next.to_string());
    Ok(result)
}

fn source(entry: &Entry) -> Resource {
    let uri = format!("{SCHEME}tools/{}/source", entry.id);
    Resource::new(uri, entry.name.as_str()).with_description(entry.description.clone()).with_mime_type("text/plain")
}

/// Reads a resource.
pub(crate) fn read(toolbox: &Toolbox, uri: &str) -> Result<ReadResourceResult, ReadError> {
    let unknown = || ReadError::Unknown(uri.chars().take(256).collect());
    if uri == AUDIT {
        let text = tail(store(toolbox)?)?;
        return Ok(now(text, uri, "application/jsonl"));
    }
    if uri.len() > URI_LIMIT {
        return Err(unknown());
    }
    let path: Vec<&str> = uri.strip_prefix(SCHEME).ok_or_else(unknown)?.split('/').collect();
    match path.as_slice() {
        ["tools", id, what @ ("source" | "findings")] => {
            // A name may lead elsewhere tomorrow; what is kept for ever is asked for by its identifier.
            let id = IdPrefix::parse(id).map_err(|_| unknown())?;
            let shown = toolbox.show(&id.to_string(), None).map_err(|error| match error {
                ShowError::Fault(fault) => ReadError::Fault(fault),
                _ => unknown(),
            })?;
            let whole = uri.contains(&shown.entry.id.to_string());
            let result = if *what == "source" {
                now(shown.spec.source().to_owned(), uri, "text/plain")
            } else {
                now(findings(&shown).to_string(), uri, "application/json")
            };
            // A prefix may become that of two tools.
            Ok(if whole { for_ever(result) } else { result })
        }
        ["receipts", hash] => {
            let hash = blake3::Hash::from_hex(hash).map_err(|_| unknown())?;
            let record = store(toolbox)?.record(hash)?.ok_or_else(unknown)?;
            Ok(for_ever(now(String::from_utf8_lossy(&record.body).into_owned(), uri, "application/json")))
        }
        _ => Err(unknown()),
    }
}

/// What the analysis says of a tool.
fn findings(shown: &toolcell::Shown) -> Value {
    let (id, name) = (shown.entry.id.to_string(), shown.entry.name.as_str());
    let declared = (!shown.spec.capabilities().is_null()).then_some(&shown.asked);
    match analyze(shown.spec.source(), Language::Unsaid, declared) {
        Ok(analysis) => {
            let uses: Vec<&str> = analysis.capabilities.iter().map(|(capability, _)| capability.name()).collect();
            json!({
                "toolId": id, "toolName": name, "safety": analysis.safety, "quality": analysis.quality, "capabilities": uses,
            })
        }
        Err(rejection) => json!({"toolId": id, "toolName": name, "rejected": rejection.to_string()}),
    }
}

/// The last lines of the log.
fn tail(store: &Store) -> Result<String, Fault> {
    let mut text = String::new();
    for line in store.audit().query(Lines { limit: Some(TAIL), ..Lines::default() }, LineOrder::NewestFirst)? {
        text.push_str(&line?.to_value().to_string());
        text.push('\n');
    }
    Ok(text)
}

fn store(toolbox: &Toolbox) -> Result<&Store, ReadError> {
    toolbox.store().ok_or_else(|| ReadError::Unknown("a server without a store".to_owned()))
}

/// What may be another text the next time.
fn now(text: String, uri: &str, kind: &str) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)])
}

fn for_ever(result: ReadResourceResult) -> ReadResourceResult {
    // It belongs to a principal all the same.
    result.with_ttl_ms(FOR_EVER).with_cache_scope(CacheScope::Private)
}
