//! `run_dynamic_tool`: a run with its progress, its questions, and its end.
//!
//! Invariant: a run that nobody waits for any more is ended, and each attempt is recorded, also one that never had its turn.

use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use rmcp::task_manager::TaskContext;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;
use toolcell::{CancelToken, Json, Lang, Ran, RunError, RunOptions, RunTool, Running};

use crate::ask::{Asking, Questions};
use crate::server::Settings;
use crate::share::{Full, Kind, Share, Turn};
use crate::tenant::Tenant;

/// How many partial results are told at once, and how many a second from then on: a tool may say more than anybody reads.
const TOLD: (NonZeroU32, NonZeroU32) = (NonZeroU32::new(64).unwrap(), NonZeroU32::new(20).unwrap());
/// How long before its answer the last notice of a call is told.
const MOMENT: Duration = Duration::from_millis(10);
/// The longest message of a partial result, in bytes.
const MESSAGE: usize = 4 << 10;

/// Who hears how far a run is.
pub(crate) enum Hears {
    /// A client that asked for it, under the token that it gave.
    Client(Peer<RoleServer>, ProgressToken),
    /// Whoever looks after the task.
    Task(TaskContext),
}

/// The progress of a run, as far as it was told.
pub(crate) struct Progress {
    hears: Hears,
    /// How much was told: it only rises.
    told: f64,
    limiter: DefaultDirectRateLimiter,
    /// When something was told last.
    last: Option<Instant>,
    /// What was not told yet because there was too much of it.
    held: Option<String>,
}

impl Progress {
    pub(crate) fn new(hears: Hears) -> Self {
        let limiter = RateLimiter::direct(Quota::per_second(TOLD.1).allow_burst(TOLD.0));
        Self { hears, told: 0.0, last: None, limiter, held: None }
    }

    /// Tells a partial result; where there are too many, the newest is told later.
    async fn update(&mut self, json: &Json) {
        // A text as it is, anything else as the tool wrote it.
        let mut message = if json.as_str().starts_with('"') { json.to_text() } else { json.as_str().to_owned() };
        if message.len() > MESSAGE {
            message.truncate(message.floor_char_boundary(MESSAGE));
            message.push('…');
        }
        if self.limiter.check().is_ok() {
            self.held = None;
            self.tell(message).await;
        } else {
            self.held = Some(message);
        }
    }

    async fn tell(&mut self, message: String) {
        self.told += 1.0;
        self.last = Some(Instant::now());
        match &self.hears {
            Hears::Client(peer, token) => {
                let notice = ProgressNotificationParam::new(token.clone(), self.told).with_message(message);
                // A client that is gone is noticed where its answer is sent.
                let _ = peer.notify_progress(notice).await;
            }
            Hears::Task(task) => task.set_status_message(message),
        }
    }

    /// Tells what was held back, if anything was, and gives it a moment: clients that find an answer behind a notice in what
    /// they read at once take the answer first, and drop the notice.
    async fn catch_up(&mut self) {
        if let Some(message) = self.held.take() {
            self.tell(message).await;
        }
        if let Some(last) = self.last {
            tokio::time::sleep_until(last + MOMENT).await;
        }
    }

    /// Tells that the run goes on.
    async fn beat(&mut self, since: Instant, lang: Lang) {
        let seconds = since.elapsed().as_secs();
        let said = match lang {
            Lang::En => format!("running for {seconds} s"),
            Lang::Ja => format!("{seconds}秒間実行中"),
            Lang::Zh => format!("已运行 {seconds} 秒"),
        };
        self.tell(self.held.clone().unwrap_or(said)).await;
        self.held = None;
    }
}

/// What a run is given besides its request.
pub(crate) struct Around<'a> {
    pub(crate) tenant: &'a Tenant,
    pub(crate) settings: &'a Settings,
    pub(crate) asking: Asking,
    pub(crate) progress: Option<Progress>,
}

/// When nobody waits for a run any more.
pub(crate) enum GivenUp {
    /// Its request was cancelled, or the server stops.
    Request(CancellationToken, CancellationToken),
    /// Its task was cancelled, or the server stops.
    Task(TaskContext, CancellationToken),
}

impl GivenUp {
    /// Waits until nobody does; at once where that is so already.
    async fn wait(&self) {
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

/// Runs a stored tool, until it ends or is given up.
pub(crate) async fn run(
    around: Around<'_>,
    request: RunTool,
    given_up: GivenUp,
) -> Result<Result<Ran, RunError>, Full> {
    let Around { tenant, settings, asking, progress } = around;
    let mut heard = Heard { progress, settings, began: Instant::now() };
    let turn = heard.wait(&tenant.share, &given_up).await?;
    let cancel = CancelToken::new();
    if turn.is_none() {
        // It never had its turn, and is recorded all the same.
        cancel.cancel();
    }
    let (person, questions) = asking.person();
    // The turn ends with the thread of the run, also where nobody waits for its end.
    let partial: toolcell::PartialSink = Arc::new(move |_: &str| {
        let _turn = &turn;
    });
    let caller = tenant.caller();
    let options = RunOptions { caller, cancel: Some(cancel), person, partial: Some(partial), ..RunOptions::default() };
    let mut running = tenant.toolbox.start(request, options);
    heard.follow(&mut running, questions, &given_up).await;
    let ran = running.ended().await;
    heard.catch_up().await;
    Ok(ran)
}

/// What a client hears while it waits.
struct Heard<'a> {
    progress: Option<Progress>,
    settings: &'a Settings,
    began: Instant,
}

impl Heard<'_> {
    /// Waits for a turn; none where the run was given up before.
    async fn wait(&mut self, share: &Share, given_up: &GivenUp) -> Result<Option<Turn>, Full> {
        let mut turn = pin!(share.turn(Kind::Run));
        let mut heartbeat = self.heartbeat();
        loop {
            tokio::select! {
                biased;
                turn = &mut turn => return turn.map(Some),
                () = given_up.wait() => return Ok(None),
                _ = heartbeat.tick() => self.beat().await,
            }
        }
    }

    /// Tells what a run says, puts its questions, and ends it where it is given up.
    async fn follow(&mut self, running: &mut Running, mut questions: Option<Questions>, given_up: &GivenUp) {
        let mut heartbeat = self.heartbeat();
        let mut is_given_up = false;
        loop {
            tokio::select! {
                update = running.update() => {
                    let Some(update) = update else { return };
                    heartbeat.reset();
                    self.update(&update).await;
                }
                () = given_up.wait(), if !is_given_up => {
                    is_given_up = true;
                    // Who waits for an answer hears that there is none.
                    questions = None;
                    running.cancel();
                }
                // While somebody thinks about a question, the run waits, and says nothing.
                () = put(&mut questions, self.settings) => {}
                _ = heartbeat.tick() => self.beat().await,
            }
        }
    }

    async fn update(&mut self, update: &Json) {
        if let Some(progress) = &mut self.progress {
            progress.update(update).await;
        }
    }

    async fn beat(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.beat(self.began, self.settings.lang).await;
        }
    }

    async fn catch_up(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.catch_up().await;
        }
    }

    fn heartbeat(&self) -> Interval {
        let every = self.settings.heartbeat;
        let mut heartbeat = interval_at(Instant::now() + every, every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat
    }
}

/// Puts questions, one after the other; for ever where there is nobody to put them to.
async fn put(questions: &mut Option<Questions>, settings: &Settings) {
    match questions {
        Some(questions) => questions.put(settings.patience).await,
        None => std::future::pending().await,
    }
}
