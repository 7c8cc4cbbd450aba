//! HTTP transport of the raw client: requests written by hand, one connection each, and responses
//! read as a stream.
//!
//! Invariant: each event of a response is delivered when it arrives, not when the response ends.

#![expect(clippy::disallowed_types, reason = "this is the other side of a server")]

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};

use super::raw_client::{Incoming, RawClient, STATELESS_VERSION, Transport};
use super::server::{ServerProcess, TIMEOUT};

/// A server with an HTTP endpoint.
pub(crate) struct WebServer {
    pub(crate) process: ServerProcess,
    pub(crate) address: String,
}

impl WebServer {
    pub(super) fn from_process(mut process: ServerProcess) -> Self {
        let url = process.wait_for_line("listening on http://");
        Self { process, address: url.strip_suffix("/mcp").unwrap().to_owned() }
    }

    /// Creates a client of this server.
    pub(crate) fn client(&self) -> RawClient {
        self.client_with_headers("")
    }

    /// Creates a client that sends a bearer token.
    pub(crate) fn client_with_token(&self, token: &str) -> RawClient {
        self.client_with_headers(&format!("Authorization: Bearer {token}\r\n"))
    }

    /// Creates a client that sends additional headers.
    pub(crate) fn client_with_headers(&self, headers: &str) -> RawClient {
        let (tell, heard) = channel();
        let door = HttpTransport {
            address: self.address.clone(),
            headers: headers.to_owned(),
            session: None,
            sender: tell,
            open: HashMap::new(),
        };
        RawClient::new(Transport::Http(door), heard)
    }

    /// Requests a path with GET, and returns the status and the body.
    #[track_caller]
    pub(crate) fn get(&self, path: &str, headers: &str) -> (u16, String) {
        self.send_raw(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}Connection: close\r\n\r\n", self.address))
    }

    /// Sends raw bytes, and returns the status and the body of the response.
    #[track_caller]
    pub(crate) fn send_raw(&self, request: impl AsRef<[u8]>) -> (u16, String) {
        let answer = self.exchange(request);
        (answer.status, answer.body)
    }

    /// Sends raw bytes, and returns the whole response.
    #[track_caller]
    pub(crate) fn exchange(&self, request: impl AsRef<[u8]>) -> RawAnswer {
        let mut stream = connect(&self.address);
        // A server that has already refused the request need not read all of it.
        let _ = stream.write_all(request.as_ref());
        let mut answer = BufReader::new(stream);
        let head = read_head(&mut answer).unwrap();
        let mut body = String::new();
        ResponseBody::new(&head, answer).read_to_string(&mut body).unwrap();
        RawAnswer { status: head.status, headers: head.headers, body }
    }

    /// Sends the start of a request and leaves the connection open.
    pub(crate) fn send_incomplete(&self, beginning: &str) -> TcpStream {
        let mut stream = connect(&self.address);
        stream.write_all(beginning.as_bytes()).unwrap();
        stream
    }

    /// Sends many run requests over one connection and never reads the responses.
    pub(crate) fn flood_without_reading(&self, tool: &str, times: usize) -> TcpStream {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
            "io.modelcontextprotocol/clientInfo": { "name": "stuck", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "run_dynamic_tool", "arguments": { "tool_name": tool }, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nMCP-Protocol-Version: {STATELESS_VERSION}\r\nMcp-Method: tools/call\r\n\
             Mcp-Name: run_dynamic_tool\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = connect(&self.address);
        // Bytes that the server does not accept are dropped.
        stream.set_nonblocking(true).unwrap();
        let _ = stream.write_all(request.repeat(times).as_bytes());
        stream
    }

    /// Returns the value of a metric without labels, or 0 if it is missing.
    #[track_caller]
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let (status, text) = self.get("/metrics", "");
        assert_eq!(status, 200, "{text}");
        let values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        values.map(|value| value.parse::<u64>().unwrap()).sum()
    }
}

