//! Checks the `Host` of requests, against DNS rebinding.
//!
//! A web page can make its own domain resolve to this machine, and so talk to a server that listens
//! on loopback only. Its requests still carry the domain in `Host`.
//!
//! The check is a layer of the routes. Neither axum nor `tower_http` has a layer for allowed hosts,
//! and that of `rmcp` covers only the protocol's path.
//!
//! Invariant: a request with another host name is refused, whatever its path.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::problem::Refusal;

/// The names of the loopback interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The host names of the server.
pub(super) struct HostAllowlist {
    names: Vec<String>,
    parsed: Vec<(String, Option<u16>)>,
    bound: SocketAddr,
}

impl HostAllowlist {
    pub(super) fn new(configured: &[String], bound: SocketAddr) -> Self {
        let own = LOOPBACK.into_iter().map(str::to_owned).chain([bound.ip().to_string()]);
        let names: Vec<String> = own.chain(configured.iter().cloned()).collect();
        let parsed = names.iter().filter_map(|name| parse_host(name)).collect();
        Self { names, parsed, bound }
    }

    /// All names, in the form that `rmcp` takes.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The origins of pages that are served from the bound address: by this server or a proxy in
    /// front of it.
    pub(super) fn own_origins(&self) -> impl Iterator<Item = String> + use<> {
        let bound = self.bound;
        let bound_to = if bound.is_ipv6() { format!("[{}]", bound.ip()) } else { bound.ip().to_string() };
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), bound_to];
        names.into_iter().map(move |name| format!("http://{name}:{}", bound.port()))
    }

    /// Checks the `Host` header and, if it is there, the authority of the request target.
    pub(super) fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut said = headers.get_all(HOST).iter();
        let (Some(host), None) = (said.next(), said.next()) else { return Err(Refusal::HostMissing) };
        let host = host.to_str().map_err(|_| Refusal::HostMissing)?;
        for said in [Some(host), target.authority().map(Authority::as_str)].into_iter().flatten() {
            let (name, port) = parse_host(said).ok_or(Refusal::HostMissing)?;
            let is_own = |(own, only): &(String, Option<u16>)| *own == name && (only.is_none() || *only == port);
            if !self.parsed.iter().any(is_own) {
                return Err(Refusal::HostRefused);
            }
        }
        Ok(())
    }
}

/// The layer: refuses requests with another host name.
pub(super) async fn check_host(
    State(hosts): State<Arc<HostAllowlist>>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    hosts.check(request.uri(), request.headers())?;
    Ok(next.run(request).await)
}

/// Parses `name`, `name:port`, `[address]:port` or a bare address into a name and a port.
pub(super) fn parse_host(text: &str) -> Option<(String, Option<u16>)> {
    if let Ok(address) = text.parse::<std::net::Ipv6Addr>() {
        return Some((address.to_string(), None));
    }
    let authority: Authority = text.parse().ok()?;
    if authority.as_str().contains('@') {
        return None;
    }
    let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    (!name.is_empty()).then(|| (name, authority.port_u16()))
}

/// Whether a text is an origin in the form that `rmcp` takes.
pub(super) fn is_origin(text: &str) -> bool {
    let whole = text.strip_suffix(":*").unwrap_or(text);
    let Ok(uri) = whole.parse::<Uri>() else { return false };
    text == "null" || (uri.scheme().is_some() && matches!(uri.path(), "" | "/") && !whole.ends_with('/'))
}
