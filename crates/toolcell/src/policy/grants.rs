//! What tools are granted, and which rule says so.
//!
//! Invariant: nothing is granted that the user's file does not grant, and a project's file takes away from that. In one
//! file the rule of a tool goes before that of a tag, and that before the default; among equals counts what all of them grant.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toolcell_analysis::{Capabilities, Capability, Need};
use toolcell_tool::{Grants, IdPrefix, SecretGrant, SecretName, ToolId, ToolName};

use crate::policy::origin::{Origin, Stated};

/// Whether a tool gets a capability it asks for, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The capability.
    pub capability: Capability,
    /// Whether something is granted.
    pub verdict: Verdict,
    /// What exactly; nothing else than of this capability.
    pub grants: Grants,
    /// The rule that decided, such as `grants.tags.network`; nothing where no rule speaks of it.
    pub rule: Option<String>,
    /// Where that stands.
    pub origin: Origin,
    /// What the rule grants where the tool asks for something else, so that nothing is granted.
    pub beside: Option<Grants>,
    /// The one tool that the rule is for, where this is another one of its name, so that nothing is granted.
    pub only: Option<ToolId>,
}

/// Whether something is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is.
    Granted,
    /// It is not.
    Refused,
}

impl Verdict {
    fn of(grants: &Grants) -> Self {
        if grants.is_empty() { Self::Refused } else { Self::Granted }
    }
}

impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grants, origin, .. } = self;
        let name = self.capability.name();
        match (self.verdict, &self.rule, &self.beside) {
            (Verdict::Granted, Some(rule), _) => write!(f, "{grants} is granted by `{rule}` ({origin})"),
            (Verdict::Granted, None, _) => write!(f, "{grants} is granted ({origin})"),
            (Verdict::Refused, Some(rule), _) if self.only.is_some() => {
                let only = self.only.map(|id| id.short()).unwrap_or_default();
                write!(
                    f,
                    "{name} is not granted by `{rule}` ({origin}), which is for {only} only, and this is another tool"
                )
            }
            (Verdict::Refused, Some(rule), Some(beside)) => {
                write!(f, "{beside} is granted by `{rule}` ({origin}), and the tool asks for something else")
            }
            (Verdict::Refused, Some(rule), None) => write!(f, "{name} is refused by `{rule}` ({origin})"),
            (Verdict::Refused, None, _) => write!(f, "{name} is not granted by any rule ({origin})"),
        }
    }
}

impl Ruling {
    /// What a rule says by itself.
    fn of_rule(capability: Capability, rule: &Rule, said: &Stated<Grants>, tool: &Subject<'_>) -> Self {
        let only = rule.only.as_ref().map(|only| only.value).filter(|only| tool.id != Some(*only));
        let grants = if only.is_some() { Grants::default() } else { said.value.clone() };
        Self {
            capability,
            verdict: Verdict::of(&grants),
            grants,
            rule: Some(rule.key.clone()),
            origin: said.origin.clone(),
            beside: None,
            only,
        }
    }

    fn refused(capability: Capability, origin: &Origin) -> Self {
        let (verdict, grants, origin) = (Verdict::Refused, Grants::default(), origin.clone());
        Self { capability, verdict, grants, rule: None, origin, beside: None, only: None }
    }

    /// What both grant. The one that takes something away is named.
    fn narrowed_by(self, other: Self) -> Self {
        let both = self.grants.meet(&other.grants);
        if both == self.grants { self } else { Self { verdict: Verdict::of(&both), grants: both, ..other } }
    }

    /// No more than a tool asks for, where it says what.
    fn for_need(self, need: &Need) -> Self {
        if need.named.is_empty() || self.verdict == Verdict::Refused {
            return self;
        }
        let only = self.grants.only(self.capability, &need.named);
        match Verdict::of(&only) {
            Verdict::Granted => Self { grants: only, ..self },
            Verdict::Refused => Self { verdict: Verdict::Refused, grants: only, beside: Some(self.grants), ..self },
        }
    }
}

/// The tool that rules are asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) id: Option<ToolId>,
    /// Its folded name.
    pub(super) name: Option<&'a str>,
    pub(super) tags: &'a [String],
}

/// What a rule of a file is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    /// All tools.
    Default,
    /// Those with a tag.
    Tag(String),
    /// That of a folded name.
    Name(String),
    /// Those from one identifier to another.
    Ids(ToolId, ToolId),
}

impl Scope {
    pub(super) fn of_name(name: &ToolName) -> Self {
        Self::Name(name.folded())
    }

    pub(super) fn of_id(prefix: &IdPrefix) -> Self {
        let (least, greatest) = prefix.range();
        Self::Ids(least, greatest)
    }

