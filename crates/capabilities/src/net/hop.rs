//! One request of the chain that redirects make.
//!
//! Invariant: placeholders count in what the tool wrote alone. A URL that came from a server is sent as it came.

use reqwest::header::HeaderMap;
use toolcell_tool::{Into as Place, Method};
use url::Url;

use crate::failure::Failure;
use crate::net::fault::type_error;
use crate::net::field::{self, Field};
use crate::net::placeholder::{self, Writing};
use crate::net::request::Asked;
use crate::net::secret::{Destination, Secrets};

/// What says that two requests are one (draft-ietf-httpapi-idempotency-key-header).
const KEY: &str = "idempotency-key";
const KEY_DIGITS: usize = 32;

/// Who wrote a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    Tool,
    Server,
}

/// A request, with placeholders where secrets will be.
pub(super) struct Hop {
    pub(super) url: Url,
    pub(super) author: Author,
    pub(super) method: Method,
    pub(super) fields: Vec<Field>,
    pub(super) body: Option<Vec<u8>>,
    /// Whether a redirect led here from https to http.
    pub(super) laid_open: bool,
    /// Whether an earlier request of the chain carried a secret.
    pub(super) carried: bool,
}

impl Hop {
    /// The first request.
    pub(super) fn first(asked: Asked, run: &str, id: u32) -> Self {
        let Asked { url, method, mut fields, body, .. } = asked;
        let writes = matches!(method, Method::Post | Method::Put | Method::Patch | Method::Delete);
        if writes && !fields.iter().any(|field| field.name == KEY) {
            let name = reqwest::header::HeaderName::from_static(KEY);
            fields.push(Field { name, value: idempotency_key(run, id).into_bytes() });
        }
        Self { url, author: Author::Tool, method, fields, body, laid_open: false, carried: false }
    }

    /// Where it goes.
    pub(super) fn destination(&self) -> Destination<'_> {
        Destination { host: self.url.host_str().unwrap_or_default(), laid_open: self.laid_open }
    }

    /// The request with the values of secrets in it.
    pub(super) fn fill(&self, secrets: &Secrets) -> Result<reqwest::Request, Failure> {
        let to = self.destination();
        let mut url = self.url.clone();
        url.set_fragment(None);
        if self.author == Author::Tool
            && let Some(query) = self.url.query()
        {
            let value = |name: &str| secrets.value(name, Place::Query, to);
            let filled = placeholder::fill(query.as_bytes(), Writing::Encoded, value)?;
            // Only text of a URL was put into text of a URL.
            url.set_query(Some(&String::from_utf8_lossy(&filled)));
        }
        let mut headers = HeaderMap::new();
        for one in &self.fields {
            let value = |name: &str| secrets.value(name, Place::Header, to);
            field::add(&mut headers, one, &one.fill(value)?)?;
        }
        let method = reqwest::Method::from_bytes(self.method.name().as_bytes())
            .map_err(|_| type_error("net-not-granted", "the method cannot be sent"))?;
        let mut request = reqwest::Request::new(method, url);
        *request.headers_mut() = headers;
        if let Some(body) = &self.body {
            let value = |name: &str| secrets.value(name, Place::Body, to);
            *request.body_mut() = Some(placeholder::fill(body, self.writing(), value)?.into());
        }
        Ok(request)
    }

    /// Whether it carries a secret, or an earlier request of the chain did.
    pub(super) fn carries_secret(&self) -> bool {
        let in_query = || {
            let query = self.url.query().filter(|_| self.author == Author::Tool);
            query.is_some_and(|query| !placeholder::names(query.as_bytes(), Writing::Encoded).is_empty())
        };
        let in_body = || self.body.as_ref().is_some_and(|body| !placeholder::names(body, self.writing()).is_empty());
        self.carried || self.fields.iter().any(|field| !field.secrets().is_empty()) || in_query() || in_body()
    }

    /// How the body is written, by its type.
    fn writing(&self) -> Writing {
        let of = self.fields.iter().find(|field| field.name == reqwest::header::CONTENT_TYPE);
        let text = of.map(|field| String::from_utf8_lossy(&field.value).to_ascii_lowercase()).unwrap_or_default();
        let essence = text.split(';').next().unwrap_or_default().trim();
        if essence == "application/x-www-form-urlencoded" {
            Writing::Encoded
        } else if essence == "application/json" || essence == "text/json" || essence.ends_with("+json") {
            Writing::Json
        } else {
            Writing::Plain
        }
    }
}

/// The same for the same operation of the same run, and for no other.
fn idempotency_key(run: &str, id: u32) -> String {
    let hash = blake3::hash(format!("{run}/{id}").as_bytes());
    hash.to_hex().chars().take(KEY_DIGITS).collect()
}
