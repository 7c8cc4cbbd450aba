//! Which pages of an instance's memory have been written to.
//!
//! Reading a page maps it, and what is mapped stays so in that slot of the pool and is looked at after every later
//! call. So a memory is never read as a whole: the kernel says which pages are worth it.
#![expect(clippy::disallowed_types, reason = "the kernel answers through a file")]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::LazyLock;

/// Bits of an entry of `/proc/self/pagemap`: see `proc_pid_pagemap(5)`.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const FILE: u64 = 1 << 61;

/// The kernel's answers about this process. It is opened once, because a process that is locked in opens nothing any more.
static PAGEMAP: LazyLock<Option<File>> = LazyLock::new(|| File::open("/proc/self/pagemap").ok());

/// Opens what is read later, and asks what is asked once.
pub(crate) fn open() {
    LazyLock::force(&PAGEMAP);
    rustix::param::page_size();
}

/// The offsets of the pages of `memory` that may have been written to, and how long a page is. Where the kernel does not
/// say, that is all of them.
pub(crate) fn pages(memory: &[u8]) -> (Vec<usize>, usize) {
    let page = rustix::param::page_size();
    let offsets = (0..memory.len()).step_by(page);
    let Some(entries) = entries(memory, page) else { return (offsets.collect(), page) };
    // A page that is still the image's own is backed by its file.
    let written = |entry: u64| entry & (PRESENT | SWAPPED) != 0 && entry & FILE == 0;
    (offsets.zip(entries).filter(|(_, entry)| written(*entry)).map(|(offset, _)| offset).collect(), page)
}

/// What the kernel says of each page of `memory`.
fn entries(memory: &[u8], page: usize) -> Option<Vec<u64>> {
    let mut bytes = vec![0; memory.len() / page * size_of::<u64>()];
    let at = (memory.as_ptr().addr() / page * size_of::<u64>()) as u64;
    PAGEMAP.as_ref()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes.as_chunks().0.iter().map(|entry| u64::from_ne_bytes(*entry)).collect())
}
