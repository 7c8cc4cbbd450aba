//! When a call has to end: at its deadline, or when somebody cancels it.
//!
//! Nobody watches a call from outside. It stops by itself after each slice of fuel and looks
//! ([`Cell`](crate::instance::Cell)), so a deadline needs no thread, no signal and no second meter in the guest's code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

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
    /// Held while the flag changes, so that nobody falls asleep between looking at it and waiting.
    changing: Mutex<()>,
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
        let _changing = self.0.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.0.changed.notify_all();
    }

    /// Whether [`Self::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
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
        let Some(CancelToken(cancel)) = &self.cancel else {
            std::thread::sleep(end.saturating_duration_since(Instant::now()));
            return;
        };
        let mut changing = cancel.changing.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_cancelled() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            changing = cancel.changed.wait_timeout(changing, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
