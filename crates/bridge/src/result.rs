//! What goes to a server and what comes back, checked against the schemas of the tool.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use toolcell_capabilities::Redactor;
use toolcell_protocol::{Effects, OperationError};
use toolcell_tool::ServerName;

use crate::definitions::{Definition, RESULT_FIELD};
use crate::error::{error, shortened};

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// What the server returned: its structured content; else its text; else a list of content blocks.
    pub value: Value,
}

/// The maximum nesting of a result in levels, as of all that enters a cell.
const MAX_DEPTH: usize = toolcell_protocol::MAX_DEPTH;

/// Checks an input, and fills in the defaults of its schema.
///
/// # Errors
/// `params-invalid`, with the type that is expected.
pub(crate) fn check_input(server: &ServerName, tool: &Definition, input: Value) -> Result<Value, OperationError> {
    let Some(schema) = &tool.compiled().input else { return Ok(input) };
    match schema.check_value(input) {
        Ok(args) => Ok(args.value().cloned().unwrap_or_default()),
        Err(wrong) => {
            let expected = tool.declaration(toolcell_dts::Detail::Brief);
            let message = format!(
                "invalid input for `{server}.{}`: {}; it is declared as: {}",
                tool.name,
                wrong.detail(),
                shortened(expected.trim_end())
            );
            let unchanged = error("params-invalid", Effects::None, message);
            Err(OperationError { name: "TypeError".to_owned(), ..unchanged })
        }
    }
}

/// Reads the answer to a call. `effects` are those that the call has if it failed.
pub(crate) fn read(
    server: &ServerName,
    tool: &Definition,
    answer: CallToolResult,
    effects: Effects,
    redactor: &Redactor,
) -> Result<CallResult, OperationError> {
    let name = format!("{server}.{}", tool.name);
    if answer.is_error == Some(true) {
        let text = text_of(&answer.content).unwrap_or_else(|| "the tool failed and says nothing".to_owned());
        let message = redactor.redact_text(&format!("`{name}`: {text}"));
        return Err(error("server-tool-failed", effects, shortened(&message)));
    }
    // The server has done what was asked of it; its answer is another matter.
    let done = if effects == Effects::None { Effects::None } else { Effects::Committed };
    let wrong =
        |why: String| error("server-result", done, shortened(&redactor.redact_text(&format!("`{name}` {why}"))));
    let value = match (&tool.compiled().output, answer.structured_content) {
        (Some(schema), Some(value)) => {
            if is_too_deep(&value) {
                return Err(wrong(format!("returned a result of more than {MAX_DEPTH} levels")));
            }
            let mut whole = Value::from_iter([(RESULT_FIELD, value)]);
            if let Err(unfit) = schema.validate(&whole) {
                return Err(wrong(format!(
                    "returned a result that does not match its declaration: {}",
                    unfit.detail()
                )));
            }
            whole[RESULT_FIELD].take()
        }
        (Some(_), None) => {
            return Err(wrong("declares a structured result, and returned none".to_owned()));
        }
        (None, Some(value)) => value,
        (None, None) => match text_of(&answer.content) {
            Some(text) => Value::String(text),
            None => answer.content.iter().map(block_of).collect(),
        },
    };
    if is_too_deep(&value) {
        return Err(wrong(format!("returned a result of more than {MAX_DEPTH} levels")));
    }
    let redacted = redact(redactor, value);
    let value = redacted
        .ok_or_else(|| wrong("returned a secret that it was given, in a form that cannot be taken out".to_owned()))?;
    Ok(CallResult { value })
}

/// Returns the text of content that is nothing but text; `None` if it has other blocks, or none.
fn text_of(content: &[ContentBlock]) -> Option<String> {
    let texts = content.iter().map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect::<Option<_>>()?;
    if texts.is_empty() { None } else { Some(texts.join("\n")) }
}

/// Returns a block as the protocol writes it, without what is for the client.
fn block_of(block: &ContentBlock) -> Value {
    let mut value = serde_json::to_value(block).unwrap_or_else(|_| json!({ "type": "unknown" }));
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|key, _| key != "_meta" && key != "annotations" && key != "icons");
    }
    value
}

pub(crate) fn is_too_deep(value: &Value) -> bool {
    let mut level = vec![value];
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Array(items) => next.extend(items),
                Value::Object(fields) => next.extend(fields.values()),
                _ => {}
            }
        }
        if next.is_empty() {
            return false;
        }
        level = next;
    }
    true
}

/// Takes secrets out of the texts of a value; `None` if one is left, such as in a list of numbers.
pub(crate) fn redact(redactor: &Redactor, value: Value) -> Option<Value> {
    if redactor.is_empty() {
        return Some(value);
    }
    let redacted = redact_texts(redactor, value);
    let text = redacted.to_string();
    (!redactor.finds_any(text.as_bytes())).then_some(redacted)
}

fn redact_texts(redactor: &Redactor, value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.redact_text(&text)),
        Value::Array(items) => items.into_iter().map(|item| redact_texts(redactor, item)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (redactor.redact_text(&key), redact_texts(redactor, value))).collect()
        }
        other => other,
    }
}
