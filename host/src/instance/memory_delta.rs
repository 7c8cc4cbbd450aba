//! Snapshots of an instance's memory, as the difference from a fresh instance.
//!
//! Invariant: an instance into which a delta was restored has the memory of the instance that the
//! delta was taken from. The shadow stack is not part of a delta: it is empty between calls.

use wasmtime::Val;

use super::GuestInstance;
use super::dirty_pages;
use crate::engine::{BLOCK_BYTES, fresh_block};

/// [`BLOCK_BYTES`] as the type of offsets in a delta.
const BLOCK_BYTES_U32: u32 = 64;
const _: () = assert!(BLOCK_BYTES_U32 as usize == BLOCK_BYTES);

/// The difference between an instance's memory and that of a fresh instance.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MemoryDelta {
    /// The start and the length of each run of changed blocks, in bytes.
    pub(crate) runs: Vec<(u32, u32)>,
    /// The contents of all runs, concatenated.
    pub(crate) bytes: Vec<u8>,
    pub(crate) memory_bytes: usize,
    pub(crate) stack_pointer: i32,
}

impl MemoryDelta {
    /// Returns the size of the instance's memory in bytes.
    pub(crate) fn memory_size(&self) -> usize {
        self.memory_bytes
    }

    /// Returns the heap size of this value in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.runs)
    }
}

impl GuestInstance<'_> {
    /// Returns the difference from a fresh instance. The shadow stack is left out: it is empty
    /// between calls.
    pub(crate) fn memory_delta(&mut self) -> wasmtime::Result<MemoryDelta> {
        let stack_pointer = self.stack_pointer.get(&mut self.store).i32().unwrap_or(0);
        let stack = usize::try_from(stack_pointer)?;
        let memory = self.memory.data(&self.store);
        let mut changes =
            MemoryDelta { runs: Vec::new(), bytes: Vec::new(), memory_bytes: memory.len(), stack_pointer };
        let (pages, length) = dirty_pages::dirty_or_all_pages(memory);
        for page in pages.into_iter().filter(|page| page + length > stack) {
            for at in (page..page + length).step_by(BLOCK_BYTES).filter(|at| *at >= stack) {
                let line = &memory[at..at + BLOCK_BYTES];
                if line == fresh_block(at) {
                    continue;
                }
                let start = u32::try_from(at)?;
                match changes.runs.last_mut() {
                    Some((run, len)) if *run + *len == start => *len += BLOCK_BYTES_U32,
                    _ => changes.runs.push((start, BLOCK_BYTES_U32)),
                }
                changes.bytes.extend_from_slice(line);
            }
        }
        changes.runs.shrink_to_fit();
        changes.bytes.shrink_to_fit();
        Ok(changes)
    }

    /// Releases the dirty pages whose contents equal those of a fresh instance. They stem from
    /// earlier instances in the same slot of the pool and would be reset after every call. The
    /// instance must have ended.
    pub(crate) fn release_clean_pages(&mut self) {
        let memory = self.memory.data_mut(&mut self.store);
        dirty_pages::discard_clean(memory, |from, page| {
            page.chunks_exact(BLOCK_BYTES).zip((from..).step_by(BLOCK_BYTES)).all(|(line, at)| line == fresh_block(at))
        });
    }

    /// Applies a memory delta to this fresh instance.
    pub(crate) fn restore(&mut self, changes: &MemoryDelta) -> wasmtime::Result<()> {
        let missing = changes.memory_bytes.saturating_sub(self.memory.data_size(&self.store));
        if missing > 0 {
            self.memory.grow(&mut self.store, (missing as u64).div_ceil(64 << 10))?;
        }
        let memory = self.memory.data_mut(&mut self.store);
        let mut bytes = &*changes.bytes;
        for (start, len) in &changes.runs {
            let (run, rest) = bytes.split_at(*len as usize);
            memory[*start as usize..][..run.len()].copy_from_slice(run);
            bytes = rest;
        }
        self.stack_pointer.set(&mut self.store, Val::I32(changes.stack_pointer))
    }
}
