//! The rules of a policy, and the decision about each capability.
//!
//! Invariant: nothing is granted that the user's file does not grant, and a project's file can only
//! remove grants. Within a file, the rule of a tool overrides that of a tag, which overrides the
//! default; among rules of equal rank, their intersection counts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toolcell_i18n::{Localize, Message, message};
use toolcell_tool::{Capabilities, Capability, CapabilityNeed, FilesGrant};
use toolcell_tool::{Grants, IdPrefix, SecretGrant, SecretName, ToolId, ToolName};

use crate::provenance::{Origin, Sourced};

/// The decision about one requested capability, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantDecision {
    /// The capability.
    pub capability: Capability,
    /// Whether anything is granted.
    pub verdict: GrantVerdict,
    /// The grants, only of this capability.
    pub grants: Grants,
    /// The deciding rule, such as `grants.tags.network`; `None` if no rule names the capability.
    pub rule: Option<String>,
    /// The position of the rule.
    pub origin: Origin,
    /// The rule's grants if they do not match the tool's request, so that nothing is granted.
    pub unrequested: Option<Grants>,
    /// The identifier that the rule is restricted to, if this tool has another identifier, so that
    /// nothing is granted.
    pub only_tool: Option<ToolId>,
}

/// Whether anything is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GrantVerdict {
    /// Something is granted.
    Granted,
    /// Nothing is granted.
    Refused,
}

impl GrantVerdict {
    fn from_grants(grants: &Grants) -> Self {
        if grants.is_empty() { Self::Refused } else { Self::Granted }
    }
}

impl Localize for GrantDecision {
    fn localize(&self) -> Message {
        let Self { grants, origin, .. } = self;
        let name = self.capability.name();
        match (self.verdict, &self.rule, &self.unrequested) {
            (GrantVerdict::Granted, Some(rule), _) => {
                message!("{grants} is granted by `{rule}` ({origin})", grants, rule, origin)
            }
            (GrantVerdict::Granted, None, _) => message!("{grants} is granted ({origin})", grants, origin),
            (GrantVerdict::Refused, Some(rule), _) if self.only_tool.is_some() => {
                let only = self.only_tool.map(|id| id.short()).unwrap_or_default();
                message!(
                    "{name} is not granted by `{rule}` ({origin}), which applies only to {only}",
                    name,
                    rule,
                    origin,
                    only,
                )
            }
            (GrantVerdict::Refused, Some(rule), Some(beside)) => message!(
                "{grants} is granted by `{rule}` ({origin}), but the tool requests something else",
                grants = beside,
                rule,
                origin,
            ),
            (GrantVerdict::Refused, Some(rule), None) => {
                message!("{name} is refused by `{rule}` ({origin})", name, rule, origin)
            }
            (GrantVerdict::Refused, None, _) => {
                message!("{name} is not granted by any rule ({origin})", name, origin)
            }
        }
    }
}

impl fmt::Display for GrantDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

impl GrantDecision {
    /// Creates the decision of a single rule.
    fn from_rule(capability: Capability, rule: &Rule, said: &Sourced<Grants>, tool: &RuleTarget<'_>) -> Self {
        let only = rule.only_tool.as_ref().map(|only| only.value).filter(|only| tool.id != Some(*only));
        let grants = if only.is_some() { Grants::default() } else { said.value.clone() };
        Self {
            capability,
            verdict: GrantVerdict::from_grants(&grants),
            grants,
            rule: Some(rule.key.clone()),
            origin: said.origin.clone(),
            unrequested: None,
            only_tool: only,
        }
    }

    fn refused(capability: Capability, origin: &Origin) -> Self {
        let (verdict, grants, origin) = (GrantVerdict::Refused, Grants::default(), origin.clone());
        Self { capability, verdict, grants, rule: None, origin, unrequested: None, only_tool: None }
    }

    /// Returns the intersection of both decisions; names the rule that removed something.
    fn intersect(self, other: Self) -> Self {
        let both = self.grants.intersect(&other.grants);
        if both == self.grants {
            self
        } else {
            Self { verdict: GrantVerdict::from_grants(&both), grants: both, ..other }
        }
    }

    /// Restricts the grants to the resources that the tool names, if it names any.
    fn restrict_to_need(self, need: &CapabilityNeed) -> Self {
        if need.named.is_empty() || self.verdict == GrantVerdict::Refused {
            return self;
        }
        let only = self.grants.restrict_to(self.capability, &need.named);
        match GrantVerdict::from_grants(&only) {
            GrantVerdict::Granted => Self { grants: only, ..self },
            GrantVerdict::Refused => {
                Self { verdict: GrantVerdict::Refused, grants: only, unrequested: Some(self.grants), ..self }
            }
        }
    }
}

/// The tool that a decision is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleTarget<'a> {
    pub(super) id: Option<ToolId>,
    /// The case-folded name.
    pub(super) name: Option<&'a str>,
    pub(super) tags: &'a [String],
    /// Whether it is code that is not stored.
    pub(super) is_draft: bool,
}

/// The tools that a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    /// All stored tools.
    Default,
    /// Code that is not stored.
    Drafts,
    /// The tools with this tag.
    Tag(String),
    /// The tool with this case-folded name.
    Name(String),
    /// The tools in this inclusive range of identifiers.
    Ids(ToolId, ToolId),
}

