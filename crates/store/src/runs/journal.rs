//! The run journal: a file of started and unfinished runs, which survives the process.
//!
//! ```text
//! running/00c0ffee00c0ffee   slots of 4 KiB: the first KiB for the start of a run, the rest for its end
//!   start   checksum, number of the run, number of an audit line before it, length, payload
//!   end     checksum, length, end note; the checksum also covers the number of the run
//! ```
//!
//! Invariant: a journal stays locked as long as a process is responsible for its runs: the one that
//! starts them, or one that recovers those of a dead process. The file gets its final name only
//! once it is locked, and is removed when no slot in it is used. A slot with a wrong checksum holds
//! no run: it is free, or was being written during a power failure.

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::fs::Dir;
use toolcell_i18n::message;

use crate::directory::{Directory, private_options};
use crate::error::{Fault, Reason};
use crate::objects::list_names;

use super::run_id::RunId;

/// The folder of the journals in the directory of the store.
pub(crate) const FOLDER: &str = "running";
/// The size of a slot. A slot is a page, so one write changes its half atomically, and a disk that
/// had room for the start of a run has room for its end.
const SLOT_BYTES: usize = 4096;
/// The size of the first part of a slot, for the start of the run.
const START_BYTES: usize = 1024;
/// The size of a checksum: the first half of a hash over what follows it in the slot. If it is all
/// zeros, the slot is free.
const CHECKSUM_BYTES: usize = 16;
/// The size of the start header: the checksum, then eight bytes each for the number of the run, the
/// number of an audit line before it, and the length of the payload.
const START_HEADER_BYTES: usize = CHECKSUM_BYTES + 3 * 8;
/// The maximum size of the payload of a run, in bytes.
pub const PAYLOAD_LIMIT: usize = START_BYTES - START_HEADER_BYTES;
/// The maximum size of an end note, in bytes.
pub(crate) const END_LIMIT: usize = SLOT_BYTES - START_BYTES - END_HEADER_BYTES;
/// The size of the end header: checksum and length.
const END_HEADER_BYTES: usize = CHECKSUM_BYTES + 8;
/// The maximum number of slots that are read from a journal; more runs are never active at once.
const SLOTS_LIMIT: u64 = 1 << 16;

/// A journal, while it is locked.
pub(crate) struct Journal {
    folder: Dir,
    id: u64,
    file: File,
    slots: Mutex<Slots>,
}

/// The use of the slots.
#[derive(Default)]
struct Slots {
    /// The number of the next run.
    next_run: u64,
    /// The number of slots in the file.
    count: u64,
    /// The free slots.
    free: Vec<u64>,
    /// Slots of runs that were dropped unfinished and wait for recovery.
    abandoned: Vec<u64>,
}

/// The slot of a run. If it is dropped without being cleared, the run is found by recovery.
pub(crate) struct Slot {
    journal: Arc<Journal>,
    /// `None` once the slot is free.
    number: Option<u64>,
}

/// The content of a used slot.
pub(crate) struct OpenSlot {
    pub(crate) slot: Slot,
    pub(crate) run: RunId,
    /// The sequence number of an audit line that precedes the line of the run.
    pub(crate) after_seq: u64,
    pub(crate) payload: Vec<u8>,
    /// The end note, if the run finished.
    pub(crate) end: Option<Vec<u8>>,
}

impl Journal {
    /// Creates an empty journal.
    pub(crate) fn create(directory: &Directory) -> Result<Self, Fault> {
        let (folder, tmp) = (directory.open_folder(FOLDER)?, directory.open_folder("tmp")?);
        // The standard library seeds each hash map with different random numbers of the system.
        let id = std::collections::hash_map::RandomState::new().build_hasher().finish();
        let name = file_name(id);
        let unlocked = format!("{FOLDER}.{name}");
        let made = || {
            let file = tmp.open_with(&unlocked, private_options().create_new(true).read(true).write(true))?.into_std();
            file.try_lock()?;
            tmp.rename(&unlocked, &folder, &name)?;
            Ok(file)
        };
        match made() {
            Ok(file) => Ok(Self { folder, id, file, slots: Mutex::new(Slots { next_run: 1, ..Slots::default() }) }),
            Err(error) => {
                // If this fails too, `gc` removes the file.
                let _ = tmp.remove_file(&unlocked);
                Err(fault(&name)(error))
            }
        }
    }

