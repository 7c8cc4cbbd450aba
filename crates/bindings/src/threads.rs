//! The threads of the packages, beside those of the host's language.
//!
//! Invariant: a process that was forked has threads of its own: those of its parent are not there.

use std::mem::forget;
use std::process::id;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};
use toolcell_error::ErrorCode;

use crate::failure::Failure;

/// The most threads. More work waits.
const MAX_THREADS: usize = 256;

/// The threads, with the process that they belong to.
static THREADS: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// Runs work that may block on another thread.
///
/// # Errors
/// `no-instance`: no thread can be started.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
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
