//! Runs the code of a gate on a thread of its own, and waits for it no longer than it may take.
//!
//! Invariant: whatever the code does, the caller is back when the time is over. What hangs is given up, and counted, so
//! that a gate that always hangs costs a bounded number of threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::call::{Answer, Asking, Event, GateCall};
use super::failure::{Cause, shown};

/// How many runs of a gate may hang before it is not asked any more.
const HANGING: usize = 32;

/// The runs of a gate that were given up and still hang.
#[derive(Debug, Clone, Default)]
pub(super) struct Hanging(Arc<Mutex<Vec<Weak<()>>>>);

impl Hanging {
    /// A token that the threads of a run hold until they end.
    pub(super) fn token(&self) -> Result<Arc<()>, Cause> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|run| run.strong_count() > 0);
        if runs.len() >= HANGING {
            return Err(Cause::Exhausted { hanging: runs.len(), limit: HANGING });
        }
        Ok(Arc::new(()))
    }

    pub(super) fn give_up(&self, token: &Arc<()>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(token));
    }
}

/// How long a run may take, and what is known of the ones before it.
pub(super) struct Terms<'a> {
    pub(super) timeout: Duration,
    pub(super) hanging: &'a Hanging,
    /// Puts a question to the person, where there is one.
    pub(super) ask: &'a dyn Fn(String) -> Option<Answer>,
}

/// Starts a thread that holds a token.
pub(super) fn spawn(token: &Arc<()>, work: impl FnOnce() + Send + 'static) -> Result<(), Cause> {
    let token = Arc::clone(token);
    let work = move || {
        work();
        drop(token);
    };
    let started = thread::Builder::new().name("toolcell-gate".to_owned()).spawn(work);
    started.map(drop).map_err(|error| Cause::NotStarted(shown(&error.to_string())))
}

/// Runs what blocks.
pub(super) fn run<T: Send + 'static>(
    terms: &Terms<'_>,
    call: &GateCall,
    work: impl FnOnce(GateCall) -> Result<T, String> + Send + 'static,
) -> Result<T, Cause> {
    let token = terms.hanging.token()?;
    let (events, happened) = channel();
    let (lay_down, answer) = channel();
    let call = call.asking(Asking::through(events.clone()));
    spawn(&token, move || {
        let said = catch_unwind(AssertUnwindSafe(|| work(call)));
        let said = match said {
            Ok(said) => said.map_err(|error| Cause::Failed(shown(&error))),
            Err(payload) => Err(Cause::Panicked(message(payload.as_ref()))),
        };
        // Nobody listens any more to what comes too late.
        let _ = lay_down.send(said);
        let _ = events.send(Event::Done);
    })?;
    let said = match wait(terms, &happened) {
        Ok(()) => answer.try_recv().unwrap_or_else(|_| Err(Cause::Failed("its thread was lost".to_owned()))),
        Err(cause) => Err(cause),
    };
    if matches!(said, Err(Cause::Timeout(_))) {
        terms.hanging.give_up(&token);
    }
    said
}

/// Waits for the end; the time that the person takes does not count.
fn wait(terms: &Terms<'_>, happened: &Receiver<Event>) -> Result<(), Cause> {
    let began = Instant::now();
    let mut asking = Duration::ZERO;
    loop {
        let taken = began.elapsed().saturating_sub(asking);
        match happened.recv_timeout(terms.timeout.saturating_sub(taken)) {
            Ok(Event::Done) => return Ok(()),
            Ok(Event::Asks { text, reply }) => {
                let asked = Instant::now();
                // Whoever asked may be gone.
                let _ = reply.send((terms.ask)(text));
                asking += asked.elapsed();
            }
            Err(_) => return Err(Cause::Timeout(terms.timeout)),
        }
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    shown(text.unwrap_or("it does not say why"))
}
