//! Appending a line: finds the end of the log, repairs it after a crash, and writes once.
//!
//! Invariant: acknowledged lines are never removed. Only the start of a line that was never
//! acknowledged is cut off. If the head file knows of more lines than there are, the chain
//! continues from the head, so the loss remains visible as a gap.

use std::fs::File;
use std::hint::spin_loop;
use std::io::{self, ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use toolcell_i18n::message;
use toolcell_tool::AuditContents;

use super::AuditConfig;
use super::event::AuditEvent;
use super::files::{CURRENT, FileHandle, FileIdentity, HeadFile, LogFile, LogFiles, LogLock, fault};
use super::head::Head;
use super::line::{self, Link, Repair};
use super::reader::{Chunk, ReverseLineReader};
use crate::durability::Durability;
use crate::error::{Fault, Reason};
use crate::file_lock::LOG_TIMEOUT;

/// The lock timeout for a log whose lock already timed out once.
const STUCK_TIMEOUT: Duration = Duration::from_millis(20);
/// The number of tries before a thread sleeps, and the number of spin-loop hints, of some 20 ns
/// each, between two tries.
const SPIN_TRIES: u32 = 64;
const SPIN_PAUSES: u32 = 16;

/// The appender of this process.
#[derive(Default)]
pub(super) struct Appender {
    /// The end of the log as this process left it.
    cached: Mutex<Option<CachedEnd>>,
    /// Whether the last attempt to lock the log timed out. Until one succeeds, others wait only
    /// briefly.
    is_stuck: AtomicBool,
}

/// The end of the log as this process wrote it, valid as long as no other process has appended.
struct CachedEnd {
    lock: FileHandle,
    file: File,
    id: FileIdentity,
    len: u64,
    head: Head,
}

impl Appender {
    /// Appends a line and returns its sequence number and hash. `witness` is a line that is known
    /// to have existed.
    pub(super) fn append(
        &self,
        files: &LogFiles,
        config: &AuditConfig,
        text: LineSource<'_>,
        witness: Option<Head>,
    ) -> Result<Head, Fault> {
        let mut left = lock_spinning(&self.cached);
        // The cache stays empty until the append has fully succeeded.
        let before = left.take();
        let lock = self.lock(files, before.as_ref().map(|left| left.lock.clone()))?;
        let mut end = LogEnd::locate(files, &lock, before, witness)?;
        let line = text.render(config.contents, &end.head, end.repair).map_err(fault(CURRENT))?;
        if end.len > 0 && end.len.saturating_add(line.len() as u64) > config.file_limit {
            files.rotate()?;
            let file = files.open_current()?;
            let place = FileIdentity::from_file(&file).map_err(fault(CURRENT))?;
            end = LogEnd { file, id: place, len: 0, ..end };
        }
        let known = end.write(files, &lock, &line, config.durability)?;
        let head = known.head;
        *left = Some(known);
        Ok(head)
    }
}

/// The source of a line.
#[derive(Clone, Copy)]
pub(super) enum LineSource<'a> {
    /// An event to be rendered.
    Event(&'a AuditEvent<'a>),
    /// A line that was rendered for the start of the chain.
    Rendered(&'a str),
}

impl LineSource<'_> {
    /// Renders the line with its link to the line before it.
    fn render(self, contents: AuditContents, before: &Head, repair: Option<Repair>) -> io::Result<Vec<u8>> {
        match self {
            Self::Event(attempt) => Ok(line::render(attempt, contents, before, repair)?),
            Self::Rendered(rendered) => line::relink(rendered, before, repair)
                .ok_or_else(|| Reason::io(ErrorKind::InvalidData, message!("the queued line is not an audit line"))),
        }
    }
}

impl Appender {
    /// The last line that this process appended, without a look at the files.
    pub(super) fn head(&self) -> Option<Head> {
        lock_spinning(&self.cached).as_ref().map(|left| left.head)
    }

    fn lock(&self, files: &LogFiles, open: Option<FileHandle>) -> Result<LogLock, Fault> {
        let patience = if self.is_stuck.load(Ordering::Relaxed) { STUCK_TIMEOUT } else { LOG_TIMEOUT };
        let locked = files.lock(open, patience);
        self.is_stuck.store(matches!(locked, Err(Fault::Busy { .. })), Ordering::Relaxed);
        locked
    }

    /// Makes appended lines durable and returns the last of them.
    pub(super) fn sync(&self, files: &LogFiles) -> Result<Option<Head>, Fault> {
        let lock = self.lock(files, None)?;
        let HeadFile::Head(head) = lock.head()? else { return Ok(None) };
        drop(lock);
        // Lines appended meanwhile may or may not be synced. A file that was just rotated is synced
        // as well.
        files.sync_all()?;
        Ok(Some(head))
    }
}

