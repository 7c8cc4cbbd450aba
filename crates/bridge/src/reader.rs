//! What a program writes: messages, of which none may be too long, and what it says on standard error.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::process::ChildStderr;
use tokio::sync::watch;
use toolcell_capabilities::Redactor;

/// The maximum length of a message in bytes.
pub(crate) const MAX_MESSAGE_BYTES: usize = 8 << 20;
/// How much of standard error is kept, in bytes.
const KEPT_STDERR_BYTES: usize = 64 << 10;
/// How much of it is shown, in characters.
const SHOWN_STDERR_CHARS: usize = 1_000;
/// How much is left out where the kept text begins in the middle: it may be the rest of a secret, whose longest encoding
/// takes three bytes for each of 8 KiB.
const CUT_STDERR_BYTES: usize = 24 << 10;
/// How many messages a server may send in a second, in the long run.
const MESSAGES_PER_SECOND: f64 = 1_000.0;
/// How many messages it may send at once.
const MESSAGE_BURST: f64 = 50_000.0;
/// How long a server may leave what it is sent unread while it sends messages itself.
const MAX_BLOCKED: Duration = Duration::from_secs(5);

/// Why a connection ended, as far as this side knows.
pub(crate) type EndReason = Arc<Mutex<Option<String>>>;

/// A reader that fails when a line gets too long: the call would wait for an answer that is dropped.
pub(crate) struct LineReader<R> {
    inner: R,
    /// The length of the current line so far.
    length: usize,
    /// The number of messages that may come now, and when that was counted.
    allowance: (f64, Instant),
    /// The number of messages that may come besides, because they may be answers.
    answers: u32,
    blocked: Blocked,
    reason: EndReason,
}

impl<R> LineReader<R> {
    pub(crate) fn new(inner: R, reason: EndReason, blocked: Blocked) -> Self {
        Self { inner, length: 0, allowance: (MESSAGE_BURST, Instant::now()), answers: 0, blocked, reason }
    }

    /// Returns what is wrong with what was read, if anything is.
    fn check(&mut self, read: &[u8]) -> Option<String> {
        self.length = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => read.len() - end - 1,
            None => self.length.saturating_add(read.len()),
        };
        if self.length > MAX_MESSAGE_BYTES {
            return Some(format!("it sent a message of more than {} MiB", MAX_MESSAGE_BYTES >> 20));
        }
        let lines = u32::try_from(read.split(|byte| *byte == b'\n').count() - 1).unwrap_or(u32::MAX);
        let (allowed, counted) = self.allowance;
        let earned = counted.elapsed().as_secs_f64() * MESSAGES_PER_SECOND;
        // A message that this side sent may be answered at any time.
        self.answers = self.answers.saturating_add(self.blocked.sent.swap(0, Ordering::Relaxed));
        let unasked = lines.saturating_sub(self.answers);
        self.answers = self.answers.saturating_sub(lines);
        let left = (allowed + earned).min(MESSAGE_BURST) - f64::from(unasked);
        self.allowance = (left, Instant::now());
        if left < 0.0 {
            return Some("it floods this side with messages".to_owned());
        }
        // Each message may have to be answered, and answers that are not read pile up.
        let blocked = self.blocked.since.lock().unwrap_or_else(PoisonError::into_inner);
        let is_blocked = blocked.is_some_and(|since| since.elapsed() > MAX_BLOCKED);
        is_blocked.then(|| "it does not read what it is sent".to_owned())
    }
}

/// How the writer to a server is doing.
#[derive(Clone, Default)]
pub(crate) struct Blocked {
    /// Since when the server has not read what it is sent.
    since: Arc<Mutex<Option<Instant>>>,
    /// The number of messages that were sent since the reader looked.
    sent: Arc<AtomicU32>,
}

/// A writer that notes since when it cannot write.
pub(crate) struct WatchedWriter<W> {
    inner: W,
    blocked: Blocked,
}

impl<W> WatchedWriter<W> {
    pub(crate) fn new(inner: W, blocked: Blocked) -> Self {
        Self { inner, blocked }
    }

