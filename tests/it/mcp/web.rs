//! The HTTP side of a peer: requests written by hand, each over a connection of its own, and answers read as they come.
//!
//! Invariant: what an answer holds is heard when it comes, and not when it is over.

#![expect(clippy::disallowed_types, reason = "this is the other side of a server")]

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};

use super::home::{PATIENCE, Process};
use super::peer::{Heard, Peer, STATELESS, Wire};

/// A server over HTTP.
pub(crate) struct Web {
    pub(crate) process: Process,
    pub(crate) address: String,
}

impl Web {
    pub(super) fn at(mut process: Process) -> Self {
        let url = process.says("listening on http://");
        Self { process, address: url.strip_suffix("/mcp").unwrap().to_owned() }
    }

    /// A peer of this server.
    pub(crate) fn peer(&self) -> Peer {
        self.peer_with("")
    }

    /// A peer that shows a token.
    pub(crate) fn peer_of(&self, token: &str) -> Peer {
        self.peer_with(&format!("Authorization: Bearer {token}\r\n"))
    }

    /// A peer that sends these headers as well.
    pub(crate) fn peer_with(&self, headers: &str) -> Peer {
        let (tell, heard) = channel();
        let door = Door {
            address: self.address.clone(),
            headers: headers.to_owned(),
            session: None,
            tell,
            open: HashMap::new(),
        };
        Peer::over(Wire::Web(door), heard)
    }

    /// What a page says: its status and its body.
    #[track_caller]
    pub(crate) fn page(&self, path: &str, headers: &str) -> (u16, String) {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}Connection: close\r\n\r\n", self.address))
    }

    /// Sends bytes as they are, and gives the status and the body of the answer.
    #[track_caller]
    pub(crate) fn send(&self, request: impl AsRef<[u8]>) -> (u16, String) {
        let mut stream = connect(&self.address);
        // A server that has refused already need not read all of it.
        let _ = stream.write_all(request.as_ref());
        let mut answer = BufReader::new(stream);
        let head = head(&mut answer).unwrap();
        let mut body = String::new();
        Body::of(&head, answer).read_to_string(&mut body).unwrap();
        (head.status, body)
    }

    /// Sends the beginning of a request, and leaves it at that.
    pub(crate) fn hangs(&self, beginning: &str) -> TcpStream {
        let mut stream = connect(&self.address);
        stream.write_all(beginning.as_bytes()).unwrap();
        stream
    }

    /// Asks for many runs over one connection, and reads nothing of what comes.
    pub(crate) fn sends_and_never_reads(&self, tool: &str, times: usize) -> TcpStream {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": { "name": "stuck", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "run_dynamic_tool", "arguments": { "tool_name": tool }, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nMCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/call\r\n\
             Mcp-Name: run_dynamic_tool\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = connect(&self.address);
        // What the server does not take is not sent.
        stream.set_nonblocking(true).unwrap();
        let _ = stream.write_all(request.repeat(times).as_bytes());
        stream
    }

    /// What a metric without labels says; 0 where it says nothing.
    #[track_caller]
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let (status, text) = self.page("/metrics", "");
        assert_eq!(status, 200, "{text}");
        let said = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        said.map(|value| value.parse::<u64>().unwrap()).sum()
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Where a peer comes in over HTTP.
pub(crate) struct Door {
    address: String,
    headers: String,
    pub(crate) session: Option<String>,
    tell: Sender<Heard>,
    /// The connections of requests.
    open: HashMap<u64, TcpStream>,
}

impl Door {
    pub(super) fn post(&mut self, message: &Value, version: &str) {
        let text = message.to_string();
        let mut headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", text.len());
        if message["method"] != "initialize" {
            headers.extend(["MCP-Protocol-Version: ", version, "\r\n"]);
        }
        let (method, name) = (message["method"].as_str(), called(message));
        if version == STATELESS {
            headers.extend(method.map(|method| format!("Mcp-Method: {method}\r\n")));
            headers.extend(name.map(|name| format!("Mcp-Name: {name}\r\n")));
        }
        let stream = self.open("POST", &headers, &text);
        if let Some(id) = message["id"].as_u64() {
            self.open.insert(id, stream);
        }
    }

