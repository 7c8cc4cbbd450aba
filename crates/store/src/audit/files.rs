//! The files of the log: their names, their lock, and a view of them that others do not change.
//!
//! Invariant: what is opened here is a regular file and was reached without following a link. Who appends holds the head
//! file's lock alone, and who looks which files there are shares it.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::{Dir, OpenOptions};
use rustix::fs::{AtFlags, Mode, OFlags};

use super::head::Head;
use crate::directory::private;
use crate::error::Fault;
use crate::wait::{LOG, lock_within};

/// The folder of the log, in the directory of the store.
pub(super) const FOLDER: &str = "logs";
/// The file that is appended to.
pub(super) const CURRENT: &str = "dynamic-tools-audit.jsonl";
/// The file that says where the log ends; it is the lock as well.
pub(super) const HEAD: &str = "dynamic-tools-audit.head";

/// What the lock is of.
const LOCKED: &str = "the audit log";
/// How many numbers are tried for a file that is full.
const NUMBERS_TRIED: usize = 1_000;

/// A file of the log; in the order in which they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// One that was full.
    Numbered(u64),
    /// The one that is appended to.
    Current,
}

impl Part {
    /// Its name in the folder.
    pub(super) fn name(self) -> String {
        match self {
            Self::Numbered(number) => format!("dynamic-tools-audit.{number:06}.jsonl"),
            Self::Current => CURRENT.to_owned(),
        }
    }

    fn named(name: &str) -> Option<Self> {
        let digits = name.strip_prefix("dynamic-tools-audit.")?.strip_suffix(".jsonl")?;
        let part = Self::Numbered(digits.parse().ok()?);
        (part.name() == name).then_some(part)
    }
}

/// Which file it is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    device: rustix::fs::Dev,
    inode: u64,
}

impl Place {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let stat = rustix::fs::fstat(file)?;
        Ok(Self { device: stat.st_dev, inode: stat.st_ino })
    }
}

/// A file that stays open, and which one it is.
#[derive(Clone)]
pub(super) struct Opened {
    file: Arc<File>,
    place: Place,
}

impl Opened {
    fn new(file: File) -> io::Result<Self> {
        Ok(Self { place: Place::of(&file)?, file: Arc::new(file) })
    }

    /// What the head file says.
    fn head(&self) -> Result<Kept, Fault> {
        // One byte more than a head has.
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
            0 => Kept::Nothing,
            _ => Head::from_file(&text[..len]).map_or(Kept::Damaged, Kept::Head),
        })
    }
}

/// What the head file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Nothing: it is not there, or empty.
    Nothing,
    /// Where the log ended when it was written.
    Head(Head),
    /// Something else.
    Damaged,
}

/// The log as it was at one moment.
pub(super) struct Snapshot {
    /// The numbers of the files that were full, in order.
    pub(super) numbers: Vec<u64>,
    /// The file that is appended to, and how long it was.
    pub(super) current: Option<(File, u64)>,
    pub(super) head: Kept,
}

/// The folder with the log.
pub(super) struct Files(Dir);

impl Files {
    pub(super) fn new(folder: Dir) -> Self {
        Self(folder)
    }

    /// Keeps everybody else from appending and from looking, until it is dropped. A head file that was opened before
    /// serves again, as long as it is the one that others lock.
    pub(super) fn lock(&self, open: Option<Opened>, patience: Duration) -> Result<Locked, Fault> {
        let lock = |opened: Opened| {
            lock_within(&opened.file, LOCKED, patience, File::try_lock)?;
            Ok(Locked(opened))
        };
        let again = || -> io::Result<Option<Locked>> {
            let Some(opened) = open else { return Ok(None) };
            let locked = lock(opened)?;
            let place = self.place(HEAD)?.map(|(place, _)| place);
            Ok((place == Some(locked.0.place)).then_some(locked))
        };
        let anew = || lock(Opened::new(self.open(HEAD, private().read(true).write(true).create(true))?)?);
        again().and_then(|locked| locked.map_or_else(anew, Ok)).map_err(fault(HEAD))
    }

