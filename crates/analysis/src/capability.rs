//! What a source needs from its host: never less than what it really uses.
//!
//! Invariant: where a value is only known when the tool runs, the answer is "unknown", not nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use toolcell_tool::Capability;

use crate::facts::Facts;
use crate::value::{Key, Root, Thing, Value};

/// What exactly is needed of a capability: hosts, names of secrets, of tools, of spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Need {
    /// What the source names.
    pub named: BTreeSet<String>,
    /// Whether there is more that only running tells.
    pub unknown: bool,
}

/// Capabilities, and what is needed of each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Capabilities(BTreeMap<Capability, Need>);

impl Capabilities {
    /// These, without saying what of each.
    #[must_use]
    pub fn these(capabilities: impl IntoIterator<Item = Capability>) -> Self {
        Self(capabilities.into_iter().map(|capability| (capability, Need::default())).collect())
    }

    /// These, each for what is named of it alone; for all of it where nothing is named.
    #[must_use]
    pub fn naming(capabilities: impl IntoIterator<Item = (Capability, BTreeSet<String>)>) -> Self {
        let named = |(capability, named)| (capability, Need { named, unknown: false });
        Self(capabilities.into_iter().map(named).collect())
    }

    /// What is needed of it, if it is among them.
    #[must_use]
    pub fn need_of(&self, capability: Capability) -> Option<&Need> {
        self.0.get(&capability)
    }

    /// Whether it is among them.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.0.contains_key(&capability)
    }

    /// Each, and what is needed of it.
    pub fn iter(&self) -> impl Iterator<Item = (Capability, &Need)> {
        self.0.iter().map(|(capability, need)| (*capability, need))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn need(&mut self, capability: Capability, what: Option<String>) {
        let need = self.0.entry(capability).or_default();
        match what {
            Some(name) => {
                need.named.insert(name);
            }
            None => need.unknown = true,
        }
    }

    /// What the source can use.
    pub(crate) fn of(facts: &Facts) -> Self {
        let mut found = Self::default();
        for call in &facts.calls {
            let Some(thing) = call.callee.as_thing() else { continue };
            let first = call.args.first().unwrap_or(&Value::Undefined);
            match used(thing) {
                Some(Capability::Net) => {
                    found.need(Capability::Net, call.prefixes.first().and_then(|prefix| host(prefix)));
                }
                // These have nothing that a call could name.
                None | Some(Capability::Clock | Capability::Random | Capability::Timers) => {}
                Some(capability) => found.need(capability, first.as_text().map(str::to_owned)),
            }
        }
        // `new Date(2024, 0, 1)` reads no clock.
        let reads_clock = facts.calls.iter().any(|call| {
            call.callee.as_thing().is_some_and(is_date)
                && (!call.new || call.args.is_empty() && call.prefixes.is_empty())
        });
        for used_here in facts.uses.iter().filter(|used| used.role != crate::facts::Role::AskedAbout) {
            match used(&used_here.thing) {
                Some(Capability::Clock) if is_date(&used_here.thing) => {
                    if used_here.role == crate::facts::Role::Plain || reads_clock {
                        found.0.entry(Capability::Clock).or_default();
                    }
                }
                Some(capability @ (Capability::Clock | Capability::Random | Capability::Timers)) => {
                    found.0.entry(capability).or_default();
                }
                // Handed on without being called: where it goes is not known.
                Some(capability) if used_here.role == crate::facts::Role::Plain => found.need(capability, None),
                Some(_) | None => {}
            }
        }
        found
    }

    /// What is used and was not asked for; what has a stand-in is not missing.
    #[must_use]
    pub fn missing_from(&self, declared: &Self) -> Vec<Capability> {
        self.0.keys().copied().filter(|used| !declared.has(*used) && !used.has_stand_in()).collect()
    }

    /// What was asked for and is not used.
    #[must_use]
    pub fn unused_of(&self, declared: &Self) -> Vec<Capability> {
        declared.0.keys().copied().filter(|asked| !self.has(*asked)).collect()
    }

    /// What was asked for without saying what of it, though the source names all that it uses.
    #[must_use]
    pub fn too_wide(&self, declared: &Self) -> Vec<Capability> {
        let wide = |asked: &Capability| {
            self.0.get(asked).is_some_and(|used| {
                !used.unknown && !used.named.is_empty() && declared.0[asked].named.difference(&used.named).count() > 0
            })
        };
        declared.0.keys().copied().filter(wide).collect()
    }
}

/// The capability behind a global.
fn used(thing: &Thing) -> Option<Capability> {
    if thing.root != Root::Global {
        return None;
    }
    if thing.is_global_below_any(&crate::rules::NETWORK) {
        return Some(Capability::Net);
    }
    match (thing.path.first()?.name()?, thing.path.get(1).and_then(Key::name)) {
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

fn is_date(thing: &Thing) -> bool {
    thing.is_global_below(&["Date"]) && thing.path.len() == 1
}

/// The host of the beginning of a URL, where it is all there.
fn host(prefix: &str) -> Option<String> {
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
        assert_eq!(host("https://api.example.com/v1/"), Some("api.example.com".to_owned()));
        assert_eq!(host("https://api.example.co"), None);
        assert_eq!(host("https://user:x@API.example.com:8443/"), Some("api.example.com:8443".to_owned()));
        assert_eq!(host("/v1"), None);
    }
}
