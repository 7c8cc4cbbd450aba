//! Host patterns of network grants.
//!
//! Invariant: a pattern covers only what it spells out. The name after `*.` has at least two labels
//! or is a top-level domain that is reserved for private networks, so no pattern covers a public
//! top-level domain. The keyword `any` is the only pattern for all hosts.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use toolcell_i18n::message;

use crate::grants::error::GrantError;

/// The maximum length of a host name and of a label, in bytes (RFC 1035, section 2.3.4).
const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// Top-level domains that cannot be registered publicly: RFC 6761, RFC 6762, and ICANN's resolution
/// of 2024-07-29.
const RESERVED_TLDS: [&str; 4] = ["internal", "local", "localhost", "test"];

/// A host name in lower case, without a trailing dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Domain(String);

impl Domain {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_ancestor_of(&self, host: &str) -> bool {
        host.strip_suffix(&self.0).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
    }
}

/// A set of hosts: one by name or address, all subdomains of a name, or all.
///
/// # Examples
/// ```
/// use toolcell_tool::HostPattern;
///
/// let below = HostPattern::parse("*.Example.com")?;
/// assert!(below.covers("api.example.com") && !below.covers("example.com") && !below.covers("badexample.com"));
/// assert_eq!(below.intersect(&HostPattern::parse("a.b.example.com")?), Some(HostPattern::parse("a.b.example.com")?));
/// assert!(HostPattern::parse("*").unwrap_err().to_string().ends_with("to grant every host, write `any`"));
/// # Ok::<(), toolcell_tool::GrantError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum HostPattern {
    /// The host with this name: `api.example.com`.
    Name(Domain),
    /// All subdomains of this name, without the name itself: `*.example.com`.
    Below(Domain),
    /// The host at this address. An IPv4-mapped IPv6 address is stored as IPv4.
    Address(IpAddr),
    /// All hosts: `any`.
    Any,
}

impl HostPattern {
    /// Parses a pattern as a user writes it.
    ///
    /// # Errors
    /// `grant-invalid`: a URL, a port, a `*` that is not the first label, or an invalid host name.
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        if text == "any" {
            return Ok(Self::Any);
        }
        if let Some(address) = parse_address(text) {
            return Ok(Self::Address(address));
        }
        let wrong = |why| GrantError::new(message!("host"), text, why);
        if text.is_empty() {
            return Err(wrong(message!("name one, such as `api.example.com`")));
        }
        if text.trim_matches(['*', '.']).is_empty() {
            return Err(wrong(message!("to grant every host, write `any`")));
        }
        if text.contains("://") || text.contains(['/', '?', '#', '@']) {
            return Err(wrong(message!(
                "it is a URL; write only the host, with `scheme`, `ports` and `path` as separate keys"
            )));
        }
        if text.contains(':') {
            return Err(wrong(message!("write only the host, with `ports` as a separate key")));
        }
        match text.strip_prefix("*.") {
            None => parse_domain(text, text).map(Self::Name),
            Some(below) => {
                let domain = parse_domain(below, text)?;
                if domain.0.contains('.') || RESERVED_TLDS.contains(&domain.0.as_str()) {
                    Ok(Self::Below(domain))
                } else {
                    Err(wrong(message!("it covers a whole top-level domain; name at least two labels, or write `any`")))
                }
            }
        }
    }

    /// Returns whether the pattern matches a host. The host is written as a URL parser returns it;
    /// an IPv6 address may have brackets.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        if let Some(found) = parse_address(host) {
            return matches!(self, Self::Any) || *self == Self::Address(found);
        }
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        match self {
            Self::Any => !host.is_empty(),
            Self::Name(name) => name.0 == host,
            Self::Below(name) => name.is_ancestor_of(&host),
            Self::Address(_) => false,
        }
    }

    /// Returns whether the pattern matches every host that `other` matches.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Below(above), Self::Name(name) | Self::Below(name)) => {
                above.is_ancestor_of(&name.0) || (above == name && matches!(other, Self::Below(_)))
            }
            _ => self == other,
        }
    }

    /// Returns the intersection: the hosts that both patterns match.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        if self.includes(other) { Some(other.clone()) } else { other.includes(self).then(|| self.clone()) }
    }
}

/// Parses an IP address. In brackets, only IPv6 is accepted.
fn parse_address(text: &str) -> Option<IpAddr> {
    match text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(|address| IpAddr::V6(address).to_canonical()),
        None => text.parse::<IpAddr>().ok().map(|address| address.to_canonical()),
    }
}

fn parse_domain(name: &str, text: &str) -> Result<Domain, GrantError> {
    let wrong = |why| Err(GrantError::new(message!("host"), text, why));
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if !name.is_ascii() {
        return wrong(message!("write an internationalized name in its `xn--` form"));
    }
    if name.contains('*') {
        return wrong(message!("a `*` may only stand for leading labels, as in `*.example.com`"));
    }
    if name.len() > MAX_NAME_BYTES {
        return wrong(message!("it is longer than 253 bytes"));
    }
    let sound = |label: &str| {
        (1..=MAX_LABEL_BYTES).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if !name.split('.').all(sound) {
        return wrong(message!("labels have 1 to 63 letters, digits, `-` and `_`, separated by dots"));
    }
    // A name that URL parsers read as an address must not pass as a name (WHATWG URL, "ends in a
    // number").
    let last = name.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if hex || last.bytes().all(|byte| byte.is_ascii_digit()) {
        return wrong(message!("it reads as an address; write all four numbers in decimal"));
    }
    Ok(Domain(name))
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&name.0),
            Self::Below(name) => write!(f, "*.{}", name.0),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Any => f.write_str("any"),
        }
    }
}

impl TryFrom<String> for HostPattern {
    type Error = GrantError;

    fn try_from(text: String) -> Result<Self, GrantError> {
        Self::parse(&text)
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.to_string()
    }
}

/// A network destination that a tool asks for: hosts, optionally with a port
/// (`api.example.com:8443`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// The hosts.
    pub host: HostPattern,
    /// The port; `None` for any port.
    pub port: Option<u16>,
}

impl Endpoint {
    /// Parses a destination as a user writes it.
    ///
    /// # Errors
    /// The errors of [`HostPattern::parse`], and `grant-invalid` for an invalid port.
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        if let Some((host, port)) = text.rsplit_once(':')
            && parse_address(text).is_none()
        {
            let number = port.parse().ok().filter(|port| *port != 0);
            let port = number
                .ok_or_else(|| GrantError::new(message!("host"), text, message!("its port must be 1 to 65535")))?;
            return Ok(Self { host: HostPattern::parse(host)?, port: Some(port) });
        }
        Ok(Self { host: HostPattern::parse(text)?, port: None })
    }
}
