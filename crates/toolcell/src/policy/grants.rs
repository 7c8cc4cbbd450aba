//! What tools are granted, and which rule says so.
//!
//! Invariant: nothing is granted that the user's file does not grant, and a project's file takes away from that. In one
//! file the rule of a tool goes before that of a tag, and that before the default; among equals `false` counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use toolcell_analysis::{Capabilities, Capability};
use toolcell_tool::{IdPrefix, ToolId, ToolName};

use crate::policy::origin::{Origin, Stated};

/// The capabilities that a tool is granted.
///
/// # Examples
/// ```
/// use toolcell::Capability;
/// use toolcell::policy::Grants;
///
/// let grants = Grants::these([Capability::Timers]);
/// assert_eq!(grants.to_value(), serde_json::json!({ "timers": true }));
/// assert_eq!((grants.to_string(), Grants::default().to_string()), ("timers".into(), "nothing".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Grants(BTreeSet<Capability>);

impl Grants {
    /// These.
    #[must_use]
    pub fn these(capabilities: impl IntoIterator<Item = Capability>) -> Self {
        Self(capabilities.into_iter().collect())
    }

    /// Whether nothing is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is granted.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.0.contains(&capability)
    }

    /// Each that is granted.
    pub fn iter(&self) -> impl Iterator<Item = Capability> {
        self.0.iter().copied()
    }

    /// What both grant.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// The canonical form, which approvals are bound to: `{}` for nothing.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut names: Vec<&str> = self.0.iter().map(|capability| capability.name()).collect();
        names.sort_unstable();
        names.into_iter().map(|name| (name.to_owned(), Value::Bool(true))).collect()
    }
}

impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        let names: Vec<&str> = self.0.iter().map(|capability| capability.name()).collect();
        f.write_str(&names.join(", "))
    }
}

/// Whether a tool gets a capability it asks for, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The capability.
    pub capability: Capability,
    /// Whether it is granted.
    pub verdict: Verdict,
    /// The rule that decided, such as `grants.tags.network`; nothing where no rule speaks of it.
    pub rule: Option<String>,
    /// Where that stands.
    pub origin: Origin,
}

/// Whether something is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is.
    Granted,
    /// It is not.
    Refused,
}

impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.capability.name();
        match (self.verdict, &self.rule) {
            (Verdict::Granted, Some(rule)) => write!(f, "{name} is granted by `{rule}` ({})", self.origin),
            (Verdict::Granted, None) => write!(f, "{name} is granted ({})", self.origin),
            (Verdict::Refused, Some(rule)) => write!(f, "{name} is refused by `{rule}` ({})", self.origin),
            (Verdict::Refused, None) => write!(f, "{name} is not granted by any rule ({})", self.origin),
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
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// A tool that is nothing but what the rule is about.
    pub(super) fn with_example<T>(&self, then: impl FnOnce(&Subject<'_>) -> T) -> T {
        let nobody = Subject { id: None, name: None, tags: &[] };
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
    pub(super) says: BTreeMap<Capability, Stated<bool>>,
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
        let speaking = self.rules.iter().filter(|rule| rule.scope.covers(tool));
        let said = speaking.filter_map(|rule| Some((rule, rule.says.get(&capability)?)));
        let decisive = said.max_by_key(|(rule, said)| (rule.scope.rank(), !said.value));
        match decisive {
            None => refused(capability, &self.origin),
            Some((rule, said)) => Ruling {
                capability,
                verdict: if said.value { Verdict::Granted } else { Verdict::Refused },
                rule: Some(rule.key.clone()),
                origin: said.origin.clone(),
            },
        }
    }
}

fn refused(capability: Capability, origin: &Origin) -> Ruling {
    Ruling { capability, verdict: Verdict::Refused, rule: None, origin: origin.clone() }
}

/// The rules of all files.
#[derive(Debug, Clone, Default)]
pub(super) struct AllRules {
    pub(super) user: Option<Rules>,
    pub(super) projects: Vec<Rules>,
}

impl AllRules {
    /// What the user's rules say, or else the first project that takes it away.
    pub(super) fn ruling(&self, tool: &Subject<'_>, capability: Capability) -> Ruling {
        let Some(user) = &self.user else { return refused(capability, &Origin::BuiltIn) };
        let first = user.ruling(tool, capability);
        let narrower = self.projects.iter().map(|rules| rules.ruling(tool, capability));
        match first.verdict {
            Verdict::Refused => first,
            Verdict::Granted => narrower.into_iter().find(|ruling| ruling.verdict == Verdict::Refused).unwrap_or(first),
        }
    }

    pub(super) fn rulings(&self, tool: &Subject<'_>, asked: &Capabilities) -> Vec<Ruling> {
        asked.iter().map(|(capability, _)| self.ruling(tool, capability)).collect()
    }

    /// What any of the user's rules grants to anything; files of projects only take away.
    pub(super) fn most(&self) -> impl Iterator<Item = Capability> {
        let said = self.user.iter().flat_map(|rules| &rules.rules).flat_map(|rule| &rule.says);
        said.filter(|(_, granted)| granted.value).map(|(capability, _)| *capability)
    }

    /// All rules, the user's first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.user.iter().chain(&self.projects).flat_map(|rules| &rules.rules)
    }
}
