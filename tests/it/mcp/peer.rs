//! The other side of a server: it speaks the protocol by hand, so that nothing is taken for granted that a library does.
//!
//! `peer.call("run_dynamic_tool", json!({"tool_name": "twice"})).returns(json!(42))` is the sentence.
//!
//! Invariant: what was heard is kept, so that a test that fails says all of it.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::home::{PATIENCE, Process};
use super::reply::Reply;
use super::web::Door;

/// The version that begins with `initialize`, and the one in which each request says who asks.
pub(crate) const SESSIONS: &str = "2025-11-25";
pub(crate) const STATELESS: &str = "2026-07-28";

/// What comes from a server.
#[derive(Debug, Clone)]
pub(crate) enum Heard {
    /// A message.
    Message(Value),
    /// What is no message.
    Noise(String),
    /// It begins a session.
    Session(String),
    /// An HTTP status that is none of the good ones, and what came with it.
    Refused(u16, String),
    /// Nothing more comes.
    End,
}

/// How a server is reached.
pub(crate) enum Wire {
    Pipe { input: Option<ChildStdin>, process: Process },
    Web(Door),
}

/// The other side of a server.
pub(crate) struct Peer {
    pub(crate) wire: Wire,
    heard: Receiver<Heard>,
    /// What came, and nobody has asked for yet.
    kept: VecDeque<Value>,
    /// All that came.
    pub(crate) all: Vec<Heard>,
    version: &'static str,
    capabilities: Value,
    next: u64,
    /// What is answered to a question.
    says: Value,
    /// What was asked.
    pub(crate) asked: Vec<Value>,
}

/// What a client can that can ask somebody.
pub(crate) fn asks() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// What a client can that knows tasks.
pub(crate) fn tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

