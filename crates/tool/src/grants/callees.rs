//! Which other tools a tool may call.
//!
//! Invariant: names that people take for one another are one name.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::grants::error::GrantError;
use crate::name::ToolName;

/// The word for all tools.
const ANY: &str = "any";

/// Other tools that may be called.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Callees {
    /// These.
    Named(BTreeSet<ToolName>),
    /// All.
    Any,
}

impl Default for Callees {
    /// None.
    fn default() -> Self {
        Self::Named(BTreeSet::new())
    }
}

impl Callees {
    /// These.
    #[must_use]
    pub fn these(names: impl IntoIterator<Item = ToolName>) -> Self {
        let mut seen = HashSet::new();
        Self::Named(names.into_iter().filter(|name| seen.insert(name.folded())).collect())
    }

    /// Takes the name of a tool from a list; `any` is not one there.
    ///
    /// # Errors
    /// `grant-invalid`
    pub fn parse(text: &str) -> Result<ToolName, GrantError> {
        if text == ANY {
            return Err(GrantError::new(
                "name of a tool here",
                text,
                "to grant all tools, write `\"any\"` without a list",
            ));
        }
        ToolName::parse(text).map_err(|error| GrantError::new("name of a tool", text, error.to_string()))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Named(names) if names.is_empty())
    }

    /// Whether a tool may be called.
    #[must_use]
    pub fn allows(&self, name: &ToolName) -> bool {
        match self {
            Self::Any => true,
            Self::Named(names) => names.iter().any(|there| there.folded() == name.folded()),
        }
    }

    /// What both grant.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Any, both) | (both, Self::Any) => both.clone(),
            (Self::Named(own), Self::Named(others)) => {
                // Of two spellings one counts, whichever side it stands on.
                let others: HashMap<String, &ToolName> = others.iter().map(|other| (other.folded(), other)).collect();
                let both = own.iter().filter_map(|name| others.get(&name.folded()).map(|same| name.min(*same).clone()));
                Self::these(both)
            }
        }
    }
}

impl fmt::Display for Callees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str(ANY),
            Self::Named(names) => f.write_str(&names.iter().map(ToolName::as_str).collect::<Vec<_>>().join(", ")),
        }
    }
}

impl Serialize for Callees {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => serializer.serialize_str(ANY),
            Self::Named(names) => serializer.collect_seq(names.iter().map(ToolName::as_str)),
        }
    }
}

impl<'de> Deserialize<'de> for Callees {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a list of names of tools, or `\"any\"`")]
        enum Form {
            Word(String),
            Names(Vec<String>),
        }
        let wrong = serde::de::Error::custom::<GrantError>;
        match Form::deserialize(deserializer)? {
            Form::Word(word) if word == ANY => Ok(Self::Any),
            Form::Word(word) => Err(wrong(GrantError::new("grant of tools", &word, "write a list of names, or `any`"))),
            Form::Names(names) => {
                let names = names.iter().map(|name| Self::parse(name)).collect::<Result<Vec<_>, _>>();
                names.map(Self::these).map_err(wrong)
            }
        }
    }
}
