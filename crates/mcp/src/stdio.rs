//! The transport over standard input and output, for the client that started the server.
//!
//! Invariant: only the protocol reaches standard output. The client's descriptors are moved away
//! before anything runs: all other output, of this process or of a hook command, goes to standard
//! error, and standard input is empty.
#![expect(clippy::disallowed_types, reason = "the client's streams are files to this process")]

mod framing;
#[cfg(test)]
mod fuzz;
mod transport;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::thread;
use std::time::{Duration, Instant};

use rmcp::service::serve_server_with_ct;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use crate::bounds::MAX_STDIO_MESSAGE_BYTES;
use crate::in_flight::SHUTDOWN_LIMIT;
use crate::runtime::THREADS_HINT;
use crate::server::Server;
use framing::FrameReader;
pub(crate) use framing::TOO_LARGE_METHOD;
use transport::LineTransport;

/// An error of starting the transport.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum StdioError {
    /// Standard input or output cannot be used.
    #[error("standard input and output cannot be used: {0}")]
    #[code(Stream)]
    #[hint("start the server with a pipe or a socket as standard input and output")]
    Streams(#[source] io::Error),
    /// The system provides no threads.
    #[error("cannot start a thread: {0}")]
    #[code(NoThreads)]
    #[hint(THREADS_HINT)]
    Threads(#[source] io::Error),
}

/// How often to check whether the client still reads, once it has closed its input.
const READER_CHECK_INTERVAL: Duration = Duration::from_millis(50);

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Serves the client at standard input and output, until the client closes them or `shutdown`
/// completes. Calls in flight then have `grace` to end, and are stopped afterwards; either way they
/// are recorded when this returns. Returns the time by which the process has to exit.
pub(crate) async fn serve(
    server: Server,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) -> Result<Instant, StdioError> {
    let watched = io::stdout().as_fd().try_clone_to_owned().map_err(StdioError::Streams)?;
    let (input, output) = take_streams()?;
    let calls = server.calls().clone();
    let transport = LineTransport::new(FrameReader::new(input, MAX_STDIO_MESSAGE_BYTES), output);
    let hung_up = transport.input_closed().clone();
    let stop = tokio_util::sync::CancellationToken::new();
    let mut session = Box::pin(async {
        match Box::pin(serve_server_with_ct(server, transport, stop.clone())).await {
            Ok(service) => drop(service.waiting().await),
            // A client that disconnects before its first message wants nothing.
            Err(error) => tracing::debug!(%error, "the client did not start a session"),
        }
    });
    let goes_on = tokio::select! {
        () = &mut session => false,
        // `rmcp` reports this only after some seconds.
        () = hung_up.cancelled() => true,
        () = shutdown => true,
    };
    let deadline = Instant::now() + grace + SHUTDOWN_LIMIT;
    // A client that was killed reads no response; one that closed its end alone may.
    calls.close_or_stop(grace, reader_gone(watched)).await;
    stop.cancel();
    if goes_on {
        // A client that does not read may delay the last response.
        let left = deadline.saturating_duration_since(Instant::now());
        let _ = tokio::time::timeout(left, session).await;
    }
    Ok(deadline)
}

/// Waits until the other end of a pipe or a socket is closed. It is checked every 50 milliseconds.
async fn reader_gone(stream: OwnedFd) {
    let mut look = tokio::time::interval(READER_CHECK_INTERVAL);
    loop {
        look.tick().await;
        let mut polled = [PollFd::new(&stream, PollFlags::empty())];
        let found = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        if found.is_ok() && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            return;
        }
    }
}

/// Takes standard input and output away from the process.
fn take_streams() -> Result<(Input, Output), StdioError> {
    let own = || Ok((io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?));
    let (input, output) = own().map_err(StdioError::Streams)?;
    let streams = (open_input(&input), open_output(&output));
    let (Some(input), Some(output)) = streams else {
        // Neither pipes nor sockets: a file, a terminal for manual use, or the pipes of another
        // user.
        return Ok((Box::new(spawn_stdin_reader()?), Box::new(tokio::io::stdout())));
    };
    detach_streams().map_err(StdioError::Streams)?;
    Ok((input, output))
}

/// Replaces descriptors 0 and 1, so that nothing else uses the client's streams.
fn detach_streams() -> io::Result<()> {
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
    Ok(())
}

/// Reads standard input on a thread of its own. It blocks while there is no input, and would occupy
/// a blocking thread of the runtime that tools need.
fn spawn_stdin_reader() -> Result<UnixStream, StdioError> {
    let (mut fill, drain) = StdUnixStream::pair().map_err(StdioError::Streams)?;
    // Input that arrives after the server has exited is dropped.
    let copy = move || drop(io::copy(&mut io::stdin(), &mut fill));
    thread::Builder::new().name("toolcell-stdin".to_owned()).spawn(copy).map_err(StdioError::Threads)?;
    drain.set_nonblocking(true).map_err(StdioError::Streams)?;
    UnixStream::from_std(drain).map_err(StdioError::Streams)
}

fn open_input(fd: &OwnedFd) -> Option<Input> {
    match stream_kind(fd)? {
        StreamKind::Pipe => {
            Some(Box::new(pipe::Receiver::from_file(reopen_pipe(fd, OpenOptions::new().read(true))?).ok()?))
        }
        StreamKind::Socket => clone_socket(fd).map(|socket| Box::new(socket) as Input),
    }
}

fn open_output(fd: &OwnedFd) -> Option<Output> {
    match stream_kind(fd)? {
        StreamKind::Pipe => {
            Some(Box::new(pipe::Sender::from_file(reopen_pipe(fd, OpenOptions::new().write(true))?).ok()?))
        }
        StreamKind::Socket => clone_socket(fd).map(|socket| Box::new(socket) as Output),
    }
}

enum StreamKind {
    Pipe,
    Socket,
}

fn stream_kind(fd: &OwnedFd) -> Option<StreamKind> {
    let kind = File::from(fd.try_clone().ok()?).metadata().ok()?.file_type();
    if kind.is_fifo() {
        Some(StreamKind::Pipe)
    } else if kind.is_socket() {
        Some(StreamKind::Socket)
    } else {
        None
    }
}

/// Opens the same pipe again: the nonblocking mode then does not affect other processes that share
/// the original description.
fn reopen_pipe(fd: &OwnedFd, options: &mut OpenOptions) -> Option<File> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    options.custom_flags(nonblocking).open(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()
}

/// A socket cannot be opened again. No other process shares this end.
fn clone_socket(fd: &OwnedFd) -> Option<UnixStream> {
    let socket = StdUnixStream::from(fd.try_clone().ok()?);
    socket.set_nonblocking(true).ok()?;
    UnixStream::from_std(socket).ok()
}
