//! What a tool asks for.
//!
//! Invariant: an [`Asked`] is something that HTTP can say: a URL of http or https without credentials, a method that can be
//! granted, headers that are the tool's to set.

use serde::{Deserialize, Serialize};
use toolcell_tool::{Into as Place, Method, Scheme};
use url::Url;

use crate::failure::Failure;
use crate::net::fault::{self, type_error};
use crate::net::field::{self, Field};
use crate::net::placeholder::{self, Writing};

/// The longest URL, in bytes.
const URL_BYTES: usize = 32 << 10;
/// The methods that a tool may write in lower case (Fetch, "normalize a method").
const NORMALIZED: [Method; 6] = [Method::Delete, Method::Get, Method::Head, Method::Options, Method::Post, Method::Put];

/// A request as a tool makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Where to.
    pub url: String,
    /// What is to be done, such as `GET`.
    pub method: String,
    /// Names and values of headers; each character of a value is one byte (Fetch, "byte sequence").
    pub headers: Vec<(String, String)>,
    /// What is done when the answer leads elsewhere.
    pub redirect: Redirect,
    /// The body.
    pub body: Option<Vec<u8>>,
}

/// What is done when an answer leads elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Redirect {
    /// It is followed, 20 times at most.
    #[default]
    Follow,
    /// The request fails.
    Error,
    /// The tool gets that answer.
    Manual,
}

/// A request that can be made.
pub(super) struct Asked {
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) fields: Vec<Field>,
    pub(super) redirect: Redirect,
    pub(super) body: Option<Vec<u8>>,
}

impl Asked {
    pub(super) fn parse(request: Request) -> Result<Self, Failure> {
        let Request { url, method, headers, redirect, body } = request;
        let url = parse_url(&url)?;
        // A secret in a path would be in the logs of every server on the way.
        for (part, text) in [("path", url.path()), ("fragment", url.fragment().unwrap_or_default())] {
            if let Some(name) = placeholder::names(text.as_bytes(), Writing::Encoded).first() {
                let places = [Place::Header, Place::Query, Place::Body].map(Place::name).join(", ");
                let message = format!("the secret `{name}` stands in the {part} of a URL; it may stand in: {places}");
                return Err(type_error("secret-misplaced", message));
            }
        }
        let method = parse_method(&method)?;
        if body.is_some() && matches!(method, Method::Get | Method::Head) {
            let message = format!("a request by {} has no body; send it by POST, or leave it out", method.name());
            return Err(type_error("net-body", message));
        }
        Ok(Self { url, method, fields: field::parse(&headers)?, redirect, body })
    }
}

fn parse_url(text: &str) -> Result<Url, Failure> {
    let wrong = |why: &str| type_error("net-url", format!("the URL cannot be asked for: {why}"));
    if text.len() > URL_BYTES {
        return Err(wrong(&format!("it has {} bytes, the limit is {URL_BYTES}", text.len())));
    }
    let url = Url::parse(text).map_err(|error| wrong(&format!("{error}; write it as `https://host/path`")))?;
    check_url(&url).map_err(|why| wrong(&why))?;
    Ok(url)
}

/// Why a URL cannot be asked for.
pub(super) fn check_url(url: &Url) -> Result<(), String> {
    if Scheme::named(url.scheme()).is_none() {
        return Err(format!("its scheme is `{}`; only https and http can be granted", fault::shown(url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a user or a password in it; send them in an `Authorization` header".to_owned());
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("it has no host".to_owned());
    }
    Ok(())
}

fn parse_method(text: &str) -> Result<Method, Failure> {
    let normalized = NORMALIZED.into_iter().find(|method| method.name().eq_ignore_ascii_case(text));
    normalized.or_else(|| Method::named(text)).ok_or_else(|| {
        let names = Method::ALL.map(Method::name).join(", ");
        let message = format!("the method `{}` cannot be granted; use one of {names}", fault::shown(text));
        type_error("net-not-granted", message)
    })
}