    fn covers(&self, tool: &Subject<'_>) -> bool {
        match self {
            Self::Default => true,
            Self::Tag(tag) => tool.tags.contains(tag),
            Self::Name(name) => tool.name == Some(name),
            Self::Ids(least, greatest) => tool.id.is_some_and(|id| (*least..=*greatest).contains(&id)),
        }
    }

    /// The closer to the tool, the higher.
    const fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Tag(_) => 1,
            Self::Name(_) | Self::Ids(..) => 2,
        }
    }

    /// A tool that is nothing but what a rule of this scope is about, and of this identifier if the rule is for one.
    pub(super) fn with_example<T>(&self, only: Option<ToolId>, then: impl FnOnce(&Subject<'_>) -> T) -> T {
        let nobody = Subject { id: only, name: None, tags: &[] };
        match self {
            Self::Default => then(&nobody),
            Self::Tag(tag) => then(&Subject { tags: std::slice::from_ref(tag), ..nobody }),
            Self::Name(name) => then(&Subject { name: Some(name), ..nobody }),
            Self::Ids(least, _) => then(&Subject { id: Some(*least), ..nobody }),
        }
    }
}

/// A rule of a file.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// Its key, such as `grants.tags.network`.
    pub(super) key: String,
    pub(super) scope: Scope,
    /// The one tool that it is for, among all that have the name.
    pub(super) only: Option<Stated<ToolId>>,
    /// What is granted of each capability that the rule speaks of, and nothing else than of that.
    pub(super) says: BTreeMap<Capability, Stated<Grants>>,
}

/// The rules of a file that has some.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    /// Where they begin.
    pub(super) origin: Origin,
    pub(super) rules: Vec<Rule>,
}

impl Rules {
    fn ruling(&self, tool: &Subject<'_>, capability: Capability) -> Ruling {
        let covering = self.rules.iter().filter(|rule| rule.scope.covers(tool));
        let speaking = covering.filter_map(|rule| Some((rule, rule.says.get(&capability)?)));
        let closest = speaking.clone().map(|(rule, _)| rule.scope.rank()).max();
        let decisive = speaking.filter(|(rule, _)| Some(rule.scope.rank()) == closest);
        let rulings = decisive.map(|(rule, said)| Ruling::of_rule(capability, rule, said, tool));
        rulings.reduce(Ruling::narrowed_by).unwrap_or_else(|| Ruling::refused(capability, &self.origin))
    }
}

/// The rules of all files.
#[derive(Debug, Clone, Default)]
pub(super) struct AllRules {
    pub(super) user: Option<Rules>,
    pub(super) projects: Vec<Rules>,
}

impl AllRules {
    /// What the user's rules say, and what projects leave of it.
    pub(super) fn ruling(&self, tool: &Subject<'_>, capability: Capability) -> Ruling {
        let Some(user) = &self.user else { return Ruling::refused(capability, &Origin::BuiltIn) };
        let projects = self.projects.iter().map(|rules| rules.ruling(tool, capability));
        projects.fold(user.ruling(tool, capability), Ruling::narrowed_by)
    }

    pub(super) fn rulings(&self, tool: &Subject<'_>, asked: &Capabilities) -> Vec<Ruling> {
        asked.iter().map(|(capability, need)| self.ruling(tool, capability).for_need(need)).collect()
    }

    /// Of what any of the user's rules grants something to anything; files of projects only take away.
    pub(super) fn most(&self) -> BTreeSet<Capability> {
        let said = self.user.iter().flat_map(|rules| &rules.rules).flat_map(|rule| &rule.says);
        said.filter(|(_, said)| !said.value.is_empty()).map(|(capability, _)| *capability).collect()
    }

    /// The secrets that any of the user's rules grants, each once, with all hosts and places that any of them names.
    pub(super) fn secrets(&self) -> Vec<SecretGrant> {
        let said = self.user.iter().flat_map(|rules| &rules.rules).flat_map(|rule| rule.says.values());
        let mut all: BTreeMap<&SecretName, SecretGrant> = BTreeMap::new();
        for grant in said.flat_map(|said| &said.value.secrets) {
            match all.entry(&grant.name) {
                Entry::Vacant(free) => drop(free.insert(grant.clone())),
                Entry::Occupied(mut known) => {
                    known.get_mut().hosts.extend(grant.hosts.iter().cloned());
                    known.get_mut().into.extend(&grant.into);
                }
            }
        }
        all.into_values().collect()
    }

    /// All rules, the user's first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.user.iter().chain(&self.projects).flat_map(|rules| &rules.rules)
    }
}
