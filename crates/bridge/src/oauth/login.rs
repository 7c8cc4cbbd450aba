//! Signing in: the authorization code grant with PKCE, for a program on the person's machine (RFC 7636, RFC 8252).
//!
//! Invariant: only a return that has the `state` of this sign-in ends it: whatever else reaches the port is answered with an
//! error, and waited on. Nothing of a return is shown in the page that answers it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::auth::{AuthorizationManager, InMemoryCredentialStore, OAuthClientConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore, watch};
use url::Url;

use super::{Failure, GrantType, Logout, OAuth, failed};

/// The path to which the browser returns.
const CALLBACK_PATH: &str = "/callback";
/// The maximum number of connections at a time.
const MAX_CONNECTIONS: usize = 16;
/// The time in which a connection has to send its request.
const REQUEST_TIME: Duration = Duration::from_secs(2);
/// The time in which tokens have to be revoked.
const REVOCATION_TIME: Duration = Duration::from_secs(30);
/// The maximum length of a text of the authorization server, in characters.
const MAX_TEXT_CHARS: usize = 300;

/// A sign-in that waits for the person.
pub struct Login {
    oauth: Arc<OAuth>,
    url: Url,
    issuer: String,
    /// What the authorization server gives back with the code (RFC 6749, section 10.12).
    state: String,
    redirect_uri: String,
    listener: TcpListener,
    /// What exchanges the code for tokens; `None` once a code was.
    exchange: Mutex<Option<Exchange>>,
    outcome: watch::Sender<Option<Result<(), String>>>,
}

struct Exchange {
    manager: AuthorizationManager,
    memory: InMemoryCredentialStore,
    client_secret: Option<String>,
}

/// What a return of the browser was.
enum Return {
    /// It is not of this sign-in.
    Foreign(String),
    Done(Result<(), String>),
}

impl OAuth {
    /// Starts a sign-in.
    pub(crate) async fn login(self: &Arc<Self>) -> Result<Login, Failure> {
        let GrantType::AuthorizationCode { client, redirect_port } = &self.config.grant else {
            let why = "nobody has to sign in: the policy says `grant_type = \"client_credentials\"`";
            return Err(Failure::Failed(why.to_owned()));
        };
        let port = redirect_port.unwrap_or_default();
        let listening = async {
            let listener = TcpListener::bind(("127.0.0.1", port)).await?;
            let port = listener.local_addr()?.port();
            Ok::<_, std::io::Error>((listener, port))
        };
        let (listener, port) =
            listening.await.map_err(|error| Failure::Failed(format!("port {port} of 127.0.0.1: {error}")))?;
        let redirect_uri = format!("http://127.0.0.1:{port}{CALLBACK_PATH}");
        let (mut manager, memory, metadata) = self.manager(None).await?;
        let mut scopes = self.config.scopes.clone();
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        }
        let scope_list: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client_secret = match client {
            Some((id, secret)) => {
                let mut config = OAuthClientConfig::new(id.clone(), redirect_uri.clone());
                config.client_secret.clone_from(secret);
                manager.configure_client(config).map_err(|error| failed(&error))?;
                None
            }
            None if metadata.registration_endpoint.is_none() => {
                let why =
                    "the authorization server registers no clients: set `client_id` to one that you registered there";
                return Err(Failure::Failed(why.to_owned()));
            }
            None => {
                let registered = manager.register_client("Toolcell", &redirect_uri, &scope_list).await;
                registered.map_err(|error| failed(&error))?.client_secret
            }
        };
        let url = manager.get_authorization_url(&scope_list).await.map_err(|error| failed(&error))?;
        super::http::check_url(&url).map_err(Failure::Failed)?;
        let url = Url::parse(&url).map_err(|error| Failure::Failed(error.to_string()))?;
        let Some(state) = query_value(&url, "state") else {
            return Err(Failure::Failed("the sign-in has no `state`".to_owned()));
        };
        Ok(Login {
            oauth: Arc::clone(self),
            issuer: metadata.issuer.unwrap_or_else(|| url.origin().ascii_serialization()),
            url,
            state,
            redirect_uri,
            listener,
            exchange: Mutex::new(Some(Exchange { manager, memory, client_secret })),
            outcome: watch::Sender::new(None),
        })
    }

    /// Deletes the tokens, and has the authorization server revoke them (RFC 7009) where it can.
    pub(crate) async fn logout(&self) -> Result<Logout, String> {
        let mut current = self.current.lock().await;
        let lock = self.lock_storage().await?;
        let kept = self.load().ok().flatten();
        current.kept = None;
        let had_any = match &self.config.storage {
            Some(storage) => storage.delete()?,
            None => false,
        };
        // Other calls do not wait for the authorization server.
        drop((lock, current));
        let Some(kept) = kept else {
            let reason = "they are for another URL, or cannot be read".to_owned();
            return Ok(if had_any { Logout::NotRevoked { reason } } else { Logout::NoTokens });
        };
        let failure = match tokio::time::timeout(REVOCATION_TIME, self.revoke(&kept)).await {
            Ok(Ok(())) => return Ok(Logout::Revoked),
            Ok(Err(failure)) => failure.message().to_owned(),
            Err(_) => format!("the authorization server did not answer within {} s", REVOCATION_TIME.as_secs()),
        };
        Ok(Logout::NotRevoked { reason: failure })
    }
}

