//! The names that a server goes by.
//!
//! A page in a browser can make its own name lead to this machine, and so talk to a server that listens on loopback only
//! (DNS rebinding). Its requests still say the name of the page.
//!
//! Invariant: a request that says another name is answered by nothing here, whatever it asks for.

use std::net::SocketAddr;

use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Uri};

use super::refusal::Refusal;

/// The names of the machine itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The names that a server goes by.
pub(super) struct Hosts {
    names: Vec<String>,
    parsed: Vec<(String, Option<u16>)>,
}

impl Hosts {
    pub(super) fn new(configured: &[String], bound: SocketAddr) -> Self {
        let own = LOOPBACK.into_iter().map(str::to_owned).chain([bound.ip().to_string()]);
        let names: Vec<String> = own.chain(configured.iter().cloned()).collect();
        let parsed = names.iter().filter_map(|name| parsed(name)).collect();
        Self { names, parsed }
    }

    /// All of them, as the library takes them.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The origins of pages that come from here: whoever serves one at this address is this server, or in front of it.
    pub(super) fn origins(bound: SocketAddr) -> impl Iterator<Item = String> {
        let bound_to = if bound.is_ipv6() { format!("[{}]", bound.ip()) } else { bound.ip().to_string() };
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), bound_to];
        names.into_iter().map(move |name| format!("http://{name}:{}", bound.port()))
    }

    /// Looks at what a request says, in its header and, where it is there, in its target.
    pub(super) fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut said = headers.get_all(HOST).iter();
        let (Some(host), None) = (said.next(), said.next()) else { return Err(Refusal::HostMissing) };
        let host = host.to_str().map_err(|_| Refusal::HostMissing)?;
        for said in [Some(host), target.authority().map(Authority::as_str)].into_iter().flatten() {
            let (name, port) = parsed(said).ok_or(Refusal::HostMissing)?;
            let is_own = |(own, only): &(String, Option<u16>)| *own == name && (only.is_none() || *only == port);
            if !self.parsed.iter().any(is_own) {
                return Err(Refusal::Host);
            }
        }
        Ok(())
    }
}

/// A name and a port, of `name`, `name:port`, `[address]:port` or a bare address.
pub(super) fn parsed(text: &str) -> Option<(String, Option<u16>)> {
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

/// Whether a text is an origin as the library takes them.
pub(super) fn is_origin(text: &str) -> bool {
    let whole = text.strip_suffix(":*").unwrap_or(text);
    let Ok(uri) = whole.parse::<Uri>() else { return false };
    text == "null" || (uri.scheme().is_some() && matches!(uri.path(), "" | "/") && !whole.ends_with('/'))
}
