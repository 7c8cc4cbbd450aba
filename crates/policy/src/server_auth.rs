//! How Toolcell authenticates to an MCP server over HTTP: a bearer token, or OAuth.
//!
//! Invariant: a definition has the names of secrets, never their values. A client secret is bound to the authorization
//! server that it is for: the MCP server cannot have it sent elsewhere.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toolcell_i18n::{Localize as _, message, msgid};
use toolcell_tool::SecretName;
use url::{Host, Url};

use crate::problem::{PolicyParser, escape_for_display};

/// What stands for a secret: this, its name and `}}`.
pub(super) const PLACEHOLDER: &str = "{{secret:";
/// The maximum number of scopes.
const MAX_SCOPES: usize = 64;
/// The maximum length of a scope or a client identifier, in bytes.
const MAX_NAME_BYTES: usize = 512;

/// How Toolcell authenticates to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerAuth {
    /// A fixed bearer token.
    Bearer(SecretName),
    /// Access tokens of an authorization server.
    OAuth(OAuth),
}

/// How access tokens are obtained (OAuth 2.1; MCP 2026-07-28, basic/authorization).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuth {
    /// The grant type, and who Toolcell is to the authorization server.
    pub grant: OAuthGrant,
    /// The identifier of the authorization server; `None` if the MCP server may name any.
    pub issuer: Option<String>,
    /// The scopes that are requested; empty for those that the server asks for.
    pub scopes: Vec<String>,
}

/// The grant type (RFC 6749, section 1.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OAuthGrant {
    /// A person signs in with a browser; PKCE is used.
    AuthorizationCode {
        /// The client that is registered with the authorization server; `None` to register one.
        client: Option<OAuthClient>,
        /// The port of 127.0.0.1 to which the browser returns; `None` for any.
        redirect_port: Option<u16>,
    },
    /// Toolcell acts for itself.
    ClientCredentials {
        /// The identifier of the client.
        id: String,
        /// The client secret.
        secret: SecretName,
    },
}

/// A registered client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthClient {
    /// Its identifier.
    pub id: String,
    /// Its secret; `None` for a public client.
    pub secret: Option<SecretName>,
}

impl ServerAuth {
    /// Returns the name of the secret that is used.
    #[must_use]
    pub fn secret(&self) -> Option<&SecretName> {
        match self {
            Self::Bearer(secret) | Self::OAuth(OAuth { grant: OAuthGrant::ClientCredentials { secret, .. }, .. }) => {
                Some(secret)
            }
            Self::OAuth(OAuth { grant: OAuthGrant::AuthorizationCode { client, .. }, .. }) => {
                client.as_ref().and_then(|client| client.secret.as_ref())
            }
        }
    }
}

/// How Toolcell authenticates to a server: with a `bearer` token, or by `oauth`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["bearer"] }, { "required": ["oauth"] }]))]
pub(super) struct RawServerAuth {
    /// The bearer token: `{{secret:NAME}}`.
    #[serde(default)]
    #[schemars(with = "String")]
    bearer: Option<Spanned<String>>,
    /// Access tokens of the authorization server that the MCP server names. `{}` is enough for most: sign in with
    /// `toolcell servers login NAME`.
    #[serde(default)]
    #[schemars(with = "RawOAuth")]
    oauth: Option<Spanned<RawOAuth>>,
}

/// How access tokens are obtained.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOAuth {
    /// Whether a person signs in, or Toolcell acts for itself with a client secret.
    #[serde(default)]
    #[schemars(with = "RawGrantType", extend("default" = "authorization_code"))]
    grant_type: Option<Spanned<RawGrantType>>,
    /// The client that is registered with the authorization server. Without one, Toolcell registers itself.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = MAX_NAME_BYTES))]
    client_id: Option<Spanned<String>>,
    /// The client secret: `{{secret:NAME}}`. It needs an `issuer`.
    #[serde(default)]
    #[schemars(with = "String")]
    client_secret: Option<Spanned<String>>,
    /// The identifier of the authorization server, such as `https://auth.example.com`. If the MCP server names
    /// another one, no code, token or secret is sent there.
    #[serde(default)]
    #[schemars(with = "String")]
    issuer: Option<Spanned<String>>,
    /// The scopes to request. By default those that the MCP server asks for.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(max = MAX_SCOPES))]
    scopes: Vec<Spanned<String>>,
    /// The port of 127.0.0.1 to which the browser returns, for an authorization server that knows only one
    /// redirect URI: `http://127.0.0.1:PORT/callback`. By default any free port.
    #[serde(default)]
    #[schemars(with = "u16", range(min = 1))]
    redirect_port: Option<Spanned<u16>>,
}

/// How an authorization is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RawGrantType {
    /// A person signs in with a browser.
    AuthorizationCode,
    /// Toolcell acts for itself.
    ClientCredentials,
}

