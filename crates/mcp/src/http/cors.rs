//! CORS headers for configured origins (Fetch standard, section 3.2).
//!
//! Invariant: only configured origins get CORS headers; `rmcp` refuses requests of all others.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use hyper::{Method, StatusCode};

/// The methods that a page may use.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// The response headers that a page may read.
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("mcp-session-id, mcp-protocol-version, retry-after, www-authenticate");
/// How long a browser may cache a preflight response, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The allowed origins.
pub(super) struct Cors(Vec<String>);

/// The CORS headers of one response.
pub(super) struct CorsHeaders {
    origin: HeaderValue,
    kind: CorsRequestKind,
}

/// The kind of a cross-origin request.
enum CorsRequestKind {
    /// The request itself.
    Actual,
    /// A preflight request, with the headers that it allows.
    Preflight(HeaderMap),
}

impl Cors {
    pub(super) fn new(origins: &[String]) -> Self {
        Self(origins.iter().map(|origin| origin.to_ascii_lowercase()).collect())
    }

    /// The CORS headers for a request; `None` without an `Origin` header or for an origin that is
    /// not allowed.
    pub(super) fn headers_for(&self, method: &Method, headers: &HeaderMap) -> Option<CorsHeaders> {
        let origin = headers.get(ORIGIN)?;
        let said = origin.to_str().ok()?.to_ascii_lowercase();
        if !self.0.iter().any(|allowed| origin_matches(allowed, &said)) {
            return None;
        }
        let is_question = *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let asked = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
        // Any header is allowed: the token decides about access, not the header that it is in.
        let may = asked.map(|asked| (ACCESS_CONTROL_ALLOW_HEADERS, asked));
        let kind =
            if is_question { CorsRequestKind::Preflight(may.into_iter().collect()) } else { CorsRequestKind::Actual };
        Some(CorsHeaders { origin: origin.clone(), kind })
    }
}

impl CorsHeaders {
    /// The status of the response to a preflight request.
    pub(super) const fn preflight_status(&self) -> Option<StatusCode> {
        match self.kind {
            CorsRequestKind::Preflight(_) => Some(StatusCode::NO_CONTENT),
            CorsRequestKind::Actual => None,
        }
    }

    pub(super) fn append_to(self, headers: &mut HeaderMap) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin);
        headers.append(VARY, HeaderValue::from_static("origin"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        let CorsRequestKind::Preflight(may) = self.kind else { return };
        headers.extend(may);
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
        headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    }
}

/// Whether an origin matches a configured one; `:*` matches any port.
fn origin_matches(allowed: &str, said: &str) -> bool {
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
            assert_eq!(origin_matches(allowed, said), fits, "{allowed} {said}");
        }
    }

    #[test]
    fn a_browser_that_asks_is_told_what_the_page_may_do_and_others_nothing() {
        let pages = Cors::new(&["https://app.example.com:443".to_owned()]);
        let headers = |origin: &'static str| {
            HeaderMap::from_iter([
                (ORIGIN, HeaderValue::from_static(origin)),
                (ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("POST")),
                (ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("authorization,mcp-method")),
            ])
        };
        assert!(pages.headers_for(&Method::OPTIONS, &headers("https://evil.example.com")).is_none());
        let told = pages.headers_for(&Method::OPTIONS, &headers("https://app.example.com")).unwrap();
        assert_eq!(told.preflight_status(), Some(StatusCode::NO_CONTENT));
        let mut written = HeaderMap::new();
        told.append_to(&mut written);
        assert_eq!(written[ACCESS_CONTROL_ALLOW_HEADERS], "authorization,mcp-method");
        assert_eq!(written[ACCESS_CONTROL_ALLOW_ORIGIN], "https://app.example.com");
        assert!(
            pages.headers_for(&Method::POST, &headers("https://app.example.com")).unwrap().preflight_status().is_none()
        );
    }
}
