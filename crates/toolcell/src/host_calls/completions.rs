//! The queue in which host calls report their completion, from any thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use toolcell_host::{Completion, Effects, Notifier};

use super::effects::BodyChunk;
use super::pending::PendingCallback;
use super::questions::PendingQuestion;

/// The completions that have not been processed yet.
#[derive(Default)]
pub(super) struct CompletionQueue {
    events: Mutex<Vec<QueuedEvent>>,
    notifier: Notifier,
    /// Whether the run is over: nothing begins for it any more.
    is_closed: AtomicBool,
}

/// Makes the completion that a reply stands for, on the thread of the run.
pub(super) type CompleteReply = Box<dyn FnOnce() -> CompletionEvent + Send>;

/// What is in the queue.
pub(super) enum QueuedEvent {
    Completion(CompletionEvent),
    /// An asynchronous host function replied to the call with this identifier.
    Reply(u32, CompleteReply),
    /// A server asks the user something during a call.
    Question(Box<PendingQuestion>),
}

/// A completion of a host call.
pub(super) enum CompletionEvent {
    /// The call completed.
    Finished(Completion),
    /// The call completed, and delivered a chunk of a response body.
    BodyChunk(Completion, BodyChunk),
    /// The call completed. If it succeeded, it has these effects, and these effects on the world.
    WithEffects { completion: Completion, effects: Effects, world_effects: Effects },
    /// A host function was started, and answers later.
    Deferred(PendingCallback),
}

impl CompletionQueue {
    pub(super) fn push_completion(&self, ended: Completion) {
        self.push(CompletionEvent::Finished(ended));
    }

    pub(super) fn push(&self, came: CompletionEvent) {
        self.push_event(QueuedEvent::Completion(came));
    }

    pub(super) fn push_reply(&self, id: u32, complete: CompleteReply) {
        self.push_event(QueuedEvent::Reply(id, complete));
    }

    pub(super) fn push_question(&self, question: PendingQuestion) {
        self.push_event(QueuedEvent::Question(Box::new(question)));
    }

    fn push_event(&self, event: QueuedEvent) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        self.notifier.notify();
    }

    /// Marks the run as over.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    pub(super) fn drain(&self) -> Vec<QueuedEvent> {
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the notifier that is notified of each event.
    pub(super) fn notifier(&self) -> &Notifier {
        &self.notifier
    }
}
