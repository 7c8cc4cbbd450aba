//! Errors of requests.
//!
//! Invariant: if the effects are `none`, nothing was sent. A message contains at most the origin of
//! a URL, never its query.

use std::error::Error;
use std::io;

use toolcell_protocol::{Effects, OperationError};

use crate::net::ssrf::BlockedAddress;

/// The maximum length of quoted external text in a message, in characters.
const MAX_SHOWN_CHARS: usize = 160;

/// Creates the `TypeError` that `fetch` throws if there is no response.
pub(super) fn type_error(code: &'static str, message: impl Into<String>) -> OperationError {
    OperationError::without_effects("TypeError", code, message)
}

/// Creates the error of an exceeded limit.
pub(super) fn quota_error(code: &'static str, message: impl Into<String>) -> OperationError {
    OperationError::without_effects("QuotaExceededError", code, message)
}

/// Escapes control characters of external text and shortens it, for messages of one line.
pub(super) fn escape_for_display(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns the error of a blocked address, with the grant that would allow it.
pub(super) fn blocked_address(refused: &BlockedAddress) -> OperationError {
    let next =
        format!("to allow it, add `addresses = [\"{}\"]` to a `net` grant that names this host", refused.address);
    type_error("net-address", format!("{refused}; {next}"))
}

/// Returns the error of a request without a response.
pub(super) fn no_response(error: &reqwest::Error, origin: &str) -> OperationError {
    if let Some(refused) = find_cause::<BlockedAddress>(error) {
        return blocked_address(refused);
    }
    if error.is_builder() {
        return type_error("net-url", format!("the URL at {origin} cannot be requested; percent-encode it"));
    }
    let effects = if error.is_connect() { Effects::None } else { Effects::Started };
    let failure = if let Some(tls) = find_cause::<rustls::Error>(error) {
        let why = escape_for_display(&tls.to_string());
        type_error("net-tls", format!("{origin} cannot be trusted: {why}; check its certificate and the trusted roots"))
    } else if error.is_dns() {
        let why = reason(error);
        type_error("net-unreachable", format!("{origin} was not found: {why}; check the host name"))
    } else if error.is_connect() {
        let why = reason(error);
        type_error("net-unreachable", format!("{origin} cannot be reached: {why}; check that a server listens there"))
    } else {
        let why = reason(error);
        let next = "it may have processed the request: check before you retry";
        type_error("net-broken", format!("{origin} closed the connection before it responded: {why}; {next}"))
    };
    failure.with_effects(effects)
}

/// Returns the error of a response body that broke off.
pub(super) fn body_interrupted(error: &reqwest::Error, origin: &str) -> OperationError {
    // Decompression fails with its own I/O errors, reading with errors of HTTP.
    let packed = find_cause::<hyper::Error>(error).is_none() && find_cause::<io::Error>(error).is_some();
    let why = if packed { "its compressed data is corrupt".to_owned() } else { reason(error) };
    let next = "the server processed the request; retry only if that is safe";
    type_error("net-broken", format!("the response of {origin} was interrupted: {why}; {next}"))
        .with_effects(Effects::Committed)
}

/// Returns the error of a response body that cannot be decompressed.
pub(super) fn decompression_failed(origin: &str) -> OperationError {
    let next = "the server processed the request; retry only if that is safe";
    let message = format!("the response of {origin} was interrupted: its compressed data is corrupt; {next}");
    type_error("net-broken", message).with_effects(Effects::Committed)
}

/// Returns the first informative cause. The library's own messages are not used, because they may
/// contain the URL.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it timed out".to_owned();
    }
    match find_cause::<io::Error>(error) {
        Some(io) if io.kind() == io::ErrorKind::Other => escape_for_display(&io.to_string()),
        Some(io) => io.kind().to_string(),
        None if find_cause::<hyper::Error>(error).is_some_and(hyper::Error::is_parse_too_large) => {
            "its response header is too large".to_owned()
        }
        None if find_cause::<hyper::Error>(error).is_some_and(hyper::Error::is_parse) => {
            "it does not speak HTTP".to_owned()
        }
        None => "the connection was closed".to_owned(),
    }
}

/// Searches the chain of causes for an error of this type.
fn find_cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    if let Some(found) = error.downcast_ref::<T>() {
        return Some(found);
    }
    // An I/O error that wraps another error reports that error's source as its own, and skips the
    // error itself.
    let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let inside = inside.and_then(|inside| find_cause::<T>(inside));
    inside.or_else(|| error.source().and_then(find_cause::<T>))
}
