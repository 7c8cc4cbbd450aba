//! What is read of a request, and what is held until its answer is made.
//!
//! Invariant: no more of a body is read than the limit, and all bodies together take no more room than there is.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::refusal::Refusal;
use super::wire::Exchange;

/// How bodies are read.
pub(super) struct Reading {
    /// The longest body, in bytes.
    pub(super) limit: usize,
    /// How long one may take.
    pub(super) within: Duration,
    /// The bytes of all of them.
    pub(super) room: Arc<Semaphore>,
    /// How many there are.
    pub(super) size: usize,
}

/// A body, and the room that it takes.
pub(super) struct Whole {
    pub(super) bytes: Bytes,
    pub(super) room: Option<OwnedSemaphorePermit>,
}

impl Reading {
    /// Reads a body to its end.
    pub(super) async fn read(&self, body: impl Body<Data = Bytes> + Unpin) -> Result<Whole, Refusal> {
        let limit = self.limit;
        if let Some(length) =
            body.size_hint().exact().filter(|length| usize::try_from(*length).is_ok_and(|length| length > limit))
        {
            return Err(Refusal::BodyTooLarge { length: Some(length), limit });
        }
        let late = |_| Refusal::BodyTimeout { limit: self.within };
        tokio::time::timeout(self.within, self.collect(body)).await.map_err(late)?
    }

    async fn collect(&self, mut body: impl Body<Data = Bytes> + Unpin) -> Result<Whole, Refusal> {
        let mut whole = Whole { bytes: Bytes::new(), room: None };
        let mut parts: Vec<u8> = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame.map_err(|_| Refusal::BodyBroken)?.into_data() else { continue };
            let read = whole.bytes.len().max(parts.len());
            if frame.len() > self.limit - read {
                return Err(Refusal::BodyTooLarge { length: None, limit: self.limit });
            }
            self.make_room(&mut whole, frame.len())?;
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

    fn make_room(&self, whole: &mut Whole, length: usize) -> Result<(), Refusal> {
        let full = Refusal::Bodies { limit: self.size };
        let Ok(length) = u32::try_from(length) else { return Err(full) };
        let Ok(more) = Arc::clone(&self.room).try_acquire_many_owned(length) else { return Err(full) };
        match &mut whole.room {
            Some(room) => room.merge(more),
            room @ None => *room = Some(more),
        }
        Ok(())
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
    pub(super) place: Option<OwnedSemaphorePermit>,
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