    /// The journals of dead processes, except those that another process is recovering.
    pub(crate) fn orphans(directory: &Directory) -> Result<Vec<Arc<Self>>, Fault> {
        if directory.root().symlink_metadata(FOLDER).is_err() {
            return Ok(Vec::new());
        }
        let names = list_names(&directory.open_folder(FOLDER)?).map_err(Fault::disk(FOLDER))?;
        let ids = names.iter().filter_map(|name| parse_file_name(name.to_str()?));
        ids.filter_map(|id| Self::orphan(directory, id).transpose()).collect()
    }

    fn orphan(directory: &Directory, id: u64) -> Result<Option<Arc<Self>>, Fault> {
        let folder = directory.open_folder(FOLDER)?;
        let name = file_name(id);
        let locked = || -> io::Result<Option<File>> {
            // Other entries in the folder are ignored.
            if !folder.symlink_metadata(&name).is_ok_and(|metadata| metadata.is_file()) {
                return Ok(None);
            }
            let file = match folder.open_with(&name, private_options().read(true).write(true)) {
                Ok(file) => file.into_std(),
                // Another process was faster.
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
                if decode_start(&slot).is_some() { slots.abandoned.push(number) } else { slots.free.push(number) }
            }
        }
        Ok(Some(Arc::new(journal)))
    }

    /// Starts a run. Once this returns, recovery finds the run after a crash of the process.
    pub(crate) fn start_run(
        self: &Arc<Self>,
        after: u64,
        payload: impl FnOnce(&RunId) -> Vec<u8>,
    ) -> Result<(Slot, RunId), Fault> {
        let run = self.next_run_id();
        let payload = payload(&run);
        if payload.len() > PAYLOAD_LIMIT {
            let (len, limit) = (payload.len(), PAYLOAD_LIMIT);
            let reason = message!("the start record of a run is {len} bytes, the limit is {limit}", len, limit);
            return Err(fault(&file_name(self.id))(Reason::io(ErrorKind::InvalidInput, reason)));
        }
        let number = self.take_slot();
        let slot = Slot { journal: Arc::clone(self), number: Some(number) };
        match self.file.write_all_at(&encode_start(run.number(), after, &payload), offset(number)) {
            Ok(()) => Ok((slot, run)),
            Err(error) => {
                // A partially written start must not be found.
                slot.clear().map_err(fault(&file_name(self.id)))?;
                Err(fault(&file_name(self.id))(error))
            }
        }
    }

    /// Takes the unfinished runs, for recovery.
    pub(crate) fn take_abandoned(self: &Arc<Self>) -> Result<Vec<OpenSlot>, Fault> {
        let left = std::mem::take(&mut self.slots().abandoned);
        let slots: Vec<(u64, Slot)> =
            left.into_iter().map(|number| (number, Slot { journal: Arc::clone(self), number: Some(number) })).collect();
        let mut open = Vec::new();
        // If a read fails, dropping the slots makes them abandoned again.
        for (number, slot) in slots {
            let bytes = self.read(number).map_err(fault(&file_name(self.id)))?;
            if let Some((run, after, payload)) = decode_start(&bytes) {
                let (payload, end) = (payload.to_vec(), decode_end(&bytes, run));
                open.push(OpenSlot { slot, run: RunId::new(self.id, run), after_seq: after, payload, end });
            }
        }
        Ok(open)
    }

    fn next_run_id(&self) -> RunId {
        let mut slots = self.slots();
        slots.next_run += 1;
        RunId::new(self.id, slots.next_run - 1)
    }

    fn take_slot(&self) -> u64 {
        let mut slots = self.slots();
        slots.free.pop().unwrap_or_else(|| {
            slots.count += 1;
            slots.count - 1
        })
    }

