//! What is read of a request, and what is held until its answer is made.
//!
//! Invariant: no more of a body is read than the limit, all bodies together take no more room than there is, and those of a
//! principal no more than its part of it; the same holds of the memory that their values take. Nothing is read of a request whose principal is not known. A body that comes slower
//! than its rate is given up.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::pool::{Lease, Pool};
use super::refusal::Refusal;
use super::wire::Exchange;
use crate::bounds::Values;
use crate::malformed::request_id;
use crate::principal::Principal;

/// How bodies are read.
pub(super) struct Reading {
    /// The longest body, in bytes.
    pub(super) limit: usize,
    /// How long one may take.
    pub(super) within: Duration,
    /// How many bytes a second it has to come with.
    pub(super) rate: NonZeroU32,
    /// How long it may be behind that.
    pub(super) slack: Duration,
    /// The bytes of all of them.
    pub(super) room: Pool,
    /// The memory that their values take.
    pub(super) values: Pool,
}

/// A body, and the room that it takes.
pub(super) struct Whole {
    pub(super) bytes: Bytes,
    pub(super) room: Option<Lease>,
}

impl Reading {
    /// Reads a body of a principal to its end.
    pub(super) async fn read(
        &self,
        mut body: impl Body<Data = Bytes> + Unpin,
        principal: &Principal,
    ) -> Result<Whole, Refusal> {
        let limit = self.limit;
        if let Some(length) =
            body.size_hint().exact().filter(|length| usize::try_from(*length).is_ok_and(|length| length > limit))
        {
            return Err(Refusal::BodyTooLarge { length: Some(length), limit });
        }
        let began = Instant::now();
        let mut whole = Whole { bytes: Bytes::new(), room: None };
        let mut parts: Vec<u8> = Vec::new();
        loop {
            let read = whole.bytes.len().max(parts.len());
            let frame = tokio::time::timeout_at(self.due(began, read), body.frame()).await;
            let Some(frame) = frame.map_err(|_| self.late(began))? else { break };
            let Ok(frame) = frame.map_err(|_| Refusal::BodyBroken)?.into_data() else { continue };
            if frame.len() > self.limit - read {
                return Err(Refusal::BodyTooLarge { length: None, limit: self.limit });
            }
            self.make_room(&mut whole, principal, frame.len())?;
            if read == 0 {
                // Most bodies are one frame, and are not copied.
                whole.bytes = frame;
                continue;
            }
            parts.extend_from_slice(&std::mem::take(&mut whole.bytes));
            parts.extend_from_slice(&frame);
        }
        if !parts.is_empty() {
            whole.bytes = parts.into();
        }
        Ok(whole)
    }

    /// The memory that the values of a body take, before they are read.
    pub(super) fn values(&self, body: &[u8], principal: &Principal) -> Result<Lease, Refusal> {
        let values = Values::count(body);
        if let Some(excess) = values.excess() {
            let (id, error) = (request_id(body), excess.error());
            return Err(Refusal::Values { excess, error: json!({"jsonrpc": "2.0", "id": id, "error": error}) });
        }
        let lease = self.values.take(principal, values.memory());
        lease.ok_or(Refusal::ValuesTogether { limit: self.values.total() })
    }

    /// When more has to be there than was read.
    fn due(&self, began: Instant, read: usize) -> Instant {
        let bytes = u32::try_from(read).unwrap_or(u32::MAX);
        let paid = Duration::from_secs(bytes.into()) / self.rate.get();
        began + self.within.min(self.slack.saturating_add(paid))
    }

    fn late(&self, began: Instant) -> Refusal {
        if began.elapsed() < self.within {
            Refusal::BodySlow { rate: self.rate }
        } else {
            Refusal::BodyTimeout { limit: self.within }
        }
    }

    fn make_room(&self, whole: &mut Whole, principal: &Principal, length: usize) -> Result<(), Refusal> {
        let fits = match &mut whole.room {
            Some(room) => room.grow(length),
            room @ None => {
                *room = self.room.take(principal, length);
                room.is_some()
            }
        };
        if fits { Ok(()) } else { Err(Refusal::Bodies { limit: self.room.total() }) }
    }
}

