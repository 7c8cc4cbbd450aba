//! Appends a line: finds where the log ends, mends what a crash left there, and writes once.
//!
//! Invariant: a line that was acknowledged stays. What is cut off is the beginning of a line that nobody was told of;
//! where the head file knows of more lines than there are, the chain goes on from the head, so that the loss stays
//! visible as a gap.

use std::fs::File;
use std::hint::spin_loop;
use std::io::{self, ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use super::AuditConfig;
use super::attempt::{Attempt, Contents};
use super::files::{CURRENT, Files, Kept, Locked, Opened, Part, Place, fault};
use super::head::Head;
use super::line::{self, Link, Repair};
use super::pieces::{Backwards, Piece};
use crate::error::Fault;
use crate::index::Durability;
use crate::wait::LOG;

/// How long one waits at a log that was locked for too long already.
const NO_PATIENCE: Duration = Duration::from_millis(20);
/// How often one tries before one sleeps, and how many pauses of some 20 ns are in between.
const TRIES: u32 = 64;
const PAUSES: u32 = 16;

/// Appends for this process.
#[derive(Default)]
pub(super) struct Appender {
    /// How this process left the log.
    left: Mutex<Option<Left>>,
    /// Whether somebody had locked the log for too long: until that ends nobody else waits so long.
    stuck: AtomicBool,
}

/// The files that were written, as long as nobody else touches them.
struct Left {
    lock: Opened,
    file: File,
    place: Place,
    len: u64,
    head: Head,
}

impl Appender {
    /// Appends a line, and says which one it is. `witness` is a line that is known to have been there.
    pub(super) fn append(
        &self,
        files: &Files,
        config: &AuditConfig,
        text: Text<'_>,
        witness: Option<Head>,
    ) -> Result<Head, Fault> {
        let mut left = soon(&self.left);
        // Until everything has gone well, what is known of the files is not relied on.
        let before = left.take();
        let lock = self.lock(files, before.as_ref().map(|left| left.lock.clone()))?;
        let mut end = End::find(files, &lock, before, witness)?;
        let line = text.linked(config.contents, &end.head, end.repair).map_err(fault(CURRENT))?;
        if end.len > 0 && end.len.saturating_add(line.len() as u64) > config.file_limit {
            files.put_aside()?;
            let file = files.open_current()?;
            let place = Place::of(&file).map_err(fault(CURRENT))?;
            end = End { file, place, len: 0, ..end };
        }
        let known = end.write(files, &lock, &line, config.durability)?;
        let head = known.head;
        *left = Some(known);
        Ok(head)
    }
}

/// What a line is made of.
#[derive(Clone, Copy)]
pub(super) enum Text<'a> {
    /// An attempt.
    Attempt(&'a Attempt<'a>),
    /// A line that was rendered for the start of the chain.
    Rendered(&'a str),
}

impl Text<'_> {
    /// The line, after the one before it.
    fn linked(self, contents: Contents, before: &Head, repair: Option<Repair>) -> io::Result<Vec<u8>> {
        match self {
            Self::Attempt(attempt) => Ok(line::render(attempt, contents, before, repair)?),
            Self::Rendered(rendered) => line::relink(rendered, before, repair)
                .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "a line that waited is none")),
        }
    }
}

impl Appender {
    /// The last line that this process appended, where nobody else has to be asked.
    pub(super) fn head(&self) -> Option<Head> {
        soon(&self.left).as_ref().map(|left| left.head)
    }

    fn lock(&self, files: &Files, open: Option<Opened>) -> Result<Locked, Fault> {
        let patience = if self.stuck.load(Ordering::Relaxed) { NO_PATIENCE } else { LOG };
        let locked = files.lock(open, patience);
        self.stuck.store(matches!(locked, Err(Fault::Busy { .. })), Ordering::Relaxed);
        locked
    }

    /// Makes what was appended outlast a loss of power, and says up to which line.
    pub(super) fn sync(&self, files: &Files) -> Result<Option<Head>, Fault> {
        let lock = self.lock(files, None)?;
        let Kept::Head(head) = lock.head()? else { return Ok(None) };
        drop(lock);
        // What is appended meanwhile may be synced or not. A piece that was put aside is synced as well.
        files.sync_all()?;
        Ok(Some(head))
    }
}

