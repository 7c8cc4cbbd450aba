//! `tools/call`: parses the request, performs the operation and builds the result.
//!
//! Invariant: each call is counted while it is in flight, and a call that is rejected here, before
//! an operation sees it, is written to the audit log.
#![expect(clippy::result_large_err, reason = "a response is built once and then moved")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ErrorData, InputRequest, InputRequiredResult, JsonObject, NumberOrString,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolcell::hook::AwaitedAnswer;
use toolcell::{
    CancelToken, CreateTool, DeleteTool, ExecError, Lang, LimitOverrides, ListTools, Message, Params, ReflectOnTask,
    RequestError, RunError, RunResult, RunTool, Toolbox, VerifyError, VerifyOptions, VerifyTool, read_request,
};
use toolcell_error::ErrorCode;
use toolcell_i18n::{message, msgid};
use toolcell_model_tools::{
    BuiltinTool, CallFailure, PublishedTool, ResultShape, ToCallFailure as _, code_result, create_result,
    delete_result, find_published_tool, list_result, mismatch_result, reflect_result, run_result, unknown_tool_message,
    verify_result,
};
use tracing::Instrument as _;

use crate::elicitation::{self, DeferredApprover, DeferredPrompt, ElicitationChannel, ElicitationMode, PromptContext};
use crate::in_flight::InFlightCall;
use crate::principal::Principal;
use crate::redact::RedactionScope;
use crate::request_context::{caller_claims, flow_context, is_remote, is_stateless, permit_holder, request_principal};
use crate::request_limiter::Overloaded;
use crate::request_state::{RequestStateError, StateBinding};
use crate::run_call::{Cancellation, Progress, ProgressTarget, RunContext, RunOutcome, RunRequest, run};
use crate::server::Server;
use crate::telemetry::CallSpan;
use crate::tenant::{NotStarted, Tenant, WaitContext};
use crate::tool_result::{error_result, to_mcp_result, with_cache};

/// Runs that may take longer than this become tasks, if the client supports tasks.
const TASK_THRESHOLD: Duration = Duration::from_mins(1);
/// Arguments longer than this are parsed on a blocking thread, in bytes: all principals share the
/// threads of the runtime.
const MAX_INLINE_BYTES: usize = 64 << 10;
/// The longest progress token that is echoed in notifications, in bytes.
const MAX_PROGRESS_TOKEN_BYTES: usize = 4 << 10;
/// The most prompts that one request may lead to.
const MAX_QUESTIONS: usize = 8;
/// What a node knows of its shared library is told to be old if it is older than this, in `_meta` of results of runs.
const OLD_VIEW: Duration = Duration::from_secs(5);
const VIEW_META_KEY: &str = "toolcell/view";
/// The key of the single prompt in an input-required result.
const QUESTION_KEY: &str = "decision";

/// A tool call in flight.
struct ToolCall {
    server: Server,
    tenant: Arc<Tenant>,
    context: RequestContext<RoleServer>,
    _in_flight: InFlightCall,
}

/// The state of a call whose arguments were moved out, before the binding is computed.
struct UnboundContinuation {
    /// The caller, if the client may carry state for this call.
    principal: Option<Principal>,
    name: Cow<'static, str>,
    state: Option<String>,
    response: Option<Value>,
}

/// What a stateless client carries from one request to the next, without the arguments.
struct Continuation {
    /// The `requestState` that the client sent.
    state: Option<String>,
    /// The answer to the prompt.
    response: Option<Value>,
    /// What a state issued for this call is bound to.
    binding: Option<StateBinding>,
}

impl UnboundContinuation {
    fn bind(self, arguments: Option<&JsonObject>) -> Continuation {
        let Self { principal, name, state, response } = self;
        let bound =
            principal.and_then(|principal| StateBinding::new(&principal, "tools/call", &(&name, arguments)).ok());
        Continuation { state, response, binding: bound }
    }
}

