//! What a browser may do with an answer.
//!
//! Invariant: each answer of the server has these headers, also a refusal. Scripts and styles come from this server alone, and never
//! from the text of a page; a page is in no frame, names itself to no other site, and is not cached. (With `no-referrer`, a browser would not name the origin
//! of a form either: Fetch, section 3.2.)

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::Response;

/// The content security policy (W3C CSP3, Trusted Types). The one policy that may make trusted text is that of the script, which takes
/// pages of this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types toolcell";

const OTHERS: [(&str, &str); 4] = [
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
];

/// Adds the headers to an answer.
pub(crate) async fn secure(mut response: Response) -> Response {
    let headers = response.headers_mut();
    // An image of a drawing has a policy of its own.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    for (name, value) in OTHERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
