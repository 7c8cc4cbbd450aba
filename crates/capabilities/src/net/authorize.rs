//! Authorization of requests by the grants of a run.
//!
//! Invariant: a request counts once, no matter how many grants allow it, and a rejected request is
//! not counted. It counts in its run and in every run that this is nested in, against the grants of
//! each.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ipnet::IpNet;
use toolcell_protocol::OperationError;
use toolcell_tool::{Method, NetGrant, NetPart, NetRequest, Scheme};
use url::{Host, Url};

use crate::meters::Meter;
use crate::net::error::{self, quota_error, type_error};
use crate::net::pool::{Decompression, PoolKey};
use crate::net::rate_limit::RateLimits;
use crate::net::ssrf;

/// The grants of a run with its usage counters.
pub(super) struct Authorizer {
    tool: String,
    /// The grants, sorted by response limit, largest first.
    grants: Vec<NetGrant>,
    /// The usage of all runs of the tool in the run tree.
    meter: Arc<Meter>,
    /// The grants of the calling run, if this run is nested.
    caller: Option<Arc<Authorizer>>,
}

/// An authorized request, with the grants that allow it.
pub(super) struct Authorized<'a> {
    pub(super) pool_key: PoolKey,
    request: NetRequest<'a>,
    grants: Vec<&'a NetGrant>,
    origin: String,
}

impl Authorized<'_> {
    /// Returns the origin of the request.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }
}

impl Authorizer {
    pub(super) fn new(tool: String, mut grants: Vec<NetGrant>, meter: Arc<Meter>, caller: Option<Arc<Self>>) -> Self {
        grants.sort_by_key(|grant| std::cmp::Reverse(grant.response_bytes));
        Self { tool, grants, meter, caller }
    }

