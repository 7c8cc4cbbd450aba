//! The deadline of a call, and its cancellation.
//!
//! A call checks both by itself: about every millisecond, when an epoch of its engine ends
//! ([`engine`](crate::engine)), and after slices of fuel
//! ([`GuestInstance`](crate::instance::GuestInstance)). Without a ticker thread, only the slices
//! remain.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A token that cancels calls from another thread. Clones cancel the same calls.
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
pub struct CancelToken(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    cancelled: AtomicBool,
    /// A function that is polled in addition to the flag.
    poll: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    /// Threads to wake on cancellation. The lock is held while the flag changes, so that no thread
    /// can miss the wake-up between checking the flag and waiting.
    waiters: Mutex<Vec<Weak<WakeEvent>>>,
}

impl std::fmt::Debug for CancelState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cancel").field("cancelled", &self.cancelled).finish_non_exhaustive()
    }
}

/// Wakes a thread that waits in [`CallDeadline::wait_for`], because a host call completed or the
/// call was cancelled.
#[derive(Debug, Clone, Default)]
pub struct Notifier(Arc<WakeEvent>);

#[derive(Debug, Default)]
struct WakeEvent {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Notifier {
    /// Returns whether both are clones of one notifier.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Wakes the waiting thread, or the next thread that waits.
    pub fn notify(&self) {
        self.0.set();
    }
}

impl WakeEvent {
    fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a token that is also cancelled once `at` returns `true`. The function is polled
    /// about every millisecond while a tool runs; it does not wake a waiting thread.
    #[must_use]
    pub fn with_poll(at: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(CancelState { poll: Some(Box::new(at)), ..CancelState::default() }))
    }

    /// Cancels every call that runs with this token, now or later.
    pub fn cancel(&self) {
        let mut watching = self.0.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.cancelled.store(true, Ordering::SeqCst);
        watching.drain(..).filter_map(|bell| bell.upgrade()).for_each(|bell| bell.set());
    }

    /// Registers a notifier for cancellation, or notifies it now if the token is already cancelled.
    fn notify_on_cancel(&self, bell: &Notifier) {
        let mut watching = self.0.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_cancelled() {
            bell.notify();
        } else if !watching.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(&bell.0))) {
            watching.retain(|other| other.strong_count() > 0);
            watching.push(Arc::downgrade(&bell.0));
        }
    }

    /// Returns whether [`Self::cancel`] was called, or the [polled function](Self::with_poll)
    /// returns `true`.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst) || self.0.poll.as_ref().is_some_and(|looks| looks())
    }
}

/// The reason why a call is interrupted from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// Its deadline has passed.
    Deadline,
    /// It was cancelled.
    Cancelled,
}

/// The deadline of a call together with its cancellation token.
#[derive(Debug, Clone)]
pub struct CallDeadline {
    /// Shared by all clones: extending the deadline extends it for the whole call.
    expiry: Arc<Expiry>,
    cancel: Option<CancelToken>,
}

#[derive(Debug)]
struct Expiry {
    initial: Instant,
    /// The offset from the initial deadline in nanoseconds; negative if the deadline was moved
    /// forward.
    offset_nanos: AtomicI64,
}

impl CallDeadline {
    /// Creates a deadline that expires at `deadline`, or when the token is cancelled.
    #[must_use]
    pub fn new(deadline: Instant, cancel: Option<CancelToken>) -> Self {
        Self { expiry: Arc::new(Expiry { initial: deadline, offset_nanos: AtomicI64::new(0) }), cancel }
    }

    /// Returns the instant at which the call runs out of time.
    #[must_use]
    pub fn instant(&self) -> Instant {
        let later = self.expiry.offset_nanos.load(Ordering::Relaxed);
        let by = Duration::from_nanos(later.unsigned_abs());
        let first = self.expiry.initial;
        if later < 0 { first.checked_sub(by).unwrap_or(first) } else { first + by }
    }

    /// Extends the deadline, by the time that a person took to approve a request of the tool.
    pub fn extend(&self, by: Duration) {
        self.expiry.offset_nanos.fetch_add(saturating_nanos(by), Ordering::Relaxed);
    }

    /// Sets the deadline to `left` from now, as measured by another process. Zero ends the call at
    /// once.
    pub fn set_remaining(&self, left: Duration) {
        let (now, first) = (Instant::now(), self.expiry.initial);
        let from_now = saturating_nanos(now.saturating_duration_since(first))
            - saturating_nanos(first.saturating_duration_since(now));
        self.expiry.offset_nanos.store(from_now.saturating_add(saturating_nanos(left)), Ordering::Relaxed);
    }

    /// Returns the cancellation token, if there is one.
    #[must_use]
    pub fn cancel_token(&self) -> Option<&CancelToken> {
        self.cancel.as_ref()
    }

    /// Returns the reason why the call must end now, if there is one. A cancellation comes before a
    /// deadline.
    #[must_use]
    pub fn interrupted(&self) -> Option<Interrupted> {
        if self.is_cancelled() {
            Some(Interrupted::Cancelled)
        } else {
            (Instant::now() >= self.instant()).then_some(Interrupted::Deadline)
        }
    }

    /// Returns whether the deadline has passed or the call was cancelled.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.interrupted().is_some()
    }

    /// Returns whether the call was cancelled, regardless of the deadline.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Returns whether a cancellation may fail to wake a waiting thread, because the token polls a
    /// function.
    pub(super) fn is_polled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|token| token.0.poll.is_some())
    }

    /// Sleeps until `moment`, or until the call ends if that is earlier.
    pub fn sleep_until(&self, moment: Instant) {
        let bell = Notifier::default();
        while !self.is_expired() && Instant::now() < moment {
            self.wait_for(&bell, Some(moment));
        }
    }

    /// Waits until the notifier fires, `moment` has come, or the call has ended.
    pub fn wait_for(&self, bell: &Notifier, moment: Option<Instant>) {
        if let Some(cancel) = &self.cancel {
            cancel.notify_on_cancel(bell);
        }
        let end = moment.map_or(self.instant(), |moment| moment.min(self.instant()));
        let mut rung = bell.0.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            rung = bell.0.changed.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *rung = false;
    }
}

fn saturating_nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
