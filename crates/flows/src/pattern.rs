//! Where data goes, and the patterns by which rules name sources and sinks.

use std::fmt;

use toolcell_i18n::{Localize, Message, message, msgid};
use toolcell_tool::{FolderName, HostPattern, SecretName, ServerName, ServerToolName, SpaceName, ToolName};

use crate::label::{ANY, Source};

/// What marks a pattern that matches only operations that write.
const WRITES: &str = ":writes";

/// Where an operation of a cell leads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sink {
    /// Who learns of the operation.
    pub target: Target,
    /// Whether it may change something there. An operation that only reads leads there all the same: an address and a
    /// query are data.
    pub writes: bool,
}

/// Who learns of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// The files of a granted folder, by the name that the tool uses.
    Files(FolderName),
    /// A key-value space.
    Kv(SpaceName),
    /// An MCP server: one of its tools by its name in code, or the server itself, such as when it is asked for its tools.
    Server(ServerName, Option<ServerToolName>),
    /// A stored tool or a function of the host.
    Tool(ToolName),
    /// A host, by its name or address in lower case.
    Web(String),
    /// None that is known, such as an operation that is malformed. Only a pattern for all matches it.
    Unknown,
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Files(folder) => write!(f, "files:{folder}"),
            Target::Kv(space) => write!(f, "kv:{space}"),
            Target::Server(server, None) => write!(f, "server:{server}"),
            Target::Server(server, Some(tool)) => write!(f, "server:{server}.{tool}"),
            Target::Tool(name) => write!(f, "tool:{name}"),
            Target::Web(host) => write!(f, "web:{host}"),
            Target::Unknown => f.write_str("unknown"),
        }?;
        f.write_str(if self.writes { WRITES } else { "" })
    }
}

/// A set of one name, or of all.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Named<T> {
    Any,
    One(T),
}

impl<T: PartialEq> Named<T> {
    fn parse(text: &str, parse: impl FnOnce(&str) -> Result<T, PatternError>) -> Result<Self, PatternError> {
        if text == ANY { Ok(Self::Any) } else { parse(text).map(Self::One) }
    }

    fn matches(&self, name: &T) -> bool {
        match self {
            Self::Any => true,
            Self::One(one) => one == name,
        }
    }
}

/// Whether a pattern matches the name of a tool, whose case does not count.
fn matches_tool(names: &Named<ToolName>, name: &ToolName) -> bool {
    match names {
        Named::Any => true,
        Named::One(one) => one.case_folded() == name.case_folded(),
    }
}

impl<T: fmt::Display> fmt::Display for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str(ANY),
            Self::One(one) => one.fmt(f),
        }
    }
}

/// What sources and sinks have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Any,
    Files(Named<FolderName>),
    Kv(Named<SpaceName>),
    /// All servers, the tools of one, or one tool.
    Server(Option<(ServerName, Option<ServerToolName>)>),
    Tool(Named<ToolName>),
    Web(HostPattern),
}

impl Place {
    fn parse(kind: &str, name: &str) -> Result<Option<Self>, PatternError> {
        let wrong = |error: toolcell_tool::GrantError| PatternError(error.localize());
        Ok(Some(match kind {
            "files" => Self::Files(Named::parse(name, |name| FolderName::parse(name).map_err(wrong))?),
            "kv" => Self::Kv(Named::parse(name, |name| SpaceName::parse(name).map_err(wrong))?),
            "server" if name == ANY => Self::Server(None),
            "server" => {
                let (server, tool) = name.split_once('.').map_or((name, ANY), |parts| parts);
                let tool = if tool == ANY { None } else { Some(ServerToolName::parse(tool).map_err(wrong)?) };
                Self::Server(Some((ServerName::parse(server).map_err(wrong)?, tool)))
            }
            "tool" => {
                let parse = |name: &str| ToolName::parse(name).map_err(|error| PatternError(error.localize()));
                Self::Tool(Named::parse(name, parse)?)
            }
            "web" if name == ANY => Self::Web(HostPattern::Any),
            "web" => Self::Web(HostPattern::parse(name).map_err(wrong)?),
            _ => return Ok(None),
        }))
    }

