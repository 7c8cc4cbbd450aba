//! HTTP requests, and their response bodies chunk by chunk.
//!
//! Invariant: nothing is read from the network that the tool does not ask for, except for data that
//! arrived with the response head and a short body right behind it.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use toolcell_capabilities::{Body, NetSession, Request, Response};
use toolcell_host::{Completion, FetchRequest, OperationError};

use super::completions::{CompletionEvent, CompletionQueue};
use super::effects;
use super::error::to_output_with_bytes;
use super::flows::FlowObserver;

/// The maximum number of body bytes delivered with the head, if they are already there.
const MAX_PREFETCH_BYTES: usize = 256 << 10;

/// How long the head waits for a body whose declared length is below that limit. Such a body mostly
/// arrives in the same packet, and a separate host call for it costs more than the whole request.
const PREFETCH_TIMEOUT: Duration = Duration::from_millis(2);

/// A running request, and then the rest of its response body. Dropping it aborts the request.
pub(super) struct BodyReader {
    requests: UnboundedSender<u32>,
    task: AbortHandle,
}

impl BodyReader {
    /// Asks for the next chunk on behalf of a host call. Returns `false` if the body was read to
    /// its end.
    pub(super) fn request_chunk(&self, operation: u32) -> bool {
        self.requests.send(operation).is_ok()
    }
}

impl Drop for BodyReader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResponseHead<'a> {
    status: u16,
    status_text: &'a str,
    url: &'a str,
    redirected: bool,
    /// Lower-case names and values in turn.
    headers: Vec<&'a str>,
    done: bool,
}

#[derive(Serialize)]
struct ChunkHeader {
    done: bool,
}

/// Starts the request of a host call in the background.
pub(super) fn start_request(
    background: &Handle,
    (net, observer): (Arc<NetSession>, Option<FlowObserver>),
    (id, request, body): (u32, FetchRequest, Option<Vec<u8>>),
    inbox: Arc<CompletionQueue>,
) -> BodyReader {
    let FetchRequest { url, method, headers, redirect } = request;
    let request = Request { url, method, headers, redirect, body };
    let (asking, asked) = unbounded_channel();
    let task = background.spawn(async move {
        let fetched = match &observer {
            Some(observer) => net.fetch_observed(id, request, observer).await,
            None => net.fetch(id, request).await,
        };
        match fetched {
            Ok(response) => deliver_response(id, response, asked, &inbox).await,
            Err(failed) => inbox.push_completion(Completion { id, result: Err(failed) }),
        }
    });
    BodyReader { requests: asking, task: task.abort_handle() }
}

/// Delivers the response head, and then the body chunk by chunk as the tool asks for it.
async fn deliver_response(id: u32, response: Response, mut asked: UnboundedReceiver<u32>, inbox: &CompletionQueue) {
    let Response { status, status_text, url, redirected, headers, mut body } = response;
    let mut first = Vec::new();
    let there = if has_short_body(&headers) {
        timeout(PREFETCH_TIMEOUT, read_short_body(&mut body, &mut first)).await.unwrap_or(Prefetched::Partial)
    } else {
        read_available(&mut body, &mut first).await
    };
    let done = matches!(there, Prefetched::Whole);
    let headers = headers.iter().flat_map(|(name, value)| [name.as_str(), value]).collect();
    let head = ResponseHead { status, status_text: &status_text, url: &url, redirected, headers, done };
    let piece = effects::BodyChunk { fetch: id, bytes: first.len() as u64, is_last: done };
    inbox.push(CompletionEvent::BodyChunk(Completion { id, result: to_output_with_bytes(&head, Some(first)) }, piece));
    let mut failed = match there {
        Prefetched::Whole => return,
        Prefetched::Failed(failed) => Some(failed),
        Prefetched::Partial => None,
    };
    while let Some(operation) = asked.recv().await {
        let piece = match failed.take() {
            Some(failed) => Err(failed),
            None => body.read().await,
        };
        let is_over = !matches!(piece, Ok(Some(_)));
        let bytes = piece.as_ref().map_or(0, |piece| piece.as_ref().map_or(0, Vec::len) as u64);
        let noted = effects::BodyChunk { fetch: id, bytes, is_last: is_over };
        let result = match piece {
            Ok(piece) => to_output_with_bytes(&ChunkHeader { done: piece.is_none() }, Some(piece.unwrap_or_default())),
            Err(failed) => Err(failed),
        };
        inbox.push(CompletionEvent::BodyChunk(Completion { id: operation, result }, noted));
        if is_over {
            return;
        }
    }
}

/// The part of a body that is read before the tool asks for it.
enum Prefetched {
    Whole,
    Partial,
    Failed(OperationError),
}

/// Whether the head declares a body that fits into the prefetch limit.
fn has_short_body(headers: &[(String, String)]) -> bool {
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, length)| length.parse().ok());
    length.is_some_and(|length: usize| length < MAX_PREFETCH_BYTES)
}

/// Reads a body to its end, up to the prefetch limit.
async fn read_short_body(body: &mut Body, first: &mut Vec<u8>) -> Prefetched {
    while first.len() < MAX_PREFETCH_BYTES {
        match body.read().await {
            Ok(Some(piece)) => first.extend_from_slice(&piece),
            Ok(None) => return Prefetched::Whole,
            Err(failed) => return Prefetched::Failed(failed),
        }
    }
    Prefetched::Partial
}

/// Reads the part of a body that has already arrived, up to the prefetch limit.
async fn read_available(body: &mut Body, first: &mut Vec<u8>) -> Prefetched {
    while first.len() < MAX_PREFETCH_BYTES {
        match poll_once(body.read()).await {
            Some(Ok(Some(piece))) => first.extend_from_slice(&piece),
            Some(Ok(None)) => return Prefetched::Whole,
            Some(Err(failed)) => return Prefetched::Failed(failed),
            None => return Prefetched::Partial,
        }
    }
    Prefetched::Partial
}

/// Polls a future once, and returns its value if it is ready.
async fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}
