//! The queue in which host calls report their completion, from any thread.

use std::sync::{Mutex, PoisonError};

use toolcell_host::{Completion, Effects, Notifier};

use super::effects::BodyChunk;
use super::pending::PendingCallback;

/// The completions that have not been processed yet.
#[derive(Default)]
pub(super) struct CompletionQueue {
    events: Mutex<Vec<QueuedEvent>>,
    notifier: Notifier,
}

/// Makes the completion that a reply stands for, on the thread of the run.
pub(super) type CompleteReply = Box<dyn FnOnce() -> CompletionEvent + Send>;

enum QueuedEvent {
    Completion(CompletionEvent),
    /// An asynchronous host function replied to the call of this number.
    Reply(u32, CompleteReply),
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

    fn push_event(&self, event: QueuedEvent) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        self.notifier.notify();
    }

    /// Takes what came. The replies that are awaited are made here.
    pub(super) fn drain(&self, is_awaited: impl Fn(u32) -> bool) -> Vec<CompletionEvent> {
        let came = std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner));
        let to_completion = |event| match event {
            QueuedEvent::Completion(completion) => Some(completion),
            QueuedEvent::Reply(id, complete) => is_awaited(id).then(complete),
        };
        came.into_iter().filter_map(to_completion).collect()
    }

    /// Returns the notifier that is notified of each event.
    pub(super) fn notifier(&self) -> &Notifier {
        &self.notifier
    }
}
