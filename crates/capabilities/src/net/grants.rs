//! What grants say of a request.
//!
//! Invariant: a request counts once, whichever grant lets it pass, and one that does not pass counts nowhere. It counts in its run
//! and in each run that this is called within, against the grants of each.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ipnet::IpNet;
use toolcell_tool::{Method, NetGrant, NetPart, NetRequest, Scheme};
use url::{Host, Url};

use crate::failure::Failure;
use crate::meters::Meter;
use crate::net::address;
use crate::net::client::{Reach, Unpacks};
use crate::net::fault::{self, quota, type_error};
use crate::net::rate::Rates;

/// The grants of a run, and what it has used of them.
pub(super) struct Granted {
    tool: String,
    /// Those that let the most come back first.
    grants: Vec<NetGrant>,
    /// What was used by all runs of the tool in the same tree of runs.
    meter: Arc<Meter>,
    /// The grants of the run that it is called within.
    caller: Option<Arc<Granted>>,
}

/// The grants that allow a request.
pub(super) struct Allowed<'a> {
    pub(super) reach: Reach,
    request: NetRequest<'a>,
    grants: Vec<&'a NetGrant>,
    origin: String,
}

impl Allowed<'_> {
    /// Where the request goes.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }
}

impl Granted {
    pub(super) fn new(tool: String, mut grants: Vec<NetGrant>, meter: Arc<Meter>, caller: Option<Arc<Self>>) -> Self {
        grants.sort_by_key(|grant| std::cmp::Reverse(grant.response_bytes));
        Self { tool, grants, meter, caller }
    }

    /// The grants that allow a request, as far as it can be told without asking who its host is.
    pub(super) fn allow<'a>(&'a self, url: &'a Url, method: Method) -> Result<Allowed<'a>, Failure> {
        let origin = origin(url);
        let not_asked = || type_error("net-url", "the URL cannot be asked for; write it as `https://host/path`");
        let scheme = Scheme::named(url.scheme()).ok_or_else(not_asked)?;
        let host = url.host_str().ok_or_else(not_asked)?;
        let port = url.port_or_known_default().unwrap_or(scheme.port());
        let request = NetRequest { scheme, host, port, method, path: url.path() };
        let grants: Vec<&NetGrant> = self.grants.iter().filter(|grant| grant.allows(&request)).collect();
        if grants.is_empty() {
            return Err(self.refused(&request, &origin));
        }
        let mut addresses: Vec<IpNet> = grants.iter().flat_map(|grant| grant.addresses.iter().copied()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        // A host that is an address is never looked up, so nobody else would check it.
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(_)) | None => None,
        };
        if let Some(literal) = literal {
            address::check(host, literal, &addresses).map_err(|refused| fault::address(&refused))?;
        }
        let reach = Reach { scheme, addresses: Arc::from(addresses), unpacks: Unpacks::Library };
        Ok(Allowed { reach, request, grants, origin })
    }

    /// Counts a request, if one of the grants that allow it has not been used up, nor those of the runs that this one is called within;
    /// says how much may come back.
    pub(super) fn admit(&self, allowed: &Allowed<'_>, body: u64, rates: &Rates) -> Result<u64, Failure> {
        let limit = self.admit_by_any(&allowed.grants, &allowed.origin, body, rates)?;
        let mut counted = vec![self];
        let mut above = self.caller.as_deref();
        while let Some(caller) = above {
            above = caller.caller.as_deref();
            // A tool that is called within itself counts once.
            if counted.iter().any(|other| Arc::ptr_eq(&other.meter, &caller.meter)) {
                continue;
            }
            let grants: Vec<&NetGrant> = caller.grants.iter().filter(|grant| grant.allows(&allowed.request)).collect();
            if let Err(failure) = caller.admit_by_any(&grants, &allowed.origin, body, rates) {
                for other in counted {
                    other.give_back();
                }
                return Err(failure);
            }
            counted.push(caller);
        }
        Ok(limit)
    }

    fn admit_by_any(&self, grants: &[&NetGrant], origin: &str, body: u64, rates: &Rates) -> Result<u64, Failure> {
        let mut first = None;
        for grant in grants {
            match self.admit_by(grant, origin, body, rates) {
                Ok(()) => return Ok(grant.response_bytes),
                Err(failure) => first = first.or(Some(failure)),
            }
        }
        Err(first.unwrap_or_else(|| quota("net-not-granted", "no request is granted")))
    }

    fn give_back(&self) {
        self.meter.calls.fetch_sub(1, Ordering::Relaxed);
    }

    fn admit_by(&self, grant: &NetGrant, origin: &str, body: u64, rates: &Rates) -> Result<(), Failure> {
        if body > grant.request_bytes {
            let message = format!(
                "the body for {origin} has {body} bytes, the limit is {}; send less, or raise `request_bytes`",
                grant.request_bytes
            );
            return Err(quota("net-request-too-large", message));
        }
        let count = |calls: u32| (calls < grant.calls).then_some(calls + 1);
        if self.meter.calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).is_err() {
            let message = format!(
                "this run, with the runs of tools that it calls, has made {} requests already, the limit for {origin} is {}; make \
                 fewer, or raise `calls`",
                self.meter.calls.load(Ordering::Relaxed),
                grant.calls
            );
            return Err(quota("net-too-many-calls", message));
        }
        if let Some(rate) = grant.per_minute
            && !rates.admit(&self.tool, rate)
        {
            self.give_back();
            let message = format!(
                "this tool has made its {rate} requests a minute to {origin}; ask again later, or raise `per_minute`"
            );
            return Err(quota("net-rate", message));
        }
        Ok(())
    }

    /// Names the part of a request that the nearest grant misses, and the line that would give it.
    fn refused(&self, request: &NetRequest<'_>, origin: &str) -> Failure {
        let asked = format!("{} {origin}", request.method.name());
        let nearest = self.grants.iter().rev().filter_map(|grant| Some((grant.misses(request)?, grant)));
        // The parts are looked at in their order, so the nearest misses the last of them.
        let Some((part, grant)) = nearest.max_by_key(|(part, _)| *part) else {
            let line = format!("host = \"{}\"", request.host);
            let message =
                format!("{asked} is not granted, nor is any request; the policy would need a `net` with `{line}`");
            return type_error("net-not-granted", message);
        };
        let (name, line) = line(part, grant, request);
        let message = format!(
            "{asked} is not granted: its {name} is not in `{grant}`; the policy would need `{line}` in a `net`"
        );
        type_error("net-not-granted", message)
    }
}

fn line(part: NetPart, grant: &NetGrant, request: &NetRequest<'_>) -> (&'static str, String) {
    match part {
        NetPart::Host => ("host", format!("host = \"{}\"", request.host)),
        NetPart::Scheme => ("scheme", format!("scheme = \"{}\"", request.scheme.name())),
        NetPart::Port => {
            let ports: Vec<String> = grant.ports.iter().chain([&request.port]).map(ToString::to_string).collect();
            ("port", format!("ports = [{}]", ports.join(", ")))
        }
        NetPart::Path => ("path", format!("path = \"{}\"", fault::shown(request.path))),
        NetPart::Method => {
            let methods = grant.methods.iter().chain([&request.method]).map(|method| format!("\"{}\"", method.name()));
            ("method", format!("methods = [{}]", methods.collect::<Vec<_>>().join(", ")))
        }
    }
}

/// What of a URL is shown: never its path or its query.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
