//! The threads of the packages, beside those of the host's language.
//!
//! Invariant: a process that was forked has threads of its own: those of its parent are not there.

use std::mem::forget;
use std::process::id;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};
use toolcell_error::ErrorCode;

use crate::failure::Failure;

/// The most threads of each kind. More work waits.
const MAX_THREADS: usize = 256;
/// The most runs that may wait for another one: each takes no slot from those that it waits for.
pub(crate) const MAX_DEPTH: u32 = 4;
/// The kinds of work: control, and runs by the number of runs that wait for them.
const KINDS: usize = 2 + MAX_DEPTH as usize;

/// The kind of work, by what it may wait for. Work of one kind never waits for a thread of another one:
/// a person who does not answer holds up neither `close` nor what a function of a run has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// What ends by itself: opening, closing, and the operations on stored tools.
    Control,
    /// A run, or a decision, for which as many runs wait.
    Run {
        /// How many runs wait for it.
        depth: u32,
    },
}

impl Work {
    fn index(self) -> usize {
        match self {
            Self::Control => 0,
            Self::Run { depth } => 1 + depth.min(MAX_DEPTH) as usize,
        }
    }
}

/// The threads of each kind, with the process that they belong to.
static THREADS: Mutex<[Option<(u32, Runtime)>; KINDS]> = Mutex::new([const { None }; KINDS]);

/// Does work that may block on another thread.
///
/// # Errors
/// `no-instance`: no thread can be started.
pub fn spawn(kind: Work, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let threads = &mut threads[kind.index()];
    if threads.as_ref().is_none_or(|(owner, _)| *owner != id()) {
        let runtime = Builder::new_current_thread().max_blocking_threads(MAX_THREADS).thread_name("toolcell").build();
        let runtime = runtime.map_err(|error| {
            Failure::refused(
                ErrorCode::NoInstance,
                format!("no thread can be started: {error}"),
                "end other work first",
            )
        })?;
        if let Some(of_parent) = threads.replace((id(), runtime)) {
            // Its threads are not in this process: there is nothing to end.
            forget(of_parent);
        }
    }
    if let Some((_, runtime)) = &*threads {
        drop(runtime.spawn_blocking(work));
    }
    Ok(())
}
