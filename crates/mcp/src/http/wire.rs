//! A connection that nobody can hold for ever.
//!
//! Invariant: whoever reads too slowly, writes too slowly, or neither reads nor writes, loses the connection after the time
//! that the config gives. Whoever ends only the way towards us still gets the answer, if it comes soon: a client that
//! vanished looks the same, and what nobody waits for should not run on.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::Times;

/// How much is read at once of what nobody wants.
const LEFTOVER: usize = 16 * 1024;

/// What a connection is about just now; the requests say so, and the wire reads it.
pub(super) struct Activity(Mutex<State>);

struct State {
    phase: Phase,
    since: Instant,
    /// The number of the exchange that the phase is about.
    number: u64,
    reader: Option<Waker>,
    leftover: bool,
    /// Since when the client reads nothing of what is to be written.
    stuck: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing.
    Idle,
    /// A request began to come.
    Head,
    /// The head of a request was read, its body is.
    Body,
    /// A request was read, and its answer is made or written.
    Answering,
}

/// A request and its answer, until this is dropped.
pub(super) struct Exchange {
    activity: Arc<Activity>,
    number: u64,
}

impl Activity {
    pub(super) fn new() -> Arc<Self> {
        let state =
            State { phase: Phase::Idle, since: Instant::now(), number: 0, reader: None, leftover: false, stuck: None };
        Arc::new(Self(Mutex::new(state)))
    }

    /// The head of a request was read.
    pub(super) fn exchange(self: &Arc<Self>) -> Exchange {
        let mut state = self.state();
        state.number += 1;
        state.leftover = true;
        let number = state.number;
        state.turn(Phase::Body);
        drop(state);
        Exchange { activity: Arc::clone(self), number }
    }

    /// Whether a request was not read to its end.
    pub(super) fn leaves_something(&self) -> bool {
        self.state().leftover
    }

    /// Whether it is about nothing: what was asked for is answered, and the client has all of it.
    pub(super) fn rests(&self) -> bool {
        let state = self.state();
        state.phase == Phase::Idle && !state.leftover && state.stuck.is_none()
    }

    /// Whoever reads has another time to keep now.
    fn wake_reader(&self) {
        let reader = self.state().reader.take();
        reader.into_iter().for_each(Waker::wake);
    }

    fn received(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            state.turn(Phase::Head);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn turn(&mut self, phase: Phase) {
        self.phase = phase;
        self.since = Instant::now();
    }
}

impl Exchange {
    /// The request was read to its end.
    pub(super) fn is_read(&self) {
        let mut state = self.activity.state();
        state.leftover = false;
        state.turn(Phase::Answering);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        if state.number == self.number {
            state.turn(Phase::Idle);
            drop(state);
            self.activity.wake_reader();
        }
    }
}

/// A connection with times.
pub(super) struct Wire {
    stream: TcpStream,
    activity: Arc<Activity>,
    times: Times,
    /// When the client ended its way towards us.
    ended: Option<Instant>,
    reading: Alarm,
    writing: Alarm,
    /// What was read before and is to be read again.
    unread: Bytes,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, activity: Arc<Activity>, times: Times) -> Self {
        let (reading, writing) = (Alarm::default(), Alarm::default());
        Self { stream, activity, times, ended: None, reading, writing, unread: Bytes::new() }
    }

    /// Waits until there is something to read, or the end; false where nothing came for too long.
    pub(super) async fn wakes(&mut self) -> bool {
        if !self.unread.is_empty() {
            return true;
        }
        tokio::time::timeout(self.times.idle, self.stream.readable()).await.is_ok_and(|readable| readable.is_ok())
    }

    /// Gives back what was read already, to be read once more.
    pub(super) fn unread(&mut self, bytes: Bytes) {
        self.unread = bytes;
    }

    /// Takes leave of a client that still sends what nobody reads: without that it would see a broken connection in place
    /// of the answer.
    pub(super) async fn take_leave(mut self) {
        let times = self.times;
        let leave = async {
            self.stream.shutdown().await?;
            let mut leftover = vec![0; LEFTOVER];
            while self.stream.read(&mut leftover).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        let _ = tokio::time::timeout(times.leave, leave).await;
    }

    /// What a write came to, with the time that it may take.
    fn in_time(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let mut state = self.activity.state();
        if written.is_ready() {
            let was_stuck = state.stuck.take().is_some();
            drop(state);
            if was_stuck {
                self.activity.wake_reader();
            }
            return written;
        }
        let since = *state.stuck.get_or_insert_with(Instant::now);
        drop(state);
        if self.writing.rings(cx, since + self.times.write) {
            return Poll::Ready(Err(timed_out("the client does not read", self.times.write)));
        }
        Poll::Pending
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.unread.is_empty() {
            let read = this.unread.split_to(this.unread.len().min(buf.remaining()));
            buf.put_slice(&read);
            this.activity.received();
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        if this.ended.is_none() {
            match Pin::new(&mut this.stream).poll_read(cx, buf) {
                Poll::Ready(Ok(())) if buf.filled().len() > before || buf.remaining() == 0 => {
                    this.activity.received();
                    return Poll::Ready(Ok(()));
                }
                Poll::Ready(Ok(())) => this.ended = Some(Instant::now()),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {}
            }
        }
        let mut state = this.activity.state();
        let until = match (this.ended, state.phase) {
            // Something is still to be written, and that has its own time.
            _ if state.stuck.is_some() => None,
            (Some(at), Phase::Answering) => Some(at + this.times.half_closed),
            (Some(_), _) => return Poll::Ready(Ok(())),
            (None, Phase::Idle) => Some(state.since + this.times.idle),
            (None, Phase::Head) => Some(state.since + this.times.head),
            (None, Phase::Body | Phase::Answering) => None,
        };
        state.reader = Some(cx.waker().clone());
        let phase = state.phase;
        drop(state);
        match until {
            Some(until) if this.reading.rings(cx, until) => match phase {
                Phase::Head => Poll::Ready(Err(timed_out("the head of a request did not come", this.times.head))),
                _ => Poll::Ready(Ok(())),
            },
            _ => Poll::Pending,
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.in_time(cx, written)
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

/// A timer that is made when it is first needed.
#[derive(Default)]
struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Whether it is that time; if not, the task is woken when it is.
    fn rings(&mut self, cx: &mut Context<'_>, at: Instant) -> bool {
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