impl Server {
    pub(crate) async fn handle_call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let watched = CallSpan::start(BuiltinTool::from_name(&request.name).map(BuiltinTool::name), &context);
        let remote = is_remote(&context.extensions);
        let mut response = self.admit_call(request, context).instrument(watched.span.clone()).await;
        watched.finish(&response);
        if remote {
            match &mut response {
                Ok(response) => self.path_redactor().redact_response(response, self.settings().lang),
                Err(error) => return Err(self.path_redactor().redact_error(error.clone(), Lang::En)),
            }
        }
        response
    }

    async fn admit_call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let lang = self.settings().lang;
        let Some(under_way) = self.calls().start() else {
            let (message, hint) =
                (message!("the server is shutting down"), msgid!("try again after the server has restarted"));
            let failure = CallFailure::for_server(ErrorCode::ShuttingDown, &message, hint, lang);
            return Ok(error_result(failure, lang).into());
        };
        let tenant = match self.tenant(&request_principal(&context.extensions)).await {
            Ok(tenant) => tenant,
            Err(failure) => {
                let failure = CallFailure::for_server(failure.code, &failure.message, failure.hint, lang);
                return Ok(error_result(failure, lang).into());
            }
        };
        let changes = matches!(
            BuiltinTool::from_name(&request.name),
            Some(BuiltinTool::Create | BuiltinTool::Delete | BuiltinTool::Verify)
        );
        let call = ToolCall { server: self.clone(), tenant: Arc::clone(&tenant), context, _in_flight: under_way };
        let response = catch_panics(Box::pin(call.dispatch(request))).await;
        if changes {
            tenant.change_notifier.check_now();
        }
        response
    }
}

/// Turns a panic into an internal error of this call alone.
async fn catch_panics(
    call: impl Future<Output = Result<CallToolResponse, ErrorData>>,
) -> Result<CallToolResponse, ErrorData> {
    let mut call = pin!(call);
    std::future::poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context))).unwrap_or_else(|_| {
            tracing::error!("a call panicked: this is a bug in Toolcell");
            Poll::Ready(Err(ErrorData::internal_error("this is a bug in Toolcell", Some(json!({"code": "bug"})))))
        })
    })
    .await
}

impl ToolCall {
    async fn dispatch(self, mut request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let Some(operation) = self.server.settings().operation(&request.name) else {
            return self.run_published(request).await;
        };
        let answered = match operation {
            BuiltinTool::Run => match self.parse_run(operation, request, RunRequest::Tool).await {
                Ok((run, continued)) => return self.run(run, continued, ResultShape::Envelope).await,
                Err(result) => result,
            },
            BuiltinTool::RunCode => match self.parse_run(operation, request, RunRequest::Code).await {
                Ok((run, continued)) => return self.run(run, continued, ResultShape::Envelope).await,
                Err(result) => result,
            },
            BuiltinTool::Create => {
                let (caller, context) = (self.tenant.caller(), flow_context(&self.context));
                let create = move |toolbox: &Toolbox, request: &CreateTool, lang| {
                    create(toolbox, &CreateTool { caller, context, ..request.clone() }, lang)
                };
                self.run_builtin(operation, request.arguments.take(), create).await
            }
            BuiltinTool::List => self.run_builtin(operation, request.arguments.take(), list).await,
            BuiltinTool::Delete => self.run_builtin(operation, request.arguments.take(), delete).await,
            BuiltinTool::Reflect => self.run_builtin(operation, request.arguments.take(), reflect).await,
            BuiltinTool::Verify => self.verify(request.arguments.take()).await,
        };
        Ok(answered.into())
    }

