//! The one-time link, which opens the pages in one browser.
//!
//! The link's key is spent by its first use. A second use is refused, and reported on the pages of the first: one of the two was not
//! the person who was given the link.
//!
//! Cookies do not distinguish ports, so any other server on this machine would receive one for `/`. This one is for a path that only the
//! browser that opened the link knows.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::{HeaderMap, HeaderValue};
use blake3::Hash;

use super::{Session, cookies, form_token, hash, random_key, random_text};

/// A one-time link, and the browser that opened it.
pub(crate) struct LinkAccess {
    link: Hash,
    browser: OnceLock<Browser>,
    was_reused: AtomicBool,
    form_key: [u8; 32],
    /// The path before all others of the server.
    mount: String,
    /// The name of the folder below which all pages are.
    folder: String,
    person: String,
    caller: String,
}

/// The browser that opened the link.
struct Browser {
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

impl LinkAccess {
    /// Creates a link for a person, and returns it with its key.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub(crate) fn new(mount: &str, person: String, caller: String) -> Result<(Self, String), getrandom::Error> {
        let (key, folder) = (random_text()?, random_text()?[..32].to_owned());
        let access = Self {
            link: hash(&key),
            browser: OnceLock::new(),
            was_reused: AtomicBool::new(false),
            form_key: random_key()?,
            mount: mount.to_owned(),
            folder,
            person,
            caller,
        };
        Ok((access, key))
    }

    /// Returns the name of the folder below which all pages are, which is secret.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// Whether the link was used a second time.
    pub(super) fn was_reused(&self) -> bool {
        self.was_reused.load(Ordering::Relaxed)
    }

    /// Uses the link. The browser that opened it may follow it again.
    pub(crate) fn open(&self, key: &str, headers: &HeaderMap) -> LinkUse {
        if hash(key) != self.link {
            return LinkUse::Unknown;
        }
        if self.browser.get().is_some_and(|browser| has_cookie(headers, &self.opener_name(), browser.opener)) {
            return LinkUse::OpenedBefore;
        }
        let (Ok(session), Ok(opener)) = (random_text(), random_text()) else { return LinkUse::Unknown };
        if self.browser.set(Browser { cookie: hash(&session), opener: hash(&opener) }).is_err() {
            self.was_reused.store(true, Ordering::Relaxed);
            return LinkUse::Spent;
        }
        let cookie = |name: &str, value: &str, path: &str| {
            HeaderValue::from_str(&format!("{name}={value}; Path={}{path}; HttpOnly; SameSite=Strict", self.mount))
        };
        let session = cookie(&self.cookie_name(), &session, &format!("/{}/", self.folder));
        match (session, cookie(&self.opener_name(), &opener, "/open")) {
            (Ok(session), Ok(opener)) => LinkUse::Opened([session, opener]),
            _ => LinkUse::Unknown,
        }
    }

    /// Returns the session of a request.
    pub(super) fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let browser = self.browser.get().filter(|browser| has_cookie(headers, &self.cookie_name(), browser.cookie))?;
        Some(Session {
            person: self.person.clone(),
            caller: self.caller.clone(),
            principals: Vec::new(),
            form_token: form_token(&self.form_key, &browser.cookie),
        })
    }

    /// Returns the name of the cookie. Two servers do not overwrite each other's.
    fn cookie_name(&self) -> String {
        format!("toolcell-ui-{}", &self.folder[..8])
    }

    /// Returns the name of the cookie by which the link knows its browser.
    fn opener_name(&self) -> String {
        format!("{}-opener", self.cookie_name())
    }
}

fn has_cookie(headers: &HeaderMap, name: &str, expected: Hash) -> bool {
    cookies(headers, name).any(|value| hash(value) == expected)
}

#[cfg(test)]
mod tests {
    use super::super::tests::headers;
    use super::*;

    fn access() -> (LinkAccess, String) {
        LinkAccess::new("", "ada".to_owned(), "cli".to_owned()).unwrap()
    }

    fn open(access: &LinkAccess, key: &str) -> String {
        let LinkUse::Opened([cookie, _]) = access.open(key, &headers(&[])) else { panic!("the link opens") };
        cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
    }

    #[test]
    fn a_link_opens_once_and_its_second_use_is_noticed() {
        let (access, key) = access();
        assert!(matches!(access.open("0000", &headers(&[])), LinkUse::Unknown));
        let LinkUse::Opened(cookies) = access.open(&key, &headers(&[])) else { panic!("the link opens") };
        let [cookie, opener] = cookies.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap().to_owned());
        let session = access.session(&headers(&[("cookie", &format!("a=b; {cookie}"))])).unwrap();
        assert_eq!((&*session.person, &*session.caller), ("ada", "cli"));
        assert_eq!(access.session(&headers(&[("cookie", &opener)])), None);
        assert!(matches!(access.open(&key, &headers(&[("cookie", &opener)])), LinkUse::OpenedBefore));
        assert!(!access.was_reused());
        assert!(matches!(access.open(&key, &headers(&[("cookie", &cookie)])), LinkUse::Spent));
        assert!(access.was_reused());
    }

    #[test]
    fn a_request_without_the_cookie_has_no_session() {
        let (access, key) = access();
        let name = access.cookie_name();
        let cookie = open(&access, &key);
        for other in ["", &format!("{name}="), &format!("{name}=00"), &cookie.replace("ui-", "ui-0"), &cookie[..40]] {
            assert_eq!(access.session(&headers(&[("cookie", other)])), None, "{other}");
        }
        assert_eq!(access.session(&headers(&[])), None);
    }

    #[test]
    fn a_form_token_belongs_to_one_session() {
        let [one, other] = [access(), access()].map(|(access, key)| {
            let cookie = open(&access, &key);
            access.session(&headers(&[("cookie", &cookie)])).unwrap()
        });
        assert!(one.is_form_token(&one.form_token));
        assert!(!one.is_form_token(&other.form_token));
        assert!(!one.is_form_token(""));
    }
}
