//! Runs that were begun and not ended yet, in a file that outlasts the process.
//!
//! ```text
//! running/00c0ffee00c0ffee   slots of 4 KiB: a run as it was begun, and from the second KiB on as it ended
//!   begun   checksum, number of the run, line of the log before it, length, payload
//!   ended   checksum, length, what is to be kept of it; the checksum is over the number of the run as well
//! ```
//!
//! Invariant: a journal is locked as long as somebody is responsible for its runs: the process that begins them, or one
//! that closes those of a process that is gone. It is in its place with its lock only, and is taken away when nothing in
//! it is open. A slot whose checksum does not fit is no run: it is free, or was being written when the power went.

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::fs::Dir;

use crate::directory::{Directory, private};
use crate::error::Fault;
use crate::objects::names;
use crate::run_id::RunId;

/// The folder of the journals, in the directory of the store.
pub(crate) const FOLDER: &str = "running";
/// A slot is a page, so that one write changes its half whole or not at all, and the disk has room for the end of what it
/// had room for the beginning of.
const SLOT: usize = 4096;
/// How much of it is for the beginning.
const BEGINNING: usize = 1024;
/// The first half of a hash over what comes after it in the slot. All zeros: the slot is free.
const CHECKSUM: usize = 16;
/// Checksum, number of the run, line of the log before it, length of the payload: eight bytes each, but the first.
const HEADER: usize = CHECKSUM + 3 * 8;
/// The longest payload of a run, in bytes.
pub const PAYLOAD_LIMIT: usize = BEGINNING - HEADER;
/// The most that can be noted of the end of a run, in bytes.
pub(crate) const END_LIMIT: usize = SLOT - BEGINNING - END_HEADER;
/// Checksum and length of an end.
const END_HEADER: usize = CHECKSUM + 8;
/// So many slots of a journal are read: nobody begins more runs at once.
const SLOTS_LIMIT: u64 = 1 << 16;

/// A journal, while it is locked.
pub(crate) struct Journal {
    folder: Dir,
    id: u64,
    file: File,
    slots: Mutex<Slots>,
}

/// Which slots are used.
#[derive(Default)]
struct Slots {
    /// The number of the next run.
    next: u64,
    /// How many slots the file has.
    count: u64,
    /// Those that no run is in.
    free: Vec<u64>,
    /// Those whose runs nobody is going to end: they wait to be closed as interrupted.
    left: Vec<u64>,
}

/// A run in its slot. Dropped without having ended, it stays there, and is found with those that were interrupted.
pub(crate) struct Slot {
    journal: Arc<Journal>,
    /// None once it is free again.
    number: Option<u64>,
}

/// What is in a slot.
pub(crate) struct Open {
    pub(crate) slot: Slot,
    pub(crate) run: RunId,
    /// The number of a line of the log that is before the line of the run.
    pub(crate) after: u64,
    pub(crate) payload: Vec<u8>,
    /// What was noted of its end, where it had ended.
    pub(crate) end: Option<Vec<u8>>,
}

impl Journal {
    /// A new journal, in which nothing is begun yet.
    pub(crate) fn make(directory: &Directory) -> Result<Self, Fault> {
        let (folder, tmp) = (directory.folder(FOLDER)?, directory.folder("tmp")?);
        // Two keys of the standard library's hash maps are never the same, and come from the system's random numbers.
        let id = std::collections::hash_map::RandomState::new().build_hasher().finish();
        let name = name(id);
        let unlocked = format!("{FOLDER}.{name}");
        let made = || {
            let file = tmp.open_with(&unlocked, private().create_new(true).read(true).write(true))?.into_std();
            file.try_lock()?;
            tmp.rename(&unlocked, &folder, &name)?;
            Ok(file)
        };
        match made() {
            Ok(file) => Ok(Self { folder, id, file, slots: Mutex::new(Slots { next: 1, ..Slots::default() }) }),
            Err(error) => {
                // Where even this fails, `gc` takes it away.
                let _ = tmp.remove_file(&unlocked);
                Err(fault(&name)(error))
            }
        }
    }

