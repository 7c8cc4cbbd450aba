//! A connection with timeouts for reading, writing and idling.
//!
//! It is written by hand on `tokio::net::TcpStream`: hyper has a timeout for request heads only, and
//! the timeouts of tower and `tower_http` begin when a head is complete and do not see the socket.
//! A client that sends a head byte by byte, or that does not read its response, would stay.
//!
//! Invariant: a client that reads too slowly, writes too slowly or does neither is disconnected
//! after the configured time. A client that closes only its sending side still gets a response that
//! is ready soon; it looks the same as a client that vanished, whose calls should not run on.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::Timeouts;

/// The size of the buffer for discarded input, in bytes.
const DRAIN_CHUNK_BYTES: usize = 16 * 1024;

/// What a connection is doing; requests update it, and the connection reads it.
pub(super) struct IdleTracker(Mutex<ConnectionState>);

struct ConnectionState {
    phase: Phase,
    since: Instant,
    /// The exchange that the phase belongs to.
    exchange_id: u64,
    reader: Option<Waker>,
    has_unread_body: bool,
    /// Since when the client has not read pending output.
    write_blocked_since: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Waiting for a request.
    Idle,
    /// A request head is being received.
    Head,
    /// The head has been received; the body is being read.
    Body,
    /// The request has been read; the response is being computed or sent.
    Answering,
}

/// A request and its response, until this is dropped.
#[must_use]
pub(super) struct Exchange {
    activity: Arc<IdleTracker>,
    id: u64,
}

impl IdleTracker {
    pub(super) fn new() -> Arc<Self> {
        let state = ConnectionState {
            phase: Phase::Idle,
            since: Instant::now(),
            exchange_id: 0,
            reader: None,
            has_unread_body: false,
            write_blocked_since: None,
        };
        Arc::new(Self(Mutex::new(state)))
    }

    /// Starts an exchange: a request head has been received.
    pub(super) fn start_exchange(self: &Arc<Self>) -> Exchange {
        let mut state = self.state();
        state.exchange_id += 1;
        state.has_unread_body = true;
        let number = state.exchange_id;
        state.enter(Phase::Body);
        drop(state);
        Exchange { activity: Arc::clone(self), id: number }
    }

    /// Marks the current request as completely read.
    pub(super) fn mark_read(&self) {
        let mut state = self.state();
        state.has_unread_body = false;
        state.enter(Phase::Answering);
    }

    /// Whether a request was not read to its end.
    pub(super) fn has_unread_body(&self) -> bool {
        self.state().has_unread_body
    }

    /// Whether the connection is idle: all responses have been received by the client.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.state();
        state.phase == Phase::Idle && !state.has_unread_body && state.write_blocked_since.is_none()
    }

    /// Wakes the reading task, because its deadline changed.
    fn wake_reader(&self) {
        let reader = self.state().reader.take();
        reader.into_iter().for_each(Waker::wake);
    }

    fn record_read(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            state.enter(Phase::Head);
        }
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionState {
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.since = Instant::now();
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        if state.exchange_id == self.id {
            state.enter(Phase::Idle);
            drop(state);
            self.activity.wake_reader();
        }
    }
}

/// A TCP connection with timeouts.
pub(super) struct Connection {
    stream: TcpStream,
    activity: Arc<IdleTracker>,
    timeouts: Timeouts,
    /// When the client closed its sending side.
    read_closed_at: Option<Instant>,
    read_timer: LazyTimer,
    write_timer: LazyTimer,
    /// Bytes that were read before and are returned by the next read.
    buffered: Bytes,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, activity: Arc<IdleTracker>, times: Timeouts) -> Self {
        let (reading, writing) = (LazyTimer::default(), LazyTimer::default());
        Self {
            stream,
            activity,
            timeouts: times,
            read_closed_at: None,
            read_timer: reading,
            write_timer: writing,
            buffered: Bytes::new(),
        }
    }

    /// Waits until the socket is readable or closed. Returns false if it stayed idle for too long.
    pub(super) async fn wait_readable(&mut self) -> bool {
        if !self.buffered.is_empty() {
            return true;
        }
        tokio::time::timeout(self.timeouts.idle, self.stream.readable()).await.is_ok_and(|readable| readable.is_ok())
    }

    /// Returns bytes to the connection, to be read again.
    pub(super) fn push_back(&mut self, bytes: Bytes) {
        self.buffered = bytes;
    }

    /// Closes the sending side and discards input for a while. Closing at once would reset the
    /// connection, and a client that is still sending would not see the response.
    pub(super) async fn close_lingering(mut self) {
        let times = self.timeouts;
        let leave = async {
            self.stream.shutdown().await?;
            let mut leftover = vec![0; DRAIN_CHUNK_BYTES];
            while self.stream.read(&mut leftover).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        let _ = tokio::time::timeout(times.linger, leave).await;
    }

    /// Applies the write timeout to the result of a write.
    fn with_write_timeout(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut state = self.activity.state();
        if written.is_ready() {
            let was_stuck = state.write_blocked_since.take().is_some();
            drop(state);
            if was_stuck {
                self.activity.wake_reader();
            }
            return written;
        }
        let since = *state.write_blocked_since.get_or_insert_with(Instant::now);
        drop(state);
        if self.write_timer.poll_expired(cx, since + self.timeouts.write) {
            return Poll::Ready(Err(timed_out("the client did not read the response", self.timeouts.write)));
        }
        Poll::Pending
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.buffered.is_empty() {
            let read = this.buffered.split_to(this.buffered.len().min(buf.remaining()));
            buf.put_slice(&read);
            this.activity.record_read();
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        if this.read_closed_at.is_none() {
            match Pin::new(&mut this.stream).poll_read(cx, buf) {
                Poll::Ready(Ok(())) if buf.filled().len() > before || buf.remaining() == 0 => {
                    this.activity.record_read();
                    return Poll::Ready(Ok(()));
                }
                Poll::Ready(Ok(())) => this.read_closed_at = Some(Instant::now()),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {}
            }
        }
        let mut state = this.activity.state();
        let until = match (this.read_closed_at, state.phase) {
            // Pending output has a timeout of its own.
            _ if state.write_blocked_since.is_some() => None,
            (Some(at), Phase::Answering) => Some(at + this.timeouts.half_closed),
            (Some(_), _) => return Poll::Ready(Ok(())),
            (None, Phase::Idle) => Some(state.since + this.timeouts.idle),
            (None, Phase::Head) => Some(state.since + this.timeouts.head),
            (None, Phase::Body | Phase::Answering) => None,
        };
        state.reader = Some(cx.waker().clone());
        let phase = state.phase;
        drop(state);
        match until {
            Some(until) if this.read_timer.poll_expired(cx, until) => match phase {
                Phase::Head => Poll::Ready(Err(timed_out("the request head was not received", this.timeouts.head))),
                _ => Poll::Ready(Ok(())),
            },
            _ => Poll::Pending,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.with_write_timeout(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.with_write_timeout(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A timer that is allocated on first use.
#[derive(Default)]
struct LazyTimer(Option<Pin<Box<Sleep>>>);

impl LazyTimer {
    /// Whether the time has come; otherwise the task is woken then.
    fn poll_expired(&mut self, cx: &mut Context<'_>, at: Instant) -> bool {
        let sleep = self.0.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(cx).is_ready()
    }
}

fn timed_out(what: &str, limit: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{what} within {} ms", limit.as_millis()))
}
