//! A connection that is made again after it was lost.
//!
//! Invariant: of each request it is known whether a server may have carried it out. It was not sent, or refused by the server, or it is
//! lost.

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{RawMessageError, RawMessageErrorKind};
use async_nats::jetstream::{self, Context, ContextBuilder, ErrorCode};
use tokio::sync::{Mutex, Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use toolcell::store::HistoryKey;
use toolcell_i18n::{Message, message};

use super::address::{Health, NatsServers};
use super::failure::{Failure, ServerFailure, describe, jetstream_error, no_answer, no_leader, short};
use super::streams::{StreamKind, Streams};
use crate::tls::causes;

/// The pause before a connection is tried again. It doubles with each failure, up to the second one.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(1));
/// How long a connection and the streams are waited for in the background, where no caller waits.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The time-outs of the library. Each request has a shorter one of its own.
const LIBRARY_LIMIT: Duration = Duration::from_mins(10);
/// How long an entry that was there is known to be there. An election after a crash takes longer, and no server that has lost entries
/// leads before it.
const KNOWN_FOR: Duration = Duration::from_secs(2);
/// How long the servers of a cluster take to hear of a new leader, and how often they are asked meanwhile.
const SETTLE_LIMIT: Duration = Duration::from_secs(1);
const SETTLE_PAUSE: Duration = Duration::from_millis(20);
/// The number of histories whose length is remembered.
const MAX_KNOWN: usize = 10_000;
/// How long a comparison with the clock of the server is good for.
const CLOCK_FOR: Duration = Duration::from_secs(10);

/// What became of a message for a subject whose last message is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// It is stored.
    Done,
    /// It is not stored: the subject has another message.
    Taken,
    /// It is not stored: another message is about to be, but may still fail.
    Contended,
}

/// A connection to one of the servers.
pub(crate) struct Connection {
    servers: NatsServers,
    streams: Streams,
    answer_limit: Duration,
    session: Mutex<Option<Arc<Session>>>,
    /// How the servers fail, until the streams were reached again.
    failure: std::sync::Mutex<Option<ServerFailure>>,
    /// Whether the streams were there. Streams that are gone are not created again: that would be another library.
    had_streams: AtomicBool,
    /// Tells all connections of a client that one of them works again.
    recovered: Arc<Notify>,
}

/// A connection that is open.
pub(crate) struct Session {
    context: Context,
    health: watch::Receiver<Health>,
    /// When all streams had a leader.
    opened: Instant,
    /// The numbers of entries that histories have at least, and when that was so.
    known: std::sync::Mutex<HashMap<HistoryKey, (u64, Instant)>>,
    clock: std::sync::Mutex<HashMap<StreamKind, ClockReading>>,
}

/// A time of a server's clock, and when it was read.
#[derive(Clone, Copy)]
pub(crate) struct ClockReading {
    nanoseconds: i128,
    at: Instant,
}

impl Connection {
    /// Answers are waited for as long as `answer_limit`. Connections that share `recovered` reconnect at the same time.
    pub(crate) fn new(servers: NatsServers, streams: Streams, answer_limit: Duration, recovered: Arc<Notify>) -> Self {
        Self {
            recovered,
            servers,
            streams,
            answer_limit,
            session: Mutex::default(),
            failure: std::sync::Mutex::default(),
            had_streams: AtomicBool::default(),
        }
    }

    /// Runs requests, which are waited for as long as `limit`.
    pub(crate) async fn run<T, F: Future<Output = Result<T, Failure>>>(
        self: Arc<Self>,
        limit: Duration,
        ask: impl FnOnce(Arc<Session>) -> F,
    ) -> Result<T, Failure> {
        let session = self.session().await?;
        let mut health = session.health.clone();
        let (reason, has_ended) = tokio::select! {
            biased;
            answer = timeout(limit, ask(Arc::clone(&session))) => match answer {
                Ok(answer) => return answer,
                Err(_) => (session.no_answer(limit), false),
            },
            () = Health::lost(&mut health) => (message!("the connection was lost"), true),
        };
        let mut open = self.session.lock().await;
        if open.as_ref().is_some_and(|open| Arc::ptr_eq(open, &session)) {
            *open = None;
            // A connection that the server has ended is made again by the next caller.
            if !has_ended {
                self.fail(ServerFailure { reason: reason.clone(), is_final: false });
            }
        }
        Err(Failure::Lost(reason))
    }

