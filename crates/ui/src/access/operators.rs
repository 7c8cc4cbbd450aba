//! People who sign in with a token, each for the principals that they decide for.
//!
//! The token is not kept: a session has a random cookie of its own, which ends with the server, after a time, or when the person signs out.
//! A link to a page, in a message for example, opens it for a person who is signed in: cookies are `SameSite=Lax`, and a page that is asked
//! for changes nothing.
//!
//! Invariant: the number of sessions is bounded, and no session outlives [`SESSION_LIFETIME`].

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, HeaderValue};
use blake3::Hash;

use super::{Session, cookies, form_token, hash, random_key, random_text};

/// How long a session lasts.
const SESSION_LIFETIME: Duration = Duration::from_hours(12);
/// The maximum number of sessions. If there are more, the one that would end first ends.
const MAX_SESSIONS: usize = 1_000;
/// The name of the cookie.
const COOKIE_NAME: &str = "toolcell-operator";

/// A person who decides for principals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// The name, as decisions have it.
    pub name: String,
    /// The principals, at least one.
    pub principals: Vec<String>,
}

/// Why a token opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInRefusal {
    /// It is not the token of an operator.
    Unknown,
    /// Too many wrong tokens came from the address.
    TooManyAttempts {
        /// When the next one is looked at.
        wait: Duration,
    },
}

/// Who may sign in.
pub trait SignIn: Send + Sync + 'static {
    /// Returns the operator of a token, which came from an address.
    ///
    /// # Errors
    /// It is not the token of an operator, or the address sent too many wrong ones.
    fn operator(&self, token: &str, address: IpAddr) -> Result<Operator, SignInRefusal>;
}

/// The operators of a server, and their sessions.
pub(crate) struct OperatorAccess {
    sign_in: Arc<dyn SignIn>,
    sessions: Mutex<HashMap<Hash, (Operator, Instant)>>,
    form_key: [u8; 32],
    /// The path before all others of the pages.
    mount: String,
}

impl OperatorAccess {
    /// Creates the access of operators.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub(crate) fn new(mount: &str, sign_in: Arc<dyn SignIn>) -> Result<Self, getrandom::Error> {
        Ok(Self { sign_in, sessions: Mutex::default(), form_key: random_key()?, mount: mount.to_owned() })
    }

    /// Opens a session, and returns its cookie.
    ///
    /// # Errors
    /// Those of [`SignIn::operator`]; without random numbers no token is known.
    pub(crate) fn open(
        &self,
        token: &str,
        address: IpAddr,
        headers: &HeaderMap,
    ) -> Result<(Operator, HeaderValue), SignInRefusal> {
        let operator = self.sign_in.operator(token, address)?;
        let value = random_text().map_err(|_| SignInRefusal::Unknown)?;
        let cookie = self.cookie(&value, SESSION_LIFETIME, headers).ok_or(SignInRefusal::Unknown)?;
        let mut sessions = self.sessions();
        // The browser forgets the session that it had.
        for earlier in cookies(headers, COOKIE_NAME) {
            sessions.remove(&hash(earlier));
        }
        if sessions.len() >= MAX_SESSIONS {
            let now = Instant::now();
            sessions.retain(|_, (_, end)| *end > now);
            let first = sessions.iter().min_by_key(|(_, (_, end))| *end).map(|(cookie, _)| *cookie);
            if let Some(first) = first.filter(|_| sessions.len() >= MAX_SESSIONS) {
                sessions.remove(&first);
            }
        }
        sessions.insert(hash(&value), (operator.clone(), Instant::now() + SESSION_LIFETIME));
        Ok((operator, cookie))
    }

    /// Ends the session of a request, and returns the cookie that makes the browser forget it.
    pub(crate) fn close(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        for value in cookies(headers, COOKIE_NAME) {
            self.sessions().remove(&hash(value));
        }
        self.cookie("", Duration::ZERO, headers)
    }

    /// Returns the session of a request.
    pub(super) fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let now = Instant::now();
        let sessions = self.sessions();
        cookies(headers, COOKIE_NAME).find_map(|value| {
            let cookie = hash(value);
            let (operator, _) = sessions.get(&cookie).filter(|(_, end)| *end > now)?;
            Some(Session {
                person: operator.name.clone(),
                caller: format!("page {}", operator.name),
                principals: operator.principals.clone(),
                form_token: form_token(&self.form_key, &cookie),
            })
        })
    }

    fn cookie(&self, value: &str, lifetime: Duration, headers: &HeaderMap) -> Option<HeaderValue> {
        // Browsers say in a form's origin whether they reach the server by TLS, which a proxy in front of it may end.
        let is_encrypted = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
        let secure = if is_encrypted { "; Secure" } else { "" };
        let (path, age) = (&self.mount, lifetime.as_secs());
        let cookie = format!("{COOKIE_NAME}={value}; Path={path}/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::from_str(&cookie).ok()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<Hash, (Operator, Instant)>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::headers;
    use super::*;

    struct OneToken;

    impl SignIn for OneToken {
        fn operator(&self, token: &str, _: IpAddr) -> Result<Operator, SignInRefusal> {
            let operator = Operator { name: "maria".to_owned(), principals: vec!["ci".to_owned()] };
            if token == "right" { Ok(operator) } else { Err(SignInRefusal::Unknown) }
        }
    }

    fn access() -> OperatorAccess {
        OperatorAccess::new("/ui", Arc::new(OneToken)).unwrap()
    }

    fn sign_in(access: &OperatorAccess, origin: &str) -> String {
        let opened = access.open("right", IpAddr::from([127, 0, 0, 1]), &headers(&[("origin", origin)]));
        opened.unwrap().1.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_token_opens_a_session_that_ends_when_the_person_signs_out() {
        let access = access();
        let wrong = access.open("wrong", IpAddr::from([127, 0, 0, 1]), &headers(&[]));
        assert_eq!(wrong.unwrap_err(), SignInRefusal::Unknown);
        let cookies = [sign_in(&access, "http://tools.example"), sign_in(&access, "http://tools.example")];
        let [one, other] = cookies.map(|cookie| cookie.split(';').next().unwrap().to_owned());
        let session = |cookie: &str| access.session(&headers(&[("cookie", cookie)]));
        let opened = session(&one).unwrap();
        assert_eq!(
            (&*opened.person, &*opened.caller, &*opened.principals),
            ("maria", "page maria", &["ci".to_owned()][..])
        );
        assert_ne!(opened.form_token, session(&other).unwrap().form_token);
        let forgotten = access.close(&headers(&[("cookie", &one)])).unwrap();
        assert!(forgotten.to_str().unwrap().contains("Max-Age=0"));
        assert_eq!((session(&one), session(&other).is_some()), (None, true));
        assert_eq!(session("toolcell-operator="), None);
    }

    #[test]
    fn a_cookie_that_came_by_tls_stays_with_tls() {
        let access = access();
        assert!(!sign_in(&access, "http://tools.example").contains("Secure"));
        assert!(sign_in(&access, "https://tools.example").ends_with("; HttpOnly; SameSite=Lax; Secure"));
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let access = access();
        let first = sign_in(&access, "http://tools.example");
        for _ in 0..MAX_SESSIONS {
            sign_in(&access, "http://tools.example");
        }
        assert_eq!(access.sessions().len(), MAX_SESSIONS);
        let first = first.split(';').next().unwrap();
        assert_eq!(access.session(&headers(&[("cookie", first)])), None);
    }
}