/// Waits for a thread that appends. A line takes some 8 µs, and to sleep and be woken takes longer: so it is tried for about
/// as long before this thread sleeps.
fn soon<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..TRIES {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => (0..PAUSES).for_each(|_| spin_loop()),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end of the log, under the lock.
struct End {
    file: File,
    place: Place,
    len: u64,
    head: Head,
    repair: Option<Repair>,
}

impl End {
    /// Opens the file and finds the last line. Where the file is as this process left it, both are known already.
    fn find(files: &Files, lock: &Locked, left: Option<Left>, witness: Option<Head>) -> Result<Self, Fault> {
        let now = files.place(CURRENT).map_err(fault(CURRENT))?;
        if let Some(Left { file, place, len, head, .. }) = left.filter(|left| Some((left.place, left.len)) == now) {
            return Ok(Self { file, place, len, head, repair: None });
        }
        let file = files.open_current()?;
        let len = file.metadata().map_err(fault(CURRENT))?.len();
        let place = Place::of(&file).map_err(fault(CURRENT))?;
        let mut end = Self { file, place, len, head: Head::START, repair: None };
        end.recover(files, lock, witness)?;
        Ok(end)
    }

    fn recover(&mut self, files: &Files, lock: &Locked, witness: Option<Head>) -> Result<(), Fault> {
        let (mut last, tail) = last_line(&self.file, self.len).map_err(fault(CURRENT))?;
        let mut numbers = if last.found { Vec::new() } else { files.numbers()? };
        while let (false, Some(number)) = (last.found, numbers.pop()) {
            let part = Part::Numbered(number);
            if let Some((file, len)) = files.read(part)? {
                last = last.before(last_line(&file, len).map_err(fault(&part.name()))?.0);
            }
        }
        self.head = last.head;
        let mut is_short = false;
        match lock.head()? {
            Kept::Head(head) if head.seq() >= last.head.seq() => {
                is_short = head.seq() > last.head.seq();
                self.head = head;
            }
            Kept::Damaged => lock.clear()?,
            Kept::Head(_) | Kept::Nothing => {}
        }
        // The index may know of lines that a loss of power took, with what the head file said of them.
        if let Some(witness) = witness.filter(|witness| witness.seq() > self.head.seq()) {
            is_short = true;
            self.head = witness;
        }
        match tail {
            0 => Ok(()),
            bytes if is_short => self.close(bytes),
            bytes => self.cut(bytes),
        }
        .map_err(fault(CURRENT))
    }

    /// A line that was acknowledged lost its newline, and perhaps more: what is there is evidence.
    fn close(&mut self, bytes: u64) -> io::Result<()> {
        self.file.write_all(b"\n")?;
        self.len += 1;
        self.repair = Some(Repair::Closed(bytes));
        Ok(())
    }

    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.len -= bytes;
        self.file.set_len(self.len)?;
        self.repair = Some(Repair::Cut(bytes));
        Ok(())
    }

    /// Writes the line, or nothing.
    fn write(mut self, files: &Files, lock: &Locked, line: &[u8], durability: Durability) -> Result<Left, Fault> {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let head = Head::new(self.head.next(), blake3::hash(content));
        match self.commit(files, lock, line, &head, durability) {
            Ok(()) => {
                let len = self.len + line.len() as u64;
                Ok(Left { lock: lock.opened(), file: self.file, place: self.place, len, head })
            }
            Err(error) => {
                // Where this fails as well, the next one to append cuts it off.
                let _ = self.file.set_len(self.len);
                Err(fault(CURRENT)(error))
            }
        }
    }

    fn commit(
        &mut self,
        files: &Files,
        lock: &Locked,
        line: &[u8],
        head: &Head,
        durability: Durability,
    ) -> io::Result<()> {
        write_once(&mut self.file, line)?;
        if durability == Durability::Synced {
            self.file.sync_data()?;
            if self.len == 0 {
                files.sync()?;
            }
        }
        lock.keep(head)?;
        if durability == Durability::Synced && head.seq() == 1 {
            // From here on a lost head file is a finding. What it says may be behind.
            lock.sync()?;
        }
        Ok(())
    }
}

/// One write, so that others see the whole line or nothing of it; a short one is a full disk.
fn write_once(file: &mut File, line: &[u8]) -> io::Result<()> {
    let written = loop {
        match file.write(line) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    if written == line.len() {
        return Ok(());
    }
    let message = format!("{written} of {} bytes were written", line.len());
    Err(io::Error::new(ErrorKind::StorageFull, message))
}

/// The last line of a file or of some files.
#[derive(Clone, Copy)]
struct Last {
    /// Its number and hash.
    head: Head,
    /// Whether a line was found that says its number; until then the lines after it are counted.
    found: bool,
}

impl Last {
    /// With what is in the file before, where nothing was found yet.
    fn before(self, earlier: Self) -> Self {
        let after = self.head.seq();
        let hash = if after == 0 { earlier.head.hash() } else { self.head.hash() };
        Self { head: Head::new(earlier.head.seq().saturating_add(after), hash), found: earlier.found }
    }
}

/// The last line of a file, and how many bytes come after it. Lines that are broken are counted, so that the next one
/// gets a number of its own.
fn last_line(file: &File, len: u64) -> io::Result<(Last, u64)> {
    let mut pieces = Backwards::new(file.try_clone()?, len);
    let (mut last, mut tail) = (Last { head: Head::START, found: false }, 0);
    while let Some(piece) = pieces.next()? {
        let earlier = match piece {
            Piece::Tail(bytes) => {
                tail = bytes;
                continue;
            }
            Piece::Long => Last { head: Head::new(1, blake3::hash(&[])), found: false },
            Piece::Line(line) => match line::link(line) {
                Link::Chained(seq, _) => Last { head: Head::new(seq, blake3::hash(line)), found: true },
                Link::Broken => Last { head: Head::new(1, blake3::hash(line)), found: false },
                Link::Unchained => continue,
            },
        };
        last = last.before(earlier);
        if last.found {
            break;
        }
    }
    Ok((last, tail))
}
