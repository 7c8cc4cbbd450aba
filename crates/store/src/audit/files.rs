//! The files of the log: names, lock, and consistent snapshots.
//!
//! Invariant: every file opened here is a regular file, reached without following a symlink.
//! Appending takes the head file's lock exclusively, listing the files takes it shared.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::{Dir, OpenOptions};
use rustix::fs::{AtFlags, Mode, OFlags};
use toolcell_i18n::{message, msgid};

use super::head::Head;
use crate::directory::private_options;
use crate::error::{Fault, Reason};
use crate::file_lock::{LOG_TIMEOUT, lock_timeout};

/// The folder of the log in the directory of the store.
pub(super) const FOLDER: &str = "logs";
/// The current file, to which lines are appended.
pub(super) const CURRENT: &str = "dynamic-tools-audit.jsonl";
/// The head file, which states the end of the log and also serves as the lock.
pub(super) const HEAD: &str = "dynamic-tools-audit.head";

/// The name of the lock in messages.
const LOCK_NAME: &str = msgid!("the audit log");
/// The maximum number of names tried for a rotated file.
const MAX_ROTATION_TRIES: usize = 1_000;

/// A file of the log; ordered from oldest to newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogFile {
    /// A rotated file.
    Numbered(u64),
    /// The current file.
    Current,
}

impl LogFile {
    /// The name in the folder.
    pub(super) fn name(self) -> String {
        match self {
            Self::Numbered(number) => format!("dynamic-tools-audit.{number:06}.jsonl"),
            Self::Current => CURRENT.to_owned(),
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        let digits = name.strip_prefix("dynamic-tools-audit.")?.strip_suffix(".jsonl")?;
        let part = Self::Numbered(digits.parse().ok()?);
        (part.name() == name).then_some(part)
    }
}

/// The identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity {
    device: rustix::fs::Dev,
    inode: u64,
}

impl FileIdentity {
    pub(super) fn from_file(file: &File) -> io::Result<Self> {
        let stat = rustix::fs::fstat(file)?;
        Ok(Self { device: stat.st_dev, inode: stat.st_ino })
    }
}

/// An open file with its identity.
#[derive(Clone)]
pub(super) struct FileHandle {
    file: Arc<File>,
    id: FileIdentity,
}

impl FileHandle {
    fn new(file: File) -> io::Result<Self> {
        Ok(Self { id: FileIdentity::from_file(&file)?, file: Arc::new(file) })
    }

    /// Reads the head file.
    fn head(&self) -> Result<HeadFile, Fault> {
        // One byte more than a valid head file has.
        let (mut text, mut len) = ([0; 87], 0);
        while len < text.len() {
            match self.file.read_at(&mut text[len..], len as u64) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(fault(HEAD)(error)),
            }
        }
        Ok(match len {
            0 => HeadFile::Missing,
            _ => Head::from_file(&text[..len]).map_or(HeadFile::Damaged, HeadFile::Head),
        })
    }
}

/// The content of the head file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadFile {
    /// The file does not exist or is empty.
    Missing,
    /// The end of the log at the time of the last write.
    Head(Head),
    /// Anything else.
    Damaged,
}

/// A consistent snapshot of the log.
pub(super) struct LogSnapshot {
    /// The numbers of the rotated files, in order.
    pub(super) numbers: Vec<u64>,
    /// The current file and its length.
    pub(super) current: Option<(File, u64)>,
    pub(super) head: HeadFile,
}

/// The folder of the log.
pub(super) struct LogFiles(Dir);

impl LogFiles {
    pub(super) fn new(folder: Dir) -> Self {
        Self(folder)
    }

    /// Locks the log exclusively until the result is dropped. An open head file is reused if it is
    /// still the one that other processes lock.
    pub(super) fn lock(&self, open: Option<FileHandle>, patience: Duration) -> Result<LogLock, Fault> {
        let lock = |opened: FileHandle| {
            lock_timeout(&opened.file, LOCK_NAME, patience, File::try_lock)?;
            Ok(LogLock(opened))
        };
        let again = || -> io::Result<Option<LogLock>> {
            let Some(opened) = open else { return Ok(None) };
            let locked = lock(opened)?;
            let place = self.stat(HEAD)?.map(|(place, _)| place);
            Ok((place == Some(locked.0.id)).then_some(locked))
        };
        let anew = || lock(FileHandle::new(self.open(HEAD, private_options().read(true).write(true).create(true))?)?);
        again().and_then(|locked| locked.map_or_else(anew, Ok)).map_err(fault(HEAD))
    }

