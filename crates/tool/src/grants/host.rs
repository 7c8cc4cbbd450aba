//! Which hosts a grant is about.
//!
//! Invariant: a pattern covers what it spells out. A name in front of which a `*` stands has two labels or is reserved for
//! networks of one's own, so that nobody grants a whole top-level domain, and all hosts are the word `any` alone.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::grants::error::GrantError;

/// The longest name of a host, and the longest label of one, in bytes (RFC 1035, section 2.3.4).
const NAME_BYTES: usize = 253;
const LABEL_BYTES: usize = 63;

/// Top-level domains that nobody can register in the world: RFC 6761, RFC 6762, and ICANN's resolution of 2024-07-29.
const RESERVED: [&str; 4] = ["internal", "local", "localhost", "test"];

/// The name of a host, in lower case and without a dot at its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Domain(String);

impl Domain {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_above(&self, host: &str) -> bool {
        host.strip_suffix(&self.0).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
    }
}

/// Hosts: one by its name or its address, all below a name, or all.
///
/// # Examples
/// ```
/// use toolcell_tool::HostPattern;
///
/// let below = HostPattern::parse("*.Example.com")?;
/// assert!(below.covers("api.example.com") && !below.covers("example.com") && !below.covers("badexample.com"));
/// assert_eq!(below.meet(&HostPattern::parse("a.b.example.com")?), Some(HostPattern::parse("a.b.example.com")?));
/// assert!(HostPattern::parse("*").unwrap_err().to_string().ends_with("to grant every host, write `any`"));
/// # Ok::<(), toolcell_tool::GrantError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum HostPattern {
    /// The host of this name: `api.example.com`.
    Name(Domain),
    /// All hosts whose names end so, and not the one of the name itself: `*.example.com`.
    Below(Domain),
    /// The host at this address. An IPv4 address is never written as one of IPv6.
    Address(IpAddr),
    /// All hosts: `any`.
    Any,
}

impl HostPattern {
    /// Takes a pattern as it was typed.
    ///
    /// # Errors
    /// `grant-invalid`: a URL, a port, a `*` that is not in front of a name, a name that no host has.
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        if text == "any" {
            return Ok(Self::Any);
        }
        if let Some(address) = address(text) {
            return Ok(Self::Address(address));
        }
        let wrong = |why: &'static str| GrantError::new("host", text, why);
        if text.is_empty() {
            return Err(wrong("name one, such as `api.example.com`"));
        }
        if text.trim_matches(['*', '.']).is_empty() {
            return Err(wrong("to grant every host, write `any`"));
        }
        if text.contains("://") || text.contains(['/', '?', '#', '@']) {
            return Err(wrong("it is a URL; write the host alone, and `scheme`, `ports` and `path` beside it"));
        }
        if text.contains(':') {
            return Err(wrong("write the host alone, and `ports` beside it"));
        }
        match text.strip_prefix("*.") {
            None => domain(text, text).map(Self::Name),
            Some(below) => {
                let domain = domain(below, text)?;
                if domain.0.contains('.') || RESERVED.contains(&domain.0.as_str()) {
                    Ok(Self::Below(domain))
                } else {
                    Err(wrong("it covers a whole top-level domain; name two labels at least, or write `any`"))
                }
            }
        }
    }

    /// Whether a host is among these. Its name is taken as a URL parser gives it, an address of IPv6 with or without brackets.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        if let Some(found) = address(host) {
            return matches!(self, Self::Any) || *self == Self::Address(found);
        }
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        match self {
            Self::Any => !host.is_empty(),
            Self::Name(name) => name.0 == host,
            Self::Below(name) => name.is_above(&host),
            Self::Address(_) => false,
        }
    }

    /// Whether all hosts of another pattern are among these.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Below(above), Self::Name(name) | Self::Below(name)) => {
                above.is_above(&name.0) || (above == name && matches!(other, Self::Below(_)))
            }
            _ => self == other,
        }
    }

    /// The hosts that are in both.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        if self.includes(other) { Some(other.clone()) } else { other.includes(self).then(|| self.clone()) }
    }
}

/// The address that some text is; with brackets, only one of IPv6.
fn address(text: &str) -> Option<IpAddr> {
    match text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(|address| IpAddr::V6(address).to_canonical()),
        None => text.parse::<IpAddr>().ok().map(|address| address.to_canonical()),
    }
}

fn domain(name: &str, text: &str) -> Result<Domain, GrantError> {
    let wrong = |why: &'static str| Err(GrantError::new("host", text, why));
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if !name.is_ascii() {
        return wrong("write a name with other letters than ASCII as its `xn--` form");
    }
    if name.contains('*') {
        return wrong("a `*` stands for whole labels in front, as in `*.example.com`");
    }
    if name.len() > NAME_BYTES {
        return wrong("it is longer than 253 bytes");
    }
    let sound = |label: &str| {
        (1..=LABEL_BYTES).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if !name.split('.').all(sound) {
        return wrong("labels have 1 to 63 letters, digits, `-` and `_`, with dots between them");
    }
    // What URL parsers take for an address must not pass as a name (WHATWG URL, "ends in a number").
    let last = name.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if hex || last.bytes().all(|byte| byte.is_ascii_digit()) {
        return wrong("it reads as an address; write all four numbers of it, in decimal");
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

/// What a tool asks for of the network: hosts, and the port where it says one (`api.example.com:8443`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// The hosts.
    pub host: HostPattern,
    /// The port; any where there is none.
    pub port: Option<u16>,
}

impl Endpoint {
    /// Takes what was typed.
    ///
    /// # Errors
    /// As [`HostPattern::parse`]; a port that is none.
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        if let Some((host, port)) = text.rsplit_once(':')
            && address(text).is_none()
        {
            let number = port.parse().ok().filter(|port| *port != 0);
            let port = number.ok_or_else(|| GrantError::new("host", text, "its port must be 1 to 65535"))?;
            return Ok(Self { host: HostPattern::parse(host)?, port: Some(port) });
        }
        Ok(Self { host: HostPattern::parse(text)?, port: None })
    }
}
