//! CORS headers for configured origins (Fetch standard, section 3.2).
//!
//! The headers are those of `tower_http`'s layer. It is applied by hand to the requests of
//! configured origins only: by itself it adds `Vary` and `Access-Control-Expose-Headers` to every
//! response and answers every `OPTIONS` request, whatever its origin.
//!
//! Invariant: only configured origins get CORS headers; `rmcp` refuses requests of all others.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_REQUEST_METHOD, CACHE_CONTROL, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use tower::{Layer as _, ServiceExt as _};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// The methods that a page may use.
const ALLOWED_METHODS: [Method; 3] = [Method::GET, Method::POST, Method::DELETE];
/// The response headers that a page may read.
const EXPOSED_HEADERS: [HeaderName; 4] = [
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-protocol-version"),
    RETRY_AFTER,
    WWW_AUTHENTICATE,
];
/// How long a browser may cache a preflight response.
const MAX_AGE: Duration = Duration::from_mins(10);

/// The allowed origins, and the layer for their requests.
pub(super) struct Cors {
    origins: Vec<String>,
    layer: CorsLayer,
}

impl Cors {
    pub(super) fn new(origins: &[String]) -> Self {
        let layer = CorsLayer::new()
            // The layer sees only requests of allowed origins.
            .allow_origin(AllowOrigin::mirror_request())
            .allow_methods(ALLOWED_METHODS)
            // Any header is allowed: the token decides about access, not the header that it is in.
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(EXPOSED_HEADERS)
            .max_age(MAX_AGE)
            .vary([ORIGIN]);
        Self { origins: origins.iter().map(|origin| origin.to_ascii_lowercase()).collect(), layer }
    }

    /// Answers a preflight request, or calls the routes and adds the CORS headers, if the origin is
    /// allowed. An `OPTIONS` request that is not a preflight gets no CORS headers.
    pub(super) async fn call(&self, routes: Router, request: Request) -> Response {
        let is_options = request.method() == Method::OPTIONS;
        let is_preflight = is_options && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let answered = if is_options == is_preflight && self.allows(request.headers()) {
            self.layer.layer(routes).oneshot(request).await
        } else {
            return match routes.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
        };
        let mut response = match answered {
            Ok(response) => response,
            Err(never) => match never {},
        };
        if is_preflight {
            *response.status_mut() = StatusCode::NO_CONTENT;
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        response
    }

    /// Whether a request has an allowed `Origin`.
    fn allows(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()) else { return false };
        let origin = origin.to_ascii_lowercase();
        self.origins.iter().any(|allowed| origin_matches(allowed, &origin))
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
    use axum::body::Body;
    use axum::http::header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, VARY,
    };

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

    /// Sends a request of an origin to a route that answers 418.
    async fn ask(method: Method, origin: &str, headers: &[(HeaderName, &str)]) -> Response {
        let routes = Router::new().fallback(async || StatusCode::IM_A_TEAPOT);
        let mut request = Request::builder().method(method).header(ORIGIN, origin);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let cors = Cors::new(&["https://app.example.com:443".to_owned()]);
        cors.call(routes, request.body(Body::empty()).unwrap()).await
    }

    #[tokio::test]
    async fn a_browser_that_asks_is_told_what_the_page_may_do_and_others_nothing() {
        let question =
            [(ACCESS_CONTROL_REQUEST_METHOD, "POST"), (ACCESS_CONTROL_REQUEST_HEADERS, "authorization,mcp-method")];
        let evil = ask(Method::OPTIONS, "https://evil.example.com", &question).await;
        assert_eq!(evil.status(), StatusCode::IM_A_TEAPOT);
        for header in [VARY, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_ALLOW_METHODS] {
            assert!(!evil.headers().contains_key(&header), "{header}");
        }
        let told = ask(Method::OPTIONS, "https://app.example.com", &question).await;
        assert_eq!(told.status(), StatusCode::NO_CONTENT);
        let written = told.headers();
        assert_eq!(written[ACCESS_CONTROL_ALLOW_HEADERS], "authorization,mcp-method");
        assert_eq!(written[ACCESS_CONTROL_ALLOW_METHODS], "GET,POST,DELETE");
        assert_eq!(written[ACCESS_CONTROL_ALLOW_ORIGIN], "https://app.example.com");
        assert_eq!(
            (&written[ACCESS_CONTROL_MAX_AGE], &written[VARY]),
            (&"600".parse().unwrap(), &"origin".parse().unwrap())
        );
        let answer = ask(Method::POST, "https://app.example.com", &question).await;
        assert_eq!(answer.status(), StatusCode::IM_A_TEAPOT);
        assert_eq!(answer.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "https://app.example.com");
        assert_eq!(
            answer.headers()[ACCESS_CONTROL_EXPOSE_HEADERS],
            "mcp-session-id,mcp-protocol-version,retry-after,www-authenticate"
        );
        // `OPTIONS` without these headers is not a preflight request.
        assert_eq!(ask(Method::OPTIONS, "https://app.example.com", &[]).await.status(), StatusCode::IM_A_TEAPOT);
    }
}
