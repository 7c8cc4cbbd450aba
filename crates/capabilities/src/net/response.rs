//! What comes back.
//!
//! Invariant: no value that is recognised is in it, of a secret of the run or of one that any tool may send there, and no more bytes than the grant lets come back, counted unpacked. A
//! body that did not end never looks like one that did.

use std::fmt;
use std::sync::Arc;

use hyper::ext::ReasonPhrase;
use reqwest::Version;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderName, LOCATION};
use url::Url;

use crate::failure::{Effects, Failure};
use crate::net::fault;
use crate::net::redact::{Redaction, Redactor};
use crate::net::turns::Turn;
use crate::net::unpack::Unpacking;

/// The longest piece, in bytes.
const PIECE: usize = 64 << 10;

/// The answer to a request; its body comes in pieces.
#[derive(Debug)]
pub struct Response {
    /// The status, such as 200.
    pub status: u16,
    /// What the server says beside the status; empty in HTTP/2, and where it is not ASCII.
    pub status_text: String,
    /// Where the answer came from in the end, without a fragment.
    pub url: String,
    /// Whether there was a redirect on the way.
    pub redirected: bool,
    /// Names, in lower case, and values of headers; each byte of a value is one character.
    pub headers: Vec<(String, String)>,
    /// The body, unpacked.
    pub body: Body,
}

/// Where an answer came from.
pub(super) struct From {
    pub(super) url: Url,
    pub(super) redirected: bool,
    pub(super) origin: String,
    /// The most bytes of its body.
    pub(super) limit: u64,
    pub(super) turn: Turn,
    /// How the body is unpacked, beyond what the library does.
    pub(super) unpacking: Unpacking,
    /// Whether the tool gets to know where the answer leads.
    pub(super) location: Shown,
}

/// Whether the tool gets to see something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Yes,
    No,
}

impl Response {
    pub(super) fn new(answer: reqwest::Response, from: From, redactor: &Arc<Redactor>) -> Self {
        let From { mut url, redirected, origin, limit, turn, unpacking, location } = from;
        url.set_fragment(None);
        let status = answer.status();
        let phrase = match answer.extensions().get::<ReasonPhrase>() {
            Some(phrase) => phrase.as_bytes(),
            None if answer.version() < Version::HTTP_2 => status.canonical_reason().unwrap_or_default().as_bytes(),
            None => &[],
        };
        let status_text = as_characters(&redactor.bytes(phrase));
        // What they say is true of what arrived, and not of what the tool gets.
        let is_told = |name: &HeaderName| {
            let of_packed = *name == CONTENT_ENCODING || *name == CONTENT_LENGTH;
            !(of_packed && unpacking.is_packed() || *name == LOCATION && location == Shown::No)
        };
        let named = answer.headers().iter().filter(|(name, _)| is_told(name));
        let named = named.filter(|(name, _)| redactor.mentioned(name.as_str().as_bytes()).is_empty());
        let headers = named.map(|(name, value)| (name.to_string(), as_characters(&redactor.bytes(value.as_bytes()))));
        let headers = headers.collect();
        // Fetch, "null body status".
        let empty = matches!(status.as_u16(), 101 | 103 | 204 | 205 | 304);
        let (source, turn) = if empty { (Source::Ended, None) } else { (Source::Answer(Box::new(answer)), turn) };
        let redaction = Redaction::new(redactor.clone());
        let body = Body { source, origin, limit, taken: 0, unpacking, redaction, ready: Vec::new(), turn };
        Self { status: status.as_u16(), status_text, url: redactor.text(url.as_str()), redirected, headers, body }
    }
}

/// Each byte as the character of its number (Infra, "isomorphic decode").
fn as_characters(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The body of an answer. Dropping it ends the transfer.
pub struct Body {
    source: Source,
    origin: String,
    limit: u64,
    taken: u64,
    unpacking: Unpacking,
    redaction: Redaction,
    /// What can be handed on.
    ready: Vec<u8>,
    /// Given back when nothing more comes.
    turn: Turn,
}

enum Source {
    Answer(Box<reqwest::Response>),
    Ended,
    Failed(Failure),
}

impl Body {
    /// The next piece, of at most 64 KiB; none at the end. A future that is dropped has taken nothing.
    ///
    /// # Errors
    /// `net-response-too-large`, `net-broken`; the same again each time after that.
    pub async fn read(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            if !self.ready.is_empty() {
                let rest = self.ready.split_off(self.ready.len().min(PIECE));
                return Ok(Some(std::mem::replace(&mut self.ready, rest)));
            }
            match &mut self.source {
                Source::Ended => return Ok(None),
                Source::Failed(failure) => return Err(failure.clone()),
                Source::Answer(answer) => match answer.chunk().await {
                    Ok(Some(piece)) => self.take(&piece),
                    Ok(None) => self.finish(),
                    Err(error) => {
                        let failure = fault::broken(&error, &self.origin);
                        self.fail(failure);
                    }
                },
            }
        }
    }

    fn take(&mut self, piece: &[u8]) {
        let Self { unpacking, redaction, ready, taken, limit, .. } = self;
        let unpacked = unpacking.push(piece, |bytes| {
            *taken = taken.saturating_add(bytes.len() as u64);
            if *taken <= *limit {
                ready.extend(redaction.push(bytes));
            }
            *taken <= *limit
        });
        if unpacked.is_err() {
            self.fail(fault::damaged(&self.origin));
        } else if self.taken > self.limit {
            let message = format!(
                "the answer of {} has more than {} bytes, unpacked; ask for less, or raise `response_bytes`",
                self.origin, self.limit
            );
            self.fail(fault::quota("net-response-too-large", message).with(Effects::Committed));
        }
    }

    /// Takes what is left at the end.
    fn finish(&mut self) {
        match self.unpacking.end() {
            Ok(rest) => {
                self.taken = self.taken.saturating_add(rest.len() as u64);
                self.ready.extend(self.redaction.push(&rest));
                self.ready.extend(self.redaction.end());
                self.end(Source::Ended);
            }
            Err(_) => self.fail(fault::damaged(&self.origin)),
        }
    }

    /// Ends the transfer with a failure. Nothing that is not sure is handed on.
    fn fail(&mut self, mut failure: Failure) {
        failure.message = self.redaction.redactor().text(&failure.message);
        self.ready.clear();
        self.end(Source::Failed(failure));
    }

    /// Ends the transfer: it is somebody else's turn.
    fn end(&mut self, source: Source) {
        self.source = source;
        drop(self.turn.take());
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("limit", &self.limit).field("taken", &self.taken).finish_non_exhaustive()
    }
}
