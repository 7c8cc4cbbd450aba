//! Calls of the operations: what is asked for is read, done, and answered.
//!
//! Invariant: each call is counted while it is under way, and whatever is refused here, before an operation sees it, leaves a
//! line in the log as well.
#![expect(clippy::result_large_err, reason = "an answer is made once, and handed on")]

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
use toolcell::gate::Waiting;
use toolcell::{
    Answer, CreateError, CreateTool, DeleteError, DeleteTool, DeletedBody, Lang, ListTools, ListToolsError, Params,
    Ran, ReflectError, ReflectOnTask, RequestError, RunError, RunTool, Toolbox, Wanted, deleted_text, read_request,
};
use tracing::Instrument as _;

use crate::answer::{self, Failure, done, failed};
use crate::ask::{self, Asker, Asking, Meanwhile, Open, Way};
use crate::calls::UnderWay;
use crate::handler::{entry, is_remote, is_stateless, principal};
use crate::operation::{Operation, unknown};
use crate::principal::Principal;
use crate::published;
use crate::redact::Scope;
use crate::run::{Around, GivenUp, Hears, Progress, run};
use crate::seal::{Bound, SealError};
use crate::server::Server;
use crate::share::Full;
use crate::telemetry::Watched;
use crate::tenant::{NotBegun, Patience, Tenant};

/// What is longer than a client waits is a task, where the client knows tasks.
const CLIENT_WAITS: Duration = Duration::from_mins(1);
/// Arguments longer than this are read on a blocking thread, in bytes: the threads of the runtime are everybody's.
const LONG: usize = 64 << 10;
/// The longest token of progress that is sent back with each notice, in bytes.
const TOKEN_LIMIT: usize = 4 << 10;
/// How many questions one request may lead to.
const QUESTIONS: usize = 8;
/// The name of the one question of an answer.
const QUESTION: &str = "decision";

/// A call that was begun.
struct Call {
    server: Server,
    tenant: Arc<Tenant>,
    context: RequestContext<RoleServer>,
    _under_way: UnderWay,
}

/// What is left of a call whose arguments were taken, until it is known what it is bound to.
struct Unbound {
    /// Whose it is, where the client may carry something for it.
    principal: Option<Principal>,
    name: Cow<'static, str>,
    state: Option<String>,
    response: Option<Value>,
}

/// What a client may carry from one request to the next, without the arguments of the call.
struct Continuation {
    /// What it carried.
    state: Option<String>,
    /// What was said to the question.
    response: Option<Value>,
    /// What a state is bound to that is carried for this call.
    bound: Option<Bound>,
}

impl Unbound {
    fn bound_to(self, arguments: Option<&JsonObject>) -> Continuation {
        let Self { principal, name, state, response } = self;
        let bound = principal.and_then(|principal| Bound::to(&principal, "tools/call", &(&name, arguments)).ok());
        Continuation { state, response, bound }
    }
}

impl Server {
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let watched = Watched::begin(Operation::named(&request.name).map(Operation::name), &context);
        let remote = is_remote(&context.extensions);
        let mut response = self.answered(request, context).instrument(watched.span.clone()).await;
        watched.end(&response);
        if remote {
            match &mut response {
                Ok(response) => self.redaction().response(response),
                Err(error) => return Err(self.redaction().error(error.clone())),
            }
        }
        response
    }

    async fn answered(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let lang = self.settings().lang;
        let Some(under_way) = self.calls().begin() else {
            let hint = "try again when it is back";
            return Ok(failed(Failure::ours("shutting-down", "the server is shutting down", hint, lang)).into());
        };
        let tenant = match self.tenant(&principal(&context.extensions)).await {
            Ok(tenant) => tenant,
            Err(failure) => {
                return Ok(failed(Failure::ours(failure.code, &failure.message, failure.hint, lang)).into());
            }
        };
        caught(Call { server: self.clone(), tenant, context, _under_way: under_way }.answer(request)).await
    }
}

/// A bug of ours ends the call that it is in, and no other.
async fn caught(
    call: impl Future<Output = Result<CallToolResponse, ErrorData>>,
) -> Result<CallToolResponse, ErrorData> {
    let mut call = pin!(call);
    std::future::poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context))).unwrap_or_else(|_| {
            tracing::error!("a call panicked: this is a bug of Toolcell");
            Poll::Ready(Err(ErrorData::internal_error("this is a bug of Toolcell", Some(json!({"code": "bug"})))))
        })
    })
    .await
}

