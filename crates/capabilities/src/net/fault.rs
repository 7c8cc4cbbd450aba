//! How a request fails.
//!
//! Invariant: nothing was sent where the effects are `none`. A message has the origin of a URL in it, and never its query.

use std::error::Error;
use std::io;

use crate::failure::{Effects, Failure};
use crate::net::address::AddressRefused;

/// How much of what somebody else said is shown, in characters.
const SHOWN: usize = 160;

/// What `fetch` throws where there is no answer.
pub(super) fn type_error(code: &'static str, message: impl Into<String>) -> Failure {
    Failure::nothing_done("TypeError", code, message)
}

/// What is thrown where there was too much of something.
pub(super) fn quota(code: &'static str, message: impl Into<String>) -> Failure {
    Failure::nothing_done("QuotaExceededError", code, message)
}

/// Text of others, short and on one line.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Why an address is refused, and what would grant it.
pub(super) fn address(refused: &AddressRefused) -> Failure {
    let next =
        format!("a `net` grant that names this host can name the address: `addresses = [\"{}\"]`", refused.address);
    type_error("net-address", format!("{refused}; {next}"))
}

/// Why no answer came.
pub(super) fn unanswered(error: &reqwest::Error, origin: &str) -> Failure {
    if let Some(refused) = find::<AddressRefused>(error) {
        return address(refused);
    }
    if error.is_builder() {
        return type_error("net-url", format!("the URL at {origin} is none that can be asked for; percent-encode it"));
    }
    let effects = if error.is_connect() { Effects::None } else { Effects::Started };
    let failure = if let Some(tls) = find::<rustls::Error>(error) {
        let why = shown(&tls.to_string());
        type_error("net-tls", format!("{origin} cannot be trusted: {why}; check its certificate, and who is trusted"))
    } else if error.is_dns() {
        let why = reason(error);
        type_error("net-unreachable", format!("{origin} was not found: {why}; check the name of the host"))
    } else if error.is_connect() {
        let why = reason(error);
        type_error("net-unreachable", format!("{origin} cannot be reached: {why}; check that it answers there"))
    } else {
        let why = reason(error);
        let next = "it may have done what was asked: look before it is asked again";
        type_error("net-broken", format!("{origin} ended the connection before it answered: {why}; {next}"))
    };
    failure.with(effects)
}

/// Why an answer that had begun did not end.
pub(super) fn broken(error: &reqwest::Error, origin: &str) -> Failure {
    // What unpacks an answer fails by errors of its own; what reads it by those of HTTP.
    let packed = find::<hyper::Error>(error).is_none() && find::<io::Error>(error).is_some();
    let why = if packed { "its compression is damaged".to_owned() } else { reason(error) };
    let next = "the request was done; ask for the rest again if that does no harm";
    type_error("net-broken", format!("the answer of {origin} broke off: {why}; {next}")).with(Effects::Committed)
}

/// What an answer is packed in cannot be unpacked.
pub(super) fn damaged(origin: &str) -> Failure {
    let next = "the request was done; ask for the rest again if that does no harm";
    let message = format!("the answer of {origin} broke off: its compression is damaged; {next}");
    type_error("net-broken", message).with(Effects::Committed)
}

/// The first cause that says something. What the library itself says may have a URL in it.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it took too long".to_owned();
    }
    match find::<io::Error>(error) {
        Some(io) if io.kind() == io::ErrorKind::Other => shown(&io.to_string()),
        Some(io) => io.kind().to_string(),
        None if find::<hyper::Error>(error).is_some_and(hyper::Error::is_parse_too_large) => {
            "the head of its answer is too long".to_owned()
        }
        None if find::<hyper::Error>(error).is_some_and(hyper::Error::is_parse) => "it does not speak HTTP".to_owned(),
        None => "the connection was closed".to_owned(),
    }
}

/// A cause of some type, however deep.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    if let Some(found) = error.downcast_ref::<T>() {
        return Some(found);
    }
    // An I/O error that wraps another one names the cause of that as its own, and not that itself.
    let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let inside = inside.and_then(|inside| find::<T>(inside));
    inside.or_else(|| error.source().and_then(find::<T>))
}
