//! Calls of the operations: what is asked for is read, done, and answered.
//!
//! Invariant: each call is counted while it is under way, and whatever is refused here, before an operation sees it, leaves a
//! line in the log as well.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ElicitRequest, ElicitResult, ErrorData,
    InputRequest, InputRequiredResult, JsonObject,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use serde::de::DeserializeOwned;
use serde_json::json;
use toolcell::gate::Waiting;
use toolcell::{
    Answer, CreateError, CreateTool, DeleteError, DeleteTool, DeletedBody, Lang, ListTools, ListToolsError, Params,
    Question, Ran, ReflectError, ReflectOnTask, RunError, RunTool, Toolbox, Wanted, deleted_text, read_request,
};
use tracing::Instrument as _;

use crate::answer::{self, Failure, done, failed};
use crate::ask::{self, Asking, Meanwhile, Way};
use crate::calls::UnderWay;
use crate::handler::{is_stateless, principal};
use crate::operation::{Operation, unknown};
use crate::published;
use crate::run::{Around, GivenUp, Hears, Progress, run};
use crate::seal::{Bound, SealError};
use crate::server::Server;
use crate::share::Full;
use crate::telemetry::Watched;
use crate::tenant::Tenant;

/// What is longer than a client waits is a task, where the client knows tasks.
const CLIENT_WAITS: Duration = Duration::from_mins(1);
/// How many tasks of a principal are under way at most.
const TASKS: usize = 64;
/// For how long what came of a task can be asked for, in milliseconds.
const KEPT: u64 = 10 * 60 * 1000;
/// How often a client should look after a task, in milliseconds.
const LOOK: u64 = 1_000;
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

impl Server {
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let watched = Watched::begin(Operation::named(&request.name).map(Operation::name), &context);
        let response = self.answered(request, context).instrument(watched.span.clone()).await;
        watched.end(&response);
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
    async fn answer(self, request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.as_ref();
        let done = match Operation::named(&request.name) {
            Some(Operation::Run) => match self.read::<RunTool>(Operation::Run, arguments).await {
                Ok(run) => return self.run(run, &request).await,
                Err(failure) => Err(failure),
            },
            Some(Operation::Create) => self.create(arguments).await,
            Some(Operation::List) => self.list(arguments).await,
            Some(Operation::Delete) => self.delete(arguments).await,
            Some(Operation::Reflect) => self.reflect(arguments).await,
            None => return self.published(request).await,
        };
        Ok(done.unwrap_or_else(failed).into())
    }

    async fn create(&self, arguments: Option<&JsonObject>) -> Result<CallToolResult, Failure> {
        let (request, lang) = (self.read::<CreateTool>(Operation::Create, arguments).await?, self.lang());
        let created = self.off_thread(move |toolbox| toolbox.create(&request)).await;
        created
            .map(|created| done(Operation::Create, created.to_text(lang), &created.body()))
            .map_err(|error| failure(&error, lang))
    }

    async fn list(&self, arguments: Option<&JsonObject>) -> Result<CallToolResult, Failure> {
        let (request, lang) = (self.read::<ListTools>(Operation::List, arguments).await?, self.lang());
        let listed = self.off_thread(move |toolbox| toolbox.list(&request)).await;
        listed
            .map(|listed| done(Operation::List, listed.to_text(lang), &listed.body()))
            .map_err(|error| failure(&error, lang))
    }

    async fn delete(&self, arguments: Option<&JsonObject>) -> Result<CallToolResult, Failure> {
        let (request, lang) = (self.read::<DeleteTool>(Operation::Delete, arguments).await?, self.lang());
        let deleted = self.off_thread(move |toolbox| toolbox.delete(&request)).await;
        let step = deleted.map_err(|error| failure(&error, lang))?;
        Ok(done(Operation::Delete, deleted_text(&step, lang), &DeletedBody::from(&step)))
    }

    async fn reflect(&self, arguments: Option<&JsonObject>) -> Result<CallToolResult, Failure> {
        let (request, lang) = (self.read::<ReflectOnTask>(Operation::Reflect, arguments).await?, self.lang());
        let reflected = self.off_thread(move |toolbox| toolbox.reflect(&request)).await;
        let reflected = reflected.map_err(|error| failure(&error, lang))?;
        Ok(done(Operation::Reflect, reflected.to_text(lang), &reflected.body()))
    }

