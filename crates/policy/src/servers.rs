//! The MCP servers whose tools code may call.
//!
//! Invariant: only the user's file defines servers. A command is an argument list that no shell
//! interprets, and a definition has the names of secrets, never their values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toolcell_i18n::{Localize as _, Message, message, msgid};
use toolcell_tool::{GRANTS_LIMIT, HOSTS_LIMIT, SecretName, ServerName, parse_address_range};
use url::{Host, Url};

use crate::problem::{PolicyParser, escape_for_display};
use crate::provenance::{Origin, Setting, toml_list, toml_string};
use crate::server_auth::{PLACEHOLDER, RawServerAuth, ServerAuth, is_encrypted_or_local};

/// The default time in which a server has to answer, in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;
/// The longest time in which a server has to answer, in milliseconds: the longest run.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// How far what a server says about its tools is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerHints {
    /// Each tool may write, destroy, and reach others.
    #[default]
    Ignore,
    /// A tool that the server marks as reading has no side effects.
    Believe,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerDefinition {
    /// The name.
    pub name: ServerName,
    /// How the server is reached.
    pub transport: ServerTransport,
    /// Whether its hints about tools are believed.
    pub hints: ServerHints,
    /// The time in which a call has to be answered.
    pub timeout: Duration,
    /// The position of the definition.
    pub origin: Origin,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// A program, over its standard input and output.
    Command {
        /// The program and its arguments; never empty.
        command: Vec<String>,
        /// The folder of the policy file: a program path that contains `/` is relative to it.
        folder: PathBuf,
        /// The environment variables besides `PATH`, `HOME` and those of the language.
        environment: BTreeMap<String, Template>,
    },
    /// Streamable HTTP.
    Http {
        /// The URL.
        url: Url,
        /// How Toolcell authenticates.
        auth: Option<ServerAuth>,
        /// The private addresses that the host may resolve to.
        addresses: BTreeSet<IpNet>,
    },
}

/// A text with places for secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<TemplatePart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Secret(SecretName),
}

impl Template {
    fn parse(text: &str) -> Result<Self, Message> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(PLACEHOLDER) {
            let Some((name, behind)) = after.split_once("}}") else {
                return Err(message!("a secret is written as `{{secret:NAME}}`"));
            };
            parts.push(TemplatePart::Text(before.to_owned()));
            parts.push(TemplatePart::Secret(SecretName::parse(name).map_err(|error| error.localize())?));
            rest = behind;
        }
        let all = parts.iter().filter_map(|part| match part {
            TemplatePart::Text(text) => Some(text.as_str()),
            TemplatePart::Secret(_) => None,
        });
        // `{{ secret:NAME }}` would be given to the program as it is.
        if all.chain([rest]).any(looks_like_placeholder) {
            return Err(message!("a secret is written as `{{secret:NAME}}`"));
        }
        parts.push(TemplatePart::Text(rest.to_owned()));
        Ok(Self(parts))
    }

    /// Returns the names of the secrets.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretName> {
        self.0.iter().filter_map(|part| match part {
            TemplatePart::Secret(name) => Some(name),
            TemplatePart::Text(_) => None,
        })
    }

    /// Returns the text with the values of the secrets.
    ///
    /// # Errors
    /// That of `value`.
    pub fn fill<E>(&self, mut value: impl FnMut(&SecretName) -> Result<String, E>) -> Result<String, E> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Secret(name) => text.push_str(&value(name)?),
            }
        }
        Ok(text)
    }
}

impl ServerDefinition {
    /// Returns the names of the secrets that the server gets.
    #[must_use]
    pub fn secrets(&self) -> BTreeSet<&SecretName> {
        match &self.transport {
            ServerTransport::Command { environment, .. } => environment.values().flat_map(Template::secrets).collect(),
            ServerTransport::Http { auth, .. } => auth.iter().filter_map(ServerAuth::secret).collect(),
        }
    }

