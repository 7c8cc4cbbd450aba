//! Reads request bodies within their limits, and holds a request's resources until it is answered.
//!
//! Bodies are read by hand: the limits of axum and `tower_http` bound the length of one body, but
//! neither its rate nor the memory of all bodies of a principal, and their refusals are plain text.
//!
//! Invariant: a body is never read beyond its limit; all bodies and their values together stay
//! within the pools, and those of one principal within its part. Nothing is read before the
//! principal is known. A body that arrives slower than the minimum rate is refused.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::http::Response;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, SizeHint};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::pool::{Lease, Pool};
use super::problem::Refusal;
use crate::bounds::ValueCount;
use crate::malformed::request_id;
use crate::principal::Principal;

/// Reads request bodies.
pub(super) struct RequestBodyReader {
    /// The longest body, in bytes.
    pub(super) limit: usize,
    /// The longest time for one body.
    pub(super) timeout: Duration,
    /// The minimum rate, in bytes per second.
    pub(super) min_rate: NonZeroU32,
    /// How far a body may fall behind the minimum rate.
    pub(super) rate_slack: Duration,
    /// The memory of all bodies, in bytes.
    pub(super) byte_pool: Pool,
    /// The memory of all parsed values, in bytes.
    pub(super) value_pool: Pool,
}

/// A complete body, and the memory that it occupies.
pub(super) struct RequestBody {
    pub(super) bytes: Bytes,
    pub(super) lease: Option<Lease>,
}

impl RequestBodyReader {
    /// Reads a principal's body to its end.
    pub(super) async fn read(
        &self,
        mut body: impl HttpBody<Data = Bytes> + Unpin,
        principal: &Principal,
    ) -> Result<RequestBody, Refusal> {
        let limit = self.limit;
        if let Some(length) =
            body.size_hint().exact().filter(|length| usize::try_from(*length).is_ok_and(|length| length > limit))
        {
            return Err(Refusal::BodyTooLarge { length: Some(length), limit });
        }
        let began = Instant::now();
        let mut whole = RequestBody { bytes: Bytes::new(), lease: None };
        let mut parts: Vec<u8> = Vec::new();
        loop {
            let read = whole.bytes.len().max(parts.len());
            let frame = tokio::time::timeout_at(self.deadline(began, read), body.frame()).await;
            let Some(frame) = frame.map_err(|_| self.timeout_refusal(began))? else { break };
            let Ok(frame) = frame.map_err(|_| Refusal::BodyBroken)?.into_data() else { continue };
            if frame.len() > self.limit - read {
                return Err(Refusal::BodyTooLarge { length: None, limit: self.limit });
            }
            self.reserve_bytes(&mut whole, principal, frame.len())?;
            if read == 0 {
                // Most bodies are a single frame, and are not copied.
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

    /// Reserves the memory of a body's values before they are parsed.
    pub(super) fn reserve_values(&self, body: &[u8], principal: &Principal) -> Result<Lease, Refusal> {
        let values = ValueCount::count(body);
        if let Some(excess) = values.exceeded_limit() {
            let (id, error) = (request_id(body), excess.to_error());
            return Err(Refusal::MessageTooLarge {
                excess,
                error: json!({"jsonrpc": "2.0", "id": id, "error": error}),
            });
        }
        let lease = self.value_pool.acquire(principal, values.estimated_bytes());
        lease.ok_or(Refusal::ValuePoolFull { limit: self.value_pool.total() })
    }

    /// The time by which more than `read` bytes must have arrived.
    fn deadline(&self, began: Instant, read: usize) -> Instant {
        let bytes = u32::try_from(read).unwrap_or(u32::MAX);
        let paid = Duration::from_secs(bytes.into()) / self.min_rate.get();
        began + self.timeout.min(self.rate_slack.saturating_add(paid))
    }

    fn timeout_refusal(&self, began: Instant) -> Refusal {
        if began.elapsed() < self.timeout {
            Refusal::BodySlow { rate: self.min_rate }
        } else {
            Refusal::BodyTimeout { limit: self.timeout }
        }
    }

    fn reserve_bytes(&self, whole: &mut RequestBody, principal: &Principal, length: usize) -> Result<(), Refusal> {
        let fits = match &mut whole.lease {
            Some(lease) => lease.try_grow(length),
            lease @ None => {
                *lease = self.byte_pool.acquire(principal, length);
                lease.is_some()
            }
        };
        if fits { Ok(()) } else { Err(Refusal::BodyPoolFull { limit: self.byte_pool.total() }) }
    }
}

/// How long the first events of a stream are waited for.
const GATHER_TIMEOUT: Duration = Duration::from_millis(5);

/// Waits briefly for the first events of a stream. A response that is computed at once is then sent
/// in one write, instead of three for the head, the first event and the answer.
pub(super) async fn gather_first_events(
    response: Response<BoxBody<Bytes, Infallible>>,
) -> Response<BoxBody<Bytes, Infallible>> {
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
    let is_whole = tokio::time::timeout(GATHER_TIMEOUT, gather).await.is_ok();
    let first = Bytes::from(first);
    let body = if is_whole { Full::new(first).boxed() } else { BodyExt::boxed(PrefixedBody { first, rest: body }) };
    Response::from_parts(head, body)
}

/// A body whose beginning is already buffered.
struct PrefixedBody {
    first: Bytes,
    rest: BoxBody<Bytes, Infallible>,
}

impl HttpBody for PrefixedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.first.is_empty() {
            return Pin::new(&mut self.rest).poll_frame(cx);
        }
        Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.first)))))
    }
}

/// A response body with a guard, which is dropped when the body was sent or the connection ended.
pub(super) struct GuardedBody<G> {
    body: axum::body::Body,
    _guard: G,
}

/// The resources that a request holds until it is answered.
#[derive(Default)]
pub(super) struct RequestGuard {
    /// One of the requests in flight.
    pub(super) request_lease: Option<Lease>,
    /// The memory of the body. Held for streamed responses only, since their request may wait
    /// meanwhile.
    pub(super) body_lease: Option<Lease>,
    /// The memory of the values, likewise.
    pub(super) value_lease: Option<Lease>,
    /// Makes a shutdown wait for the response.
    pub(super) awaited: Option<TaskTrackerToken>,
}

impl<G> GuardedBody<G> {
    pub(super) const fn new(body: axum::body::Body, guard: G) -> Self {
        Self { body, _guard: guard }
    }
}

impl<G: Unpin> HttpBody for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
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

    /// A body whose parts arrive when they are sent.
    struct Parts(mpsc::UnboundedReceiver<&'static str>);

    impl HttpBody for Parts {
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
        let mut body = gather_first_events(response).await.into_body();
        assert_eq!(body.size_hint().exact(), Some(7));
        assert_eq!(next(&mut body).await.unwrap(), "one two");
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test]
    async fn what_is_not_comes_after_it() {
        let (later, response) = parts(&["one ", "two "]);
        let mut body = gather_first_events(response).await.into_body();
        assert_eq!(body.size_hint().exact(), None);
        assert_eq!(next(&mut body).await.unwrap(), "one two ");
        later.send("three").unwrap();
        drop(later);
        assert_eq!(next(&mut body).await.unwrap(), "three");
        assert_eq!(next(&mut body).await, None);
        // The first part may arrive later.
        let (later, response) = parts(&[]);
        let body = gather_first_events(response).await.into_body();
        later.send("late").unwrap();
        drop(later);
        assert_eq!(body.collect().await.unwrap().to_bytes(), "late");
    }
}