    /// What a name leads to, which may be a link, and how long it is; none where it leads nowhere.
    pub(super) fn place(&self, name: &str) -> io::Result<Option<(Place, u64)>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                let place = Place { device: stat.st_dev, inode: stat.st_ino };
                Ok(Some((place, stat.st_size.try_into().unwrap_or(u64::MAX))))
            }
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What there is now; what is appended while one reads is not in it.
    pub(super) fn snapshot(&self) -> Result<Snapshot, Fault> {
        loop {
            let lock = self.lock_shared().map_err(fault(HEAD))?;
            let head = lock.as_ref().map_or(Ok(Kept::Nothing), Locked::head)?;
            let snapshot = Snapshot { numbers: self.numbers()?, current: self.read(Part::Current)?, head };
            // Where there was no lock to share, somebody may have begun the log in the meantime.
            if lock.is_some() || self.0.symlink_metadata(HEAD).is_err() {
                return Ok(snapshot);
            }
        }
    }

    /// The content of the head file. The read takes no lock: each appended line replaces the file with one write.
    pub(super) fn head(&self) -> Result<Kept, Fault> {
        let Some(file) = found(self.open(HEAD, private().read(true))).map_err(fault(HEAD))? else {
            return Ok(Kept::Nothing);
        };
        Opened::new(file).map_err(fault(HEAD)).and_then(|opened| opened.head())
    }

    /// Keeps others from appending, where there is a head file.
    fn lock_shared(&self) -> io::Result<Option<Locked>> {
        let Some(file) = found(self.open(HEAD, private().read(true)))? else { return Ok(None) };
        lock_within(&file, LOCKED, LOG, File::try_lock_shared)?;
        Ok(Some(Locked(Opened::new(file)?)))
    }

    /// The numbers of the files that were full, in order.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, Fault> {
        let entries = self.0.entries().map_err(Fault::disk(FOLDER))?;
        let mut numbers = Vec::new();
        for entry in entries {
            let entry = entry.map_err(Fault::disk(FOLDER))?;
            let name = entry.file_name();
            let Some(Part::Numbered(number)) = name.to_str().and_then(Part::named) else { continue };
            // Toolcell makes no folder here. Where one replaced a part, the check of the chain reports its lines as missing.
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Opens a file to read it, and says how long it is; none where there is none.
    pub(super) fn read(&self, part: Part) -> Result<Option<(File, u64)>, Fault> {
        let name = part.name();
        let opened = found(self.open(&name, private().read(true)))
            .and_then(|file| file.map(|file| Ok((file.metadata()?.len(), file))).transpose());
        Ok(opened.map_err(fault(&name))?.map(|(len, file)| (file, len)))
    }

    /// Opens the file that is appended to, and makes it where there is none.
    pub(super) fn open_current(&self) -> Result<File, Fault> {
        self.open(CURRENT, private().read(true).append(true).create(true)).map_err(fault(CURRENT))
    }

    /// Gives the file that is appended to the next number.
    pub(super) fn put_aside(&self) -> Result<(), Fault> {
        let number = self.numbers()?.last().map_or(1, |last| last.saturating_add(1));
        // Under the lock nobody else takes the number. What is no file of the log may have it.
        let is_free = |number: &u64| self.0.symlink_metadata(Part::Numbered(*number).name()).is_err();
        let free = (number..=u64::MAX).take(NUMBERS_TRIED).find(is_free);
        let name = Part::Numbered(free.ok_or_else(|| fault(CURRENT)(ErrorKind::AlreadyExists.into()))?).name();
        self.0.rename(CURRENT, &self.0, &name).map_err(fault(&name))
    }

    /// Makes the file that is appended to outlast a loss of power, and the one before it, and the head file.
    pub(super) fn sync_all(&self) -> Result<(), Fault> {
        let last = self.numbers()?.last().map(|number| Part::Numbered(*number).name());
        for name in last.iter().map(String::as_str).chain([CURRENT, HEAD]) {
            if let Some(file) = found(self.open(name, private().read(true))).map_err(fault(name))? {
                file.sync_data().map_err(fault(name))?;
            }
        }
        self.sync().map_err(Fault::disk(FOLDER))
    }

    /// Makes durable which files there are.
    pub(super) fn sync(&self) -> io::Result<()> {
        // A `Dir` is only a path to the system, which cannot be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::fsync(rustix::fs::openat(&self.0, ".", flags, Mode::empty())?)?)
    }

    fn open(&self, name: &str, options: &OpenOptions) -> io::Result<File> {
        let file = self.0.open_with(name, options)?.into_std();
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::new(ErrorKind::InvalidInput, "is no regular file"))
        }
    }
}

/// The lock, while it is held.
pub(super) struct Locked(Opened);

impl Locked {
    /// The head file, to be locked again.
    pub(super) fn opened(&self) -> Opened {
        self.0.clone()
    }

    /// What the head file says.
    pub(super) fn head(&self) -> Result<Kept, Fault> {
        self.0.head()
    }

    /// Replaces what the head file says, with one write.
    pub(super) fn keep(&self, head: &Head) -> io::Result<()> {
        self.0.file.write_all_at(head.to_file().as_bytes(), 0)
    }

    /// Empties the head file.
    pub(super) fn clear(&self) -> Result<(), Fault> {
        self.0.file.set_len(0).map_err(fault(HEAD))
    }

    /// Makes the head file durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.file.sync_data()
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // It stays open, and a child of this process may have a copy of the descriptor.
        let _ = self.0.file.unlock();
    }
}

/// A fault of a file of the log.
pub(super) fn fault(name: &str) -> impl FnOnce(io::Error) -> Fault {
    Fault::disk(format!("{FOLDER}/{name}"))
}

fn found(opened: io::Result<File>) -> io::Result<Option<File>> {
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
        let mut parts = [Part::Current, Part::Numbered(1_000_000), Part::Numbered(2)];
        parts.sort_unstable();
        assert_eq!(parts.map(Part::name), [names[1], names[0], names[2]]);
        assert_eq!(Part::named(names[0]), Some(Part::Numbered(1_000_000)));
    }

    #[test]
    fn other_names_are_no_files_of_the_log() {
        for name in ["1.jsonl", "000001.jsonl.gz", "0000001.jsonl", "+00001.jsonl", "jsonl", "head", ".jsonl"] {
            assert_eq!(Part::named(&format!("dynamic-tools-audit.{name}")), None, "{name}");
        }
    }
}
