//! The grant to call tools of MCP servers.
//!
//! Invariant: tools are named as code calls them, so that two spellings of one name are one name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use toolcell_i18n::{Localize, Message, message};

use crate::grants::error::GrantError;
use crate::grants::{GRANTS_LIMIT, check_range};
use crate::name::NAME_LIMIT;

/// The keyword that grants all tools of a server.
const ANY: &str = "any";
/// The keyword that grants the tools that only read.
const READING: &str = "reading";
/// The maximum length of a tool's name in bytes. The specification recommends at most 128 (MCP 2025-11-25, server/tools).
const TOOL_NAME_LIMIT: usize = 256;
/// The maximum number of tools that a grant names of one server.
const NAMED_LIMIT: u64 = 1_000;

/// The name of an MCP server in a policy and in code: `servers.github`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(String);

impl ServerName {
    /// Parses a name: an ASCII letter, then letters, digits and `_`, at most 64 characters.
    ///
    /// # Errors
    /// `grant-invalid`
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::ServerName;
    ///
    /// assert_eq!(ServerName::parse("github")?.as_str(), "github");
    /// assert_eq!(
    ///     ServerName::parse("brave-search").unwrap_err().to_string(),
    ///     "`brave-search` is not a valid server name: only ASCII letters, digits and `_` are allowed: code calls it by this name",
    /// );
    /// # Ok::<(), toolcell_tool::GrantError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        let wrong = |why| Err(GrantError::new(message!("server name"), text, why));
        if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return wrong(message!("it must start with an ASCII letter"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return wrong(message!("only ASCII letters, digits and `_` are allowed: code calls it by this name"));
        }
        if text.len() > NAME_LIMIT {
            let (count, limit) = (text.len(), NAME_LIMIT);
            return wrong(message!("it has {count} characters, the limit is {limit}", count, limit));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ServerName {
    type Error = GrantError;

    fn try_from(text: String) -> Result<Self, GrantError> {
        Self::parse(&text)
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a server's tool as code calls it: `create_issue` for `create-issue`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerToolName(String);

impl ServerToolName {
    /// Returns the name in code of a tool, from either of its names.
    ///
    /// # Errors
    /// `grant-invalid`: the name is empty or longer than 256 bytes.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::ServerToolName;
    ///
    /// assert_eq!(ServerToolName::parse("create-issue")?, ServerToolName::parse("create_issue")?);
    /// assert_eq!(ServerToolName::parse("then")?.as_str(), "then_");
    /// # Ok::<(), toolcell_tool::GrantError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        if text.is_empty() || text.len() > TOOL_NAME_LIMIT {
            let why = message!("it must have 1 to {limit} bytes", limit = TOOL_NAME_LIMIT);
            return Err(GrantError::new(message!("name of a server's tool"), text, why));
        }
        Ok(Self(toolcell_dts::method_name(text)))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A set of names of tools.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Names {
    Named(BTreeSet<ServerToolName>),
    Any,
}

impl Names {
    const NONE: Self = Self::Named(BTreeSet::new());

    fn contains(&self, name: &ServerToolName) -> bool {
        match self {
            Self::Any => true,
            Self::Named(names) => names.contains(name),
        }
    }

    fn intersect(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Any, both) | (both, Self::Any) => both.clone(),
            (Self::Named(own), Self::Named(others)) => Self::Named(own & others),
        }
    }

    fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Named(own), Self::Named(others)) => Self::Named(own | others),
        }
    }
}

impl Localize for Names {
    fn localize(&self) -> Message {
        match self {
            Self::Any => Message::verbatim(ANY.to_owned()),
            Self::Named(names) => Message::list(names.iter().map(|name| Message::verbatim(name.to_string()))),
        }
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => serializer.serialize_str(ANY),
            Self::Named(names) => serializer.collect_seq(names.iter().map(ServerToolName::as_str)),
        }
    }
}

/// The tools of one server that may be called.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerTools {
    /// The tools that may be called whatever they do.
    tools: Names,
    /// The tools that may be called if they only read, by the marks of a server that the policy believes; includes `tools`.
    reading: Names,
}

impl ServerTools {
    /// All tools.
    pub const ANY: Self = Self { tools: Names::Any, reading: Names::Any };
    /// The tools that only read.
    pub const READING: Self = Self { tools: Names::NONE, reading: Names::Any };

