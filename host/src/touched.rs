//! Which pages of an instance's memory have been written to.
//!
//! Reading a page maps it, and what is mapped stays so in that slot of the pool and is looked at after every later
//! call. So a memory is never read as a whole: the kernel says which pages are worth it.
#![expect(clippy::disallowed_types, reason = "the kernel answers through a file")]

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::image;

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
    let pages = written(memory, page);
    (pages.unwrap_or_else(|| (0..memory.len()).step_by(page).collect()), page)
}

/// Gives the pages of an ended instance's `memory` back that have been written to and are fresh all the same: they are the image's
/// again.
pub(crate) fn give_back(memory: &mut [u8], is_fresh: impl Fn(usize, &[u8]) -> bool) {
    let page = rustix::param::page_size();
    let mut runs: Vec<Range<usize>> = Vec::new();
    for from in written(memory, page).unwrap_or_default() {
        let end = from + page;
        if !is_fresh(from, &memory[from..end]) {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.end == from => run.end = end,
            _ => runs.push(from..end),
        }
    }
    for run in runs {
        image::give_back(&mut memory[run]);
    }
}

/// The offsets of the pages that were written to, if the kernel says.
fn written(memory: &[u8], page: usize) -> Option<Vec<usize>> {
    let entries = entries(memory, page)?;
    // A page that is still the image's own is backed by its file.
    let written = |entry: u64| entry & (PRESENT | SWAPPED) != 0 && entry & FILE == 0;
    let offsets = (0..memory.len()).step_by(page).zip(entries);
    Some(offsets.filter(|(_, entry)| written(*entry)).map(|(offset, _)| offset).collect())
}

/// What the kernel says of each page of `memory`.
fn entries(memory: &[u8], page: usize) -> Option<Vec<u64>> {
    let mut bytes = vec![0; memory.len() / page * size_of::<u64>()];
    let at = (memory.as_ptr().addr() / page * size_of::<u64>()) as u64;
    PAGEMAP.as_ref()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes.as_chunks().0.iter().map(|entry| u64::from_ne_bytes(*entry)).collect())
}

/// When the slot of a call is tidied. What was touched once is put in order after each later call there, which costs short ones up
/// to an eighth; but tidying takes as long as a few of them, and the next script that is evaluated touches it all again.
#[derive(Default)]
pub(crate) struct Tidying {
    /// How many calls there were since a script was evaluated.
    calls: AtomicU64,
}

impl Tidying {
    /// After so many calls for the first time, and whenever there have been twice as many: not where each script is called once.
    const FIRST: u64 = 32;

    pub(crate) fn begin_again(&self) {
        self.calls.store(0, Ordering::Relaxed);
    }

    pub(crate) fn is_due(&self) -> bool {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        calls >= Self::FIRST && calls.is_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Inside;
    use crate::until::Until;
    use crate::{Budget, Kind, Loaded, Outcome, Params, Run, Sandbox, SandboxConfig, Script};

    #[test]
    fn what_evaluating_scripts_touched_is_given_back_after_some_calls_and_not_before() {
        let sandbox = Sandbox::new(&SandboxConfig { slots: 1, images: vec![Kind::Roomy] });
        // A machine of few addresses keeps no slots.
        let Ok(sandbox) = sandbox else { return };
        let (budget, run) = (Budget::default(), Run::default());
        let until = Until::new(std::time::Instant::now() + budget.deadline, None);
        let touched = || {
            let cell =
                sandbox.guest.instantiate(Inside::of(&budget, &run, &until)).unwrap_or_else(|error| panic!("{error}"));
            written(cell.memory.data(&cell.store), rustix::param::page_size()).map(|pages| pages.len())
        };
        let prepare = |source| match sandbox.prepare(&Script { name: "tool", source }, &budget, &run) {
            Ok(Loaded::Ready(prepared)) => prepared,
            _ => panic!("it is a tool"),
        };
        let large =
            "const list = Array.from({ length: 2000 }, (_, at) => ({ at })); const execute = () => list.length;";
        let call = |prepared, result: &str| match sandbox.call(prepared, &Params::default(), &budget, &run) {
            Ok(report) => {
                assert!(matches!(&report.outcome, Outcome::Returned(Some(value)) if value.as_str() == result));
            }
            Err(error) => panic!("{error}"),
        };
        let (large, small) = (prepare(large), prepare("const execute = () => 42;"));
        call(&large, "2000");
        // Without /proc, the kernel does not say.
        let Some(much) = touched() else { return };
        for _ in 1..Tidying::FIRST {
            assert_eq!(touched(), Some(much));
            call(&small, "42");
        }
        let little = touched().unwrap_or_default();
        assert!(little < much, "{little} pages, {much} before");
        call(&large, "2000");
        call(&small, "42");
        assert!(touched() > Some(little));
    }
}
