//! Grants: exactly which resources a host gives to a tool, and how much of each.
//!
//! Invariant: [`Grants::intersect`] grants what both operands grant and nothing else, and is
//! commutative. So a project can only narrow what its user grants, and a called tool never has more
//! than its caller. An intersection has at most 128 entries per capability; entries beyond that are
//! not granted. The canonical form spells out the default values, so an approval that is bound to
//! it keeps its meaning if defaults change.

mod argument;
mod error;
mod host;
mod identifier;
mod net;
mod path;
mod secret;
mod servers;
mod storage;
mod tools;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Not;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcell_i18n::{Localize, Message, message};

use crate::capability::Capability;

pub use error::GrantError;
pub use host::{Domain, Endpoint, HostPattern};
pub use identifier::{FolderName, SecretName, SpaceName};
pub use net::{Method, NetGrant, NetPart, NetRequest, Scheme, parse_address_range};
pub use path::PathPrefix;
pub use secret::{SecretGrant, SecretLocation};
pub use servers::{ServerName, ServerToolName, ServerTools, ServersGrant};
pub use storage::{Access, FilesGrant, KvGrant};
pub use tools::CallableTools;

/// A number of bytes.
pub type Bytes = u64;

const MIB: Bytes = 1 << 20;

/// The maximum value of a byte limit. It is small enough for the canonical form to represent it
/// exactly.
pub const MAX_BYTES: Bytes = 1 << 40;
/// The maximum number of grants of one capability.
pub const GRANTS_LIMIT: usize = 32;
/// The maximum number of hosts, and of address ranges, in one grant.
pub const HOSTS_LIMIT: usize = 64;
/// The maximum number of grants of one capability in an intersection, which compares each grant
/// with each.
const INTERSECTION_LIMIT: usize = 128;

/// The resources that a tool is granted.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_tool::{Capability, Grants};
///
/// let own: Grants = serde_json::from_value(json!({ "timers": true, "net": [{ "host": "*.example.com" }] }))?;
/// let callers: Grants = serde_json::from_value(json!({ "net": [{ "host": "any", "calls": 5 }], "clock": true }))?;
/// let both = own.intersect(&callers);
/// assert_eq!(both.to_string(), "net (GET, HEAD https://*.example.com, at most 5 requests per run)");
/// assert!(both.has(Capability::Net) && !both.has(Capability::Timers));
/// assert_eq!(Grants { timers: true, ..Grants::default() }.to_value(), json!({ "timers": true }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "RawGrants")]
pub struct Grants {
    /// Timers: `setTimeout`, `setInterval`.
    #[serde(skip_serializing_if = "Not::not")]
    pub timers: bool,
    /// The wall clock.
    #[serde(skip_serializing_if = "Not::not")]
    pub clock: bool,
    /// The operating system's random numbers.
    #[serde(skip_serializing_if = "Not::not")]
    pub random: bool,
    /// HTTP requests to other machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub net: Vec<NetGrant>,
    /// A key-value space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv: Option<KvGrant>,
    /// Folders on disk.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FilesGrant>,
    /// Secrets that the host substitutes into requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretGrant>,
    /// Other tools that the tool may call.
    #[serde(skip_serializing_if = "CallableTools::is_empty")]
    pub tools: CallableTools,
    /// Tools of MCP servers that the tool may call.
    #[serde(skip_serializing_if = "ServersGrant::is_empty")]
    pub servers: ServersGrant,
}

