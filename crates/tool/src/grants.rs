//! What a host hands to a tool, as data: exactly what, and how much of it.
//!
//! Invariant: [`Grants::meet`] grants what both grant and nothing else, so that a project narrows what its user grants, a tool
//! that is called has no more than its caller, and no order of the two matters. What both grant has at most 128 parts of
//! a capability: of more, the rest is not granted. The canonical form says everything, also what
//! holds where nothing is said: an approval that is bound to it never comes to mean something else.

mod callees;
mod error;
mod host;
mod kept;
mod net;
mod path;
mod secret;
mod word;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Not;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capability::Capability;

pub use callees::Callees;
pub use error::GrantError;
pub use host::{Domain, Endpoint, HostPattern};
pub use kept::{Access, FilesGrant, KvGrant};
pub use net::{Method, NetGrant, NetPart, NetRequest, Scheme, parse_addresses};
pub use path::PathPrefix;
pub use secret::{Into, SecretGrant};
pub use word::{FolderName, SecretName, SpaceName};

/// A number of bytes.
pub type Bytes = u64;

const MIB: Bytes = 1 << 20;

/// The most bytes that a cap can say: a canonical form keeps such a number exactly.
pub const MAX_BYTES: Bytes = 1 << 40;
/// How many grants of one capability there may be.
pub const GRANTS_LIMIT: usize = 32;
/// How many hosts, and how many ranges of addresses, there may be in one grant.
pub const HOSTS_LIMIT: usize = 64;
/// How many grants of one capability remain of what several rules have in common: each is compared with each.
const MET_LIMIT: usize = 128;

/// What a tool is granted.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_tool::{Capability, Grants};
///
/// let own: Grants = serde_json::from_value(json!({ "timers": true, "net": [{ "host": "*.example.com" }] }))?;
/// let callers: Grants = serde_json::from_value(json!({ "net": [{ "host": "any", "calls": 5 }], "clock": true }))?;
/// let both = own.meet(&callers);
/// assert_eq!(both.to_string(), "net (GET, HEAD https://*.example.com, at most 5 requests a run)");
/// assert!(both.has(Capability::Net) && !both.has(Capability::Timers));
/// assert_eq!(Grants { timers: true, ..Grants::default() }.to_value(), json!({ "timers": true }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "Form")]
pub struct Grants {
    /// Waiting: `setTimeout`, `setInterval`.
    #[serde(skip_serializing_if = "Not::not")]
    pub timers: bool,
    /// The real time.
    #[serde(skip_serializing_if = "Not::not")]
    pub clock: bool,
    /// Real random numbers.
    #[serde(skip_serializing_if = "Not::not")]
    pub random: bool,
    /// Requests to other machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub net: Vec<NetGrant>,
    /// A space of keys and values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv: Option<KvGrant>,
    /// Folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FilesGrant>,
    /// Secrets that the host puts into requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretGrant>,
    /// Other tools that may be called.
    #[serde(skip_serializing_if = "Callees::is_empty")]
    pub tools: Callees,
}

