//! `run_dynamic_tool` and `run_code`: follows a run, with its progress, its prompts and its cancellation.
//!
//! Invariant: a run is ended once its caller is gone, and every attempt is recorded, including one
//! that never got a permit.

use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use rmcp::RoleServer;
use rmcp::model::{JsonObject, NotificationMetaObject, ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use rmcp::task_manager::TaskContext;
use serde_json::Value;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;
use toolcell::hook::CallerClaims;
use toolcell::{
    CallError, CancelToken, CodeResult, ExecError, FlowContext, Json, Lang, RunCode, RunError, RunHandle, RunOptions,
    RunResult, RunTool,
};
use toolcell_i18n::tr;

use crate::elicitation::{ElicitationMode, PromptQueue};
use crate::lent_functions::{CallingRun, LentFunctions};
use crate::request_limiter::{Overloaded, RequestKind, RequestLimiter, RequestPermit};
use crate::settings::ServerSettings;
use crate::tenant::Tenant;

/// The burst of progress notifications, and their rate per second after it. A tool may report more
/// often than a client can read.
const PROGRESS_RATE: (NonZeroU32, NonZeroU32) = (NonZeroU32::new(64).unwrap(), NonZeroU32::new(20).unwrap());
/// The delay between the last notification and the response.
const FLUSH_DELAY: Duration = Duration::from_millis(10);
/// The longest message of a partial result, in bytes.
const MAX_MESSAGE_BYTES: usize = 4 << 10;
/// The longest value of a partial result, in bytes. A longer one is sent as a text alone.
const MAX_PARTIAL_BYTES: usize = 64 << 10;
/// The key of the value of a partial result, in the `_meta` of a notification.
const PARTIAL_KEY: &str = "toolcell/partial";
/// The key that marks a heartbeat; its value is the number of seconds.
const HEARTBEAT_KEY: &str = "toolcell/heartbeat";

/// The receiver of progress.
pub(crate) enum ProgressTarget {
    /// A client that asked for progress, with its token.
    Client(Peer<RoleServer>, ProgressToken),
    /// A task, whose status the client polls.
    Task(TaskContext),
}

/// The progress notifications of a run.
pub(crate) struct Progress {
    target: ProgressTarget,
    /// The number of notifications sent, as the monotonic progress value.
    sent_count: f64,
    limiter: DefaultDirectRateLimiter,
    /// When the last notification was sent.
    last_sent: Option<Instant>,
    /// The latest message that exceeded the rate, to be sent later.
    pending: Option<ProgressMessage>,
}

/// A progress notification: a text for people, and in `_meta` what a program reads.
struct ProgressMessage {
    text: String,
    meta: Option<NotificationMetaObject>,
}

impl ProgressMessage {
    /// Returns the message of a partial result: its text, and in `toolcell/partial` its value.
    fn from_partial(json: &Json) -> Self {
        let value = (json.as_str().len() <= MAX_PARTIAL_BYTES).then(|| serde_json::from_str(json.as_str()).ok());
        let value: Option<Value> = value.flatten();
        let mut text = match value.as_ref().and_then(text_of_content) {
            Some(text) => text,
            // A string is sent as text, any other value as the JSON that the tool wrote.
            None if json.as_str().starts_with('"') => json.to_text(),
            None => json.as_str().to_owned(),
        };
        if text.len() > MAX_MESSAGE_BYTES {
            text.truncate(text.floor_char_boundary(MAX_MESSAGE_BYTES));
            text.push('…');
        }
        Self { text, meta: value.map(|value| meta(PARTIAL_KEY, value)) }
    }

    /// Returns the message that a run is still going on, which `toolcell/heartbeat` marks.
    fn heartbeat(since: Instant, lang: Lang) -> Self {
        let seconds = since.elapsed().as_secs();
        Self { text: tr!(lang, "running for {seconds} s", seconds), meta: Some(meta(HEARTBEAT_KEY, seconds.into())) }
    }
}

fn meta(key: &str, value: Value) -> NotificationMetaObject {
    NotificationMetaObject::from(JsonObject::from_iter([(key.to_owned(), value)]))
}

/// Returns the text of a partial result in the form of a result, `{"content": [{"type": "text", …}]}`.
fn text_of_content(value: &Value) -> Option<String> {
    let blocks = value["content"].as_array()?;
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

impl Progress {
    pub(crate) fn new(hears: ProgressTarget) -> Self {
        let limiter = RateLimiter::direct(Quota::per_second(PROGRESS_RATE.1).allow_burst(PROGRESS_RATE.0));
        Self { target: hears, sent_count: 0.0, last_sent: None, limiter, pending: None }
    }

    /// Sends a partial result. Above the rate, only the newest one is kept.
    async fn update(&mut self, json: &Json) {
        let message = ProgressMessage::from_partial(json);
        if self.limiter.check().is_ok() {
            self.pending = None;
            self.send(message).await;
        } else {
            self.pending = Some(message);
        }
    }

    async fn send(&mut self, ProgressMessage { text, meta }: ProgressMessage) {
        self.sent_count += 1.0;
        self.last_sent = Some(Instant::now());
        match &self.target {
            ProgressTarget::Client(peer, token) => {
                let mut notice = ProgressNotificationParam::new(token.clone(), self.sent_count).with_message(text);
                notice.meta = meta;
                // A disconnected client is noticed when the response is sent.
                let _ = peer.notify_progress(notice).await;
            }
            ProgressTarget::Task(task) => task.set_status_message(text),
        }
    }

    /// Sends the pending message, if there is one, and waits briefly. A client that reads a
    /// notification and the response in one piece may process the response first, and drop the
    /// notification.
    async fn flush(&mut self) {
        if let Some(message) = self.pending.take() {
            self.send(message).await;
        }
        if let Some(last) = self.last_sent {
            tokio::time::sleep_until(last + FLUSH_DELAY).await;
        }
    }

    /// Reports that the run is still going on.
    async fn send_heartbeat(&mut self, since: Instant, lang: Lang) {
        let message = self.pending.take().unwrap_or_else(|| ProgressMessage::heartbeat(since, lang));
        self.send(message).await;
    }
}

/// The context of a run.
pub(crate) struct RunContext<'a> {
    pub(crate) tenant: &'a Tenant,
    pub(crate) settings: &'a ServerSettings,
    pub(crate) elicitation: ElicitationMode,
    pub(crate) progress: Option<Progress>,
    /// What the client claims about itself.
    pub(crate) claims: CallerClaims,
    /// Where the data came from that the client knows.
    pub(crate) context: FlowContext,
    /// The functions that the host lends, and the host.
    pub(crate) lent: Option<(&'a LentFunctions, Peer<RoleServer>)>,
}

/// The signal that the caller of a run is gone.
pub(crate) enum Cancellation {
    /// The request was cancelled, or the server is stopping.
    Request(CancellationToken, CancellationToken),
    /// The task was cancelled, or the server is stopping.
    Task(TaskContext, CancellationToken),
}

impl Cancellation {
    /// Waits for the signal; returns at once if it was given already.
    pub(crate) async fn cancelled(&self) {
        match self {
            Self::Request(cancelled, stopping) => tokio::select! {
                () = cancelled.cancelled() => {}
                () = stopping.cancelled() => {}
            },
            Self::Task(task, stopping) => tokio::select! {
                () = task.cancelled() => {}
                () = stopping.cancelled() => {}
            },
        }
    }
}

/// What is to be run.
pub(crate) enum RunRequest {
    /// A stored tool.
    Tool(RunTool),
    /// Code that is not stored.
    Code(RunCode),
}

impl RunRequest {
    /// The stored tool that the request names.
    pub(crate) fn tool_reference(&self) -> Option<String> {
        match self {
            Self::Tool(request) => request.tool_name.clone().or_else(|| request.tool_id.clone()),
            Self::Code(_) => None,
        }
    }

    /// The time limit that the request asks for, in milliseconds.
    pub(crate) const fn timeout_ms(&self) -> Option<u64> {
        match self {
            Self::Tool(request) => request.timeout_ms,
            Self::Code(request) => request.timeout_ms,
        }
    }
}

/// What came of a run.
pub(crate) enum RunOutcome {
    /// Of a stored tool.
    Tool(Result<Box<RunResult>, RunError>),
    /// Of code that is not stored.
    Code(Result<Box<CodeResult>, ExecError>),
}

/// Runs a stored tool, or code, until it ends or is cancelled.
pub(crate) async fn run(
    around: RunContext<'_>,
    request: RunRequest,
    given_up: Cancellation,
) -> Result<RunOutcome, Overloaded> {
    let RunContext { tenant, settings, elicitation: asking, progress, claims, context, lent } = around;
    let mut heard = ClientFeedback { progress, settings, started: Instant::now(), was_asked: false };
    let permit = heard.acquire_permit(&tenant.limiter, &given_up).await?;
    let cancel = CancelToken::new();
    if permit.is_none() {
        // It is recorded even though it never got a permit.
        cancel.cancel();
    }
    let (person, questions) = asking.into_approver();
    // The closure holds the permit until the run's thread ends, even if this future is dropped
    // before.
    let partial: toolcell::PartialResultSink = Arc::new(move |_: &str| {
        let _permit = &permit;
    });
    let caller = tenant.caller();
    // Calls of the host that are still open when the run has ended are cancelled.
    let ended = CancellationToken::new();
    let _ended = ended.clone().drop_guard();
    let functions = lent.map(|(lent, host)| lent.bind(&CallingRun { host, claims: claims.clone(), ended }));
    let options = RunOptions {
        caller,
        claims,
        context,
        functions: functions.unwrap_or_default(),
        cancel: Some(cancel),
        approver: person,
        partial: Some(partial),
        ..RunOptions::default()
    };
    let ran = match request {
        RunRequest::Tool(request) => {
            let running = tenant.toolbox.start(request, options);
            RunOutcome::Tool(heard.wait_for(running, questions, &given_up).await.map(Box::new))
        }
        RunRequest::Code(request) => {
            let running = tenant.toolbox.start_code(request, options);
            RunOutcome::Code(heard.wait_for(running, questions, &given_up).await.map(Box::new))
        }
    };
    // A person may have approved a tool.
    if heard.was_asked {
        tenant.change_notifier.check_now();
    }
    heard.flush().await;
    Ok(ran)
}

/// The notifications to a client that waits for a run.
struct ClientFeedback<'a> {
    progress: Option<Progress>,
    settings: &'a ServerSettings,
    started: Instant,
    /// Whether a person answered a prompt.
    was_asked: bool,
}

impl ClientFeedback<'_> {
    /// Waits for a permit; `None` if the run was cancelled before.
    async fn acquire_permit(
        &mut self,
        limiter: &RequestLimiter,
        given_up: &Cancellation,
    ) -> Result<Option<RequestPermit>, Overloaded> {
        let mut permit = pin!(limiter.acquire(RequestKind::Run));
        let mut heartbeat = self.heartbeat_interval();
        loop {
            tokio::select! {
                biased;
                permit = &mut permit => return permit.map(Some),
                () = given_up.cancelled() => return Ok(None),
                _ = heartbeat.tick() => self.send_heartbeat().await,
            }
        }
    }

    /// Follows a run until it has ended.
    async fn wait_for<T, E: From<CallError>>(
        &mut self,
        mut running: RunHandle<T, E>,
        questions: Option<PromptQueue>,
        given_up: &Cancellation,
    ) -> Result<T, E> {
        self.follow(&mut running, questions, given_up).await;
        running.wait().await
    }

    /// Forwards partial results, puts prompts, and cancels the run if its caller is gone.
    async fn follow<T, E: From<CallError>>(
        &mut self,
        running: &mut RunHandle<T, E>,
        mut questions: Option<PromptQueue>,
        given_up: &Cancellation,
    ) {
        let mut heartbeat = self.heartbeat_interval();
        let mut is_given_up = false;
        loop {
            tokio::select! {
                update = running.next_update() => {
                    let Some(update) = update else { return };
                    heartbeat.reset();
                    self.update(&update).await;
                }
                () = given_up.cancelled(), if !is_given_up => {
                    is_given_up = true;
                    // Dropping the queue makes a waiting prompt return without an answer.
                    questions = None;
                    running.cancel();
                }
                // While a prompt is open, the run waits and reports nothing.
                () = answer_prompts(&mut questions, self.settings) => self.was_asked = true,
                _ = heartbeat.tick() => self.send_heartbeat().await,
            }
        }
    }

    async fn update(&mut self, update: &Json) {
        if let Some(progress) = &mut self.progress {
            progress.update(update).await;
        }
    }

    async fn send_heartbeat(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.send_heartbeat(self.started, self.settings.lang).await;
        }
    }

    async fn flush(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.flush().await;
        }
    }

    fn heartbeat_interval(&self) -> Interval {
        let every = self.settings.heartbeat_interval;
        let mut heartbeat = interval_at(Instant::now() + every, every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat
    }
}

/// Puts prompts one after the other; never returns if there is no channel for them.
async fn answer_prompts(questions: &mut Option<PromptQueue>, settings: &ServerSettings) {
    match questions {
        Some(questions) => questions.answer_next(settings.prompt_timeout).await,
        None => std::future::pending().await,
    }
}
