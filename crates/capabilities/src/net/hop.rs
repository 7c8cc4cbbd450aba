//! A single request in a chain of redirects.
//!
//! Invariant: placeholders are replaced only in text that the tool wrote. A URL from a server is
//! sent unchanged.

use std::collections::BTreeSet;

use reqwest::header::HeaderMap;
use toolcell_protocol::OperationError;
use toolcell_tool::{Method, SecretLocation as Place};
use url::Url;

use crate::net::error::type_error;
use crate::net::header::{self, Header};
use crate::net::placeholder::{self, BodyEncoding};
use crate::net::request::ValidRequest;
use crate::net::secret::{Destination, Secrets};

/// The header that marks retries of the same request (draft-ietf-httpapi-idempotency-key-header).
const IDEMPOTENCY_KEY: &str = "idempotency-key";
const KEY_DIGITS: usize = 32;

/// The origin of a URL: the tool, or a server's redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    Tool,
    Server,
}

/// A request whose placeholders are not replaced yet.
pub(super) struct Hop {
    pub(super) url: Url,
    pub(super) author: Author,
    pub(super) method: Method,
    pub(super) headers: Vec<Header>,
    pub(super) body: Option<Vec<u8>>,
    /// Whether a redirect downgraded the chain from https to http.
    pub(super) is_downgraded: bool,
    /// Whether an earlier request of the chain carried a secret.
    pub(super) has_carried_secret: bool,
}

impl Hop {
    /// Creates the first request of a chain.
    pub(super) fn new(asked: ValidRequest, run: &str, id: u32) -> Self {
        let ValidRequest { url, method, headers: mut fields, body, .. } = asked;
        let writes = matches!(method, Method::Post | Method::Put | Method::Patch | Method::Delete);
        if writes && !fields.iter().any(|field| field.name == IDEMPOTENCY_KEY) {
            let name = reqwest::header::HeaderName::from_static(IDEMPOTENCY_KEY);
            fields.push(Header { name, value: idempotency_key(run, id).into_bytes() });
        }
        Self {
            url,
            author: Author::Tool,
            method,
            headers: fields,
            body,
            is_downgraded: false,
            has_carried_secret: false,
        }
    }

    /// Returns the destination, for the decision which secrets may be sent.
    pub(super) fn destination(&self) -> Destination<'_> {
        Destination { host: self.url.host_str().unwrap_or_default(), is_downgraded: self.is_downgraded }
    }

    /// Creates the HTTP request, with placeholders replaced by secrets.
    pub(super) fn fill(&self, secrets: &Secrets) -> Result<reqwest::Request, OperationError> {
        let to = self.destination();
        let mut url = self.url.clone();
        url.set_fragment(None);
        if self.author == Author::Tool
            && let Some(query) = self.url.query()
        {
            let value = |name: &str| secrets.value(name, Place::Query, to);
            let filled = placeholder::fill(query.as_bytes(), BodyEncoding::UrlEncoded, value)?;
            // Infallible: both the query and the inserted values are percent-encoded ASCII.
            url.set_query(Some(&String::from_utf8_lossy(&filled)));
        }
        let mut headers = HeaderMap::new();
        for one in &self.headers {
            let value = |name: &str| secrets.value(name, Place::Header, to);
            header::append(&mut headers, one, &one.fill(value)?)?;
        }
        let method = reqwest::Method::from_bytes(self.method.name().as_bytes())
            .map_err(|_| type_error("net-not-granted", "the method cannot be sent"))?;
        let mut request = reqwest::Request::new(method, url);
        *request.headers_mut() = headers;
        if let Some(body) = &self.body {
            let value = |name: &str| secrets.value(name, Place::Body, to);
            *request.body_mut() = Some(placeholder::fill(body, self.body_encoding(), value)?.into());
        }
        Ok(request)
    }

    /// Returns whether this request or an earlier one of the chain carries a secret.
    pub(super) fn carries_secret(&self) -> bool {
        self.has_carried_secret || !self.secret_names().is_empty()
    }

    /// Returns the names of the secrets that this request carries.
    pub(super) fn secret_names(&self) -> BTreeSet<String> {
        let query = self.url.query().filter(|_| self.author == Author::Tool);
        let in_query = query.map(|query| placeholder::secret_names(query.as_bytes(), BodyEncoding::UrlEncoded));
        let in_body = self.body.as_ref().map(|body| placeholder::secret_names(body, self.body_encoding()));
        let in_text = in_query.into_iter().chain(in_body).flatten().map(str::to_owned);
        self.headers.iter().flat_map(Header::secret_names).chain(in_text).collect()
    }

    /// Returns the encoding of the body, by its content type.
    fn body_encoding(&self) -> BodyEncoding {
        let of = self.headers.iter().find(|field| field.name == reqwest::header::CONTENT_TYPE);
        let text = of.map(|field| String::from_utf8_lossy(&field.value).to_ascii_lowercase()).unwrap_or_default();
        let essence = text.split(';').next().unwrap_or_default().trim();
        if essence == "application/x-www-form-urlencoded" {
            BodyEncoding::UrlEncoded
        } else if essence == "application/json" || essence == "text/json" || essence.ends_with("+json") {
            BodyEncoding::Json
        } else {
            BodyEncoding::Plain
        }
    }
}

/// Returns a key that is unique to an operation of a run and stable across its retries.
fn idempotency_key(run: &str, id: u32) -> String {
    let hash = blake3::hash(format!("{run}/{id}").as_bytes());
    hash.to_hex().chars().take(KEY_DIGITS).collect()
}