    /// Returns the definition for display, without the values of variables.
    pub(super) fn to_setting(&self) -> Setting {
        let value = match &self.transport {
            ServerTransport::Command { command, .. } => format!("{{ command = {} }}", toml_list(command)),
            ServerTransport::Http { url, .. } => format!("{{ url = {} }}", toml_string(url.as_str())),
        };
        Setting { key: format!("servers.{}", self.name), value, origin: self.origin.clone(), ignored: Vec::new() }
    }
}

/// An MCP server whose tools code may call as functions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["command"] }, { "required": ["url"] }]))]
pub(super) struct RawServer {
    /// The program and its arguments; no shell is used. A program path that contains `/` is
    /// relative to the policy file's folder. A server has either a `command` or a `url`.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    command: Option<Spanned<Vec<String>>>,
    /// The environment variables of the program, in which `{{secret:NAME}}` stands for a secret.
    /// It also has `PATH`, `HOME`, `LANG`, `LC_*`, `TZ` and `TMPDIR`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    environment: BTreeMap<Spanned<String>, Spanned<String>>,
    /// The URL of a server that is reached over HTTP.
    #[serde(default)]
    #[schemars(with = "String")]
    url: Option<Spanned<String>>,
    /// How Toolcell authenticates to the server at the `url`.
    #[serde(default)]
    #[schemars(with = "RawServerAuth")]
    auth: Option<Spanned<RawServerAuth>>,
    /// Private address ranges that the host of the `url` may resolve to, such as `10.1.0.0/16`. By
    /// default none; a `url` of `localhost`, or of an address, may be reached there.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    addresses: Vec<Spanned<String>>,
    /// Whether what the server says about the effects of its tools is believed.
    #[serde(default)]
    #[schemars(with = "ServerHints", extend("default" = "ignore"))]
    hints: Option<Spanned<ServerHints>>,
    /// The time in which a call has to be answered, in milliseconds.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1_u64, max = MAX_TIMEOUT_MS), extend("default" = DEFAULT_TIMEOUT_MS))]
    timeout_ms: Option<Spanned<u64>>,
}

