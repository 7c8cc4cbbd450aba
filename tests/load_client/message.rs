//! Protocol messages, in both revisions.

use serde_json::{Value, json};

/// The protocol revision of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: each request is self-contained.
    Stateless,
    /// 2025-11-25: requests belong to a session.
    Session,
}

impl Era {
    pub(crate) const fn revision(self) -> &'static str {
        match self {
            Self::Stateless => "2026-07-28",
            Self::Session => "2025-11-25",
        }
    }
}

/// A request or a notification, with the fields that HTTP repeats in headers.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) era: Era,
    pub(crate) method: &'static str,
    /// The tool or resource that the request names.
    pub(crate) name: Option<String>,
    pub(crate) text: String,
}

impl Message {
    /// Creates a request. `params` must be an object.
    pub(crate) fn request(era: Era, id: u64, method: &'static str, mut params: Value) -> Self {
        if era == Era::Stateless {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(era.revision());
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "measure", "version": "0.0.0"});
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).map(str::to_owned);
        let text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        Self { era, method, name, text }
    }

    /// Creates a call of a built-in tool.
    pub(crate) fn call(era: Era, id: u64, operation: &str, arguments: &Value) -> Self {
        Self::request(era, id, "tools/call", json!({"name": operation, "arguments": arguments}))
    }

    /// Creates a request to run a stored tool.
    pub(crate) fn run(era: Era, id: u64, tool: &str, parameters: &Value) -> Self {
        Self::call(era, id, "run_dynamic_tool", &json!({"tool_name": tool, "parameters": parameters}))
    }

    /// Creates the request that starts a session.
    pub(crate) fn initialize() -> Self {
        let client = json!({"name": "measure", "version": "0.0.0"});
        let params = json!({"protocolVersion": Era::Session.revision(), "capabilities": {}, "clientInfo": client});
        Self::request(Era::Session, 0, "initialize", params)
    }

    /// Creates the notification that a session was started.
    pub(crate) fn initialized() -> Self {
        Self::notice("notifications/initialized", &json!({}))
    }

    /// Creates a notification.
    pub(crate) fn notice(method: &'static str, params: &Value) -> Self {
        let text = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        Self { era: Era::Session, method, name: None, text }
    }
}