impl Call {
    async fn answer(self, mut request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let answered = match Operation::named(&request.name) {
            Some(Operation::Run) => match self.read_run(request).await {
                Ok((run, continued)) => return self.run(run, continued).await,
                Err(result) => result,
            },
            Some(operation) => {
                let arguments = request.arguments.take();
                match operation {
                    Operation::Create => self.verb(operation, arguments, create).await,
                    Operation::List => self.verb(operation, arguments, list).await,
                    Operation::Delete => self.verb(operation, arguments, delete).await,
                    Operation::Reflect | Operation::Run => self.verb(operation, arguments, reflect).await,
                }
            }
            None => return self.published(request).await,
        };
        Ok(answered.into())
    }

    /// Reads a request of a verb, does it and makes the answer, all of it in the turn of the principal.
    async fn verb<T: DeserializeOwned + 'static>(
        &self,
        operation: Operation,
        arguments: Option<JsonObject>,
        act: fn(&Toolbox, &T, Lang) -> Result<CallToolResult, Failure>,
    ) -> CallToolResult {
        let lang = self.lang();
        let patience = Patience::of(&self.context, self.server.calls().stopping());
        let done = self.tenant.verb(&patience, move |toolbox| {
            let done = read(toolbox, operation, arguments, lang).and_then(|request: T| act(toolbox, &request, lang));
            done.unwrap_or_else(failed)
        });
        match done.await {
            Ok((result, turn)) => {
                patience.keep(turn);
                result
            }
            Err(error) => self.not_begun(error, Some(operation), None).await,
        }
    }

    /// Reads a request for a run; gives the answer where it cannot be read. The arguments are gone when it is read.
    async fn read_run(&self, mut request: CallToolRequestParams) -> Result<(RunTool, Continuation), CallToolResult> {
        let lang = self.lang();
        let arguments = request.arguments.take();
        let unbound = self.unbound(request);
        if arguments.as_ref().is_none_or(|arguments| !is_long(arguments))
            && let Ok(run) = parsed(arguments.as_ref())
        {
            return Ok((run, unbound.bound_to(arguments.as_ref())));
        }
        let read = self.in_turn(move |toolbox| {
            let continued = unbound.bound_to(arguments.as_ref());
            read(toolbox, Operation::Run, arguments, lang).map(|run| (run, continued))
        });
        match read.await {
            Ok(read) => read.map_err(failed),
            Err(error) => Err(self.not_begun(error, Some(Operation::Run), None).await),
        }
    }

    /// A tool that is none of the five: an approved one, or none.
    async fn published(self, mut request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let (most, name) = (self.server.settings().publish, request.name.to_string());
        let found = self.in_turn(move |toolbox| published::find(toolbox, &name, most).ok().flatten()).await;
        let found = match found {
            Ok(found) => found,
            Err(error) => return Ok(self.not_begun(error, Some(Operation::Run), Some(&request.name)).await.into()),
        };
        let tool = found.and_then(|tool| published::named(&tool.name).map(str::to_owned));
        let Some(tool) = tool else {
            let message = unknown(&request.name);
            self.turned_away(Some(Operation::Run), Some(&request.name), "tool-unknown", message.clone().into_owned())
                .await;
            return Err(ErrorData::invalid_params(message, Some(json!({"code": "tool-unknown"}))));
        };
        let arguments = request.arguments.take();
        let continued = self.unbound(request).bound_to(arguments.as_ref());
        let text = serde_json::to_string(&arguments.unwrap_or_default()).unwrap_or_default();
        match Params::parse(text) {
            Ok(parameters) => {
                self.run(RunTool { tool_name: Some(tool), parameters, ..RunTool::default() }, continued).await
            }
            Err(error) => {
                let (code, message) = (error.code(), error.to_string());
                self.turned_away(Some(Operation::Run), Some(&tool), code, message.clone()).await;
                Ok(failed(Failure::ours(code, &message, "hand in a JSON object", self.lang())).into())
            }
        }
    }

    async fn run(self, request: RunTool, mut continued: Continuation) -> Result<CallToolResponse, ErrorData> {
        if let Some(entry) = entry(&self.context.extensions) {
            entry.waits();
        }
        if self.is_task(&request) {
            return Ok(self.into_task(request));
        }
        let (asking, meanwhile) = match self.asking(&mut continued).await {
            Ok(Ok(Asking::After(meanwhile))) => (Asking::After(Arc::clone(&meanwhile)), Some(meanwhile)),
            Ok(Ok(asking)) => (asking, None),
            Ok(Err(error)) => return Err(self.foreign(&error, &request).await),
            Err(error) => {
                let name = called(&request);
                return Ok(self.not_begun(error, Some(Operation::Run), name.as_deref()).await.into());
            }
        };
        // A token comes back with each notice: a long one would be more than the notices.
        let token = self.context.meta.get_progress_token().filter(|token| length(&token.0) <= TOKEN_LIMIT);
        let progress = token.map(|token| Progress::new(Hears::Client(self.context.peer.clone(), token)));
        let (settings, tenant) = (self.server.settings(), &*self.tenant);
        let name = called(&request);
        let given_up = GivenUp::Request(self.context.ct.clone(), self.server.calls().stopping().clone());
        let ran = run(Around { tenant, settings, asking, progress }, request, given_up).await;
        let open = meanwhile.and_then(|meanwhile| meanwhile.open());
        if let (Ok(Err(RunError::Denied(_))), Some(open)) = (&ran, open)
            && let Some(response) = self.input_required(continued, open).await
        {
            return Ok(response);
        }
        Ok(self.came_to(ran, name).await.into())
    }

    /// What came of a run, as an answer.
    async fn came_to(&self, ran: Result<Result<Ran, RunError>, Full>, name: Option<String>) -> CallToolResult {
        let lang = self.lang();
        match ran {
            Ok(Ok(ran)) => answer::ran(&ran, lang),
            Ok(Err(error)) => failed(self.refused(&error)),
            Err(full) => self.not_begun(full.into(), Some(Operation::Run), name.as_deref()).await,
        }
    }

    /// The answer of what had no turn. It is recorded as well.
    async fn not_begun(&self, error: NotBegun, operation: Option<Operation>, tool: Option<&str>) -> CallToolResult {
        self.turned_away(operation, tool, error.code(), error.to_string()).await;
        let failure = Failure::ours(error.code(), &error.to_string(), error.hint(), self.lang());
        let retry = matches!(error, NotBegun::Full(_)).then_some(Full::RETRY);
        failed(Failure { retry, ..failure })
    }

    /// Why a run did not take place, and what settles it where it waits for somebody.
    fn refused(&self, error: &RunError) -> Failure {
        let mut failure = failure(error, self.lang());
        failure.effects = Some(error.effects());
        let RunError::Denied(denial) = error else { return failure };
        if let Some(Waiting::Approval(tool)) = denial.waits() {
            let (id, mut command) = (tool.to_string(), format!("toolcell approvals grant {}", tool.short()));
            if self.is_remote() {
                // Where the store is on the host is nothing that a client of elsewhere is told.
                let principal = &self.tenant.principal;
                failure.hint = format!(
                    "an operator of the server has to approve it first, in the store of `{principal}`: `{command}`; then run it again"
                );
                failure.pending = Some(json!({"toolId": id, "command": command, "principal": principal.as_str()}));
                return failure;
            }
            if let Some(store) = self.tenant.toolbox.store() {
                command = format!("{command} --dir '{}'", store.path().display());
            }
            failure.hint = format!("somebody has to approve it first: `{command}`; then run it again");
            failure.pending = Some(json!({"toolId": id, "command": command}));
        }
        failure
    }

    /// How somebody can be asked in this call, and what they have said to it already.
    async fn asking(&self, continued: &mut Continuation) -> Result<Result<Asking, SealError>, NotBegun> {
        let elicits = self.elicits();
        if !is_stateless(&self.context) {
            let now = || Asking::Now(Way::Client(self.context.peer.clone()), self.asker());
            return Ok(Ok(if elicits { now() } else { Asking::Nobody }));
        }
        let Some(state) = continued.state.take() else {
            let after = || Asking::After(Meanwhile::knowing(self.asker(), BTreeMap::new()));
            return Ok(Ok(if elicits { after() } else { Asking::Nobody }));
        };
        // For what has no canonical form nothing was ever sealed.
        let Some(bound) = continued.bound.clone() else { return Ok(Err(SealError::Foreign)) };
        let tenant = Arc::clone(&self.tenant);
        let opened = self.in_turn(move |toolbox| {
            let store = toolbox.store().ok_or(SealError::Foreign)?;
            tenant.seal.open(store, &bound, &state, toolcell::now())
        });
        let carried = match opened.await? {
            Ok(carried) => carried,
            Err(error) => return Ok(Err(error)),
        };
        let response = continued.response.take();
        let response = response.and_then(|response| serde_json::from_value::<ElicitResult>(response).ok());
        let mut said = carried.said;
        match response.map(|response| ask::said(&response)) {
            Some(Answer::Yes) => said.insert(carried.asked, true),
            Some(Answer::No { .. }) => said.insert(carried.asked, false),
            // Whoever breaks the question off is not asked again at once.
            _ => return Ok(Ok(Asking::Nobody)),
        };
        Ok(Ok(Asking::After(Meanwhile::knowing(self.asker(), said))))
    }

    /// The answer that asks a question; none where nothing can be carried.
    async fn input_required(&self, continued: Continuation, open: Open) -> Option<CallToolResponse> {
        let Open { hash: asked, form, said } = open;
        if said.len() >= QUESTIONS {
            return None;
        }
        let mut form = form;
        if let ElicitRequestParams::FormElicitationParams { message, .. } = &mut form
            && self.is_remote()
        {
            *message = self.server.redaction().text(message, Scope::Known).into_owned();
        }
        let (tenant, bound) = (Arc::clone(&self.tenant), continued.bound?);
        let lasts = self.server.settings().patience;
        let sealed = self.in_turn(move |toolbox| {
            let until = (toolcell::now(), lasts);
            tenant.seal.close(toolbox.store()?, &bound, asked, said, until).ok()
        });
        let asked = InputRequest::Elicitation(ElicitRequest::new(form));
        let asks = BTreeMap::from([(QUESTION.to_owned(), asked)]);
        let sealed = sealed.await.ok().flatten()?;
        Some(InputRequiredResult::new(Some(asks), Some(sealed)).into())
    }

    /// What is left of a call whose arguments were taken.
    fn unbound(&self, call: CallToolRequestParams) -> Unbound {
        let carries = is_stateless(&self.context) && (self.elicits() || call.request_state.is_some());
        Unbound {
            principal: carries.then(|| self.tenant.principal.clone()),
            name: call.name,
            state: call.request_state,
            response: call.input_responses.and_then(|mut responses| responses.remove(QUESTION)),
        }
    }

    /// How somebody is asked in this call.
    fn asker(&self) -> Asker {
        let client = self.context.client_info().map(|client| format!("{} {}", client.name, client.version));
        Asker { lang: self.lang(), client }
    }

    /// A state that does not open: the request is none of ours, and the log says so.
    async fn foreign(&self, error: &SealError, request: &RunTool) -> ErrorData {
        let message = format!("`requestState` is not good: {error}; {}", SealError::HINT);
        self.turned_away(Some(Operation::Run), called(request).as_deref(), error.code(), message.clone()).await;
        ErrorData::invalid_params(message, Some(json!({"code": error.code()})))
    }

    /// Whether it may take longer than a client waits, and the client knows tasks.
    fn is_task(&self, request: &RunTool) -> bool {
        let wanted = Wanted { timeout_ms: request.timeout_ms, ..Wanted::default() };
        let is_long = self.tenant.toolbox.policy().budget(&wanted).is_ok_and(|budget| budget.deadline > CLIENT_WAITS);
        is_long && self.context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
    }

    /// Begins a task, which goes on when the call has been answered.
    fn into_task(self, request: RunTool) -> CallToolResponse {
        let (tasks, lang) = (self.tenant.tasks.clone(), self.lang());
        let timeout_ms = request.timeout_ms.unwrap_or_default();
        match tasks.spawn(timeout_ms, move |task| self.in_task(request, task)) {
            Ok(task) => CreateTaskResult::new(task).into(),
            Err(full) => {
                let failure = Failure::ours(Full::CODE, &full.to_string(), Full::HINT, lang);
                failed(Failure { retry: Some(Full::RETRY), ..failure }).into()
            }
        }
    }

    async fn in_task(self, request: RunTool, task: TaskContext) -> Result<CallToolResult, TaskExit> {
        let now = || Asking::Now(Way::Task(task.clone()), self.asker());
        let asking = if self.elicits() { now() } else { Asking::Nobody };
        let progress = Some(Progress::new(Hears::Task(task.clone())));
        let (settings, tenant, name) = (self.server.settings(), &*self.tenant, called(&request));
        let given_up = GivenUp::Task(task.clone(), self.server.calls().stopping().clone());
        let ran = run(Around { tenant, settings, asking, progress }, request, given_up).await;
        if task.is_cancel_requested() {
            return Err(TaskExit::Cancelled);
        }
        let mut result = self.came_to(ran, name).await;
        if self.is_remote() {
            self.server.redaction().result(&mut result);
        }
        Ok(result)
    }

    /// Whether the client can put a form to somebody.
    fn elicits(&self) -> bool {
        let capabilities = self.context.client_capabilities();
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        // Whoever says neither meant forms, before there was anything else.
        elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none())
    }

    fn lang(&self) -> Lang {
        self.server.settings().lang
    }

    /// Whether the request came over HTTP.
    fn is_remote(&self) -> bool {
        is_remote(&self.context.extensions)
    }

    /// Records what no operation gets to see.
    async fn turned_away(&self, operation: Option<Operation>, tool: Option<&str>, code: &'static str, message: String) {
        let operation = operation.map(Operation::name);
        self.tenant.turn_away(operation, tool.map(str::to_owned), code, message).await;
    }

    /// Does a part of what is asked for when this principal has its turn, which ends with it.
    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Toolbox) -> T + Send + 'static,
    ) -> Result<T, NotBegun> {
        let patience = Patience::of(&self.context, self.server.calls().stopping());
        self.tenant.verb(&patience, work).await.map(|(done, _)| done)
    }
}

