//! Requests, and the bodies of their answers piece by piece.
//!
//! Invariant: what a tool does not ask for is not read from the network, beyond what had come with the answer's head and
//! a short body right behind it.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use toolcell_capabilities::Failure;
use toolcell_capabilities::{Body, NetRun, Redirect, Request, Response};
use toolcell_host::{Ended, Operation};

use super::done;
use super::failure::{self, Result, payload, with_bytes};
use super::inbox::{Came, Inbox};

/// How much of a body is handed over with the head, in bytes, if it is there.
const AHEAD: usize = 256 << 10;

/// How long a head waits for a body that is no longer than that and says so: it mostly comes in the same packet, and
/// asking for it by an operation of its own costs more than the whole request.
const SOON: Duration = Duration::from_millis(2);

/// A request, and then the rest of its answer's body. When this is dropped, it is given up.
pub(super) struct Rest {
    asking: UnboundedSender<u32>,
    task: AbortHandle,
}

impl Rest {
    /// Asks for the next piece, for an operation. Not of an answer that was read to its end.
    pub(super) fn wants(&self, operation: u32) -> bool {
        self.asking.send(operation).is_ok()
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Which answer is read.
#[derive(Deserialize)]
pub(super) struct Read {
    /// The number of its request.
    pub(super) fetch: u32,
}

#[derive(Deserialize)]
struct Form {
    url: String,
    method: String,
    headers: Vec<(String, String)>,
    redirect: Redirect,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    status: u16,
    status_text: &'a str,
    url: &'a str,
    redirected: bool,
    /// Names, in lower case, and values in turn.
    headers: Vec<&'a str>,
    done: bool,
}

#[derive(Serialize)]
struct Piece {
    done: bool,
}

/// The request that a tool asks for.
pub(super) fn request(operation: Operation) -> Result<Request> {
    let Form { url, method, headers, redirect } = payload(&operation)?;
    Ok(Request { url, method, headers, redirect, body: operation.bytes })
}

/// Whether a request changes nothing (RFC 9110, section 9.2.1).
pub(super) fn only_reads(operation: &Operation) -> bool {
    payload::<Form>(operation).is_ok_and(|form| matches!(form.method.as_str(), "GET" | "HEAD" | "OPTIONS"))
}

/// Makes a request.
pub(super) fn start(background: &Handle, net: Arc<NetRun>, id: u32, request: Request, inbox: Arc<Inbox>) -> Rest {
    let (asking, asked) = unbounded_channel();
    let task = background.spawn(async move {
        match net.fetch(id, request).await {
            Ok(response) => answered(id, response, asked, &inbox).await,
            Err(failed) => inbox.put(Ended { id, result: Err(failure::of(failed)) }),
        }
    });
    Rest { asking, task: task.abort_handle() }
}

/// Hands over an answer, and then its body as it is asked for.
async fn answered(id: u32, response: Response, mut asked: UnboundedReceiver<u32>, inbox: &Inbox) {
    let Response { status, status_text, url, redirected, headers, mut body } = response;
    let mut first = Vec::new();
    let there = if is_short(&headers) {
        timeout(SOON, whole(&mut body, &mut first)).await.unwrap_or(There::More)
    } else {
        gathered(&mut body, &mut first).await
    };
    let done = matches!(there, There::All);
    let headers = headers.iter().flat_map(|(name, value)| [name.as_str(), value]).collect();
    let head = Head { status, status_text: &status_text, url: &url, redirected, headers, done };
    let piece = done::Piece { fetch: id, bytes: first.len() as u64, last: done };
    inbox.lay(Came::Piece(Ended { id, result: with_bytes(&head, Some(first)) }, piece));
    let mut failed = match there {
        There::All => return,
        There::Failed(failed) => Some(failed),
        There::More => None,
    };
    while let Some(operation) = asked.recv().await {
        let piece = match failed.take() {
            Some(failed) => Err(failed),
            None => body.read().await,
        };
        let is_over = !matches!(piece, Ok(Some(_)));
        let bytes = piece.as_ref().map_or(0, |piece| piece.as_ref().map_or(0, Vec::len) as u64);
        let noted = done::Piece { fetch: id, bytes, last: is_over };
        let result = match piece {
            Ok(piece) => with_bytes(&Piece { done: piece.is_none() }, Some(piece.unwrap_or_default())),
            Err(failed) => Err(failure::of(failed)),
        };
        inbox.lay(Came::Piece(Ended { id: operation, result }, noted));
        if is_over {
            return;
        }
    }
}

/// What is there of a body without waiting for it.
enum There {
    All,
    More,
    Failed(Failure),
}

/// Whether the head says that the body is short.
fn is_short(headers: &[(String, String)]) -> bool {
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, length)| length.parse().ok());
    length.is_some_and(|length: usize| length < AHEAD)
}

/// Takes a body to its end, but no more than is handed over with a head.
async fn whole(body: &mut Body, first: &mut Vec<u8>) -> There {
    while first.len() < AHEAD {
        match body.read().await {
            Ok(Some(piece)) => first.extend_from_slice(&piece),
            Ok(None) => return There::All,
            Err(failed) => return There::Failed(failed),
        }
    }
    There::More
}

/// Takes what has come of a body already.
async fn gathered(body: &mut Body, first: &mut Vec<u8>) -> There {
    while first.len() < AHEAD {
        match now(body.read()).await {
            Some(Ok(Some(piece))) => first.extend_from_slice(&piece),
            Some(Ok(None)) => return There::All,
            Some(Err(failed)) => return There::Failed(failed),
            None => return There::More,
        }
    }
    There::More
}

/// What a future gives without waiting.
async fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}
