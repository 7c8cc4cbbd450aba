//! A server on loopback, for tools that make requests. It ends with its test.
#![expect(clippy::disallowed_types, reason = "what is tested talks to a network, and this is it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrived {
    /// Its method and its target: `GET /a?b`.
    pub(crate) line: String,
    /// Its head, line by line.
    pub(crate) head: Vec<String>,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

impl Arrived {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let is = |line: &&String| line.split(':').next().is_some_and(|this| this.eq_ignore_ascii_case(name));
        self.head.iter().find(is)?.split_once(':').map(|(_, value)| value.trim())
    }
}

/// Answers requests, and keeps them.
pub(crate) struct Loopback {
    at: SocketAddr,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    over: Arc<AtomicBool>,
}

/// The status line's rest, and the body.
pub(crate) type Answer = (&'static str, String);

impl Loopback {
    /// A server that answers so.
    pub(crate) fn answering(answer: impl Fn(&Arrived) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let (arrived, over) = (Arc::<Mutex<Vec<Arrived>>>::default(), Arc::<AtomicBool>::default());
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
        Self { at, arrived, over }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    /// The table of a policy that grants a tool all of it, with further lines.
    pub(crate) fn granted_to(&self, tool: &str, more: &str) -> String {
        format!(
            "[[grants.tools.{tool}.net]]\nhost = \"127.0.0.1\"\nscheme = \"http\"\nports = [{}]\naddresses = [\"127.0.0.1\"]\n\
             methods = [\"GET\", \"POST\", \"PUT\", \"DELETE\"]\n{more}\n",
            self.at.port()
        )
    }

    /// What arrived so far.
    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }

    /// The lines of what arrived so far, in order.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.arrived().into_iter().map(|arrived| arrived.line).collect();
        lines.sort();
        lines
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes who accepts.
        let _ = TcpStream::connect(self.at);
    }
}

/// Answers the requests of one connection until it is closed.
fn serve(connection: TcpStream, kept: &Mutex<Vec<Arrived>>, answer: &(impl Fn(&Arrived) -> Answer + ?Sized)) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut writer = connection;
    while let Some(arrived) = read(&mut reader) {
        kept.lock().unwrap().push(arrived.clone());
        let (status, body) = answer(&arrived);
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        // Who asked may be gone.
        if writer.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Arrived> {
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
    let mut arrived = Arrived { line, head, body: Vec::new() };
    let length = arrived.header("content-length").map_or(0, |length| length.parse().unwrap());
    arrived.body = vec![0; length];
    reader.read_exact(&mut arrived.body).ok()?;
    Some(arrived)
}
