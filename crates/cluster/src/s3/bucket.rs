//! The client of a bucket, which is made again after the store did not answer.
//!
//! Invariant: of each answer it is known whether the store gave it: that an object is missing is said by the store, in the words of S3.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use object_store::aws::AmazonS3;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, GetOptions, GetResult, ObjectStore as _, ObjectStoreExt as _,
    PutPayload, RetryConfig,
};
use rustls::ClientConfig;
use tokio::time::{sleep, timeout};
use toolcell_i18n::{Message, message};

use super::MAX_OBJECT_BYTES;
use super::address::Address;
use crate::client_threads::transfer_time;
use crate::tls::{causes, client_config, is_untrusted};

/// The pause before the store is tried again. It doubles with each failure, up to the second one.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));
/// How long the store is waited for in the background, where no caller waits.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long a connection is kept that no request uses. AWS closes it after 20 seconds or so.
const IDLE_LIMIT: Duration = Duration::from_secs(15);
/// How often a request is repeated that the store answered with a failure of its own, and the pauses before.
const RETRIES: usize = 2;
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(200));
/// The maximum size of an answer that is an error, in bytes.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// The maximum length of a text of the store that is passed on, in characters.
const MAX_TEXT_CHARS: usize = 200;
/// The key of an object that no bytes have. To ask for it shows whether objects can be read, and their absence be told.
const PROBE: &str = "objects/00/0000000000000000000000000000000000000000000000000000000000000000";

/// A request that failed.
#[derive(Debug)]
pub(super) enum BucketFailure {
    /// The store says that the object is missing.
    Missing,
    /// There was no answer, or none from a store.
    NoAnswer(Message),
    /// The store failed, or was too busy.
    Failed(Message),
    /// The store refused it, and would again.
    Refused(Message),
}

/// A bucket of a store.
pub(super) struct Bucket {
    address: Address,
    tls: ClientConfig,
    answer_limit: Duration,
    client: Mutex<AmazonS3>,
    /// Why the store does not answer, until it does again.
    failure: Mutex<Option<Message>>,
}

impl Bucket {
    /// The place of the objects.
    pub(super) fn place(&self) -> String {
        self.address.place()
    }

    /// Makes a client. The store is not asked yet.
    pub(super) fn new(address: Address, answer_limit: Duration) -> Result<Self, String> {
        let tls = client_config()?;
        let client = new_client(&address, &tls, answer_limit)?;
        Ok(Self { address, tls, answer_limit, client: Mutex::new(client), failure: Mutex::default() })
    }

    /// Asks whether the bucket can be used. If the store does not answer, it is tried again in the background.
    pub(super) async fn check(self: &Arc<Self>) -> Result<(), Message> {
        match self.probe(&self.client(), self.answer_limit).await {
            Ok(()) | Err(BucketFailure::Missing) => Ok(()),
            Err(BucketFailure::Refused(reason)) => Err(reason),
            Err(BucketFailure::NoAnswer(reason) | BucketFailure::Failed(reason)) => {
                self.fail(&reason);
                Ok(())
            }
        }
    }

    /// Returns the size of an object, in bytes. That it is missing is no proof that there is a bucket.
    pub(super) async fn size(self: &Arc<Self>, key: &str) -> Result<u64, BucketFailure> {
        let path = self.path(key);
        let found = async |client: AmazonS3| client.head(&path).await;
        self.ask(self.answer_limit, found).await.map(|meta| meta.size)
    }

    /// Stores an object, over one that is there.
    pub(super) async fn put(self: &Arc<Self>, key: &str, bytes: Vec<u8>) -> Result<(), BucketFailure> {
        let path = self.path(key);
        let limit = self.answer_limit + transfer_time(bytes.len() as u64);
        let payload = PutPayload::from(bytes);
        self.ask(limit, async |client: AmazonS3| client.put(&path, payload).await).await.map(drop)
    }

    /// Begins to read an object: what is returned has its size, and not its bytes.
    pub(super) async fn open(self: &Arc<Self>, key: &str) -> Result<GetResult, BucketFailure> {
        let path = self.path(key);
        self.ask(self.answer_limit, async |client: AmazonS3| client.get_opts(&path, GetOptions::default()).await).await
    }

