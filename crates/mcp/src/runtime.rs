//! Builds the Tokio runtime, even if the system refuses threads.
//!
//! Tokio panics or hangs if a thread cannot be spawned, so threads are probed first. With two
//! workers and a blocking thread the runtime is multi-threaded; with a single thread it runs on the
//! caller's thread; without any, an error is returned.
//!
//! Invariant: a runtime that is returned has at least one blocking thread that never exits. Work
//! for which there is no other thread waits for it.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use toolcell_i18n::msgid;

/// The hint for errors about missing threads.
pub(crate) const THREADS_HINT: &str = msgid!(
    "raise the limit on processes and threads (`ulimit -u`, `pids.max` of the control group), or end other processes"
);

/// The threads that read and write messages. Tools run on threads of their own.
pub(crate) const WORKERS: usize = 2;
/// The tasks that a worker polls before it checks for new I/O. With Tokio's default of 61, a
/// principal that keeps the workers busy with cheap requests delays the input of all others by a
/// millisecond.
const EVENT_INTERVAL: u32 = 8;
/// The most blocking threads. Each principal is limited to its share of them.
const MAX_BLOCKING_THREADS: usize = 4096;
/// How long spawned threads may take to start.
const START_TIMEOUT: Duration = Duration::from_millis(500);
/// The attempts to build a runtime, and the delay between them.
const MAX_ATTEMPTS: usize = 5;
const RETRY_DELAY: Duration = Duration::from_millis(10);
/// How long an idle blocking thread is kept: longer than any server runs, so that the first one is
/// never lost.
const KEEP_ALIVE: Duration = Duration::from_hours(10 * 365 * 24);

/// Builds the runtime of a server.
///
/// # Errors
/// If no thread can be spawned.
pub(crate) fn build_runtime() -> io::Result<Runtime> {
    let several = probe_threads(WORKERS + 1).and_then(|()| retry(multi_thread_runtime));
    several.or_else(|error| {
        tracing::debug!(%error, "messages are read and written on one thread: no more threads are available");
        probe_threads(1)?;
        retry(current_thread_runtime)
    })
}

/// Retries a few times: the system may still count a thread that has just exited.
fn retry(make: impl Fn() -> io::Result<Runtime>) -> io::Result<Runtime> {
    let mut made = make();
    for _ in 1..MAX_ATTEMPTS {
        if made.is_ok() {
            break;
        }
        thread::sleep(RETRY_DELAY);
        made = make();
    }
    made
}

fn multi_thread_runtime() -> io::Result<Runtime> {
    let started = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&started);
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(WORKERS).on_thread_start(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let runtime = build(&mut builder)?;
    let began = Instant::now();
    while started.load(Ordering::Relaxed) < WORKERS {
        if began.elapsed() > START_TIMEOUT {
            runtime.shutdown_background();
            return Err(no_threads_error());
        }
        thread::sleep(Duration::from_micros(50));
    }
    ensure_blocking_thread(runtime)
}

fn current_thread_runtime() -> io::Result<Runtime> {
    build(&mut Builder::new_current_thread()).and_then(ensure_blocking_thread)
}

fn build(builder: &mut Builder) -> io::Result<Runtime> {
    let builder = builder
        .enable_all()
        .event_interval(EVENT_INTERVAL)
        .thread_keep_alive(KEEP_ALIVE)
        .max_blocking_threads(MAX_BLOCKING_THREADS);
    // Tokio panics if the system refuses the first thread.
    catch_panic_silently(|| builder.build()).unwrap_or_else(|| Err(no_threads_error()))
}

/// Runs code that panics if there are no threads, and returns `None` if it did. The panic message
/// is suppressed, because the error says the same.
fn catch_panic_silently<T>(work: impl FnOnce() -> T) -> Option<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(hook);
    done.ok()
}

/// Starts one blocking thread of a runtime.
fn ensure_blocking_thread(runtime: Runtime) -> io::Result<Runtime> {
    let started = catch_panic_silently(|| {
        runtime
            .block_on(async { tokio::time::timeout(START_TIMEOUT, tokio::task::spawn_blocking(|| ())).await.is_ok() })
    });
    match started {
        Some(true) => Ok(runtime),
        _ => {
            runtime.shutdown_background();
            Err(no_threads_error())
        }
    }
}

/// Checks that this many threads can be spawned at once.
fn probe_threads(count: usize) -> io::Result<()> {
    let hook = Mutex::new(());
    thread::scope(|scope| {
        let closed = hook.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = || drop(hook.lock());
        let threads = (0..count).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, wait).map(drop));
        drop(closed);
        threads
    })
}

fn no_threads_error() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, "the system provides no more threads for this process")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_on_one_thread_does_blocking_work_and_ends() {
        let runtime = current_thread_runtime().unwrap();
        let two = runtime.block_on(async { tokio::task::spawn_blocking(|| 2).await.unwrap() });
        assert_eq!(two, 2);
        runtime.shutdown_timeout(Duration::from_secs(10));
    }

    #[test]
    fn a_runtime_has_its_workers_where_there_are_threads() {
        assert_eq!(build_runtime().unwrap().metrics().num_workers(), WORKERS);
    }
}