    const fn is_named(&self) -> bool {
        match self {
            Self::Any | Self::Server(None) | Self::Web(HostPattern::Any | HostPattern::Below(_)) => false,
            Self::Files(name) => matches!(name, Named::One(_)),
            Self::Kv(name) => matches!(name, Named::One(_)),
            Self::Tool(name) => matches!(name, Named::One(_)),
            Self::Server(Some(_)) | Self::Web(HostPattern::Name(_) | HostPattern::Address(_)) => true,
        }
    }

    fn matches_server(
        known: Option<&(ServerName, Option<ServerToolName>)>,
        server: &ServerName,
        tool: Option<&ServerToolName>,
    ) -> bool {
        let Some((name, wanted)) = known else { return true };
        name == server && (wanted.is_none() || wanted.as_ref() == tool)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str(ANY),
            Self::Files(folder) => write!(f, "files:{folder}"),
            Self::Kv(space) => write!(f, "kv:{space}"),
            Self::Server(None) => write!(f, "server:{ANY}"),
            Self::Server(Some((server, None))) => write!(f, "server:{server}"),
            Self::Server(Some((server, Some(tool)))) => write!(f, "server:{server}.{tool}"),
            Self::Tool(name) => write!(f, "tool:{name}"),
            Self::Web(HostPattern::Any) => write!(f, "web:{ANY}"),
            Self::Web(host) => write!(f, "web:{host}"),
        }
    }
}

/// A set of sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePattern(SourcePlace);

#[derive(Debug, Clone, PartialEq, Eq)]
enum SourcePlace {
    Caller,
    Secret(Named<SecretName>),
    Place(Place),
}

impl SourcePattern {
    /// Parses a pattern: `files:FOLDER`, `kv:SPACE`, `secret:NAME`, `server:NAME`, `server:NAME.TOOL`, `tool:NAME`,
    /// `web:HOST`, in which `*` stands for any name and `*.example.com` for all hosts below; `caller`; or `*`.
    ///
    /// # Errors
    /// The text is not a pattern.
    ///
    /// # Examples
    /// ```
    /// use toolcell_flows::{Source, SourcePattern};
    ///
    /// let mail = SourcePattern::parse("server:mail")?;
    /// assert!(mail.matches(&Source::parse("server:mail.read").unwrap()));
    /// assert!(!mail.matches(&Source::Caller));
    /// assert!(SourcePattern::parse("mail").is_err());
    /// # Ok::<(), toolcell_flows::PatternError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let place = match text.split_once(':') {
            None if text == ANY => SourcePlace::Place(Place::Any),
            None if text == "caller" => SourcePlace::Caller,
            Some(("secret", name)) => {
                let parse = |name: &str| SecretName::parse(name).map_err(|error| PatternError(error.localize()));
                SourcePlace::Secret(Named::parse(name, parse)?)
            }
            Some((kind, name)) => match Place::parse(kind, name)? {
                Some(place) => SourcePlace::Place(place),
                None => return Err(PatternError::source(text)),
            },
            None => return Err(PatternError::source(text)),
        };
        Ok(Self(place))
    }

    /// Whether the pattern names one place, without a `*`.
    pub(crate) const fn is_named(&self) -> bool {
        match &self.0 {
            SourcePlace::Caller | SourcePlace::Secret(Named::One(_)) => true,
            SourcePlace::Secret(Named::Any) => false,
            SourcePlace::Place(place) => place.is_named(),
        }
    }

    /// Returns the hosts that the pattern names, if it names hosts.
    #[must_use]
    pub const fn hosts(&self) -> Option<&HostPattern> {
        match &self.0 {
            SourcePlace::Place(Place::Web(hosts)) => Some(hosts),
            _ => None,
        }
    }

    /// Whether the pattern matches a source.
    #[must_use]
    pub fn matches(&self, source: &Source) -> bool {
        match (&self.0, source) {
            (SourcePlace::Place(Place::Any), _) | (SourcePlace::Caller, Source::Caller) => true,
            (SourcePlace::Secret(names), Source::Secret(name)) => names.matches(name),
            (SourcePlace::Place(place), source) => match (place, source) {
                (Place::Files(names), Source::Files(name)) => names.matches(name),
                (Place::Kv(names), Source::Kv(name)) => names.matches(name),
                (Place::Server(known), Source::Server(server, tool)) => {
                    Place::matches_server(known.as_ref(), server, Some(tool))
                }
                (Place::Tool(names), Source::Tool(name)) => matches_tool(names, name),
                (Place::Web(hosts), Source::Web(host)) => hosts.covers(host),
                _ => false,
            },
            _ => false,
        }
    }
}