    /// Returns the grant of these tools.
    pub fn from_names(names: impl IntoIterator<Item = ServerToolName>) -> Self {
        let tools = Names::Named(names.into_iter().collect());
        Self { reading: tools.clone(), tools }
    }

    /// Returns the grant that a word stands for: `any` or `reading`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            ANY => Some(Self::ANY),
            READING => Some(Self::READING),
            _ => None,
        }
    }

    /// Whether a tool may be called, which only reads or may do more.
    #[must_use]
    pub fn allows(&self, tool: &ServerToolName, is_reading: bool) -> bool {
        if is_reading { self.reading.contains(tool) } else { self.tools.contains(tool) }
    }

    fn is_empty(&self) -> bool {
        self.reading == Names::NONE
    }

    fn intersect(&self, other: &Self) -> Self {
        Self { tools: self.tools.intersect(&other.tools), reading: self.reading.intersect(&other.reading) }
    }

    fn union(&self, other: &Self) -> Self {
        Self { tools: self.tools.union(&other.tools), reading: self.reading.union(&other.reading) }
    }
}

impl Localize for ServerTools {
    fn localize(&self) -> Message {
        if self.tools == self.reading {
            return self.tools.localize();
        }
        let reading = match &self.reading {
            Names::Any => Message::verbatim(READING.to_owned()),
            names @ Names::Named(_) => message!("{names} if reading", names),
        };
        if self.tools == Names::NONE { reading } else { Message::list([self.tools.localize(), reading]) }
    }
}

impl Serialize for ServerTools {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == Self::READING {
            serializer.serialize_str(READING)
        } else if self.tools == self.reading {
            self.tools.serialize(serializer)
        } else {
            serializer.collect_map([("tools", &self.tools), (READING, &self.reading)])
        }
    }
}

impl<'de> Deserialize<'de> for ServerTools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum RawNames {
            Word(String),
            Names(Vec<String>),
        }
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a list of tool names, `\"any\"` or `\"reading\"`")]
        enum RawServerTools {
            Names(RawNames),
            Both { tools: RawNames, reading: RawNames },
        }
        let parse = |raw: RawNames| match raw {
            RawNames::Names(names) => names
                .iter()
                .map(|name| ServerToolName::parse(name))
                .collect::<Result<Vec<_>, _>>()
                .map(Self::from_names),
            RawNames::Word(word) => {
                let why = message!("write a list of names, `any` or `reading`");
                Self::from_word(&word).ok_or_else(|| GrantError::new(message!("grant of a server"), &word, why))
            }
        };
        let parsed = match RawServerTools::deserialize(deserializer)? {
            RawServerTools::Names(names) => parse(names),
            RawServerTools::Both { tools, reading } => parse(tools).and_then(|tools| {
                let reading = tools.reading.union(&parse(reading)?.reading);
                Ok(Self { tools: tools.tools, reading })
            }),
        };
        parsed.map_err(serde::de::Error::custom::<GrantError>)
    }
}

/// The tools of MCP servers that a tool may call, by server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServersGrant(BTreeMap<ServerName, ServerTools>);

impl ServersGrant {
    /// Returns the servers of which something is granted.
    pub fn names(&self) -> impl Iterator<Item = &ServerName> {
        self.0.keys()
    }

    /// Returns what is granted of a server.
    #[must_use]
    pub fn get(&self, server: &str) -> Option<(&ServerName, &ServerTools)> {
        self.0.iter().find(|(name, _)| name.as_str() == server)
    }

    /// Whether nothing is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the grants of each server by themselves.
    pub fn split(&self) -> impl Iterator<Item = Self> {
        self.0.iter().map(|(server, tools)| Self([(server.clone(), tools.clone())].into()))
    }

    /// Returns each server with what a policy file says to grant this: a list of names, or a word. A list comes as JSON.
    ///
    /// # Errors
    /// The server of which some tools are granted by name, and others if they read: no file says that.
    pub fn to_rules(&self) -> Result<Vec<(&ServerName, Value)>, &ServerName> {
        let rule = |(server, tools)| match serde_json::to_value(tools) {
            Ok(rule @ (Value::String(_) | Value::Array(_))) => Ok((server, rule)),
            _ => Err(server),
        };
        self.0.iter().map(rule).collect()
    }