/// How long the first events of a stream are waited for.
const MOMENT: Duration = Duration::from_millis(5);

/// Waits a moment for the events of a stream: an answer that is made at once is then written at once, where head, first
/// event and answer would each be a write, and for the client a read.
pub(super) async fn gathered(response: Response<BoxBody<Bytes, Infallible>>) -> Response<BoxBody<Bytes, Infallible>> {
    let (head, mut body) = response.into_parts();
    let mut first = Vec::new();
    let gather = async {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame;
            if let Ok(data) = frame.into_data() {
                first.extend_from_slice(&data);
            }
        }
    };
    let is_whole = tokio::time::timeout(MOMENT, gather).await.is_ok();
    let first = Bytes::from(first);
    let body = if is_whole { Full::new(first).boxed() } else { BodyExt::boxed(Begun { first, rest: body }) };
    Response::from_parts(head, body)
}

/// A body of which the beginning is there already.
struct Begun {
    first: Bytes,
    rest: BoxBody<Bytes, Infallible>,
}

impl Body for Begun {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.first.is_empty() {
            return Pin::new(&mut self.rest).poll_frame(cx);
        }
        Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.first)))))
    }
}

/// The body of an answer, and what is given back when the connection has all of it, or gave it up.
pub(super) struct Answer {
    body: BoxBody<Bytes, Infallible>,
    _held: Held,
}

/// What a request holds until its answer is made.
pub(super) struct Held {
    pub(super) exchange: Exchange,
    /// Its place among the requests that are under way.
    pub(super) place: Option<Lease>,
    /// The room of its body, where the answer is a stream: what was asked for waits meanwhile.
    pub(super) room: Option<Lease>,
    /// The memory of its values, likewise.
    pub(super) values: Option<Lease>,
    /// Its part in what a shutdown waits for.
    pub(super) awaited: Option<TaskTrackerToken>,
}

impl Answer {
    pub(super) const fn new(body: BoxBody<Bytes, Infallible>, held: Held) -> Self {
        Self { body, _held: held }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    /// A body whose parts come when they are sent.
    struct Parts(mpsc::UnboundedReceiver<&'static str>);

    impl Body for Parts {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let part = self.0.poll_recv(cx);
            part.map(|part| part.map(|part| Ok(Frame::data(Bytes::from_static(part.as_bytes())))))
        }
    }

    fn parts(now: &[&'static str]) -> (mpsc::UnboundedSender<&'static str>, Response<BoxBody<Bytes, Infallible>>) {
        let (later, parts) = mpsc::unbounded_channel();
        now.iter().copied().for_each(|part| later.send(part).unwrap());
        (later, Response::new(Parts(parts).boxed()))
    }

    async fn next(body: &mut BoxBody<Bytes, Infallible>) -> Option<Bytes> {
        body.frame().await.map(|frame| frame.unwrap().into_data().unwrap())
    }

    #[tokio::test]
    async fn what_is_there_at_once_is_one_piece() {
        let (later, response) = parts(&["one ", "two"]);
        drop(later);
        let mut body = gathered(response).await.into_body();
        assert_eq!(body.size_hint().exact(), Some(7));
        assert_eq!(next(&mut body).await.unwrap(), "one two");
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test]
    async fn what_is_not_comes_after_it() {
        let (later, response) = parts(&["one ", "two "]);
        let mut body = gathered(response).await.into_body();
        assert_eq!(body.size_hint().exact(), None);
        assert_eq!(next(&mut body).await.unwrap(), "one two ");
        later.send("three").unwrap();
        drop(later);
        assert_eq!(next(&mut body).await.unwrap(), "three");
        assert_eq!(next(&mut body).await, None);
        // Nothing may be there yet.
        let (later, response) = parts(&[]);
        let body = gathered(response).await.into_body();
        later.send("late").unwrap();
        drop(later);
        assert_eq!(body.collect().await.unwrap().to_bytes(), "late");
    }
}
