//! Who may use the page: the browser that opened the one-time link.
//!
//! ```text
//! link, once → session cookie and secret path → each request: host name, path, cookie → each change: origin, form token
//! ```
//!
//! The link's key is spent by its first use. A second use is refused, and reported on the pages of the first: one of the two was not
//! the person who was given the link.
//!
//! Cookies do not distinguish ports, so any other server on this machine would receive one for `/`. This one is for a path that only the
//! browser that opened the link knows.
//!
//! Invariant: no page, event or change is served without the session, whatever the path; keys are compared as hashes, in constant
//! time. Other web sites cannot ask in the person's name: the cookie is `SameSite=Strict`, a change needs the page's own origin and a
//! token that only its forms contain, and a request under another host name (DNS rebinding) is refused first.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue};
use blake3::Hash;

/// The names under which the loopback interface may be asked.
const LOOPBACK: [&str; 2] = ["127.0.0.1", "localhost"];
/// The header with which browsers say where a request comes from (W3C Fetch Metadata).
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// The way in.
pub(crate) struct Access {
    bound: SocketAddr,
    link: Hash,
    session: OnceLock<Session>,
    was_reused: AtomicBool,
    form_key: [u8; 32],
    /// The path below which all pages are, with a slash at both ends.
    base: String,
}

/// The browser that opened the link.
struct Session {
    /// The cookie that opens the pages.
    cookie: Hash,
    /// The cookie by which the link knows that browser again. It opens nothing.
    opener: Hash,
}

/// What became of the use of a link.
pub(crate) enum LinkUse {
    /// The cookies of the browser.
    Opened([HeaderValue; 2]),
    /// The same browser used the link before.
    OpenedBefore,
    /// Another browser used the link before.
    Spent,
    /// There is no such link.
    Unknown,
}

impl Access {
    /// Creates a way in, and returns it with the key of its link.
    pub(crate) fn new(bound: SocketAddr) -> Result<(Self, String), getrandom::Error> {
        let key = random_text()?;
        let mut form_key = [0; 32];
        getrandom::fill(&mut form_key)?;
        let (link, session, was_reused) = (hash(&key), OnceLock::new(), AtomicBool::new(false));
        let base = format!("/{}/", &random_text()?[..32]);
        Ok((Self { bound, link, session, was_reused, form_key, base }, key))
    }

    /// Uses the link. The browser that opened it may follow it again.
    pub(crate) fn open(&self, key: &str, headers: &HeaderMap) -> LinkUse {
        if hash(key) != self.link {
            return LinkUse::Unknown;
        }
        if self.session.get().is_some_and(|session| Self::has_cookie(headers, &self.opener_name(), session.opener)) {
            return LinkUse::OpenedBefore;
        }
        let (Ok(session), Ok(opener)) = (random_text(), random_text()) else { return LinkUse::Unknown };
        if self.session.set(Session { cookie: hash(&session), opener: hash(&opener) }).is_err() {
            self.was_reused.store(true, Ordering::Relaxed);
            return LinkUse::Spent;
        }
        let cookie = |name: &str, value: &str, path: &str| {
            HeaderValue::from_str(&format!("{name}={value}; Path={path}; HttpOnly; SameSite=Strict"))
        };
        let session = cookie(&self.cookie_name(), &session, &self.base);
        match (session, cookie(&self.opener_name(), &opener, "/open")) {
            (Ok(session), Ok(opener)) => LinkUse::Opened([session, opener]),
            _ => LinkUse::Unknown,
        }
    }

    /// Returns the path below which all pages are.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Whether the link was used a second time.
    pub(crate) fn was_link_reused(&self) -> bool {
        self.was_reused.load(Ordering::Relaxed)
    }

