//! Definitions and results in the types of the protocol.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource, Tool, ToolAnnotations};
use toolcell::Lang;
use toolcell_model_tools::{CallFailure, Content, KeepValue, ToolDefinition, ToolResult};

use crate::result_cache::ResultCache;

/// Converts the definition of a tool.
pub(crate) fn to_mcp_tool(definition: ToolDefinition) -> Tool {
    let ToolDefinition { name, title, description, input_schema, output_schema, hints, .. } = definition;
    let mut tool = Tool::new(name, description, input_schema);
    tool.title = title.map(Into::into);
    tool.output_schema = Some(output_schema);
    let annotations = ToolAnnotations::new()
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    tool.annotations = Some(annotations);
    tool
}

/// Converts the result of a call.
pub(crate) fn to_mcp_result(result: ToolResult) -> CallToolResult {
    let ToolResult { content, structured, meta, is_error } = result;
    let content = content.into_iter().map(to_block).collect();
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = structured;
    result.meta = Some(MetaObject(meta));
    result
}

fn to_block(content: Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image { mime_type, data } => ContentBlock::image(data, mime_type),
        Content::Link { uri, bytes } => {
            let mut resource = Resource::new(uri.as_ref(), "result").with_mime_type("application/json");
            resource.size = u64::try_from(bytes).ok();
            ContentBlock::resource_link(resource)
        }
    }
}

/// Builds the result of a failed call.
pub(crate) fn error_result(failure: CallFailure, lang: Lang) -> CallToolResult {
    to_mcp_result(toolcell_model_tools::error_result(failure, lang))
}

/// Keeps long values in a cache.
pub(crate) fn with_cache<T>(results: &ResultCache, build: impl FnOnce(Option<KeepValue<'_>>) -> T) -> T {
    let keep = |json: &str| -> Arc<str> { results.insert(json) };
    build(Some(&keep))
}
