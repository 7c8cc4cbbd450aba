//! Secrets, and the destinations they may be sent to.
//!
//! Invariant: a value leaves [`Secret`] only as a part of a request that its grant allows. It is
//! never displayed.

use std::collections::BTreeSet;
use std::fmt;

use toolcell_protocol::OperationError;
use toolcell_tool::{SecretGrant, SecretLocation as Place};

use crate::net::error::type_error;

/// The allowed size of a value, in bytes. A shorter value could occur in responses by chance.
const VALUE_BYTES: std::ops::RangeInclusive<usize> = 8..=8_192;

/// The value of a secret.
///
/// # Examples
/// ```
/// use toolcell_capabilities::Secret;
///
/// let secret = Secret::parse("correct horse battery".to_owned())?;
/// assert_eq!(format!("{secret} {secret:?}"), "*** Secret(***)");
/// assert_eq!(Secret::parse("short".to_owned()).unwrap_err().code(), "secret-invalid");
/// # Ok::<(), toolcell_capabilities::SecretError>(())
/// ```
#[derive(Clone)]
pub struct Secret(String);

/// The error of an invalid value, which does not contain the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[code(SecretInvalid)]
pub enum SecretError {
    /// The value is too short or too long; its size, in bytes.
    #[error("the value of a secret must have 8 to 8192 bytes, it has {0}")]
    #[hint("set the whole value, and nothing else")]
    Length(usize),
    /// The value has control characters, which headers cannot contain.
    #[error("the value of a secret contains a line break or another control character")]
    #[hint("set it without a trailing line break")]
    Control,
}

impl Secret {
    /// Creates a secret from its value.
    ///
    /// # Errors
    /// `secret-invalid`: shorter than 8 or longer than 8,192 bytes, or with control characters.
    pub fn parse(value: String) -> Result<Self, SecretError> {
        if !VALUE_BYTES.contains(&value.len()) {
            return Err(SecretError::Length(value.len()));
        }
        if value.chars().any(char::is_control) {
            return Err(SecretError::Control);
        }
        Ok(Self(value))
    }

    pub(super) fn value(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The properties of a request's destination that decide which secrets may be sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'a> {
    pub(super) host: &'a str,
    /// Whether a redirect downgraded the chain from https to http.
    pub(super) is_downgraded: bool,
}

/// The secrets of a run, and those that other tools may send.
pub(super) struct Secrets {
    /// The secrets; those of the run come first.
    all: Vec<(SecretGrant, Secret)>,
    /// The number of secrets of the run.
    own: usize,
}

impl Secrets {
    /// Collects the secrets. The run's own grants take precedence; of the others only the hosts
    /// matter.
    pub(super) fn new(granted: Vec<(SecretGrant, Secret)>, others: Vec<(SecretGrant, Secret)>) -> Self {
        let own = granted.len();
        Self { all: granted.into_iter().chain(others).collect(), own }
    }

    /// Returns whether some tool may send a secret to a host, so that parts of its responses could
    /// be parts of a value.
    pub(super) fn has_any_for(&self, host: &str) -> bool {
        self.all.iter().any(|(grant, _)| allows_host(grant, host))
    }

    /// Returns the indices of the secrets to search for in the responses of a host: those of the
    /// run, and those that any tool may send there.
    pub(super) fn watched_for(&self, host: &str) -> Vec<usize> {
        let is_watched =
            |(at, (grant, _)): &(usize, &(SecretGrant, Secret))| *at < self.own || allows_host(grant, host);
        let is_first = |at: usize| {
            let name = &self.all[at].0.name;
            !self.all[..at].iter().enumerate().any(|one| one.1.0.name == *name && is_watched(&one))
        };
        self.all.iter().enumerate().filter(is_watched).map(|(at, _)| at).filter(|at| is_first(*at)).collect()
    }

    /// Returns the indices of all secrets.
    pub(super) fn all(&self) -> Vec<usize> {
        (0..self.all.len()).collect()
    }

    /// Returns the names and values of the secrets with these indices.
    pub(super) fn select<'a>(&'a self, places: &'a [usize]) -> impl Iterator<Item = (&'a str, &'a Secret)> {
        places.iter().filter_map(|at| self.all.get(*at)).map(|(grant, secret)| (grant.name.as_str(), secret))
    }

    /// Returns the value of a secret, if it may be sent at this location of a request to this
    /// destination.
    pub(super) fn value(&self, name: &str, place: Place, to: Destination<'_>) -> Result<&str, OperationError> {
        let found = self.all[..self.own].iter().find(|(grant, _)| grant.name.as_str() == name);
        let Some((grant, secret)) = found else {
            let next = "grant it to the tool with `secrets` in the policy";
            let message = format!("the secret `{name}` is not granted, so its placeholder was not replaced; {next}");
            return Err(type_error("secret-not-granted", message));
        };
        if !grant.into.contains(&place) {
            let mut places: BTreeSet<Place> = grant.into.clone();
            places.insert(place);
            let line: Vec<String> = places.iter().map(|place| format!("\"{}\"", place.name())).collect();
            let message = format!(
                "the secret `{name}` may not be in the {} of a request; the policy needs `into = [{}]`",
                place.name(),
                line.join(", ")
            );
            return Err(type_error("secret-misplaced", message));
        }
        check_destination(grant, to)?;
        Ok(secret.value())
    }

    /// Rejects a redirect to a URL that contains secrets which may not be sent there.
    pub(super) fn check_redirect(
        &self,
        mentioned: &BTreeSet<usize>,
        to: Destination<'_>,
    ) -> Result<(), OperationError> {
        mentioned
            .iter()
            .filter_map(|index| self.all.get(*index))
            .try_for_each(|(grant, _)| check_destination(grant, to))
    }
}

fn allows_host(grant: &SecretGrant, host: &str) -> bool {
    grant.hosts.iter().any(|pattern| pattern.covers(host))
}

fn check_destination(grant: &SecretGrant, to: Destination<'_>) -> Result<(), OperationError> {
    let (name, host) = (&grant.name, to.host);
    if !allows_host(grant, host) {
        let next = format!("the policy needs `\"{host}\"` in the `hosts` of this secret");
        return Err(type_error(
            "secret-not-granted",
            format!("the secret `{name}` may not be sent to `{host}`; {next}"),
        ));
    }
    if to.is_downgraded {
        let why = "a redirect leads from https to unencrypted http; request its target directly";
        return Err(type_error("secret-not-granted", format!("the secret `{name}` was not sent to `{host}`: {why}")));
    }
    Ok(())
}