    /// A tool that is none of the five: an approved one, or none.
    async fn published(self, request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let (most, name) = (self.server.settings().publish, request.name.to_string());
        let found = self.off_thread(move |toolbox| published::find(toolbox, &name, most).ok().flatten()).await;
        let tool = found.and_then(|tool| published::named(&tool.name).map(str::to_owned));
        let Some(tool) = tool else {
            let message = unknown(&request.name);
            self.turned_away(Some(Operation::Run), Some(&request.name), "tool-unknown", message.clone().into_owned())
                .await;
            return Err(ErrorData::invalid_params(message, Some(json!({"code": "tool-unknown"}))));
        };
        let text = serde_json::to_string(&request.arguments.clone().unwrap_or_default()).unwrap_or_default();
        match Params::parse(text) {
            Ok(parameters) => {
                self.run(RunTool { tool_name: Some(tool), parameters, ..RunTool::default() }, &request).await
            }
            Err(error) => {
                let (code, message) = (error.code(), error.to_string());
                self.turned_away(Some(Operation::Run), Some(&tool), code, message.clone()).await;
                Ok(failed(Failure::ours(code, &message, "hand in a JSON object", self.lang())).into())
            }
        }
    }

    async fn run(self, request: RunTool, call: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        if self.is_task(&request) {
            return Ok(self.into_task(request));
        }
        let (asking, meanwhile) = match self.asking(call).await {
            Ok(Asking::After(meanwhile)) => (Asking::After(Arc::clone(&meanwhile)), Some(meanwhile)),
            Ok(asking) => (asking, None),
            Err(error) => return Err(self.foreign(&error, &request).await),
        };
        let token = self.context.meta.get_progress_token();
        let progress = token.map(|token| Progress::new(Hears::Client(self.context.peer.clone(), token)));
        let (settings, tenant) = (self.server.settings(), &*self.tenant);
        let name = called(&request);
        let given_up = GivenUp::Request(self.context.ct.clone(), self.server.calls().stopping().clone());
        let ran = run(Around { tenant, settings, asking, progress }, request, given_up).await;
        let open = meanwhile.and_then(|meanwhile| meanwhile.open());
        if let (Ok(Err(RunError::Denied(_))), Some((question, said))) = (&ran, open)
            && let Some(response) = self.input_required(call, &question, said).await
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
            Err(full) => {
                self.turned_away(Some(Operation::Run), name.as_deref(), Full::CODE, full.to_string()).await;
                failed(Failure::ours(Full::CODE, &full.to_string(), Full::HINT, lang))
            }
        }
    }

    /// Why a run did not take place, and what settles it where it waits for somebody.
    fn refused(&self, error: &RunError) -> Failure {
        let mut failure = failure(error, self.lang());
        failure.effects = Some(error.effects());
        let RunError::Denied(denial) = error else { return failure };
        if let Some(Waiting::Approval(tool)) = denial.waits() {
            let place = self.tenant.toolbox.store().map(|store| store.path().display().to_string());
            let place = place.map(|place| format!(" --dir '{place}'")).unwrap_or_default();
            let command = format!("toolcell approvals grant {}{place}", tool.short());
            failure.hint = format!("somebody has to approve it first: `{command}`; then run it again");
            failure.pending = Some(json!({"toolId": tool.to_string(), "command": command}));
        }
        failure
    }

    /// How somebody can be asked in this call, and what they have said to it already.
    async fn asking(&self, call: &CallToolRequestParams) -> Result<Asking, SealError> {
        let elicits = self.elicits();
        if !is_stateless(&self.context) {
            return Ok(if elicits { Asking::Now(Way::Client(self.context.peer.clone())) } else { Asking::Nobody });
        }
        let Some(state) = call.request_state.clone() else {
            return Ok(if elicits { Asking::After(Meanwhile::knowing(BTreeMap::new())) } else { Asking::Nobody });
        };
        let (tenant, bound) = (Arc::clone(&self.tenant), self.bound(call));
        let opened = self.off_thread(move |toolbox| {
            let store = toolbox.store().ok_or(SealError::Foreign)?;
            tenant.seal.open(store, &bound, &state, toolcell::now())
        });
        let carried = opened.await?;
        let response = call.input_responses.as_ref().and_then(|responses| responses.get(QUESTION)).cloned();
        let response = response.and_then(|response| serde_json::from_value::<ElicitResult>(response).ok());
        let mut said = carried.said;
        match response.map(|response| ask::said(&response)) {
            Some(Answer::Yes) => said.insert(carried.asked, true),
            Some(Answer::No { .. }) => said.insert(carried.asked, false),
            // Whoever breaks the question off is not asked again at once.
            _ => return Ok(Asking::Nobody),
        };
        Ok(Asking::After(Meanwhile::knowing(said)))
    }

    /// The answer that asks a question; none where nothing can be carried.
    async fn input_required(
        &self,
        call: &CallToolRequestParams,
        question: &Question,
        said: BTreeMap<String, bool>,
    ) -> Option<CallToolResponse> {
        if said.len() >= QUESTIONS {
            return None;
        }
        let form = ask::form(question, self.lang());
        let (tenant, bound, asked) = (Arc::clone(&self.tenant), self.bound(call), ask::hash(question));
        let lasts = self.server.settings().patience;
        let sealed = self.off_thread(move |toolbox| {
            let until = (toolcell::now(), lasts);
            tenant.seal.close(toolbox.store()?, &bound, asked, said, until).ok()
        });
        let asked = InputRequest::Elicitation(ElicitRequest::new(form));
        let asks = BTreeMap::from([(QUESTION.to_owned(), asked)]);
        Some(InputRequiredResult::new(Some(asks), Some(sealed.await?)).into())
    }

    /// What a state is bound to that is carried for a call.
    fn bound(&self, call: &CallToolRequestParams) -> Bound {
        Bound::to(&self.tenant.principal, "tools/call", &(&call.name, &call.arguments))
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
        let tasks = self.tenant.tasks.clone();
        if tasks.running_task_count() >= TASKS {
            let message = format!("{TASKS} tasks are under way, which is the limit");
            return failed(Failure::ours(Full::CODE, &message, Full::HINT, self.lang())).into();
        }
        let lasts = request.timeout_ms.unwrap_or_default().saturating_add(KEPT);
        let options = TaskOptions::new().with_ttl_ms(lasts).with_poll_interval_ms(LOOK);
        let task = tasks.spawn(options, move |task| Box::pin(self.in_task(request, task)));
        CreateTaskResult::new(task).into()
    }

    async fn in_task(self, request: RunTool, task: TaskContext) -> Result<CallToolResult, TaskExit> {
        let asking = if self.elicits() { Asking::Now(Way::Task(task.clone())) } else { Asking::Nobody };
        let progress = Some(Progress::new(Hears::Task(task.clone())));
        let (settings, tenant, name) = (self.server.settings(), &*self.tenant, called(&request));
        let given_up = GivenUp::Task(task.clone(), self.server.calls().stopping().clone());
        let ran = run(Around { tenant, settings, asking, progress }, request, given_up).await;
        if task.is_cancel_requested() {
            return Err(TaskExit::Cancelled);
        }
        Ok(self.came_to(ran, name).await)
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

    /// Reads what an operation is given.
    async fn read<T: DeserializeOwned>(
        &self,
        operation: Operation,
        arguments: Option<&JsonObject>,
    ) -> Result<T, Failure> {
        let text = arguments.map_or_else(|| Ok("{}".to_owned()), serde_json::to_string).unwrap_or_default();
        match read_request(&text) {
            Ok(request) => Ok(request),
            Err(error) => {
                self.turned_away(Some(operation), None, error.code(), error.to_string()).await;
                Err(Failure::ours(error.code(), &error.to_string(), error.hint(), self.lang()))
            }
        }
    }

    /// Records what no operation gets to see.
    async fn turned_away(&self, operation: Option<Operation>, tool: Option<&str>, code: &'static str, message: String) {
        let (operation, tool) = (operation.map(Operation::name), tool.map(str::to_owned));
        let recorded =
            self.off_thread(move |toolbox| toolbox.turn_away(operation, tool.as_deref(), code, message)).await;
        if let Err(fault) = recorded {
            tracing::warn!(code = fault.code(), "a request that was turned away is not recorded: {fault}");
        }
    }

    async fn off_thread<T: Send + 'static>(&self, work: impl FnOnce(&Toolbox) -> T + Send + 'static) -> T {
        self.tenant.toolbox.off_thread(work).await
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