fn create(toolbox: &Toolbox, request: &CreateTool, lang: Lang) -> Result<CallToolResult, Failure> {
    let created = toolbox.create(request).map_err(|error| failure(&error, lang))?;
    Ok(done(Operation::Create, created.to_text(lang), &created.body()))
}

fn list(toolbox: &Toolbox, request: &ListTools, lang: Lang) -> Result<CallToolResult, Failure> {
    let listed = toolbox.list(request).map_err(|error| failure(&error, lang))?;
    Ok(done(Operation::List, listed.to_text(lang), &listed.body()))
}

fn delete(toolbox: &Toolbox, request: &DeleteTool, lang: Lang) -> Result<CallToolResult, Failure> {
    let step = toolbox.delete(request).map_err(|error| failure(&error, lang))?;
    Ok(done(Operation::Delete, deleted_text(&step, lang), &DeletedBody::from(&step)))
}

fn reflect(toolbox: &Toolbox, request: &ReflectOnTask, lang: Lang) -> Result<CallToolResult, Failure> {
    let reflected = toolbox.reflect(request).map_err(|error| failure(&error, lang))?;
    Ok(done(Operation::Reflect, reflected.to_text(lang), &reflected.body()))
}

/// Reads what an operation is given. What cannot be read is recorded.
fn read<T: DeserializeOwned>(
    toolbox: &Toolbox,
    operation: Operation,
    arguments: Option<JsonObject>,
    lang: Lang,
) -> Result<T, Failure> {
    let text = as_text(arguments.as_ref());
    // The tree takes much more than the text.
    drop(arguments);
    read_request(&text).map_err(|error| {
        let recorded = toolbox.turn_away(Some(operation.name()), None, error.code(), error.to_string());
        if let Err(fault) = recorded {
            tracing::warn!(code = fault.code(), "a request that was turned away is not recorded: {fault}");
        }
        Failure::ours(error.code(), &error.to_string(), error.hint(), lang)
    })
}

