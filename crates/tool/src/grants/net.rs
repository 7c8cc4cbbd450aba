//! Grants of HTTP requests: which ones, and how many.
//!
//! Invariant: a request is allowed only if a single grant allows all of it. The limits of a grant
//! apply to everything the run has done, not only to the requests made by that grant, so two grants
//! never permit more than the wider of them.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;

use ipnet::IpNet;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use toolcell_i18n::{Localize, Message, message};

use crate::grants::error::GrantError;
use crate::grants::host::{Endpoint, HostPattern};
use crate::grants::path::PathPrefix;
use crate::grants::{Bytes, HOSTS_LIMIT, MAX_BYTES, MIB, check_range};

/// The scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// HTTP over TLS, with a verified certificate.
    #[default]
    Https,
    /// Plain HTTP.
    Http,
}

impl Scheme {
    /// Returns the name as it appears in a URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    /// Returns the scheme with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Https, Self::Http].into_iter().find(|scheme| scheme.name() == name)
    }

    /// Returns the port of a URL that names none.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// An HTTP method (RFC 9110, RFC 5789). `CONNECT` and `TRACE` cannot be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "they are called what the specifications call them")]
pub enum Method {
    Get,
    Head,
    Options,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// All methods, in declaration order.
    pub const ALL: [Self; 7] = [Self::Get, Self::Head, Self::Options, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Returns the name of the method.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns the method with this name, in upper case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// A grant of HTTP requests.
///
/// # Examples
/// ```
/// use toolcell_tool::{HostPattern, Method, NetGrant, NetPart, NetRequest, Scheme};
///
/// let grant = NetGrant::new(HostPattern::parse("api.example.com")?, Scheme::Https);
/// let (scheme, host, port, path) = (Scheme::Https, "api.example.com", 443, "/v1");
/// let request = NetRequest { scheme, host, port, method: Method::Get, path };
/// assert!(grant.allows(&request));
/// assert_eq!(grant.first_mismatch(&NetRequest { method: Method::Post, ..request }), Some(NetPart::Method));
/// assert_eq!(grant.to_string(), "GET, HEAD https://api.example.com");
/// # Ok::<(), toolcell_tool::GrantError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "RawNetGrant")]
pub struct NetGrant {
    /// The hosts.
    pub host: HostPattern,
    /// The scheme; default https.
    pub scheme: Scheme,
    /// The ports; default the scheme's port.
    pub ports: BTreeSet<u16>,
    /// The methods; default GET and HEAD.
    pub methods: BTreeSet<Method>,
    /// The path prefix; default all paths.
    pub path: PathPrefix,
    /// Private address ranges that the hosts may resolve to; default none.
    #[serde(serialize_with = "as_text")]
    pub addresses: BTreeSet<IpNet>,
    /// The maximum size of a request body, in bytes; default 1 MiB.
    pub request_bytes: Bytes,
    /// The maximum size of a decompressed response body, in bytes; default 10 MiB.
    pub response_bytes: Bytes,
    /// The maximum number of requests of a run, redirects included; default 100.
    pub calls: u32,
    /// The maximum number of requests of a tool in a minute, over all its runs; default no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<NonZeroU32>,
}

/// A request that a tool wants to make, as far as grants are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetRequest<'a> {
    /// The scheme.
    pub scheme: Scheme,
    /// The host, as a URL parser returns it.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// The method.
    pub method: Method,
    /// The path, as a URL parser returns it.
    pub path: &'a str,
}

/// A part of a request that a grant restricts. The order is the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are the parts of a request")]
pub enum NetPart {
    Host,
    Scheme,
    Port,
    Path,
    Method,
}

impl NetGrant {
    /// Creates a grant of hosts with the default methods, paths and limits.
    #[must_use]
    pub fn new(host: HostPattern, scheme: Scheme) -> Self {
        Self {
            host,
            scheme,
            ports: BTreeSet::from([scheme.default_port()]),
            methods: BTreeSet::from([Method::Get, Method::Head]),
            path: PathPrefix::default(),
            addresses: BTreeSet::new(),
            request_bytes: MIB,
            response_bytes: 10 * MIB,
            calls: 100,
            per_minute: None,
        }
    }

