//! The requests of the protocol, each answered from the toolbox of whoever asks.
//!
//! Invariant: what an operation refuses is an answer that a model can read; only what reaches no operation is an error of the
//! protocol.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use toolcell::Toolbox;

use crate::bounds::{Excess, MESSAGE_LIMIT};
use crate::operation::Operation;
use crate::principal::Principal;
use crate::server::{OpenFailure, Server};
use crate::share::Entry;
use crate::stdio::TOO_LONG;
use crate::tenant::{NotBegun, Patience, Tenant};
use crate::{prompt, published, resources};

/// For how long a list of operations may be kept, in milliseconds: it is the same in every server of this version.
const LIST_LASTS: u64 = 60 * 60 * 1000;

/// The methods that take parameters. Where a request of one of them is not understood, its parameters are not.
const METHODS: [&str; 11] = [
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

/// What a client is told of the server as a whole. A model may read it.
const INSTRUCTIONS: &str = "Toolcell keeps tools that you write and runs them in sealed cells. Before you do the same thing a \
    second time, ask tool_reflection or list_dynamic_tools; make a tool with create_tool and run it with run_dynamic_tool.";

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_tasks()
            .build();
        // The five operations do not change; only what is published does.
        let changes = self.settings().publish > 0;
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
        let most = self.settings().publish;
        let tools = self.in_turn(&tenant, &context, move |toolbox| tools(toolbox, most)).await?;
        let tools = tools.map_err(|error| self.told(error, &context))?;
        // A list with tools of somebody's own is theirs, and may change.
        let (lasts, scope) = if most == 0 { (LIST_LASTS, CacheScope::Public) } else { (0, CacheScope::Private) };
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(lasts).with_cache_scope(scope))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // Headers that repeat parameters are checked against the schema, which is the same for everybody.
        Operation::named(name).map(|operation| operation.tool(&toolcell::Policy::default()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let tenant = self.tenant_of(&context).await?;
        let cursor = request.and_then(|request| request.cursor);
        let listed =
            self.in_turn(&tenant, &context, move |toolbox| resources::list(toolbox, cursor.as_deref())).await?;
        listed.map_err(|error| self.told(error.to_error(), &context))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.turn(&context).await?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let tenant = self.tenant_of(&context).await?;
        let read = self.in_turn(&tenant, &context, move |toolbox| resources::read(toolbox, &request.uri)).await?;
        let mut read = read.map_err(|error| self.told(error.to_error(), &context))?;
        if is_remote(&context.extensions) {
            self.redaction().resource(&mut read);
        }
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.turn(&context).await?;
        let prompts = ListPromptsResult::with_all_items(prompt::list());
        Ok(prompts.with_ttl_ms(LIST_LASTS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.turn(&context).await?;
        prompt::get(&request.name, request.arguments.as_ref()).map(Into::into)
    }

    /// What the transport puts in place of a message that is too large.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if METHODS.contains(&request.method.as_str()) {
            let message = format!("the parameters of `{}` are not understood", request.method);
            return Err(ErrorData::invalid_params(message, Some(json!({"code": "request-invalid"}))));
        }
        if request.method != TOO_LONG {
            let method: String = request.method.chars().take(64).flat_map(char::escape_debug).collect();
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        }
        let excess = Excess::from_params(request.params.as_ref());
        let excess = excess.unwrap_or(Excess::Bytes { bytes: 0, limit: MESSAGE_LIMIT });
        let tenant = self.tenant_of(&context).await?;
        tenant.turn_away(None, None, Excess::CODE, excess.to_string()).await;
        Err(excess.error())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(tenant) = self.tenant(&principal(&context.extensions)).await else { return };
        let (mut changes, closing) = (tenant.changes.listen(), self.calls().closing().clone());
        let publishes = self.settings().publish > 0;
        let peer = context.peer;
        tokio::spawn(async move {
            loop {
                let noticed = tokio::select! {
                    noticed = changes.changed() => noticed,
                    () = closing.cancelled() => return,
                    () = gone(&peer) => return,
                };
                // A client that is gone is told nothing any more.
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
        let mut changes = tenant.changes.listen();
        let (accepted, sink) = (context.accepted(), context.sink());
        loop {
            let noticed = tokio::select! {
                noticed = changes.changed() => noticed,
                () = self.calls().closing().cancelled() => return Ok(()),
                () = context.cancelled() => return Ok(()),
            };
            let tools = noticed.is_ok() && accepted.tools_list_changed == Some(true) && self.settings().publish > 0;
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
    /// Whoever a request is from, with what is theirs.
    pub(crate) async fn tenant_of(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Tenant>, ErrorData> {
        let opened = self.tenant(&principal(&context.extensions)).await;
        opened.map_err(|failure| self.told(not_open(&failure), context))
    }

    /// An error as the client of a request may read it.
    fn told(&self, error: ErrorData, context: &RequestContext<RoleServer>) -> ErrorData {
        if is_remote(&context.extensions) { self.redaction().error(error) } else { error }
    }

    /// Waits for the turn of a request that needs no toolbox, and keeps it until the answer is made.
    async fn turn(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let patience = Patience::of(context, self.calls().stopping());
        let turn = self.tenant_of(context).await?.turn(&patience).await.map_err(NotBegun::to_error)?;
        patience.keep(turn);
        Ok(())
    }

    /// Does all that a request asks for when its principal has its turn, and keeps the turn until the answer is made.
    async fn in_turn<T: Send + 'static>(
        &self,
        tenant: &Tenant,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Toolbox) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let patience = Patience::of(context, self.calls().stopping());
        let (done, turn) = tenant.verb(&patience, work).await.map_err(NotBegun::to_error)?;
        patience.keep(turn);
        Ok(done)
    }
}

/// The list of tools: the five, and those that are published.
fn tools(toolbox: &Toolbox, most: usize) -> Result<Vec<Tool>, ErrorData> {
    let published = published::list(toolbox, most).map_err(|fault| {
        ErrorData::internal_error(format!("{fault}; {}", fault.hint()), Some(json!({"code": fault.code()})))
    })?;
    let operations = Operation::ALL.into_iter().map(|operation| operation.tool(toolbox.policy()));
    Ok(operations.chain(published).collect())
}

/// Whoever a request is from: as the transport says, and else whoever started the server.
pub(crate) fn principal(extensions: &rmcp::model::Extensions) -> Principal {
    let parts = extensions.get::<hyper::http::request::Parts>();
    parts.and_then(|parts| parts.extensions.get::<Principal>()).cloned().unwrap_or_else(Principal::local)
}

/// What a request holds of the share of its principal, where it came over HTTP.
pub(crate) fn entry(extensions: &rmcp::model::Extensions) -> Option<Entry> {
    extensions.get::<hyper::http::request::Parts>()?.extensions.get::<Entry>().cloned()
}

/// Whether a request came over HTTP.
pub(crate) fn is_remote(extensions: &rmcp::model::Extensions) -> bool {
    extensions.get::<hyper::http::request::Parts>().is_some()
}

/// Whether a request is of the protocol without sessions.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn not_open(failure: &OpenFailure) -> ErrorData {
    let message: Cow<'static, str> = format!("{failure}; {}", failure.hint).into();
    ErrorData::internal_error(message, Some(json!({"code": failure.code})))
}

/// Waits until a client is gone.
async fn gone(peer: &rmcp::service::Peer<RoleServer>) {
    let mut look = tokio::time::interval(std::time::Duration::from_secs(5));
    while !peer.is_transport_closed() {
        look.tick().await;
    }
}