    /// Returns the open connection, or makes one. While the servers fail, that is tried in the background, and callers get the failure
    /// at once.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, Failure> {
        let mut open = self.session.lock().await;
        if let Some(session) = open.as_ref().filter(|session| !session.health.borrow().is_lost) {
            return Ok(Arc::clone(session));
        }
        *open = None;
        if let Some(failure) = self.failure() {
            return Err(failure.into_failure());
        }
        match self.connect(self.answer_limit).await {
            Ok(session) => Ok(Arc::clone(open.insert(session))),
            Err(failure) => {
                self.fail(failure.clone());
                Err(failure.into_failure())
            }
        }
    }

    /// Makes a connection, and creates the streams that are missing. All streams have to answer: in a cluster, each has a leader of its own.
    async fn connect(&self, limit: Duration) -> Result<Arc<Session>, ServerFailure> {
        let mut complaint = None;
        let made = timeout(limit, async {
            let (client, health) = self.servers.open().await?;
            complaint = Some(health.clone());
            let context = ContextBuilder::new().timeout(LIBRARY_LIMIT).build(client.clone());
            self.streams.check(&client, &context, self.had_streams.load(Ordering::Relaxed), self.answer_limit).await?;
            self.had_streams.store(true, Ordering::Relaxed);
            Ok(Arc::new(Session {
                context,
                health,
                opened: Instant::now(),
                known: std::sync::Mutex::default(),
                clock: std::sync::Mutex::default(),
            }))
        });
        match made.await {
            Ok(made) => made,
            Err(_) => Err(match complaint.and_then(|health| health.borrow().complaint.clone()) {
                // A user without rights gets no answer, but the server says why.
                Some(complaint) => {
                    let is_final = complaint.contains("ermissions");
                    ServerFailure { reason: Message::verbatim(complaint), is_final }
                }
                None => ServerFailure { reason: no_answer(limit), is_final: false },
            }),
        }
    }

    /// Notes a failure. The first one starts to reconnect.
    fn fail(self: &Arc<Self>, failure: ServerFailure) {
        let before = self.failure.lock().unwrap_or_else(PoisonError::into_inner).replace(failure);
        if before.is_none() {
            tokio::spawn(Arc::clone(self).reconnect());
        }
    }

    /// Makes a connection as soon as the servers can be reached again.
    async fn reconnect(self: Arc<Self>) {
        let mut pause = PAUSES.0;
        loop {
            tokio::select! {
                () = sleep(pause) => {}
                () = self.recovered.notified() => {}
            }
            pause = (2 * pause).min(PAUSES.1);
            match self.connect(CONNECT_LIMIT).await {
                Ok(session) => {
                    *self.session.lock().await = Some(session);
                    *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    self.recovered.notify_waiters();
                    return;
                }
                Err(failure) => *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure),
            }
        }
    }

    fn failure(&self) -> Option<ServerFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Session {
    /// Returns the last message of a subject, from the leader of the stream. With a wildcard, it is the last of all that match.
    pub(crate) async fn last(&self, stream: StreamKind, subject: String) -> Result<Option<StreamMessage>, Failure> {
        let handle = self.context.get_stream_no_info(stream.name()).await.map_err(|error| not_sent(&error))?;
        match handle.raw_message_builder().last_by_subject(subject).send().await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(read_failure(stream, &error)),
        }
    }

    /// Stores a message. With `expected`, only if the last message of the subject has this sequence number; 0 means that the subject is empty.
    pub(crate) async fn store(
        &self,
        stream: StreamKind,
        subject: String,
        payload: Vec<u8>,
        expected: Option<u64>,
    ) -> Result<Stored, Failure> {
        loop {
            let mut publish = PublishMessage::build().payload(payload.clone().into()).expected_stream(stream.name());
            if let Some(sequence) = expected {
                publish = publish.expected_last_subject_sequence(sequence);
            }
            let sent = self.context.send_publish(subject.clone(), publish).await;
            let answer = match sent {
                Ok(acknowledgement) => acknowledgement.await,
                Err(error) => Err(error),
            };
            match answer {
                Ok(_) => return Ok(Stored::Done),
                // The server may not have heard yet that another one has just begun to lead.
                Err(error)
                    if error.kind() == PublishErrorKind::StreamNotFound && self.opened.elapsed() < SETTLE_LIMIT =>
                {
                    sleep(SETTLE_PAUSE).await;
                }
                Err(error) => return store_failure(&error),
            }
        }
    }

    /// Removes all messages of a subject.
    pub(crate) async fn purge(&self, stream: StreamKind, subject: String) -> Result<(), Failure> {
        let handle = self.context.get_stream_no_info(stream.name()).await.map_err(|error| not_sent(&error))?;
        handle
            .purge()
            .filter(subject)
            .await
            .map(drop)
            .map_err(|error| Failure::Lost(Message::verbatim(describe(&error))))
    }

    /// The context of the streams.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Notes that a history has entries up to this number.
    pub(crate) fn know(&self, key: &HistoryKey, number: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN && !known.contains_key(key) {
            known.clear();
        }
        let now = Instant::now();
        match known.get_mut(key) {
            Some(entry) if entry.0 > number => {}
            Some(entry) => *entry = (number, now),
            None => {
                known.insert(key.clone(), (number, now));
            }
        }
    }

    /// The number of entries that a history had when it was last asked for.
    pub(crate) fn known(&self, key: &HistoryKey) -> u64 {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).map_or(0, |known| known.0)
    }

    /// Whether a history has an entry with this number, as was seen a moment ago.
    pub(crate) fn surely_has(&self, key: &HistoryKey, number: u64) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).is_some_and(|(count, at)| *count >= number && at.elapsed() < KNOWN_FOR)
    }

    /// Reads the clock of the server that leads a stream: a message is stored, and the time that it got is read back. If other clients do
    /// the same, the message may be theirs, but its time is between the request and the answer also then.
    pub(crate) async fn clock(&self, stream: StreamKind) -> Result<ClockReading, Failure> {
        let known = self.clock.lock().unwrap_or_else(PoisonError::into_inner).get(&stream).copied();
        if let Some(known) = known.filter(|known| known.at.elapsed() < CLOCK_FOR) {
            return Ok(known);
        }
        let began = Instant::now();
        self.store(stream, stream.clock_subject().to_owned(), Vec::new(), None).await?;
        let at = began + began.elapsed() / 2;
        let message = self.last(stream, stream.clock_subject().to_owned()).await?;
        let Some(message) = message else { return Err(Failure::Lost(message!("the NATS server lost a message"))) };
        let reading = ClockReading { nanoseconds: message.time.unix_timestamp_nanos(), at };
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).insert(stream, reading);
        Ok(reading)
    }

    fn no_answer(&self, limit: Duration) -> Message {
        match self.health.borrow().complaint.clone() {
            Some(complaint) => Message::verbatim(complaint),
            None => no_answer(limit),
        }
    }
}

