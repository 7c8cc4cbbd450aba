//! What an entry leads to, and how each client writes that.
//!
//! Invariant: every word reaches the server as it is: none has anything in it that a client would replace. No token is
//! ever written, only the name of the variable that holds it.

use hyper::http::Uri;
use serde_json::{Value, json};

use super::{Client, ClientError};

/// The usual name of the entry.
pub const NAME: &str = "toolcell";

/// The longest name, in bytes. Clients put it before the names of tools, which have limits as well.
const NAME_LIMIT: usize = 32;
/// The name of the program.
const PROGRAM: &str = "toolcell";
/// The word with which the program serves.
const VERB: &str = "mcp";
/// What says how a server is reached. Whatever else is in an entry is its owner's.
const TRANSPORT: [&str; 7] = ["type", "command", "args", "url", "httpUrl", "headers", "bearer_token_env_var"];

/// A key of an entry, and its value.
pub(super) type Field = (&'static str, Value);

/// A server that a client is to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// One that the client starts.
    Command { command: String, words: Vec<String> },
    /// One that runs.
    Http { url: String, token_variable: Option<String> },
}

impl Server {
    /// The one that a command starts, which then speaks over standard input and output.
    ///
    /// # Errors
    /// `client-word-invalid`
    pub fn command<W: Into<String>>(
        command: impl Into<String>,
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, ClientError> {
        let (command, words) = (command.into(), words.into_iter().map(Into::into).collect::<Vec<String>>());
        for word in [&command].into_iter().chain(&words) {
            let why = if word.contains('$') {
                "clients put the value of a variable where a `$` is"
            } else if word.chars().any(char::is_control) {
                "it has a control character in it"
            } else {
                continue;
            };
            return Err(ClientError::Word { word: word.clone(), why });
        }
        Ok(Self(Kind::Command { command, words }))
    }

    /// One that runs and is reached over HTTP. Who it is that calls is said by the token in an environment variable of the
    /// client's.
    ///
    /// # Errors
    /// `client-url-invalid`, `client-variable-invalid`
    ///
    /// # Examples
    /// ```
    /// use toolcell_mcp::client::Server;
    ///
    /// assert!(Server::http("http://127.0.0.1:8080/mcp", Some("TOOLCELL_TOKEN")).is_ok());
    /// assert_eq!(Server::http("127.0.0.1:8080", None).unwrap_err().code(), "client-url-invalid");
    /// ```
    pub fn http(url: &str, token_variable: Option<&str>) -> Result<Self, ClientError> {
        let wrong = |url: &str, why| ClientError::Url { url: url.chars().take(200).collect(), why };
        if url.contains('@') {
            // What stands before it may be a password.
            return Err(wrong("…", "it has an `@` in it; a token is named with --token-env"));
        }
        if url.contains('$') {
            return Err(wrong(url, "clients put the value of a variable where a `$` is"));
        }
        let parsed: Uri = url.parse().map_err(|_| wrong(url, "it is not understood"))?;
        if !matches!(parsed.scheme_str(), Some("http" | "https")) || parsed.host().is_none_or(str::is_empty) {
            return Err(wrong(url, "it does not begin with http:// or https:// and a host"));
        }
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|first: char| first.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if token_variable.is_some_and(|name| !is_name(name)) {
            return Err(ClientError::Variable);
        }
        Ok(Self(Kind::Http { url: url.to_owned(), token_variable: token_variable.map(str::to_owned) }))
    }
}

/// A server under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    name: String,
    server: Server,
}