    /// Validates the grant.
    ///
    /// # Errors
    /// `grant-invalid`: port 0, an empty list, private addresses for any host, or a limit out of
    /// its range.
    pub fn validate(mut self) -> Result<Self, GrantError> {
        let host = self.host.to_string();
        if self.ports.is_empty() || self.ports.contains(&0) {
            return Err(GrantError::new(
                message!("port"),
                "0",
                message!("at least one port is required, each 1 to 65535"),
            ));
        }
        if self.methods.is_empty() {
            return Err(GrantError::new(
                message!("method list"),
                "[]",
                message!("name at least one method, such as `GET`"),
            ));
        }
        if self.host == HostPattern::Any && !self.addresses.is_empty() {
            let why = message!("private addresses can only be granted to named hosts: name them instead of `any`");
            return Err(GrantError::new(message!("host for private addresses"), &host, why));
        }
        if self.addresses.len() > HOSTS_LIMIT {
            let why = message!(
                "it has {count} address ranges, the limit is {limit}",
                count = self.addresses.len(),
                limit = HOSTS_LIMIT
            );
            return Err(GrantError::new(message!("host for private addresses"), &host, why));
        }
        if let Some(all) = self.addresses.iter().find(|range| range.prefix_len() == 0) {
            return Err(GrantError::new(
                message!("private address range"),
                &all.to_string(),
                message!("it covers all addresses"),
            ));
        }
        check_range(message!("number of bytes"), self.request_bytes, 0, MAX_BYTES)?;
        check_range(message!("number of bytes"), self.response_bytes, 0, MAX_BYTES)?;
        check_range(message!("number of calls"), u64::from(self.calls), 1, u64::from(u32::MAX))?;
        let ranges: Vec<IpNet> = self.addresses.into_iter().collect();
        self.addresses = IpNet::aggregate(&ranges).into_iter().collect();
        Ok(self)
    }

    /// Returns whether the grant allows a request. Addresses and limits are checked later.
    #[must_use]
    pub fn allows(&self, request: &NetRequest<'_>) -> bool {
        self.first_mismatch(request).is_none()
    }

    /// Returns the first part of a request that the grant does not allow.
    #[must_use]
    pub fn first_mismatch(&self, request: &NetRequest<'_>) -> Option<NetPart> {
        let parts = [
            (NetPart::Host, self.host.covers(request.host)),
            (NetPart::Scheme, self.scheme == request.scheme),
            (NetPart::Port, self.ports.contains(&request.port)),
            (NetPart::Path, self.path.covers(request.path)),
            (NetPart::Method, self.methods.contains(&request.method)),
        ];
        parts.into_iter().find(|(_, granted)| !granted).map(|(part, _)| part)
    }

    /// Returns whether the grant allows everything that `other` allows.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        let rate = match (self.per_minute, other.per_minute) {
            (None, _) => true,
            (Some(own), Some(other)) => other <= own,
            (Some(_), None) => false,
        };
        self.host.includes(&other.host)
            && self.scheme == other.scheme
            && self.ports.is_superset(&other.ports)
            && self.methods.is_superset(&other.methods)
            && self.path.includes(&other.path)
            && other.addresses.iter().all(|range| self.addresses.iter().any(|own| own.contains(range)))
            && self.request_bytes >= other.request_bytes
            && self.response_bytes >= other.response_bytes
            && self.calls >= other.calls
            && rate
    }

    /// Returns the intersection: the requests that both grants allow.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let both = Self {
            host: self.host.intersect(&other.host)?,
            scheme: (self.scheme == other.scheme).then_some(self.scheme)?,
            ports: &self.ports & &other.ports,
            methods: &self.methods & &other.methods,
            path: self.path.intersect(&other.path)?,
            addresses: self.shared_addresses(other),
            request_bytes: self.request_bytes.min(other.request_bytes),
            response_bytes: self.response_bytes.min(other.response_bytes),
            calls: self.calls.min(other.calls),
            per_minute: self.per_minute.into_iter().chain(other.per_minute).min(),
        };
        (!both.ports.is_empty() && !both.methods.is_empty()).then_some(both)
    }

    /// Returns the grant restricted to a destination that a tool asks for.
    #[must_use]
    pub fn restrict_to(&self, asked: &Endpoint) -> Option<Self> {
        let host = self.host.intersect(&asked.host)?;
        let ports: BTreeSet<u16> =
            self.ports.iter().copied().filter(|port| asked.port.is_none_or(|asked| asked == *port)).collect();
        (!ports.is_empty()).then(|| Self { host, ports, ..self.clone() })
    }

    /// Intersects the address ranges. Two ranges are either disjoint or nested.
    fn shared_addresses(&self, other: &Self) -> BTreeSet<IpNet> {
        let inside = |these: &BTreeSet<IpNet>, those: &BTreeSet<IpNet>| {
            let inside = these.iter().filter(|range| those.iter().any(|outer| outer.contains(*range)));
            inside.copied().collect::<BTreeSet<_>>()
        };
        let both = &inside(&self.addresses, &other.addresses) | &inside(&other.addresses, &self.addresses);
        both.into_iter().take(HOSTS_LIMIT).collect()
    }
}