impl ClockReading {
    /// The time of the server now, in nanoseconds since 1970.
    pub(crate) fn now(self) -> i128 {
        let since = i128::try_from(self.at.elapsed().as_nanos()).unwrap_or(i128::MAX);
        self.nanoseconds.saturating_add(since)
    }
}

/// Asks several things, at most `at_once` at a time, and returns the answers in the order of the questions.
pub(crate) async fn pipelined<I, T, F>(
    questions: impl IntoIterator<Item = I>,
    at_once: usize,
    ask: impl Fn(I) -> F,
) -> Result<Vec<T>, Failure>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let mut waiting = questions.into_iter().enumerate();
    let mut answers: Vec<Option<T>> = Vec::new();
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < at_once
            && let Some((place, question)) = waiting.next()
        {
            answers.push(None);
            let answer = ask(question);
            under_way.spawn(async move { (place, answer.await) });
        }
        let Some(answered) = under_way.join_next().await else { break };
        let Ok((place, answer)) = answered else {
            return Err(Failure::Lost(message!("the client of the database has ended")));
        };
        if let Some(slot) = answers.get_mut(place) {
            *slot = Some(answer?);
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

/// What it means that a message was not acknowledged.
fn store_failure(error: &PublishError) -> Result<Stored, Failure> {
    let reason = Message::verbatim(describe(error));
    match error.kind() {
        PublishErrorKind::WrongLastSequence => Ok(Stored::Taken),
        // Nothing listens to the subject: the message reached no server that stores it.
        PublishErrorKind::StreamNotFound => Err(Failure::Refused(no_leader())),
        PublishErrorKind::MaxPayloadExceeded => Err(Failure::Unusable(reason)),
        PublishErrorKind::Other => match jetstream_error(error).map(jetstream::Error::error_code) {
            Some(ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT) => Ok(Stored::Contended),
            Some(ErrorCode::STREAM_NOT_MATCH | ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM) => {
                Err(Failure::Unusable(reason))
            }
            // The leader may say that it failed to store what the other replicas have stored, for example because its disk is full.
            _ => Err(Failure::Lost(reason)),
        },
        _ => Err(Failure::Lost(reason)),
    }
}

/// What it means that a message could not be read.
fn read_failure(stream: StreamKind, error: &RawMessageError) -> Failure {
    match error.kind() {
        RawMessageErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {
            Failure::Unusable(stream.is_gone())
        }
        RawMessageErrorKind::JetStream(error) => Failure::Refused(Message::verbatim(short(&error))),
        _ if has_no_responders(error) => Failure::Refused(no_leader()),
        _ => Failure::Lost(Message::verbatim(describe(error))),
    }
}

fn not_sent(error: &dyn Error) -> Failure {
    Failure::NotSent(Message::verbatim(describe(error)))
}

/// Whether no server listens to the subject of a request.
fn has_no_responders(error: &(dyn Error + 'static)) -> bool {
    let mut requests = causes(error).filter_map(<dyn Error>::downcast_ref::<jetstream::context::RequestError>);
    requests.next().is_some_and(|request| request.kind() == jetstream::context::RequestErrorKind::NoResponders)
}
