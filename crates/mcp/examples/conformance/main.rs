//! A server with the tools, prompts and resources that the official conformance suite asks for by name, behind the way in
//! over HTTP that the product has: sessions, streams, headers, caching, rounds of questions and tasks are shown by the suite,
//! though Toolcell does not offer all of them itself. `tests/interop/run` starts it.
//!
//! Invariant: nothing of what it does is in the product; nothing of how it is reached is here.

#![expect(clippy::print_stderr, reason = "it says where it listens")]

mod asks;
mod fixtures;
mod tasks;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientCapabilities,
    CompleteRequestParams, CompleteResult, ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
    GetTaskResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec, RequestStateError,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool, UpdateTaskParams,
};
#[expect(deprecated, reason = "the suite asks for them in the protocols that have them")]
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, SetLevelRequestParams,
    SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use toolcell_mcp::CallTracker;
use toolcell_mcp::http::{HttpConfig, serve};

/// The time between two notices of a tool.
const STEP: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let (config, calls) = (HttpConfig::default(), CallTracker::default());
    let fixtures = Fixtures::new().map_err(io::Error::other)?;
    // It is served until it is killed.
    serve(listener, fixtures, &config, &calls, std::future::pending()).await.map_err(io::Error::other)
}

/// What a list is of that changed.
#[derive(Debug, Clone, Copy)]
enum Changed {
    Tools,
    Prompts,
}

/// The server. A copy is the same one.
#[derive(Clone)]
struct Fixtures {
    tasks: TaskManager,
    states: Arc<RequestStateCodec>,
    changes: broadcast::Sender<Changed>,
}

impl Fixtures {
    fn new() -> Result<Self, RequestStateError> {
        // Nothing depends on these states: a key that can be guessed will do.
        let key = blake3::hash(format!("{:?}", std::time::Instant::now()).as_bytes());
        let states = Arc::new(RequestStateCodec::try_new(key.as_bytes().as_slice())?);
        Ok(Self { tasks: TaskManager::new(), states, changes: broadcast::Sender::new(16) })
    }

    async fn run(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = match &*request.name {
            "greet" => format!("Hello, {}!", arguments["name"].as_str().unwrap_or_default()),
            "test_tool_with_logging" => {
                for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    log(&context, line).await;
                    tokio::time::sleep(STEP).await;
                }
                "logged".to_owned()
            }
            "test_logging_tool" => {
                log(&context, "a line").await;
                "logged".to_owned()
            }
            "test_tool_with_progress" | "test_streaming_elicitation" => {
                progress(&context).await;
                "done".to_owned()
            }
            "test_sampling"
            | "test_elicitation"
            | "test_elicitation_sep1034_defaults"
            | "test_elicitation_sep1330_enums" => asks::request(&request.name, &arguments, &context).await?,
            "test_trigger_tool_change" => self.change(Changed::Tools),
            "test_trigger_prompt_change" => self.change(Changed::Prompts),
            "test_missing_capability" => able_to_sample(&context)?,
            name => {
                let unknown = || ErrorData::invalid_params(format!("there is no tool `{name}`"), None);
                return fixtures::answer(name).ok_or_else(unknown);
            }
        };
        Ok(json!({"content": [fixtures::text(&text)]}))
    }

    /// Tells those who listen.
    fn change(&self, what: Changed) -> String {
        let listeners = self.changes.send(what).unwrap_or_default();
        format!("{listeners} listen")
    }
}

/// A result that is complete, as it is on the wire; the library takes the mark away for clients that do not know it.
pub(crate) fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    result["resultType"] = "complete".into();
    wire(result)
}

/// Something as it is on the wire.
pub(crate) fn wire<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn capabilities(context: &RequestContext<RoleServer>) -> ClientCapabilities {
    context.client_capabilities().unwrap_or_default()
}

/// A client that cannot be asked for a sample is told so before anything is done.
#[expect(deprecated, reason = "the suite asks for it")]
fn able_to_sample(context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
    match capabilities(context).sampling {
        Some(_) => Ok("done".to_owned()),
        None => {
            Err(ErrorData::missing_required_client_capability(ClientCapabilities::builder().enable_sampling().build()))
        }
    }
}

/// Sends a line of a log to a client that may get one: of 2026-07-28 only one that asked for it in this request.
#[expect(deprecated, reason = "the suite asks for it in the protocols that have it")]
async fn log(context: &RequestContext<RoleServer>, line: &str) {
    let stateless = context.meta.protocol_version().is_some();
    if stateless && context.meta.log_level().is_none() {
        return;
    }
    let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, line.into());
    // A client that is gone reads no log.
    let _ = context.peer.notify_logging_message(line).await;
}

async fn progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    for done in [0.0, 50.0, 100.0] {
        let notice = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        // A client that is gone watches no progress.
        let _ = context.peer.notify_progress(notice).await;
        tokio::time::sleep(STEP).await;
    }
}

impl ServerHandler for Fixtures {
    #[expect(deprecated, reason = "the suite asks for logging in the protocols that have it")]
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        complete(json!({"tools": fixtures::tools()}))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools: Vec<Tool> = wire(fixtures::tools()).ok()?;
        tools.into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if tasks::lasts(&request.name) {
            return tasks::call(&request, &capabilities(&context), &self.tasks).await;
        }
        if asks::asks(&request.name) {
            return asks::ask(&request, &self.states, &capabilities(&context));
        }
        let result: CallToolResult = complete(self.run(request, context).await?)?;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        complete(json!({"resources": fixtures::resources()}))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        complete(json!({"resourceTemplates": fixtures::templates()}))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let unknown = || ErrorData::resource_not_found("there is no such resource", Some(json!({"uri": request.uri})));
        Ok(ReadResourceResponse::Complete(complete(fixtures::resource(&request.uri).ok_or_else(unknown)?)?))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        complete(json!({"prompts": fixtures::prompts()}))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == "test_input_required_result_prompt" {
            return Ok(match asks::ask_for_context(request.input_responses.as_ref())? {
                Ok(prompt) => GetPromptResponse::Complete(complete(prompt)?),
                Err(question) => question.into(),
            });
        }
        let unknown = || ErrorData::invalid_params(format!("there is no prompt `{}`", request.name), None);
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        Ok(GetPromptResponse::Complete(complete(fixtures::prompt(&request.name, &arguments).ok_or_else(unknown)?)?))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete(json!({"completion": {"values": ["test1", "test2"], "total": 2, "hasMore": false}}))
    }

    #[expect(deprecated, reason = "the suite asks for it in the protocols that have it")]
    async fn set_level(&self, _: SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if context.meta.protocol_version().is_some() {
            return Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>());
        }
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (mut changes, accepted) = (self.changes.subscribe(), context.accepted().clone());
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            let sent = match change {
                Ok(Changed::Tools) if accepted.tools_list_changed == Some(true) => {
                    context.sink().notify_tool_list_changed().await
                }
                Ok(Changed::Prompts) if accepted.prompts_list_changed == Some(true) => {
                    context.sink().notify_prompt_list_changed().await
                }
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}
