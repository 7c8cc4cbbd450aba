//! Who may use the pages.
//!
//! ```text
//! link or token → session cookie → each request: host name, cookie → each change: origin, form token
//! ```
//!
//! On one machine, a [one-time link](link) opens the pages in one browser. On a server that several people reach, an [operator](operators)
//! signs in with a token.
//!
//! Invariant: no page, event or change is served without a session, whatever the path; keys are compared as hashes, in constant
//! time. Other web sites cannot ask in the person's name: a change needs the page's own origin and a token that only its forms
//! contain, and a request under another host name (DNS rebinding) is refused first.

mod link;
mod operators;

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue};
use blake3::Hash;

pub(crate) use self::link::{LinkAccess, LinkUse};
pub(crate) use self::operators::OperatorAccess;
pub use self::operators::{Operator, SignIn, SignInRefusal};

/// The names under which the loopback interface may be asked.
const LOOPBACK: [&str; 2] = ["127.0.0.1", "localhost"];
/// The header with which browsers say where a request comes from (W3C Fetch Metadata).
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// The way in.
pub(crate) enum Access {
    /// The browser that opened a one-time link.
    Link(LinkAccess),
    /// People who sign in.
    Operators(OperatorAccess),
}

/// A person with access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    /// The person, as decisions name them.
    pub(crate) person: String,
    /// The caller of the runs that the person starts, whose suspended runs the person may continue.
    pub(crate) caller: String,
    /// The principals whose tools the person decides about. It is empty on a server that has no principals.
    pub(crate) principals: Vec<String>,
    /// The token that the forms of the session contain.
    pub(crate) form_token: String,
}

impl Access {
    /// Returns the session of a request.
    pub(crate) fn session(&self, headers: &HeaderMap) -> Option<Session> {
        match self {
            Self::Link(link) => link.session(headers),
            Self::Operators(operators) => operators.session(headers),
        }
    }

    /// Whether the link was used a second time.
    pub(crate) fn was_link_reused(&self) -> bool {
        matches!(self, Self::Link(link) if link.was_reused())
    }
}

impl Session {
    /// Whether a form contains the token of the session.
    pub(crate) fn is_form_token(&self, token: &str) -> bool {
        hash(token) == hash(&self.form_token)
    }
}

/// Whether a request names a server on a port of the loopback interface as its host.
pub(crate) fn is_loopback_host(headers: &HeaderMap, port: u16) -> bool {
    let mut said = headers.get_all(HOST).iter();
    let (Some(host), None) = (said.next(), said.next()) else { return false };
    let Some(authority) = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()) else { return false };
    let is_plain = !authority.as_str().contains('@');
    is_plain && LOOPBACK.contains(&authority.host()) && authority.port_u16().unwrap_or(80) == port
}

/// Whether a request that changes something comes from a page of its host, which was checked before. `schemes` are those under which
/// browsers reach the server.
pub(crate) fn is_own_origin(headers: &HeaderMap, schemes: &[&str]) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    match headers.get(ORIGIN).map(HeaderValue::to_str) {
        Some(Ok(origin)) => schemes.iter().any(|scheme| origin == format!("{scheme}://{host}")),
        Some(Err(_)) => false,
        None => headers.get(SEC_FETCH_SITE).is_some_and(|site| site == "same-origin"),
    }
}

/// Returns the values of the cookies of a name.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(key, _)| *key == name).map(|(_, value)| value)
}

/// Returns the token of the forms of a session.
fn form_token(key: &[u8; 32], cookie: &Hash) -> String {
    blake3::keyed_hash(key, cookie.as_bytes()).to_hex().to_string()
}

fn hash(text: &str) -> Hash {
    blake3::hash(text.as_bytes())
}

/// Returns 256 random bits as 64 hexadecimal digits.
fn random_text() -> Result<String, getrandom::Error> {
    Ok(Hash::from_bytes(random_key()?).to_hex().to_string())
}

fn random_key() -> Result<[u8; 32], getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the headers of a request.
    pub(super) fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn another_host_name_or_port_is_refused() {
        let is_own = |headers: &HeaderMap| is_loopback_host(headers, 8123);
        for own in ["127.0.0.1:8123", "localhost:8123"] {
            assert!(is_own(&headers(&[("host", own)])), "{own}");
        }
        for other in [
            "evil.example:8123",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:8124",
            "a@127.0.0.1:8123",
            "localhost.evil.example:8123",
            "[::1]:8123",
            "",
        ] {
            assert!(!is_own(&headers(&[("host", other)])), "{other}");
        }
        assert!(!is_own(&headers(&[])));
        let mut twice = headers(&[("host", "127.0.0.1:8123")]);
        twice.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!is_own(&twice));
    }

    #[test]
    fn a_change_needs_the_origin_of_the_page() {
        let from = |more: &[(&'static str, &str)]| {
            let all: Vec<_> = [("host", "127.0.0.1:8123")].into_iter().chain(more.iter().copied()).collect();
            is_own_origin(&headers(&all), &["http"])
        };
        assert!(from(&[("origin", "http://127.0.0.1:8123")]));
        assert!(from(&[("sec-fetch-site", "same-origin")]));
        for other in [
            "null",
            "http://localhost:8123",
            "https://127.0.0.1:8123",
            "http://127.0.0.1:8123.evil.example",
            "http://evil.example",
        ] {
            assert!(!from(&[("origin", other), ("sec-fetch-site", "same-origin")]), "{other}");
        }
        assert!(!from(&[]));
        assert!(!from(&[("sec-fetch-site", "cross-site")]));
        assert!(!from(&[("sec-fetch-site", "same-site")]));
        let behind_a_proxy = headers(&[("host", "tools.example.com"), ("origin", "https://tools.example.com")]);
        assert!(is_own_origin(&behind_a_proxy, &["http", "https"]));
    }
}