impl Peer {
    pub(super) fn at(mut process: Process) -> Self {
        let (tell, heard) = channel();
        let output = BufReader::new(process.child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.split(b'\n').map_while(Result::ok) {
                let parsed = serde_json::from_slice(&line).map(Heard::Message);
                let told = parsed.unwrap_or_else(|_| Heard::Noise(String::from_utf8_lossy(&line).into_owned()));
                if tell.send(told).is_err() {
                    return;
                }
            }
            let _ = tell.send(Heard::End);
        });
        let input = process.child.stdin.take();
        Self::over(Wire::Pipe { input, process }, heard)
    }

    pub(super) fn over(wire: Wire, heard: Receiver<Heard>) -> Self {
        Self {
            wire,
            heard,
            kept: VecDeque::new(),
            all: Vec::new(),
            version: STATELESS,
            capabilities: json!({}),
            next: 1,
            says: json!({ "action": "cancel" }),
            asked: Vec::new(),
        }
    }

    /// As a client without a session that can do this.
    pub(crate) fn stateless(mut self, capabilities: Value) -> Self {
        (self.version, self.capabilities) = (STATELESS, capabilities);
        self
    }

    /// As a client with a session that can do this.
    #[track_caller]
    pub(crate) fn in_session(mut self, capabilities: Value) -> Self {
        (self.version, self.capabilities) = (SESSIONS, capabilities);
        let client = json!({ "name": "peer", "version": "1" });
        let params = json!({ "protocolVersion": SESSIONS, "capabilities": self.capabilities, "clientInfo": client });
        let answer = self.ask("initialize", params).result();
        assert_eq!(answer["protocolVersion"], SESSIONS, "{answer}");
        self.tell("notifications/initialized", json!({}));
        self
    }

    /// Whoever is asked from now on says this.
    pub(crate) fn saying(&mut self, says: Value) {
        self.says = says;
    }

    /// Asks, and waits for the answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Reply {
        let id = self.begin(method, params);
        self.wait(id)
    }

    /// Calls a tool, and waits for the answer.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Makes a tool of this code.
    #[track_caller]
    pub(crate) fn make(&mut self, name: &str, code: &str) -> Value {
        let description = "A tool of a test of the server";
        self.call("create_tool", json!({ "name": name, "description": description, "code": code })).done()
    }

    /// Runs a tool.
    #[track_caller]
    pub(crate) fn run(&mut self, name: &str, parameters: Value) -> Reply {
        self.call("run_dynamic_tool", json!({ "tool_name": name, "parameters": parameters }))
    }

    /// Begins to run a tool.
    pub(crate) fn begin_run(&mut self, name: &str, more: Value) -> u64 {
        let mut arguments = json!({ "tool_name": name });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.begin("tools/call", json!({ "name": "run_dynamic_tool", "arguments": arguments }))
    }

    /// Asks, and does not wait.
    pub(crate) fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.version == STATELESS {
            let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
            meta.as_object_mut().unwrap().extend(self.meta());
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn meta(&self) -> Map<String, Value> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": { "name": "peer", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        meta.as_object().unwrap().clone()
    }

    /// Tells without asking for anything.
    pub(crate) fn tell(&mut self, method: &str, mut params: Value) {
        if self.version == STATELESS {
            params["_meta"] = Value::Object(self.meta());
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Whether a server that may be gone answers a request.
    pub(crate) fn is_there(&mut self) -> bool {
        let id = self.id();
        let params = json!({ "_meta": self.meta() });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/list", "params": params });
        let Wire::Pipe { input: Some(input), .. } = &mut self.wire else { panic!("there is no pipe") };
        if input.write_all(format!("{request}\n").as_bytes()).is_err() {
            return false;
        }
        loop {
            match self.next(PATIENCE) {
                Some(Heard::Message(message)) if message["id"] == id => return message.get("result").is_some(),
                Some(Heard::End) | None => return false,
                Some(_) => {}
            }
        }
    }

    /// Whether a server answers a request, and lists tools; or else has ended.
    pub(crate) fn is_there_or_gone(&mut self) -> bool {
        let there = self.is_there();
        if there {
            self.call("list_dynamic_tools", json!({})).result();
        }
        there
    }

    fn send(&mut self, message: &Value) {
        match &mut self.wire {
            Wire::Pipe { .. } => self.write(format!("{message}\n").as_bytes()),
            Wire::Web(door) => door.post(message, self.version),
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let Wire::Pipe { input, .. } = &mut self.wire else { panic!("there is no pipe") };
        let input = input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    /// Ends the way towards the server, at a pipe.
    pub(crate) fn hang_up(&mut self) {
        let Wire::Pipe { input, .. } = &mut self.wire else { panic!("there is no pipe") };
        *input = None;
    }

    /// Leaves in the middle of a request, over HTTP.
    pub(crate) fn leaves(&mut self, id: u64) {
        let Wire::Web(door) = &mut self.wire else { panic!("there is no connection") };
        door.leave(id);
    }

    /// The session that it is in, over HTTP.
    pub(crate) fn session(&mut self) -> &mut Option<String> {
        let Wire::Web(door) = &mut self.wire else { panic!("there is no connection") };
        &mut door.session
    }

    /// How many messages like this came, and were not asked for.
    pub(crate) fn count(&mut self, like: impl Fn(&Value) -> bool) -> usize {
        while self.heard_now() {}
        self.kept.iter().filter(|message| like(message)).count()
    }

    fn heard_now(&mut self) -> bool {
        match self.next(Duration::ZERO) {
            Some(Heard::Message(message)) => self.kept.push_back(message),
            other => return other.is_some(),
        }
        true
    }

    /// Listens to what is said without being asked, in a session over HTTP.
    pub(crate) fn listens(&mut self) {
        if let Wire::Web(door) = &mut self.wire {
            door.listen();
        }
    }

    /// The server at the other end of the pipes.
    pub(crate) fn process(&mut self) -> &mut Process {
        let Wire::Pipe { process, .. } = &mut self.wire else { panic!("there is no pipe") };
        process
    }

    /// The next identifier of a request, for those who write one themselves.
    pub(crate) fn id(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Waits for the answer to a request.
    #[track_caller]
    pub(crate) fn wait(&mut self, id: u64) -> Reply {
        let message = self.hears(|message| message["id"] == id && message.get("method").is_none());
        let is_told = |message: &Value| message.get("method").is_some();
        let notices = self.kept.iter().filter(|message| is_told(message)).cloned().collect();
        self.kept.retain(|message| !is_told(message));
        Reply { message, notices }
    }

    /// Waits for a message like this; what comes before it is kept.
    #[track_caller]
    pub(crate) fn hears(&mut self, like: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&like) {
            return self.kept.remove(at).unwrap();
        }
        let began = Instant::now();
        while let Some(left) = PATIENCE.checked_sub(began.elapsed()) {
            match self.next(left) {
                Some(Heard::Message(message)) if like(&message) => return message,
                Some(Heard::Message(message)) => self.kept.push_back(message),
                Some(Heard::Noise(text)) => panic!("this is no message: {text}"),
                Some(Heard::Refused(..)) | None => break,
                Some(Heard::End) if matches!(self.wire, Wire::Pipe { .. }) => break,
                Some(Heard::Session(_) | Heard::End) => {}
            }
        }
        panic!("it did not come; {}", self.told());
    }

    /// Everything that comes until the server has nothing more to say.
    #[track_caller]
    pub(crate) fn rest(&mut self) -> Vec<Heard> {
        let at = self.all.len();
        while !matches!(self.next(PATIENCE), Some(Heard::End)) {
            assert!(!matches!(self.wire, Wire::Web(_)) || self.all.len() < 100_000, "{}", self.told());
        }
        self.all[at..].to_vec()
    }

    /// The status with which a request was refused before it reached the protocol.
    #[track_caller]
    pub(crate) fn is_refused(&mut self) -> (u16, Value) {
        loop {
            match self.next(PATIENCE) {
                Some(Heard::Refused(status, body)) => {
                    return (status, serde_json::from_str(&body).unwrap_or(Value::String(body)));
                }
                Some(Heard::End) => {}
                _ => panic!("it is not refused; {}", self.told()),
            }
        }
    }

    /// What comes next. Questions are answered.
    fn next(&mut self, within: Duration) -> Option<Heard> {
        let heard = self.heard.recv_timeout(within).ok()?;
        self.all.push(heard.clone());
        match &heard {
            Heard::Session(session) => {
                if let Wire::Web(door) = &mut self.wire {
                    door.session = Some(session.clone());
                }
            }
            Heard::Message(message) if message.get("id").is_some() && message.get("method").is_some() => {
                self.asked.push(message.clone());
                let says = self.says.clone();
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": says }));
            }
            _ => {}
        }
        Some(heard)
    }

    /// All that came, for a test that fails.
    pub(crate) fn told(&mut self) -> String {
        let heard: Vec<String> = self.all.iter().rev().take(20).map(|heard| format!("{heard:?}")).collect();
        let errors = match &mut self.wire {
            Wire::Pipe { process, .. } => process.errors().to_owned(),
            Wire::Web(_) => String::new(),
        };
        format!("the last that came, the newest first: {heard:#?}\nstandard error: {errors}")
    }
}