    /// Adds a grant of one server.
    pub fn add(&mut self, server: ServerName, tools: ServerTools) {
        if tools.is_empty() {
            return;
        }
        match self.0.get_mut(&server) {
            Some(known) => *known = known.union(&tools),
            None => drop(self.0.insert(server, tools)),
        }
    }

    /// Adds the grants of another value.
    pub fn extend(&mut self, other: Self) {
        for (server, tools) in other.0 {
            self.add(server, tools);
        }
    }

    /// Returns the intersection: what both grant.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let both = self.0.iter().filter_map(|(name, own)| Some((name.clone(), own.intersect(other.0.get(name)?))));
        Self(both.filter(|(_, tools)| !tools.is_empty()).collect())
    }

    /// Parses what a tool asks for: a server, or one of its tools as `server.tool`.
    ///
    /// # Errors
    /// `grant-invalid`
    pub fn parse_part(text: &str) -> Result<Self, GrantError> {
        let (server, tools) = match text.split_once('.') {
            Some((server, tool)) => (server, ServerTools::from_names([ServerToolName::parse(tool)?])),
            None => (text, ServerTools::ANY),
        };
        Ok(Self([(ServerName::parse(server)?, tools)].into()))
    }

    pub(super) fn validate(&self) -> Result<(), GrantError> {
        check_range(message!("number of servers"), self.0.len() as u64, 0, GRANTS_LIMIT as u64)?;
        self.0.values().flat_map(|granted| [&granted.tools, &granted.reading]).try_for_each(|names| match names {
            Names::Any => Ok(()),
            Names::Named(names) => {
                check_range(message!("number of a server's tools"), names.len() as u64, 0, NAMED_LIMIT)
            }
        })
    }
}

impl Localize for ServersGrant {
    fn localize(&self) -> Message {
        let servers = self.0.iter().map(|(server, tools)| message!("{server}: {tools}", server, tools));
        servers
            .reduce(|before, next| message!("{before}; {next}", before, next))
            .unwrap_or_else(|| Message::verbatim(String::new()))
    }
}

impl fmt::Display for ServersGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn grant(value: Value) -> ServersGrant {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_intersection_is_what_both_grant() {
        let own = grant(json!({ "a": ["x-1", "y"], "b": "any", "c": "reading", "d": ["z"] }));
        let other = grant(json!({ "a": ["x_1"], "b": "reading", "c": ["w"], "d": ["q"], "e": "any" }));
        let both = own.intersect(&other);
        assert_eq!(both, other.intersect(&own));
        assert_eq!(
            serde_json::to_value(&both).unwrap(),
            json!({ "a": ["x_1"], "b": "reading", "c": { "tools": [], "reading": ["w"] } })
        );
        assert_eq!(grant(serde_json::to_value(&both).unwrap()), both);
        assert_eq!(both.to_string(), "a: x_1; b: reading; c: w if reading");
    }

    #[test]
    fn a_reading_grant_allows_only_tools_that_read() {
        let tool = ServerToolName::parse("delete-all").unwrap();
        assert!(ServerTools::ANY.allows(&tool, false));
        assert!(!ServerTools::READING.allows(&tool, false));
        assert!(ServerTools::READING.allows(&tool, true));
        assert!(!ServerTools::from_names([ServerToolName::parse("other").unwrap()]).allows(&tool, true));
    }

    #[test]
    fn grants_of_one_server_are_put_together() {
        let mut all = grant(json!({ "mail": "reading" }));
        all.extend(grant(json!({ "mail": ["send"] })));
        assert_eq!(all.to_string(), "mail: send, reading");
        let send = ServerToolName::parse("send").unwrap();
        let (_, mail) = all.get("mail").unwrap();
        assert!(mail.allows(&send, false) && mail.allows(&ServerToolName::parse("list").unwrap(), true));
        assert_eq!(grant(serde_json::to_value(&all).unwrap()), all);
        assert_eq!(all.intersect(&grant(json!({ "mail": "any" }))), all);
    }

    #[test]
    fn what_is_no_grant_is_refused() {
        for (value, says) in [
            (json!({ "a b": "any" }), "`a b` is not a valid server name"),
            (json!({ "a": "all" }), "write a list of names, `any` or `reading`"),
            (json!({ "a": [""] }), "it must have 1 to 256 bytes"),
            (json!({ "a": 5 }), "a list of tool names"),
        ] {
            let error = serde_json::from_value::<ServersGrant>(value).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
