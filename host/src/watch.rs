//! The watch: ends calls whose time is up, and calls that are cancelled.
//!
//! One thread sleeps until the next deadline of a running call and then advances the engine's epoch; every running
//! call looks at its own deadline when that happens. So an idle sandbox wakes nobody, and a deadline is met within
//! the time that the guest needs to reach its next loop or call.
//!
//! Invariant: a call runs only while it is registered here.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use wasmtime::Engine;

/// How long after a tick a call that is still there gets another one: it may have been in a function of the host.
const AGAIN: Duration = Duration::from_millis(5);

/// How long the thread stays awake after the last call: calls that come one after the other need not wake it.
const LINGER: Duration = Duration::from_millis(200);

/// Ends a call from another thread. Clones end the same calls.
///
/// # Examples
/// ```
/// use toolcell_host::CancelToken;
///
/// let token = CancelToken::new();
/// token.cancel();
/// assert!(token.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<Cancel>);

#[derive(Debug, Default)]
struct Cancel {
    cancelled: AtomicBool,
    running: Mutex<Vec<Engine>>,
    changed: Condvar,
}

impl CancelToken {
    /// A token that nobody cancelled yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every call that runs with this token, and every one that will.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let running = lock(&self.0.running);
        for engine in running.iter() {
            engine.increment_epoch();
        }
        self.0.changed.notify_all();
    }

    /// Whether [`Self::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// From here until `leave`, a cancellation reaches the calls of this engine.
    fn enter(&self, engine: &Engine) {
        lock(&self.0.running).push(engine.clone());
    }

    fn leave(&self, engine: &Engine) {
        let mut running = lock(&self.0.running);
        if let Some(index) = running.iter().position(|entered| Engine::same(entered, engine)) {
            running.swap_remove(index);
        }
    }
}

/// When a call has to end, for operations that the host does for it.
#[derive(Debug, Clone)]
pub struct Until {
    deadline: Instant,
    cancel: Option<CancelToken>,
}

impl Until {
    pub(crate) fn new(deadline: Instant, cancel: Option<CancelToken>) -> Self {
        Self { deadline, cancel }
    }

    /// The moment at which the call's time is up.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether the call's time is up or it was cancelled.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_cancelled() || Instant::now() >= self.deadline
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Sleeps until `moment`, or less where the call ends before.
    pub fn sleep(&self, moment: Instant) {
        let end = moment.min(self.deadline);
        let Some(cancel) = &self.cancel else {
            std::thread::sleep(end.saturating_duration_since(Instant::now()));
            return;
        };
        let mut running = lock(&cancel.0.running);
        while !cancel.is_cancelled() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = cancel.0.changed.wait_timeout(running, left);
            running = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The thread and the deadlines it watches.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    engine: Engine,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// When each call that runs wants its next tick.
    ticks: BTreeSet<(Instant, u64)>,
    last_id: u64,
    /// When the thread wakes up by itself; `None` while it waits to be called.
    wakes: Option<Instant>,
    closed: bool,
}

impl Watch {
    /// Starts the thread.
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { engine: engine.clone(), state: Mutex::default(), changed: Condvar::new() });
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("toolcell-watch".to_owned())
            .stack_size(64 << 10)
            .spawn(move || watched.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Watches one call until what is returned is dropped.
    ///
    /// The call's instance exists already, or a tick between here and there would be lost.
    pub(crate) fn register(&self, until: &Until) -> Watched<'_> {
        let mut state = lock(&self.shared.state);
        state.last_id += 1;
        let id = state.last_id;
        state.ticks.insert((until.deadline, id));
        if state.wakes.is_none_or(|wakes| until.deadline < wakes) {
            state.wakes = Some(until.deadline);
            self.shared.changed.notify_one();
        }
        drop(state);
        if let Some(cancel) = &until.cancel {
            cancel.enter(&self.shared.engine);
            // Cancelled before it was entered: nobody else will say so.
            if cancel.is_cancelled() {
                self.shared.engine.increment_epoch();
            }
        }
        Watched { shared: &self.shared, until: until.clone(), id }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock(&self.shared.state).closed = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that could panic; if it did, there is nothing left to watch.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut state = lock(&self.state);
        while !state.closed {
            let now = Instant::now();
            let due: Vec<(Instant, u64)> = state.ticks.iter().take_while(|(tick, _)| *tick <= now).copied().collect();
            if !due.is_empty() {
                for tick in due {
                    state.ticks.remove(&tick);
                    state.ticks.insert((now + AGAIN, tick.1));
                }
                self.engine.increment_epoch();
            }
            let lingered = state.wakes.is_some_and(|wakes| wakes <= now);
            state.wakes = match state.ticks.first() {
                Some((tick, _)) => Some(*tick),
                None if lingered => None,
                None => Some(now + LINGER),
            };
            state = match state.wakes {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(wakes) => {
                    let left = wakes.saturating_duration_since(now);
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

/// One call that is being watched.
pub(crate) struct Watched<'a> {
    shared: &'a Shared,
    until: Until,
    id: u64,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        if !state.ticks.remove(&(self.until.deadline, self.id)) {
            state.ticks.retain(|(_, id)| *id != self.id);
        }
        drop(state);
        if let Some(cancel) = &self.until.cancel {
            cancel.leave(&self.shared.engine);
        }
    }
}

/// Locks; a panic elsewhere leaves these values whole, because no step between two of them can fail.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
