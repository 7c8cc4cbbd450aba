//! An MCP client written by hand, so that no library hides what the server sends.
//!
//! Example: `client.call("run_dynamic_tool", json!({"tool_name": "twice"})).returns(json!(42))`.
//!
//! Invariant: all received messages are kept, so that a failing test can print them.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::raw_http::HttpTransport;
use super::reply::Reply;
use super::server::{ServerProcess, TIMEOUT};

/// The revision with sessions, which start with `initialize`, and the stateless one, in which each
/// request identifies the client.
pub(crate) const SESSION_VERSION: &str = "2025-11-25";
pub(crate) const STATELESS_VERSION: &str = "2026-07-28";

/// Something received from a server.
#[derive(Debug, Clone)]
pub(crate) enum Incoming {
    /// A message.
    Message(Value),
    /// A line that is not JSON.
    NotJson(String),
    /// The start of a session, with its identifier.
    Session(String),
    /// An HTTP error status, and the body.
    HttpError(u16, String),
    /// The end of the output or of a response.
    Closed,
}

/// The transport to a server.
pub(crate) enum Transport {
    Stdio { input: Option<ChildStdin>, process: ServerProcess },
    Http(HttpTransport),
}

/// An MCP client.
pub(crate) struct RawClient {
    pub(crate) transport: Transport,
    incoming: Receiver<Incoming>,
    /// Received messages that no call has returned yet.
    pending: VecDeque<Value>,
    /// Everything received.
    pub(crate) received: Vec<Incoming>,
    version: &'static str,
    capabilities: Value,
    next: u64,
    /// The reply to every elicitation.
    elicitation_reply: Value,
    /// The elicitations received.
    pub(crate) elicitations: Vec<Value>,
}

/// The capabilities of a client that supports elicitation.
pub(crate) fn elicitation_capabilities() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// The capabilities of a client that supports tasks.
pub(crate) fn task_capabilities() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

