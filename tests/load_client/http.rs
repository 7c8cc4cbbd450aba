//! An HTTP/1.1 client: a server process, and connections to it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::message::{Era, Message};
use super::process::terminate;

/// Timeout of a reply.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A server process that listens on a port.
pub(crate) struct HttpServerProcess {
    child: Child,
    address: SocketAddr,
}

impl HttpServerProcess {
    /// Starts a server on a free port.
    pub(crate) fn start(mut command: Command) -> Self {
        let command = command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| unreachable!("the server does not listen: {line}")).parse().unwrap();
        // Later output is forwarded, so that the pipe never fills up.
        std::thread::spawn(move || io::copy(&mut errors, &mut io::stderr()));
        Self { child, address }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self, token: Option<&str>) -> Connection {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        Connection {
            stream: BufReader::new(stream),
            common: format!("Host: {}\r\n{token}", self.address),
            session: None,
        }
    }
}

impl Drop for HttpServerProcess {
    fn drop(&mut self) {
        terminate(self.child.id());
        let _ = self.child.wait();
    }
}

/// A persistent connection, and its MCP session.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    /// Headers of every request.
    common: String,
    pub(crate) session: Option<String>,
}

/// A reply.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) body: String,
    session: Option<String>,
}

impl HttpReply {
    /// Returns the message in the body; of an event stream, the last one.
    pub(crate) fn message(&self) -> &str {
        let events =
            self.body.lines().rev().find_map(|line| line.strip_prefix("data: ").filter(|data| !data.is_empty()));
        events.unwrap_or(&self.body)
    }
}

impl Connection {
    /// Starts a session, as clients of revision 2025-11-25 do.
    pub(crate) fn start_session(&mut self) {
        let answer = self.ask(&Message::initialize()).unwrap();
        assert!(answer.message().contains("serverInfo"), "{answer:?}");
        self.session = answer.session;
        assert_eq!(self.ask(&Message::initialized()).unwrap().status, 202);
    }

    /// Encodes a request.
    pub(crate) fn encode(&self, message: &Message) -> Vec<u8> {
        let mut headers = self.headers(message.era);
        if message.era == Era::Stateless {
            headers += &header("Mcp-Method", message.method);
            if let Some(name) = &message.name {
                headers += &header("Mcp-Name", name);
            }
        }
        let (length, text) = (message.text.len(), &message.text);
        format!("POST /mcp HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{text}").into_bytes()
    }

    fn headers(&self, era: Era) -> String {
        let mut headers = self.common.clone();
        headers.push_str("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n");
        if era == Era::Stateless || self.session.is_some() {
            headers += &header("MCP-Protocol-Version", era.revision());
        }
        if let (Era::Session, Some(session)) = (era, &self.session) {
            headers += &header("Mcp-Session-Id", session);
        }
        headers
    }

    /// Sends a request and reads the whole reply.
    pub(crate) fn ask(&mut self, message: &Message) -> io::Result<HttpReply> {
        let bytes = self.encode(message);
        self.exchange(&bytes)
    }

    /// Sends an encoded request and reads the whole reply.
    pub(crate) fn exchange(&mut self, bytes: &[u8]) -> io::Result<HttpReply> {
        self.send(bytes)?;
        self.read_reply()
    }

    /// Sends another request of the session: `GET` to listen, or `DELETE` to end it.
    pub(crate) fn send_session_request(&mut self, verb: &str) -> io::Result<()> {
        let request = format!("{verb} /mcp HTTP/1.1\r\n{}\r\n", self.headers(Era::Session));
        self.send(request.as_bytes())
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Reads the next reply.
    pub(crate) fn read_reply(&mut self) -> io::Result<HttpReply> {
        let head = self.read_head()?;
        let mut bytes = Vec::new();
        match head.length {
            Some(length) => {
                bytes.resize(length, 0);
                self.stream.read_exact(&mut bytes)?;
            }
            None if head.chunked => while self.read_chunk(&mut bytes)? {},
            None => {}
        }
        let body = String::from_utf8(bytes).map_err(io::Error::other)?;
        Ok(HttpReply { status: head.status, body, session: head.session })
    }

    /// Reads the head of the next reply.
    pub(crate) fn read_head(&mut self) -> io::Result<HttpHead> {
        let mut head = HttpHead { status: 0, length: None, chunked: false, session: None };
        let mut line = String::new();
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_end();
            let Some((name, value)) = text.split_once(": ") else {
                if text.is_empty() {
                    return Ok(head);
                }
                head.status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
                continue;
            };
            match name {
                "content-length" => head.length = value.parse().ok(),
                "transfer-encoding" => head.chunked = value == "chunked",
                "mcp-session-id" => head.session = Some(value.to_owned()),
                _ => {}
            }
        }
    }

    /// Reads the next chunk, and returns whether there was one.
    fn read_chunk(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
        let begin = bytes.len();
        bytes.resize(begin + length + 2, 0);
        self.stream.read_exact(&mut bytes[begin..])?;
        bytes.truncate(begin + length);
        Ok(length > 0)
    }
}

/// The status and headers of a reply.
pub(crate) struct HttpHead {
    pub(crate) status: u16,
    length: Option<usize>,
    chunked: bool,
    session: Option<String>,
}

fn header(name: &str, value: &str) -> String {
    format!("{name}: {value}\r\n")
}
