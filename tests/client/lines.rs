//! A client over standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use super::message::Message;

/// What standard input and output are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// As most programs start others.
    Pipes,
    /// As Node does.
    Sockets,
}

/// A server, and its standard input and output.
pub(crate) struct Lines {
    child: Child,
    input: Option<Box<dyn Write + Send>>,
    output: BufReader<Box<dyn Read + Send>>,
    line: String,
}

impl Lines {
    pub(crate) fn start(mut command: Command, way: Way) -> Self {
        let (child, input, output): (_, Box<dyn Write + Send>, Box<dyn Read + Send>) = match way {
            Way::Pipes => {
                let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
                let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
                (child, Box::new(input), Box::new(output))
            }
            Way::Sockets => {
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

    /// Begins a session, as clients of 2025-11-25 do.
    pub(crate) fn begin(&mut self) {
        assert!(self.ask(&Message::initialize()).contains("serverInfo"));
        self.say(&Message::initialized());
    }

    /// Asks, and gives the next line that comes.
    pub(crate) fn ask(&mut self, message: &Message) -> &str {
        self.say(message);
        self.hear()
    }

    pub(crate) fn say(&mut self, message: &Message) {
        let input = self.input.as_mut().unwrap();
        let line = format!("{}\n", message.text);
        input.write_all(line.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// The next line.
    pub(crate) fn hear(&mut self) -> &str {
        self.line.clear();
        assert!(self.output.read_line(&mut self.line).unwrap() > 0, "the server ended");
        &self.line
    }
}

impl Drop for Lines {
    /// It ends when it is asked no more.
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
