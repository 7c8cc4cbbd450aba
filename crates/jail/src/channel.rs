//! The channel between host and worker: length-prefixed frames over a pair of sockets.
//!
//! Invariant: the buffer of a frame grows only with the bytes received, and no frame exceeds the
//! limit of its receiver.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use serde::{Deserialize, Serialize};
use toolcell_protocol::{decode, encode};

/// The size of the length prefix in bytes.
const PREFIX_BYTES: usize = 4;
/// The maximum size of one read in bytes.
const READ_BYTES: usize = 64 << 10;

/// One end of the channel.
pub(crate) struct Channel {
    socket: UnixStream,
    /// Received bytes.
    inbound: Vec<u8>,
    /// The number of received bytes that were returned to the caller.
    consumed: usize,
    read_buffer: Box<[u8]>,
}

/// An error that ends the conversation.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
pub(crate) enum ChannelError {
    /// The peer has closed the channel.
    #[error("it closed the pipe")]
    Closed,
    /// The peer announces a frame that exceeds the limit.
    #[error("it announced a frame of {length} bytes, the limit is {limit}")]
    TooLong { length: usize, limit: usize },
    /// The frame cannot be encoded or decoded.
    #[error("it sent an invalid frame")]
    Malformed,
    /// The socket fails.
    #[error("the pipe to it failed: {0}")]
    Io(#[from] Errno),
    /// The caller stopped waiting.
    #[error("it did not respond")]
    TimedOut,
}

/// A decision to keep waiting or to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitMode {
    KeepWaiting,
    GiveUp,
}

