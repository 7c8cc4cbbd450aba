//! An HTTP server on the loopback address, for tools that send requests. It stops when dropped.
#![expect(clippy::disallowed_types, reason = "what is tested talks to a network, and this is it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request that the server received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReceivedRequest {
    /// The method and target: `GET /a?b`.
    pub(crate) line: String,
    /// The header lines.
    pub(crate) head: Vec<String>,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let is = |line: &&String| line.split(':').next().is_some_and(|this| this.eq_ignore_ascii_case(name));
        self.head.iter().find(is)?.split_once(':').map(|(_, value)| value.trim())
    }
}

/// Answers requests and records them.
pub(crate) struct LoopbackServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    is_stopped: Arc<AtomicBool>,
}

/// The rest of the status line after the version, and the body.
pub(crate) type LoopbackResponse = (&'static str, String);

impl LoopbackServer {
    /// Starts a server with this handler.
    pub(crate) fn with_handler(answer: impl Fn(&ReceivedRequest) -> LoopbackResponse + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let (arrived, over) = (Arc::<Mutex<Vec<ReceivedRequest>>>::default(), Arc::<AtomicBool>::default());
        let (kept, ended, answer) = (Arc::clone(&arrived), Arc::clone(&over), Arc::new(answer));
        thread::spawn(move || {
            for connection in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || serve(connection.unwrap(), &kept, &*answer));
            }
        });
        Self { address: at, requests: arrived, is_stopped: over }
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns a policy table that grants a tool access to this server, with additional lines.
    pub(crate) fn grant_for(&self, tool: &str, more: &str) -> String {
        format!(
            "[[grants.tools.{tool}.net]]\nhost = \"127.0.0.1\"\nscheme = \"http\"\nports = [{}]\naddresses = [\"127.0.0.1\"]\n\
             methods = [\"GET\", \"POST\", \"PUT\", \"DELETE\"]\n{more}\n",
            self.address.port()
        )
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the request lines so far, sorted.
    pub(crate) fn request_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.requests().into_iter().map(|arrived| arrived.line).collect();
        lines.sort();
        lines
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // Unblocks `accept`.
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers the requests of one connection until it closes.
fn serve(
    connection: TcpStream,
    kept: &Mutex<Vec<ReceivedRequest>>,
    answer: &(impl Fn(&ReceivedRequest) -> LoopbackResponse + ?Sized),
) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut writer = connection;
    while let Some(arrived) = read(&mut reader) {
        kept.lock().unwrap().push(arrived.clone());
        let (status, body) = answer(&arrived);
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        // The client may have disconnected.
        if writer.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        head.push(line.to_owned());
    }
    let line = head.remove(0).trim_end_matches(" HTTP/1.1").to_owned();
    let mut arrived = ReceivedRequest { line, head, body: Vec::new() };
    let length = arrived.header("content-length").map_or(0, |length| length.parse().unwrap());
    arrived.body = vec![0; length];
    reader.read_exact(&mut arrived.body).ok()?;
    Some(arrived)
}
