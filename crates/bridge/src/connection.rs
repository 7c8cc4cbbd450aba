//! A connection to a server: a program over its standard streams, or Streamable HTTP (MCP 2025-11-25, basic/transports).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use ipnet::IpNet;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ClientRequest, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation, ProtocolVersion, RequestId,
    ServerResult, SubscriptionFilter, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestContext,
    RunningService, ServiceError,
};
use rmcp::transport::IntoTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};
use rmcp::{ClientCacheConfig, ClientHandler, ClientServiceExt as _, Peer, RoleClient};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::task::AbortHandle;
use toolcell_capabilities::{Net, Redactor, Secret};
use toolcell_tool::ServerName;
use url::Url;

use crate::definitions::Definition;
use crate::error::cause_of;
use crate::oauth::{AuthenticatedClient, Authentication, OAuthConfig};
use crate::questions::{self, Asker, InFlightCalls};
use crate::reader::{Blocked, EndReason, LineReader, MAX_MESSAGE_BYTES, StderrTail, WatchedWriter};

/// The time in which a server has to be ready: a package manager may have to fetch it first.
const START_TIME: Duration = Duration::from_mins(1);
/// The maximum number of tools of a server.
const MAX_TOOLS: usize = 10_000;
/// The maximum size of all definitions of a server in bytes.
const MAX_LIST_BYTES: usize = 32 << 20;
/// The maximum number of pages of a list.
const MAX_PAGES: usize = 1_000;
/// The variables that a program has besides those that the policy names.
const INHERITED: [&str; 8] = ["PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

/// A server.
pub struct ServerConfig {
    /// The name.
    pub name: ServerName,
    /// How it is reached.
    pub transport: ServerAddress,
    /// The secrets that it gets, by name, which are taken out of all that it says.
    pub secrets: Vec<(String, Secret)>,
    /// The time in which each call has to be answered.
    pub timeout: Duration,
    /// Whether its tools have the effects that it says.
    pub believes_hints: bool,
}

/// How a server is reached.
pub enum ServerAddress {
    /// A program, over its standard input and output.
    Program(Program),
    /// Streamable HTTP.
    Http {
        /// The URL.
        url: Url,
        /// How this side authenticates.
        auth: HttpAuth,
        /// The private addresses that the host may resolve to.
        addresses: Vec<IpNet>,
    },
}

/// How this side authenticates to a server over HTTP.
pub enum HttpAuth {
    /// It does not.
    None,
    /// With a fixed bearer token.
    Bearer(String),
    /// With access tokens of an authorization server.
    OAuth(OAuthConfig),
}

/// A program that is a server.
pub struct Program {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// The folder that a program path with `/` is relative to.
    pub folder: PathBuf,
    /// Its environment variables besides `PATH`, `HOME` and those of the language.
    pub environment: BTreeMap<String, String>,
}

/// A connection.
pub(crate) struct Connection {
    service: RunningService<RoleClient, Client>,
    /// Whether the server said that its list of tools has changed.
    has_new_list: Arc<AtomicBool>,
    calls: Arc<InFlightCalls>,
    /// Ends with the connection.
    _subscription: Option<Subscription>,
    end: EndReason,
    stderr: StderrTail,
    /// What authenticates to a server over HTTP.
    http: Option<AuthenticatedClient>,
    /// Ends with the connection.
    _child: Option<ChildGroup>,
}

/// What this side is to a server.
struct Client {
    has_new_list: Arc<AtomicBool>,
    calls: Arc<InFlightCalls>,
    asker: Arc<Asker>,
}

impl Client {
    /// Creates a client, and what it sets when the server says that its list of tools has changed.
    /// Also returns the calls in flight, to which questions of the server belong.
    fn new(asker: &Arc<Asker>) -> (Self, Arc<AtomicBool>, Arc<InFlightCalls>) {
        let (has_new_list, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(InFlightCalls::new(asker.quarantine)));
        let client =
            Self { has_new_list: Arc::clone(&has_new_list), calls: Arc::clone(&calls), asker: Arc::clone(asker) };
        (client, has_new_list, calls)
    }

    /// Answers a question, unless the server withdraws it before.
    async fn answer(&self, params: &Value, context: &RequestContext<RoleClient>) -> ElicitResult {
        tokio::select! {
            answer = self.calls.ask(&self.asker, params) => answer,
            () = context.ct.cancelled() => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new("toolcell", env!("CARGO_PKG_VERSION"));
        // A connection serves runs whose callers can be asked, and others, for which it is declined.
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default().with_form(FormElicitationCapability::new()));
        info.capabilities = capabilities;
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // What it asks for is checked as a value, whichever way it came.
        let params = serde_json::to_value(&request).unwrap_or_default();
        Ok(self.answer(&params, &context).await)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != questions::METHOD {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None));
        }
        // A question that the library does not know, such as one with a nested schema.
        let answer = self.answer(&request.params.unwrap_or_default(), &context).await;
        Ok(CustomResult::new(serde_json::to_value(&answer).unwrap_or_default()))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.has_new_list.store(true, Ordering::Release);
    }
}

