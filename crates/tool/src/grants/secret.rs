//! Secrets that the host puts into requests.
//!
//! Invariant: a grant has the name of a secret, never its value, and at least one host to which it may be sent.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::grants::error::GrantError;
use crate::grants::host::HostPattern;
use crate::grants::word::SecretName;
use crate::grants::{HOSTS_LIMIT, maximal};

/// Where in a request a secret may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Into {
    /// In the value of a header.
    Header,
    /// In the query of the URL.
    Query,
    /// In the body.
    Body,
}

impl Into {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Query => "query",
            Self::Body => "body",
        }
    }
}

/// A secret that the host puts into requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Form")]
pub struct SecretGrant {
    /// Which.
    pub name: SecretName,
    /// The hosts to which it may be sent.
    pub hosts: Vec<HostPattern>,
    /// Where in a request; in a header unless said.
    pub into: BTreeSet<Into>,
}

impl SecretGrant {
    /// What is granted of a secret where nothing more is said.
    #[must_use]
    pub fn to(name: SecretName, hosts: Vec<HostPattern>) -> Self {
        Self { name, hosts, into: BTreeSet::from([Into::Header]) }
    }

    /// The grant, if its parts go together.
    ///
    /// # Errors
    /// `grant-invalid`: no host, too many of them, or no place.
    pub fn checked(mut self) -> Result<Self, GrantError> {
        if self.hosts.len() > HOSTS_LIMIT {
            let why = format!("it has {} hosts, the limit is {HOSTS_LIMIT}", self.hosts.len());
            return Err(GrantError::new("grant of a secret", self.name.as_str(), why));
        }
        let wrong = |why: &'static str| Err(GrantError::new("grant of a secret", self.name.as_str(), why));
        if self.hosts.is_empty() {
            return wrong("it has no host; name those to which the secret may be sent");
        }
        if self.into.is_empty() {
            return wrong("it has no place; say where the secret may stand: `header`, `query`, `body`");
        }
        self.hosts = maximal(std::mem::take(&mut self.hosts), HOSTS_LIMIT, HostPattern::includes);
        Ok(self)
    }

    /// What both grant.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        let pairs = self.hosts.iter().flat_map(|own| other.hosts.iter().filter_map(|host| own.meet(host)));
        let hosts = maximal(pairs.collect(), HOSTS_LIMIT, HostPattern::includes);
        let into = &self.into & &other.into;
        let both = self.name == other.name && !hosts.is_empty() && !into.is_empty();
        both.then(|| Self { name: self.name.clone(), hosts, into })
    }
}

impl fmt::Display for SecretGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let into: Vec<&str> = self.into.iter().map(|into| into.name()).collect();
        let hosts: Vec<String> = self.hosts.iter().map(ToString::to_string).collect();
        write!(f, "{} in {} to {}", self.name, into.join(", "), hosts.join(", "))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    name: SecretName,
    hosts: Vec<HostPattern>,
    into: Option<BTreeSet<Into>>,
}

impl TryFrom<Form> for SecretGrant {
    type Error = GrantError;

    fn try_from(form: Form) -> Result<Self, GrantError> {
        let plain = Self::to(form.name, form.hosts);
        Self { into: form.into.unwrap_or(plain.into), ..plain }.checked()
    }
}
