//! Tasks: runs that may take longer than a client waits.
//!
//! Invariant: the running tasks, the retained tasks and the bytes of their results are bounded for
//! each principal.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, GetTaskResult, InputResponses, Task};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use tokio::time::Instant;

/// The most running tasks of a principal.
const MAX_RUNNING: usize = 64;
/// The most retained tasks of a principal, running ones included.
const MAX_RETAINED: usize = 256;
/// The bytes of retained results above which no further task is started.
const MAX_RESULT_BYTES: usize = 32 << 20;
/// How long a result is retained.
const RESULT_TTL: Duration = Duration::from_mins(10);
/// The polling interval that clients are told, in milliseconds.
const POLL_INTERVAL_MS: u64 = 1_000;

/// The tasks of a principal.
#[derive(Clone, Default)]
pub(crate) struct Tasks {
    manager: TaskManager,
    results: Arc<Mutex<VecDeque<RetainedResult>>>,
}

/// The memory of a finished task until it expires.
struct RetainedResult {
    expires_at: Instant,
    bytes: usize,
}

/// Why a task cannot be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
pub(crate) enum TaskLimitError {
    #[error("{MAX_RUNNING} tasks are running, which is the limit")]
    Running,
    #[error("{MAX_RETAINED} tasks are retained, which is the limit")]
    Retained,
    #[error("the retained task results have {0} bytes, the limit is {MAX_RESULT_BYTES}")]
    Bytes(usize),
}

impl Tasks {
    /// Starts a task that may run for `timeout_ms`.
    ///
    /// # Errors
    /// If a limit on tasks or their results is reached.
    pub(crate) fn spawn<F>(&self, timeout_ms: u64, work: impl FnOnce(TaskContext) -> F) -> Result<Task, TaskLimitError>
    where
        F: Future<Output = Result<CallToolResult, TaskExit>> + Send + 'static,
    {
        let running = self.manager.running_task_count();
        let lasts = Duration::from_millis(timeout_ms).saturating_add(RESULT_TTL);
        {
            let mut results = self.results();
            let now = Instant::now();
            results.retain(|kept| kept.expires_at > now);
            let bytes = results.iter().map(|kept| kept.bytes).sum();
            if running >= MAX_RUNNING {
                return Err(TaskLimitError::Running);
            }
            if running + results.len() >= MAX_RETAINED {
                return Err(TaskLimitError::Retained);
            }
            if bytes > MAX_RESULT_BYTES {
                return Err(TaskLimitError::Bytes(bytes));
            }
        }
        let lasts_ms = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
        let options = TaskOptions::new().with_ttl_ms(lasts_ms).with_poll_interval_ms(POLL_INTERVAL_MS);
        let results = Arc::clone(&self.results);
        Ok(self.manager.spawn(options, move |context| {
            let work = work(context);
            Box::pin(async move {
                let came = work.await;
                let bytes = came.as_ref().map_or(0, result_bytes);
                // `rmcp` retains the result for as long, counted from now.
                let kept = RetainedResult { expires_at: Instant::now() + lasts, bytes };
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

    fn results(&self) -> MutexGuard<'_, VecDeque<RetainedResult>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Estimates the bytes of a result.
fn result_bytes(result: &CallToolResult) -> usize {
    let text = result.content.iter().filter_map(ContentBlock::as_text).map(|text| text.text.len());
    let value = result.structured_content.as_ref().map_or(0, |value| value.to_string().len());
    text.sum::<usize>() + value
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn wait_for_results(tasks: &Tasks, kept: usize) {
        while tasks.results().len() < kept {
            tokio::task::yield_now().await;
        }
    }

    fn spawn_task(tasks: &Tasks, text: String) -> Result<Task, TaskLimitError> {
        tasks.spawn(1, |_| async move { Ok(CallToolResult::success(vec![ContentBlock::text(text)])) })
    }

    #[tokio::test]
    async fn the_results_of_tasks_that_ended_are_bounded() {
        let tasks = Tasks::default();
        for count in 1..=33 {
            spawn_task(&tasks, "x".repeat(1 << 20)).unwrap();
            wait_for_results(&tasks, count).await;
        }
        assert_eq!(spawn_task(&tasks, String::new()).unwrap_err(), TaskLimitError::Bytes(33 << 20));
        tasks.results().iter_mut().for_each(|kept| kept.expires_at = Instant::now());
        assert!(spawn_task(&tasks, String::new()).is_ok());
    }

    #[tokio::test]
    async fn the_tasks_of_a_principal_are_bounded() {
        let tasks = Tasks::default();
        for count in 1..=MAX_RETAINED {
            spawn_task(&tasks, String::new()).unwrap();
            wait_for_results(&tasks, count).await;
        }
        assert_eq!(spawn_task(&tasks, String::new()).unwrap_err(), TaskLimitError::Retained);
        let tasks = Tasks::default();
        let never = |tasks: &Tasks| tasks.spawn(1_000, |_| std::future::pending());
        for _ in 0..MAX_RUNNING {
            never(&tasks).unwrap();
        }
        assert_eq!(never(&tasks).unwrap_err(), TaskLimitError::Running);
    }
}