fn parsed<T: DeserializeOwned>(arguments: Option<&JsonObject>) -> Result<T, RequestError> {
    read_request(&as_text(arguments))
}

fn as_text(arguments: Option<&JsonObject>) -> String {
    arguments.map_or_else(|| Ok("{}".to_owned()), serde_json::to_string).unwrap_or_default()
}

/// Whether arguments have more than [`LONG`] bytes or so.
fn is_long(arguments: &JsonObject) -> bool {
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
    arguments.values().try_fold(LONG, |left, value| less(value, left)).is_break()
}

/// How long an identifier is that a client chose, in bytes.
fn length(id: &NumberOrString) -> usize {
    match id {
        NumberOrString::Number(_) => size_of::<i64>(),
        NumberOrString::String(text) => text.len(),
    }
}

/// What a run says it is of.
fn called(request: &RunTool) -> Option<String> {
    request.tool_name.clone().or_else(|| request.tool_id.clone())
}

/// What the errors of the operations have in common.
trait Refusal {
    fn refusal(&self, lang: Lang) -> Failure;
}

macro_rules! refusals {
    ($($error:ty),*) => {$(
        impl Refusal for $error {
            fn refusal(&self, lang: Lang) -> Failure {
                Failure::new(self.code(), self.to_text(lang), self.hint())
            }
        }
    )*};
}

refusals!(CreateError, RunError, ListToolsError, DeleteError, ReflectError);

fn failure(error: &impl Refusal, lang: Lang) -> Failure {
    error.refusal(lang)
}
