//! Secrets, and where each may go.
//!
//! Invariant: a value leaves [`Secret`] only into a request that its grant allows, and is shown nowhere else.

use std::collections::BTreeSet;
use std::fmt;

use toolcell_tool::{Into as Place, SecretGrant};

use crate::failure::Failure;
use crate::net::fault::type_error;

/// The shortest and the longest value, in bytes. A shorter one would stand in answers by chance.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=8_192;

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

/// A value can be no secret. It is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// It is too short or too long.
    #[error("the value of a secret must have 8 to 8192 bytes, it has {0}")]
    Length(usize),
    /// A header cannot have it in it.
    #[error("the value of a secret has a line break or another control character in it")]
    Control,
}

impl SecretError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "secret-invalid"
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Length(_) => "set the whole value, and nothing else",
            Self::Control => "set it without a line break at its end",
        }
    }
}

impl Secret {
    /// Takes a value.
    ///
    /// # Errors
    /// `secret-invalid`: shorter than 8 or longer than 8,192 bytes, or with control characters in it.
    pub fn parse(value: String) -> Result<Self, SecretError> {
        if !LENGTHS.contains(&value.len()) {
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

/// Where a request goes, as far as secrets are concerned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'a> {
    pub(super) host: &'a str,
    /// Whether a redirect led there from https to http.
    pub(super) laid_open: bool,
}

/// The secrets of a run, and those that other tools may send.
pub(super) struct Secrets {
    /// Its own first.
    all: Vec<(SecretGrant, Secret)>,
    /// How many are its own.
    own: usize,
}

impl Secrets {
    /// A secret that is granted to the run itself counts by that grant; of the others only the hosts matter.
    pub(super) fn new(granted: Vec<(SecretGrant, Secret)>, others: Vec<(SecretGrant, Secret)>) -> Self {
        let own = granted.len();
        Self { all: granted.into_iter().chain(others).collect(), own }
    }

    /// Whether some tool may send a secret to a host. Then parts of its answers could be parts of a value.
    pub(super) fn are_held_for(&self, host: &str) -> bool {
        self.all.iter().any(|(grant, _)| covers(grant, host))
    }

    /// Which secrets are looked for in what a host answers: those of the run, and those that any tool may send there.
    pub(super) fn watched(&self, host: &str) -> Vec<usize> {
        let is_watched = |(at, (grant, _)): &(usize, &(SecretGrant, Secret))| *at < self.own || covers(grant, host);
        let is_first = |at: usize| {
            let name = &self.all[at].0.name;
            !self.all[..at].iter().enumerate().any(|one| one.1.0.name == *name && is_watched(&one))
        };
        self.all.iter().enumerate().filter(is_watched).map(|(at, _)| at).filter(|at| is_first(*at)).collect()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<usize> {
        (0..self.all.len()).collect()
    }

    /// Names and values of some of them.
    pub(super) fn at<'a>(&'a self, places: &'a [usize]) -> impl Iterator<Item = (&'a str, &'a Secret)> {
        places.iter().filter_map(|at| self.all.get(*at)).map(|(grant, secret)| (grant.name.as_str(), secret))
    }

    /// The value of a secret, if it may stand there.
    pub(super) fn value(&self, name: &str, place: Place, to: Destination<'_>) -> Result<&str, Failure> {
        let found = self.all[..self.own].iter().find(|(grant, _)| grant.name.as_str() == name);
        let Some((grant, secret)) = found else {
            let next = "the policy file can grant it to the tool, in its `secrets`";
            let message = format!("the secret `{name}` is not granted, so nothing was put in its place; {next}");
            return Err(type_error("secret-not-granted", message));
        };
        if !grant.into.contains(&place) {
            let mut places: BTreeSet<Place> = grant.into.clone();
            places.insert(place);
            let line: Vec<String> = places.iter().map(|place| format!("\"{}\"", place.name())).collect();
            let message = format!(
                "the secret `{name}` may not stand in the {} of a request; the policy would need `into = [{}]`",
                place.name(),
                line.join(", ")
            );
            return Err(type_error("secret-misplaced", message));
        }
        goes(grant, to)?;
        Ok(secret.value())
    }

    /// Refuses a URL with the values of secrets in it that may not go there.
    pub(super) fn follow(&self, mentioned: &BTreeSet<usize>, to: Destination<'_>) -> Result<(), Failure> {
        mentioned.iter().filter_map(|index| self.all.get(*index)).try_for_each(|(grant, _)| goes(grant, to))
    }
}

fn covers(grant: &SecretGrant, host: &str) -> bool {
    grant.hosts.iter().any(|pattern| pattern.covers(host))
}

fn goes(grant: &SecretGrant, to: Destination<'_>) -> Result<(), Failure> {
    let (name, host) = (&grant.name, to.host);
    if !covers(grant, host) {
        let next = format!("the policy would need `\"{host}\"` among the `hosts` of this secret");
        return Err(type_error(
            "secret-not-granted",
            format!("the secret `{name}` may not be sent to `{host}`; {next}"),
        ));
    }
    if to.laid_open {
        let why = "a redirect leads from https to http, where everybody can read it; ask for the address it leads to";
        return Err(type_error("secret-not-granted", format!("the secret `{name}` was not sent to `{host}`: {why}")));
    }
    Ok(())
}
