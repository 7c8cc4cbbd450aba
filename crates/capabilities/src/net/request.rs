//! Validation of a tool's request.
//!
//! Invariant: a [`ValidRequest`] has an http or https URL without credentials, a method that can be
//! granted, and only headers that a tool may set.

use toolcell_protocol::{OperationError, Redirect};
use toolcell_tool::{Method, Scheme, SecretLocation as Place};
use url::Url;

use crate::net::error::{self, type_error};
use crate::net::header::{self, Header};
use crate::net::placeholder::{self, BodyEncoding};

/// The maximum length of a URL, in bytes.
const MAX_URL_BYTES: usize = 32 << 10;
/// The methods that a tool may write in lower case (Fetch, "normalize a method").
const NORMALIZED_METHODS: [Method; 6] =
    [Method::Delete, Method::Get, Method::Head, Method::Options, Method::Post, Method::Put];

/// A request as a tool makes it, not validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The URL.
    pub url: String,
    /// The method, such as `GET`.
    pub method: String,
    /// The names and values of the headers. Each character of a value is one byte (Fetch, "byte
    /// sequence").
    pub headers: Vec<(String, String)>,
    /// The handling of redirects.
    pub redirect: Redirect,
    /// The body.
    pub body: Option<Vec<u8>>,
}

/// A validated request.
pub(super) struct ValidRequest {
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) headers: Vec<Header>,
    pub(super) redirect: Redirect,
    pub(super) body: Option<Vec<u8>>,
}

impl ValidRequest {
    pub(super) fn parse(request: Request) -> Result<Self, OperationError> {
        let Request { url, method, headers, redirect, body } = request;
        let url = parse_url(&url)?;
        // A secret in a path would appear in the logs of every server on the way.
        for (part, text) in [("path", url.path()), ("fragment", url.fragment().unwrap_or_default())] {
            if let Some(name) = placeholder::secret_names(text.as_bytes(), BodyEncoding::UrlEncoded).first() {
                let places = [Place::Header, Place::Query, Place::Body].map(Place::name).join(", ");
                let message = format!("the secret `{name}` is in the {part} of a URL; it may only be in: {places}");
                return Err(type_error("secret-misplaced", message));
            }
        }
        let method = parse_method(&method)?;
        if body.is_some() && matches!(method, Method::Get | Method::Head) {
            let message = format!("a {} request has no body; use POST, or leave the body out", method.name());
            return Err(type_error("net-body", message));
        }
        Ok(Self { url, method, headers: header::parse(&headers)?, redirect, body })
    }
}

fn parse_url(text: &str) -> Result<Url, OperationError> {
    let wrong = |why: &str| type_error("net-url", format!("the URL cannot be requested: {why}"));
    if text.len() > MAX_URL_BYTES {
        return Err(wrong(&format!("it has {} bytes, the limit is {MAX_URL_BYTES}", text.len())));
    }
    let url = Url::parse(text).map_err(|error| wrong(&format!("{error}; write it as `https://host/path`")))?;
    check_url(&url).map_err(|why| wrong(&why))?;
    Ok(url)
}

/// Returns why a URL cannot be requested.
pub(super) fn check_url(url: &Url) -> Result<(), String> {
    if Scheme::from_name(url.scheme()).is_none() {
        return Err(format!(
            "its scheme is `{}`; only https and http can be granted",
            error::escape_for_display(url.scheme())
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it contains a user name or a password; send them in an `Authorization` header".to_owned());
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("it has no host".to_owned());
    }
    Ok(())
}

fn parse_method(text: &str) -> Result<Method, OperationError> {
    let normalized = NORMALIZED_METHODS.into_iter().find(|method| method.name().eq_ignore_ascii_case(text));
    normalized.or_else(|| Method::from_name(text)).ok_or_else(|| {
        let names = Method::ALL.map(Method::name).join(", ");
        let message = format!("the method `{}` cannot be granted; use one of {names}", error::escape_for_display(text));
        type_error("net-not-granted", message)
    })
}
