//! The headers of a request.
//!
//! Invariant: what frames a request or chooses its host is the library's to say. No header makes a server do another method,
//! or look at another path, than what is held against the grants.

use data_encoding::BASE64;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::failure::Failure;
use crate::net::fault::{shown, type_error};
use crate::net::placeholder::{self, Writing};

/// The most headers of a request, and the most bytes of them.
const COUNT: usize = 256;
const BYTES: usize = 64 << 10;

/// Headers that a tool does not set: they are left out without a word, as Fetch does. What a server packs in a way that is
/// not unpacked here would not be searched for secrets, so a tool does not ask for that either.
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

/// Headers by which some servers take another method or another path for the one that was asked for.
const OVERRIDES: [&str; 5] =
    ["x-http-method", "x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url"];

/// Headers that mean something to the host or to us. Another name that some servers read as one of these is refused.
const SPELLED: [&str; 8] = [
    "authorization",
    "content-encoding",
    "content-type",
    "cookie",
    "idempotency-key",
    "if-range",
    "range",
    "user-agent",
];

/// Headers that ask for a part of something.
const PARTIAL: [&str; 2] = ["if-range", "range"];

const BASIC: &[u8] = b"Basic ";

/// A header as the tool wrote it.
#[derive(Clone)]
pub(super) struct Field {
    pub(super) name: HeaderName,
    pub(super) value: Vec<u8>,
}

impl Field {
    /// The names of the secrets that are to be put into it.
    pub(super) fn secrets(&self) -> Vec<String> {
        let credentials = self.credentials();
        let text = credentials.as_deref().unwrap_or(&self.value);
        placeholder::names(text, Writing::Plain).into_iter().map(str::to_owned).collect()
    }

    /// Its value with secrets in it.
    pub(super) fn fill<'v>(&self, value: impl FnMut(&str) -> Result<&'v str, Failure>) -> Result<Vec<u8>, Failure> {
        match self.credentials() {
            None => placeholder::fill(&self.value, Writing::Plain, value),
            Some(credentials) => {
                let filled = placeholder::fill(&credentials, Writing::Plain, value)?;
                Ok([BASIC, BASE64.encode(&filled).as_bytes()].concat())
            }
        }
    }

    /// A user and a password, which a tool has packed before it hands them over (RFC 7617), if there is a secret in them.
    fn credentials(&self) -> Option<Vec<u8>> {
        let (scheme, packed) = self.value.split_at_checked(BASIC.len())?;
        let basic = self.name == AUTHORIZATION && scheme.eq_ignore_ascii_case(BASIC);
        let unpacked = basic.then(|| BASE64.decode(packed.trim_ascii()).ok()).flatten()?;
        (!placeholder::names(&unpacked, Writing::Plain).is_empty()).then_some(unpacked)
    }
}

/// Refuses headers that ask for a part of something, from a host to which some tool may send a secret: a value that comes in
/// parts is not recognised.
pub(super) fn must_be_whole(fields: &[Field], origin: &str) -> Result<(), Failure> {
    let Some(field) = fields.iter().find(|field| PARTIAL.contains(&field.name.as_str())) else { return Ok(()) };
    let message = format!(
        "the header `{}` cannot be sent to {origin}: a tool may send a secret there, and parts of answers are not searched for \
         it; ask for the whole",
        field.name
    );
    Err(type_error("net-range", message))
}

/// The name as CGI and WSGI read it, where `-` and `_` are one.
fn folded(name: &str) -> String {
    name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect()
}

/// The headers that are a tool's to set.
pub(super) fn parse(headers: &[(String, String)]) -> Result<Vec<Field>, Failure> {
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if headers.len() > COUNT || bytes > BYTES {
        let have = format!("{} headers with {bytes} bytes", headers.len());
        return Err(type_error("net-header", format!("a request has {have}, the limits are {COUNT} and {BYTES}")));
    }
    let parsed = headers.iter().map(|(name, value)| parse_one(name, value));
    let fields: Vec<Field> = parsed.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    for (at, field) in fields.iter().enumerate() {
        let name = folded(field.name.as_str());
        let twin = |other: &&Field| other.name != field.name && folded(other.name.as_str()) == name;
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

fn parse_one(name: &str, value: &str) -> Result<Option<Field>, Failure> {
    let wrong = |why: &str| type_error("net-header", format!("the header `{}` cannot be sent: {why}", shown(name)));
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("that is no name of a header"))?;
    if IGNORED.contains(&parsed.as_str()) || parsed.as_str().starts_with("proxy-") {
        return Ok(None);
    }
    let name = folded(parsed.as_str());
    let is_ours = |name: &str| IGNORED.contains(&name) || SPELLED.contains(&name) || name.starts_with("proxy-");
    if name != parsed.as_str() && is_ours(&name) {
        return Err(wrong(&format!("some servers read it as `{name}`; write it with `-`, or take another name")));
    }
    if OVERRIDES.contains(&name.as_str()) {
        return Err(wrong("a server may do by it what is not granted; say the method and the path themselves"));
    }
    let value = value.trim_matches([' ', '\t', '\n', '\r']);
    let bytes: Option<Vec<u8>> = value.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect();
    let value = bytes.ok_or_else(|| wrong("it has a character in it that is no byte; encode it"))?;
    if HeaderValue::from_bytes(&value).is_err() {
        return Err(wrong("it has a line break or another control character in it; encode it"));
    }
    Ok(Some(Field { name: parsed, value }))
}

/// A header with its secrets put in, added to others.
pub(super) fn add(to: &mut HeaderMap, field: &Field, filled: &[u8]) -> Result<(), Failure> {
    let wrong = || type_error("net-header", format!("the header `{}` cannot be sent; encode its value", field.name));
    let mut value = HeaderValue::from_bytes(filled).map_err(|_| wrong())?;
    value.set_sensitive(filled != field.value || field.name == AUTHORIZATION);
    to.try_append(field.name.clone(), value).map_err(|_| wrong())?;
    Ok(())
}