    /// Reads the bytes of an object that was opened. This is not refused any more.
    pub(super) async fn read(self: &Arc<Self>, object: GetResult) -> Result<Vec<u8>, BucketFailure> {
        let size = object.meta.size;
        let limit = self.answer_limit + transfer_time(size);
        let bytes = self.ask(limit, async |_| object.bytes().await).await.map_err(|failure| match failure {
            // The store has just allowed it. The library asked again for a part that was lost, and did not get it.
            BucketFailure::Refused(reason) => BucketFailure::Failed(reason),
            other => other,
        })?;
        if bytes.len() as u64 == size {
            return Ok(bytes.into());
        }
        let (found, expected) = (bytes.len(), size);
        Err(BucketFailure::Failed(message!(
            "the object store sent {found} bytes instead of {expected}",
            found,
            expected
        )))
    }

    /// Sends a request, whose answer is waited for as long as `limit`. While the store does not answer, callers get the failure at once.
    async fn ask<T>(
        self: &Arc<Self>,
        limit: Duration,
        request: impl AsyncFnOnce(AmazonS3) -> object_store::Result<T>,
    ) -> Result<T, BucketFailure> {
        if let Some(reason) = self.failure() {
            return Err(BucketFailure::NoAnswer(reason));
        }
        let answer = self.bounded(limit, request(self.client())).await;
        if let Err(BucketFailure::NoAnswer(reason)) = &answer {
            self.fail(reason);
        }
        answer
    }

    async fn bounded<T>(
        &self,
        limit: Duration,
        answer: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, BucketFailure> {
        match timeout(limit, answer).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(self.classify(&error)),
            Err(_) => Err(BucketFailure::NoAnswer(message!(
                "the object store did not answer within {limit} ms",
                limit = limit.as_millis()
            ))),
        }
    }