impl Scope {
    pub(super) fn for_name(name: &ToolName) -> Self {
        Self::Name(name.case_folded())
    }

    pub(super) fn for_id_prefix(prefix: &IdPrefix) -> Self {
        let (least, greatest) = prefix.range();
        Self::Ids(least, greatest)
    }

    fn covers(&self, tool: &RuleTarget<'_>) -> bool {
        match self {
            Self::Default => !tool.is_draft,
            Self::Drafts => tool.is_draft,
            Self::Tag(tag) => tool.tags.contains(tag),
            Self::Name(name) => tool.name == Some(name),
            Self::Ids(least, greatest) => tool.id.is_some_and(|id| (*least..=*greatest).contains(&id)),
        }
    }

    /// Returns the precedence: more specific scopes rank higher.
    const fn rank(&self) -> u8 {
        match self {
            Self::Default | Self::Drafts => 0,
            Self::Tag(_) => 1,
            Self::Name(_) | Self::Ids(..) => 2,
        }
    }

    /// Calls `then` with a minimal tool that this scope covers, with the identifier `only` if it is
    /// given.
    pub(super) fn with_example<T>(&self, only: Option<ToolId>, then: impl FnOnce(&RuleTarget<'_>) -> T) -> T {
        let nobody = RuleTarget { id: only, name: None, tags: &[], is_draft: false };
        match self {
            Self::Default => then(&nobody),
            Self::Drafts => then(&RuleTarget { is_draft: true, ..nobody }),
            Self::Tag(tag) => then(&RuleTarget { tags: std::slice::from_ref(tag), ..nobody }),
            Self::Name(name) => then(&RuleTarget { name: Some(name), ..nobody }),
            Self::Ids(least, _) => then(&RuleTarget { id: Some(*least), ..nobody }),
        }
    }
}

/// A rule of a policy file.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// The key of the rule, such as `grants.tags.network`.
    pub(super) key: String,
    pub(super) scope: Scope,
    /// The identifier that the rule is restricted to, among all tools of the name.
    pub(super) only_tool: Option<Sourced<ToolId>>,
    /// The grants of each capability that the rule names, only of that capability.
    pub(super) grants: BTreeMap<Capability, Sourced<Grants>>,
}

/// The rules of one policy file.
#[derive(Debug, Clone)]
pub(super) struct FileRules {
    /// The position of the `grants` table.
    pub(super) origin: Origin,
    pub(super) rules: Vec<Rule>,
}

impl FileRules {
    fn decide(&self, tool: &RuleTarget<'_>, capability: Capability) -> GrantDecision {
        let covering = self.rules.iter().filter(|rule| rule.scope.covers(tool));
        let speaking = covering.filter_map(|rule| Some((rule, rule.grants.get(&capability)?)));
        let closest = speaking.clone().map(|(rule, _)| rule.scope.rank()).max();
        let decisive = speaking.filter(|(rule, _)| Some(rule.scope.rank()) == closest);
        let rulings = decisive.map(|(rule, said)| GrantDecision::from_rule(capability, rule, said, tool));
        rulings.reduce(GrantDecision::intersect).unwrap_or_else(|| GrantDecision::refused(capability, &self.origin))
    }
}

/// The rules of all policy files.
#[derive(Debug, Clone, Default)]
pub(super) struct GrantRules {
    pub(super) user: Option<FileRules>,
    pub(super) projects: Vec<FileRules>,
}

impl GrantRules {
    /// Returns the decision of the user's rules, narrowed by the projects' rules.
    pub(super) fn decide(&self, tool: &RuleTarget<'_>, capability: Capability) -> GrantDecision {
        let Some(user) = &self.user else { return GrantDecision::refused(capability, &Origin::BuiltIn) };
        let projects = self.projects.iter().map(|rules| rules.decide(tool, capability));
        projects.fold(user.decide(tool, capability), GrantDecision::intersect)
    }

    pub(super) fn decide_all(&self, tool: &RuleTarget<'_>, asked: &Capabilities) -> Vec<GrantDecision> {
        asked.iter().map(|(capability, need)| self.decide(tool, capability).restrict_to_need(need)).collect()
    }

    /// Returns the capabilities that any of the user's rules grants; projects' files only remove
    /// grants.
    pub(super) fn upper_bound(&self) -> BTreeSet<Capability> {
        let said = self.user.iter().flat_map(|rules| &rules.rules).flat_map(|rule| &rule.grants);
        said.filter(|(_, said)| !said.value.is_empty()).map(|(capability, _)| *capability).collect()
    }

    /// Returns the secrets that any of the user's rules grants, each once with the union of hosts
    /// and locations.
    pub(super) fn secrets(&self) -> Vec<SecretGrant> {
        let said = self.user.iter().flat_map(|rules| &rules.rules).flat_map(|rule| rule.grants.values());
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

    /// Returns the folders that any of the user's rules grants.
    pub(super) fn folders(&self) -> impl Iterator<Item = &FilesGrant> {
        let said = self.user.iter().flat_map(|rules| &rules.rules).flat_map(|rule| rule.grants.values());
        said.flat_map(|said| &said.value.files)
    }

    /// Iterates over all rules, the user's first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.user.iter().chain(&self.projects).flat_map(|rules| &rules.rules)
    }
}