    /// The identity and the length of a file or symlink; `None` if the name does not exist.
    pub(super) fn stat(&self, name: &str) -> io::Result<Option<(FileIdentity, u64)>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                let place = FileIdentity { device: stat.st_dev, inode: stat.st_ino };
                Ok(Some((place, stat.st_size.try_into().unwrap_or(u64::MAX))))
            }
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a snapshot, which lines appended later do not change.
    pub(super) fn snapshot(&self) -> Result<LogSnapshot, Fault> {
        loop {
            let lock = self.lock_shared().map_err(fault(HEAD))?;
            let head = lock.as_ref().map_or(Ok(HeadFile::Missing), LogLock::head)?;
            let snapshot = LogSnapshot { numbers: self.numbers()?, current: self.read(LogFile::Current)?, head };
            // If there was no head file to lock, another process may have started the log
            // meanwhile.
            if lock.is_some() || self.0.symlink_metadata(HEAD).is_err() {
                return Ok(snapshot);
            }
        }
    }

    /// The content of the head file. The read takes no lock: each appended line replaces the file
    /// with one write.
    pub(super) fn head(&self) -> Result<HeadFile, Fault> {
        let Some(file) = none_if_missing(self.open(HEAD, private_options().read(true))).map_err(fault(HEAD))? else {
            return Ok(HeadFile::Missing);
        };
        FileHandle::new(file).map_err(fault(HEAD)).and_then(|opened| opened.head())
    }

    /// Locks the log shared, if there is a head file.
    fn lock_shared(&self) -> io::Result<Option<LogLock>> {
        let Some(file) = none_if_missing(self.open(HEAD, private_options().read(true)))? else { return Ok(None) };
        lock_timeout(&file, LOCK_NAME, LOG_TIMEOUT, File::try_lock_shared)?;
        Ok(Some(LogLock(FileHandle::new(file)?)))
    }

    /// The numbers of the rotated files, in order.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, Fault> {
        let entries = self.0.entries().map_err(Fault::disk(FOLDER))?;
        let mut numbers = Vec::new();
        for entry in entries {
            let entry = entry.map_err(Fault::disk(FOLDER))?;
            let name = entry.file_name();
            let Some(LogFile::Numbered(number)) = name.to_str().and_then(LogFile::from_name) else { continue };
            // Toolcell makes no folder here. If one replaced a file, verification of the chain
            // reports its lines as missing.
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Opens a file for reading and returns its length; `None` if it does not exist.
    pub(super) fn read(&self, part: LogFile) -> Result<Option<(File, u64)>, Fault> {
        let name = part.name();
        let opened = none_if_missing(self.open(&name, private_options().read(true)))
            .and_then(|file| file.map(|file| Ok((file.metadata()?.len(), file))).transpose());
        Ok(opened.map_err(fault(&name))?.map(|(len, file)| (file, len)))
    }

    /// Opens the current file and creates it if it does not exist.
    pub(super) fn open_current(&self) -> Result<File, Fault> {
        self.open(CURRENT, private_options().read(true).append(true).create(true)).map_err(fault(CURRENT))
    }

    /// Rotates the log: gives the current file the next number.
    pub(super) fn rotate(&self) -> Result<(), Fault> {
        let number = self.numbers()?.last().map_or(1, |last| last.saturating_add(1));
        // The lock keeps other processes from taking the number, but an unrelated entry may have
        // the name.
        let is_free = |number: &u64| self.0.symlink_metadata(LogFile::Numbered(*number).name()).is_err();
        let free = (number..=u64::MAX).take(MAX_ROTATION_TRIES).find(is_free);
        let name = LogFile::Numbered(free.ok_or_else(|| fault(CURRENT)(ErrorKind::AlreadyExists.into()))?).name();
        self.0.rename(CURRENT, &self.0, &name).map_err(fault(&name))
    }

    /// Makes the current file, the last rotated one and the head file durable.
    pub(super) fn sync_all(&self) -> Result<(), Fault> {
        let last = self.numbers()?.last().map(|number| LogFile::Numbered(*number).name());
        for name in last.iter().map(String::as_str).chain([CURRENT, HEAD]) {
            if let Some(file) = none_if_missing(self.open(name, private_options().read(true))).map_err(fault(name))? {
                file.sync_data().map_err(fault(name))?;
            }
        }
        self.sync().map_err(Fault::disk(FOLDER))
    }

    /// Makes the directory entries durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        // A `Dir` is opened with `O_PATH` and cannot be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::fsync(rustix::fs::openat(&self.0, ".", flags, Mode::empty())?)?)
    }

    fn open(&self, name: &str, options: &OpenOptions) -> io::Result<File> {
        let file = self.0.open_with(name, options)?.into_std();
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(Reason::io(ErrorKind::InvalidInput, message!("not a regular file")))
        }
    }
}

/// The exclusive or shared lock of the log, while it is held.
pub(super) struct LogLock(FileHandle);

impl LogLock {
    /// The head file, to be locked again.
    pub(super) fn handle(&self) -> FileHandle {
        self.0.clone()
    }

    /// Reads the head file.
    pub(super) fn head(&self) -> Result<HeadFile, Fault> {
        self.0.head()
    }

    /// Replaces the content of the head file with one write.
    pub(super) fn write_head(&self, head: &Head) -> io::Result<()> {
        self.0.file.write_all_at(head.to_file().as_bytes(), 0)
    }

    /// Empties the head file.
    pub(super) fn clear_head(&self) -> Result<(), Fault> {
        self.0.file.set_len(0).map_err(fault(HEAD))
    }

    /// Makes the head file durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.file.sync_data()
    }
}

impl Drop for LogLock {
    fn drop(&mut self) {
        // Explicitly, because the file stays open in the cache, and a child process may have
        // inherited the descriptor.
        let _ = self.0.file.unlock();
    }
}

/// Wraps an I/O error with the path of a log file.
pub(super) fn fault(name: &str) -> impl FnOnce(io::Error) -> Fault {
    Fault::disk(format!("{FOLDER}/{name}"))
}

fn none_if_missing(opened: io::Result<File>) -> io::Result<Option<File>> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_in_the_order_of_their_numbers() {
        let names = ["dynamic-tools-audit.1000000.jsonl", "dynamic-tools-audit.000002.jsonl", CURRENT];
        let mut parts = [LogFile::Current, LogFile::Numbered(1_000_000), LogFile::Numbered(2)];
        parts.sort_unstable();
        assert_eq!(parts.map(LogFile::name), [names[1], names[0], names[2]]);
        assert_eq!(LogFile::from_name(names[0]), Some(LogFile::Numbered(1_000_000)));
    }

    #[test]
    fn other_names_are_no_files_of_the_log() {
        for name in ["1.jsonl", "000001.jsonl.gz", "0000001.jsonl", "+00001.jsonl", "jsonl", "head", ".jsonl"] {
            assert_eq!(LogFile::from_name(&format!("dynamic-tools-audit.{name}")), None, "{name}");
        }
    }
}