    async fn probe(&self, client: &AmazonS3, limit: Duration) -> Result<(), BucketFailure> {
        let path = self.path(PROBE);
        match self.bounded(limit, client.get_opts(&path, GetOptions::default())).await {
            Ok(_) | Err(BucketFailure::Missing) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Notes that the store does not answer. The first one who does so starts to try again.
    fn fail(self: &Arc<Self>, reason: &Message) {
        let before = self.failure.lock().unwrap_or_else(PoisonError::into_inner).replace(reason.clone());
        if before.is_none() {
            tracing::warn!(error = %reason, "the object store does not answer");
            tokio::spawn(Arc::clone(self).reconnect());
        }
    }

    /// Makes a client anew as soon as the store answers again. The connections of the one before may lead nowhere.
    async fn reconnect(self: Arc<Self>) {
        let mut pause = PAUSES.0;
        loop {
            sleep(pause).await;
            pause = (2 * pause).min(PAUSES.1);
            let Ok(client) = new_client(&self.address, &self.tls, self.answer_limit) else { continue };
            match self.probe(&client, CONNECT_LIMIT).await {
                Err(BucketFailure::NoAnswer(reason) | BucketFailure::Failed(reason)) => self.set_failure(Some(reason)),
                // What the store refuses, it tells each caller.
                Ok(()) | Err(BucketFailure::Refused(_) | BucketFailure::Missing) => {
                    *self.client.lock().unwrap_or_else(PoisonError::into_inner) = client;
                    self.set_failure(None);
                    return;
                }
            }
        }
    }

    fn client(&self) -> AmazonS3 {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn failure(&self) -> Option<Message> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_failure(&self, failure: Option<Message>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    fn path(&self, key: &str) -> Path {
        Path::from(format!("{}{key}", self.address.prefix()))
    }

    /// Finds out what an error of the client library means.
    fn classify(&self, error: &object_store::Error) -> BucketFailure {
        let Some(answer) = causes(error).find_map(|cause| cause.downcast_ref::<ErrorAnswer>()) else {
            let reason = self.passed_on(&innermost(error));
            // Without an error of HTTP, the library did not understand the answer, or has no credentials.
            let is_lost = causes(error).any(<dyn Error>::is::<HttpError>) && !is_untrusted(error);
            return if is_lost { BucketFailure::NoAnswer(reason) } else { BucketFailure::Refused(reason) };
        };
        let reason = self.passed_on(&answer.text);
        match (answer.status, answer.code.as_deref()) {
            // The page of another server says 404, too. It is no proof that an object is gone.
            (404, Some("NoSuchKey")) => BucketFailure::Missing,
            (404, None) if answer.is_of_head => BucketFailure::Missing,
            (409, _) | (400, Some("RequestTimeout")) => BucketFailure::Failed(reason),
            (status, _) if is_temporary(status) => BucketFailure::Failed(reason),
            _ => BucketFailure::Refused(reason),
        }
    }

    /// A text that is passed on. Models read it, and the store may say anything.
    fn passed_on(&self, text: &str) -> Message {
        let mut text = text.to_owned();
        for secret in self.address.secrets() {
            text = text.replace(secret, "…");
        }
        let is_shown = |character: &char| !character.is_control();
        Message::verbatim(text.chars().filter(is_shown).take(MAX_TEXT_CHARS).collect::<String>())
    }
}

/// What makes HTTP clients. They follow no redirect: the store that the URL names is the one that is asked.
#[derive(Debug)]
struct Connector {
    tls: ClientConfig,
    /// Whether the store is on this machine, which no proxy reaches.
    is_on_loopback: bool,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|value| value == "true");
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .user_agent(concat!("toolcell/", env!("CARGO_PKG_VERSION")))
            .https_only(!allows_http)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(IDLE_LIMIT)
            // The length of an answer is that of the object.
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate();
        if self.is_on_loopback || allows_http {
            // Over HTTP, a proxy would read everything.
            builder = builder.no_proxy();
        }
        let client =
            builder.build().map_err(|error| object_store::Error::Generic { store: "S3", source: error.into() });
        Ok(HttpClient::new(BoundedHttp(client?)))
    }
}

/// An answer of the store that is an error.
#[derive(Debug)]
struct ErrorAnswer {
    status: u16,
    /// The code of the error, such as `NoSuchKey`.
    code: Option<String>,
    text: String,
    /// Whether it is the answer to a HEAD request, which has no code.
    is_of_head: bool,
}

impl fmt::Display for ErrorAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Error for ErrorAnswer {}

/// An HTTP client whose answers have a maximum size. Answers that are errors are errors of this client, so that they are not lost
/// among those of the library.
#[derive(Debug)]
struct BoundedHttp(reqwest::Client);

impl HttpService for BoundedHttp {
    fn call<'life0, 'async_trait>(
        &'life0 self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let is_of_head = request.method() == "HEAD";
            let (parts, body) = HttpService::call(&self.0, request).await?.into_parts();
            if parts.status.is_success() {
                let limit = usize::try_from(MAX_OBJECT_BYTES).unwrap_or(usize::MAX);
                let body = Limited::new(body, limit).map_err(into_http_error);
                return Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)));
            }
            let body = Limited::new(body, MAX_ERROR_BYTES).collect().await.map_err(into_http_error)?.to_bytes();
            let body = String::from_utf8_lossy(&body);
            let code = element(&body, "Code");
            let text = match (code, element(&body, "Message")) {
                (Some(code), Some(text)) => format!("{} ({code})", unescape(text)),
                (Some(code), None) => code.to_owned(),
                (None, _) => format!("HTTP {}", parts.status),
            };
            let status = parts.status.as_u16();
            // The library repeats a request after an error of the first kind.
            let kind = if is_temporary(status) { HttpErrorKind::Request } else { HttpErrorKind::Decode };
            Err(HttpError::new(kind, ErrorAnswer { status, code: code.map(str::to_owned), text, is_of_head }))
        })
    }
}

fn into_http_error(error: Box<dyn Error + Send + Sync>) -> HttpError {
    match error.downcast::<HttpError>() {
        Ok(error) => *error,
        Err(error) => HttpError::new_boxed(HttpErrorKind::Decode, error),
    }
}

/// Whether a status says that the store failed, or was too busy.
fn is_temporary(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..)
}

fn new_client(address: &Address, tls: &ClientConfig, answer_limit: Duration) -> Result<AmazonS3, String> {
    let backoff = BackoffConfig { init_backoff: RETRY_PAUSES.0, max_backoff: RETRY_PAUSES.1, base: 2.0 };
    address
        .to_builder()
        .with_http_connector(Connector { tls: tls.clone(), is_on_loopback: address.is_on_loopback() })
        .with_retry(RetryConfig { backoff, max_retries: RETRIES, retry_timeout: answer_limit })
        .build()
        .map_err(|error| innermost(&error))
}

/// What the first cause of an error says. Those after it repeat the request.
fn innermost(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map_or_else(String::new, ToString::to_string)
}

/// The text of an element of an error in XML.
fn element<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Replaces the entities that XML predefines, and the apostrophe as a number.
fn unescape(text: &str) -> String {
    let entities = [("&#39;", "'"), ("&apos;", "'"), ("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    entities.iter().fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}
