//! An MCP client of a node that may be killed during a call: what it does not answer is a value, not a panic.

#![expect(clippy::disallowed_types, reason = "this is the other side of a server")]

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::node::Node;
use crate::mcp::server::{BinaryFixture, TIMEOUT};

/// The stateless revision of the protocol, in which each request stands for itself: any node answers it.
const VERSION: &str = "2026-07-28";
/// The code of a call that was not answered.
pub(super) const NO_ANSWER: &str = "no-answer";

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// The stable code.
    pub(super) code: String,
    /// What the model is told, or why there is no answer.
    pub(super) text: String,
}

/// A client of a principal.
#[derive(Clone)]
pub(super) struct Client<'a> {
    node: &'a Node,
    token: String,
    /// The trace that its calls belong to.
    traceparent: Option<String>,
}

impl<'a> Client<'a> {
    pub(super) fn new(node: &'a Node, principal: &str) -> Self {
        Self { node, token: BinaryFixture::token(principal), traceparent: None }
    }

    /// A client whose calls belong to a trace.
    pub(super) fn traced(self, traceparent: &str) -> Self {
        Self { traceparent: Some(traceparent.to_owned()), ..self }
    }

    /// Calls an operation, and returns its result.
    pub(super) fn call(&self, operation: &str, arguments: &Value) -> Result<Value, Refused> {
        let result = self.exchange(operation, arguments).unwrap_or_else(|error| {
            json!({ "isError": true, "_meta": { "toolcell/error": { "code": NO_ANSWER } },
                "content": [{ "text": error.to_string() }] })
        });
        if result["isError"] == false {
            return Ok(result);
        }
        let code = result["_meta"]["toolcell/error"]["code"].as_str().unwrap_or("unexpected");
        let text = result["content"][0]["text"].as_str().map_or_else(|| result.to_string(), str::to_owned);
        Err(Refused { code: code.to_owned(), text })
    }

    /// Creates a tool, and returns the number of its version.
    pub(super) fn create(&self, name: &str, code: &str) -> Result<u64, Refused> {
        self.create_with(name, code, &json!({}))
    }

    /// Creates the tool `count`, which counts its runs, with a check that no other writer was faster.
    pub(super) fn create_counter(&self) -> Result<u64, Refused> {
        let code = "const execute = () => kv.update('n', (n) => (n ?? 0) + 1)";
        self.create_with("count", code, &json!({ "capabilities": ["kv"] }))
    }

    /// Replaces a tool, and returns the number of the new version.
    pub(super) fn replace(&self, name: &str, code: &str) -> Result<u64, Refused> {
        self.create_with(name, code, &json!({ "replace": true }))
    }

    /// Creates a tool with further fields.
    pub(super) fn create_with(&self, name: &str, code: &str, more: &Value) -> Result<u64, Refused> {
        let mut draft = json!({ "name": name, "description": "A tool of a test of nodes", "code": code });
        draft.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let created = self.call("create_tool", &draft)?;
        Ok(created["structuredContent"]["version"].as_u64().unwrap_or_else(|| panic!("{created}")))
    }

    /// Runs a tool, and returns its value.
    pub(super) fn run(&self, name: &str, parameters: &Value) -> Result<Value, Refused> {
        let ran = self.call("run_dynamic_tool", &json!({ "tool_name": name, "parameters": parameters }))?;
        Ok(ran["structuredContent"]["value"].clone())
    }

    pub(super) fn delete(&self, name: &str) -> Result<(), Refused> {
        self.call("delete_dynamic_tool", &json!({ "tool_name": name, "confirm": true })).map(drop)
    }

    /// What all nodes have to agree on, of each tool, sorted by name. How often a node ran it is its own affair.
    pub(super) fn list(&self) -> Result<Vec<Value>, Refused> {
        let (mut tools, mut arguments) = (Vec::new(), json!({ "limit": 100 }));
        loop {
            let result = self.call("list_dynamic_tools", &arguments)?;
            let page = &result["_meta"]["toolcell/response"];
            for tool in page["tools"].as_array().unwrap_or_else(|| panic!("{result}")) {
                let shared = ["name", "id", "description", "tags", "verificationStatus", "createdAt", "updatedAt"];
                tools.push(Value::Object(shared.map(|key| (key.to_owned(), tool[key].clone())).into_iter().collect()));
            }
            let Some(cursor) = page.get("cursor").filter(|cursor| cursor.is_string()) else { break };
            arguments["cursor"] = cursor.clone();
        }
        tools.sort_by_key(|tool| tool["name"].to_string());
        Ok(tools)
    }

    /// The names of all tools, sorted.
    pub(super) fn names(&self) -> Result<Vec<String>, Refused> {
        Ok(self.list()?.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect())
    }

    /// Sends a call, and returns its result as the protocol has it.
    fn exchange(&self, operation: &str, arguments: &Value) -> io::Result<Value> {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": { "name": "peer", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        if let Some(traceparent) = &self.traceparent {
            meta["traceparent"] = traceparent.as_str().into();
        }
        let params = json!({ "name": operation, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let headers = format!(
            "Authorization: Bearer {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: {VERSION}\r\nMcp-Method: tools/call\r\nMcp-Name: {operation}\r\n",
            self.token
        );
        let (status, answer) = send(&self.node.address(), "POST /mcp", &headers, &body)?;
        let events = answer.lines().filter_map(|line| line.strip_prefix("data:")).chain([answer.as_str()]);
        let messages = events.filter_map(|text| serde_json::from_str::<Value>(text).ok());
        let result = messages.into_iter().find_map(|message| message.get("result").cloned());
        result.ok_or_else(|| io::Error::other(format!("status {status}: {answer}")))
    }
}

/// Sends a request without keeping the connection, and returns the status and the body.
pub(super) fn send(address: &str, request: &str, headers: &str, body: &str) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    // In this version of HTTP a body ends with its connection.
    let head = format!("{request} HTTP/1.0\r\nHost: {address}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    if length.is_some_and(|length: usize| length != body.len()) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((status, body.to_owned()))
}
