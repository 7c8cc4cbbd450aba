//! Tracking of dirty pages in an instance's memory.
//!
//! Reading a page maps it. A mapped page stays mapped in its slot of the pool and is inspected
//! after every later call. So a memory is never scanned as a whole: the kernel reports which pages
//! are dirty.
#![expect(clippy::disallowed_types, reason = "the kernel answers through a file")]

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine;
use crate::per_process::PerProcess;

/// Bits of an entry in `/proc/self/pagemap`: see `proc_pid_pagemap(5)`.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const FILE: u64 = 1 << 61;

/// The kernel's page map of this process. It is opened once, because a confined process cannot open
/// files. A forked process that read that of its parent would take other pages for dirty.
static PAGEMAP: PerProcess<Option<File>> = PerProcess::new();

fn pagemap() -> Option<&'static File> {
    PAGEMAP.get_or_init(|| File::open("/proc/self/pagemap").ok()).as_ref()
}

/// Opens the page map and caches the page size, before the process is confined.
pub(crate) fn init() {
    pagemap();
    rustix::param::page_size();
}

/// Returns the offsets of the pages of `memory` that may be dirty, and the page size. If the kernel
/// does not report dirty pages, these are all pages.
pub(crate) fn dirty_or_all_pages(memory: &[u8]) -> (Vec<usize>, usize) {
    let page = rustix::param::page_size();
    let pages = dirty_pages(memory, page);
    (pages.unwrap_or_else(|| (0..memory.len()).step_by(page).collect()), page)
}

/// Releases the dirty pages of an ended instance's `memory` whose contents are those of a fresh
/// instance.
pub(crate) fn discard_clean(memory: &mut [u8], is_fresh: impl Fn(usize, &[u8]) -> bool) {
    let page = rustix::param::page_size();
    let mut runs: Vec<Range<usize>> = Vec::new();
    for from in dirty_pages(memory, page).unwrap_or_default() {
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
        engine::discard_pages(&mut memory[run]);
    }
}

/// Returns the offsets of the dirty pages, if the kernel reports them.
fn dirty_pages(memory: &[u8], page: usize) -> Option<Vec<usize>> {
    let entries = pagemap_entries(memory, page)?;
    // A page that is still the image's own is backed by a file.
    let written = |entry: u64| entry & (PRESENT | SWAPPED) != 0 && entry & FILE == 0;
    let offsets = (0..memory.len()).step_by(page).zip(entries);
    Some(offsets.filter(|(_, entry)| written(*entry)).map(|(offset, _)| offset).collect())
}

/// Reads the page map entries of `memory`.
fn pagemap_entries(memory: &[u8], page: usize) -> Option<Vec<u64>> {
    let mut bytes = vec![0; memory.len() / page * size_of::<u64>()];
    let at = (memory.as_ptr().addr() / page * size_of::<u64>()) as u64;
    pagemap()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes.as_chunks().0.iter().map(|entry| u64::from_ne_bytes(*entry)).collect())
}

/// The schedule for releasing clean pages of a slot. A page that was touched once is reset after
/// each later call in the slot, which slows short calls down by up to an eighth. Releasing takes as
/// long as a few short calls, and evaluating the next script touches the pages again.
#[derive(Default)]
pub(crate) struct ReclaimSchedule {
    /// The number of calls since a script was evaluated.
    calls: AtomicU64,
}

impl ReclaimSchedule {
    /// Pages are released after this many calls, and again each time the count doubles: never if
    /// each script is called once.
    const MIN_CALLS: u64 = 32;

    pub(crate) fn restart(&self) {
        self.calls.store(0, Ordering::Relaxed);
    }

    pub(crate) fn is_due(&self) -> bool {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        calls >= Self::MIN_CALLS && calls.is_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::HostState;
    use crate::{
        Budget, CallContext, CallDeadline, ImageKind, Outcome, Params, PrepareResult, Sandbox, SandboxOptions,
        ScriptSource,
    };

    #[test]
    fn what_evaluating_scripts_touched_is_given_back_after_some_calls_and_not_before() {
        let sandbox = Sandbox::new(&SandboxOptions { slots: 1, images: vec![ImageKind::Roomy] });
        // A machine with little address space has no pool.
        let Ok(sandbox) = sandbox else { return };
        let (budget, run) = (Budget::default(), CallContext::default());
        let until = CallDeadline::new(std::time::Instant::now() + budget.deadline, None);
        let touched = || {
            let cell = sandbox
                .guest
                .instantiate(HostState::for_run(&budget, &run, &until))
                .unwrap_or_else(|error| panic!("{error}"));
            dirty_pages(cell.memory.data(&cell.store), rustix::param::page_size()).map(|pages| pages.len())
        };
        let prepare = |source| match sandbox.prepare(&ScriptSource { name: "tool", source }, &budget, &run) {
            Ok(PrepareResult::Ready(prepared)) => prepared,
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
        // Without `/proc` the kernel does not report dirty pages.
        let Some(much) = touched() else { return };
        for _ in 1..ReclaimSchedule::MIN_CALLS {
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
