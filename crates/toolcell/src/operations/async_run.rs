//! Asynchronous runs: a run as a future, and its partial results as a stream.
//!
//! Invariant: a run whose handle is dropped is cancelled. The queue of partial results is bounded
//! and drops the oldest first, so a tool cannot fill the host's memory.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use toolcell_host::{CallError, CancelToken, Json};

use super::run::{RunError, RunResult};
use crate::execution::RunOptions;

/// The maximum number of queued partial results, and their maximum total size in bytes.
const MAX_QUEUED: (usize, usize) = (64, 4 << 20);

/// A handle to a run in progress. It is a [`Stream`] of partial results; dropping it cancels the
/// run.
pub struct RunHandle<T = RunResult, E = RunError> {
    updates: Arc<UpdateQueue>,
    cancel: CancelToken,
    run: Option<JoinHandle<Result<T, E>>>,
}

/// The queue of partial results.
#[derive(Default)]
struct UpdateQueue(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    queue: VecDeque<Json>,
    bytes: usize,
    dropped: u64,
    closed: bool,
    waker: Option<Waker>,
}

impl UpdateQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, json: &str) {
        // The guest wrote this text: if it is not JSON, it is not a partial result.
        let Ok(json) = Json::parse(json) else { return };
        let mut waiting = self.lock();
        waiting.bytes += json.as_str().len();
        waiting.queue.push_back(json);
        while waiting.queue.len() > MAX_QUEUED.0 || (waiting.bytes > MAX_QUEUED.1 && waiting.queue.len() > 1) {
            let Some(oldest) = waiting.queue.pop_front() else { break };
            waiting.bytes -= oldest.as_str().len();
            waiting.dropped += 1;
        }
        wake(waiting);
    }

    fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        wake(waiting);
    }
}

fn wake(mut waiting: MutexGuard<'_, QueueState>) {
    let waker = waiting.waker.take();
    drop(waiting);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl<T, E: From<CallError>> RunHandle<T, E> {
    /// Cancels the run. [`wait`](Self::wait) still returns its outcome.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Returns the number of partial results that were dropped because the queue was full.
    #[must_use]
    pub fn dropped_updates(&self) -> u64 {
        self.updates.lock().dropped
    }

    /// Returns the next partial result; `None` after the run has finished.
    pub async fn next_update(&mut self) -> Option<Json> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Waits until the run has finished.
    ///
    /// # Errors
    /// As [`Toolbox::run`](crate::Toolbox::run).
    pub async fn wait(mut self) -> Result<T, E> {
        match self.run.take() {
            Some(run) => join_result(run.await),
            None => Err(runtime_ended()),
        }
    }

    /// Waits until the run has finished. Dropping the future cancels the run.
    pub(crate) async fn wait_or_cancel(mut self) -> Result<T, E> {
        match self.run.as_mut() {
            Some(run) => {
                let ended = run.await;
                self.run = None;
                join_result(ended)
            }
            None => Err(runtime_ended()),
        }
    }
}

impl<T, E> Stream for RunHandle<T, E> {
    type Item = Json;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Json>> {
        let mut waiting = self.updates.lock();
        if let Some(json) = waiting.queue.pop_front() {
            waiting.bytes -= json.as_str().len();
            return Poll::Ready(Some(json));
        }
        if waiting.closed {
            return Poll::Ready(None);
        }
        waiting.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<T, E> Drop for RunHandle<T, E> {
    fn drop(&mut self) {
        // Nothing is left to cancel after `wait`.
        if self.run.is_some() {
            self.cancel.cancel();
        }
    }
}

/// Starts a run on a blocking thread of the current Tokio runtime. `run` gets the options with the
/// cancellation and the partial results of the handle.
pub(crate) fn start<T: Send + 'static, E: Send + 'static>(
    options: RunOptions,
    run: impl FnOnce(&RunOptions) -> Result<T, E> + Send + 'static,
) -> RunHandle<T, E> {
    let updates = Arc::new(UpdateQueue::default());
    let cancel = options.cancel.clone().unwrap_or_default();
    let (sink, also) = (Arc::clone(&updates), options.partial.clone());
    let partial = move |json: &str| {
        if let Some(also) = &also {
            also(json);
        }
        sink.push(json);
    };
    let options = RunOptions { cancel: Some(cancel.clone()), partial: Some(Arc::new(partial)), ..options };
    let closing = CloseOnDrop(Arc::clone(&updates));
    let span = tracing::Span::current();
    let run = spawn_blocking(move || {
        let _closing = closing;
        span.in_scope(|| run(&options))
    });
    RunHandle { updates, cancel, run: Some(run) }
}

/// Runs a closure on a blocking thread of the current Tokio runtime.
pub(crate) async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    // What the work asks of others belongs to the trace of the caller.
    let span = tracing::Span::current();
    match spawn_blocking(move || span.in_scope(work)).await {
        Ok(value) => value,
        Err(error) => resume_unwind(error.try_into_panic().unwrap_or_else(|error| Box::new(error.to_string()))),
    }
}

/// Closes the stream when the run has finished, on every path.
struct CloseOnDrop(Arc<UpdateQueue>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Returns the result of the thread; resumes a panic in the waiting task.
fn join_result<T, E: From<CallError>>(ended: Result<Result<T, E>, JoinError>) -> Result<T, E> {
    match ended {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(runtime_ended()),
        },
    }
}

fn runtime_ended<E: From<CallError>>() -> E {
    CallError::RuntimeShutDown.into()
}