    /// Listens to what the server says without being asked, in a session.
    pub(crate) fn listen(&mut self) {
        drop(self.open("GET", "", ""));
    }

    fn open(&self, verb: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = connect(&self.address);
        let session = self.session.as_ref().map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default();
        let request = format!(
            "{verb} /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n{}{session}{headers}\r\n{body}",
            self.address, self.headers
        );
        // Where the server is gone, the answer says so.
        let _ = stream.write_all(request.as_bytes());
        let (reading, tell) = (stream.try_clone().unwrap(), self.tell.clone());
        std::thread::spawn(move || {
            let mut answer = BufReader::new(reading);
            // A connection that breaks off says nothing more.
            let _ = hear(&mut answer, &tell);
            let _ = tell.send(Heard::End);
        });
        stream
    }

    /// Leaves in the middle of a request.
    pub(crate) fn leave(&mut self, id: u64) {
        self.open.remove(&id).unwrap().shutdown(Shutdown::Both).unwrap();
    }
}

/// What a request is about: a tool, a prompt, a resource, a task.
fn called(message: &Value) -> Option<String> {
    let params = &message["params"];
    let key = match message["method"].as_str()? {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    params[key].as_str().map(str::to_owned)
}

fn hear(answer: &mut BufReader<TcpStream>, tell: &Sender<Heard>) -> io::Result<()> {
    let head = head(answer)?;
    if let Some(session) = head.headers.get("mcp-session-id") {
        let _ = tell.send(Heard::Session(session.clone()));
    }
    let is_stream = head.headers.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let mut body = Body::of(&head, answer);
    if is_stream {
        return events(&mut BufReader::new(body), tell);
    }
    let mut text = String::new();
    body.read_to_string(&mut text)?;
    let message = serde_json::from_str::<Value>(&text).ok().filter(|message| message.get("jsonrpc").is_some());
    let told = match message {
        Some(message) => Heard::Message(message),
        None if head.status >= 300 => Heard::Refused(head.status, text),
        None => return Ok(()),
    };
    let _ = tell.send(told);
    Ok(())
}

/// The messages of a stream of events.
fn events(stream: &mut impl BufRead, tell: &Sender<Heard>) -> io::Result<()> {
    for line in stream.lines() {
        let line = line?;
        let Some(data) = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty()) else { continue };
        let told = serde_json::from_str(data).map_or_else(|_| Heard::Noise(data.to_owned()), Heard::Message);
        let _ = tell.send(told);
    }
    Ok(())
}

struct Head {
    status: u16,
    /// By their names in lower case.
    headers: HashMap<String, String>,
}

fn head(answer: &mut impl BufRead) -> io::Result<Head> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if answer.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line == "\r\n" {
            break;
        }
        lines.push(line);
    }
    let status = lines[0].split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    let headers = lines[1..].iter().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Ok(Head { status, headers: headers.collect() })
}

/// The body of an answer (RFC 9112, 6.3): in chunks, of a length, or until the connection ends.
struct Body<R> {
    inner: R,
    chunked: bool,
    left: u64,
}

impl<R: BufRead> Body<R> {
    fn of(head: &Head, inner: R) -> Self {
        let chunked = head.headers.get("transfer-encoding").is_some_and(|how| how.contains("chunked"));
        let length = head.headers.get("content-length").and_then(|length| length.parse().ok());
        let left = if chunked { 0 } else { length.unwrap_or(u64::MAX) };
        Self { inner, chunked, left }
    }
}

impl<R: BufRead> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunked && self.left == 0 {
            let mut line = String::new();
            self.inner.read_line(&mut line)?;
            self.left = u64::from_str_radix(line.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.inner.read(&mut buffer[..most])?;
        self.left -= read as u64;
        if self.chunked && self.left == 0 && read > 0 {
            self.inner.read_line(&mut String::new())?;
        }
        Ok(read)
    }
}