    /// Parses a request, performs it and builds the result, all while holding the principal's
    /// permit.
    async fn run_builtin<T: DeserializeOwned + 'static>(
        &self,
        operation: BuiltinTool,
        arguments: Option<JsonObject>,
        act: impl FnOnce(&Toolbox, &T, Lang) -> Result<CallToolResult, CallFailure> + Send + 'static,
    ) -> CallToolResult {
        let lang = self.lang();
        let wait = WaitContext::new(&self.context, self.server.calls().stopping());
        let done = self.tenant.run_blocking(&wait, move |toolbox| {
            let done = parse_or_record(toolbox, operation, arguments, lang)
                .and_then(|request: T| act(toolbox, &request, lang));
            done.unwrap_or_else(|failure| error_result(failure, lang))
        });
        match done.await {
            Ok((result, permit)) => {
                wait.hold(permit);
                result
            }
            Err(error) => self.reject_unstarted(error, Some(operation), None).await,
        }
    }

    /// Verifies a tool. A verification whose client is gone is cancelled.
    async fn verify(&self, arguments: Option<JsonObject>) -> CallToolResult {
        let cancel = CancelToken::new();
        let options =
            VerifyOptions { caller: self.tenant.caller(), cancel: Some(cancel.clone()), ..VerifyOptions::default() };
        let (tenant, is_remote) = (Arc::clone(&self.tenant), self.is_remote());
        let given_up = Cancellation::Request(self.context.ct.clone(), self.server.calls().stopping().clone());
        let mut verified =
            pin!(self.run_builtin(BuiltinTool::Verify, arguments, move |toolbox, request: &VerifyTool, lang| {
                let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
                let proof = toolbox.verify(called, &options).map_err(|error| match &error {
                    VerifyError::Run(error) => run_failure(error, &tenant, is_remote, lang),
                    _ => error.to_call_failure(lang),
                })?;
                Ok(to_mcp_result(verify_result(&proof, lang)))
            }));
        tokio::select! {
            verified = &mut verified => return verified,
            () = given_up.cancelled() => cancel.cancel(),
        }
        verified.await
    }

    /// Parses a run request, or returns the error result. The arguments are dropped before this
    /// returns.
    async fn parse_run<T: DeserializeOwned + Send + 'static>(
        &self,
        operation: BuiltinTool,
        mut request: CallToolRequestParams,
        to_run: fn(T) -> RunRequest,
    ) -> Result<(RunRequest, Continuation), CallToolResult> {
        let lang = self.lang();
        let arguments = request.arguments.take();
        let unbound = self.take_continuation(request);
        if arguments.as_ref().is_none_or(|arguments| !is_large(arguments))
            && let Ok(run) = parse(arguments.as_ref())
        {
            return Ok((to_run(run), unbound.bind(arguments.as_ref())));
        }
        let read = self.run_with_permit(move |toolbox| {
            let continued = unbound.bind(arguments.as_ref());
            parse_or_record(toolbox, operation, arguments, lang).map(|run| (to_run(run), continued))
        });
        match read.await {
            Ok(read) => read.map_err(|failure| error_result(failure, lang)),
            Err(error) => Err(self.reject_unstarted(error, Some(operation), None).await),
        }
    }

    /// Runs a published tool, or reports an unknown tool name.
    async fn run_published(self, mut request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let (most, name) = (self.server.settings().max_published, request.name.to_string());
        let found = self.run_with_permit(move |toolbox| find_published_tool(toolbox, &name, most).ok().flatten()).await;
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                return Ok(self.reject_unstarted(error, Some(BuiltinTool::Run), Some(&request.name)).await.into());
            }
        };
        let Some(PublishedTool { stored_name: tool, shape, .. }) = found else {
            let message = unknown_tool_message(&request.name, self.server.settings().operations());
            self.record_rejected(Some(BuiltinTool::Run), Some(&request.name), ErrorCode::ToolUnknown, message.clone())
                .await;
            return Err(ErrorData::invalid_params(message, Some(json!({"code": ErrorCode::ToolUnknown}))));
        };
        let arguments = request.arguments.take();
        let continued = self.take_continuation(request).bind(arguments.as_ref());
        let text = serde_json::to_string(&arguments.unwrap_or_default()).unwrap_or_default();
        match Params::parse(text) {
            Ok(parameters) => {
                let request = RunTool { tool_name: Some(tool), parameters, ..RunTool::default() };
                self.run(RunRequest::Tool(request), continued, shape).await
            }
            Err(error) => {
                let (code, lang) = (error.code(), self.lang());
                self.record_rejected(Some(BuiltinTool::Run), Some(&tool), code, error.to_string()).await;
                let failure = CallFailure::for_server(code, &error, msgid!("pass a JSON object"), lang);
                Ok(error_result(failure, lang).into())
            }
        }
    }

    async fn run(
        self,
        request: RunRequest,
        mut continued: Continuation,
        shape: ResultShape,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(holder) = permit_holder(&self.context.extensions) {
            holder.release_dispatch();
        }
        if self.needs_task(&request) {
            return Ok(self.start_task(request, shape));
        }
        let (asking, meanwhile) = match self.elicitation_mode(&mut continued).await {
            Ok(Ok(ElicitationMode::Deferred(meanwhile))) => {
                (ElicitationMode::Deferred(Arc::clone(&meanwhile)), Some(meanwhile))
            }
            Ok(Ok(asking)) => (asking, None),
            Ok(Err(error)) => return Err(self.reject_state(&error, &request).await),
            Err(error) => {
                let name = request.tool_reference();
                return Ok(self.reject_unstarted(error, Some(BuiltinTool::Run), name.as_deref()).await.into());
            }
        };
        // The token is repeated in each notification; a long one would dominate them.
        let token =
            self.context.meta.get_progress_token().filter(|token| id_length(&token.0) <= MAX_PROGRESS_TOKEN_BYTES);
        let progress = token.map(|token| Progress::new(ProgressTarget::Client(self.context.peer.clone(), token)));
        let name = request.tool_reference();
        let given_up = Cancellation::Request(self.context.ct.clone(), self.server.calls().stopping().clone());
        let ran = run(self.run_context(asking, progress), request, given_up).await;
        let open = meanwhile.and_then(|meanwhile| meanwhile.take_unanswered());
        let is_denied = matches!(
            &ran,
            Ok(RunOutcome::Tool(Err(RunError::Denied(_))) | RunOutcome::Code(Err(ExecError::Denied(_))))
        );
        if let (true, Some(open)) = (is_denied, open)
            && let Some(response) = self.input_required(continued, open).await
        {
            return Ok(response);
        }
        Ok(self.to_result(ran, name, shape).await.into())
    }

    /// Converts the outcome of a run into a result.
    async fn to_result(
        &self,
        ran: Result<RunOutcome, Overloaded>,
        name: Option<String>,
        shape: ResultShape,
    ) -> CallToolResult {
        let (lang, results) = (self.lang(), &self.tenant.results);
        let mut result = match ran {
            Ok(RunOutcome::Tool(Ok(ran))) if shape == ResultShape::Envelope => {
                with_cache(results, |keep| to_mcp_result(run_result(&ran, shape, keep, lang)))
            }
            Ok(RunOutcome::Tool(Ok(ran))) => match self.check_result(*ran).await {
                Ok((ran, None)) => with_cache(results, |keep| to_mcp_result(run_result(&ran, shape, keep, lang))),
                Ok((ran, Some(problem))) => to_mcp_result(mismatch_result(&ran, &problem, lang)),
                Err(error) => self.reject_unstarted(error, Some(BuiltinTool::Run), name.as_deref()).await,
            },
            Ok(RunOutcome::Code(Ok(ran))) => with_cache(results, |keep| to_mcp_result(code_result(&ran, keep, lang))),
            Ok(RunOutcome::Tool(Err(error))) => error_result(self.run_failure(&error), lang),
            Ok(RunOutcome::Code(Err(error))) => error_result(error.to_call_failure(lang), lang),
            Err(full) => self.reject_unstarted(full.into(), Some(BuiltinTool::Run), name.as_deref()).await,
        };
        self.server.policy_redactor().redact_content(&mut result, lang);
        if let Some(view) = self.tenant.toolbox.store().and_then(|store| store.old_view(OLD_VIEW)) {
            let age = view.age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
            result.meta.get_or_insert_default().0.insert(VIEW_META_KEY.to_owned(), json!({ "ageMs": age }));
        }
        result
    }

    /// Compares the value of a published tool with the schema that it declares.
    async fn check_result(&self, ran: RunResult) -> Result<(RunResult, Option<Message>), NotStarted> {
        self.run_with_permit(move |toolbox| {
            let problem = toolbox.result_problem(&ran);
            (ran, problem)
        })
        .await
    }

    /// Builds the result of a request that was never started, and records the rejection.
    async fn reject_unstarted(
        &self,
        error: NotStarted,
        operation: Option<BuiltinTool>,
        tool: Option<&str>,
    ) -> CallToolResult {
        let lang = self.lang();
        self.record_rejected(operation, tool, error.code(), error.to_string()).await;
        let failure = CallFailure::for_server(error.code(), &error, error.hint(), lang);
        let retry = matches!(error, NotStarted::Overloaded(_)).then_some(Overloaded::RETRY_AFTER);
        error_result(CallFailure { retry, ..failure }, lang)
    }

    fn run_failure(&self, error: &RunError) -> CallFailure {
        run_failure(error, &self.tenant, self.is_remote(), self.lang())
    }

    /// Determines how this call can ask the user, and verifies the answers that the client carries.
    async fn elicitation_mode(
        &self,
        continued: &mut Continuation,
    ) -> Result<Result<ElicitationMode, RequestStateError>, NotStarted> {
        let elicits = self.supports_elicitation();
        if !is_stateless(&self.context) {
            let now =
                || ElicitationMode::Live(ElicitationChannel::Client(self.context.peer.clone()), self.prompt_context());
            return Ok(Ok(if elicits { now() } else { ElicitationMode::Unavailable }));
        }
        let Some(state) = continued.state.take() else {
            let after =
                || ElicitationMode::Deferred(DeferredApprover::with_answers(self.prompt_context(), BTreeMap::new()));
            return Ok(Ok(if elicits { after() } else { ElicitationMode::Unavailable }));
        };
        // A state is only issued for parameters with a canonical form, so this one was not.
        let Some(bound) = continued.binding.clone() else { return Ok(Err(RequestStateError::Foreign)) };
        let tenant = Arc::clone(&self.tenant);
        let opened = self.run_with_permit(move |toolbox| {
            let store = toolbox.store().ok_or(RequestStateError::Foreign)?;
            tenant.request_state.redeem(store, &bound, &state, toolcell::now())
        });
        let carried = match opened.await? {
            Ok(carried) => carried,
            Err(error) => return Ok(Err(error)),
        };
        let response = continued.response.take();
        let response = response.and_then(|response| serde_json::from_value::<ElicitResult>(response).ok());
        let mut said = carried.said;
        // A user who dismissed the prompt is not asked again at once.
        let Some(answer) = response.and_then(|response| elicitation::parse_answer(&response)) else {
            return Ok(Ok(ElicitationMode::Unavailable));
        };
        said.insert(carried.asked, answer);
        Ok(Ok(ElicitationMode::Deferred(DeferredApprover::with_answers(self.prompt_context(), said))))
    }

    /// Builds the input-required result with the prompt; `None` if no state can be issued.
    async fn input_required(&self, continued: Continuation, open: DeferredPrompt) -> Option<CallToolResponse> {
        let DeferredPrompt { hash: asked, form, answers: said } = open;
        if said.len() >= MAX_QUESTIONS {
            return None;
        }
        let mut form = form;
        if let ElicitRequestParams::FormElicitationParams { message, .. } = &mut form
            && self.is_remote()
        {
            let redactor = self.server.path_redactor();
            *message = redactor.redact_text_in(message, RedactionScope::Known, self.lang()).into_owned();
        }
        let (tenant, bound) = (Arc::clone(&self.tenant), continued.binding?);
        let lasts = self.server.settings().prompt_timeout;
        let sealed = self.run_with_permit(move |toolbox| {
            let until = (toolcell::now(), lasts);
            let issued = tenant.request_state.issue(toolbox.store()?, &bound, asked, said, until);
            issued.inspect_err(|error| tracing::warn!(%error, "a prompt is not shown: its state cannot be issued")).ok()
        });
        let asked = InputRequest::Elicitation(ElicitRequest::new(form));
        let asks = BTreeMap::from([(QUESTION_KEY.to_owned(), asked)]);
        let sealed = sealed.await.ok().flatten()?;
        Some(InputRequiredResult::new(Some(asks), Some(sealed)).into())
    }

    /// Moves the continuation out of the request.
    fn take_continuation(&self, call: CallToolRequestParams) -> UnboundContinuation {
        let carries = is_stateless(&self.context) && (self.supports_elicitation() || call.request_state.is_some());
        UnboundContinuation {
            principal: carries.then(|| self.tenant.principal.clone()),
            name: call.name,
            state: call.request_state,
            response: call.input_responses.and_then(|mut responses| responses.remove(QUESTION_KEY)),
        }
    }

    /// The language and client of prompts in this call.
    fn prompt_context(&self) -> PromptContext {
        let client = self.context.client_info().map(|client| format!("{} {}", client.name, client.version));
        PromptContext { lang: self.lang(), client, policy: Arc::clone(&self.tenant.policy) }
    }

    /// Reports a `requestState` that does not verify, and records the rejection.
    async fn reject_state(&self, error: &RequestStateError, request: &RunRequest) -> ErrorData {
        let message = format!("`requestState` is invalid: {error}; {}", RequestStateError::HINT);
        let tool = request.tool_reference();
        self.record_rejected(Some(BuiltinTool::Run), tool.as_deref(), error.code(), message.clone()).await;
        ErrorData::invalid_params(message, Some(json!({"code": error.code()})))
    }

    /// Whether the run may take longer than a client waits and the client supports tasks.
    fn needs_task(&self, request: &RunRequest) -> bool {
        let wanted = LimitOverrides { timeout_ms: request.timeout_ms(), ..LimitOverrides::default() };
        let is_long = self.tenant.toolbox.policy().budget(&wanted).is_ok_and(|budget| budget.deadline > TASK_THRESHOLD);
        is_long && self.context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
    }

    /// Starts a task, which continues after the call has been answered.
    fn start_task(self, request: RunRequest, shape: ResultShape) -> CallToolResponse {
        let (tasks, lang) = (self.tenant.tasks.clone(), self.lang());
        let timeout_ms = request.timeout_ms().unwrap_or_default();
        match tasks.spawn(timeout_ms, move |task| self.run_in_task(request, shape, task)) {
            Ok(task) => CreateTaskResult::new(task).into(),
            Err(full) => {
                let failure = CallFailure::for_server(Overloaded::CODE, &full, Overloaded::HINT, lang);
                error_result(CallFailure { retry: Some(Overloaded::RETRY_AFTER), ..failure }, lang).into()
            }
        }
    }

    async fn run_in_task(
        self,
        request: RunRequest,
        shape: ResultShape,
        task: TaskContext,
    ) -> Result<CallToolResult, TaskExit> {
        let now = || ElicitationMode::Live(ElicitationChannel::Task(task.clone()), self.prompt_context());
        let asking = if self.supports_elicitation() { now() } else { ElicitationMode::Unavailable };
        let progress = Some(Progress::new(ProgressTarget::Task(task.clone())));
        let name = request.tool_reference();
        let given_up = Cancellation::Task(task.clone(), self.server.calls().stopping().clone());
        let ran = run(self.run_context(asking, progress), request, given_up).await;
        if task.is_cancel_requested() {
            return Err(TaskExit::Cancelled);
        }
        let mut result = self.to_result(ran, name, shape).await;
        if self.is_remote() {
            self.server.path_redactor().redact_result(&mut result, self.lang());
        }
        Ok(result)
    }

    fn run_context(&self, elicitation: ElicitationMode, progress: Option<Progress>) -> RunContext<'_> {
        RunContext {
            tenant: &self.tenant,
            settings: self.server.settings(),
            elicitation,
            progress,
            claims: caller_claims(&self.context),
            context: flow_context(&self.context),
            // A host over HTTP lends nothing.
            lent: (!self.is_remote()).then(|| (self.server.lent_functions(), self.context.peer.clone())),
        }
    }

    /// Whether the client supports form elicitation.
    fn supports_elicitation(&self) -> bool {
        let capabilities = self.context.client_capabilities();
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        // A client that names neither mode predates URL elicitation, and supports forms.
        elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none())
    }

    fn lang(&self) -> Lang {
        self.server.settings().lang
    }

    /// Whether the request came over HTTP.
    fn is_remote(&self) -> bool {
        is_remote(&self.context.extensions)
    }

    /// Records a request that no operation sees.
    async fn record_rejected(
        &self,
        operation: Option<BuiltinTool>,
        tool: Option<&str>,
        code: ErrorCode,
        message: String,
    ) {
        let operation = operation.map(BuiltinTool::name);
        self.tenant.record_rejected(operation, tool.map(str::to_owned), code, message).await;
    }

    /// Performs part of a request while holding the principal's permit, which is released
    /// afterwards.
    async fn run_with_permit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Toolbox) -> T + Send + 'static,
    ) -> Result<T, NotStarted> {
        let wait = WaitContext::new(&self.context, self.server.calls().stopping());
        self.tenant.run_blocking(&wait, work).await.map(|(done, _)| done)
    }
}

