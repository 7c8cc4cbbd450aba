//! Responses to requests that do not reach the protocol.
//!
//! A problem document is a JSON object of five fields, to which the JSON-RPC error of the request may
//! be added, so it is written here and not by a library.
//!
//! Invariant: each of them is a problem document (RFC 9457) with a stable `code`, and contains no
//! token.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use toolcell_error::ErrorCode;

use crate::bounds::MessageTooLarge;

/// Why a request did not reach the protocol, or got no response from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize)]
pub(super) enum Refusal {
    #[error("the request names no host, or more than one")]
    HostMissing,
    #[error("the host of the request is not allowed")]
    HostRefused,
    #[error("nothing is served at this path")]
    NotFound,
    #[error("this path accepts only {allowed}")]
    MethodNotAllowed { allowed: &'static str },
    #[error("a valid bearer token is required")]
    Unauthorized(Challenge),
    #[error("too many invalid tokens from this address")]
    TooManyAttempts { wait: Duration },
    #[error("more than {limit} requests in a minute")]
    RateLimited { limit: NonZeroU32, wait: Duration },
    #[error("the body is {}, the limit is {limit} bytes", .length.map_or_else(|| "too long".to_owned(), |length| format!("{length} bytes")))]
    BodyTooLarge { length: Option<u64>, limit: usize },
    #[error("the body was not received within {} ms", .limit.as_millis())]
    BodyTimeout { limit: Duration },
    #[error("the body arrived slower than {rate} bytes per second")]
    BodySlow { rate: NonZeroU32 },
    #[error("the body ended early, or its encoding does not match its headers")]
    BodyBroken,
    /// Carries the JSON-RPC error.
    #[error("the body is not an MCP message")]
    BodyInvalid { error: Value },
    /// Carries the JSON-RPC error.
    #[error("{excess}")]
    MessageTooLarge { excess: MessageTooLarge, error: Value },
    #[error("this principal has used its share of the {limit} bytes for request bodies")]
    BodyPoolFull { limit: usize },
    #[error("this principal has used its share of the {limit} bytes of memory for request values")]
    ValuePoolFull { limit: usize },
    #[error("this principal has used its share of the {limit} concurrent requests")]
    Overloaded { limit: usize },
    #[error("this principal has used its share of the {limit} connections")]
    TooManyConnections { limit: usize },
    #[error("the token belongs to a principal; /metrics requires the metrics token")]
    MetricsForbidden,
    #[error("the session does not exist")]
    SessionUnknown,
    #[error("the server is shutting down")]
    Closing,
    #[error("the server is not ready: {0}")]
    NotReady(String),
    /// A plain-text refusal by `rmcp`.
    #[error("{message}")]
    Protocol { status: StatusCode, message: String },
}

/// The code of the refusal that a response carries, among its extensions.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefusalCode(pub(super) ErrorCode);

/// What is wrong with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Challenge {
    Missing,
    Invalid,
}