impl Grants {
    /// Returns whether nothing is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether anything is granted for a capability.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        match capability {
            Capability::Timers => self.timers,
            Capability::Clock => self.clock,
            Capability::Random => self.random,
            Capability::Net => !self.net.is_empty(),
            Capability::Kv => self.kv.is_some(),
            Capability::Files => !self.files.is_empty(),
            Capability::Secrets => !self.secrets.is_empty(),
            Capability::Tools => !self.tools.is_empty(),
            Capability::Servers => !self.servers.is_empty(),
        }
    }

    /// Returns the capabilities for which anything is granted.
    #[must_use]
    pub fn capabilities(&self) -> BTreeSet<Capability> {
        Capability::ALL.into_iter().filter(|capability| self.has(*capability)).collect()
    }

    /// Returns only the grants of one capability.
    #[must_use]
    pub fn for_capability(&self, capability: Capability) -> Self {
        let mut of = Self::default();
        of.set_capability(capability, self);
        of
    }

    /// Replaces the grants of one capability with those of another value.
    pub fn set_capability(&mut self, capability: Capability, of: &Self) {
        match capability {
            Capability::Timers => self.timers = of.timers,
            Capability::Clock => self.clock = of.clock,
            Capability::Random => self.random = of.random,
            Capability::Net => self.net.clone_from(&of.net),
            Capability::Kv => self.kv.clone_from(&of.kv),
            Capability::Files => self.files.clone_from(&of.files),
            Capability::Secrets => self.secrets.clone_from(&of.secrets),
            Capability::Tools => self.tools.clone_from(&of.tools),
            Capability::Servers => self.servers.clone_from(&of.servers),
        }
    }

    /// Returns the intersection: what both operands grant.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            timers: self.timers && other.timers,
            clock: self.clock && other.clock,
            random: self.random && other.random,
            net: intersect_pairwise(&self.net, &other.net, NetGrant::intersect, NetGrant::includes),
            kv: self.kv.as_ref().zip(other.kv.as_ref()).and_then(|(own, other)| own.intersect(other)),
            files: intersect_pairwise(&self.files, &other.files, FilesGrant::intersect, |one, two| one == two),
            secrets: intersect_pairwise(&self.secrets, &other.secrets, SecretGrant::intersect, |one, two| one == two),
            tools: self.tools.intersect(&other.tools),
            servers: self.servers.intersect(&other.servers),
        }
    }

    /// Returns whether `other` grants everything that `self` grants.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        self.intersect(other) == self.clone().canonicalize()
    }

    /// Returns the grants of one capability, restricted to the parts that a tool asks for by name:
    /// hosts, a space, folders, secrets, tools, or servers and their tools. Capabilities without parts are returned whole.
    #[must_use]
    pub fn restrict_to(&self, capability: Capability, named: &BTreeSet<String>) -> Self {
        let mut only = self.for_capability(capability);
        match capability {
            Capability::Timers | Capability::Clock | Capability::Random => {}
            Capability::Net => {
                let asked: Vec<Endpoint> = named.iter().filter_map(|name| Endpoint::parse(name).ok()).collect();
                let at = asked.iter().flat_map(|asked| only.net.iter().filter_map(|grant| grant.restrict_to(asked)));
                // A draft may name thousands of hosts. This bounds the work: only the first
                // candidates are considered.
                only.net = maximal(
                    at.take(INTERSECTION_LIMIT * GRANTS_LIMIT).collect(),
                    INTERSECTION_LIMIT,
                    NetGrant::includes,
                );
            }
            Capability::Kv => only.kv = only.kv.filter(|kv| named.contains(kv.space.as_str())),
            Capability::Files => only.files.retain(|folder| named.contains(folder.name.as_str())),
            Capability::Secrets => only.secrets.retain(|secret| named.contains(secret.name.as_str())),
            Capability::Tools => {
                let callees = named.iter().filter_map(|name| CallableTools::parse_name(name).ok());
                only.tools = only.tools.intersect(&CallableTools::from_names(callees));
            }
            Capability::Servers => {
                let mut asked = ServersGrant::default();
                named.iter().filter_map(|name| ServersGrant::parse_part(name).ok()).for_each(|part| asked.extend(part));
                only.servers = only.servers.intersect(&asked);
            }
        }
        only
    }

    /// Sorts the grants and removes those that another grant includes.
    #[must_use]
    pub fn canonicalize(self) -> Self {
        let mut grants = self;
        grants.net = maximal(grants.net, INTERSECTION_LIMIT, NetGrant::includes);
        grants.files = maximal(grants.files, INTERSECTION_LIMIT, |one, two| one == two);
        grants.secrets = maximal(grants.secrets, INTERSECTION_LIMIT, |one, two| one == two);
        grants
    }

    /// Returns the canonical form, to which approvals are bound: `{}` if nothing is granted.
    ///
    /// # Panics
    /// Never: grants consist of strings, numbers, booleans and lists of them, which always have a
    /// JSON form. A fallback would bind approvals of different grants to the same value.
    #[must_use]
    #[expect(clippy::expect_used, reason = "approvals are bound to this value, so there is no safe fallback")]
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self.clone().canonicalize()).expect("grants can be serialized")
    }

    /// Validates the grants as a whole and canonicalizes them.
    ///
    /// # Errors
    /// `grant-invalid`: too many grants of one capability, or two folders or two secrets with the
    /// same name.
    pub fn validate(self) -> Result<Self, GrantError> {
        for (what, count) in [
            (message!("number of net grants"), self.net.len()),
            (message!("number of folders"), self.files.len()),
            (message!("number of secrets"), self.secrets.len()),
        ] {
            check_range(what, count as u64, 0, GRANTS_LIMIT as u64)?;
        }
        self.servers.validate()?;
        if let Some(name) = first_duplicate(self.files.iter().map(|folder| folder.name.as_str())) {
            return Err(GrantError::new(message!("folder name"), name, message!("two folders have it")));
        }
        if let Some(name) = first_duplicate(self.secrets.iter().map(|secret| secret.name.as_str())) {
            return Err(GrantError::new(message!("secret name"), name, message!("two secrets have it")));
        }
        Ok(self.canonicalize())
    }
}