/// The process groups of all programs that run, by their number.
static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ends all programs that are servers, at once. For a process that is about to end without dropping what it has.
pub fn end_programs() {
    for group in std::mem::take(&mut *GROUPS.lock().unwrap_or_else(PoisonError::into_inner)) {
        end_group(group);
    }
}

/// A program and those that it started.
struct ChildGroup {
    child: Child,
    /// The number of the group, which is that of its first process.
    group: Option<u32>,
}

impl ChildGroup {
    fn new(child: Child) -> Self {
        let group = child.id();
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).extend(group);
        Self { child, group }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        if let Some(group) = self.group
            && GROUPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&group)
        {
            // The first process was not waited for yet, so the number is still its own.
            end_group(group);
        }
    }
}

/// Kills a process group: it outlives its first process where that started others.
fn end_group(group: u32) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = group;
}

impl Connection {
    /// Connects to a server and waits until it is ready. The error may have secrets in it.
    pub(crate) async fn open(
        config: &ServerConfig,
        authentication: &Authentication,
        net: Option<&Net>,
        redactor: &Redactor,
        asker: &Arc<Asker>,
    ) -> Result<Self, OpenError> {
        let limit = config.timeout.max(START_TIME);
        match &config.transport {
            ServerAddress::Program(program) => {
                let (end, mut stderr) = (EndReason::default(), StderrTail::default());
                let opened = tokio::time::timeout(limit, Self::open_program(program, asker, &end, &mut stderr)).await;
                let failed = match opened {
                    Ok(Ok(connection)) => return Ok(connection),
                    Ok(Err(why)) => why,
                    Err(_) => not_ready(limit),
                };
                let why = end.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(failed);
                Err(OpenError::Unreachable(why + &said(&stderr, redactor).await))
            }
            ServerAddress::Http { url, addresses, .. } => {
                let net = net.ok_or_else(|| OpenError::Unreachable("this build has no network access".to_owned()))?;
                let http = net.client(url.scheme(), addresses.clone()).await;
                let http = http.map_err(|error| OpenError::Unreachable(error.message))?;
                let http = AuthenticatedClient::new(http, authentication.clone());
                let opened = tokio::time::timeout(limit, Self::open_http(url, http.clone(), asker)).await;
                let failed = opened.unwrap_or_else(|_| Err(not_ready(limit)));
                failed.map_err(|why| match http.take_refusal() {
                    Some(refusal) => OpenError::Unauthorized(refusal),
                    None => OpenError::Unreachable(why),
                })
            }
        }
    }