impl Login {
    /// Returns the URL at which the person signs in.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the identifier of the authorization server, as it says.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Returns the URL to which the browser returns.
    #[must_use]
    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// Waits until the browser has returned, or [`finish`](Self::finish) has succeeded.
    ///
    /// # Errors
    /// Why the sign-in failed.
    pub async fn wait(self: Arc<Self>) -> Result<(), String> {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut outcome = self.outcome.subscribe();
        loop {
            let accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (self.listener.accept().await, place)
            };
            tokio::select! {
                biased;
                ended = outcome.wait_for(Option::is_some) => {
                    let ended = ended.ok().and_then(|outcome| outcome.clone());
                    return ended.unwrap_or_else(|| Err("the sign-in was ended".to_owned()));
                }
                (accepted, place) = accepted => {
                    let Ok((stream, _)) = accepted else { continue };
                    let login = Arc::clone(&self);
                    tokio::spawn(async move {
                        login.serve(stream).await;
                        drop(place);
                    });
                }
            }
        }
    }

    /// Ends the sign-in with the URL to which the browser returned, such as from a browser on another machine.
    ///
    /// # Errors
    /// Why the sign-in failed. If the URL does not belong to this sign-in, it goes on.
    pub async fn finish(&self, returned: &str) -> Result<(), String> {
        let returned = Url::parse(returned.trim()).map_err(|error| format!("this is not a URL: {error}"))?;
        match self.take_return(&returned).await {
            Return::Foreign(why) => Err(why),
            Return::Done(outcome) => outcome,
        }
    }

    async fn take_return(&self, returned: &Url) -> Return {
        if query_value(returned, "state").as_ref() != Some(&self.state) {
            return Return::Foreign("this is not the return of this sign-in: its `state` is another".to_owned());
        }
        let mut exchange = self.exchange.lock().await;
        let Some(ready) = exchange.as_ref() else {
            return Return::Foreign("this sign-in has ended".to_owned());
        };
        // A return that only claims to be of the authorization server must not end the sign-in.
        let issuer = query_value(returned, "iss");
        if issuer.as_ref().is_some_and(|issuer| *issuer != self.issuer) {
            return Return::Foreign("this is the return of another authorization server".to_owned());
        }
        let outcome = match (query_value(returned, "code"), query_value(returned, "error")) {
            (_, Some(error)) => {
                let description = query_value(returned, "error_description").unwrap_or_default();
                Err(self.shown(&format!("the authorization server refuses: {error} {description}")))
            }
            (None, None) => Err("the authorization server returned no code".to_owned()),
            (Some(code), None) => self.exchange(ready, &code, issuer.as_deref()).await,
        };
        *exchange = None;
        drop(exchange);
        self.outcome.send_replace(Some(outcome.clone()));
        Return::Done(outcome)
    }

    async fn exchange(&self, ready: &Exchange, code: &str, issuer: Option<&str>) -> Result<(), String> {
        // The authorization server may repeat what it got. A code that is too short to be recognized is of no use without
        // its verifier.
        let _ = self.oauth.redaction.add(code);
        let exchanged = ready.manager.exchange_code_for_token_with_issuer(code, &self.state, issuer).await;
        exchanged.map_err(|error| self.shown(failed(&error).message()))?;
        let signed_in = self.oauth.sign_in(&ready.memory, ready.client_secret.clone()).await;
        signed_in.map_err(|failure| self.shown(failure.message()))
    }

    /// Takes secrets out of a text that the authorization server had a part in, and cuts it.
    fn shown(&self, text: &str) -> String {
        self.oauth.redact(text).trim_end().chars().take(MAX_TEXT_CHARS).collect()
    }

    async fn serve(&self, stream: TcpStream) {
        let answer = service_fn(|request| async move { Ok::<_, Infallible>(self.answer(&request).await) });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(REQUEST_TIME)
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), answer);
        // The request may wait for the authorization server, which is asked with a time limit of its own.
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to the port of a sign-in");
        }
    }

    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let returned = format!(
            "{}{}",
            self.redirect_uri,
            request.uri().query().map_or(String::new(), |query| format!("?{query}"))
        );
        if request.method() != Method::GET || request.uri().path() != CALLBACK_PATH {
            return page(StatusCode::NOT_FOUND, "There is nothing here.");
        }
        let Ok(returned) = Url::parse(&returned) else {
            return page(StatusCode::BAD_REQUEST, "This is not a return of a sign-in.");
        };
        match self.take_return(&returned).await {
            Return::Foreign(_) => {
                page(StatusCode::BAD_REQUEST, "This is not the return of the sign-in that is waited for.")
            }
            Return::Done(Err(_)) => page(StatusCode::OK, "You are not signed in. Toolcell says why in the terminal."),
            Return::Done(Ok(())) => page(StatusCode::OK, "You are signed in. You can close this page."),
        }
    }
}

/// Returns a page of our own text.
fn page(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Toolcell</title><p>{text}</p></html>\n"
    );
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    let headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", "default-src 'none'"),
        // The URL of the page has the code.
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, http::HeaderValue::from_static(value));
    }
    response
}

/// Returns a value of a query that has it once.
fn query_value(url: &Url, name: &str) -> Option<String> {
    let mut values = url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    values.next().filter(|_| values.next().is_none())
}
