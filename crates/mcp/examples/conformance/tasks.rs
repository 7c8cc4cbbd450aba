//! The tools that take their time: as tasks where the client knows the extension (SEP-2663), else while it waits.
//!
//! Invariant: a task that is cancelled ends as `cancelled`.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult, ErrorData,
    InputRequiredResult,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskManager, TaskOptions};
use serde_json::{Value, json};

use crate::asks::{content, form};
use crate::{complete, fixtures, wire};

/// How long the jobs take that fail.
const A_WHILE: Duration = Duration::from_millis(200);

/// Whether a tool may become a task.
pub(crate) fn lasts(tool: &str) -> bool {
    matches!(
        tool,
        "slow_compute"
            | "failing_job"
            | "protocol_error_job"
            | "confirm_delete"
            | "multi_input"
            | "test_tool_with_task"
    )
}

/// What a tool answers that may become a task.
pub(crate) async fn call(
    request: &CallToolRequestParams,
    capabilities: &ClientCapabilities,
    tasks: &TaskManager,
) -> Result<CallToolResponse, ErrorData> {
    if !capabilities.supports_tasks() {
        return match &*request.name {
            "slow_compute" => {
                let seconds = seconds(request);
                tokio::time::sleep(seconds).await;
                Ok(CallToolResponse::Complete(computed(seconds)?))
            }
            _ => {
                Err(ErrorData::missing_required_client_capability(ClientCapabilities::builder().enable_tasks().build()))
            }
        };
    }
    if request.name == "test_tool_with_task" {
        return after_asking(request, tasks);
    }
    let (name, seconds) = (request.name.to_string(), seconds(request));
    let options = TaskOptions::new().with_ttl_ms(60_000).with_poll_interval_ms(100);
    let task =
        tasks.spawn(options, |context| -> TaskFuture { Box::pin(async move { work(&name, seconds, context).await }) });
    Ok(CreateTaskResult::new(task).into())
}

/// Asks by an answer first, and becomes a task when it is answered.
fn after_asking(request: &CallToolRequestParams, tasks: &TaskManager) -> Result<CallToolResponse, ErrorData> {
    let name = request.input_responses.as_ref().and_then(|responses| content(responses, "user_name", "name"));
    let Some(name) = name else {
        let asked = wire(json!({"user_name": form("What is your name?", "name", "string")}))?;
        return Ok(InputRequiredResult::from_input_requests(asked).into());
    };
    let task = tasks.spawn(TaskOptions::new().with_ttl_ms(60_000).with_poll_interval_ms(100), |_| {
        Box::pin(async move { Ok(done(&format!("Hello, {name}!"))?) })
    });
    Ok(CreateTaskResult::new(task).into())
}

async fn work(name: &str, seconds: Duration, context: TaskContext) -> Result<CallToolResult, TaskExit> {
    match name {
        "slow_compute" => tokio::select! {
            () = tokio::time::sleep(seconds) => Ok(computed(seconds)?),
            () = context.cancelled() => Err(TaskExit::Cancelled),
        },
        "failing_job" => {
            tokio::time::sleep(A_WHILE).await;
            Ok(complete(json!({"isError": true, "content": [fixtures::text("The job failed")]}))?)
        }
        "confirm_delete" => {
            let answer = context.request_input("confirm", wire(form("Delete it?", "confirm", "boolean"))?).await?;
            Ok(done(&format!("Confirmed: {}", answer["content"]["confirm"]))?)
        }
        "multi_input" => {
            let first = context.request_input("first", wire(form("Who is the first?", "name", "string"))?);
            let second = context.request_input("second", wire(form("Who is the second?", "name", "string"))?);
            let (first, second) = tokio::try_join!(first, second)?;
            Ok(done(&format!("{} and {}", first["content"]["name"], second["content"]["name"]))?)
        }
        _ => {
            tokio::time::sleep(A_WHILE).await;
            Err(TaskExit::Error(ErrorData::internal_error("the job broke", None)))
        }
    }
}

/// How long a tool is asked to take: at most a minute.
fn seconds(request: &CallToolRequestParams) -> Duration {
    let asked = request.arguments.as_ref().and_then(|arguments| arguments.get("seconds")).and_then(Value::as_f64);
    Duration::from_secs_f64(asked.unwrap_or(1.0).clamp(0.0, 60.0))
}

fn computed(seconds: Duration) -> Result<CallToolResult, ErrorData> {
    done(&format!("Computed for {} seconds", seconds.as_secs_f64()))
}

fn done(text: &str) -> Result<CallToolResult, ErrorData> {
    complete(json!({"content": [fixtures::text(text)]}))
}
