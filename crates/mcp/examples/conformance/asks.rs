//! The tools that ask the client before they answer: by a request of their own where the client is of an older protocol, by
//! an answer that asks for more where it is of 2026-07-28.
//!
//! Invariant: a state that came back is opened before anything is taken from it, and one that does not open is refused.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ErrorData, InputRequests, InputRequiredResult,
    InputResponses, RequestStateCodec,
};
use rmcp::service::{RequestContext, RoleServer, ServiceError};
use serde_json::{Value, json};

use crate::{complete, fixtures, wire};

/// Whether a tool asks by an answer that asks for more.
pub(crate) fn asks(tool: &str) -> bool {
    tool.starts_with("test_input_required_result_") || tool == "test_tool_with_task"
}

/// What the tool answers that asks: a question, or what it makes of the responses.
pub(crate) fn ask(
    request: &CallToolRequestParams,
    codec: &RequestStateCodec,
    capabilities: &ClientCapabilities,
) -> Result<CallToolResponse, ErrorData> {
    let none = InputResponses::new();
    let responses = request.input_responses.as_ref().unwrap_or(&none);
    let round = round(request.request_state.as_deref(), codec)?;
    match &*request.name {
        "test_input_required_result_elicitation" => match content(responses, "user_name", "name") {
            Some(name) => said(&format!("Hello, {name}!")),
            None => question(json!({"user_name": form("What is your name?", "name", "string")}), None),
        },
        "test_input_required_result_sampling" => match responses.get("capital_question") {
            Some(answer) => said(&format!("The model says {}", answer["content"]["text"])),
            None => question(json!({"capital_question": sampling("What is the capital of France?", 100)}), None),
        },
        "test_input_required_result_list_roots" => match responses.get("client_roots") {
            Some(answer) => said(&format!("The roots are {}", answer["roots"])),
            None => question(json!({"client_roots": {"method": "roots/list", "params": {}}}), None),
        },
        "test_input_required_result_capabilities" => question(able(capabilities), None),
        "test_input_required_result_multiple_inputs" => match (round, responses.len()) {
            (1, 3) => said("All three are there"),
            _ => question(three(), Some(codec.seal(b"1"))),
        },
        "test_input_required_result_multi_round" => match round {
            0 => {
                question(json!({"step1": form("Step 1: What is your name?", "name", "string")}), Some(codec.seal(b"1")))
            }
            1 => {
                let asked = form("Step 2: What is your favorite color?", "color", "string");
                question(json!({"step2": asked}), Some(codec.seal(b"2")))
            }
            _ => said("Both steps are done"),
        },
        // The states: one that has to come back, and one that has to come back as it was.
        _ if round > 0 && responses.contains_key("confirm") => said("state-ok"),
        _ => question(json!({"confirm": form("Please confirm", "ok", "boolean")}), Some(codec.seal(b"1"))),
    }
}

/// What the prompt answers that asks: nothing where there is a context.
pub(crate) fn ask_for_context(
    responses: Option<&InputResponses>,
) -> Result<Result<Value, InputRequiredResult>, ErrorData> {
    if let Some(context) = responses.and_then(|responses| content(responses, "user_context", "context")) {
        let content = fixtures::text(&format!("Use this context: {context}"));
        return Ok(Ok(json!({"messages": [{"role": "user", "content": content}]})));
    }
    let asked = wire(json!({"user_context": form("What context should the prompt use?", "context", "string")}))?;
    Ok(Err(InputRequiredResult::from_input_requests(asked)))
}

/// Asks a client of an older protocol by a request, and says what it answered.
pub(crate) async fn request(
    tool: &str,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<String, ErrorData> {
    let params = match tool {
        "test_sampling" => return sample(arguments["prompt"].as_str().unwrap_or_default(), context).await,
        "test_elicitation" => both(arguments["message"].as_str().unwrap_or_default()),
        "test_elicitation_sep1034_defaults" => defaults(),
        _ => choices(),
    };
    let answer = context.peer.create_elicitation(wire(params)?).await.map_err(unasked)?;
    let (action, filled_in) = (json!(answer.action), json!(answer.content));
    Ok(format!("Elicitation completed: action={}, content={filled_in}", action.as_str().unwrap_or_default()))
}

#[expect(deprecated, reason = "the suite asks for it in the protocols that have it")]
async fn sample(prompt: &str, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
    let params = sampling(prompt, 100)["params"].take();
    let answer = context.peer.create_message(wire(params)?).await.map_err(unasked)?;
    Ok(format!("LLM response: {}", json!(answer.message.content)))
}

fn unasked(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

/// How many rounds there were, by the state that came back.
fn round(state: Option<&str>, codec: &RequestStateCodec) -> Result<u8, ErrorData> {
    let Some(state) = state else { return Ok(0) };
    let opened = codec.open(state).map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    Ok(opened.first().map_or(0, |digit| digit.saturating_sub(b'0')))
}

/// The value of a form field, if the form was accepted.
pub(crate) fn content(responses: &InputResponses, key: &str, field: &str) -> Option<String> {
    let answer = responses.get(key)?;
    let accepted = answer["action"] == "accept";
    accepted.then(|| answer["content"][field].as_str().map(str::to_owned))?
}

fn said(text: &str) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResponse::Complete(complete(json!({"content": [fixtures::text(text)]}))?))
}

fn question(requests: Value, state: Option<String>) -> Result<CallToolResponse, ErrorData> {
    let requests: InputRequests = wire(requests)?;
    Ok(InputRequiredResult::new(Some(requests), state).into())
}

/// A form with one field that has to be filled in.
pub(crate) fn form(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}})
}

fn sampling(text: &str, tokens: u32) -> Value {
    let messages = json!([{"role": "user", "content": fixtures::text(text)}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": tokens}})
}

fn three() -> Value {
    json!({
        "user_name": form("What is your name?", "name", "string"),
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": {"method": "roots/list", "params": {}},
    })
}

/// Questions that this client can answer.
fn able(capabilities: &ClientCapabilities) -> Value {
    let mut asked = serde_json::Map::new();
    if capabilities.elicitation.is_some() {
        asked.insert("user_name".to_owned(), form("What is your name?", "name", "string"));
    }
    if capabilities.sampling.is_some() {
        asked.insert("greeting".to_owned(), sampling("Generate a greeting", 50));
    }
    Value::Object(asked)
}

fn both(message: &str) -> Value {
    let properties = json!({
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    });
    let schema = json!({"type": "object", "properties": properties, "required": ["username", "email"]});
    json!({"mode": "form", "message": message, "requestedSchema": schema})
}

fn defaults() -> Value {
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    json!({"mode": "form", "message": "Please confirm", "requestedSchema": {"type": "object", "properties": properties}})
}

fn choices() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    let names = json!(["Option One", "Option Two", "Option Three"]);
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": names},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    });
    json!({"mode": "form", "message": "Please choose", "requestedSchema": {"type": "object", "properties": properties}})
}
