//! The ticker: a thread that ends an epoch of each engine that runs a long call, about every millisecond.
//!
//! The images are compiled with checks of the engine's epoch (Wasmtime's *epoch interruption*). When one has ended, the guest lends its
//! store to the host, which looks whether the call has reached its deadline or was cancelled. The thread starts with the first call
//! that outlasts a slice of fuel, ticks while there are such calls, and parks soon after the last of them.
//!
//! Invariant: nothing wakes up while nothing is watched, and a thread that cannot be started is no error: whoever asks is told, and
//! looks after each slice of fuel instead.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wasmtime::Engine;

/// How long an epoch is.
const TICK: Duration = Duration::from_millis(1);
/// How many epochs pass without a watched call before the thread parks: calls that follow each other need not wake it.
const LINGER: u32 = 32;
/// How long a thread that could not be started is not tried again.
const RETRY: Duration = Duration::from_secs(1);
/// Bytes of the thread's stack. It calls nothing that needs more than a page.
const STACK: usize = 64 << 10;

/// How a sandbox ends calls at their deadline, and when they are cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// By epoch interruption: a thread ticks about every millisecond while calls run.
    Epochs,
    /// By slices of fuel: a call pauses about every 0.1 ms of native code, and looks. This is so where no thread can be started.
    FuelSlices,
}

impl Interruption {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epochs => "epochs",
            Self::FuelSlices => "fuel-slices",
        }
    }
}

/// The one of this process.
static TICKER: Ticker = Ticker::new();

struct Ticker {
    state: Mutex<State>,
    wakes: Condvar,
}

struct State {
    thread: Thread,
    /// The engines that run watched calls, and how many each runs.
    watched: Vec<(Engine, usize)>,
}

enum Thread {
    /// There is none. Where it could not be started, this is when.
    Missing(Option<Instant>),
    /// It ticks.
    Ticks,
    /// It waits to be woken.
    Parked,
}

/// A call that is watched, until this is dropped.
pub(crate) struct Watch {
    ticker: &'static Ticker,
    engine: Engine,
}

/// Ends the epochs of this engine from now on, if there is a thread that does.
pub(crate) fn watch(engine: &Engine) -> Option<Watch> {
    TICKER.watch(engine)
}

/// Whether there is a thread, or one can be started.
pub(crate) fn interruption() -> Interruption {
    if TICKER.start(&mut TICKER.lock()) { Interruption::Epochs } else { Interruption::FuelSlices }
}

impl Ticker {
    const fn new() -> Self {
        let state = State { thread: Thread::Missing(None), watched: Vec::new() };
        Self { state: Mutex::new(state), wakes: Condvar::new() }
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
            state.thread = Thread::Ticks;
            self.wakes.notify_one();
        }
        Some(Watch { ticker: self, engine: engine.clone() })
    }

    /// Starts the thread where there is none, unless that failed just now.
    fn start(&'static self, state: &mut State) -> bool {
        let Thread::Missing(failed) = state.thread else { return true };
        if failed.is_some_and(|failed| failed.elapsed() < RETRY) {
            return false;
        }
        let started =
            thread::Builder::new().name("toolcell-ticker".to_owned()).stack_size(STACK).spawn(move || self.run());
        state.thread = match &started {
            Ok(_) => Thread::Ticks,
            Err(error) => {
                tracing::debug!(%error, "no thread for epochs: calls look at their deadline after slices of fuel");
                Thread::Missing(Some(Instant::now()))
            }
        };
        started.is_ok()
    }

    /// Ticks and parks, for as long as the process lives.
    fn run(&self) {
        let mut idle = 0;
        loop {
            let mut state = self.lock();
            idle = if state.watched.is_empty() { idle + 1 } else { 0 };
            if idle > LINGER {
                state.thread = Thread::Parked;
                while let Thread::Parked = state.thread {
                    state = self.wakes.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                idle = 0;
            }
            for (engine, _) in &state.watched {
                engine.increment_epoch();
            }
            drop(state);
            thread::sleep(TICK);
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
    use crate::tunables::{self, Kind};

    /// One of its own, which no other test's calls wake.
    fn ticker() -> &'static Ticker {
        Box::leak(Box::new(Ticker::new()))
    }

    fn engine() -> Engine {
        Engine::new(&tunables::config(Kind::Interpreted).unwrap()).unwrap()
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
            assert!(matches!(ticker.lock().thread, Thread::Ticks));
            drop(first);
            assert_eq!(ticker.lock().watched.len(), 1);
            assert!(!is_parked(ticker));
            drop(second);
            assert!(ticker.lock().watched.is_empty());
            // It waits without a timeout then: nothing wakes it but the next call.
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
        failed(RETRY);
        assert!(ticker.watch(&engine).is_some());
    }
}
