//! Runs hook code on a thread of its own and waits for it up to its timeout.
//!
//! Invariant: the caller regains control when the timeout expires, whatever the hook does. A hung
//! thread is abandoned and counted, so a hook that always hangs leaks a bounded number of threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use toolcell_i18n::{Message, message};

use super::error::{FailureCause, excerpt_message};
use super::event::{ApprovalAnswer, HookEvent, PromptHandle, ThreadMessage};
use super::tool::HookTools;

/// The number of hung runs at which a hook is no longer invoked.
const MAX_LEAKED_RUNS: usize = 32;

/// The abandoned runs of a hook that still hang.
#[derive(Debug, Clone, Default)]
pub(super) struct LeakedThreads(Arc<Mutex<Vec<Weak<()>>>>);

impl LeakedThreads {
    /// Returns a token that the threads of a run hold until they end.
    pub(super) fn token(&self) -> Result<Arc<()>, FailureCause> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|run| run.strong_count() > 0);
        if runs.len() >= MAX_LEAKED_RUNS {
            return Err(FailureCause::Exhausted { hanging: runs.len(), limit: MAX_LEAKED_RUNS });
        }
        Ok(Arc::new(()))
    }

    pub(super) fn add(&self, token: &Arc<()>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(token));
    }
}

/// What one invocation of a hook needs: the timeout, the hung runs before it, and a way to prompt
/// the approver.
pub(super) struct InvocationContext<'a> {
    pub(super) timeout: Duration,
    pub(super) leaked: &'a LeakedThreads,
    /// Runs the stored tools that are hooks.
    pub(super) tools: &'a dyn HookTools,
    /// Prompts the approver. Returns `None` without one.
    pub(super) prompt: &'a dyn Fn(String) -> Option<ApprovalAnswer>,
    /// Returns whether the caller has given up.
    pub(super) is_cancelled: &'a dyn Fn() -> bool,
}

/// Starts a thread that holds a token until it ends.
pub(super) fn spawn(token: &Arc<()>, work: impl FnOnce() + Send + 'static) -> Result<(), FailureCause> {
    let token = Arc::clone(token);
    let work = move || {
        work();
        drop(token);
    };
    let started = thread::Builder::new().name("toolcell-hook".to_owned()).spawn(work);
    started.map(drop).map_err(|error| FailureCause::NotStarted(excerpt_message(&error.to_string())))
}

/// Runs blocking code.
pub(super) fn run_on_thread<T: Send + 'static>(
    terms: &InvocationContext<'_>,
    call: &HookEvent,
    work: impl FnOnce(HookEvent) -> Result<T, String> + Send + 'static,
) -> Result<T, FailureCause> {
    let token = terms.leaked.token()?;
    let (events, happened) = channel();
    let (lay_down, answer) = channel();
    let call = call.with_prompt_handle(PromptHandle::from_sender(events.clone()));
    spawn(&token, move || {
        let said = catch_unwind(AssertUnwindSafe(|| work(call)));
        let said = match said {
            Ok(said) => said.map_err(|error| FailureCause::Failed(excerpt_message(&error))),
            Err(payload) => Err(FailureCause::Panicked(panic_message(payload.as_ref()))),
        };
        // After a timeout the receiver is gone.
        let _ = lay_down.send(said);
        let _ = events.send(ThreadMessage::Done);
    })?;
    let ended = wait_for_end(terms, &happened);
    let has_ended = ended.is_ok();
    let said = match ended {
        Ok(()) => {
            answer.try_recv().unwrap_or_else(|_| Err(FailureCause::Failed(message!("its thread gave no answer"))))
        }
        Err(cause) => Err(cause),
    };
    if !has_ended {
        terms.leaked.add(&token);
    }
    said
}

/// The interval in which a waiting call looks whether its caller has given up.
const CANCEL_INTERVAL: Duration = Duration::from_millis(10);

/// Waits for the thread to finish. The time the approver takes does not count.
fn wait_for_end(terms: &InvocationContext<'_>, happened: &Receiver<ThreadMessage>) -> Result<(), FailureCause> {
    let began = Instant::now();
    let mut asking = Duration::ZERO;
    loop {
        let left = terms.timeout.saturating_sub(began.elapsed().saturating_sub(asking));
        match happened.recv_timeout(left.min(CANCEL_INTERVAL)) {
            Ok(ThreadMessage::Done) => return Ok(()),
            Ok(ThreadMessage::Prompt { text, reply }) => {
                let asked = Instant::now();
                // The hook thread that prompted may be gone.
                let _ = reply.send((terms.prompt)(text));
                asking += asked.elapsed();
            }
            Err(_) if (terms.is_cancelled)() => {
                return Err(FailureCause::Failed(message!("the call was cancelled")));
            }
            Err(_) if left <= CANCEL_INTERVAL => return Err(FailureCause::Timeout(terms.timeout)),
            Err(_) => {}
        }
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> Message {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.map_or_else(|| message!("no panic message"), excerpt_message)
}
