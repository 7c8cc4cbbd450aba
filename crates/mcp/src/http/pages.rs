//! Pages of other origins that may call, as browsers want to be told (CORS, the Fetch standard, 3.2).
//!
//! Invariant: only origins that the config names are told anything; the library refuses a request of any other one.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use hyper::{Method, StatusCode};

/// What a page may do.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// What a page may read of an answer.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("mcp-session-id, mcp-protocol-version, retry-after, www-authenticate");
/// How long a browser may remember it, in seconds.
const LASTS: HeaderValue = HeaderValue::from_static("600");

/// The origins whose pages may call.
pub(super) struct Pages(Vec<String>);

/// What the browser is told beside an answer.
pub(super) struct Told {
    origin: HeaderValue,
    kind: Kind,
}

/// What a browser sends for a page.
enum Kind {
    /// What the page asks for.
    Request,
    /// Whether the page may, with these headers.
    Question(HeaderMap),
}

impl Pages {
    pub(super) fn of(origins: &[String]) -> Self {
        Self(origins.iter().map(|origin| origin.to_ascii_lowercase()).collect())
    }

    /// What the browser of a page is told; nothing where there is none, or where it may not call.
    pub(super) fn told(&self, method: &Method, headers: &HeaderMap) -> Option<Told> {
        let origin = headers.get(ORIGIN)?;
        let said = origin.to_str().ok()?.to_ascii_lowercase();
        if !self.0.iter().any(|allowed| fits(allowed, &said)) {
            return None;
        }
        let is_question = *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let asked = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
        // A token is what decides, and not which header it is in.
        let may = asked.map(|asked| (ACCESS_CONTROL_ALLOW_HEADERS, asked));
        let kind = if is_question { Kind::Question(may.into_iter().collect()) } else { Kind::Request };
        Some(Told { origin: origin.clone(), kind })
    }
}

impl Told {
    /// The whole answer, where the browser only asks.
    pub(super) const fn status(&self) -> Option<StatusCode> {
        match self.kind {
            Kind::Question(_) => Some(StatusCode::NO_CONTENT),
            Kind::Request => None,
        }
    }

    pub(super) fn write(self, headers: &mut HeaderMap) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin);
        headers.append(VARY, HeaderValue::from_static("origin"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        let Kind::Question(may) = self.kind else { return };
        headers.extend(may);
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(ACCESS_CONTROL_MAX_AGE, LASTS);
    }
}

/// Whether an origin is the one that is named; `:*` is any port.
fn fits(allowed: &str, said: &str) -> bool {
    let Some(any) = allowed.strip_suffix(":*") else {
        let default = |origin: &str, port: &str, scheme: &str| {
            origin.starts_with(scheme) && origin.strip_suffix(port).is_some_and(|origin| origin == said)
        };
        return allowed == said || default(allowed, ":443", "https://") || default(allowed, ":80", "http://");
    };
    let port = said.strip_prefix(any).map(|rest| rest.strip_prefix(':').unwrap_or(rest));
    port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_the_named_one_with_its_port_or_any() {
        for (allowed, said, fits) in [
            ("https://app.example.com:443", "https://app.example.com", true),
            ("https://app.example.com:443", "https://app.example.com:8443", false),
            ("https://app.example.com:443", "https://app.example.com.evil.com", false),
            ("http://localhost:*", "http://localhost:5173", true),
            ("http://localhost:*", "http://localhost", true),
            ("http://localhost:*", "http://localhost.evil.com", false),
            ("http://localhost:*", "http://localhost:80@evil.com", false),
            ("http://localhost:80", "http://localhost", true),
        ] {
            assert_eq!(super::fits(allowed, said), fits, "{allowed} {said}");
        }
    }

    #[test]
    fn a_browser_that_asks_is_told_what_the_page_may_do_and_others_nothing() {
        let pages = Pages::of(&["https://app.example.com:443".to_owned()]);
        let headers = |origin: &'static str| {
            HeaderMap::from_iter([
                (ORIGIN, HeaderValue::from_static(origin)),
                (ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("POST")),
                (ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("authorization,mcp-method")),
            ])
        };
        assert!(pages.told(&Method::OPTIONS, &headers("https://evil.example.com")).is_none());
        let told = pages.told(&Method::OPTIONS, &headers("https://app.example.com")).unwrap();
        assert_eq!(told.status(), Some(StatusCode::NO_CONTENT));
        let mut written = HeaderMap::new();
        told.write(&mut written);
        assert_eq!(written[ACCESS_CONTROL_ALLOW_HEADERS], "authorization,mcp-method");
        assert_eq!(written[ACCESS_CONTROL_ALLOW_ORIGIN], "https://app.example.com");
        assert!(pages.told(&Method::POST, &headers("https://app.example.com")).unwrap().status().is_none());
    }
}