    /// Checks a request against the grants, except for the addresses that a host name resolves to.
    pub(super) fn authorize<'a>(&'a self, url: &'a Url, method: Method) -> Result<Authorized<'a>, OperationError> {
        let origin = origin(url);
        let not_asked = || type_error("net-url", "the URL cannot be requested; write it as `https://host/path`");
        let scheme = Scheme::from_name(url.scheme()).ok_or_else(not_asked)?;
        let host = url.host_str().ok_or_else(not_asked)?;
        let port = url.port_or_known_default().unwrap_or(scheme.default_port());
        let request = NetRequest { scheme, host, port, method, path: url.path() };
        let grants: Vec<&NetGrant> = self.grants.iter().filter(|grant| grant.allows(&request)).collect();
        if grants.is_empty() {
            return Err(self.not_granted(&request, &origin));
        }
        let mut addresses: Vec<IpNet> = grants.iter().flat_map(|grant| grant.addresses.iter().copied()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        // A literal address is never resolved, so the resolver would not check it.
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(_)) | None => None,
        };
        if let Some(literal) = literal {
            ssrf::check_address(host, literal, &addresses).map_err(|refused| error::blocked_address(&refused))?;
        }
        let reach = PoolKey { scheme, addresses: Arc::from(addresses), decompression: Decompression::Library };
        Ok(Authorized { pool_key: reach, request, grants, origin })
    }

    /// Counts a request against the limits of this run and of all runs that it is nested in.
    /// Returns the maximum size of the response, in bytes.
    pub(super) fn admit(&self, allowed: &Authorized<'_>, body: u64, rates: &RateLimits) -> Result<u64, OperationError> {
        let limit = self.admit_by_any(&allowed.grants, &allowed.origin, body, rates)?;
        let mut counted = vec![self];
        let mut above = self.caller.as_deref();
        while let Some(caller) = above {
            above = caller.caller.as_deref();
            // A recursive call of the same tool shares its counter, which must not count twice.
            if counted.iter().any(|other| Arc::ptr_eq(&other.meter, &caller.meter)) {
                continue;
            }
            let grants: Vec<&NetGrant> = caller.grants.iter().filter(|grant| grant.allows(&allowed.request)).collect();
            if let Err(failure) = caller.admit_by_any(&grants, &allowed.origin, body, rates) {
                for other in counted {
                    other.release();
                }
                return Err(failure);
            }
            counted.push(caller);
        }
        Ok(limit)
    }

    fn admit_by_any(
        &self,
        grants: &[&NetGrant],
        origin: &str,
        body: u64,
        rates: &RateLimits,
    ) -> Result<u64, OperationError> {
        let mut first = None;
        for grant in grants {
            match self.admit_by(grant, origin, body, rates) {
                Ok(()) => return Ok(grant.response_bytes),
                Err(failure) => first = first.or(Some(failure)),
            }
        }
        Err(first.unwrap_or_else(|| quota_error("net-not-granted", "no request is granted")))
    }

    fn release(&self) {
        self.meter.calls.fetch_sub(1, Ordering::Relaxed);
    }

    fn admit_by(&self, grant: &NetGrant, origin: &str, body: u64, rates: &RateLimits) -> Result<(), OperationError> {
        if body > grant.request_bytes {
            let message = format!(
                "the body for {origin} has {body} bytes, the limit is {}; send less, or raise `request_bytes`",
                grant.request_bytes
            );
            return Err(quota_error("net-request-too-large", message));
        }
        let count = |calls: u32| (calls < grant.calls).then_some(calls + 1);
        if self.meter.calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).is_err() {
            let message = format!(
                "this run and the tools that it called have made {} requests, the limit for {origin} is {}; \
                 make fewer, or raise `calls`",
                self.meter.calls.load(Ordering::Relaxed),
                grant.calls
            );
            return Err(quota_error("net-too-many-calls", message));
        }
        if let Some(rate) = grant.per_minute
            && !rates.admit(&self.tool, rate)
        {
            self.release();
            let message = format!(
                "this tool has made its {rate} requests per minute to {origin}; retry later, or raise `per_minute`"
            );
            return Err(quota_error("net-rate", message));
        }
        Ok(())
    }

    /// Returns the error that names the mismatch of the closest grant, and the policy line that
    /// would allow the request.
    fn not_granted(&self, request: &NetRequest<'_>, origin: &str) -> OperationError {
        let asked = format!("{} {origin}", request.method.name());
        let nearest = self.grants.iter().rev().filter_map(|grant| Some((grant.first_mismatch(request)?, grant)));
        // Parts are checked in order, so the closest grant is the one whose mismatch is the last
        // part.
        let Some((part, grant)) = nearest.max_by_key(|(part, _)| *part) else {
            let line = format!("host = \"{}\"", request.host);
            let message =
                format!("{asked} is not granted: there is no `net` grant; the policy needs one with `{line}`");
            return type_error("net-not-granted", message);
        };
        let (name, line) = missing_line(part, grant, request);
        let message = format!(
            "{asked} is not granted: its {name} is not in `{grant}`; the policy needs `{line}` in a `net` grant"
        );
        type_error("net-not-granted", message)
    }
}

fn missing_line(part: NetPart, grant: &NetGrant, request: &NetRequest<'_>) -> (&'static str, String) {
    match part {
        NetPart::Host => ("host", format!("host = \"{}\"", request.host)),
        NetPart::Scheme => ("scheme", format!("scheme = \"{}\"", request.scheme.name())),
        NetPart::Port => {
            let ports: Vec<String> = grant.ports.iter().chain([&request.port]).map(ToString::to_string).collect();
            ("port", format!("ports = [{}]", ports.join(", ")))
        }
        NetPart::Path => ("path", format!("path = \"{}\"", error::escape_for_display(request.path))),
        NetPart::Method => {
            let methods = grant.methods.iter().chain([&request.method]).map(|method| format!("\"{}\"", method.name()));
            ("method", format!("methods = [{}]", methods.collect::<Vec<_>>().join(", ")))
        }
    }
}

/// Returns the origin of a URL, for messages: never its path or its query.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
