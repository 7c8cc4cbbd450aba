//! Grants of secrets that the host substitutes into requests.
//!
//! Invariant: a grant contains the name of a secret, never its value, and at least one host to
//! which it may be sent.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use toolcell_i18n::{Localize, Message, message};

use crate::grants::error::GrantError;
use crate::grants::host::HostPattern;
use crate::grants::identifier::SecretName;
use crate::grants::{HOSTS_LIMIT, maximal};

/// A part of a request in which a secret may appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretLocation {
    /// The value of a header.
    Header,
    /// The query of the URL.
    Query,
    /// The body.
    Body,
}

impl SecretLocation {
    /// Returns the name used in policies and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Query => "query",
            Self::Body => "body",
        }
    }
}

/// A grant of a secret that the host substitutes into requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "RawSecretGrant")]
pub struct SecretGrant {
    /// The name of the secret.
    pub name: SecretName,
    /// The hosts to which it may be sent.
    pub hosts: Vec<HostPattern>,
    /// The parts of a request in which it may appear; default the header.
    pub into: BTreeSet<SecretLocation>,
}

impl SecretGrant {
    /// Creates a grant of a secret for these hosts, in headers only.
    #[must_use]
    pub fn new(name: SecretName, hosts: Vec<HostPattern>) -> Self {
        Self { name, hosts, into: BTreeSet::from([SecretLocation::Header]) }
    }

    /// Validates the grant.
    ///
    /// # Errors
    /// `grant-invalid`: no host, too many hosts, or no location.
    pub fn validate(mut self) -> Result<Self, GrantError> {
        let wrong = |why| Err(GrantError::new(message!("secret grant"), self.name.as_str(), why));
        if self.hosts.len() > HOSTS_LIMIT {
            let count = self.hosts.len();
            return wrong(message!("it has {count} hosts, the limit is {limit}", count, limit = HOSTS_LIMIT));
        }
        if self.hosts.is_empty() {
            return wrong(message!("it has no host; name the hosts to which the secret may be sent"));
        }
        if self.into.is_empty() {
            return wrong(message!("it has no location; list where the secret may be put: `header`, `query`, `body`"));
        }
        self.hosts = maximal(std::mem::take(&mut self.hosts), HOSTS_LIMIT, HostPattern::includes);
        Ok(self)
    }

    /// Returns the intersection of both grants, or `None` if nothing is left.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let pairs = self.hosts.iter().flat_map(|own| other.hosts.iter().filter_map(|host| own.intersect(host)));
        let hosts = maximal(pairs.collect(), HOSTS_LIMIT, HostPattern::includes);
        let into = &self.into & &other.into;
        let both = self.name == other.name && !hosts.is_empty() && !into.is_empty();
        both.then(|| Self { name: self.name.clone(), hosts, into })
    }
}

impl Localize for SecretGrant {
    fn localize(&self) -> Message {
        let into: Vec<&str> = self.into.iter().map(|into| into.name()).collect();
        let hosts: Vec<String> = self.hosts.iter().map(ToString::to_string).collect();
        let (name, locations, hosts) = (&self.name, into.join(", "), hosts.join(", "));
        message!("{name} in {locations} to {hosts}", name, locations, hosts)
    }
}

impl fmt::Display for SecretGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSecretGrant {
    name: SecretName,
    hosts: Vec<HostPattern>,
    into: Option<BTreeSet<SecretLocation>>,
}

impl TryFrom<RawSecretGrant> for SecretGrant {
    type Error = GrantError;

    fn try_from(form: RawSecretGrant) -> Result<Self, GrantError> {
        let plain = Self::new(form.name, form.hosts);
        Self { into: form.into.unwrap_or(plain.into), ..plain }.validate()
    }
}