impl Grants {
    /// Whether nothing is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether something is granted of a capability.
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
        }
    }

    /// The capabilities of which something is granted.
    #[must_use]
    pub fn names(&self) -> BTreeSet<Capability> {
        Capability::ALL.into_iter().filter(|capability| self.has(*capability)).collect()
    }

    /// What is granted of one capability, and nothing else.
    #[must_use]
    pub fn of(&self, capability: Capability) -> Self {
        let mut of = Self::default();
        of.take(capability, self);
        of
    }

    /// These, with what others grant of one capability in place of what these do.
    pub fn take(&mut self, capability: Capability, of: &Self) {
        match capability {
            Capability::Timers => self.timers = of.timers,
            Capability::Clock => self.clock = of.clock,
            Capability::Random => self.random = of.random,
            Capability::Net => self.net.clone_from(&of.net),
            Capability::Kv => self.kv.clone_from(&of.kv),
            Capability::Files => self.files.clone_from(&of.files),
            Capability::Secrets => self.secrets.clone_from(&of.secrets),
            Capability::Tools => self.tools.clone_from(&of.tools),
        }
    }

    /// What both grant.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        Self {
            timers: self.timers && other.timers,
            clock: self.clock && other.clock,
            random: self.random && other.random,
            net: pairs(&self.net, &other.net, NetGrant::meet, NetGrant::covers),
            kv: self.kv.as_ref().zip(other.kv.as_ref()).and_then(|(own, other)| own.meet(other)),
            files: pairs(&self.files, &other.files, FilesGrant::meet, |one, two| one == two),
            secrets: pairs(&self.secrets, &other.secrets, SecretGrant::meet, |one, two| one == two),
            tools: self.tools.meet(&other.tools),
        }
    }

    /// Whether others grant all that these grant.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.meet(other) == self.clone().in_order()
    }

    /// What is granted of a capability, if it is only for what a tool names: hosts, a space, folders, secrets, tools.
    #[must_use]
    pub fn only(&self, capability: Capability, named: &BTreeSet<String>) -> Self {
        let mut only = self.of(capability);
        match capability {
            Capability::Timers | Capability::Clock | Capability::Random => {}
            Capability::Net => {
                let asked: Vec<Endpoint> = named.iter().filter_map(|name| Endpoint::parse(name).ok()).collect();
                let at = asked.iter().flat_map(|asked| only.net.iter().filter_map(|grant| grant.at(asked)));
                // A draft may name thousands of hosts. The first of them are looked for in every grant.
                only.net = maximal(at.take(MET_LIMIT * GRANTS_LIMIT).collect(), MET_LIMIT, NetGrant::covers);
            }
            Capability::Kv => only.kv = only.kv.filter(|kv| named.contains(kv.space.as_str())),
            Capability::Files => only.files.retain(|folder| named.contains(folder.name.as_str())),
            Capability::Secrets => only.secrets.retain(|secret| named.contains(secret.name.as_str())),
            Capability::Tools => {
                let callees = named.iter().filter_map(|name| Callees::parse(name).ok());
                only.tools = only.tools.meet(&Callees::these(callees));
            }
        }
        only
    }

    /// The same in the one order, and without what is granted by something else already.
    #[must_use]
    pub fn in_order(self) -> Self {
        let mut grants = self;
        grants.net = maximal(grants.net, MET_LIMIT, NetGrant::covers);
        grants.files = maximal(grants.files, MET_LIMIT, |one, two| one == two);
        grants.secrets = maximal(grants.secrets, MET_LIMIT, |one, two| one == two);
        grants
    }

    /// The canonical form, which approvals are bound to: `{}` for nothing.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // Words, numbers and lists of them: there is nothing in it that cannot be written.
        serde_json::to_value(self.clone().in_order()).unwrap_or_default()
    }

    /// The grants, if they go together.
    ///
    /// # Errors
    /// `grant-invalid`: too many of one capability, two folders or two secrets of one name.
    pub fn checked(self) -> Result<Self, GrantError> {
        for (what, count) in [
            ("number of grants of net", self.net.len()),
            ("number of folders", self.files.len()),
            ("number of secrets", self.secrets.len()),
        ] {
            within(what, count as u64, 0, GRANTS_LIMIT as u64)?;
        }
        if let Some(name) = twice(self.files.iter().map(|folder| folder.name.as_str())) {
            return Err(GrantError::new("name of one folder", name, "two are called so"));
        }
        if let Some(name) = twice(self.secrets.iter().map(|secret| secret.name.as_str())) {
            return Err(GrantError::new("name of one secret", name, "two are called so"));
        }
        Ok(self.in_order())
    }
}

impl fmt::Display for Grants {
    /// One line for a person: `timers, net (GET, HEAD https://api.example.com)`; `nothing` where nothing is granted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Display>(of: &[T]) -> String {
            of.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        }
        let said = Capability::ALL.into_iter().filter(|capability| self.has(*capability)).map(|capability| {
            let what = match capability {
                Capability::Timers | Capability::Clock | Capability::Random => return capability.name().to_owned(),
                Capability::Net => list(&self.net),
                Capability::Kv => self.kv.as_ref().map(ToString::to_string).unwrap_or_default(),
                Capability::Files => list(&self.files),
                Capability::Secrets => list(&self.secrets),
                Capability::Tools => self.tools.to_string(),
            };
            format!("{} ({what})", capability.name())
        });
        let said = said.collect::<Vec<_>>().join(", ");
        f.write_str(if said.is_empty() { "nothing" } else { &said })
    }
}

/// What is written of grants; what is left out is not granted.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Form {
    timers: bool,
    clock: bool,
    random: bool,
    net: Vec<NetGrant>,
    kv: Option<KvGrant>,
    files: Vec<FilesGrant>,
    secrets: Vec<SecretGrant>,
    tools: Callees,
}

impl TryFrom<Form> for Grants {
    type Error = GrantError;

    fn try_from(form: Form) -> Result<Self, GrantError> {
        let Form { timers, clock, random, net, kv, files, secrets, tools } = form;
        Self { timers, clock, random, net, kv, files, secrets, tools }.checked()
    }
}

/// What each of some and each of others have in common.
fn pairs<T: Ord>(
    some: &[T],
    others: &[T],
    meet: impl Fn(&T, &T) -> Option<T>,
    covers: impl Fn(&T, &T) -> bool,
) -> Vec<T> {
    let both = some.iter().flat_map(|one| others.iter().filter_map(|other| meet(one, other)).collect::<Vec<_>>());
    maximal(both.collect(), MET_LIMIT, covers)
}

/// Those that no other one covers, in order, and no more than the limit: each is compared with those that are kept.
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

fn twice<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(*name))
}

/// Refuses a number that is out of its range.
pub(crate) fn within(what: &'static str, value: u64, least: u64, most: u64) -> Result<(), GrantError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(GrantError::new(what, &value.to_string(), format!("it must be {least} to {most}")))
}

#[cfg(test)]
mod tests;
