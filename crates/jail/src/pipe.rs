//! The only way between host and worker: frames over a pair of sockets.
//!
//! Invariant: no more memory is taken for a frame than came of it, and none is longer than whoever waits for it says.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use serde::{Deserialize, Serialize};
use toolcell_protocol::{decode, encode};

/// Bytes of the number that a frame begins with.
const PREFIX: usize = 4;
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// One end.
pub(crate) struct Pipe {
    socket: UnixStream,
    /// What came in.
    inbound: Vec<u8>,
    /// How much of that was given out.
    given: usize,
    piece: Box<[u8]>,
}

/// What ends a conversation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// The other one has gone.
    #[error("it has gone")]
    Closed,
    /// It is about to say more than it can have to say.
    #[error("it is about to say {length} bytes, where {limit} is the most")]
    TooLong { length: usize, limit: usize },
    /// It says what nobody says.
    #[error("it says what is no frame")]
    Malformed,
    /// The machine fails.
    #[error("the pipe to it fails: {0}")]
    Machine(#[from] Errno),
    /// Whoever waits has waited long enough.
    #[error("it does not answer")]
    GivenUp,
}

/// Whether to wait on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patient {
    Yes,
    No,
}

impl Pipe {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, inbound: Vec::new(), given: 0, piece: vec![0; PIECE].into() }
    }

    /// Makes every wait come back from time to time, so that whoever waits can look at something else.
    pub(crate) fn look_up_every(&self, tick: Duration) -> std::io::Result<()> {
        self.socket.set_read_timeout(Some(tick))?;
        self.socket.set_write_timeout(Some(tick))
    }

    /// Says something.
    pub(crate) fn say<T: Serialize>(&mut self, frame: &T, mut patient: impl FnMut() -> Patient) -> Result<(), Broken> {
        let content = encode(frame).map_err(|_| Broken::Malformed)?;
        let length = u32::try_from(content.len())
            .map_err(|_| Broken::TooLong { length: content.len(), limit: u32::MAX as usize })?;
        let mut bytes = Vec::with_capacity(PREFIX + content.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&content);
        let mut rest = &*bytes;
        while !rest.is_empty() {
            match send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if patient() == Patient::Yes => {}
                Err(Errno::AGAIN) => return Err(Broken::GivenUp),
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(Broken::Closed),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Says something short while somebody listens, if there is room for it.
    pub(crate) fn push<T: Serialize>(socket: &UnixStream, frame: &T) -> bool {
        let Ok(content) = encode(frame) else { return false };
        let mut bytes = u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        bytes.extend_from_slice(&content);
        send(socket, &bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) == Ok(bytes.len())
    }

    /// What the other one says next. `patient` is asked at each tick.
    pub(crate) fn hear<'a, T: Deserialize<'a>>(
        &'a mut self,
        limit: usize,
        patient: impl FnMut(&UnixStream) -> Patient,
    ) -> Result<T, Broken> {
        decode(self.hear_bytes(limit, patient)?).map_err(|_| Broken::Malformed)
    }

    /// The bytes of the next frame.
    pub(crate) fn hear_bytes(
        &mut self,
        limit: usize,
        mut patient: impl FnMut(&UnixStream) -> Patient,
    ) -> Result<&[u8], Broken> {
        self.inbound.drain(..self.given);
        self.given = 0;
        if self.inbound.is_empty() {
            // One long frame does not hold its memory for ever.
            self.inbound.shrink_to(PIECE);
        }
        loop {
            if let Some(length) = self.length() {
                if length > limit {
                    return Err(Broken::TooLong { length, limit });
                }
                if self.inbound.len() >= PREFIX + length {
                    self.given = PREFIX + length;
                    return Ok(&self.inbound[PREFIX..self.given]);
                }
            }
            match recv(&self.socket, &mut *self.piece, RecvFlags::empty()) {
                Ok((_, 0)) | Err(Errno::CONNRESET) => return Err(Broken::Closed),
                Ok((_, read)) => self.inbound.extend_from_slice(&self.piece[..read]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if patient(&self.socket) == Patient::Yes => {}
                Err(Errno::AGAIN) => return Err(Broken::GivenUp),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// How long the next frame is, if that is known.
    fn length(&self) -> Option<usize> {
        let prefix = self.inbound.first_chunk::<PREFIX>()?;
        usize::try_from(u32::from_le_bytes(*prefix)).ok()
    }

    /// Whether the other one has said something that was not heard, or has gone.
    pub(crate) fn has_news(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        self.inbound.len() > self.given || !matches!(recv(&self.socket, &mut [0; 1], flags), Err(Errno::AGAIN))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn pair() -> (Pipe, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Pipe::new(ours);
        ours.look_up_every(Duration::from_millis(1)).unwrap();
        (ours, theirs)
    }

    fn impatient(_: &UnixStream) -> Patient {
        Patient::No
    }

    #[test]
    fn frames_come_as_they_were_sent_whatever_their_pieces() {
        let (mut ours, theirs) = pair();
        let mut theirs = Pipe::new(theirs);
        let long = "x".repeat(3 * PIECE);
        let saying = std::thread::spawn({
            let long = long.clone();
            move || {
                for text in ["a", "", &long, "b"] {
                    theirs.say(&text, || Patient::Yes).unwrap();
                }
            }
        });
        for text in ["a", "", &long, "b"] {
            assert_eq!(ours.hear::<String>(1 << 20, |_| Patient::Yes).unwrap(), text);
        }
        saying.join().unwrap();
        assert!(matches!(ours.hear::<String>(1, impatient), Err(Broken::Closed)));
    }

    #[test]
    fn what_a_hostile_worker_says_ends_the_conversation() {
        let check = |bytes: &[u8], expect: &str| {
            let (mut ours, mut theirs) = pair();
            theirs.write_all(bytes).unwrap();
            assert_eq!(ours.hear::<String>(100, impatient).unwrap_err().to_string(), expect);
            assert!(ours.inbound.capacity() <= 2 * PIECE);
        };
        check(&[0xff; 4], "it is about to say 4294967295 bytes, where 100 is the most");
        check(&[101, 0, 0, 0, 1], "it is about to say 101 bytes, where 100 is the most");
        check(&[2, 0, 0, 0, 9, b'a'], "it says what is no frame");
        check(&[3, 0, 0, 0, 1, b'a', b'b'], "it says what is no frame");
        check(&[2, 0, 0, 0, 1], "it does not answer");
    }

    #[test]
    fn news_are_seen_without_being_heard() {
        let (mut ours, theirs) = pair();
        assert!(!ours.has_news());
        let mut theirs = Pipe::new(theirs);
        theirs.say(&1_u8, || Patient::Yes).unwrap();
        theirs.say(&2_u8, || Patient::Yes).unwrap();
        assert!(ours.has_news());
        assert_eq!(ours.hear::<u8>(9, impatient).unwrap(), 1);
        assert!(ours.has_news());
        assert_eq!(ours.hear::<u8>(9, impatient).unwrap(), 2);
        assert!(!ours.has_news());
        drop(theirs);
        assert!(ours.has_news());
    }
}