    /// The journals of processes that are gone. Those that somebody else is closing are left to them.
    pub(crate) fn orphans(directory: &Directory) -> Result<Vec<Arc<Self>>, Fault> {
        if directory.root().symlink_metadata(FOLDER).is_err() {
            return Ok(Vec::new());
        }
        let names = names(&directory.folder(FOLDER)?).map_err(Fault::disk(FOLDER))?;
        let ids = names.iter().filter_map(|name| id(name.to_str()?));
        ids.filter_map(|id| Self::orphan(directory, id).transpose()).collect()
    }

    fn orphan(directory: &Directory, id: u64) -> Result<Option<Arc<Self>>, Fault> {
        let folder = directory.folder(FOLDER)?;
        let name = name(id);
        let locked = || -> io::Result<Option<File>> {
            // What else somebody put there is none of ours.
            if !folder.symlink_metadata(&name).is_ok_and(|metadata| metadata.is_file()) {
                return Ok(None);
            }
            let file = match folder.open_with(&name, private().read(true).write(true)) {
                Ok(file) => file.into_std(),
                // Somebody else was faster.
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            match file.try_lock() {
                Ok(()) => Ok(Some(file)),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        };
        let Some(file) = locked().map_err(fault(&name))? else { return Ok(None) };
        let journal = Self { folder, id, file, slots: Mutex::default() };
        {
            let mut slots = journal.slots();
            for number in 0..SLOTS_LIMIT {
                let slot = journal.read(number).map_err(fault(&name))?;
                if slot.is_empty() {
                    break;
                }
                slots.count += 1;
                if parse(&slot).is_some() { slots.left.push(number) } else { slots.free.push(number) }
            }
        }
        Ok(Some(Arc::new(journal)))
    }

    /// Begins a run: once this returns it is found, whatever becomes of the process.
    pub(crate) fn begin(
        self: &Arc<Self>,
        after: u64,
        payload: impl FnOnce(&RunId) -> Vec<u8>,
    ) -> Result<(Slot, RunId), Fault> {
        let run = self.next_run();
        let payload = payload(&run);
        if payload.len() > PAYLOAD_LIMIT {
            let message = format!("what a run begins with is {} bytes, the limit is {PAYLOAD_LIMIT}", payload.len());
            return Err(fault(&name(self.id))(io::Error::new(ErrorKind::InvalidInput, message)));
        }
        let number = self.take_slot();
        let slot = Slot { journal: Arc::clone(self), number: Some(number) };
        match self.file.write_all_at(&render(run.number(), after, &payload), offset(number)) {
            Ok(()) => Ok((slot, run)),
            Err(error) => {
                // What was begun in part is not begun.
                slot.clear().map_err(fault(&name(self.id)))?;
                Err(fault(&name(self.id))(error))
            }
        }
    }

    /// The runs that nobody is going to end, for whoever closes them.
    pub(crate) fn take_left(self: &Arc<Self>) -> Result<Vec<Open>, Fault> {
        let left = std::mem::take(&mut self.slots().left);
        let slots: Vec<(u64, Slot)> =
            left.into_iter().map(|number| (number, Slot { journal: Arc::clone(self), number: Some(number) })).collect();
        let mut open = Vec::new();
        // Where this breaks off, those that were taken are left again.
        for (number, slot) in slots {
            let bytes = self.read(number).map_err(fault(&name(self.id)))?;
            if let Some((run, after, payload)) = parse(&bytes) {
                let (payload, end) = (payload.to_vec(), parse_end(&bytes, run));
                open.push(Open { slot, run: RunId::new(self.id, run), after, payload, end });
            }
        }
        Ok(open)
    }

    fn next_run(&self) -> RunId {
        let mut slots = self.slots();
        slots.next += 1;
        RunId::new(self.id, slots.next - 1)
    }

    fn take_slot(&self) -> u64 {
        let mut slots = self.slots();
        slots.free.pop().unwrap_or_else(|| {
            slots.count += 1;
            slots.count - 1
        })
    }

    /// What is in a slot; nothing where the file ends before it.
    fn read(&self, number: u64) -> io::Result<Vec<u8>> {
        let (mut slot, mut len) = (vec![0; SLOT], 0);
        while len < SLOT {
            match self.file.read_at(&mut slot[len..], offset(number) + len as u64) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        slot.truncate(len);
        Ok(slot)
    }

    /// A thread that panicked left the slots as they should be.
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Journal {
    /// Where nothing is open, nothing is to be found.
    fn drop(&mut self) {
        let slots = self.slots();
        if slots.free.len() as u64 == slots.count {
            // An empty journal that stays is taken away by whoever looks for runs next.
            let _ = self.folder.remove_file(name(self.id));
        }
    }
}

impl Slot {
    /// Notes how the run ended, at most [`END_LIMIT`] bytes: from now on that is found, whatever becomes of the process.
    pub(crate) fn end(&self, run: RunId, end: &[u8]) -> io::Result<()> {
        let Some(number) = self.number else { return Ok(()) };
        self.journal.file.write_all_at(&render_end(run.number(), end), offset(number) + BEGINNING as u64)
    }

    /// Makes the slot free: the run has ended.
    pub(crate) fn clear(mut self) -> io::Result<()> {
        let Some(number) = self.number else { return Ok(()) };
        self.journal.file.write_all_at(&[0; CHECKSUM], offset(number))?;
        self.number = None;
        self.journal.slots().free.push(number);
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.journal.slots().left.push(number);
        }
    }
}

fn render(run: u64, after: u64, payload: &[u8]) -> Vec<u8> {
    let mut slot = Vec::with_capacity(HEADER + payload.len());
    slot.resize(CHECKSUM, 0);
    for number in [run, after, payload.len() as u64] {
        slot.extend(number.to_le_bytes());
    }
    slot.extend(payload);
    let checksum = checksum(&slot[CHECKSUM..]);
    slot[..CHECKSUM].copy_from_slice(&checksum);
    slot
}

/// The run in a slot, the line before it, and its payload; none where there is no run.
fn parse(slot: &[u8]) -> Option<(u64, u64, &[u8])> {
    let number = |at: usize| Some(u64::from_le_bytes(slot.get(at..at + 8)?.try_into().ok()?));
    let [run, after, length] = [number(CHECKSUM)?, number(CHECKSUM + 8)?, number(CHECKSUM + 16)?];
    let end = HEADER.checked_add(usize::try_from(length).ok()?)?;
    let content = slot.get(CHECKSUM..end)?;
    (slot[..CHECKSUM] == checksum(content)).then_some((run, after, &slot[HEADER..end]))
}

fn render_end(run: u64, end: &[u8]) -> Vec<u8> {
    let mut half = Vec::with_capacity(END_HEADER + end.len());
    half.extend(checksum_of_end(run, end));
    half.extend((end.len() as u64).to_le_bytes());
    half.extend(end);
    half
}

/// What was noted of the end of the run in a slot. What an earlier run in it left does not fit its checksum.
fn parse_end(slot: &[u8], run: u64) -> Option<Vec<u8>> {
    let half = slot.get(BEGINNING..)?;
    let length = u64::from_le_bytes(half.get(CHECKSUM..END_HEADER)?.try_into().ok()?);
    let end = half.get(END_HEADER..END_HEADER.checked_add(usize::try_from(length).ok()?)?)?;
    (half[..CHECKSUM] == checksum_of_end(run, end)).then(|| end.to_vec())
}

fn checksum_of_end(run: u64, end: &[u8]) -> [u8; CHECKSUM] {
    checksum(&[&run.to_le_bytes(), end].concat())
}

fn checksum(content: &[u8]) -> [u8; CHECKSUM] {
    let mut half = [0; CHECKSUM];
    half.copy_from_slice(&blake3::hash(content).as_bytes()[..CHECKSUM]);
    half
}

fn offset(slot: u64) -> u64 {
    slot * SLOT as u64
}

fn name(id: u64) -> String {
    format!("{id:016x}")
}

/// The journal with a name; none where it is not one.
fn id(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok().filter(|id| name(*id) == text)
}

fn fault(name: &str) -> impl FnOnce(io::Error) -> Fault {
    Fault::disk(format!("{FOLDER}/{name}"))
}
