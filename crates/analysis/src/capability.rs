//! The capabilities that a source needs from its host: an upper bound of what it uses.
//!
//! Invariant: a name that is only known at run time makes the need `unknown`; it is never left out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use toolcell_tool::Capability;

use crate::facts::Facts;
use crate::value::{AccessPath, Key, Root, Value};

/// The names that a source uses of a capability: hosts, secrets, tools or key-value spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CapabilityNeed {
    /// The names that the source spells out.
    pub named: BTreeSet<String>,
    /// Whether there are further names that are only known at run time.
    pub unknown: bool,
}

/// A set of capabilities, each with the names that are needed of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Capabilities(BTreeMap<Capability, CapabilityNeed>);

impl Capabilities {
    /// Creates a set of capabilities without names.
    #[must_use]
    pub fn unscoped(capabilities: impl IntoIterator<Item = Capability>) -> Self {
        Self(capabilities.into_iter().map(|capability| (capability, CapabilityNeed::default())).collect())
    }

    /// Creates a set of capabilities with the names needed of each; an empty set of names stands
    /// for all.
    #[must_use]
    pub fn scoped(capabilities: impl IntoIterator<Item = (Capability, BTreeSet<String>)>) -> Self {
        let named = |(capability, named)| (capability, CapabilityNeed { named, unknown: false });
        Self(capabilities.into_iter().map(named).collect())
    }

    /// Returns the need for a capability, if the set has it.
    #[must_use]
    pub fn need_of(&self, capability: Capability) -> Option<&CapabilityNeed> {
        self.0.get(&capability)
    }

    /// Returns whether the set has a capability.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.0.contains_key(&capability)
    }

    /// Returns the capabilities with their needs, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Capability, &CapabilityNeed)> {
        self.0.iter().map(|(capability, need)| (*capability, need))
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add_need(&mut self, capability: Capability, what: Option<String>) {
        let need = self.0.entry(capability).or_default();
        match what {
            Some(name) => {
                need.named.insert(name);
            }
            None => need.unknown = true,
        }
    }

    /// Collects the capabilities that a source can use.
    pub(crate) fn from_facts(facts: &Facts) -> Self {
        let mut found = Self::default();
        for call in &facts.calls {
            let Some(thing) = call.callee.as_path() else { continue };
            let first = call.args.first().unwrap_or(&Value::Undefined);
            match capability_of_global(thing) {
                Some(Capability::Net) => {
                    found
                        .add_need(Capability::Net, call.prefixes.first().and_then(|prefix| host_of_url_prefix(prefix)));
                }
                // Calls of these capabilities have no names.
                None | Some(Capability::Clock | Capability::Random | Capability::Timers) => {}
                Some(capability) => found.add_need(capability, first.as_text().map(str::to_owned)),
            }
        }
        // `new Date(2024, 0, 1)` reads no clock.
        let reads_clock = facts.calls.iter().any(|call| {
            call.callee.as_path().is_some_and(is_date)
                && (!call.is_new || call.args.is_empty() && call.prefixes.is_empty())
        });
        for used_here in facts.uses.iter().filter(|used| used.kind != crate::facts::UseKind::TypeTested) {
            match capability_of_global(&used_here.path) {
                Some(Capability::Clock) if is_date(&used_here.path) => {
                    if used_here.kind == crate::facts::UseKind::Plain || reads_clock {
                        found.0.entry(Capability::Clock).or_default();
                    }
                }
                Some(capability @ (Capability::Clock | Capability::Random | Capability::Timers)) => {
                    found.0.entry(capability).or_default();
                }
                // Used as a value: the names that it is called with later are not known.
                Some(capability) if used_here.kind == crate::facts::UseKind::Plain => found.add_need(capability, None),
                Some(_) | None => {}
            }
        }
        found
    }

    /// Returns the capabilities that are used but not declared, without those that have a
    /// deterministic fallback.
    #[must_use]
    pub fn missing_from(&self, declared: &Self) -> Vec<Capability> {
        self.0.keys().copied().filter(|used| !declared.has(*used) && !used.has_deterministic_fallback()).collect()
    }

    /// Returns the capabilities that are declared but not used.
    #[must_use]
    pub fn unused_in(&self, declared: &Self) -> Vec<Capability> {
        declared.0.keys().copied().filter(|asked| !self.has(*asked)).collect()
    }

    /// Returns the capabilities that are declared with names that the source does not use, if all
    /// names that it uses are known.
    #[must_use]
    pub fn over_broad(&self, declared: &Self) -> Vec<Capability> {
        let wide = |asked: &Capability| {
            self.0.get(asked).is_some_and(|used| {
                !used.unknown && !used.named.is_empty() && declared.0[asked].named.difference(&used.named).count() > 0
            })
        };
        declared.0.keys().copied().filter(wide).collect()
    }
}

/// Returns the capability that a global belongs to.
fn capability_of_global(thing: &AccessPath) -> Option<Capability> {
    if thing.root != Root::Global {
        return None;
    }
    if thing.is_global_below_any(&crate::rules::NETWORK) {
        return Some(Capability::Net);
    }
    match (thing.keys.first()?.name()?, thing.keys.get(1).and_then(Key::name)) {
        ("setTimeout" | "setInterval" | "setImmediate" | "sleep", _) | ("AbortSignal", Some("timeout")) => {
            Some(Capability::Timers)
        }
        ("performance", _) | ("Date", Some("now")) | ("Temporal", Some("Now")) => Some(Capability::Clock),
        ("Date", _) if is_date(thing) => Some(Capability::Clock),
        ("crypto", _) | ("Math", Some("random")) => Some(Capability::Random),
        ("kv", _) => Some(Capability::Kv),
        ("files", _) => Some(Capability::Files),
        ("secret", _) => Some(Capability::Secrets),
        ("tools", _) => Some(Capability::Tools),
        _ => None,
    }
}

fn is_date(thing: &AccessPath) -> bool {
    thing.is_global_below(&["Date"]) && thing.keys.len() == 1
}

/// Returns the host of a URL's known prefix, if the prefix contains all of the host.
fn host_of_url_prefix(prefix: &str) -> Option<String> {
    let (scheme, rest) = prefix.split_once("://")?;
    if !matches!(scheme, "http" | "https" | "ws" | "wss") {
        return None;
    }
    let end = rest.find(['/', '?', '#'])?;
    let authority = rest[..end].rsplit('@').next().unwrap_or_default();
    (!authority.is_empty()).then(|| authority.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_only_known_where_it_ends() {
        assert_eq!(host_of_url_prefix("https://api.example.com/v1/"), Some("api.example.com".to_owned()));
        assert_eq!(host_of_url_prefix("https://api.example.co"), None);
        assert_eq!(host_of_url_prefix("https://user:x@API.example.com:8443/"), Some("api.example.com:8443".to_owned()));
        assert_eq!(host_of_url_prefix("/v1"), None);
    }
}
