//! An HTTP client that authenticates to a server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse};
use sse_stream::{Error as SseError, Sse};

use super::{Failure, OAuth};
use crate::reader::MAX_MESSAGE_BYTES;

type Answer<T> = Result<T, StreamableHttpError<reqwest::Error>>;

/// How this side authenticates to a server.
#[derive(Clone)]
pub(crate) enum Authentication {
    None,
    /// A fixed bearer token.
    Bearer(Arc<str>),
    /// Access tokens.
    OAuth(Arc<OAuth>),
}

/// An HTTP client that authenticates, and keeps why it could not.
#[derive(Clone)]
pub(crate) struct AuthenticatedClient {
    http: reqwest::Client,
    authentication: Authentication,
    refusal: Arc<Mutex<Option<String>>>,
}

impl AuthenticatedClient {
    pub(crate) fn new(http: reqwest::Client, authentication: Authentication) -> Self {
        Self { http, authentication, refusal: Arc::default() }
    }

    /// Returns why the server, or the authorization server, refused this side since the last call of this.
    pub(crate) fn take_refusal(&self) -> Option<String> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Sends a message, and keeps why the server refused it if it did.
    async fn send<T, F: Future<Output = Answer<T>>>(&self, request: impl Fn(Option<String>) -> F) -> Answer<T> {
        let answer = self.authenticate(request).await;
        match &answer {
            Err(StreamableHttpError::InsufficientScope(challenge)) => self.note(match &challenge.required_scope {
                Some(scope) => format!("the token lacks the scope `{scope}`, which `scopes` in the policy can name"),
                None => "the token lacks a scope".to_owned(),
            }),
            Err(error) if refuses_token(error) => self.note(match self.authentication {
                Authentication::None => "it wants a token".to_owned(),
                _ => "it refuses the token".to_owned(),
            }),
            _ => {}
        }
        answer
    }

    /// Makes a request with a token, and again with another one if the server refuses that.
    async fn authenticate<T, F: Future<Output = Answer<T>>>(&self, request: impl Fn(Option<String>) -> F) -> Answer<T> {
        match &self.authentication {
            Authentication::None => request(None).await,
            Authentication::Bearer(token) => request(Some(token.to_string())).await,
            Authentication::OAuth(oauth) => {
                let token = oauth.access_token(None).await.map_err(|failure| self.refuse(failure))?;
                match request(Some(token.clone())).await {
                    Err(error) if refuses_token(&error) => {
                        let other = oauth.access_token(Some(&token)).await.map_err(|failure| self.refuse(failure))?;
                        let answer = request(Some(other.clone())).await;
                        if answer.as_ref().is_err_and(refuses_token) {
                            oauth.note_refused_anew(&other).await;
                        }
                        answer
                    }
                    answer => answer,
                }
            }
        }
    }

    fn refuse(&self, failure: Failure) -> StreamableHttpError<reqwest::Error> {
        match failure {
            Failure::LoginRequired(why) => {
                self.note(why);
                AuthError::AuthorizationRequired.into()
            }
            // The library logs its errors.
            Failure::Failed(why) => AuthError::AuthorizationFailed(match &self.authentication {
                Authentication::OAuth(oauth) => oauth.redact(&why),
                Authentication::None | Authentication::Bearer(_) => why,
            })
            .into(),
        }
    }

    fn note(&self, why: String) {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}

/// Whether a server says that a request has no token, or one that is not valid.
fn refuses_token(error: &StreamableHttpError<reqwest::Error>) -> bool {
    match error {
        StreamableHttpError::AuthRequired(_) => true,
        // The library recognizes only an answer that has a challenge.
        StreamableHttpError::UnexpectedServerResponse(text) => text.starts_with("HTTP 401"),
        _ => false,
    }
}

// The parameters that carry a token are not used: it is this client that has one.
impl StreamableHttpClient for AuthenticatedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<StreamableHttpPostResponse> {
        self.post_message_with_max_sse_event_size(uri, message, session_id, None, headers, MAX_MESSAGE_BYTES).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        max_bytes: usize,
    ) -> Answer<StreamableHttpPostResponse> {
        self.send(|token| {
            let (uri, message, session_id) = (uri.clone(), message.clone(), session_id.clone());
            self.http.post_message_with_max_sse_event_size(uri, message, session_id, token, headers.clone(), max_bytes)
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<()> {
        self.authenticate(|token| self.http.delete_session(uri.clone(), session_id.clone(), token, headers.clone()))
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<BoxStream<'static, Result<Sse, SseError>>> {
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, None, headers, MAX_MESSAGE_BYTES).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        max_bytes: usize,
    ) -> Answer<BoxStream<'static, Result<Sse, SseError>>> {
        self.authenticate(|token| {
            let (uri, session_id, last_event_id) = (uri.clone(), session_id.clone(), last_event_id.clone());
            self.http.get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                token,
                headers.clone(),
                max_bytes,
            )
        })
        .await
    }
}
