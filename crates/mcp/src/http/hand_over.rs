//! Calls that another server of the same library runs, because it has their tool in memory.
//!
//! Invariant: a call runs once. It runs here unless the other server answers it; once it was sent, and the answer is lost, it is reported
//! as a call whose effects are unknown.

mod measure;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::header::ORIGIN;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use toolcell::Effects;
use toolcell_error::ErrorCode;
use toolcell_i18n::{Lang, message, msgid};
use toolcell_model_tools::CallFailure;

use self::measure::HandOverSpan;
pub(crate) use self::measure::{HAND_OVER_DURATION, HAND_OVERS};
use super::tokens::TokenScope;
use crate::principal::Principal;
use crate::tool_result::error_result;

/// The operation whose calls are handed over.
const OPERATION: &str = "run_dynamic_tool";
/// The first revision of the protocol without sessions.
pub(super) const STATELESS_VERSION: &str = "2026-07-28";
/// The longest request that is handed over, in bytes: with what goes with it, it fits into a message of NATS by its default limit.
const MAX_REQUEST_BYTES: usize = 512 << 10;
/// The headers that go with a request.
const HEADERS: [&str; 6] =
    ["accept", "accept-language", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];

/// A future of a [`HandOver`].
pub type HandOverFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// Answers a call that another server handed over.
pub type AnswerHandedCall = Arc<dyn Fn(HandedCall) -> HandOverFuture<'static, HandOverOutcome> + Send + Sync>;

/// A call, as a client sent it, after it was authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedCall {
    /// Whose call it is.
    pub principal: Principal,
    /// The headers of the request that matter to its answer: names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The request.
    pub body: Bytes,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body.
    pub content_type: String,
    /// The body.
    pub body: Bytes,
}

/// What became of a call that was to be handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandOverOutcome {
    /// The other server answered it.
    Answered(HandedAnswer),
    /// It did not take it, and did not run it: the call runs here.
    NotTaken,
    /// It is about to end: it did not run it, and takes no further calls.
    Closing,
    /// It may have run it, and does not answer.
    Lost,
}

/// Hands calls over to other servers of the same library.
pub trait HandOver: Debug + Send + Sync {
    /// Chooses the server of a call by its tool, which is a name or an identifier; `None` if that is this one.
    fn choose(&self, principal: &Principal, tool: &str) -> Option<String>;

    /// Hands a call over to a server, and waits for its answer.
    fn hand_over(&self, server: String, call: HandedCall) -> HandOverFuture<'_, HandOverOutcome>;

    /// Starts to answer the calls that other servers hand over.
    fn serve(&self, answer: AnswerHandedCall);
}

/// Marks a request that another server handed over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandedOver;

/// What is read of a request before it is handed over.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: &'a serde_json::value::RawValue,
    params: EnvelopeParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnvelopeParams {
    arguments: EnvelopeArguments,
    #[serde(rename = "_meta", default)]
    meta: EnvelopeMeta,
    #[serde(default)]
    task: Option<IgnoredAny>,
    #[serde(default)]
    request_state: Option<IgnoredAny>,
}

#[derive(Deserialize, Default)]
struct EnvelopeMeta {
    #[serde(rename = "progressToken", default)]
    progress_token: Option<IgnoredAny>,
    // What is no text does not name a trace, and is no reason to refuse the call.
    #[serde(default)]
    traceparent: Value,
    #[serde(default)]
    tracestate: Value,
}

#[derive(Deserialize)]
struct EnvelopeArguments {
    tool_name: String,
}

/// A request that another server is to answer.
pub(super) struct Placed {
    server: String,
    call: HandedCall,
    /// The identifier of the request, as JSON.
    id: Value,
    span: HandOverSpan,
}

impl Placed {
    /// Finds the server of a request; `None` if that is this one. A request that belongs to something of this server, such as a session,
    /// a task or a stream of progress, is its own.
    pub(super) fn find(
        hand_over: &dyn HandOver,
        principal: &Principal,
        scope: TokenScope,
        head: &Parts,
        body: &Bytes,
    ) -> Option<Self> {
        let version = head.headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
        let is_call = head.method == Method::POST
            && version.is_some_and(|version| version >= STATELESS_VERSION)
            && head.headers.get("mcp-method").is_some_and(|method| method == "tools/call")
            && head.headers.get("mcp-name").is_some_and(|name| name == OPERATION)
            && !head.headers.contains_key("mcp-session-id")
            // The protocol checks the origin of a web page, here.
            && !head.headers.contains_key(ORIGIN);
        if !is_call || scope != TokenScope::Client || body.len() > MAX_REQUEST_BYTES {
            return None;
        }
        let Envelope { id, params } = serde_json::from_slice(body).ok()?;
        let EnvelopeParams { arguments, meta, task, request_state } = params;
        if meta.progress_token.is_some() || task.is_some() || request_state.is_some() {
            return None;
        }
        let server = hand_over.choose(principal, &arguments.tool_name)?;
        let id = serde_json::from_str(id.get()).ok()?;
        let span = HandOverSpan::start(|field| match field {
            "traceparent" => meta.traceparent.as_str(),
            "tracestate" => meta.tracestate.as_str(),
            _ => None,
        });
        let headers = copy_headers(&head.headers).chain(span.headers()).collect();
        let call = HandedCall { principal: principal.clone(), headers, body: body.clone() };
        Some(Self { server, call, id, span })
    }

    /// Hands the request over; `None` if it runs here.
    pub(super) async fn answer(self, hand_over: &dyn HandOver) -> Option<HandedAnswer> {
        match self.span.measure(hand_over.hand_over(self.server, self.call)).await {
            HandOverOutcome::Answered(answer) => Some(answer),
            HandOverOutcome::NotTaken | HandOverOutcome::Closing => None,
            HandOverOutcome::Lost => Some(lost(&self.id)),
        }
    }
}

fn copy_headers(headers: &HeaderMap) -> impl Iterator<Item = (String, String)> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    HEADERS.into_iter().filter_map(move |name| Some((name.to_owned(), value(name)?)))
}

/// The answer to a call that another server may have run.
fn lost(id: &Value) -> HandedAnswer {
    let text = message!("the node that was to run this call does not answer");
    let hint = msgid!("it is not known whether the call had effects: look before you repeat it");
    let failure = CallFailure {
        effects: Some(Effects::Started),
        ..CallFailure::for_server(ErrorCode::SharedUnknown, &text, hint, Lang::En)
    };
    let mut result = serde_json::to_value(error_result(failure, Lang::En)).unwrap_or_default();
    if let Some(fields) = result.as_object_mut() {
        fields.entry("resultType").or_insert_with(|| "complete".into());
    }
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    HandedAnswer { status: 200, content_type: "application/json".to_owned(), body: body.to_string().into() }
}