    fn note<T>(&self, polled: Poll<T>) -> Poll<T> {
        let mut blocked = self.blocked.since.lock().unwrap_or_else(PoisonError::into_inner);
        *blocked = if polled.is_pending() { blocked.or_else(|| Some(Instant::now())) } else { None };
        polled
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for WatchedWriter<W> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(context, bytes);
        if let Poll::Ready(Ok(written)) = &polled {
            let sent = bytes[..*written].split(|byte| *byte == b'\n').count() - 1;
            self.blocked.sent.fetch_add(u32::try_from(sent).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
        self.note(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(context);
        self.note(polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        if let Some(why) = self.check(&buffer.filled()[before..]) {
            *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
        }
        Poll::Ready(Ok(()))
    }
}

/// How long the last words of a program that ended are waited for.
const LAST_WORDS_TIME: Duration = Duration::from_millis(200);

/// The end of what a program wrote to standard error.
#[derive(Clone, Default)]
pub(crate) struct StderrTail(Arc<Mutex<KeptText>>, Option<watch::Receiver<()>>);

#[derive(Default)]
struct KeptText {
    bytes: Vec<u8>,
    /// Whether its beginning was dropped.
    is_cut: bool,
}

impl StderrTail {
    /// Starts to read what the program writes.
    pub(crate) fn collect(stderr: ChildStderr) -> Self {
        let (open, closed) = watch::channel(());
        let tail = Self(Arc::default(), Some(closed));
        tokio::spawn(tail.clone().read(stderr, open));
        tail
    }

    /// Reads until the program closes its standard error.
    async fn read(self, mut stderr: ChildStderr, _open: watch::Sender<()>) {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.bytes.extend_from_slice(&buffer[..count]);
            let excess = kept.bytes.len().saturating_sub(KEPT_STDERR_BYTES);
            kept.is_cut |= excess > 0;
            kept.bytes.drain(..excess);
        }
    }

    /// Returns the last words, without the secrets, once the program has closed its standard error or shortly after.
    pub(crate) async fn text(&self, redactor: &Redactor) -> String {
        if let Some(mut closed) = self.1.clone() {
            // Only the end of the sender is waited for.
            let _ = tokio::time::timeout(LAST_WORDS_TIME, closed.changed()).await;
        }
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = redactor.redact_text(&String::from_utf8_lossy(&kept.bytes));
        // A secret whose beginning was dropped is not recognized.
        let whole =
            text.get(text.ceil_char_boundary(if kept.is_cut { CUT_STDERR_BYTES } else { 0 })..).unwrap_or_default();
        let start = whole.char_indices().rev().nth(SHOWN_STDERR_CHARS - 1).map_or(0, |(at, _)| at);
        whole[start..].trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn a_flood_of_messages_ends_the_reader() {
        let input = b"{}\n".repeat(200_000);
        let mut reader = LineReader::new(&input[..], EndReason::default(), Blocked::default());
        let error = reader.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "it floods this side with messages");
    }

    #[tokio::test]
    async fn answers_are_no_flood() {
        let blocked = Blocked::default();
        let mut writer = WatchedWriter::new(tokio::io::sink(), blocked.clone());
        writer.write_all(&b"{}\n".repeat(150_000)).await.unwrap();
        let answers = b"{}\n".repeat(150_000);
        let mut reader = LineReader::new(&answers[..], EndReason::default(), blocked.clone());
        reader.read_to_end(&mut Vec::new()).await.unwrap();
        // Each is counted once.
        let mut reader = LineReader::new(&answers[..], EndReason::default(), blocked);
        reader.read_to_end(&mut Vec::new()).await.unwrap_err();
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_ends_the_reader() {
        let reason = EndReason::default();
        let mut input = vec![b'a'; MAX_MESSAGE_BYTES];
        input.push(b'\n');
        input.extend(vec![b'b'; MAX_MESSAGE_BYTES + 1]);
        let mut reader = LineReader::new(&input[..], Arc::clone(&reason), Blocked::default());
        let mut read = Vec::new();
        let error = reader.read_to_end(&mut read).await.unwrap_err();
        assert_eq!(error.to_string(), "it sent a message of more than 8 MiB");
        assert!(read.len() <= input.len() && reason.lock().unwrap().is_some());
    }
}