impl Localize for Grants {
    fn localize(&self) -> Message {
        let granted = Capability::ALL.into_iter().filter(|capability| self.has(*capability)).map(|capability| {
            let parts = match capability {
                Capability::Timers | Capability::Clock | Capability::Random => {
                    return Message::verbatim(capability.name().to_owned());
                }
                Capability::Net => join(&self.net),
                Capability::Kv => join(self.kv.as_slice()),
                Capability::Files => join(&self.files),
                Capability::Secrets => join(&self.secrets),
                Capability::Tools => self.tools.localize(),
                Capability::Servers => self.servers.localize(),
            };
            message!("{capability} ({parts})", capability = capability.name(), parts)
        });
        let granted: Vec<Message> = granted.collect();
        if granted.is_empty() { message!("nothing") } else { Message::list(granted) }
    }
}

/// Joins grants of one capability. Their separator differs from the comma within a grant.
fn join<T: Localize>(grants: &[T]) -> Message {
    let grants = grants.iter().map(Localize::localize);
    grants
        .reduce(|before, next| message!("{before}; {next}", before, next))
        .unwrap_or_else(|| Message::verbatim(String::new()))
}

impl fmt::Display for Grants {
    /// Writes one line for people: `timers, net (GET, HEAD https://api.example.com)`, or `nothing`
    /// if nothing is granted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

/// The serialized form of [`Grants`]. A missing field grants nothing.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawGrants {
    timers: bool,
    clock: bool,
    random: bool,
    net: Vec<NetGrant>,
    kv: Option<KvGrant>,
    files: Vec<FilesGrant>,
    secrets: Vec<SecretGrant>,
    tools: CallableTools,
    servers: ServersGrant,
}

impl TryFrom<RawGrants> for Grants {
    type Error = GrantError;

    fn try_from(form: RawGrants) -> Result<Self, GrantError> {
        let RawGrants { timers, clock, random, net, kv, files, secrets, tools, servers } = form;
        Self { timers, clock, random, net, kv, files, secrets, tools, servers }.validate()
    }
}

/// Intersects each element of one list with each of the other.
fn intersect_pairwise<T: Ord>(
    some: &[T],
    others: &[T],
    meet: impl Fn(&T, &T) -> Option<T>,
    covers: impl Fn(&T, &T) -> bool,
) -> Vec<T> {
    let both = some.iter().flat_map(|one| others.iter().filter_map(|other| meet(one, other)).collect::<Vec<_>>());
    maximal(both.collect(), INTERSECTION_LIMIT, covers)
}

/// Returns the elements that no other element covers, sorted, at most `limit` of them. The limit
/// also bounds the number of comparisons, since each element is compared with those kept so far.
pub(crate) fn maximal<T: Ord>(mut all: Vec<T>, limit: usize, covers: impl Fn(&T, &T) -> bool) -> Vec<T> {
    all.sort_unstable();
    all.dedup();
    let mut kept: Vec<T> = Vec::new();
    for one in all {
        if !kept.iter().any(|wider| covers(wider, &one)) {
            kept.retain(|narrower| !covers(&one, narrower));
            if kept.len() < limit {
                kept.push(one);
            }
        }
    }
    kept
}

fn first_duplicate<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(*name))
}

/// Checks that a number is in its range.
pub(crate) fn check_range(what: Message, value: u64, least: u64, most: u64) -> Result<(), GrantError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(GrantError::new(what, &value.to_string(), message!("it must be {least} to {most}", least, most)))
}

#[cfg(test)]
mod tests;