impl PolicyParser<'_> {
    /// Converts how Toolcell authenticates to a server.
    pub(super) fn parse_server_auth(&mut self, form: Spanned<RawServerAuth>) -> Option<ServerAuth> {
        let span = form.span();
        let form = form.into_inner();
        match (form.bearer, form.oauth) {
            (Some(bearer), None) => self.parse_secret_placeholder(&bearer).map(ServerAuth::Bearer),
            (None, Some(oauth)) => self.parse_oauth(oauth.into_inner()).map(ServerAuth::OAuth),
            _ => {
                self.report(&span, msgid!("`auth` has either a `bearer` or `oauth`"));
                None
            }
        }
    }

    fn parse_oauth(&mut self, form: RawOAuth) -> Option<OAuth> {
        let secret = match &form.client_secret {
            None => None,
            Some(text) => Some((self.parse_secret_placeholder(text)?, text.span())),
        };
        let id = match form.client_id {
            None => None,
            Some(id) => Some(self.parse_client_id(id)?),
        };
        let issuer = match &form.issuer {
            None => None,
            Some(text) => Some(self.parse_issuer(text)?),
        };
        if let Some((_, span)) = secret.as_ref().filter(|_| id.is_none() || issuer.is_none()) {
            let message = msgid!(
                "a `client_secret` needs a `client_id`, and the `issuer` that it is for: the MCP server could have it sent elsewhere"
            );
            self.report(span, message);
            return None;
        }
        let grant = match form.grant_type {
            Some(kind) if *kind.get_ref() == RawGrantType::ClientCredentials => {
                if let Some(port) = form.redirect_port {
                    self.report(&port.span(), msgid!("no browser returns to Toolcell: remove `redirect_port`"));
                    return None;
                }
                let (Some(id), Some((secret, _))) = (id, secret) else {
                    let message = msgid!("client credentials are a `client_id`, a `client_secret` and an `issuer`");
                    self.report(&kind.span(), message);
                    return None;
                };
                OAuthGrant::ClientCredentials { id, secret }
            }
            _ => {
                let secret = secret.map(|(secret, _)| secret);
                let client = id.map(|id| OAuthClient { id, secret });
                if let Some(port) = form.redirect_port.as_ref().filter(|port| *port.get_ref() == 0) {
                    self.report(&port.span(), msgid!("a port is a number from 1 to 65535"));
                    return None;
                }
                OAuthGrant::AuthorizationCode { client, redirect_port: form.redirect_port.map(Spanned::into_inner) }
            }
        };
        Some(OAuth { grant, issuer, scopes: self.parse_scopes(form.scopes)? })
    }

    fn parse_client_id(&mut self, id: Spanned<String>) -> Option<String> {
        let is_valid = |id: &str| (1..=MAX_NAME_BYTES).contains(&id.len()) && id.bytes().all(is_visible_ascii);
        if !is_valid(id.get_ref()) {
            let message =
                message!("a client identifier has 1 to {limit} visible ASCII characters", limit = MAX_NAME_BYTES);
            self.report(&id.span(), message);
            return None;
        }
        Some(id.into_inner())
    }

    /// Checks the identifier of an authorization server (RFC 8414, section 2). It is kept as it is written, because it is
    /// compared as a string.
    fn parse_issuer(&mut self, text: &Spanned<String>) -> Option<String> {
        let is_issuer = |url: &Url| {
            is_encrypted_or_local(url) && url.query().is_none() && url.fragment().is_none() && url.has_host()
        };
        if Url::parse(text.get_ref()).is_ok_and(|url| is_issuer(&url)) {
            return Some(text.get_ref().clone());
        }
        let issuer = escape_for_display(text.get_ref());
        self.report(
            &text.span(),
            message!("`{issuer}` is not the URL of an authorization server: `https://…`", issuer),
        );
        None
    }

    fn parse_scopes(&mut self, scopes: Vec<Spanned<String>>) -> Option<Vec<String>> {
        if let Some(scope) = scopes.get(MAX_SCOPES) {
            let (count, limit) = (scopes.len(), MAX_SCOPES);
            self.report(&scope.span(), message!("there are {count} scopes, the limit is {limit}", count, limit));
            return None;
        }
        let mut parsed = Vec::new();
        for scope in scopes {
            // RFC 6749, section 3.3.
            let is_scope = |byte: u8| is_visible_ascii(byte) && byte != b'"' && byte != b'\\';
            let text = scope.get_ref();
            if text.is_empty() || text.len() > MAX_NAME_BYTES || !text.bytes().all(is_scope) {
                let shown = escape_for_display(text);
                self.report(&scope.span(), message!("`{scope}` is not a scope", scope = shown));
                return None;
            }
            parsed.push(scope.into_inner());
        }
        Some(parsed)
    }

    /// Reads a text that is nothing but the placeholder of a secret.
    fn parse_secret_placeholder(&mut self, text: &Spanned<String>) -> Option<SecretName> {
        let name = text.get_ref().strip_prefix(PLACEHOLDER).and_then(|rest| rest.strip_suffix("}}"));
        match name.map(SecretName::parse) {
            Some(Ok(name)) => Some(name),
            Some(Err(error)) => {
                self.report(&text.span(), error.localize());
                None
            }
            // The text may be a token.
            None => {
                let message = msgid!(
                    "a token or a client secret is written as `{{secret:NAME}}`; set `TOOLCELL_SECRET_NAME` in the environment"
                );
                self.report(&text.span(), message);
                None
            }
        }
    }
}

/// Whether what is sent to a URL is encrypted, or does not leave this machine.
pub(super) fn is_encrypted_or_local(url: &Url) -> bool {
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || url.scheme() == "http" && is_local
}

fn is_visible_ascii(byte: u8) -> bool {
    byte.is_ascii_graphic()
}
