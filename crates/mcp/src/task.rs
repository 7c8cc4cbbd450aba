//! The tasks of a principal: runs that are longer than a client waits, and what came of them for a while.
//!
//! Invariant: the number of tasks that run, the number that is kept, and the bytes of their results are bounded for each
//! principal.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, GetTaskResult, InputResponses, Task};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use tokio::time::Instant;

/// How many tasks of a principal run at most.
const RUNNING: usize = 64;
/// How many tasks of a principal are kept at most, those that run included.
const KEPT: usize = 256;
/// How many bytes the results of a principal's tasks may have before no other task is begun.
const BYTES: usize = 32 << 20;
/// For how long what came of a task can be asked for.
const LASTS: Duration = Duration::from_mins(10);
/// How often a client should look after a task, in milliseconds.
const POLL_MS: u64 = 1_000;

/// The tasks of a principal.
#[derive(Clone, Default)]
pub(crate) struct Tasks {
    manager: TaskManager,
    results: Arc<Mutex<VecDeque<Kept>>>,
}

/// What a task takes until it is forgotten.
struct Kept {
    until: Instant,
    bytes: usize,
}

/// Why no task is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TasksFull {
    #[error("{RUNNING} tasks are under way, which is the limit")]
    Running,
    #[error("{KEPT} tasks are kept, which is the limit")]
    Kept,
    #[error("the results of tasks that are kept have {0} bytes, the limit is {BYTES}")]
    Bytes(usize),
}

impl Tasks {
    /// Begins a task that may run for `timeout_ms`.
    ///
    /// # Errors
    /// Where one more would be too many.
    pub(crate) fn spawn<F>(&self, timeout_ms: u64, work: impl FnOnce(TaskContext) -> F) -> Result<Task, TasksFull>
    where
        F: Future<Output = Result<CallToolResult, TaskExit>> + Send + 'static,
    {
        let running = self.manager.running_task_count();
        let lasts = Duration::from_millis(timeout_ms).saturating_add(LASTS);
        {
            let mut results = self.results();
            let now = Instant::now();
            results.retain(|kept| kept.until > now);
            let bytes = results.iter().map(|kept| kept.bytes).sum();
            if running >= RUNNING {
                return Err(TasksFull::Running);
            }
            if running + results.len() >= KEPT {
                return Err(TasksFull::Kept);
            }
            if bytes > BYTES {
                return Err(TasksFull::Bytes(bytes));
            }
        }
        let lasts_ms = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
        let options = TaskOptions::new().with_ttl_ms(lasts_ms).with_poll_interval_ms(POLL_MS);
        let results = Arc::clone(&self.results);
        Ok(self.manager.spawn(options, move |context| {
            let work = work(context);
            Box::pin(async move {
                let came = work.await;
                let bytes = came.as_ref().map_or(0, size);
                // The library keeps what came of it for as long again.
                let kept = Kept { until: Instant::now() + lasts, bytes };
                results.lock().unwrap_or_else(PoisonError::into_inner).push_back(kept);
                came
            })
        }))
    }

    pub(crate) fn get(&self, id: &str) -> Result<GetTaskResult, ErrorData> {
        self.manager.get_task(id).map(GetTaskResult::new)
    }

    pub(crate) fn update(&self, id: &str, responses: InputResponses) -> Result<(), ErrorData> {
        self.manager.update_task(id, responses)
    }

    pub(crate) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        self.manager.cancel_task(id)
    }

    fn results(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// About how many bytes a result takes.
fn size(result: &CallToolResult) -> usize {
    let text = result.content.iter().filter_map(ContentBlock::as_text).map(|text| text.text.len());
    let value = result.structured_content.as_ref().map_or(0, |value| value.to_string().len());
    text.sum::<usize>() + value
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ends(tasks: &Tasks, kept: usize) {
        while tasks.results().len() < kept {
            tokio::task::yield_now().await;
        }
    }

    fn begin(tasks: &Tasks, text: String) -> Result<Task, TasksFull> {
        tasks.spawn(1, |_| async move { Ok(CallToolResult::success(vec![ContentBlock::text(text)])) })
    }

    #[tokio::test]
    async fn the_results_of_tasks_that_ended_are_bounded() {
        let tasks = Tasks::default();
        for count in 1..=33 {
            begin(&tasks, "x".repeat(1 << 20)).unwrap();
            ends(&tasks, count).await;
        }
        assert_eq!(begin(&tasks, String::new()).unwrap_err(), TasksFull::Bytes(33 << 20));
        tasks.results().iter_mut().for_each(|kept| kept.until = Instant::now());
        assert!(begin(&tasks, String::new()).is_ok());
    }

    #[tokio::test]
    async fn the_tasks_of_a_principal_are_bounded() {
        let tasks = Tasks::default();
        for count in 1..=KEPT {
            begin(&tasks, String::new()).unwrap();
            ends(&tasks, count).await;
        }
        assert_eq!(begin(&tasks, String::new()).unwrap_err(), TasksFull::Kept);
        let tasks = Tasks::default();
        let never = |tasks: &Tasks| tasks.spawn(1_000, |_| std::future::pending());
        for _ in 0..RUNNING {
            never(&tasks).unwrap();
        }
        assert_eq!(never(&tasks).unwrap_err(), TasksFull::Running);
    }
}