impl Localize for NetGrant {
    /// Returns the destination and the methods. Limits are shown only if they differ from the
    /// defaults.
    fn localize(&self) -> Message {
        let plain = Self::new(self.host.clone(), self.scheme);
        let methods: Vec<&str> = self.methods.iter().map(|method| method.name()).collect();
        let mut destination = format!("{} {}://{}", methods.join(", "), self.scheme.name(), self.host);
        if self.ports != plain.ports {
            let ports: Vec<String> = self.ports.iter().map(ToString::to_string).collect();
            destination = format!("{destination}:{}", ports.join(","));
        }
        if self.path != plain.path {
            destination.push_str(self.path.as_str());
        }
        let mut parts = vec![if self.addresses.is_empty() {
            Message::verbatim(destination)
        } else {
            let ranges: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
            message!("{destination} at {ranges}", destination, ranges = ranges.join(", "))
        }];
        if self.request_bytes != plain.request_bytes {
            parts.push(message!("at most {limit} request bytes", limit = self.request_bytes));
        }
        if self.response_bytes != plain.response_bytes {
            parts.push(message!("at most {limit} response bytes", limit = self.response_bytes));
        }
        if self.calls != plain.calls {
            parts.push(message!("at most {limit} requests per run", limit = self.calls));
        }
        parts.extend(self.per_minute.map(|limit| message!("at most {limit} requests per minute", limit)));
        Message::list(parts)
    }
}

impl fmt::Display for NetGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

/// Parses an address range, or a single address.
///
/// # Errors
/// `grant-invalid`: neither a range nor an address, or a range with host bits set.
pub fn parse_address_range(text: &str) -> Result<IpNet, GrantError> {
    let wrong = |why| GrantError::new(message!("address range"), text, why);
    if let Ok(address) = text.parse::<std::net::IpAddr>() {
        return Ok(IpNet::from(address));
    }
    let range: IpNet =
        text.parse().map_err(|_| wrong(message!("write it as `10.1.0.0/16`, or as a single address")))?;
    if range.trunc() == range {
        Ok(range)
    } else {
        Err(wrong(message!("it has host bits set; write `{range}`", range = range.trunc())))
    }
}

fn as_text<S: Serializer>(ranges: &BTreeSet<IpNet>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ranges.iter().map(ToString::to_string))
}

/// The serialized form of [`NetGrant`], in which most fields are optional.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNetGrant {
    host: HostPattern,
    #[serde(default)]
    scheme: Scheme,
    ports: Option<BTreeSet<u16>>,
    methods: Option<BTreeSet<Method>>,
    path: Option<PathPrefix>,
    #[serde(default)]
    addresses: Vec<String>,
    request_bytes: Option<Bytes>,
    response_bytes: Option<Bytes>,
    calls: Option<u32>,
    per_minute: Option<NonZeroU32>,
}

impl TryFrom<RawNetGrant> for NetGrant {
    type Error = GrantError;

    fn try_from(form: RawNetGrant) -> Result<Self, GrantError> {
        let plain = Self::new(form.host, form.scheme);
        let addresses = form.addresses.iter().map(|text| parse_address_range(text)).collect::<Result<_, _>>()?;
        let grant = Self {
            ports: form.ports.unwrap_or(plain.ports),
            methods: form.methods.unwrap_or(plain.methods),
            path: form.path.unwrap_or_default(),
            addresses,
            request_bytes: form.request_bytes.unwrap_or(plain.request_bytes),
            response_bytes: form.response_bytes.unwrap_or(plain.response_bytes),
            calls: form.calls.unwrap_or(plain.calls),
            per_minute: form.per_minute,
            ..plain
        };
        grant.validate()
    }
}