impl Channel {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, inbound: Vec::new(), consumed: 0, read_buffer: vec![0; READ_BYTES].into() }
    }

    /// Sets the interval at which blocking operations return to consult their callback.
    pub(crate) fn set_poll_interval(&self, tick: Duration) -> std::io::Result<()> {
        self.socket.set_read_timeout(Some(tick))?;
        self.socket.set_write_timeout(Some(tick))
    }

    /// Returns the socket, for [`try_send`](Self::try_send) between two frames.
    pub(crate) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// Sends a frame. The callback decides at each interval whether to keep waiting.
    pub(crate) fn send<T: Serialize>(
        &mut self,
        frame: &T,
        mut patient: impl FnMut() -> WaitMode,
    ) -> Result<(), ChannelError> {
        let content = encode(frame).map_err(|_| ChannelError::Malformed)?;
        let length = u32::try_from(content.len())
            .map_err(|_| ChannelError::TooLong { length: content.len(), limit: u32::MAX as usize })?;
        let mut bytes = Vec::with_capacity(PREFIX_BYTES + content.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&content);
        let mut rest = &*bytes;
        while !rest.is_empty() {
            match send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if patient() == WaitMode::KeepWaiting => {}
                Err(Errno::AGAIN) => return Err(ChannelError::TimedOut),
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(ChannelError::Closed),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Tries to send a short frame without blocking, while another frame is awaited. Returns
    /// whether it was sent.
    pub(crate) fn try_send<T: Serialize>(socket: &UnixStream, frame: &T) -> bool {
        let Ok(content) = encode(frame) else { return false };
        let mut bytes = u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        bytes.extend_from_slice(&content);
        send(socket, &bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) == Ok(bytes.len())
    }

    /// Receives the next frame. The callback decides at each interval whether to keep waiting.
    pub(crate) fn recv<'a, T: Deserialize<'a>>(
        &'a mut self,
        limit: usize,
        patient: impl FnMut(&UnixStream) -> WaitMode,
    ) -> Result<T, ChannelError> {
        decode(self.recv_bytes(limit, patient)?).map_err(|_| ChannelError::Malformed)
    }

    /// Receives the bytes of the next frame.
    pub(crate) fn recv_bytes(
        &mut self,
        limit: usize,
        mut patient: impl FnMut(&UnixStream) -> WaitMode,
    ) -> Result<&[u8], ChannelError> {
        self.inbound.drain(..self.consumed);
        self.consumed = 0;
        if self.inbound.is_empty() {
            // Releases the memory of a large frame.
            self.inbound.shrink_to(READ_BYTES);
        }
        loop {
            if let Some(length) = self.next_frame_length() {
                if length > limit {
                    return Err(ChannelError::TooLong { length, limit });
                }
                if self.inbound.len() >= PREFIX_BYTES + length {
                    self.consumed = PREFIX_BYTES + length;
                    return Ok(&self.inbound[PREFIX_BYTES..self.consumed]);
                }
            }
            match recv(&self.socket, &mut *self.read_buffer, RecvFlags::empty()) {
                Ok((_, 0)) | Err(Errno::CONNRESET) => return Err(ChannelError::Closed),
                Ok((_, read)) => self.inbound.extend_from_slice(&self.read_buffer[..read]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if patient(&self.socket) == WaitMode::KeepWaiting => {}
                Err(Errno::AGAIN) => return Err(ChannelError::TimedOut),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the length of the next frame, if its prefix has arrived.
    fn next_frame_length(&self) -> Option<usize> {
        let prefix = self.inbound.first_chunk::<PREFIX_BYTES>()?;
        usize::try_from(u32::from_le_bytes(*prefix)).ok()
    }

    /// Returns whether unread data is available or the peer has closed the channel.
    pub(crate) fn has_pending_input(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        self.inbound.len() > self.consumed || !matches!(recv(&self.socket, &mut [0; 1], flags), Err(Errno::AGAIN))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn pair() -> (Channel, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Channel::new(ours);
        ours.set_poll_interval(Duration::from_millis(1)).unwrap();
        (ours, theirs)
    }

    fn impatient(_: &UnixStream) -> WaitMode {
        WaitMode::GiveUp
    }

    #[test]
    fn frames_come_as_they_were_sent_whatever_their_pieces() {
        let (mut ours, theirs) = pair();
        let mut theirs = Channel::new(theirs);
        let long = "x".repeat(3 * READ_BYTES);
        let saying = std::thread::spawn({
            let long = long.clone();
            move || {
                for text in ["a", "", &long, "b"] {
                    theirs.send(&text, || WaitMode::KeepWaiting).unwrap();
                }
            }
        });
        for text in ["a", "", &long, "b"] {
            assert_eq!(ours.recv::<String>(1 << 20, |_| WaitMode::KeepWaiting).unwrap(), text);
        }
        saying.join().unwrap();
        assert!(matches!(ours.recv::<String>(1, impatient), Err(ChannelError::Closed)));
    }

    #[test]
    fn what_a_hostile_worker_says_ends_the_conversation() {
        let check = |bytes: &[u8], expect: &str| {
            let (mut ours, mut theirs) = pair();
            theirs.write_all(bytes).unwrap();
            assert_eq!(ours.recv::<String>(100, impatient).unwrap_err().to_string(), expect);
            assert!(ours.inbound.capacity() <= 2 * READ_BYTES);
        };
        check(&[0xff; 4], "it announced a frame of 4294967295 bytes, the limit is 100");
        check(&[101, 0, 0, 0, 1], "it announced a frame of 101 bytes, the limit is 100");
        check(&[2, 0, 0, 0, 9, b'a'], "it sent an invalid frame");
        check(&[3, 0, 0, 0, 1, b'a', b'b'], "it sent an invalid frame");
        check(&[2, 0, 0, 0, 1], "it did not respond");
    }

    #[test]
    fn news_are_seen_without_being_heard() {
        let (mut ours, theirs) = pair();
        assert!(!ours.has_pending_input());
        let mut theirs = Channel::new(theirs);
        theirs.send(&1_u8, || WaitMode::KeepWaiting).unwrap();
        theirs.send(&2_u8, || WaitMode::KeepWaiting).unwrap();
        assert!(ours.has_pending_input());
        assert_eq!(ours.recv::<u8>(9, impatient).unwrap(), 1);
        assert!(ours.has_pending_input());
        assert_eq!(ours.recv::<u8>(9, impatient).unwrap(), 2);
        assert!(!ours.has_pending_input());
        drop(theirs);
        assert!(ours.has_pending_input());
    }
}
