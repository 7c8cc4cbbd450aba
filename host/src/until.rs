//! When a call has to end: at its deadline, or when somebody cancels it.
//!
//! A call looks by itself: when an epoch of its engine ends ([`ticker`](crate::ticker)), about every millisecond, and after slices of
//! fuel ([`Cell`](crate::instance::Cell)), which is all that it does where no thread can be started.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

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

#[derive(Default)]
struct Cancel {
    cancelled: AtomicBool,
    /// What is looked at beside the flag.
    looks: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    /// Who is woken. Held while the flag changes, so that nobody falls asleep between looking at it and waiting.
    watching: Mutex<Vec<Weak<Rope>>>,
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cancel").field("cancelled", &self.cancelled).finish_non_exhaustive()
    }
}

/// Wakes the thread that waits for it ([`Until::wait`]): something came for a tool, or its call is over.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Rope>);

#[derive(Debug, Default)]
struct Rope {
    rung: Mutex<bool>,
    ringing: Condvar,
}

impl Bell {
    /// Wakes who waits, or who waits next.
    pub fn ring(&self) {
        self.0.pull();
    }
}

impl Rope {
    fn pull(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ringing.notify_all();
    }
}

impl CancelToken {
    /// A token that nobody cancelled yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled also when something says so that is looked at: about every millisecond while a tool runs. It wakes
    /// nobody who waits.
    #[must_use]
    pub fn looking(at: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(Cancel { looks: Some(Box::new(at)), ..Cancel::default() }))
    }

    /// Ends every call that runs with this token, and every one that will.
    pub fn cancel(&self) {
        let mut watching = self.0.watching.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.cancelled.store(true, Ordering::SeqCst);
        watching.drain(..).filter_map(|bell| bell.upgrade()).for_each(|bell| bell.pull());
    }

    /// Rings a bell when this is cancelled, or now if it was.
    fn ring(&self, bell: &Bell) {
        let mut watching = self.0.watching.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_cancelled() {
            bell.ring();
        } else if !watching.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(&bell.0))) {
            watching.retain(|other| other.strong_count() > 0);
            watching.push(Arc::downgrade(&bell.0));
        }
    }

    /// Whether [`Self::cancel`] was called, or what it [looks](Self::looking) at says so.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst) || self.0.looks.as_ref().is_some_and(|looks| looks())
    }
}

/// When a call has to end, for operations that the host does for it.
#[derive(Debug, Clone)]
pub struct Until {
    /// Clones share the deadline: who extends it extends it for all of the call.
    deadline: Arc<Deadline>,
    cancel: Option<CancelToken>,
}

#[derive(Debug)]
struct Deadline {
    first: Instant,
    /// By how much it was put off, in nanoseconds; negative where it was moved to an earlier moment.
    later: AtomicI64,
}

impl Until {
    /// At this moment, or when the token is cancelled.
    #[must_use]
    pub fn new(deadline: Instant, cancel: Option<CancelToken>) -> Self {
        Self { deadline: Arc::new(Deadline { first: deadline, later: AtomicI64::new(0) }), cancel }
    }

    /// The moment at which the call's time is up.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        let later = self.deadline.later.load(Ordering::Relaxed);
        let by = Duration::from_nanos(later.unsigned_abs());
        let first = self.deadline.first;
        if later < 0 { first.checked_sub(by).unwrap_or(first) } else { first + by }
    }

    /// Puts the deadline off, by the time that somebody took to decide about what the tool asked for.
    pub fn extend(&self, by: Duration) {
        self.deadline.later.fetch_add(nanoseconds(by), Ordering::Relaxed);
    }

    /// Moves the deadline to this much time from now, as another process measures it. With no time left the call is over.
    pub fn ends_in(&self, left: Duration) {
        let (now, first) = (Instant::now(), self.deadline.first);
        let from_now =
            nanoseconds(now.saturating_duration_since(first)) - nanoseconds(first.saturating_duration_since(now));
        self.deadline.later.store(from_now.saturating_add(nanoseconds(left)), Ordering::Relaxed);
    }

    /// What else ends the call, if anything does.
    #[must_use]
    pub fn token(&self) -> Option<&CancelToken> {
        self.cancel.as_ref()
    }

    /// Whether the call's time is up or it was cancelled.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_cancelled() || Instant::now() >= self.deadline()
    }

    /// Whether it was cancelled, whatever time is left.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Sleeps until `moment`, or less where the call ends before.
    pub fn sleep(&self, moment: Instant) {
        let bell = Bell::default();
        while !self.is_over() && Instant::now() < moment {
            self.wait(&bell, Some(moment));
        }
    }

    /// Waits until the bell rings, `moment` has come, or the call is over.
    pub fn wait(&self, bell: &Bell, moment: Option<Instant>) {
        if let Some(cancel) = &self.cancel {
            cancel.ring(bell);
        }
        let end = moment.map_or(self.deadline(), |moment| moment.min(self.deadline()));
        let mut rung = bell.0.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            rung = bell.0.ringing.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *rung = false;
    }
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