impl PolicyParser<'_> {
    /// Converts the definitions of servers.
    pub(super) fn parse_servers(&mut self, forms: BTreeMap<Spanned<String>, RawServer>) -> Vec<ServerDefinition> {
        if forms.len() > GRANTS_LIMIT
            && let Some((name, _)) = forms.iter().nth(GRANTS_LIMIT)
        {
            let (count, limit) = (forms.len(), GRANTS_LIMIT);
            self.report(&name.span(), message!("there are {count} servers, the limit is {limit}", count, limit));
            return Vec::new();
        }
        let mut servers = Vec::new();
        for (name, form) in forms {
            let parsed = match ServerName::parse(name.get_ref()) {
                Ok(parsed) => parsed,
                Err(error) => {
                    self.report(&name.span(), error.localize());
                    continue;
                }
            };
            let (hints, timeout) = (form.hints.as_ref(), form.timeout_ms.as_ref());
            let (hints, timeout) = (
                hints.map_or_else(ServerHints::default, |hints| *hints.get_ref()),
                Duration::from_millis(timeout.map_or(DEFAULT_TIMEOUT_MS, |timeout| *timeout.get_ref())),
            );
            if let Some(transport) = self.parse_transport(form) {
                let origin = self.origin(&name.span());
                servers.push(ServerDefinition { name: parsed, transport, hints, timeout, origin });
            }
        }
        servers
    }

    fn parse_transport(&mut self, form: RawServer) -> Option<ServerTransport> {
        match (form.command, form.url) {
            (Some(command), None) => {
                if let Some(auth) = &form.auth {
                    let message =
                        msgid!("only a server with a `url` has `auth`: give a program its token in `environment`");
                    self.report(&auth.span(), message);
                }
                if let Some(addresses) = form.addresses.first() {
                    self.report(&addresses.span(), msgid!("only a server with a `url` has `addresses`"));
                }
                self.parse_server_command(command, form.environment)
            }
            (None, Some(url)) => {
                if let Some((name, _)) = form.environment.first_key_value() {
                    self.report(&name.span(), msgid!("only a server with a `command` has an `environment`"));
                }
                self.parse_server_url(&url, form.auth, &form.addresses)
            }
            // The structure of the file is checked before: a server has one of them.
            (None, None) => None,
            (Some(_), Some(url)) => {
                self.report(&url.span(), msgid!("the server has both a `command` and a `url`: remove one of them"));
                None
            }
        }
    }

    fn parse_server_command(
        &mut self,
        command: Spanned<Vec<String>>,
        variables: BTreeMap<Spanned<String>, Spanned<String>>,
    ) -> Option<ServerTransport> {
        if command.get_ref().first().is_none_or(String::is_empty) {
            self.report(&command.span(), msgid!("the command of a server must start with a program"));
            return None;
        }
        if command.get_ref().iter().any(|word| word.contains('\0')) {
            self.report(&command.span(), msgid!("the command of a server must not contain U+0000"));
            return None;
        }
        if command.get_ref().iter().any(|word| looks_like_placeholder(word)) {
            let message =
                msgid!("other users of the machine see a command: give the program its secret in `environment`");
            self.report(&command.span(), message);
            return None;
        }
        let mut environment = BTreeMap::new();
        for (name, value) in variables {
            let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
            if !is_name(name.get_ref()) || value.get_ref().contains('\0') {
                let name = (escape_for_display(name.get_ref()), name.span());
                self.report(&name.1, message!("`{name}` cannot be an environment variable", name = name.0));
                continue;
            }
            match Template::parse(value.get_ref()) {
                Ok(template) => drop(environment.insert(name.into_inner(), template)),
                Err(message) => self.report(&value.span(), message),
            }
        }
        let folder = self.path.parent().map_or_else(PathBuf::new, Path::to_owned);
        Some(ServerTransport::Command { command: command.into_inner(), folder, environment })
    }

    fn parse_server_url(
        &mut self,
        text: &Spanned<String>,
        auth: Option<Spanned<RawServerAuth>>,
        ranges: &[Spanned<String>],
    ) -> Option<ServerTransport> {
        let url = match Url::parse(text.get_ref()) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.host().is_some() => url,
            _ => {
                let url = escape_for_display(text.get_ref());
                self.report(
                    &text.span(),
                    message!("`{url}` is not the URL of a server: `https://…`, or `http://localhost:…`", url),
                );
                return None;
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            self.report(&text.span(), msgid!("the URL has a password in it: use `auth`, and a secret"));
            return None;
        }
        let own = own_addresses(&url);
        let auth = match auth {
            None => None,
            Some(auth) => Some(self.parse_server_auth(auth)?),
        };
        if auth.is_some() && !is_encrypted_or_local(&url) {
            self.report(&text.span(), msgid!("the token would be sent unencrypted: use `https`"));
            return None;
        }
        if ranges.len() > HOSTS_LIMIT {
            let (count, limit) = (ranges.len(), HOSTS_LIMIT);
            let message = message!("the server has {count} address ranges, the limit is {limit}", count, limit);
            self.report(&ranges[HOSTS_LIMIT].span(), message);
            return None;
        }
        let mut addresses = own;
        for range in ranges {
            match parse_address_range(range.get_ref()) {
                Ok(range) => drop(addresses.insert(range)),
                Err(error) => self.report(&range.span(), error.localize()),
            }
        }
        Some(ServerTransport::Http { url, auth, addresses })
    }
}

/// Whether a text has something that is meant to stand for a secret.
fn looks_like_placeholder(text: &str) -> bool {
    text.split("{{").skip(1).any(|rest| rest.trim_start().to_ascii_lowercase().starts_with("secret"))
}

/// Returns the private addresses that a host stands for by its name alone.
fn own_addresses(url: &Url) -> BTreeSet<IpNet> {
    let loopback = || ["127.0.0.0/8", "::1/128"].into_iter().filter_map(|range| range.parse().ok()).collect();
    match url.host() {
        Some(Host::Domain("localhost")) => loopback(),
        Some(Host::Ipv4(address)) => [IpNet::from(std::net::IpAddr::from(address))].into(),
        Some(Host::Ipv6(address)) => [IpNet::from(std::net::IpAddr::from(address))].into(),
        _ => BTreeSet::new(),
    }
}