impl Refusal {
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            Self::HostMissing => ErrorCode::HostMissing,
            Self::HostRefused => ErrorCode::HostRefused,
            Self::NotFound => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            Self::Unauthorized(_) => ErrorCode::Unauthorized,
            Self::TooManyAttempts { .. } => ErrorCode::TooManyAttempts,
            Self::RateLimited { .. } => ErrorCode::RateLimited,
            Self::BodyTooLarge { .. } => ErrorCode::BodyTooLarge,
            Self::BodyTimeout { .. } | Self::BodySlow { .. } => ErrorCode::BodyTimeout,
            Self::BodyBroken => ErrorCode::BodyBroken,
            Self::BodyInvalid { .. } => ErrorCode::BodyInvalid,
            Self::MessageTooLarge { .. } => MessageTooLarge::CODE,
            Self::BodyPoolFull { .. }
            | Self::ValuePoolFull { .. }
            | Self::Overloaded { .. }
            | Self::TooManyConnections { .. } => ErrorCode::Overloaded,
            Self::MetricsForbidden => ErrorCode::MetricsForbidden,
            Self::SessionUnknown => ErrorCode::SessionUnknown,
            Self::Closing => ErrorCode::Closing,
            Self::NotReady(_) => ErrorCode::NotReady,
            Self::Protocol { status, .. } => match *status {
                // `Host` was checked before, so this is about the other header that `rmcp` checks,
                // `Origin`.
                StatusCode::FORBIDDEN => ErrorCode::OriginRefused,
                StatusCode::METHOD_NOT_ALLOWED => ErrorCode::MethodNotAllowed,
                StatusCode::NOT_ACCEPTABLE => ErrorCode::NotAcceptable,
                StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorCode::ContentType,
                status if status.is_client_error() => ErrorCode::RequestInvalid,
                _ => ErrorCode::Internal,
            },
        }
    }

    /// What the client can do next.
    pub(super) fn hint(&self) -> Option<&'static str> {
        if let Self::MessageTooLarge { excess, .. } = self {
            return Some(excess.hint());
        }
        Some(match self.code() {
            ErrorCode::HostMissing | ErrorCode::HostRefused => {
                "use the address that the server listens on, or start the server with --allow-host"
            }
            ErrorCode::OriginRefused => "start the server with --allow-origin to allow pages of this origin",
            ErrorCode::NotFound => "send MCP requests to /mcp",
            ErrorCode::Unauthorized => "send `Authorization: Bearer TOKEN`",
            ErrorCode::TooManyAttempts | ErrorCode::RateLimited | ErrorCode::Overloaded => {
                "retry after the number of seconds in `Retry-After`"
            }
            ErrorCode::BodyTooLarge => "send a smaller body, or ask the operator to raise the limit",
            ErrorCode::BodyTimeout | ErrorCode::BodyBroken => "send the request again",
            ErrorCode::BodyInvalid => "send one valid MCP message in JSON-RPC",
            ErrorCode::MetricsForbidden => {
                "send the token of `[metrics]` in the token file, or of TOOLCELL_METRICS_TOKEN, as `Authorization: Bearer TOKEN`"
            }
            ErrorCode::SessionUnknown => "start a new session with `initialize`",
            ErrorCode::Closing | ErrorCode::NotReady => "try again later",
            ErrorCode::NotAcceptable => "send `Accept: application/json, text/event-stream`",
            ErrorCode::ContentType => "send `Content-Type: application/json`",
            _ => return None,
        })
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::HostMissing | Self::BodyBroken | Self::BodyInvalid { .. } => StatusCode::BAD_REQUEST,
            Self::HostRefused | Self::MetricsForbidden => StatusCode::FORBIDDEN,
            Self::NotFound | Self::SessionUnknown => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::TooManyAttempts { .. } | Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::BodyTooLarge { .. } | Self::MessageTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimeout { .. } | Self::BodySlow { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::BodyPoolFull { .. }
            | Self::ValuePoolFull { .. }
            | Self::Overloaded { .. }
            | Self::TooManyConnections { .. }
            | Self::Closing
            | Self::NotReady(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Protocol { status, .. } => *status,
        }
    }

    /// The header that belongs to the status.
    fn header(&self) -> Option<(HeaderName, Cow<'static, str>)> {
        Some(match self {
            Self::MethodNotAllowed { allowed } => (ALLOW, Cow::Borrowed(*allowed)),
            Self::Unauthorized(Challenge::Missing) => (WWW_AUTHENTICATE, Cow::Borrowed("Bearer realm=\"toolcell\"")),
            Self::Unauthorized(Challenge::Invalid) => {
                (WWW_AUTHENTICATE, Cow::Borrowed("Bearer realm=\"toolcell\", error=\"invalid_token\""))
            }
            Self::TooManyAttempts { wait } | Self::RateLimited { wait, .. } => {
                (RETRY_AFTER, Cow::Owned((wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1).to_string()))
            }
            Self::BodyPoolFull { .. } | Self::ValuePoolFull { .. } | Self::Overloaded { .. } => {
                (RETRY_AFTER, Cow::Borrowed("1"))
            }
            // The connection cannot be reused: the rest of the body would follow. If there are too
            // many connections, closing makes room.
            Self::BodyTooLarge { .. }
            | Self::BodyTimeout { .. }
            | Self::BodySlow { .. }
            | Self::BodyBroken
            | Self::TooManyConnections { .. } => (CONNECTION, Cow::Borrowed("close")),
            _ => return None,
        })
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut document = json!({
            "title": status.canonical_reason().unwrap_or_default(),
            "status": status.as_u16(),
            "code": self.code(),
            "detail": self.to_string(),
        });
        if let (Some(hint), Some(document)) = (self.hint(), document.as_object_mut()) {
            document.insert("hint".to_owned(), hint.into());
        }
        if let (Self::BodyInvalid { error } | Self::MessageTooLarge { error, .. }, Some(document)) =
            (&self, document.as_object_mut())
        {
            // JSON-RPC clients find the JSON-RPC error in the same document.
            document.extend(error.as_object().cloned().unwrap_or_default());
        }
        let kind = [(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"))];
        let mut response = (status, kind, document.to_string()).into_response();
        response.extensions_mut().insert(RefusalCode(self.code()));
        if let Some((name, value)) = self.header() {
            response.headers_mut().extend(HeaderValue::from_str(&value).ok().map(|value| (name, value)));
        }
        response
    }
}
