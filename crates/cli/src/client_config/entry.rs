//! The fields of an entry, as each client spells them.
//!
//! Invariant: every argument reaches the server unchanged, because strings that a client would
//! expand are refused. No token is ever written, only the name of the environment variable that
//! holds it.

use http::Uri;
use serde_json::{Value, json};
use toolcell_i18n::{Message, message, msgid};

use super::{Client, ClientError};

/// The default name of the entry.
pub(crate) const DEFAULT_NAME: &str = "toolcell";

/// The longest name, in bytes. Clients prefix tool names with it, and those have limits of their
/// own.
const NAME_LIMIT: usize = 32;
/// The file name of the program.
const PROGRAM: &str = "toolcell";
/// The subcommand that starts the server.
const SUBCOMMAND: &str = "mcp";
/// The keys that define how a server is reached. All other keys belong to the user.
const TRANSPORT_KEYS: [&str; 7] = ["type", "command", "args", "url", "httpUrl", "headers", "bearer_token_env_var"];

/// A key of an entry, and its value.
pub(super) type Field = (&'static str, Value);

/// The server that an entry connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerTarget(TargetKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum TargetKind {
    /// A server that the client starts.
    Stdio { command: String, args: Vec<String> },
    /// A server that is already running.
    Http { url: String, token_variable: Option<String> },
}

impl ServerTarget {
    /// A server that is started by a command and speaks over standard input and output.
    ///
    /// # Errors
    /// `client-word-invalid`
    pub(crate) fn command<W: Into<String>>(
        command: impl Into<String>,
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, ClientError> {
        let (command, words) = (command.into(), words.into_iter().map(Into::into).collect::<Vec<String>>());
        for word in [&command].into_iter().chain(&words) {
            let why = if word.contains('$') {
                message!("clients expand variables at a `$`")
            } else if word.chars().any(char::is_control) {
                message!("it contains a control character")
            } else {
                continue;
            };
            return Err(ClientError::Word { word: word.clone(), why });
        }
        Ok(Self(TargetKind::Stdio { command, args: words }))
    }

    /// A running server that is reached over HTTP. The client authenticates with the token in an
    /// environment variable of its own.
    ///
    /// # Errors
    /// `client-url-invalid`, `client-variable-invalid`
    pub(crate) fn http(url: &str, token_variable: Option<&str>) -> Result<Self, ClientError> {
        let wrong = |url: &str, why: &'static str| ClientError::Url {
            url: url.chars().take(200).collect(),
            why: Message::from(why),
        };
        if url.contains('@') {
            // The part before the `@` may be a password.
            return Err(wrong("…", msgid!("it contains an `@`; name the variable of a token with --token-env")));
        }
        if url.contains('$') {
            return Err(wrong(url, msgid!("clients expand variables at a `$`")));
        }
        let parsed: Uri = url.parse().map_err(|_| wrong(url, msgid!("it cannot be parsed")))?;
        if !matches!(parsed.scheme_str(), Some("http" | "https")) || parsed.host().is_none_or(str::is_empty) {
            return Err(wrong(url, msgid!("it does not start with http:// or https:// and a host")));
        }
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|first: char| first.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if token_variable.is_some_and(|name| !is_name(name)) {
            return Err(ClientError::Variable);
        }
        Ok(Self(TargetKind::Http { url: url.to_owned(), token_variable: token_variable.map(str::to_owned) }))
    }
}

/// A server under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientEntry {
    name: String,
    server: ServerTarget,
}

impl ClientEntry {
    /// Creates an entry.
    ///
    /// # Errors
    /// `client-name-invalid`
    pub(crate) fn new(name: &str, server: ServerTarget) -> Result<Self, ClientError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || name.len() > NAME_LIMIT || !name.bytes().all(fits) {
            return Err(ClientError::Name { name: name.chars().take(NAME_LIMIT).collect(), limit: NAME_LIMIT });
        }
        Ok(Self { name: name.to_owned(), server })
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The fields of the entry, as this client spells them.
    pub(super) fn fields(&self, client: Client) -> Vec<Field> {
        let mut fields = match &self.server.0 {
            TargetKind::Stdio { command, args: words } => {
                let kind = match client {
                    Client::VsCode => Some("stdio"),
                    Client::Copilot => Some("local"),
                    _ => None,
                };
                let kind = kind.map(|kind| ("type", json!(kind)));
                kind.into_iter().chain([("command", json!(command)), ("args", json!(words))]).collect()
            }
            TargetKind::Http { url, token_variable } => http_fields(client, url, token_variable.as_deref()),
        };
        match client {
            // Copilot enables no tools without this field.
            Client::Copilot => fields.push(("tools", json!(["*"]))),
            // Without it, pi shows the tools to the model only from scripts.
            Client::Pi => fields.push(("exposure", json!("direct"))),
            _ => (),
        }
        fields
    }