/// Describes why a run was denied or failed, and which approval it waits for.
///
/// The command that approves the tool is for the user's program alone: a model that reads it may run
/// it.
fn run_failure(error: &RunError, tenant: &Tenant, is_remote: bool, lang: Lang) -> CallFailure {
    let mut failure = toolcell_model_tools::run_failure(error, lang);
    let RunError::Denied(denial) = error else { return failure };
    let Some(AwaitedAnswer::ToolApproval(tool)) = denial.awaits() else { return failure };
    let (id, mut command) = (tool.to_string(), format!("toolcell approvals grant {}", tool.short()));
    if is_remote {
        // A remote client is not told where the store is on the host.
        let principal = &tenant.principal;
        failure.hint = message!(
            "an operator of the server must approve the tool in the store of `{principal}`; then run it again",
            principal,
        );
        failure.pending = Some(json!({"toolId": id, "command": command, "principal": principal.as_str()}));
        return failure;
    }
    if let Some(store) = tenant.toolbox.store() {
        command = format!("{command} --dir '{}'", store.path().display());
    }
    failure.pending = Some(json!({"toolId": id, "command": command}));
    failure
}

fn create(toolbox: &Toolbox, request: &CreateTool, lang: Lang) -> Result<CallToolResult, CallFailure> {
    let created = toolbox.create(request).map_err(|error| error.to_call_failure(lang))?;
    Ok(to_mcp_result(create_result(&created, lang)))
}