/// Locks a mutex, spinning before it sleeps. An append takes some 8 µs, which is less than a sleep
/// and a wake-up of the thread.
fn lock_spinning<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..SPIN_TRIES {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => (0..SPIN_PAUSES).for_each(|_| spin_loop()),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end of the log, found under the lock.
struct LogEnd {
    file: File,
    id: FileIdentity,
    len: u64,
    head: Head,
    repair: Option<Repair>,
}

impl LogEnd {
    /// Opens the current file and finds the last line. Both are cached if the file is as this
    /// process left it.
    fn locate(files: &LogFiles, lock: &LogLock, left: Option<CachedEnd>, witness: Option<Head>) -> Result<Self, Fault> {
        let now = files.stat(CURRENT).map_err(fault(CURRENT))?;
        if let Some(CachedEnd { file, id: place, len, head, .. }) = left.filter(|left| Some((left.id, left.len)) == now)
        {
            return Ok(Self { file, id: place, len, head, repair: None });
        }
        let file = files.open_current()?;
        let len = file.metadata().map_err(fault(CURRENT))?.len();
        let place = FileIdentity::from_file(&file).map_err(fault(CURRENT))?;
        let mut end = Self { file, id: place, len, head: Head::START, repair: None };
        end.recover(files, lock, witness)?;
        Ok(end)
    }

    fn recover(&mut self, files: &LogFiles, lock: &LogLock, witness: Option<Head>) -> Result<(), Fault> {
        let (mut last, tail) = last_line(&self.file, self.len).map_err(fault(CURRENT))?;
        let mut numbers = if last.is_numbered { Vec::new() } else { files.numbers()? };
        while let (false, Some(number)) = (last.is_numbered, numbers.pop()) {
            let part = LogFile::Numbered(number);
            if let Some((file, len)) = files.read(part)? {
                last = last.after_earlier(last_line(&file, len).map_err(fault(&part.name()))?.0);
            }
        }
        self.head = last.head;
        let mut is_short = false;
        match lock.head()? {
            HeadFile::Head(head) if head.seq() >= last.head.seq() => {
                is_short = head.seq() > last.head.seq();
                self.head = head;
            }
            HeadFile::Damaged => lock.clear_head()?,
            HeadFile::Head(_) | HeadFile::Missing => {}
        }
        // The index may know of lines that a power failure took, together with the head file that
        // knew of them.
        if let Some(witness) = witness.filter(|witness| witness.seq() > self.head.seq()) {
            is_short = true;
            self.head = witness;
        }
        match tail {
            0 => Ok(()),
            bytes if is_short => self.terminate_line(bytes),
            bytes => self.truncate_tail(bytes),
        }
        .map_err(fault(CURRENT))
    }

    /// Restores the newline of an acknowledged line. The line may have lost more than that, and
    /// what is left is evidence.
    fn terminate_line(&mut self, bytes: u64) -> io::Result<()> {
        self.file.write_all(b"\n")?;
        self.len += 1;
        self.repair = Some(Repair::Closed(bytes));
        Ok(())
    }

    fn truncate_tail(&mut self, bytes: u64) -> io::Result<()> {
        self.len -= bytes;
        self.file.set_len(self.len)?;
        self.repair = Some(Repair::Cut(bytes));
        Ok(())
    }

    /// Writes the line completely, or restores the previous length of the file.
    fn write(
        mut self,
        files: &LogFiles,
        lock: &LogLock,
        line: &[u8],
        durability: Durability,
    ) -> Result<CachedEnd, Fault> {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let head = Head::new(self.head.next(), blake3::hash(content));
        match self.commit(files, lock, line, &head, durability) {
            Ok(()) => {
                let len = self.len + line.len() as u64;
                Ok(CachedEnd { lock: lock.handle(), file: self.file, id: self.id, len, head })
            }
            Err(error) => {
                // If truncation fails too, the next append cuts the incomplete line off.
                let _ = self.file.set_len(self.len);
                Err(fault(CURRENT)(error))
            }
        }
    }

    fn commit(
        &mut self,
        files: &LogFiles,
        lock: &LogLock,
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
        lock.write_head(head)?;
        if durability == Durability::Synced && head.seq() == 1 {
            // From now on a missing head file is reported as a problem. Its content may be behind.
            lock.sync()?;
        }
        Ok(())
    }
}

/// Writes a line with one system call, so that readers see all of it or nothing. A short write
/// means that the disk is full.
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

/// The last line of one or more files.
#[derive(Clone, Copy)]
struct LastLine {
    /// The number and the hash of the line.
    head: Head,
    /// Whether a line that states its number was found. Until then `head` counts the lines after
    /// it.
    is_numbered: bool,
}

impl LastLine {
    /// Combines this with the last line of the preceding part of the log.
    fn after_earlier(self, earlier: Self) -> Self {
        let after = self.head.seq();
        let hash = if after == 0 { earlier.head.hash() } else { self.head.hash() };
        Self { head: Head::new(earlier.head.seq().saturating_add(after), hash), is_numbered: earlier.is_numbered }
    }
}

/// The last line of a file, and the number of bytes after it. Broken lines are counted, so that the
/// next line gets a number of its own.
fn last_line(file: &File, len: u64) -> io::Result<(LastLine, u64)> {
    let mut pieces = ReverseLineReader::new(file.try_clone()?, len);
    let (mut last, mut tail) = (LastLine { head: Head::START, is_numbered: false }, 0);
    while let Some(piece) = pieces.next()? {
        let earlier = match piece {
            Chunk::Tail(bytes) => {
                tail = bytes;
                continue;
            }
            Chunk::Oversized => LastLine { head: Head::new(1, blake3::hash(&[])), is_numbered: false },
            Chunk::Line(line) => match line::parse_link(line) {
                Link::Chained(seq, _) => LastLine { head: Head::new(seq, blake3::hash(line)), is_numbered: true },
                Link::Broken => LastLine { head: Head::new(1, blake3::hash(line)), is_numbered: false },
                Link::Unchained => continue,
            },
        };
        last = last.after_earlier(earlier);
        if last.is_numbered {
            break;
        }
    }
    Ok((last, tail))
}
