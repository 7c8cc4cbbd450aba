//! The native module of the package `toolcell` for Node. The package itself is in JavaScript
//! (`crates/node/package`): this module passes JSON, and has no manners.
//!
//! Each method returns at once; what happens later is an event, for which one function of JavaScript
//! is called: `(event, operation, name, text, callback, timeoutMs)`.
//!
//! | event | meaning |
//! |---|---|
//! | `done` | the operation has ended; `text` is its answer |
//! | `failed` | the operation has failed; `text` is the error |
//! | `update` | a run has partial results, which [`Native::take_updates`] returns |
//! | `function`, `before`, `after`, `approve`, `effects`, `secret` | the host is called back: it answers `callback` with [`Native::answer`] |
//!
//! Invariant: the thread of JavaScript never waits, and a callback that is not answered holds up its
//! own run alone.

#![expect(clippy::needless_pass_by_value, reason = "the macros of napi-rs pass what comes from JavaScript by value")]

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use napi::Status;
use napi::bindgen_prelude::{FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use serde_json::{Map, Value};
use toolcell_bindings::{
    CallOptions, Callback, CancelToken, CompletedRun, EndedRun, EventLoop, Failure, Host, OnAnswer, PartialResultSink,
    RunControl, RunKind, Session, SessionHandle, Work,
};

/// The arguments of the function that events go to.
type Event = FnArgs<(String, u32, String, String, u32, f64)>;
/// That function, from any thread. It does not keep the process alive.
type EventFunction = ThreadsafeFunction<Event, (), Event, Status, false, true>;

/// A callback that waits for its answer.
struct Waiting {
    operation: u32,
    on_answer: OnAnswer,
    /// Cancels the operation: nothing of it begins then.
    cancel: CancelToken,
    /// How long there is for the answer, and when this is over.
    limit: Option<(Duration, Instant)>,
}

impl Waiting {
    fn has_expired(&self) -> bool {
        self.limit.is_some_and(|(_, end)| end <= Instant::now())
    }

    fn answer(self, answer: Result<String, String>) {
        // A function that holds up the thread of JavaScript is not stopped at its timeout, and is late all the same.
        let is_late = answer.is_ok() && self.has_expired();
        match self.limit {
            Some((timeout, _)) if is_late => (self.on_answer)(Err(no_answer(timeout))),
            _ => (self.on_answer)(answer),
        }
    }
}

fn no_answer(timeout: Duration) -> String {
    format!("there was no answer within {} ms", timeout.as_secs_f64() * 1e3)
}

/// Sends events, and waits for the answers to callbacks.
struct Events {
    function: EventFunction,
    /// The callbacks that wait for their answers; `None` once the toolbox is closed.
    waiting: Mutex<Option<HashMap<u32, Waiting>>>,
    next: AtomicU32,
}

impl Events {
    fn lock(&self) -> MutexGuard<'_, Option<HashMap<u32, Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an event; returns whether there is still a thread of JavaScript that gets it.
    fn send(&self, event: &str, operation: u32, name: &str, text: String, callback: u32, timeout: f64) -> bool {
        let event = (event.to_owned(), operation, name.to_owned(), text, callback, timeout);
        self.function.call(FnArgs::from(event), ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
    }

    /// Calls JavaScript back; returns the number of the callback, and whether there is still a thread that gets it. `None` if
    /// the toolbox is closed.
    fn call_back(
        &self,
        NodeHost { operation, cancel, .. }: &NodeHost,
        kind: Callback,
        name: &str,
        payload: &str,
        timeout: Option<Duration>,
        on_answer: OnAnswer,
    ) -> Option<(u32, bool)> {
        let (number, operation) = (self.next.fetch_add(1, Ordering::Relaxed), *operation);
        let limit = timeout.and_then(|timeout| Some((timeout, Instant::now().checked_add(timeout)?)));
        let waiting = Waiting { operation, on_answer, cancel: cancel.clone(), limit };
        self.lock().as_mut()?.insert(number, waiting);
        let milliseconds = timeout.map_or(0.0, |timeout| timeout.as_secs_f64() * 1e3);
        Some((number, self.send(kind.name(), operation, name, payload.to_owned(), number, milliseconds)))
    }

    /// Lets go of a callback; its answer would be in vain.
    fn forget(&self, callback: u32) {
        let forgotten = self.lock().as_mut().and_then(|waiting| waiting.remove(&callback));
        // Not under the lock.
        drop(forgotten);
    }

    /// Lets go of the callbacks of an operation that has ended: none of them begins any more.
    fn forget_callbacks(&self, operation: u32) {
        let mut waiting = self.lock();
        let forgotten = waiting
            .as_mut()
            .map(|waiting| waiting.extract_if(|_, callback| callback.operation == operation).collect::<Vec<_>>());
        drop(waiting);
        // Not under the lock.
        drop(forgotten);
    }

    /// Lets go of all callbacks, and lets no other begin.
    fn close(&self) {
        let waiting = self.lock().take();
        // Not under the lock.
        drop(waiting);
    }

    fn end(&self, operation: u32, ended: Result<String, Failure>) {
        match ended {
            Ok(answer) => self.send("done", operation, "", answer, 0, 0.0),
            Err(failure) => self.send("failed", operation, "", failure.to_json(), 0, 0.0),
        };
    }
}

/// The maximum number of partial results that wait for JavaScript, and of their bytes: the oldest are dropped.
const MAX_UPDATES: (usize, usize) = (64, 4 << 20);

/// The bytes of partial results that JavaScript takes at once.
const MAX_TAKEN_BYTES: usize = 64 << 10;

/// The partial results of a run that JavaScript has not taken yet.
#[derive(Default)]
struct Updates(VecDeque<String>);

impl Updates {
    /// Adds a partial result; returns whether it is the first one that waits.
    fn push(&mut self, update: &str) -> bool {
        let waiting = &mut self.0;
        let is_first = waiting.is_empty();
        waiting.push_back(update.to_owned());
        let size = |waiting: &VecDeque<String>| waiting.iter().map(String::len).sum::<usize>();
        while waiting.len() > MAX_UPDATES.0 || (waiting.len() > 1 && size(waiting) > MAX_UPDATES.1) {
            waiting.pop_front();
        }
        is_first
    }

    /// Takes the oldest ones: as many as JavaScript parses without holding up its event loop.
    fn take(&mut self) -> Vec<String> {
        let waiting = &mut self.0;
        let mut room = MAX_TAKEN_BYTES;
        let fits = |update: &&String| {
            let is_first = room == MAX_TAKEN_BYTES;
            room = room.saturating_sub(update.len());
            is_first || room > 0
        };
        let taken = waiting.iter().take_while(fits).count();
        waiting.drain(..taken).collect()
    }
}

/// The host of an operation; operation 0 is the toolbox itself, which calls hooks and asks for secrets.
struct NodeHost {
    events: Arc<Events>,
    operation: u32,
    cancel: CancelToken,
}

/// The interval in which who waits for an answer looks whether the operation was cancelled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(10);

impl Host for NodeHost {
    fn call(&self, callback: Callback, name: &str, payload: &str, timeout: Option<Duration>) -> Result<String, String> {
        let (reply, answer) = channel();
        // Who waited may be gone.
        let on_answer: OnAnswer = Box::new(move |answered| drop(reply.send(answered)));
        let called = self.events.call_back(self, callback, name, payload, timeout, on_answer);
        let Some((number, is_sent)) = called else { return Err("the toolbox is closed".to_owned()) };
        let began = Instant::now();
        let answered = loop {
            let left = timeout.map_or(CANCEL_INTERVAL, |timeout| timeout.saturating_sub(began.elapsed()));
            match answer.recv_timeout(left.min(CANCEL_INTERVAL)) {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Disconnected) => break Err("the host is gone".to_owned()),
                Err(RecvTimeoutError::Timeout) if !is_sent => break Err("the host is gone".to_owned()),
                Err(RecvTimeoutError::Timeout) if self.cancel.is_cancelled() => {
                    break Err("the call was cancelled".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if timeout.is_some() && left <= CANCEL_INTERVAL => {
                    break Err(no_answer(timeout.unwrap_or_default()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        self.events.forget(number);
        answered
    }

    fn event_loop(&self) -> Option<&dyn EventLoop> {
        Some(self)
    }
}

impl EventLoop for NodeHost {
    fn start_function(&self, name: &str, payload: &str, timeout: Option<Duration>, on_answer: OnAnswer) {
        let called = self.events.call_back(self, Callback::Function, name, payload, timeout, on_answer);
        if let Some((number, false)) = called {
            self.events.forget(number);
        }
    }
}

/// An open toolbox, or one that is being opened.
#[napi]
pub struct Native {
    events: Arc<Events>,
    session: Arc<Mutex<Option<Arc<SessionHandle>>>>,
    /// The tokens of the operations in flight.
    cancels: Arc<Mutex<HashMap<u32, CancelToken>>>,
    /// The partial results of the runs that have some, and that JavaScript has not forgotten.
    updates: Arc<Mutex<HashMap<u32, Updates>>>,
}

#[napi]
impl Native {
    /// Creates a toolbox that is not open yet. `event` is called for each event.
    ///
    /// # Errors
    /// `event` cannot be called from other threads.
    #[napi(constructor)]
    pub fn new(event: Function<'_, Event, ()>) -> napi::Result<Self> {
        let function = event.build_threadsafe_function::<Event>().weak::<true>().build()?;
        let events = Events { function, waiting: Mutex::new(Some(HashMap::new())), next: AtomicU32::new(1) };
        let (session, cancels, updates) = (Arc::default(), Arc::default(), Arc::default());
        Ok(Self { events: Arc::new(events), session, cancels, updates })
    }

    /// Opens the toolbox.
    #[napi]
    pub fn open(&self, operation: u32, options: String) {
        let (events, session) = (Arc::clone(&self.events), Arc::clone(&self.session));
        self.spawn(Work::Control, operation, move || {
            let host: Arc<dyn Host> = Arc::new(NodeHost { events, operation: 0, cancel: CancelToken::new() });
            let opened = SessionHandle::open(&options, &host)?;
            *session.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(opened));
            Ok("null".to_owned())
        });
    }

    /// Performs an operation: a JSON request, and a JSON answer.
    #[napi]
    pub fn call(&self, operation: u32, name: String, request: String) {
        let Some(session) = self.session(operation) else { return };
        let (cancel, events) = (self.register(operation), Arc::clone(&self.events));
        let host: Arc<dyn Host> = Arc::new(NodeHost { events, operation, cancel: cancel.clone() });
        // A hook or a person may be asked, or a tool runs.
        let work = if matches!(&*name, "decide" | "verify" | "replay" | "run_test") {
            Work::Run { depth: 0 }
        } else {
            Work::Control
        };
        self.spawn(work, operation, move || {
            session.with(&cancel, |session| session.call(&name, &request, &host, &cancel))
        });
    }

    /// Runs a tool or code, or resumes a run.
    #[napi]
    pub fn run(&self, operation: u32, kind: String, subject: String, params: String, options: String) {
        self.start(operation, options, move |session, options, control| {
            let ended = session.perform(RunKind::parse(&kind)?, &subject, &params, options, control)?;
            Ok(match ended {
                EndedRun::Completed(ran) => run_json(&ran),
                EndedRun::Suspended(suspended) => format!(r#"{{"suspended":{suspended}}}"#),
            })
        });
    }

    /// Calls what a model is offered.
    #[napi]
    pub fn call_tool(&self, operation: u32, name: String, arguments: String, options: String) {
        self.start(operation, options, move |session, options, control| {
            let called = session.call_tool(&name, &arguments, options, control)?;
            let run = called.run().map_or_else(|| "null".to_owned(), run_json);
            Ok(format!(r#"{{"result":{},"run":{run}}}"#, called.to_json()))
        });
    }

    /// Takes the oldest partial results of a run that wait, as JSON texts. Those that are left have no event of their own.
    #[napi]
    pub fn take_updates(&self, operation: u32) -> Vec<String> {
        let mut updates = self.updates.lock().unwrap_or_else(PoisonError::into_inner);
        updates.get_mut(&operation).map(Updates::take).unwrap_or_default()
    }

    /// Forgets the partial results of a run that has ended.
    #[napi]
    pub fn forget(&self, operation: u32) {
        self.updates.lock().unwrap_or_else(PoisonError::into_inner).remove(&operation);
    }

    /// Cancels an operation. It still ends with an event.
    #[napi]
    pub fn cancel(&self, operation: u32) {
        let cancels = self.cancels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cancel) = cancels.get(&operation) {
            cancel.cancel();
        }
    }

    /// Answers a callback: with a JSON text, or with the message of an error. A callback that no longer
    /// waits is answered in vain.
    #[napi]
    pub fn answer(&self, callback: u32, is_ok: bool, text: String) {
        let waiting = self.events.lock().as_mut().and_then(|waiting| waiting.remove(&callback));
        if let Some(waiting) = waiting {
            waiting.answer(if is_ok { Ok(text) } else { Err(text) });
        }
    }

    /// Returns whether a callback still waits for its answer: its run goes on, and its time is not over.
    #[napi]
    #[must_use]
    pub fn is_waiting(&self, callback: u32) -> bool {
        let waiting = self.events.lock();
        let callback = waiting.as_ref().and_then(|waiting| waiting.get(&callback));
        callback.is_some_and(|callback| !callback.cancel.is_cancelled() && !callback.has_expired())
    }

    /// Cancels all operations, waits for their end, and closes the toolbox.
    #[napi]
    pub fn close(&self, operation: u32) {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A run whose callbacks have no answer is cancelled, not failed.
        self.cancel_all();
        self.events.close();
        self.spawn(Work::Control, operation, move || {
            if let Some(session) = session {
                session.close();
            }
            Ok("null".to_owned())
        });
    }

    /// Starts work that has partial results, functions of the host, and a token that cancels it.
    fn start(
        &self,
        operation: u32,
        options: String,
        work: impl FnOnce(&Session, &CallOptions, RunControl) -> Result<String, Failure> + Send + 'static,
    ) {
        let Some(session) = self.session(operation) else { return };
        let (cancel, events) = (self.register(operation), Arc::clone(&self.events));
        let (updates, sender) = (Arc::clone(&self.updates), Arc::clone(&events));
        let on_update: PartialResultSink = Arc::new(move |update: &str| {
            let mut updates = updates.lock().unwrap_or_else(PoisonError::into_inner);
            // One event for all that wait: a tool must not fill the queue of JavaScript.
            if updates.entry(operation).or_default().push(update) {
                sender.send("update", operation, "", String::new(), 0, 0.0);
            }
        });
        let host: Arc<dyn Host> = Arc::new(NodeHost { events, operation, cancel: cancel.clone() });
        let control = RunControl { cancel: cancel.clone(), on_update: Some(on_update), host };
        let options = match CallOptions::parse(&options) {
            Ok(options) => options,
            Err(failure) => return self.events.end(operation, Err(failure)),
        };
        self.spawn(options.work(), operation, move || {
            session.with(&cancel, |session| work(session, &options, control))
        });
    }

    fn cancel_all(&self) {
        for cancel in self.cancels.lock().unwrap_or_else(PoisonError::into_inner).values() {
            cancel.cancel();
        }
    }

    fn session(&self, operation: u32) -> Option<Arc<SessionHandle>> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if session.is_none() {
            self.events.end(operation, Err(Failure::closed()));
        }
        session
    }

    fn register(&self, operation: u32) -> CancelToken {
        let cancel = CancelToken::new();
        self.cancels.lock().unwrap_or_else(PoisonError::into_inner).insert(operation, cancel.clone());
        cancel
    }

    /// Does work on another thread, and sends its end.
    fn spawn(&self, kind: Work, operation: u32, work: impl FnOnce() -> Result<String, Failure> + Send + 'static) {
        let (events, cancels) = (Arc::clone(&self.events), Arc::clone(&self.cancels));
        let started = toolcell_bindings::spawn(kind, move || {
            let ended = work();
            cancels.lock().unwrap_or_else(PoisonError::into_inner).remove(&operation);
            events.forget_callbacks(operation);
            events.end(operation, ended);
        });
        if let Err(failure) = started {
            self.events.end(operation, Err(failure));
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // The object was collected, or its thread of JavaScript has ended.
        self.cancel_all();
        self.events.close();
    }
}

/// Draws a profile, which is given as JSON, as an SVG image.
///
/// # Errors
/// The failure, as JSON.
#[napi]
pub fn flame_graph(profile: String) -> napi::Result<String> {
    toolcell_bindings::flame_graph(&profile).map_err(|failure| napi::Error::from_reason(failure.to_json()))
}

/// Returns a run as JSON; the value is the text that the tool gave.
fn run_json(ran: &CompletedRun) -> String {
    let mut fields: Map<String, Value> = Map::new();
    let tool = ran.tool();
    fields.insert("toolId".to_owned(), tool.as_ref().map(|(id, _)| id.as_str()).into());
    fields.insert("toolName".to_owned(), tool.as_ref().map(|(_, name)| *name).into());
    fields.insert("fuel".to_owned(), ran.usage().fuel.into());
    fields.insert("loadFuel".to_owned(), ran.usage().load_fuel.into());
    fields.insert("memoryBytes".to_owned(), ran.usage().memory.into());
    fields.insert("durationMs".to_owned(), (ran.usage().duration.as_secs_f64() * 1e3).into());
    fields.insert("effects".to_owned(), ran.effects().name().into());
    fields.insert("text".to_owned(), ran.text().into());
    let value = ran.value().unwrap_or("null");
    let failure = ran.failure().map_or_else(|| "null".to_owned(), Failure::to_json);
    let has_value = ran.value().is_some();
    let (fields, details) = (Value::Object(fields), ran.details());
    format!(r#"{{"value":{value},"hasValue":{has_value},"failure":{failure},"run":{fields},"details":{details}}}"#)
}
