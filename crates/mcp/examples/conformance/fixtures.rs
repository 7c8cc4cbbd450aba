//! What the suite asks for by name and gets the same each time: lists, contents and plain answers, as they are on the wire.
//!
//! Invariant: nothing here depends on who asks.

use serde_json::{Value, json};

/// A PNG of one red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A WAV file without a sample in it.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// The tools that take no arguments. The suite calls the first one without any, whatever it is.
const PLAIN: [&str; 28] = [
    "test_simple_text",
    "confirm_delete",
    "failing_job",
    "multi_input",
    "protocol_error_job",
    "test_audio_content",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_embedded_resource",
    "test_error_handling",
    "test_image_content",
    "test_input_required_result_capabilities",
    "test_input_required_result_elicitation",
    "test_input_required_result_list_roots",
    "test_input_required_result_multi_round",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_request_state",
    "test_input_required_result_sampling",
    "test_input_required_result_tampered_state",
    "test_logging_tool",
    "test_missing_capability",
    "test_multiple_content_types",
    "test_streaming_elicitation",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_tool_with_task",
    "test_trigger_prompt_change",
    "test_trigger_tool_change",
];

/// All tools, always in the same order.
pub(crate) fn tools() -> Value {
    let plain = PLAIN.iter().map(|name| tool(name, &json!({"type": "object", "properties": {}})));
    let text = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let seconds = json!({"type": "object", "properties": {"seconds": {"type": "number", "minimum": 0}}});
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    let header = json!({"type": "object", "properties": {"region": region}, "required": ["region"]});
    let others = [
        tool("greet", &text("name")),
        tool("json_schema_2020_12_tool", &vocabulary()),
        tool("slow_compute", &seconds),
        tool("test_custom_header", &header),
        tool("test_elicitation", &text("message")),
        tool("test_sampling", &text("prompt")),
    ];
    plain.chain(others).collect()
}

fn tool(name: &str, schema: &Value) -> Value {
    json!({"name": name, "description": format!("Fixture of the conformance suite: {name}"), "inputSchema": schema})
}

/// The words of JSON Schema 2020-12 that a listing must keep (SEP-1613, SEP-2106).
fn vocabulary() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// What a tool answers that always answers the same.
pub(crate) fn answer(tool: &str) -> Option<Value> {
    let image = json!({"type": "image", "data": PIXEL, "mimeType": "image/png"});
    let content = match tool {
        "json_schema_2020_12_tool" | "test_custom_header" | "test_missing_capability" => text("done"),
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => image,
        "test_audio_content" => json!({"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}),
        "test_embedded_resource" => {
            embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
        }
        "test_multiple_content_types" => {
            let resource =
                embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
            return Some(json!({"content": [text("Multiple content types test:"), image, resource]}));
        }
        "test_error_handling" => {
            let content = [text("This tool intentionally returns an error for testing")];
            return Some(json!({"isError": true, "content": content}));
        }
        _ => return None,
    };
    Some(json!({"content": [content]}))
}

/// A piece of text.
pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn embedded(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

/// All resources.
pub(crate) fn resources() -> Value {
    json!([
        {"uri": "test://static-binary", "name": "static-binary", "description": "Bytes", "mimeType": "image/png"},
        {"uri": "test://static-text", "name": "static-text", "description": "Text", "mimeType": "text/plain"},
        {"uri": "test://watched-resource", "name": "watched-resource", "description": "Text", "mimeType": "text/plain"},
    ])
}

/// All templates of resources.
pub(crate) fn templates() -> Value {
    json!([{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "Data by its number",
        "mimeType": "application/json",
    }])
}

/// What a resource holds.
pub(crate) fn resource(uri: &str) -> Option<Value> {
    let text = |kind: &str, text: &str| json!({"contents": [{"uri": uri, "mimeType": kind, "text": text}]});
    match uri {
        "test://static-binary" => Some(json!({"contents": [{"uri": uri, "mimeType": "image/png", "blob": PIXEL}]})),
        "test://static-text" => Some(text("text/plain", "This is the content of the static text resource.")),
        "test://watched-resource" => Some(text("text/plain", "This is watched.")),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            Some(text("application/json", &data.to_string()))
        }
    }
}

/// All prompts.
pub(crate) fn prompts() -> Value {
    let argument = |name: &str| json!({"name": name, "description": "An argument", "required": true});
    json!([
        {"name": "test_input_required_result_prompt", "description": "Asks for its context"},
        {"name": "test_prompt_with_arguments", "description": "Says its arguments", "arguments": [argument("arg1"), argument("arg2")]},
        {"name": "test_prompt_with_embedded_resource", "description": "Has a resource in it", "arguments": [argument("resourceUri")]},
        {"name": "test_prompt_with_image", "description": "Has an image in it"},
        {"name": "test_simple_prompt", "description": "Says something"},
    ])
}

/// What a prompt says to these arguments.
pub(crate) fn prompt(name: &str, arguments: &Value) -> Option<Value> {
    let said = |argument: &str| arguments[argument].as_str().unwrap_or_default().to_owned();
    let contents = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            vec![text(&format!("Prompt with arguments: arg1='{}', arg2='{}'", said("arg1"), said("arg2")))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = embedded(&said("resourceUri"), "text/plain", "Embedded resource content for testing.");
            vec![resource, text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let image = json!({"type": "image", "data": PIXEL, "mimeType": "image/png"});
            vec![image, text("Please analyze the image above.")]
        }
        _ => return None,
    };
    let messages = contents.into_iter().map(|content| json!({"role": "user", "content": content}));
    Some(json!({"messages": messages.collect::<Value>()}))
}