fn list(toolbox: &Toolbox, request: &ListTools, lang: Lang) -> Result<CallToolResult, CallFailure> {
    let listed = toolbox.list(request).map_err(|error| error.to_call_failure(lang))?;
    Ok(to_mcp_result(list_result(&listed, toolbox, lang)))
}

fn delete(toolbox: &Toolbox, request: &DeleteTool, lang: Lang) -> Result<CallToolResult, CallFailure> {
    let step = toolbox.delete(request).map_err(|error| error.to_call_failure(lang))?;
    Ok(to_mcp_result(delete_result(&step, lang)))
}

fn reflect(toolbox: &Toolbox, request: &ReflectOnTask, lang: Lang) -> Result<CallToolResult, CallFailure> {
    let reflected = toolbox.reflect(request).map_err(|error| error.to_call_failure(lang))?;
    Ok(to_mcp_result(reflect_result(&reflected, toolbox, lang)))
}

/// Parses the arguments of an operation. Arguments that do not parse are recorded.
fn parse_or_record<T: DeserializeOwned>(
    toolbox: &Toolbox,
    operation: BuiltinTool,
    arguments: Option<JsonObject>,
    lang: Lang,
) -> Result<T, CallFailure> {
    let text = arguments_json(arguments.as_ref());
    // The tree takes much more memory than the text.
    drop(arguments);
    read_request(&text).map_err(|error| {
        let recorded = toolbox.record_rejected(Some(operation.name()), None, error.code(), error.to_string());
        if let Err(fault) = recorded {
            tracing::warn!(code = fault.code().as_str(), "a rejected request could not be recorded: {fault}");
        }
        CallFailure::for_server(error.code(), &error, error.hint(), lang)
    })
}

