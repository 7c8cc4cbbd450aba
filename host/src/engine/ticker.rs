//! The ticker: a thread that increments the epoch of every engine with a long-running call, about
//! once a millisecond.
//!
//! The images are compiled with Wasmtime's *epoch interruption*. At the end of an epoch the guest
//! hands its store to the host, which checks the deadline and the cancellation of the call. The
//! thread starts with the first call that outlasts a slice of fuel, ticks while there are such
//! calls, and parks soon after the last one.
//!
//! Invariant: the thread does not wake while no call is watched. A thread that cannot be started is
//! not an error: the call is told, and checks its deadline after each slice of fuel instead.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wasmtime::Engine;

use crate::per_process::PerProcess;

/// The length of an epoch.
const EPOCH: Duration = Duration::from_millis(1);
/// The number of epochs without a watched call after which the thread parks. Calls in quick
/// succession do not have to wake it.
const IDLE_EPOCHS_BEFORE_PARK: u32 = 32;
/// The delay before another attempt to start a thread that could not be started.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// The size of the thread's stack in bytes. Its code needs less than a page.
const STACK_BYTES: usize = 64 << 10;

/// The mechanism that stops calls at their deadline and on cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// Epoch interruption: a thread ticks about once a millisecond while calls run.
    Epochs,
    /// Slices of fuel: a call pauses about every 0.1 ms of native code and checks its deadline.
    /// Used where no thread can be started.
    FuelSlices,
}

impl Interruption {
    /// Returns the name used in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epochs => "epochs",
            Self::FuelSlices => "fuel-slices",
        }
    }
}

/// The ticker of this process. The thread of its parent, if it was forked, is not there.
static TICKER: PerProcess<Ticker> = PerProcess::new();

fn ticker() -> &'static Ticker {
    TICKER.get_or_init(Ticker::new)
}

struct Ticker {
    state: Mutex<State>,
    unparked: Condvar,
}

struct State {
    thread: Thread,
    /// The engines with watched calls, each with the number of its calls.
    watched: Vec<(Engine, usize)>,
}

enum Thread {
    /// The thread does not exist. If starting it failed, this is the time of the last attempt.
    Missing(Option<Instant>),
    /// The thread is ticking.
    Ticking,
    /// The thread is parked until a call wakes it.
    Parked,
}

/// A guard that keeps a call watched until it is dropped.
pub(crate) struct Watch {
    ticker: &'static Ticker,
    engine: Engine,
}

/// Starts watching a call of this engine. Returns `None` if there is no ticker thread.
pub(crate) fn watch(engine: &Engine) -> Option<Watch> {
    ticker().watch(engine)
}

/// Returns whether the ticker thread runs or can be started.
pub(crate) fn interruption() -> Interruption {
    let ticker = ticker();
    if ticker.start(&mut ticker.lock()) { Interruption::Epochs } else { Interruption::FuelSlices }
}

impl Ticker {
    const fn new() -> Self {
        let state = State { thread: Thread::Missing(None), watched: Vec::new() };
        Self { state: Mutex::new(state), unparked: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&'static self, engine: &Engine) -> Option<Watch> {
        let mut state = self.lock();
        if !self.start(&mut state) {
            return None;
        }
        match state.watched.iter_mut().find(|(watched, _)| Engine::same(watched, engine)) {
            Some((_, calls)) => *calls += 1,
            None => state.watched.push((engine.clone(), 1)),
        }
        if let Thread::Parked = state.thread {
            state.thread = Thread::Ticking;
            self.unparked.notify_one();
        }
        Some(Watch { ticker: self, engine: engine.clone() })
    }

    /// Starts the thread if it does not exist, unless an attempt failed less than [`RETRY_DELAY`]
    /// ago.
    fn start(&'static self, state: &mut State) -> bool {
        let Thread::Missing(failed) = state.thread else { return true };
        if failed.is_some_and(|failed| failed.elapsed() < RETRY_DELAY) {
            return false;
        }
        let started =
            thread::Builder::new().name("toolcell-ticker".to_owned()).stack_size(STACK_BYTES).spawn(move || self.run());
        state.thread = match &started {
            Ok(_) => Thread::Ticking,
            Err(error) => {
                tracing::debug!(%error, "no epoch thread: deadlines are checked after each slice of fuel");
                Thread::Missing(Some(Instant::now()))
            }
        };
        started.is_ok()
    }

    /// Ticks and parks for the lifetime of the process.
    fn run(&self) {
        let mut idle = 0;
        loop {
            let mut state = self.lock();
            idle = if state.watched.is_empty() { idle + 1 } else { 0 };
            if idle > IDLE_EPOCHS_BEFORE_PARK {
                state.thread = Thread::Parked;
                while let Thread::Parked = state.thread {
                    state = self.unparked.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                idle = 0;
            }
            for (engine, _) in &state.watched {
                engine.increment_epoch();
            }
            drop(state);
            thread::sleep(EPOCH);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut state = self.ticker.lock();
        if let Some(at) = state.watched.iter().position(|(watched, _)| Engine::same(watched, &self.engine)) {
            state.watched[at].1 -= 1;
            if state.watched[at].1 == 0 {
                state.watched.swap_remove(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::config::{self, ImageKind};

    /// A separate ticker, which the calls of other tests do not wake.
    fn ticker() -> &'static Ticker {
        Box::leak(Box::new(Ticker::new()))
    }

    fn engine() -> Engine {
        Engine::new(&config::config(ImageKind::Interpreted).unwrap()).unwrap()
    }

    #[track_caller]
    fn soon(is: impl Fn() -> bool) {
        let began = Instant::now();
        while !is() {
            assert!(began.elapsed() < Duration::from_secs(10), "it does not come");
            thread::yield_now();
        }
    }

    fn is_parked(ticker: &Ticker) -> bool {
        matches!(ticker.lock().thread, Thread::Parked)
    }

    #[test]
    fn nothing_ticks_before_the_first_watched_call_and_it_parks_after_the_last() {
        let (ticker, engine) = (ticker(), engine());
        assert!(matches!(ticker.lock().thread, Thread::Missing(None)));
        for _ in 0..2 {
            let first = ticker.watch(&engine).unwrap();
            let second = ticker.watch(&engine).unwrap();
            assert!(matches!(ticker.lock().thread, Thread::Ticking));
            drop(first);
            assert_eq!(ticker.lock().watched.len(), 1);
            assert!(!is_parked(ticker));
            drop(second);
            assert!(ticker.lock().watched.is_empty());
            // It waits without a timeout now: only the next call wakes it.
            soon(|| is_parked(ticker));
        }
    }

    #[test]
    fn engines_are_watched_apart() {
        let (ticker, one, other) = (ticker(), engine(), engine());
        let watches = [ticker.watch(&one), ticker.watch(&other), ticker.watch(&one)];
        let calls: Vec<usize> = ticker.lock().watched.iter().map(|(_, calls)| *calls).collect();
        assert_eq!(calls, [2, 1]);
        drop(watches);
        assert!(ticker.lock().watched.is_empty());
    }

    #[test]
    fn a_thread_that_cannot_be_started_is_not_tried_again_at_once() {
        let (ticker, engine) = (ticker(), engine());
        let failed = |ago| ticker.lock().thread = Thread::Missing(Instant::now().checked_sub(ago));
        failed(Duration::ZERO);
        assert!(ticker.watch(&engine).is_none());
        assert!(ticker.lock().watched.is_empty());
        failed(RETRY_DELAY);
        assert!(ticker.watch(&engine).is_some());
    }
}
