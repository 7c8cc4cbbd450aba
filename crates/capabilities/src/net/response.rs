//! Responses.
//!
//! Invariant: recognized values of secrets are redacted, those of the run and those that any tool
//! may send to the host. The body is never longer than the grant allows, counted after
//! decompression. A body that broke off never looks complete.

use std::fmt;
use std::sync::Arc;

use hyper::ext::ReasonPhrase;
use reqwest::Version;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderName, LOCATION};
use toolcell_protocol::{Effects, OperationError};
use url::Url;

use crate::net::decompress::Decompressor;
use crate::net::error;
use crate::net::origin_limiter::OriginPermit;
use crate::net::redact::{Redactor, StreamRedactor};

/// The maximum size of a chunk, in bytes.
const MAX_CHUNK_BYTES: usize = 64 << 10;

/// The response to a request, with a streamed body.
#[derive(Debug)]
pub struct Response {
    /// The status code, such as 200.
    pub status: u16,
    /// The reason phrase; empty in HTTP/2, and if it is not ASCII.
    pub status_text: String,
    /// The URL of the last request of the chain, without a fragment.
    pub url: String,
    /// Whether a redirect was followed.
    pub redirected: bool,
    /// The names, in lower case, and values of the headers. Each byte of a value is one character.
    pub headers: Vec<(String, String)>,
    /// The body, decompressed.
    pub body: Body,
}

/// The context of a response.
pub(super) struct ResponseMeta {
    pub(super) url: Url,
    pub(super) redirected: bool,
    pub(super) origin: String,
    /// The maximum size of the body, in bytes.
    pub(super) limit: u64,
    pub(super) permit: OriginPermit,
    /// The decompressor of the body, unless the library decompresses it.
    pub(super) decompressor: Decompressor,
    /// Whether the tool may see the `Location` header.
    pub(super) location: LocationVisibility,
}

/// The visibility of the `Location` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LocationVisibility {
    Visible,
    Hidden,
}

impl Response {
    pub(super) fn new(answer: reqwest::Response, from: ResponseMeta, redactor: &Arc<Redactor>) -> Self {
        let ResponseMeta { mut url, redirected, origin, limit, permit, decompressor: unpacking, location } = from;
        url.set_fragment(None);
        let status = answer.status();
        let phrase = match answer.extensions().get::<ReasonPhrase>() {
            Some(phrase) => phrase.as_bytes(),
            None if answer.version() < Version::HTTP_2 => status.canonical_reason().unwrap_or_default().as_bytes(),
            None => &[],
        };
        let status_text = isomorphic_decode(&redactor.redact_bytes(phrase));
        // These headers describe the compressed body, not the one that the tool receives.
        let is_told = |name: &HeaderName| {
            let of_packed = *name == CONTENT_ENCODING || *name == CONTENT_LENGTH;
            !(of_packed && unpacking.is_compressed() || *name == LOCATION && location == LocationVisibility::Hidden)
        };
        let named = answer.headers().iter().filter(|(name, _)| is_told(name));
        let named = named.filter(|(name, _)| redactor.secrets_in(name.as_str().as_bytes()).is_empty());
        let headers =
            named.map(|(name, value)| (name.to_string(), isomorphic_decode(&redactor.redact_bytes(value.as_bytes()))));
        let headers = headers.collect();
        // Fetch, "null body status".
        let empty = matches!(status.as_u16(), 101 | 103 | 204 | 205 | 304);
        let (source, permit) = if empty { (Source::Ended, None) } else { (Source::Answer(Box::new(answer)), permit) };
        let redaction = StreamRedactor::new(redactor.clone());
        let body =
            Body { source, origin, limit, received: 0, decompressor: unpacking, redaction, ready: Vec::new(), permit };
        Self {
            status: status.as_u16(),
            status_text,
            url: redactor.redact_text(url.as_str()),
            redirected,
            headers,
            body,
        }
    }
}

/// Converts each byte to the character with the same code point (Infra, "isomorphic decode").
fn isomorphic_decode(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The body of a response. Dropping it aborts the transfer.
pub struct Body {
    source: Source,
    origin: String,
    limit: u64,
    received: u64,
    decompressor: Decompressor,
    redaction: StreamRedactor,
    /// The bytes that can be returned.
    ready: Vec<u8>,
    /// Released at the end of the transfer.
    permit: OriginPermit,
}

enum Source {
    Answer(Box<reqwest::Response>),
    Ended,
    Failed(OperationError),
}

impl Body {
    /// Returns the next chunk of at most 64 KiB, or `None` at the end. Cancel-safe: dropping the
    /// future loses no data.
    ///
    /// # Errors
    /// `net-response-too-large`, `net-broken`; later calls return the same error.
    pub async fn read(&mut self) -> Result<Option<Vec<u8>>, OperationError> {
        loop {
            if !self.ready.is_empty() {
                let rest = self.ready.split_off(self.ready.len().min(MAX_CHUNK_BYTES));
                return Ok(Some(std::mem::replace(&mut self.ready, rest)));
            }
            match &mut self.source {
                Source::Ended => return Ok(None),
                Source::Failed(failure) => return Err(failure.clone()),
                Source::Answer(answer) => match answer.chunk().await {
                    Ok(Some(piece)) => self.receive(&piece),
                    Ok(None) => self.finish(),
                    Err(error) => {
                        let failure = error::body_interrupted(&error, &self.origin);
                        self.fail(failure);
                    }
                },
            }
        }
    }

    fn receive(&mut self, piece: &[u8]) {
        let Self { decompressor: unpacking, redaction, ready, received: taken, limit, .. } = self;
        let unpacked = unpacking.push(piece, |bytes| {
            *taken = taken.saturating_add(bytes.len() as u64);
            if *taken <= *limit {
                ready.extend(redaction.push(bytes));
            }
            *taken <= *limit
        });
        if unpacked.is_err() {
            self.fail(error::decompression_failed(&self.origin));
        } else if self.received > self.limit {
            let message = format!(
                "the decompressed response of {} has more than {} bytes; request less, or raise `response_bytes`",
                self.origin, self.limit
            );
            self.fail(error::quota_error("net-response-too-large", message).with_effects(Effects::Committed));
        }
    }

    /// Processes the data that is left at the end.
    fn finish(&mut self) {
        match self.decompressor.finish() {
            Ok(rest) => {
                self.received = self.received.saturating_add(rest.len() as u64);
                self.ready.extend(self.redaction.push(&rest));
                self.ready.extend(self.redaction.finish());
                self.close(Source::Ended);
            }
            Err(_) => self.fail(error::decompression_failed(&self.origin)),
        }
    }

    /// Ends the transfer with an error and discards data that was not returned yet.
    fn fail(&mut self, mut failure: OperationError) {
        failure.message = self.redaction.redactor().redact_text(&failure.message);
        self.ready.clear();
        self.close(Source::Failed(failure));
    }

    /// Ends the transfer and releases the permit.
    fn close(&mut self, source: Source) {
        self.source = source;
        drop(self.permit.take());
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("limit", &self.limit).field("taken", &self.received).finish_non_exhaustive()
    }
}