    /// Whether the request carries the session.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        self.session.get().is_some_and(|session| Self::has_cookie(headers, &self.cookie_name(), session.cookie))
    }

    fn has_cookie(headers: &HeaderMap, name: &str, expected: Hash) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().any(|(key, value)| key == name && hash(value) == expected)
    }

    /// Whether the request names this server as its host.
    pub(crate) fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let mut said = headers.get_all(HOST).iter();
        let (Some(host), None) = (said.next(), said.next()) else { return false };
        let Some(authority) = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()) else { return false };
        let is_plain = !authority.as_str().contains('@');
        is_plain && LOOPBACK.contains(&authority.host()) && authority.port_u16().unwrap_or(80) == self.bound.port()
    }

    /// Whether a request that changes something comes from a page of this server.
    pub(crate) fn is_own_origin(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).filter(|_| self.is_own_host(headers));
        let Some(host) = host else { return false };
        match headers.get(ORIGIN).map(HeaderValue::to_str) {
            Some(Ok(origin)) => origin == format!("http://{host}"),
            Some(Err(_)) => false,
            None => headers.get(SEC_FETCH_SITE).is_some_and(|site| site == "same-origin"),
        }
    }

    /// The token that the forms of the session contain.
    pub(crate) fn form_token(&self) -> String {
        let session = self.session.get().map_or([0; 32], |session| *session.cookie.as_bytes());
        blake3::keyed_hash(&self.form_key, &session).to_hex().to_string()
    }

    /// Whether a form contains its token.
    pub(crate) fn is_form_token(&self, token: &str) -> bool {
        self.session.get().is_some() && hash(token) == hash(&self.form_token())
    }

    /// Returns the name of the cookie by which the link knows its browser.
    fn opener_name(&self) -> String {
        format!("toolcell-ui-{}-opener", self.bound.port())
    }

    /// Returns the name of the cookie. Two servers do not overwrite each other's.
    fn cookie_name(&self) -> String {
        format!("toolcell-ui-{}", self.bound.port())
    }
}

fn hash(text: &str) -> Hash {
    blake3::hash(text.as_bytes())
}

/// Returns 256 random bits as 64 hexadecimal digits.
fn random_text() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(Hash::from_bytes(bytes).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> (Access, String) {
        Access::new(SocketAddr::from(([127, 0, 0, 1], 8123))).unwrap()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn open(access: &Access, key: &str) -> String {
        let LinkUse::Opened([cookie, _]) = access.open(key, &headers(&[])) else { panic!("the link opens") };
        cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
    }

    #[test]
    fn a_link_opens_once_and_its_second_use_is_noticed() {
        let (access, key) = access();
        assert!(matches!(access.open("0000", &headers(&[])), LinkUse::Unknown));
        let LinkUse::Opened(cookies) = access.open(&key, &headers(&[])) else { panic!("the link opens") };
        let [cookie, opener] = cookies.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap().to_owned());
        assert!(access.has_session(&headers(&[("cookie", &format!("a=b; {cookie}"))])));
        assert!(!access.has_session(&headers(&[("cookie", &opener)])));
        assert!(matches!(access.open(&key, &headers(&[("cookie", &opener)])), LinkUse::OpenedBefore));
        assert!(!access.was_link_reused());
        assert!(matches!(access.open(&key, &headers(&[("cookie", &cookie)])), LinkUse::Spent));
        assert!(access.was_link_reused());
    }

    #[test]
    fn a_request_without_the_cookie_has_no_session() {
        let (access, key) = access();
        assert!(!access.has_session(&headers(&[("cookie", "toolcell-ui-8123=")])));
        let cookie = open(&access, &key);
        for other in ["", "toolcell-ui-8123=", "toolcell-ui-8123=00", &cookie.replace("8123", "8124"), &cookie[..40]] {
            assert!(!access.has_session(&headers(&[("cookie", other)])), "{other}");
        }
        assert!(!access.has_session(&headers(&[])));
    }

    #[test]
    fn another_host_name_or_port_is_refused() {
        let (access, _) = access();
        for own in ["127.0.0.1:8123", "localhost:8123"] {
            assert!(access.is_own_host(&headers(&[("host", own)])), "{own}");
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
            assert!(!access.is_own_host(&headers(&[("host", other)])), "{other}");
        }
        assert!(!access.is_own_host(&headers(&[])));
        let mut twice = headers(&[("host", "127.0.0.1:8123")]);
        twice.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!access.is_own_host(&twice));
    }

    #[test]
    fn a_change_needs_the_origin_of_the_page() {
        let (access, _) = access();
        let from = |more: &[(&'static str, &str)]| {
            let all: Vec<_> = [("host", "127.0.0.1:8123")].into_iter().chain(more.iter().copied()).collect();
            access.is_own_origin(&headers(&all))
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
    }

    #[test]
    fn a_form_token_belongs_to_one_session() {
        let ((one, one_key), (other, other_key)) = (access(), access());
        assert!(!one.is_form_token(&one.form_token()));
        open(&one, &one_key);
        open(&other, &other_key);
        assert!(one.is_form_token(&one.form_token()));
        assert!(!one.is_form_token(&other.form_token()));
        assert!(!one.is_form_token(""));
    }
}
