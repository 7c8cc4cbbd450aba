//! The way in over standard input and output: one client, which started the server.
//!
//! Invariant: only the protocol reaches standard output. The descriptors that the client holds are taken away from the process
//! before anything runs: whatever else prints, here or in a program that a gate starts, prints to standard error, and reads
//! nothing.
#![expect(clippy::disallowed_types, reason = "what the client holds is files to this process")]

#[cfg(test)]
mod fuzz;
mod lines;
mod transport;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::thread;
use std::time::{Duration, Instant};

use rmcp::service::serve_server_with_ct;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use crate::bounds::MESSAGE_LIMIT;
use crate::calls::LAST;
use crate::runtime::THREADS_HINT;
use crate::server::Server;
use lines::Lines;
pub(crate) use lines::TOO_LONG;
use transport::Messages;

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// Standard input or output cannot be used.
    #[error("standard input and output cannot be used: {0}")]
    Streams(#[source] io::Error),
    /// There are no threads to serve with.
    #[error("no thread can be started: {0}")]
    Threads(#[source] io::Error),
}

impl StdioError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Streams(_) => "stream",
            Self::Threads(_) => "no-threads",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Streams(_) => "a client starts the server with a pipe or a socket at its standard input and output",
            Self::Threads(_) => THREADS_HINT,
        }
    }
}

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Serves the client at standard input and output, until it closes them or `shutdown` is over. What is under way then has
/// `grace` to end, and is ended after that; either way it is recorded when this returns. Gives the time by which the server has
/// to be gone.
pub(crate) async fn serve(
    server: Server,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) -> Result<Instant, StdioError> {
    let (input, output) = taken()?;
    let calls = server.calls().clone();
    let transport = Messages::new(Lines::new(input, MESSAGE_LIMIT), output);
    let hung_up = transport.ended().clone();
    let stop = tokio_util::sync::CancellationToken::new();
    let mut session = Box::pin(async {
        match Box::pin(serve_server_with_ct(server, transport, stop.clone())).await {
            Ok(service) => drop(service.waiting().await),
            // A client that goes before it says anything wants nothing.
            Err(error) => tracing::debug!(%error, "the client did not begin a session"),
        }
    });
    let goes_on = tokio::select! {
        () = &mut session => false,
        // The library waits some seconds before it says so.
        () = hung_up.cancelled() => true,
        () = shutdown => true,
    };
    let deadline = Instant::now() + grace + LAST;
    calls.close(grace).await;
    stop.cancel();
    if goes_on {
        // A client that does not read may hold the last answer up.
        let left = deadline.saturating_duration_since(Instant::now());
        let _ = tokio::time::timeout(left, session).await;
    }
    Ok(deadline)
}

/// Takes standard input and output away from the process.
fn taken() -> Result<(Input, Output), StdioError> {
    let own = || Ok((io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?));
    let (input, output) = own().map_err(StdioError::Streams)?;
    let streams = (readable(&input), writable(&output));
    let (Some(input), Some(output)) = streams else {
        // Neither pipes nor sockets: a file or a terminal, which somebody tries by hand; or the pipes of another user.
        return Ok((Box::new(read_on_a_thread()?), Box::new(tokio::io::stdout())));
    };
    put_aside().map_err(StdioError::Streams)?;
    Ok((input, output))
}

/// Leaves nothing of the client at the numbers that everybody knows.
fn put_aside() -> io::Result<()> {
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
    Ok(())
}

/// Standard input, read on a thread of its own: it waits for as long as nothing comes, and a blocking thread of the runtime
/// that did so would be missing to the tools.
fn read_on_a_thread() -> Result<UnixStream, StdioError> {
    let (mut fill, drain) = StdUnixStream::pair().map_err(StdioError::Streams)?;
    // What is read after the server has gone is nobody's.
    let copy = move || drop(io::copy(&mut io::stdin(), &mut fill));
    thread::Builder::new().name("toolcell-stdin".to_owned()).spawn(copy).map_err(StdioError::Threads)?;
    drain.set_nonblocking(true).map_err(StdioError::Streams)?;
    UnixStream::from_std(drain).map_err(StdioError::Streams)
}

fn readable(fd: &OwnedFd) -> Option<Input> {
    match kind(fd)? {
        Stream::Pipe => Some(Box::new(pipe::Receiver::from_file(opened(fd, OpenOptions::new().read(true))?).ok()?)),
        Stream::Socket => socket(fd).map(|socket| Box::new(socket) as Input),
    }
}

fn writable(fd: &OwnedFd) -> Option<Output> {
    match kind(fd)? {
        Stream::Pipe => Some(Box::new(pipe::Sender::from_file(opened(fd, OpenOptions::new().write(true))?).ok()?)),
        Stream::Socket => socket(fd).map(|socket| Box::new(socket) as Output),
    }
}

enum Stream {
    Pipe,
    Socket,
}

fn kind(fd: &OwnedFd) -> Option<Stream> {
    let kind = File::from(fd.try_clone().ok()?).metadata().ok()?.file_type();
    if kind.is_fifo() {
        Some(Stream::Pipe)
    } else if kind.is_socket() {
        Some(Stream::Socket)
    } else {
        None
    }
}

/// The same pipe, opened anew: that it does not block is then nobody else's business who has it open.
fn opened(fd: &OwnedFd, options: &mut OpenOptions) -> Option<File> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    options.custom_flags(nonblocking).open(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()
}

/// A socket cannot be opened anew. Its end is ours alone.
fn socket(fd: &OwnedFd) -> Option<UnixStream> {
    let socket = StdUnixStream::from(fd.try_clone().ok()?);
    socket.set_nonblocking(true).ok()?;
    UnixStream::from_std(socket).ok()
}