impl Entry {
    /// A server under a name.
    ///
    /// # Errors
    /// `client-name-invalid`
    pub fn new(name: &str, server: Server) -> Result<Self, ClientError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || name.len() > NAME_LIMIT || !name.bytes().all(fits) {
            return Err(ClientError::Name { name: name.chars().take(NAME_LIMIT).collect(), limit: NAME_LIMIT });
        }
        Ok(Self { name: name.to_owned(), server })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the client calls what.
    pub(super) fn fields(&self, client: Client) -> Vec<Field> {
        let mut fields = match &self.server.0 {
            Kind::Command { command, words } => {
                let kind = match client {
                    Client::VsCode => Some("stdio"),
                    Client::Copilot => Some("local"),
                    _ => None,
                };
                let kind = kind.map(|kind| ("type", json!(kind)));
                kind.into_iter().chain([("command", json!(command)), ("args", json!(words))]).collect()
            }
            Kind::Http { url, token_variable } => over_http(client, url, token_variable.as_deref()),
        };
        match client {
            // Without it there are none.
            Client::Copilot => fields.push(("tools", json!(["*"]))),
            // Else a model sees them only from scripts.
            Client::Pi => fields.push(("exposure", json!("direct"))),
            _ => (),
        }
        fields
    }

    /// Whether what was found under the name leads here: it starts Toolcell's server, or is a server over HTTP that has the
    /// same address or the usual name.
    pub(super) fn owns(&self, found: &Found) -> bool {
        match (&found.command, &found.url) {
            (Some(command), _) => {
                let same = matches!(&self.server.0, Kind::Command { command: ours, .. } if ours == command);
                let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
                let program = program.strip_suffix(".exe").unwrap_or(program);
                (same || program == PROGRAM) && found.words.iter().any(|word| word == VERB)
            }
            (None, Some(url)) => {
                let same = matches!(&self.server.0, Kind::Http { url: ours, .. } if ours == url);
                same || self.name == NAME
            }
            (None, None) => false,
        }
    }
}

fn over_http(client: Client, url: &str, token_variable: Option<&str>) -> Vec<Field> {
    let mut fields = match client {
        Client::ClaudeCode | Client::VsCode | Client::Copilot => vec![("type", json!("http")), ("url", json!(url))],
        // Its `url` is the transport that came before.
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

/// What a file has under a name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) command: Option<String>,
    pub(super) words: Vec<String>,
    pub(super) url: Option<String>,
    /// All of it.
    pub(super) fields: Vec<(String, Value)>,
}

impl Found {
    pub(super) fn new(fields: Vec<(String, Value)>) -> Self {
        let get = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let text = |key: &str| get(key).and_then(Value::as_str).map(str::to_owned);
        let words = get("args").and_then(Value::as_array).into_iter().flatten();
        let words = words.filter_map(Value::as_str).map(str::to_owned).collect();
        let url = ["url", "httpUrl"].into_iter().find_map(text);
        Self { command: text("command"), words, url, fields }
    }

    /// What it leads to, for whoever did not expect it.
    pub(super) fn told(&self) -> String {
        match (&self.command, &self.url) {
            (Some(command), _) => format!("started by `{}`", command.escape_debug()),
            // An address can have a password in it.
            (None, Some(_)) => "reached over HTTP".to_owned(),
            (None, None) => "or none at all".to_owned(),
        }
    }

    /// Whether it leads where these do.
    pub(super) fn leads_to(&self, fields: &[Field]) -> bool {
        self.wanting(fields).is_empty() && self.stale(fields).is_empty()
    }

    /// Those that it lacks, or has otherwise. What it has of those that are its owner's to say, such as which tools are
    /// used, stays as it is.
    pub(super) fn wanting<'a>(&self, fields: &'a [Field]) -> Vec<&'a Field> {
        let has = |(key, value): &Field| {
            let found = self.fields.iter().find(|(name, _)| name == key);
            found.is_some_and(|(_, found)| found == value || !TRANSPORT.contains(key))
        };
        fields.iter().filter(|field| !has(field)).collect()
    }

    /// The keys that would lead elsewhere. What says who calls stays, unless there is nobody to say it to.
    pub(super) fn stale(&self, fields: &[Field]) -> Vec<&str> {
        let wanted = |key: &str| fields.iter().any(|(name, _)| *name == key);
        let stale = |(key, value): &&(String, Value)| match key.as_str() {
            key if !TRANSPORT.contains(&key) || wanted(key) => false,
            "headers" | "bearer_token_env_var" => wanted("command"),
            "type" => matches!(value.as_str(), Some("stdio" | "local")) != wanted("command"),
            _ => true,
        };
        self.fields.iter().filter(stale).map(|(key, _)| key.as_str()).collect()
    }
}
