//! The headers of a request.
//!
//! Invariant: only the library sets the headers that frame a request or select its host. No header
//! makes a server use another method or path than the ones that were authorized.

use data_encoding::BASE64;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use toolcell_protocol::OperationError;

use crate::net::error::{escape_for_display, type_error};
use crate::net::placeholder::{self, BodyEncoding};

/// The maximum number of headers of a request, and their maximum total size in bytes.
const MAX_HEADERS: usize = 256;
const MAX_HEADERS_BYTES: usize = 64 << 10;

/// Headers that a tool cannot set. They are dropped silently, as in Fetch. `accept-encoding` is
/// among them, because a body in an unsupported coding could not be searched for secrets.
const IGNORED: [&str; 11] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that make some servers use another method or path than the request line says.
const OVERRIDES: [&str; 5] =
    ["x-http-method", "x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url"];

/// Headers with a meaning for the host or for this crate. A different spelling that some servers
/// would read as one of them is rejected.
const EXACT_SPELLING: [&str; 8] = [
    "authorization",
    "content-encoding",
    "content-type",
    "cookie",
    "idempotency-key",
    "if-range",
    "range",
    "user-agent",
];

/// Headers that request a part of a resource.
const RANGE_HEADERS: [&str; 2] = ["if-range", "range"];

const BASIC: &[u8] = b"Basic ";

/// A header as the tool wrote it.
#[derive(Clone)]
pub(super) struct Header {
    pub(super) name: HeaderName,
    pub(super) value: Vec<u8>,
}

impl Header {
    /// Returns the names of the secrets in its placeholders.
    pub(super) fn secret_names(&self) -> Vec<String> {
        let credentials = self.credentials();
        let text = credentials.as_deref().unwrap_or(&self.value);
        placeholder::secret_names(text, BodyEncoding::Plain).into_iter().map(str::to_owned).collect()
    }

    /// Returns the value with the placeholders replaced by secrets.
    pub(super) fn fill<'v>(
        &self,
        value: impl FnMut(&str) -> Result<&'v str, OperationError>,
    ) -> Result<Vec<u8>, OperationError> {
        match self.credentials() {
            None => placeholder::fill(&self.value, BodyEncoding::Plain, value),
            Some(credentials) => {
                let filled = placeholder::fill(&credentials, BodyEncoding::Plain, value)?;
                Ok([BASIC, BASE64.encode(&filled).as_bytes()].concat())
            }
        }
    }

    /// Returns the decoded credentials of a Basic `Authorization` header (RFC 7617), if they
    /// contain placeholders.
    fn credentials(&self) -> Option<Vec<u8>> {
        let (scheme, packed) = self.value.split_at_checked(BASIC.len())?;
        let basic = self.name == AUTHORIZATION && scheme.eq_ignore_ascii_case(BASIC);
        let unpacked = basic.then(|| BASE64.decode(packed.trim_ascii()).ok()).flatten()?;
        (!placeholder::secret_names(&unpacked, BodyEncoding::Plain).is_empty()).then_some(unpacked)
    }
}

/// Rejects range requests to a host to which some tool may send a secret: a secret that is returned
/// in parts would not be recognized.
pub(super) fn reject_range_headers(fields: &[Header], origin: &str) -> Result<(), OperationError> {
    let Some(field) = fields.iter().find(|field| RANGE_HEADERS.contains(&field.name.as_str())) else { return Ok(()) };
    let message = format!(
        "the header `{}` cannot be sent to {origin}: a tool may send a secret there, and partial responses are not \
         searched for it; request the whole",
        field.name
    );
    Err(type_error("net-range", message))
}

/// Returns the name as CGI and WSGI read it, where `-` and `_` are the same.
fn cgi_name(name: &str) -> String {
    name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect()
}

/// Parses the headers of a tool's request and drops those that it cannot set.
pub(super) fn parse(headers: &[(String, String)]) -> Result<Vec<Header>, OperationError> {
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if headers.len() > MAX_HEADERS || bytes > MAX_HEADERS_BYTES {
        let have = format!("{} headers with {bytes} bytes", headers.len());
        return Err(type_error(
            "net-header",
            format!("a request has {have}, the limits are {MAX_HEADERS} and {MAX_HEADERS_BYTES}"),
        ));
    }
    let parsed = headers.iter().map(|(name, value)| parse_one(name, value));
    let fields: Vec<Header> = parsed.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    for (at, field) in fields.iter().enumerate() {
        let name = cgi_name(field.name.as_str());
        let twin = |other: &&Header| other.name != field.name && cgi_name(other.name.as_str()) == name;
        if let Some(twin) = fields[..at].iter().find(twin) {
            let message = format!(
                "the headers `{}` and `{}` cannot be sent together: some servers read them as one; keep one of them",
                twin.name, field.name
            );
            return Err(type_error("net-header", message));
        }
    }
    Ok(fields)
}

fn parse_one(name: &str, value: &str) -> Result<Option<Header>, OperationError> {
    let wrong = |why: &str| {
        type_error("net-header", format!("the header `{}` cannot be sent: {why}", escape_for_display(name)))
    };
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("its name is invalid"))?;
    if IGNORED.contains(&parsed.as_str()) || parsed.as_str().starts_with("proxy-") {
        return Ok(None);
    }
    let name = cgi_name(parsed.as_str());
    let is_ours = |name: &str| IGNORED.contains(&name) || EXACT_SPELLING.contains(&name) || name.starts_with("proxy-");
    if name != parsed.as_str() && is_ours(&name) {
        return Err(wrong(&format!("some servers read it as `{name}`; write it with `-`, or use another name")));
    }
    if OVERRIDES.contains(&name.as_str()) {
        return Err(wrong("it can make a server do what is not granted; set the method and the path directly"));
    }
    let value = value.trim_matches([' ', '\t', '\n', '\r']);
    let bytes: Option<Vec<u8>> = value.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect();
    let value = bytes.ok_or_else(|| wrong("its value has a character outside Latin-1; encode it"))?;
    if HeaderValue::from_bytes(&value).is_err() {
        return Err(wrong("its value has a line break or another control character; encode it"));
    }
    Ok(Some(Header { name: parsed, value }))
}

/// Appends a header whose placeholders were replaced.
pub(super) fn append(to: &mut HeaderMap, field: &Header, filled: &[u8]) -> Result<(), OperationError> {
    let wrong = || type_error("net-header", format!("the header `{}` cannot be sent; encode its value", field.name));
    let mut value = HeaderValue::from_bytes(filled).map_err(|_| wrong())?;
    value.set_sensitive(filled != field.value || field.name == AUTHORIZATION);
    to.try_append(field.name.clone(), value).map_err(|_| wrong())?;
    Ok(())
}
