//! For hosts that wait without a thread: runs that are under way, and their partial results as a stream.
//!
//! Invariant: what nobody waits for any more is cancelled, and partial results that nobody takes are dropped, the oldest
//! first, so that a tool cannot fill its host's memory with them.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use toolcell_host::{CallError, CancelToken, Json};

use crate::request::RunTool;
use crate::run::{Ran, RunError, RunOptions};
use crate::toolbox::Toolbox;

/// How many partial results wait for whoever takes them, and how many bytes of them.
const WAITING: (usize, usize) = (64, 4 << 20);

/// A run that is under way. It is a [`Stream`] of partial results; dropping it cancels the run.
pub struct Running {
    updates: Arc<Updates>,
    cancel: CancelToken,
    run: Option<JoinHandle<Result<Ran, RunError>>>,
}

/// Partial results that nobody has taken yet.
#[derive(Default)]
struct Updates(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    queue: VecDeque<Json>,
    bytes: usize,
    dropped: u64,
    closed: bool,
    waker: Option<Waker>,
}

impl Updates {
    fn locked(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, json: &str) {
        // The guest wrote it: what is no JSON is no partial result.
        let Ok(json) = Json::parse(json) else { return };
        let mut waiting = self.locked();
        waiting.bytes += json.as_str().len();
        waiting.queue.push_back(json);
        while waiting.queue.len() > WAITING.0 || (waiting.bytes > WAITING.1 && waiting.queue.len() > 1) {
            let Some(oldest) = waiting.queue.pop_front() else { break };
            waiting.bytes -= oldest.as_str().len();
            waiting.dropped += 1;
        }
        wake(waiting);
    }

    fn close(&self) {
        let mut waiting = self.locked();
        waiting.closed = true;
        wake(waiting);
    }
}

fn wake(mut waiting: MutexGuard<'_, Waiting>) {
    let waker = waiting.waker.take();
    drop(waiting);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Running {
    /// Ends the run. How it ended is still to be waited for.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// How many partial results were dropped because nobody took them.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.updates.locked().dropped
    }

    /// The next partial result; none where the run has ended.
    pub async fn update(&mut self) -> Option<Json> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// As [`Toolbox::run`]
    pub async fn ended(mut self) -> Result<Ran, RunError> {
        match self.run.take() {
            Some(run) => came_back(run.await),
            None => Err(gone()),
        }
    }
}

impl Stream for Running {
    type Item = Json;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Json>> {
        let mut waiting = self.updates.locked();
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

impl Drop for Running {
    fn drop(&mut self) {
        // Where its end was waited for, there is nothing left to cancel.
        if self.run.is_some() {
            self.cancel.cancel();
        }
    }
}

impl Toolbox {
    /// Starts a run on a thread of the Tokio runtime that this is called in.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # let folder = tempfile::tempdir()?;
    /// let toolbox = Arc::new(Toolbox::open(folder.path(), ToolboxConfig::default())?);
    /// let (name, description) = ("count".to_owned(), "Counts to three".to_owned());
    /// let code = "export default (pi) => ({ name: 'count', description: 'Counts', parameters: {},
    ///     execute(id, params, onUpdate) { for (const n of [1, 2, 3]) onUpdate(n); return 'done' } })".to_owned();
    /// toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;
    /// runtime.block_on(async {
    ///     let mut run = toolbox.start(RunTool::of("count", Params::default()), RunOptions::default());
    ///     let mut updates = Vec::new();
    ///     while let Some(update) = run.update().await {
    ///         updates.push(update.to_string());
    ///     }
    ///     assert_eq!(updates, ["1", "2", "3"]);
    ///     assert_eq!(run.ended().await?.value()?.unwrap().as_str(), "\"done\"");
    ///     Ok::<(), Box<dyn std::error::Error>>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "dropping it cancels the run"]
    pub fn start(self: &Arc<Self>, request: RunTool, options: RunOptions) -> Running {
        let updates = Arc::new(Updates::default());
        let cancel = options.cancel.clone().unwrap_or_default();
        let (toolbox, sink, also) = (Arc::clone(self), Arc::clone(&updates), options.partial.clone());
        let partial = move |json: &str| {
            if let Some(also) = &also {
                also(json);
            }
            sink.push(json);
        };
        let options = RunOptions { cancel: Some(cancel.clone()), partial: Some(Arc::new(partial)), ..options };
        let closing = Closing(Arc::clone(&updates));
        let run = spawn_blocking(move || {
            let _closing = closing;
            toolbox.run(&request, &options)
        });
        Running { updates, cancel, run: Some(run) }
    }

    /// Runs a stored tool without holding up the thread; as [`Toolbox::run`]. Dropping the future cancels the run.
    ///
    /// # Errors
    /// As [`Toolbox::run`]
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub async fn run_async(self: &Arc<Self>, request: RunTool, options: RunOptions) -> Result<Ran, RunError> {
        let mut running = self.start(request, options);
        match running.run.as_mut() {
            Some(run) => {
                let ended = run.await;
                running.run = None;
                came_back(ended)
            }
            None => Err(gone()),
        }
    }

    /// Does anything else with the toolbox without holding up the thread: `toolbox.off_thread(|it| it.list(&request)).await`.
    ///
    /// # Panics
    /// Outside of a Tokio runtime, where `work` does, and where the runtime ends before `work` begins.
    pub async fn off_thread<T: Send + 'static>(self: &Arc<Self>, work: impl FnOnce(&Self) -> T + Send + 'static) -> T {
        let toolbox = Arc::clone(self);
        match spawn_blocking(move || work(&toolbox)).await {
            Ok(value) => value,
            Err(error) => resume_unwind(error.try_into_panic().unwrap_or_else(|error| Box::new(error.to_string()))),
        }
    }
}

/// Closes the stream when the run has ended, however it did.
struct Closing(Arc<Updates>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What came of a thread; a panic goes on in whoever waits.
fn came_back(ended: Result<Result<Ran, RunError>, JoinError>) -> Result<Ran, RunError> {
    match ended {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(gone()),
        },
    }
}

fn gone() -> RunError {
    CallError::NoInstance("the runtime ended before the run began".to_owned()).into()
}