    /// Whether an existing entry is ours: it starts Toolcell's server, or is an HTTP server with
    /// the same URL or under the default name.
    pub(super) fn is_ours(&self, found: &FoundEntry) -> bool {
        match (&found.command, &found.url) {
            (Some(command), _) => {
                let same = matches!(&self.server.0, TargetKind::Stdio { command: ours, .. } if ours == command);
                let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
                let program = program.strip_suffix(".exe").unwrap_or(program);
                (same || program == PROGRAM) && found.args.iter().any(|word| word == SUBCOMMAND)
            }
            (None, Some(url)) => {
                let same = matches!(&self.server.0, TargetKind::Http { url: ours, .. } if ours == url);
                same || self.name == DEFAULT_NAME
            }
            (None, None) => false,
        }
    }
}

fn http_fields(client: Client, url: &str, token_variable: Option<&str>) -> Vec<Field> {
    let mut fields = match client {
        Client::ClaudeCode | Client::VsCode | Client::Copilot => vec![("type", json!("http")), ("url", json!(url))],
        // In Gemini's settings `url` is the older SSE transport.
        Client::Gemini => vec![("httpUrl", json!(url))],
        Client::Cursor | Client::Codex | Client::Pi => vec![("url", json!(url))],
    };
    if let Some(variable) = token_variable {
        let bearer = match client {
            Client::Codex => {
                fields.push(("bearer_token_env_var", json!(variable)));
                return fields;
            }
            Client::VsCode | Client::Cursor => format!("Bearer ${{env:{variable}}}"),
            Client::ClaudeCode | Client::Copilot | Client::Gemini | Client::Pi => format!("Bearer ${{{variable}}}"),
        };
        fields.push(("headers", json!({ "Authorization": bearer })));
    }
    fields
}

/// An existing entry of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FoundEntry {
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) url: Option<String>,
    /// All fields of the entry.
    pub(super) fields: Vec<(String, Value)>,
}

impl FoundEntry {
    pub(super) fn new(fields: Vec<(String, Value)>) -> Self {
        let get = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let text = |key: &str| get(key).and_then(Value::as_str).map(str::to_owned);
        let words = get("args").and_then(Value::as_array).into_iter().flatten();
        let words = words.filter_map(Value::as_str).map(str::to_owned).collect();
        let url = ["url", "httpUrl"].into_iter().find_map(text);
        Self { command: text("command"), args: words, url, fields }
    }

    /// Describes the entry for an error message.
    pub(super) fn describe(&self) -> Message {
        match (&self.command, &self.url) {
            (Some(command), _) => message!("started by `{command}`", command = command.escape_debug()),
            // A URL may contain a password.
            (None, Some(_)) => message!("reached over HTTP"),
            (None, None) => message!("without a command or a URL"),
        }
    }

    /// Whether the entry connects to the server that these fields describe.
    pub(super) fn matches(&self, fields: &[Field]) -> bool {
        self.outdated_fields(fields).is_empty() && self.obsolete_keys(fields).is_empty()
    }

    /// Returns the fields that are missing or different. Existing values of fields that the user
    /// owns, such as the enabled tools, count as equal.
    pub(super) fn outdated_fields<'a>(&self, fields: &'a [Field]) -> Vec<&'a Field> {
        let has = |(key, value): &Field| {
            let found = self.fields.iter().find(|(name, _)| name == key);
            found.is_some_and(|(_, found)| found == value || !TRANSPORT_KEYS.contains(key))
        };
        fields.iter().filter(|field| !has(field)).collect()
    }

    /// Returns the transport keys that contradict the new fields. Credentials are kept, unless the
    /// server becomes one that the client starts.
    pub(super) fn obsolete_keys(&self, fields: &[Field]) -> Vec<&str> {
        let wanted = |key: &str| fields.iter().any(|(name, _)| *name == key);
        let stale = |(key, value): &&(String, Value)| match key.as_str() {
            key if !TRANSPORT_KEYS.contains(&key) || wanted(key) => false,
            "headers" | "bearer_token_env_var" => wanted("command"),
            "type" => matches!(value.as_str(), Some("stdio" | "local")) != wanted("command"),
            _ => true,
        };
        self.fields.iter().filter(stale).map(|(key, _)| key.as_str()).collect()
    }
}
