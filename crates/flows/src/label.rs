//! Where data came from.

use std::collections::BTreeSet;
use std::fmt;

use toolcell_tool::{FolderName, SecretName, ServerName, ServerToolName, SpaceName, ToolName};

/// What stands for every source in text.
pub(crate) const ANY: &str = "*";

/// Where data came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The caller of the outermost run: its parameters.
    Caller,
    /// The files of a granted folder, by the name that the tool uses.
    Files(FolderName),
    /// A key-value space.
    Kv(SpaceName),
    /// The answers to requests that carried a secret.
    Secret(SecretName),
    /// A tool of an MCP server, by its name in code.
    Server(ServerName, ServerToolName),
    /// A stored tool or a function of the host.
    Tool(ToolName),
    /// A host, by its name or address in lower case.
    Web(String),
}

impl Source {
    /// Parses a source as [`Display`](fmt::Display) writes it; `None` if the text is not a source.
    ///
    /// # Examples
    /// ```
    /// use toolcell_flows::Source;
    ///
    /// assert_eq!(Source::parse("server:mail.read").unwrap().to_string(), "server:mail.read");
    /// assert_eq!(Source::parse("mail"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let Some((kind, name)) = text.split_once(':') else { return (text == "caller").then_some(Self::Caller) };
        Some(match kind {
            "files" => Self::Files(FolderName::parse(name).ok()?),
            "kv" => Self::Kv(SpaceName::parse(name).ok()?),
            "secret" => Self::Secret(SecretName::parse(name).ok()?),
            "server" => {
                let (server, tool) = name.split_once('.')?;
                Self::Server(ServerName::parse(server).ok()?, ServerToolName::parse(tool).ok()?)
            }
            "tool" => Self::Tool(ToolName::parse(name).ok()?),
            "web" if !name.is_empty() && name.len() <= 255 => Self::Web(name.to_ascii_lowercase()),
            _ => return None,
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller => f.write_str("caller"),
            Self::Files(folder) => write!(f, "files:{folder}"),
            Self::Kv(space) => write!(f, "kv:{space}"),
            Self::Secret(name) => write!(f, "secret:{name}"),
            Self::Server(server, tool) => write!(f, "server:{server}.{tool}"),
            Self::Tool(name) => write!(f, "tool:{name}"),
            Self::Web(host) => write!(f, "web:{host}"),
        }
    }
}

/// A set of sources; one of more than [`Label::LIMIT`] is the set of all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Label {
    sources: BTreeSet<Source>,
    /// Whether it is the set of all sources; `sources` is empty then.
    is_any: bool,
}

impl Label {
    /// The maximum number of sources that are told apart.
    pub const LIMIT: usize = 64;

    /// Returns the set of all sources.
    #[must_use]
    pub const fn any() -> Self {
        Self { sources: BTreeSet::new(), is_any: true }
    }

    /// Parses a set of sources. A text that is no source makes it the set of all: what cannot be understood is not taken
    /// for harmless.
    ///
    /// # Examples
    /// ```
    /// use toolcell_flows::Label;
    ///
    /// assert_eq!(Label::parse(["caller", "web:example.com"]).to_texts(), ["caller", "web:example.com"]);
    /// assert!(Label::parse(["a mail"]).is_any());
    /// ```
    #[must_use]
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut label = Self::default();
        for text in texts {
            match Source::parse(text) {
                Some(source) => drop(label.insert(source)),
                None => return Self::any(),
            }
        }
        label
    }

    /// Adds a source; returns whether the label grew.
    pub fn insert(&mut self, source: Source) -> bool {
        if self.is_any || !self.sources.insert(source) {
            return false;
        }
        if self.sources.len() > Self::LIMIT {
            *self = Self::any();
        }
        true
    }

    /// Adds the sources of another label; returns whether the label grew.
    pub fn join(&mut self, other: &Self) -> bool {
        if self.is_any || self.includes(other) {
            return false;
        }
        if other.is_any {
            *self = Self::any();
            return true;
        }
        for source in &other.sources {
            self.insert(source.clone());
        }
        true
    }

    /// Whether the label has all sources of another one.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        self.is_any || !other.is_any && other.sources.is_subset(&self.sources)
    }

    /// Whether it is the set of all sources.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.is_any
    }

    /// Whether it is the empty set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_any && self.sources.is_empty()
    }

    /// Returns the sources; none of the set of all.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter()
    }

    /// Removes the sources for which `is_removed` is true. The set of all stays what it is.
    #[must_use]
    pub fn without(mut self, is_removed: impl Fn(&Source) -> bool) -> Self {
        self.sources.retain(|source| !is_removed(source));
        self
    }

    /// Returns the sources as text, sorted; `*` for the set of all.
    #[must_use]
    pub fn to_texts(&self) -> Vec<String> {
        if self.is_any { vec![ANY.to_owned()] } else { self.sources.iter().map(ToString::to_string).collect() }
    }
}

impl From<Source> for Label {
    fn from(source: Source) -> Self {
        Self { sources: BTreeSet::from([source]), is_any: false }
    }
}
