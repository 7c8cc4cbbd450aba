//! The context of a request from its transport: principal, permits and protocol revision.
//!
//! Over HTTP the head of the request is among the extensions of its context, and the endpoint put the
//! principal and the permits into the extensions of that head.
//!
//! Invariant: a request without an authenticated principal came over standard input, from the
//! client that started the server.

use hyper::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{Extensions, ProtocolVersion};
use rmcp::service::RequestContext;

use toolcell::FlowContext;
use toolcell::hook::CallerClaims;

use crate::http::TokenScope;
use crate::principal::Principal;
use crate::request_limiter::PermitHolder;

/// The key in `_meta` of what a client claims about the caller: `session`, `agent` and `call`.
const CALLER_KEY: &str = "toolcell/caller";
/// The key in `_meta` of where the data came from that a client knows: the sources that results had in `toolcell/labels`.
const CONTEXT_KEY: &str = "toolcell/context";

/// Returns what a client claims about the caller of a request.
pub(crate) fn caller_claims(context: &RequestContext<RoleServer>) -> CallerClaims {
    let claimed = context.meta.get(CALLER_KEY);
    let claim = |name: &str| claimed?.get(name)?.as_str().map(str::to_owned);
    CallerClaims {
        client: context.client_info().map(|client| client.name),
        session: claim("session"),
        agent: claim("agent"),
        call: claim("call"),
    }
}

/// Returns where the data came from that the client knows, as it says; what the store remembers of it if it does not.
pub(crate) fn flow_context(context: &RequestContext<RoleServer>) -> FlowContext {
    let Some(given) = context.meta.get(CONTEXT_KEY) else { return FlowContext::Remembered };
    // What is no list of sources counts as all of them.
    let texts = given.as_array().map(|sources| sources.iter().map(|source| source.as_str().unwrap_or_default()));
    texts.map_or_else(|| FlowContext::parse([""]), FlowContext::parse)
}

/// The principal of a request: the one that the transport authenticated, else [`Principal::local`].
pub(crate) fn request_principal(extensions: &Extensions) -> Principal {
    let parts = extensions.get::<Parts>();
    parts.and_then(|parts| parts.extensions.get::<Principal>()).cloned().unwrap_or_else(Principal::local)
}

/// The permits that a request over HTTP holds.
pub(crate) fn permit_holder(extensions: &Extensions) -> Option<PermitHolder> {
    extensions.get::<Parts>()?.extensions.get::<PermitHolder>().cloned()
}

/// Whether a request came over HTTP.
pub(crate) fn is_remote(extensions: &Extensions) -> bool {
    extensions.get::<Parts>().is_some()
}

/// Whether a request may call the methods of the extension `toolcell/host`: it came over standard
/// input, or with a token that allows it.
pub(crate) fn is_from_host(extensions: &Extensions) -> bool {
    let scope = |head: &Parts| head.extensions.get::<TokenScope>().copied();
    extensions.get::<Parts>().is_none_or(|head| scope(head) == Some(TokenScope::Host))
}

/// Whether a request uses a revision of the protocol without sessions.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
