//! The protocol's requests, each answered from the caller's toolbox.
//!
//! Invariant: a refusal by an operation is a result that a model can read; only a request that
//! reaches no operation is answered with a protocol error.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use toolcell::{Lang, Toolbox};
use toolcell_model_tools::published_tools;

use crate::bounds::{MAX_STDIO_MESSAGE_BYTES, MessageTooLarge};
use crate::host_methods::{EXTENSION, HostMethod};
use crate::request_context::{is_remote, request_principal};
use crate::server::{OpenFailure, Server};
use crate::settings::ServerSettings;
use crate::stdio::TOO_LARGE_METHOD;
use crate::tenant::{NotStarted, Tenant, WaitContext};
use crate::tool_result::to_mcp_tool;
use crate::{prompt, resources};

/// How long a client may cache the list of operations, in milliseconds: one hour. The list is the
/// same in every server of this version.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

/// The methods that take parameters. `rmcp` hands a request with one of them on as a custom request
/// if its parameters do not parse.
const METHODS_WITH_PARAMS: [&str; 11] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// The server's `instructions`, which clients may show to the model.
const INSTRUCTIONS: &str = "Toolcell stores tools that you write and runs them in a sandbox. Before you repeat an \
    operation, call tool_reflection or list_dynamic_tools. Create a tool with create_tool and run it with \
    run_dynamic_tool.";

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_tasks()
            .build();
        capabilities.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), JsonObject::new());
        // The operations are fixed; only the published tools change.
        let changes = self.settings().max_published > 0;
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = changes.then_some(true);
        }
        let this = Implementation::new("toolcell", env!("CARGO_PKG_VERSION")).with_title("Toolcell");
        ServerConfig::new(capabilities).with_server_info(this).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tenant = self.tenant_of(&context).await?;
        let (server, most) = (self.clone(), self.settings().max_published);
        let tools = self.run_with_permit(&tenant, &context, move |toolbox| all_tools(toolbox, server.settings()));
        let tools = tools.await?;
        let tools = tools.map_err(|error| self.redact_error(error, &context))?;
        // A list with published tools belongs to one principal, and may change.
        let (lasts, scope) = if most == 0 { (LIST_TTL_MS, CacheScope::Public) } else { (0, CacheScope::Private) };
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(lasts).with_cache_scope(scope))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // Headers that repeat parameters are checked against this schema, which is the same for
        // all.
        self.settings().operation(name).map(|operation| to_mcp_tool(operation.definition(&toolcell::Policy::default())))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.handle_call(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let tenant = self.tenant_of(&context).await?;
        let cursor = request.and_then(|request| request.cursor);
        let listed =
            self.run_with_permit(&tenant, &context, move |toolbox| resources::list(toolbox, cursor.as_deref())).await?;
        listed.map_err(|error| self.redact_error(error.to_error(), &context))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.hold_permit(&context).await?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let tenant = self.tenant_of(&context).await?;
        let results = Arc::clone(&tenant);
        let read = self.run_with_permit(&tenant, &context, move |toolbox| {
            resources::read(toolbox, &results.results, &request.uri)
        });
        let read = read.await?;
        let mut read = read.map_err(|error| self.redact_error(error.to_error(), &context))?;
        if is_remote(&context.extensions) {
            self.path_redactor().redact_resource(&mut read);
        }
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.hold_permit(&context).await?;
        let prompts = ListPromptsResult::with_all_items(prompt::list());
        Ok(prompts.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.hold_permit(&context).await?;
        prompt::get(&request.name, request.arguments.as_ref()).map(Into::into)
    }

    /// Handles the request that replaces a message that was too large, and reports parameters that
    /// do not parse.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if METHODS_WITH_PARAMS.contains(&request.method.as_str()) {
            let message = format!("the parameters of `{}` are invalid", request.method);
            return Err(ErrorData::invalid_params(message, Some(json!({"code": "request-invalid"}))));
        }
        if let Some(method) = HostMethod::from_request(&request, &context) {
            return self.call_host_method(method, request, &context).await;
        }
        if request.method != TOO_LARGE_METHOD {
            let method: String = request.method.chars().take(64).flat_map(char::escape_debug).collect();
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        }
        let excess = MessageTooLarge::from_params(request.params.as_ref());
        let excess = excess.unwrap_or(MessageTooLarge::Bytes { bytes: 0, limit: MAX_STDIO_MESSAGE_BYTES });
        let tenant = self.tenant_of(&context).await?;
        tenant.record_rejected(None, None, MessageTooLarge::CODE, excess.to_string()).await;
        Err(excess.to_error())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(tenant) = self.tenant(&request_principal(&context.extensions)).await else { return };
        let (mut changes, closing) = (tenant.change_notifier.subscribe(), self.calls().closing().clone());
        let publishes = self.settings().max_published > 0;
        let peer = context.peer;
        tokio::spawn(async move {
            loop {
                let noticed = tokio::select! {
                    noticed = changes.changed() => noticed,
                    () = closing.cancelled() => return,
                    () = disconnected(&peer) => return,
                };
                // A disconnected client needs no notifications.
                if noticed.is_err() || peer.notify_resource_list_changed().await.is_err() {
                    return;
                }
                if publishes && peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let offered = SubscriptionFilter::builder().tools_list_changed().resources_list_changed().build();
        Some(requested.intersection(&offered))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let tenant = self.tenant_of(context.request_context()).await?;
        let mut changes = tenant.change_notifier.subscribe();
        let (accepted, sink) = (context.accepted(), context.sink());
        loop {
            let noticed = tokio::select! {
                noticed = changes.changed() => noticed,
                () = self.calls().closing().cancelled() => return Ok(()),
                () = context.cancelled() => return Ok(()),
            };
            let tools =
                noticed.is_ok() && accepted.tools_list_changed == Some(true) && self.settings().max_published > 0;
            if tools && sink.notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
            let resources = noticed.is_ok() && accepted.resources_list_changed == Some(true);
            if resources && sink.notify_resource_list_changed().await.is_err() {
                return Ok(());
            }
            if noticed.is_err() {
                return Ok(());
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let tenant = self.tenant_of(&context).await?;
        tenant.tasks.get(&request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tenant = self.tenant_of(&context).await?;
        tenant.tasks.update(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tenant = self.tenant_of(&context).await?;
        tenant.tasks.cancel(&request.task_id)
    }
}

impl Server {
    /// Returns the tenant of a request.
    pub(crate) async fn tenant_of(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Tenant>, ErrorData> {
        let opened = self.tenant(&request_principal(&context.extensions)).await;
        opened.map_err(|failure| self.redact_error(open_error(&failure), context))
    }

    /// Redacts an error for a remote client.
    fn redact_error(&self, error: ErrorData, context: &RequestContext<RoleServer>) -> ErrorData {
        if is_remote(&context.extensions) { self.path_redactor().redact_error(error, Lang::En) } else { error }
    }

    /// Acquires the permit of a request that needs no toolbox, and holds it until the answer is
    /// written.
    async fn hold_permit(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let wait = WaitContext::new(context, self.calls().stopping());
        let permit = self.tenant_of(context).await?.acquire_permit(&wait).await.map_err(NotStarted::to_error)?;
        wait.hold(permit);
        Ok(())
    }

    /// Performs a request while holding the principal's permit, and keeps the permit until the
    /// answer is written.
    pub(crate) async fn run_with_permit<T: Send + 'static>(
        &self,
        tenant: &Tenant,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Toolbox) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let wait = WaitContext::new(context, self.calls().stopping());
        let (done, permit) = tenant.run_blocking(&wait, work).await.map_err(NotStarted::to_error)?;
        wait.hold(permit);
        Ok(done)
    }
}

/// All tools: the operations, and the published tools.
fn all_tools(toolbox: &Toolbox, settings: &ServerSettings) -> Result<Vec<Tool>, ErrorData> {
    let published = published_tools(toolbox, settings.max_published).map_err(|fault| {
        ErrorData::internal_error(format!("{fault}; {}", fault.hint()), Some(json!({"code": fault.code()})))
    })?;
    let operations = settings.operations().map(|operation| to_mcp_tool(operation.definition(toolbox.policy())));
    Ok(operations.chain(published.into_iter().map(|published| to_mcp_tool(published.definition))).collect())
}

fn open_error(failure: &OpenFailure) -> ErrorData {
    let message: Cow<'static, str> = format!("{failure}; {}", failure.hint).into();
    ErrorData::internal_error(message, Some(json!({"code": failure.code})))
}

/// Waits until a client has disconnected. It is checked every 5 seconds.
async fn disconnected(peer: &rmcp::service::Peer<RoleServer>) {
    let mut look = tokio::time::interval(std::time::Duration::from_secs(5));
    while !peer.is_transport_closed() {
        look.tick().await;
    }
}
