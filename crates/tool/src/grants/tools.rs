//! The grant to call other tools.
//!
//! Invariant: spellings that differ only in case or in `-` and `_` are the same name.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toolcell_i18n::{Localize, Message, message};

use crate::grants::error::GrantError;
use crate::name::ToolName;

/// The keyword that grants all tools.
const ANY: &str = "any";

/// The tools that a tool may call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallableTools {
    /// Only these tools.
    Named(BTreeSet<ToolName>),
    /// All tools.
    Any,
}

impl Default for CallableTools {
    /// Returns the grant of no tools.
    fn default() -> Self {
        Self::Named(BTreeSet::new())
    }
}

impl CallableTools {
    /// Creates a grant of these tools. Of several spellings of one name the first is kept.
    #[must_use]
    pub fn from_names(names: impl IntoIterator<Item = ToolName>) -> Self {
        let mut seen = HashSet::new();
        Self::Named(names.into_iter().filter(|name| seen.insert(name.case_folded())).collect())
    }

    /// Parses the name of a tool in a list, where the keyword `any` is not allowed.
    ///
    /// # Errors
    /// `grant-invalid`
    pub fn parse_name(text: &str) -> Result<ToolName, GrantError> {
        if text == ANY {
            let why = message!("to grant all tools, write `\"any\"` without a list");
            return Err(GrantError::new(message!("tool name here"), text, why));
        }
        ToolName::parse(text).map_err(|error| GrantError::new(message!("tool name"), text, error.localize()))
    }

    /// Returns whether no tool is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Named(names) if names.is_empty())
    }

    /// Returns whether a tool may be called.
    #[must_use]
    pub fn allows(&self, name: &ToolName) -> bool {
        match self {
            Self::Any => true,
            Self::Named(names) => names.iter().any(|there| there.case_folded() == name.case_folded()),
        }
    }

    /// Returns the intersection: the tools that both grant.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Any, both) | (both, Self::Any) => both.clone(),
            (Self::Named(own), Self::Named(others)) => {
                // If the spellings differ, the smaller one is kept, so that the result does not
                // depend on the order of the operands.
                let others: HashMap<String, &ToolName> =
                    others.iter().map(|other| (other.case_folded(), other)).collect();
                let both =
                    own.iter().filter_map(|name| others.get(&name.case_folded()).map(|same| name.min(*same).clone()));
                Self::from_names(both)
            }
        }
    }
}

impl Localize for CallableTools {
    fn localize(&self) -> Message {
        match self {
            Self::Any => Message::verbatim(ANY.to_owned()),
            Self::Named(names) => Message::list(names.iter().map(|name| Message::verbatim(name.to_string()))),
        }
    }
}

impl fmt::Display for CallableTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

impl Serialize for CallableTools {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => serializer.serialize_str(ANY),
            Self::Named(names) => serializer.collect_seq(names.iter().map(ToolName::as_str)),
        }
    }
}

impl<'de> Deserialize<'de> for CallableTools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a list of tool names, or `\"any\"`")]
        enum RawCallableTools {
            Word(String),
            Names(Vec<String>),
        }
        let wrong = serde::de::Error::custom::<GrantError>;
        match RawCallableTools::deserialize(deserializer)? {
            RawCallableTools::Word(word) if word == ANY => Ok(Self::Any),
            RawCallableTools::Word(word) => {
                Err(wrong(GrantError::new(message!("tools grant"), &word, message!("write a list of names, or `any`"))))
            }
            RawCallableTools::Names(names) => {
                let names = names.iter().map(|name| Self::parse_name(name)).collect::<Result<Vec<_>, _>>();
                names.map(Self::from_names).map_err(wrong)
            }
        }
    }
}
