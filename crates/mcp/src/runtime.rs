//! The runtime of a server, on machines that give as many threads as it wants, and on those that give fewer.
//!
//! Tokio panics, or waits for ever, where the system refuses it a thread. So threads are asked for before they are counted on:
//! with two workers and one blocking thread a runtime is whole; with one thread less it works on the thread of its caller; with
//! none there is an error.
//!
//! Invariant: a runtime that is returned has a blocking thread, which stays. Work that finds no other one waits for it.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

/// What to do where no thread can be had.
pub(crate) const THREADS_HINT: &str =
    "raise the limit on processes and threads (`ulimit -u`, `pids.max` of the control group), or end other processes";

/// How many threads read and write messages. Tools run on threads of their own.
pub(crate) const WORKERS: usize = 2;
/// How many tasks a thread polls before it looks for new input. With 61, the library's default, a principal that keeps the threads busy
/// with cheap requests delays the input of all others by a millisecond.
const EVENT_INTERVAL: u32 = 8;
/// How many blocking threads there may be; each principal is held to its share of them.
const BLOCKING: usize = 4096;
/// For how long threads that were asked for are waited for.
const STARTED: Duration = Duration::from_millis(500);
/// How often a runtime is tried, and how long after each other.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(10);
/// For how long a blocking thread stays that has nothing to do: longer than any server lives, so that the first one is kept.
const STAYS: Duration = Duration::from_hours(10 * 365 * 24);

/// A runtime for a server.
///
/// # Errors
/// Where not one thread can be had.
pub(crate) fn runtime() -> io::Result<Runtime> {
    let several = ask_for(WORKERS + 1).and_then(|()| again(with_workers));
    several.or_else(|error| {
        tracing::debug!(%error, "messages are read and written on one thread: there are not more to be had");
        ask_for(1)?;
        again(on_this_thread)
    })
}

/// Tries some times: a thread that has ended is counted by the system for another moment.
fn again(make: impl Fn() -> io::Result<Runtime>) -> io::Result<Runtime> {
    let mut made = make();
    for _ in 1..TRIES {
        if made.is_ok() {
            break;
        }
        thread::sleep(PAUSE);
        made = make();
    }
    made
}

fn with_workers() -> io::Result<Runtime> {
    let started = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&started);
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(WORKERS).on_thread_start(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let runtime = built(&mut builder)?;
    let began = Instant::now();
    while started.load(Ordering::Relaxed) < WORKERS {
        if began.elapsed() > STARTED {
            runtime.shutdown_background();
            return Err(refused());
        }
        thread::sleep(Duration::from_micros(50));
    }
    with_blocking_thread(runtime)
}

fn on_this_thread() -> io::Result<Runtime> {
    built(&mut Builder::new_current_thread()).and_then(with_blocking_thread)
}

fn built(builder: &mut Builder) -> io::Result<Runtime> {
    let builder =
        builder.enable_all().event_interval(EVENT_INTERVAL).thread_keep_alive(STAYS).max_blocking_threads(BLOCKING);
    // It panics where the system refuses the first thread.
    quietly(|| builder.build()).unwrap_or_else(|| Err(refused()))
}

/// Does what panics where there are no threads; none where it did. What the library would print says nothing that the error
/// does not.
fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(hook);
    done.ok()
}

/// A runtime of which one blocking thread has started.
fn with_blocking_thread(runtime: Runtime) -> io::Result<Runtime> {
    let started = quietly(|| {
        runtime.block_on(async { tokio::time::timeout(STARTED, tokio::task::spawn_blocking(|| ())).await.is_ok() })
    });
    match started {
        Some(true) => Ok(runtime),
        _ => {
            runtime.shutdown_background();
            Err(refused())
        }
    }
}

/// Whether the system gives so many threads at once.
fn ask_for(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = || drop(gate.lock());
        let threads = (0..count).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, wait).map(drop));
        drop(closed);
        threads
    })
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, "the system gives this process no more threads")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_on_one_thread_does_blocking_work_and_ends() {
        let runtime = on_this_thread().unwrap();
        let two = runtime.block_on(async { tokio::task::spawn_blocking(|| 2).await.unwrap() });
        assert_eq!(two, 2);
        runtime.shutdown_timeout(Duration::from_secs(10));
    }

    #[test]
    fn a_runtime_has_its_workers_where_there_are_threads() {
        assert_eq!(runtime().unwrap().metrics().num_workers(), WORKERS);
    }
}
