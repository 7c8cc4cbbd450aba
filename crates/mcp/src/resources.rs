//! MCP resources: sources and findings of tools, run records, and the end of the audit log.
//!
//! ```text
//! toolcell://tools/{id}/source              the TypeScript or JavaScript source of a tool
//! toolcell://tools/{id}/findings            its analysis, with the field names of the contract
//! toolcell://receipts/{hash}                the record of a run
//! toolcell://results/{hash}                 the value of a recent run that was too long for its result
//! toolcell://servers/{server}/{tool}.d.ts   the declaration of a trusted tool of an MCP server
//! toolcell://types/toolcell.d.ts            TypeScript declarations of what the code of a tool sees
//! toolcell://audit                          the last lines of the audit log as JSON lines, the newest first
//! ```
//!
//! Invariant: a resource that is named by a complete hash never changes and is marked as cacheable;
//! no other one is.

use rmcp::model::{
    CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use toolcell::store::audit::{AuditFilter as Lines, AuditOrder as LineOrder};
use toolcell::store::{Cursor, Entry, Fault, Filter, ListError, Store};
use toolcell::{IdPrefix, Language, ShowError, Toolbox, analyze};

use crate::result_cache::ResultCache;

const SCHEME: &str = "toolcell://";
const AUDIT: &str = "toolcell://audit";
const TYPES: &str = "toolcell://types/toolcell.d.ts";
/// The resources on one page.
const PAGE_SIZE: usize = 100;
/// The audit lines in the resource.
const MAX_AUDIT_LINES: u64 = 100;
/// The longest resource URI, in bytes; valid ones have less than 100.
const URI_LIMIT: usize = 1024;
/// The cache lifetime of immutable resources, in milliseconds: one year.
const IMMUTABLE_TTL_MS: u64 = 365 * 24 * 60 * 60 * 1000;

/// Why a resource cannot be read.
#[derive(Debug, toolcell_error::Coded)]
#[coded(no_hint)]
pub(crate) enum ResourceError {
    /// There is no resource with this URI.
    #[code(ResourceNotFound)]
    Unknown(String),
    /// The page cursor is invalid.
    #[code(CursorInvalid)]
    Cursor,
    /// The store failed, or an object in it is damaged.
    #[coded(transparent)]
    Fault(Fault),
}

impl From<Fault> for ResourceError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl ResourceError {
    pub(crate) fn to_error(&self) -> ErrorData {
        let data = |uri: Option<&str>| Some(json!({"code": self.code(), "uri": uri}));
        match self {
            Self::Unknown(uri) => {
                let message = format!("there is no resource `{}`", uri.escape_debug());
                ErrorData::resource_not_found(message, data(Some(uri)))
            }
            Self::Cursor => ErrorData::invalid_params("the cursor does not belong to this list", data(None)),
            Self::Fault(fault) => ErrorData::internal_error(format!("{fault}; {}", fault.hint()), data(None)),
        }
    }
}

/// The URI templates (RFC 6570) of resources of which there are many.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{SCHEME}{uri}"), name).with_description(about).with_mime_type(kind)
    };
    let templates = vec![
        template("tools/{id}/source", "source", "The source of a tool, as submitted", "text/plain"),
        template("tools/{id}/findings", "findings", "The analysis findings for a tool", "application/json"),
        template("receipts/{hash}", "receipt", "The record of a run", "application/json"),
        template(
            "servers/{server}/{tool}.d.ts",
            "server-tool",
            "The declaration of a tool of an MCP server",
            "text/plain",
        ),
        template("results/{hash}", "result", "The value of a recent run that was too long", "application/json"),
    ];
    ListResourceTemplatesResult::with_all_items(templates)
        .with_ttl_ms(IMMUTABLE_TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

/// Lists a page of resources: the audit log, and the sources of the current tools.
pub(crate) fn list(toolbox: &Toolbox, cursor: Option<&str>) -> Result<ListResourcesResult, ResourceError> {
    let store = require_store(toolbox)?;
    let after = cursor.map(Cursor::parse).transpose().map_err(|_| ResourceError::Cursor)?;
    let first = after.is_none();
    let page =
        store.catalog().list(&Filter { after, limit: PAGE_SIZE, ..Filter::default() }).map_err(
            |error| match error {
                ListError::Fault(fault) => ResourceError::Fault(fault),
                _ => ResourceError::Cursor,
            },
        )?;
    let audit = Resource::new(AUDIT, "audit")
        .with_description("The last lines of the audit log, newest first")
        .with_mime_type("application/jsonl");
    let types = Resource::new(TYPES, "toolcell.d.ts")
        .with_description("TypeScript declarations of what the code of a tool sees, and what each grant adds")
        .with_mime_type("text/plain");
    let fixed = first.then_some([types, audit]).into_iter().flatten();
    let resources = fixed.chain(page.entries.iter().map(source_resource)).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = page.next.map(|next| next.to_string());
    Ok(result)
}

fn source_resource(entry: &Entry) -> Resource {
    let uri = format!("{SCHEME}tools/{}/source", entry.id);
    Resource::new(uri, entry.name.as_str()).with_description(entry.description.clone()).with_mime_type("text/plain")
}

/// Reads a resource.
pub(crate) fn read(toolbox: &Toolbox, results: &ResultCache, uri: &str) -> Result<ReadResourceResult, ResourceError> {
    let unknown = || ResourceError::Unknown(uri.chars().take(256).collect());
    if uri == TYPES {
        return Ok(uncached_text(toolcell::TYPE_DECLARATIONS.to_owned(), uri, "text/plain"));
    }
    if let Some(json) = results.get(uri) {
        return Ok(with_immutable_cache(uncached_text(json.as_ref().to_owned(), uri, "application/json")));
    }
    if uri == AUDIT {
        let text = audit_tail(require_store(toolbox)?)?;
        return Ok(uncached_text(text, uri, "application/jsonl"));
    }
    if uri.len() > URI_LIMIT {
        return Err(unknown());
    }
    let path: Vec<&str> = uri.strip_prefix(SCHEME).ok_or_else(unknown)?.split('/').collect();
    match path.as_slice() {
        ["tools", id, what @ ("source" | "findings")] => {
            // A name may refer to another tool later. Cacheable resources are therefore named by
            // identifiers.
            let id = IdPrefix::parse(id).map_err(|_| unknown())?;
            let shown = toolbox.show(&id.to_string(), None).map_err(|error| match error {
                ShowError::Fault(fault) => ResourceError::Fault(fault),
                _ => unknown(),
            })?;
            let whole = uri.contains(&shown.entry.id.to_string());
            let result = if *what == "source" {
                uncached_text(shown.spec.source().to_owned(), uri, "text/plain")
            } else {
                uncached_text(findings(&shown).to_string(), uri, "application/json")
            };
            // A prefix may become ambiguous.
            Ok(if whole { with_immutable_cache(result) } else { result })
        }
        ["receipts", hash] => {
            let hash = blake3::Hash::from_hex(hash).map_err(|_| unknown())?;
            let record = require_store(toolbox)?.runs().record(hash)?.ok_or_else(unknown)?;
            Ok(with_immutable_cache(uncached_text(
                String::from_utf8_lossy(&record.body).into_owned(),
                uri,
                "application/json",
            )))
        }
        ["servers", server, file] => {
            let tool = file.strip_suffix(".d.ts").ok_or_else(unknown)?;
            // Another definition may be trusted later.
            let declared = toolbox.server_tool_declaration(server, tool).map_err(|_| unknown())?;
            Ok(uncached_text(declared.ok_or_else(unknown)?, uri, "text/plain"))
        }
        _ => Err(unknown()),
    }
}

/// The analysis of a tool, as JSON.
fn findings(shown: &toolcell::ToolDetails) -> Value {
    let (id, name) = (shown.entry.id.to_string(), shown.entry.name.as_str());
    let declared = (!shown.spec.capabilities().is_null()).then_some(&shown.requested);
    match analyze(shown.spec.source(), Language::Unknown, declared) {
        Ok(analysis) => {
            let uses: Vec<&str> = analysis.capabilities.iter().map(|(capability, _)| capability.name()).collect();
            json!({
                "toolId": id, "toolName": name, "safety": analysis.safety, "quality": analysis.quality, "capabilities": uses,
            })
        }
        Err(rejection) => json!({"toolId": id, "toolName": name, "rejected": rejection.to_string()}),
    }
}

/// The last lines of the audit log, the newest first.
fn audit_tail(store: &Store) -> Result<String, Fault> {
    let mut text = String::new();
    for line in
        store.audit().query(Lines { limit: Some(MAX_AUDIT_LINES), ..Lines::default() }, LineOrder::NewestFirst)?
    {
        text.push_str(&line?.to_value().to_string());
        text.push('\n');
    }
    Ok(text)
}

fn require_store(toolbox: &Toolbox) -> Result<&Store, ResourceError> {
    toolbox.store().ok_or_else(|| ResourceError::Unknown("a server without a store".to_owned()))
}

/// A text that may change.
fn uncached_text(text: String, uri: &str, kind: &str) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)])
}

fn with_immutable_cache(result: ReadResourceResult) -> ReadResourceResult {
    // It still belongs to one principal.
    result.with_ttl_ms(IMMUTABLE_TTL_MS).with_cache_scope(CacheScope::Private)
}