    async fn open_program(
        program: &Program,
        asker: &Arc<Asker>,
        end: &EndReason,
        stderr: &mut StderrTail,
    ) -> Result<Self, String> {
        let mut child = start(program)?;
        if let Some(pipe) = child.child.stderr.take() {
            *stderr = StderrTail::collect(pipe);
        }
        let (Some(output), Some(input)) = (child.child.stdout.take(), child.child.stdin.take()) else {
            return Err("its standard streams cannot be opened".to_owned());
        };
        let blocked = Blocked::default();
        let output = LineReader::new(output, Arc::clone(end), blocked.clone());
        let transport = AsyncRwTransport::new_client(output, WatchedWriter::new(input, blocked))
            .with_max_line_length(MAX_MESSAGE_BYTES + 1);
        let connection = Self::serve(transport, asker).await.map_err(|error| error.to_string())?;
        let (end, stderr) = (Arc::clone(end), stderr.clone());
        Ok(Self { end, stderr, _child: Some(child), ..connection })
    }

    async fn open_http(url: &Url, http: AuthenticatedClient, asker: &Arc<Asker>) -> Result<Self, String> {
        let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
            .max_sse_event_size(MAX_MESSAGE_BYTES)
            .reinit_on_expired_session(false);
        let transport = StreamableHttpClientTransport::with_client(http.clone(), config);
        let connection = Self::serve(transport, asker).await.map_err(|error| cause_of(&error))?;
        Ok(Self { http: Some(http), ..connection })
    }

    /// Agrees with a server on a revision of the protocol.
    async fn serve<T, E, A>(transport: T, asker: &Arc<Asker>) -> Result<Self, ClientInitializeError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let (client, has_new_list, calls) = Client::new(asker);
        let service = client.serve_with_lifecycle(transport, lifecycle()).await?;
        let subscription = subscribe(service.peer(), &has_new_list).await;
        let (end, stderr) = (EndReason::default(), StderrTail::default());
        Ok(Self { service, has_new_list, calls, _subscription: subscription, end, stderr, http: None, _child: None })
    }

    /// Returns why the server refused this side since the last call of this.
    pub(crate) fn take_refusal(&self) -> Option<String> {
        self.http.as_ref()?.take_refusal()
    }

    /// Whether the server can still be asked.
    pub(crate) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }

    /// The calls that are in flight.
    pub(crate) const fn calls(&self) -> &Arc<InFlightCalls> {
        &self.calls
    }

    /// Sends one request of a call. The server is told if the answer is no longer wanted.
    pub(crate) async fn send_call(&self, params: CallToolRequestParams) -> Result<ServerResult, ServiceError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let peer = self.service.peer();
        let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
        let mut abandoned = AbandonedRequest { peer, id: Some(sent.id.clone()) };
        let answer = sent.await_response().await;
        abandoned.id = None;
        answer
    }

    /// Whether the server said that its list of tools has changed.
    pub(crate) fn has_list_change(&self) -> bool {
        self.has_new_list.load(Ordering::Acquire)
    }

    /// Whether the server said since the last call of this that its list of tools has changed.
    pub(crate) fn take_list_change(&self) -> bool {
        self.has_new_list.swap(false, Ordering::AcqRel)
    }

    /// Asks for the tools. Returns also for how long the server says that they stay as they are.
    pub(crate) async fn list(
        &self,
        deadline: Instant,
        redactor: &Redactor,
    ) -> Result<(Vec<Definition>, Option<Duration>), String> {
        let (mut all, mut bytes, mut lifetime) = (Vec::new(), 0, None);
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let mut page = rmcp::model::PaginatedRequestParams::default();
            page.cursor = cursor;
            let listed = tokio::time::timeout_at(deadline.into(), self.service.list_tools(Some(page))).await;
            let page = match listed {
                Ok(Ok(page)) => page,
                Ok(Err(error)) => return Err(self.why(&error, redactor).await),
                Err(_) => return Err("it did not list its tools in time".to_owned()),
            };
            let of_page = page.ttl_ms.filter(|ms| *ms > 0).map(Duration::from_millis);
            lifetime = [lifetime, of_page].into_iter().flatten().min();
            for tool in page.tools {
                let tool = to_definition(tool);
                bytes += tool.bytes();
                all.push(tool);
            }
            if bytes > MAX_LIST_BYTES {
                return Err(format!("its definitions have more than {} MiB", MAX_LIST_BYTES >> 20));
            }
            if all.len() > MAX_TOOLS {
                return Err(format!("it has more than {MAX_TOOLS} tools"));
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok((all, lifetime)),
            }
        }
        Err(format!("its list of tools has more than {MAX_PAGES} pages"))
    }

    /// Returns why a request was not answered.
    pub(crate) async fn why(&self, failed: &ServiceError, redactor: &Redactor) -> String {
        let known = self.end.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match failed {
            ServiceError::McpError(error) => format!("it answered with an error: {}", error.message),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => match known {
                Some(known) => known,
                None => format!("it ended{}", said(&self.stderr, redactor).await),
            },
            other => known.unwrap_or_else(|| cause_of(other)),
        }
    }
}