impl fmt::Display for SourcePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SourcePlace::Caller => f.write_str("caller"),
            SourcePlace::Secret(name) => write!(f, "secret:{name}"),
            SourcePlace::Place(place) => place.fmt(f),
        }
    }
}

/// A set of sinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkPattern {
    place: Place,
    /// Whether it matches only operations that write.
    writes: bool,
}

impl SinkPattern {
    /// Parses a pattern: `files:FOLDER`, `kv:SPACE`, `server:NAME`, `server:NAME.TOOL`, `tool:NAME` or `web:HOST`, in
    /// which `*` stands for any name and `*.example.com` for all hosts below, or `*`; with `:writes` behind it only for
    /// operations that write.
    ///
    /// # Errors
    /// The text is not a pattern.
    ///
    /// # Examples
    /// ```
    /// use toolcell_flows::{Sink, SinkPattern, Target};
    ///
    /// let get = Sink { target: Target::Web("api.example.com".to_owned()), writes: false };
    /// assert!(SinkPattern::parse("web:*.example.com")?.matches(&get));
    /// assert!(!SinkPattern::parse("web:*:writes")?.matches(&get));
    /// # Ok::<(), toolcell_flows::PatternError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (place, writes) = text.strip_suffix(WRITES).map_or((text, false), |place| (place, true));
        let place = match place.split_once(':') {
            None if place == ANY => Place::Any,
            Some((kind, name)) => Place::parse(kind, name)?.ok_or_else(|| PatternError::sink(text))?,
            None => return Err(PatternError::sink(text)),
        };
        Ok(Self { place, writes })
    }

    /// Whether the pattern names one place, without a `*`.
    pub(crate) const fn is_named(&self) -> bool {
        self.place.is_named()
    }

    /// Returns the hosts that the pattern names, if it names hosts.
    #[must_use]
    pub const fn hosts(&self) -> Option<&HostPattern> {
        match &self.place {
            Place::Web(hosts) => Some(hosts),
            _ => None,
        }
    }

    /// Whether the pattern matches a sink.
    #[must_use]
    pub fn matches(&self, sink: &Sink) -> bool {
        if self.writes && !sink.writes {
            return false;
        }
        match (&self.place, &sink.target) {
            (Place::Any, _) => true,
            (Place::Files(names), Target::Files(name)) => names.matches(name),
            (Place::Kv(names), Target::Kv(name)) => names.matches(name),
            (Place::Server(known), Target::Server(server, tool)) => {
                Place::matches_server(known.as_ref(), server, tool.as_ref())
            }
            (Place::Tool(names), Target::Tool(name)) => matches_tool(names, name),
            (Place::Web(hosts), Target::Web(host)) => hosts.covers(host),
            _ => false,
        }
    }
}

impl fmt::Display for SinkPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, if self.writes { WRITES } else { "" })
    }
}

/// A text is no pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternError(Message);

impl PatternError {
    fn source(text: &str) -> Self {
        let text: String = text.chars().take(80).flat_map(char::escape_default).collect();
        Self(message!(
            "`{text}` is not a source: write `files:FOLDER`, `kv:SPACE`, `secret:NAME`, `server:NAME`, `server:NAME.TOOL`, `tool:NAME`, `web:HOST`, `caller` or `*`",
            text
        ))
    }

    fn sink(text: &str) -> Self {
        if text == "caller" || text.starts_with("secret:") {
            return Self(msgid!("the caller and secrets are sources: nothing goes there").into());
        }
        let text: String = text.chars().take(80).flat_map(char::escape_default).collect();
        Self(message!(
            "`{text}` is not a sink: write `files:FOLDER`, `kv:SPACE`, `server:NAME`, `server:NAME.TOOL`, `tool:NAME`, `web:HOST` or `*`, with `:writes` behind it for operations that write",
            text
        ))
    }
}

impl Localize for PatternError {
    fn localize(&self) -> Message {
        self.0.clone()
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for PatternError {}