fn parse<T: DeserializeOwned>(arguments: Option<&JsonObject>) -> Result<T, RequestError> {
    read_request(&arguments_json(arguments))
}

fn arguments_json(arguments: Option<&JsonObject>) -> String {
    arguments.map_or_else(|| Ok("{}".to_owned()), serde_json::to_string).unwrap_or_default()
}

/// Whether the arguments have more than about [`MAX_INLINE_BYTES`] bytes.
fn is_large(arguments: &JsonObject) -> bool {
    fn less(value: &Value, left: usize) -> ControlFlow<(), usize> {
        let here = match value {
            Value::String(text) => text.len(),
            _ => 8,
        };
        let left = left.checked_sub(here).map_or(ControlFlow::Break(()), ControlFlow::Continue)?;
        match value {
            Value::Array(items) => items.iter().try_fold(left, |left, item| less(item, left)),
            Value::Object(fields) => fields.iter().try_fold(left, |left, (key, value)| {
                less(value, left.checked_sub(key.len()).map_or(ControlFlow::Break(()), ControlFlow::Continue)?)
            }),
            _ => ControlFlow::Continue(left),
        }
    }
    arguments.values().try_fold(MAX_INLINE_BYTES, |left, value| less(value, left)).is_break()
}

/// The length of an identifier that the client chose, in bytes.
fn id_length(id: &NumberOrString) -> usize {
    match id {
        NumberOrString::Number(_) => size_of::<i64>(),
        NumberOrString::String(text) => text.len(),
    }
}
