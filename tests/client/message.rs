//! Messages of the protocol, as both eras have them.

use serde_json::{Value, json};

/// Which revision of the protocol a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: each request says everything that belongs to it.
    Stateless,
    /// 2025-11-25: a session is begun first.
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

/// A request or a notice, and what HTTP says of it in headers.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) era: Era,
    pub(crate) method: &'static str,
    /// What the request is about: a tool or a resource.
    pub(crate) name: Option<String>,
    pub(crate) text: String,
}

impl Message {
    /// A request. `params` is an object.
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

    /// A call of one of the operations.
    pub(crate) fn call(era: Era, id: u64, operation: &str, arguments: &Value) -> Self {
        Self::request(era, id, "tools/call", json!({"name": operation, "arguments": arguments}))
    }

    /// A run of a stored tool.
    pub(crate) fn run(era: Era, id: u64, tool: &str, parameters: &Value) -> Self {
        Self::call(era, id, "run_dynamic_tool", &json!({"tool_name": tool, "parameters": parameters}))
    }

    /// What begins a session.
    pub(crate) fn initialize() -> Self {
        let client = json!({"name": "measure", "version": "0.0.0"});
        let params = json!({"protocolVersion": Era::Session.revision(), "capabilities": {}, "clientInfo": client});
        Self::request(Era::Session, 0, "initialize", params)
    }

    /// What a client says when a session has begun.
    pub(crate) fn initialized() -> Self {
        Self::notice("notifications/initialized", &json!({}))
    }

    /// A notice, which nobody answers.
    pub(crate) fn notice(method: &'static str, params: &Value) -> Self {
        let text = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        Self { era: Era::Session, method, name: None, text }
    }
}
