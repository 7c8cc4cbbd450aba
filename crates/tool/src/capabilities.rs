//! The capabilities that a tool needs or requests, as data.
//!
//! Invariant: a name that is only known at run time makes the need `unknown`; it is never left out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use toolcell_i18n::{Localize, Message, message};

use crate::Capability;

/// The names that a source uses of a capability: hosts, secrets, tools or key-value spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CapabilityNeed {
    /// The names that the source spells out.
    pub named: BTreeSet<String>,
    /// Whether there are further names that are only known at run time.
    pub unknown: bool,
}

impl CapabilityNeed {
    fn describe(&self, capability: Capability, show: impl Fn(&str) -> String) -> Message {
        let mut parts: Vec<Message> = self.named.iter().map(|name| Message::verbatim(show(name))).collect();
        if self.unknown {
            parts.push(message!("unknown"));
        }
        if parts.is_empty() {
            Message::verbatim(capability.name().to_owned())
        } else {
            message!("{capability} ({parts})", capability = capability.name(), parts = Message::list(parts))
        }
    }
}

impl Localize for Capabilities {
    fn localize(&self) -> Message {
        self.describe(str::to_owned)
    }
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

    /// Adds a capability, without any name.
    pub fn insert(&mut self, capability: Capability) {
        self.0.entry(capability).or_default();
    }

    /// Adds a name that is needed of a capability.
    pub fn insert_name(&mut self, capability: Capability, name: String) {
        self.0.entry(capability).or_default().named.insert(name);
    }

    /// Adds a capability that is needed with names that are only known at run time.
    pub fn insert_unknown(&mut self, capability: Capability) {
        self.0.entry(capability).or_default().unknown = true;
    }

    /// Returns the capabilities and their names for people: `net (a.example), clock`, or `nothing`.
    /// `show` makes a name safe to show.
    ///
    /// # Examples
    /// ```
    /// use toolcell_i18n::Lang;
    /// use toolcell_tool::{Capabilities, Capability};
    ///
    /// let mut needs = Capabilities::unscoped([Capability::Clock]);
    /// needs.insert_name(Capability::Net, "a.example".to_owned());
    /// let shown = needs.describe(str::to_owned);
    /// assert_eq!(shown.to_string(), "net (a.example), clock");
    /// assert_eq!(shown.to_text(Lang::Ja), "net（a.example）、clock");
    /// ```
    #[must_use]
    pub fn describe(&self, show: impl Fn(&str) -> String) -> Message {
        let needs: Vec<Message> = self.iter().map(|(capability, need)| need.describe(capability, &show)).collect();
        if needs.is_empty() { message!("nothing") } else { Message::list(needs) }
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
