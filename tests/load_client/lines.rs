//! A client over standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use super::message::Message;

/// The kind of standard input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StdioKind {
    /// Pipes, as most programs use.
    Pipes,
    /// Sockets, as Node uses.
    Sockets,
}

/// A server process with its standard input and output.
pub(crate) struct StdioClient {
    child: Child,
    input: Option<Box<dyn Write + Send>>,
    output: BufReader<Box<dyn Read + Send>>,
    line: String,
}

impl StdioClient {
    pub(crate) fn start(mut command: Command, way: StdioKind) -> Self {
        let (child, input, output): (_, Box<dyn Write + Send>, Box<dyn Read + Send>) = match way {
            StdioKind::Pipes => {
                let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
                let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
                (child, Box::new(input), Box::new(output))
            }
            StdioKind::Sockets => {
                let (input, of_input) = UnixStream::pair().unwrap();
                let (output, of_output) = UnixStream::pair().unwrap();
                command.stdin(OwnedFd::from(of_input)).stdout(OwnedFd::from(of_output));
                (command.spawn().unwrap(), Box::new(input), Box::new(output))
            }
        };
        Self { child, input: Some(input), output: BufReader::new(output), line: String::new() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts a session, as clients of revision 2025-11-25 do.
    pub(crate) fn start_session(&mut self) {
        assert!(self.ask(&Message::initialize()).contains("serverInfo"));
        self.send(&Message::initialized());
    }

    /// Sends a message and returns the next line.
    pub(crate) fn ask(&mut self, message: &Message) -> &str {
        self.send(message);
        self.read_line()
    }

    pub(crate) fn send(&mut self, message: &Message) {
        let input = self.input.as_mut().unwrap();
        let line = format!("{}\n", message.text);
        input.write_all(line.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Reads the next line.
    pub(crate) fn read_line(&mut self) -> &str {
        self.line.clear();
        assert!(self.output.read_line(&mut self.line).unwrap() > 0, "the server ended");
        &self.line
    }
}

impl Drop for StdioClient {
    /// The server exits when its standard input closes.
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