/// A response with its headers.
#[derive(Debug)]
pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl RawAnswer {
    /// Returns a header; empty if it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// The HTTP transport of a client.
pub(crate) struct HttpTransport {
    address: String,
    headers: String,
    pub(crate) session: Option<String>,
    sender: Sender<Incoming>,
    /// The connections of pending requests.
    open: HashMap<u64, TcpStream>,
}

impl HttpTransport {
    pub(super) fn post(&mut self, message: &Value, version: &str) {
        let text = message.to_string();
        let mut headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", text.len());
        if message["method"] != "initialize" {
            headers.extend(["MCP-Protocol-Version: ", version, "\r\n"]);
        }
        let (method, name) = (message["method"].as_str(), request_target(message));
        if version == STATELESS_VERSION {
            headers.extend(method.map(|method| format!("Mcp-Method: {method}\r\n")));
            headers.extend(name.map(|name| format!("Mcp-Name: {name}\r\n")));
        }
        let stream = self.open("POST", &headers, &text);
        if let Some(id) = message["id"].as_u64() {
            self.open.insert(id, stream);
        }
    }

    /// Opens the event stream of the session.
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
        // If the server has exited, the missing response shows it.
        let _ = stream.write_all(request.as_bytes());
        let (reading, tell) = (stream.try_clone().unwrap(), self.sender.clone());
        std::thread::spawn(move || {
            let mut answer = BufReader::new(reading);
            // A broken connection delivers nothing more.
            let _ = read_response(&mut answer, &tell);
            let _ = tell.send(Incoming::Closed);
        });
        stream
    }

    /// Closes the connection of a pending request.
    pub(crate) fn disconnect(&mut self, id: u64) {
        self.open.remove(&id).unwrap().shutdown(Shutdown::Both).unwrap();
    }
}

/// Returns the tool, prompt, resource or task that a request names.
fn request_target(message: &Value) -> Option<String> {
    let params = &message["params"];
    let key = match message["method"].as_str()? {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    params[key].as_str().map(str::to_owned)
}

fn read_response(answer: &mut BufReader<TcpStream>, tell: &Sender<Incoming>) -> io::Result<()> {
    let head = read_head(answer)?;
    if let Some(session) = head.headers.get("mcp-session-id") {
        let _ = tell.send(Incoming::Session(session.clone()));
    }
    let is_stream = head.headers.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let mut body = ResponseBody::new(&head, answer);
    if is_stream {
        return read_events(&mut BufReader::new(body), tell);
    }
    let mut text = String::new();
    body.read_to_string(&mut text)?;
    let message = serde_json::from_str::<Value>(&text).ok().filter(|message| message.get("jsonrpc").is_some());
    let incoming = match message {
        Some(message) => Incoming::Message(message),
        None if head.status >= 300 => Incoming::HttpError(head.status, text),
        None => return Ok(()),
    };
    let _ = tell.send(incoming);
    Ok(())
}

/// Delivers the messages of an event stream.
fn read_events(stream: &mut impl BufRead, tell: &Sender<Incoming>) -> io::Result<()> {
    for line in stream.lines() {
        let line = line?;
        let Some(data) = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty()) else { continue };
        let incoming =
            serde_json::from_str(data).map_or_else(|_| Incoming::NotJson(data.to_owned()), Incoming::Message);
        let _ = tell.send(incoming);
    }
    Ok(())
}

struct ResponseHeaders {
    status: u16,
    /// Headers by lower-case name.
    headers: HashMap<String, String>,
}

fn read_head(answer: &mut impl BufRead) -> io::Result<ResponseHeaders> {
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
    let mut headers = HashMap::<String, String>::new();
    for (name, value) in lines[1..].iter().filter_map(|line| line.split_once(':')) {
        let joined = headers.entry(name.to_ascii_lowercase()).or_default();
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(value.trim());
    }
    Ok(ResponseHeaders { status, headers })
}

/// The body of a response (RFC 9112, section 6.3): chunked, with a length, or until the connection
/// closes.
struct ResponseBody<R> {
    inner: R,
    chunked: bool,
    remaining: u64,
}

impl<R: BufRead> ResponseBody<R> {
    fn new(head: &ResponseHeaders, inner: R) -> Self {
        let chunked = head.headers.get("transfer-encoding").is_some_and(|how| how.contains("chunked"));
        let length = head.headers.get("content-length").and_then(|length| length.parse().ok());
        let left = if chunked { 0 } else { length.unwrap_or(u64::MAX) };
        Self { inner, chunked, remaining: left }
    }
}

impl<R: BufRead> Read for ResponseBody<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunked && self.remaining == 0 {
            let mut line = String::new();
            self.inner.read_line(&mut line)?;
            self.remaining = u64::from_str_radix(line.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
            if self.remaining == 0 {
                return Ok(0);
            }
        }
        let most = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.inner.read(&mut buffer[..most])?;
        self.remaining -= read as u64;
        if self.chunked && self.remaining == 0 && read > 0 {
            self.inner.read_line(&mut String::new())?;
        }
        Ok(read)
    }
}