impl RawClient {
    pub(super) fn from_process(mut process: ServerProcess) -> Self {
        let (tell, heard) = channel();
        let output = BufReader::new(process.child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.split(b'\n').map_while(Result::ok) {
                let parsed = serde_json::from_slice(&line).map(Incoming::Message);
                let parsed_line =
                    parsed.unwrap_or_else(|_| Incoming::NotJson(String::from_utf8_lossy(&line).into_owned()));
                if tell.send(parsed_line).is_err() {
                    return;
                }
            }
            let _ = tell.send(Incoming::Closed);
        });
        let input = process.child.stdin.take();
        Self::new(Transport::Stdio { input, process }, heard)
    }

    pub(super) fn new(wire: Transport, heard: Receiver<Incoming>) -> Self {
        Self {
            transport: wire,
            incoming: heard,
            pending: VecDeque::new(),
            received: Vec::new(),
            version: STATELESS_VERSION,
            capabilities: json!({}),
            next: 1,
            elicitation_reply: json!({ "action": "cancel" }),
            elicitations: Vec::new(),
        }
    }

    /// Makes this a stateless client with these capabilities.
    pub(crate) fn stateless(mut self, capabilities: Value) -> Self {
        (self.version, self.capabilities) = (STATELESS_VERSION, capabilities);
        self
    }

    /// Starts a session with these capabilities.
    #[track_caller]
    pub(crate) fn in_session(mut self, capabilities: Value) -> Self {
        (self.version, self.capabilities) = (SESSION_VERSION, capabilities);
        let client = json!({ "name": "peer", "version": "1" });
        let params =
            json!({ "protocolVersion": SESSION_VERSION, "capabilities": self.capabilities, "clientInfo": client });
        let answer = self.request("initialize", params).result();
        assert_eq!(answer["protocolVersion"], SESSION_VERSION, "{answer}");
        self.notify("notifications/initialized", json!({}));
        self
    }

    /// Sets the reply to the elicitations that follow.
    pub(crate) fn set_elicitation_reply(&mut self, says: Value) {
        self.elicitation_reply = says;
    }

    /// Sends a request and waits for the reply.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Reply {
        let id = self.send_request(method, params);
        self.wait_for_reply(id)
    }

    /// Calls an MCP tool and waits for the reply.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Creates a tool from this code.
    #[track_caller]
    pub(crate) fn create_tool(&mut self, name: &str, code: &str) -> Value {
        let description = "A tool of a test of the server";
        self.call("create_tool", json!({ "name": name, "description": description, "code": code })).done()
    }

    /// Runs a stored tool.
    #[track_caller]
    pub(crate) fn run(&mut self, name: &str, parameters: Value) -> Reply {
        self.call("run_dynamic_tool", json!({ "tool_name": name, "parameters": parameters }))
    }

    /// Sends a request to run a tool, and returns its identifier.
    pub(crate) fn send_run(&mut self, name: &str, more: Value) -> u64 {
        let mut arguments = json!({ "tool_name": name });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.send_request("tools/call", json!({ "name": "run_dynamic_tool", "arguments": arguments }))
    }

    /// Sends a request, and returns its identifier.
    pub(crate) fn send_request(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.version == STATELESS_VERSION {
            let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
            meta.as_object_mut().unwrap().extend(self.meta());
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn meta(&self) -> Map<String, Value> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
            "io.modelcontextprotocol/clientInfo": { "name": "peer", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        meta.as_object().unwrap().clone()
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, mut params: Value) {
        if self.version == STATELESS_VERSION {
            params["_meta"] = Value::Object(self.meta());
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Whether a server, which may have exited, replies to a request.
    pub(crate) fn is_responding(&mut self) -> bool {
        let id = self.next_id();
        let params = json!({ "_meta": self.meta() });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/list", "params": params });
        let Transport::Stdio { input: Some(input), .. } = &mut self.transport else { panic!("there is no pipe") };
        if input.write_all(format!("{request}\n").as_bytes()).is_err() {
            return false;
        }
        loop {
            match self.receive(TIMEOUT) {
                Some(Incoming::Message(message)) if message["id"] == id => return message.get("result").is_some(),
                Some(Incoming::Closed) | None => return false,
                Some(_) => {}
            }
        }
    }

    /// Whether a server replies to a request. If it does, asserts that it lists tools too;
    /// otherwise it has exited.
    pub(crate) fn responds_or_exited(&mut self) -> bool {
        let there = self.is_responding();
        if there {
            self.call("list_dynamic_tools", json!({})).result();
        }
        there
    }

    fn send(&mut self, message: &Value) {
        match &mut self.transport {
            Transport::Stdio { .. } => self.write_raw(format!("{message}\n").as_bytes()),
            Transport::Http(door) => door.post(message, self.version),
        }
    }

    /// Writes raw bytes.
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        let Transport::Stdio { input, .. } = &mut self.transport else { panic!("there is no pipe") };
        let input = input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    /// Closes the server's standard input.
    pub(crate) fn close_stdin(&mut self) {
        let Transport::Stdio { input, .. } = &mut self.transport else { panic!("there is no pipe") };
        *input = None;
    }

    /// Closes the connection of a pending HTTP request.
    pub(crate) fn disconnect(&mut self, id: u64) {
        let Transport::Http(door) = &mut self.transport else { panic!("there is no connection") };
        door.disconnect(id);
    }

    /// Returns the HTTP session, to be read or replaced.
    pub(crate) fn session(&mut self) -> &mut Option<String> {
        let Transport::Http(door) = &mut self.transport else { panic!("there is no connection") };
        &mut door.session
    }

    /// Counts the matching messages that no call has returned yet.
    pub(crate) fn count(&mut self, like: impl Fn(&Value) -> bool) -> usize {
        while self.receive_pending() {}
        self.pending.iter().filter(|message| like(message)).count()
    }

    fn receive_pending(&mut self) -> bool {
        match self.receive(Duration::ZERO) {
            Some(Incoming::Message(message)) => self.pending.push_back(message),
            other => return other.is_some(),
        }
        true
    }

    /// Opens the event stream of an HTTP session, for messages that no request asked for.
    pub(crate) fn open_event_stream(&mut self) {
        if let Transport::Http(door) = &mut self.transport {
            door.listen();
        }
    }

    /// Returns the server process of a stdio client.
    pub(crate) fn process(&mut self) -> &mut ServerProcess {
        let Transport::Stdio { process, .. } = &mut self.transport else { panic!("there is no pipe") };
        process
    }

    /// Returns the next request identifier, for requests written by hand.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Waits for the reply to a request.
    #[track_caller]
    pub(crate) fn wait_for_reply(&mut self, id: u64) -> Reply {
        let message = self.wait_for_message(|message| message["id"] == id && message.get("method").is_none());
        let is_told = |message: &Value| message.get("method").is_some();
        let notices = self.pending.iter().filter(|message| is_told(message)).cloned().collect();
        self.pending.retain(|message| !is_told(message));
        Reply { message, notices }
    }

    /// Waits for a matching message. Other messages stay pending.
    #[track_caller]
    pub(crate) fn wait_for_message(&mut self, like: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.pending.iter().position(&like) {
            return self.pending.remove(at).unwrap();
        }
        let began = Instant::now();
        while let Some(left) = TIMEOUT.checked_sub(began.elapsed()) {
            match self.receive(left) {
                Some(Incoming::Message(message)) if like(&message) => return message,
                Some(Incoming::Message(message)) => self.pending.push_back(message),
                Some(Incoming::NotJson(text)) => panic!("this is no message: {text}"),
                Some(Incoming::HttpError(..)) | None => break,
                Some(Incoming::Closed) if matches!(self.transport, Transport::Stdio { .. }) => break,
                Some(Incoming::Session(_) | Incoming::Closed) => {}
            }
        }
        panic!("it did not come; {}", self.describe_received());
    }

    /// Returns everything received until the server closes its output.
    #[track_caller]
    pub(crate) fn drain(&mut self) -> Vec<Incoming> {
        let at = self.received.len();
        while !matches!(self.receive(TIMEOUT), Some(Incoming::Closed)) {
            assert!(
                !matches!(self.transport, Transport::Http(_)) || self.received.len() < 100_000,
                "{}",
                self.describe_received()
            );
        }
        self.received[at..].to_vec()
    }

    /// Waits for the HTTP error of a request, and returns its status and body.
    #[track_caller]
    pub(crate) fn http_error(&mut self) -> (u16, Value) {
        loop {
            match self.receive(TIMEOUT) {
                Some(Incoming::HttpError(status, body)) => {
                    return (status, serde_json::from_str(&body).unwrap_or(Value::String(body)));
                }
                Some(Incoming::Closed) => {}
                _ => panic!("it is not refused; {}", self.describe_received()),
            }
        }
    }

    /// Receives the next message, and replies to elicitations.
    fn receive(&mut self, within: Duration) -> Option<Incoming> {
        let heard = self.incoming.recv_timeout(within).ok()?;
        self.received.push(heard.clone());
        match &heard {
            Incoming::Session(session) => {
                if let Transport::Http(door) = &mut self.transport {
                    door.session = Some(session.clone());
                }
            }
            Incoming::Message(message) if message["method"] == "elicitation/create" && message.get("id").is_some() => {
                self.elicitations.push(message.clone());
                let says = self.elicitation_reply.clone();
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": says }));
            }
            _ => {}
        }
        Some(heard)
    }

    /// Describes the last messages received, for a failing test.
    pub(crate) fn describe_received(&mut self) -> String {
        let heard: Vec<String> = self.received.iter().rev().take(20).map(|heard| format!("{heard:?}")).collect();
        let errors = match &mut self.transport {
            Transport::Stdio { process, .. } => process.stderr_so_far().to_owned(),
            Transport::Http(_) => String::new(),
        };
        format!("the last that came, the newest first: {heard:#?}\nstandard error: {errors}")
    }
}