    /// Reads a slot; empty if the file ends before it.
    fn read(&self, number: u64) -> io::Result<Vec<u8>> {
        let (mut slot, mut len) = (vec![0; SLOT_BYTES], 0);
        while len < SLOT_BYTES {
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

    /// A poisoned lock is fine: a thread that panicked leaves the slots consistent.
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Journal {
    /// Removes the journal if no slot is used.
    fn drop(&mut self) {
        let slots = self.slots();
        if slots.free.len() as u64 == slots.count {
            // If this fails, the next recovery removes the empty journal.
            let _ = self.folder.remove_file(file_name(self.id));
        }
    }
}

impl Slot {
    /// Writes the end note of a run, at most [`END_LIMIT`] bytes. From now on recovery finds it
    /// after a crash of the process.
    pub(crate) fn write_end(&self, run: RunId, end: &[u8]) -> io::Result<()> {
        let Some(number) = self.number else { return Ok(()) };
        self.journal.file.write_all_at(&encode_end(run.number(), end), offset(number) + START_BYTES as u64)
    }

    /// Frees the slot of a finished run.
    pub(crate) fn clear(mut self) -> io::Result<()> {
        let Some(number) = self.number else { return Ok(()) };
        self.journal.file.write_all_at(&[0; CHECKSUM_BYTES], offset(number))?;
        self.number = None;
        self.journal.slots().free.push(number);
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.journal.slots().abandoned.push(number);
        }
    }
}

fn encode_start(run: u64, after: u64, payload: &[u8]) -> Vec<u8> {
    let mut slot = Vec::with_capacity(START_HEADER_BYTES + payload.len());
    slot.resize(CHECKSUM_BYTES, 0);
    for number in [run, after, payload.len() as u64] {
        slot.extend(number.to_le_bytes());
    }
    slot.extend(payload);
    let checksum = checksum(&slot[CHECKSUM_BYTES..]);
    slot[..CHECKSUM_BYTES].copy_from_slice(&checksum);
    slot
}

/// The number of the run in a slot, the audit line before it, and its payload; `None` if the slot
/// holds no run.
fn decode_start(slot: &[u8]) -> Option<(u64, u64, &[u8])> {
    let number = |at: usize| Some(u64::from_le_bytes(slot.get(at..at + 8)?.try_into().ok()?));
    let [run, after, length] = [number(CHECKSUM_BYTES)?, number(CHECKSUM_BYTES + 8)?, number(CHECKSUM_BYTES + 16)?];
    let end = START_HEADER_BYTES.checked_add(usize::try_from(length).ok()?)?;
    let content = slot.get(CHECKSUM_BYTES..end)?;
    (slot[..CHECKSUM_BYTES] == checksum(content)).then_some((run, after, &slot[START_HEADER_BYTES..end]))
}

fn encode_end(run: u64, end: &[u8]) -> Vec<u8> {
    let mut half = Vec::with_capacity(END_HEADER_BYTES + end.len());
    half.extend(checksum_of_end(run, end));
    half.extend((end.len() as u64).to_le_bytes());
    half.extend(end);
    half
}

/// The end note of the run in a slot. The checksum covers the number of the run, so a note left by
/// an earlier run does not match.
fn decode_end(slot: &[u8], run: u64) -> Option<Vec<u8>> {
    let half = slot.get(START_BYTES..)?;
    let length = u64::from_le_bytes(half.get(CHECKSUM_BYTES..END_HEADER_BYTES)?.try_into().ok()?);
    let end = half.get(END_HEADER_BYTES..END_HEADER_BYTES.checked_add(usize::try_from(length).ok()?)?)?;
    (half[..CHECKSUM_BYTES] == checksum_of_end(run, end)).then(|| end.to_vec())
}

fn checksum_of_end(run: u64, end: &[u8]) -> [u8; CHECKSUM_BYTES] {
    checksum(&[&run.to_le_bytes(), end].concat())
}

fn checksum(content: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut half = [0; CHECKSUM_BYTES];
    half.copy_from_slice(&blake3::hash(content).as_bytes()[..CHECKSUM_BYTES]);
    half
}

fn offset(slot: u64) -> u64 {
    slot * SLOT_BYTES as u64
}

fn file_name(id: u64) -> String {
    format!("{id:016x}")
}

/// Parses the file name of a journal; `None` if it is not one.
fn parse_file_name(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok().filter(|id| file_name(*id) == text)
}

fn fault(name: &str) -> impl FnOnce(io::Error) -> Fault {
    Fault::disk(format!("{FOLDER}/{name}"))
}