/// A task that hears of changes of a server's list. Dropping it ends it.
struct Subscription(AbortHandle);

impl Drop for Subscription {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Has a server say when its list of tools changes (MCP 2026-07-28, basic/patterns/subscriptions). Older ones say so without
/// being asked.
async fn subscribe(peer: &Peer<RoleClient>, has_new_list: &Arc<AtomicBool>) -> Option<Subscription> {
    // What is listed is kept here, and for no longer than here.
    peer.set_response_cache_config(ClientCacheConfig::disabled()).await;
    let info = peer.peer_info()?;
    let tells = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed) == Some(true);
    if !tells || info.protocol_version < ProtocolVersion::V_2026_07_28 {
        return None;
    }
    let (peer, has_new_list) = (peer.clone(), Arc::clone(has_new_list));
    let task = tokio::spawn(async move {
        let wanted = SubscriptionFilter::builder().tools_list_changed().build();
        match peer.listen(wanted).await {
            Ok(mut changes) => {
                while let Ok(Some(_)) = changes.next().await {
                    has_new_list.store(true, Ordering::Release);
                }
            }
            // Its list is asked for again after some time.
            Err(error) => tracing::debug!(%error, "a server does not say when its tools change"),
        }
    });
    Some(Subscription(task.abort_handle()))
}

/// Why there is no connection.
pub(crate) enum OpenError {
    /// The server refuses this client, or a person has to sign in.
    Unauthorized(String),
    Unreachable(String),
}

/// Tells the server that a request is abandoned, when it is dropped with an identifier.
struct AbandonedRequest<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for AbandonedRequest<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let reason = Some("the answer is no longer wanted".to_owned());
        let notice = CancelledNotificationParam::new(Some(id), reason);
        // The notice is queued when it is polled for the first time; nothing waits until it is sent.
        let sending = std::pin::pin!(self.peer.notify_cancelled(notice));
        let _ = sending.poll(&mut Context::from_waker(Waker::noop()));
    }
}

/// Starts a program.
fn start(program: &Program) -> Result<ChildGroup, String> {
    let Some((name, arguments)) = program.command.split_first() else { return Err("it has no command".to_owned()) };
    let path = if name.contains('/') { program.folder.join(name) } else { Path::new(name).to_owned() };
    let mut command = Command::new(&path);
    command.args(arguments).env_clear();
    command.envs(INHERITED.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.envs(&program.environment);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command.spawn().map(ChildGroup::new).map_err(|error| format!("`{}` cannot be started: {error}", path.display()))
}

fn to_definition(tool: Tool) -> Definition {
    let object = |schema: Arc<rmcp::model::JsonObject>| Value::Object(Arc::unwrap_or_clone(schema));
    let hints = tool.annotations.and_then(|hints| serde_json::to_value(hints).ok()).unwrap_or_default();
    let description = tool.description.map(std::borrow::Cow::into_owned).unwrap_or_default();
    Definition::new(
        tool.name.into_owned(),
        description,
        object(tool.input_schema),
        tool.output_schema.map(object),
        hints,
    )
}

/// Returns the revisions of the protocol that are tried.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

fn not_ready(limit: Duration) -> String {
    format!("it was not ready within {} ms", limit.as_millis())
}

/// Returns what a program wrote last to its standard error, for a message.
async fn said(stderr: &StderrTail, redactor: &Redactor) -> String {
    let text = stderr.text(redactor).await;
    if text.is_empty() { String::new() } else { format!("; it said: {text}") }
}
