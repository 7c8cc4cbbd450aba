//! A client over HTTP/1.1: a server, and connections to it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::message::{Era, Message};
use super::process::end;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server that listens.
pub(crate) struct Http {
    child: Child,
    address: SocketAddr,
}

impl Http {
    /// Starts a server on a port that is free.
    pub(crate) fn start(mut command: Command) -> Self {
        let command = command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| unreachable!("the server does not listen: {line}")).parse().unwrap();
        // What it says later is shown: nobody may let its standard error run full.
        std::thread::spawn(move || io::copy(&mut said, &mut io::stderr()));
        Self { child, address }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self, token: Option<&str>) -> Connection {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        Connection {
            stream: BufReader::new(stream),
            common: format!("Host: {}\r\n{token}", self.address),
            session: None,
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        end(self.child.id());
        let _ = self.child.wait();
    }
}

/// One connection, which is kept, and the session that is spoken of over it.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    /// Headers of all requests.
    common: String,
    pub(crate) session: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    session: Option<String>,
}

impl Answer {
    /// The message in it; of a stream of events, the last one.
    pub(crate) fn message(&self) -> &str {
        let events =
            self.body.lines().rev().find_map(|line| line.strip_prefix("data: ").filter(|data| !data.is_empty()));
        events.unwrap_or(&self.body)
    }
}

impl Connection {
    /// Begins a session, as clients of 2025-11-25 do.
    pub(crate) fn begin(&mut self) {
        let answer = self.ask(&Message::initialize()).unwrap();
        assert!(answer.message().contains("serverInfo"), "{answer:?}");
        self.session = answer.session;
        assert_eq!(self.ask(&Message::initialized()).unwrap().status, 202);
    }

    /// A request as it goes over the wire.
    pub(crate) fn written(&self, message: &Message) -> Vec<u8> {
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

    /// Asks, and waits for the whole answer.
    pub(crate) fn ask(&mut self, message: &Message) -> io::Result<Answer> {
        let bytes = self.written(message);
        self.exchange(&bytes)
    }

    /// Sends what is written already, and waits for the whole answer.
    pub(crate) fn exchange(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        self.send(bytes)?;
        self.answer()
    }

    /// Another request of the session: one that listens (`GET`), or that ends it (`DELETE`).
    pub(crate) fn of_session(&mut self, verb: &str) -> io::Result<()> {
        let request = format!("{verb} /mcp HTTP/1.1\r\n{}\r\n", self.headers(Era::Session));
        self.send(request.as_bytes())
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// The next answer, to its end.
    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        let head = self.head()?;
        let mut bytes = Vec::new();
        match head.length {
            Some(length) => {
                bytes.resize(length, 0);
                self.stream.read_exact(&mut bytes)?;
            }
            None if head.chunked => while self.chunk(&mut bytes)? {},
            None => {}
        }
        let body = String::from_utf8(bytes).map_err(io::Error::other)?;
        Ok(Answer { status: head.status, body, session: head.session })
    }

    /// The head of the next answer.
    pub(crate) fn head(&mut self) -> io::Result<Head> {
        let mut head = Head { status: 0, length: None, chunked: false, session: None };
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

    /// The next chunk; whether there was one.
    fn chunk(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
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

/// What stands before the body of an answer.
pub(crate) struct Head {
    pub(crate) status: u16,
    length: Option<usize>,
    chunked: bool,
    session: Option<String>,
}

fn header(name: &str, value: &str) -> String {
    format!("{name}: {value}\r\n")
}
